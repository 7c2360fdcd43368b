#!/usr/bin/env python3
"""churn.py TREE: lines that a patch of the series adds and a later one changes, by patch and file

TREE is that of scripts/tree. Takes some minutes.
"""
import subprocess,re,sys,collections
TREE=sys.argv[1]
def git(*a): return subprocess.run(['git','-C',TREE,*a],capture_output=True,text=True,errors='replace').stdout
revs=git('log','--reverse','--format=%H %s','base..perfctr').splitlines()
order={l.split()[0]:(i,l.split(' ',1)[1]) for i,l in enumerate(revs)}
pairs=collections.Counter(); files=collections.Counter(); pf=collections.Counter()
for l in revs:
    h=l.split()[0]
    d=git('diff','-U0','--histogram',h+'~1',h)
    cur=None; todo=collections.defaultdict(list)
    for x in d.splitlines():
        if x.startswith('--- '): cur=x[6:] if x.startswith('--- a/') else None
        m=re.match(r'@@ -(\d+)(?:,(\d+))? ',x)
        if m and cur:
            n=int(m[2]) if m[2] is not None else 1
            if n: todo[cur].append((int(m[1]),n))
    for f,rs in todo.items():
        args=[]
        for a,n in rs: args+=['-L',f'{a},+{n}']
        b=git('blame','-l','-s',*args,f'base..{h}~1','--',f)
        for y in b.splitlines():
            c=y.split()[0]
            if c.startswith('^'): continue
            if c in order:
                pairs[(order[c][0],order[h][0])]+=1; files[f]+=1; pf[(order[h][0],f)]+=1
tot=sum(pairs.values()); print('total',tot)
by=collections.Counter()
for (a,b),n in pairs.items(): by[b]+=n
names=[l.split(' ',1)[1] for l in revs]
print('\nby the later patch')
for b,n in by.most_common(60): print(n,b+1,names[b], ' <- ', ', '.join(f'{names[a][:40]}:{m}' for (a,bb),m in sorted(pairs.items(),key=lambda t:-t[1]) if bb==b)[:160])
print('\nby file')
for f,n in files.most_common(60): print(n,f)
