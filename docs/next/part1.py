"""part1.py FILE CUT_TEST TAIL_REGEX: the blocks before test CUT_TEST, and those from TAIL_REGEX on, closed under use -> /w/cut/part1-FILE"""
import sys,re,subprocess,os
name,cut,tail,tree=sys.argv[1:5]
lines=open(f'/w/cut/whole-{name}').read().split('\n')
blocks=[];cur=[];depth=0;incom=False
for l in lines:
    if l=='' and depth==0 and not incom:
        if cur: blocks.append(cur);cur=[]
        continue
    cur.append(l)
    t=re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])*\'','',l)
    if '/*' in t and '*/' not in t: incom=True
    if incom and '*/' in t: incom=False
    if not incom: depth+=t.count('{')-t.count('}')
if cur: blocks.append(cur)
B=['\n'.join(b) for b in blocks]
# comments alone are joined with what follows them
ci=next(i for i,b in enumerate(B) if re.search(rf'^TEST(_F|_F_TIMEOUT)?\((\w+, )?{cut}\b',b,re.M))
while ci and B[ci-1].startswith('/*') and B[ci-1].rstrip().endswith('*/'): ci-=1
ti=next(i for i,b in enumerate(B) if re.search(tail,b,re.M))
inc=set(range(ci))|set(range(ti,len(B)))
never=set();history=[]
def text(): return '\n\n'.join(B[i] for i in range(len(B)) if i in inc)+('\n' if not B[-1].endswith('\n') else '')
def defines(x):
    for i,b in enumerate(B):
        if re.search(rf'^(#define {x}\b|(static|int|struct|enum|union|typedef)\b[^;=]*\b\*?{x}\b|.*\b{x}\b(\[.*\])? = \{{)',b,re.M): yield i
    for i,b in enumerate(B):
        if re.search(rf'^\s+{x}\b[,=]?',b,re.M) and b.startswith('enum'): yield i
for round in range(80):
    open(f'{tree}/tools/testing/selftests/perfctr/{name}','w').write(text())
    r=subprocess.run(['gcc','-fsyntax-only','-fmax-errors=0','-O2','-Wall','-Wno-unused-variable' if 0 else '-Wall','-D_GNU_SOURCE=','-I../../../perfctr','-I../../../perfctr/lib','-isystem','/w/hdr/include','-I..',name],cwd=f'{tree}/tools/testing/selftests/perfctr',capture_output=True,text=True)
    out=r.stderr; did=False
    for x in set(re.findall(r"error: ‘(\w+)’ undeclared|implicit declaration of function ‘(\w+)’|storage size of ‘\w+’ isn|unknown type name ‘(\w+)’|undefined type ‘struct (\w+)’|incomplete type ‘struct (\w+)’|struct (\w+)’ declared inside",out)):
        for y in filter(None,x):
            for i in defines(y):
                if i not in inc: inc.add(i);did=True;print('+',y,i)
                break
    if did: continue
    for x in set(re.findall(r"‘(\w+)’ defined but not used",out)):
        for i in defines(x):
            if i in inc: inc.discard(i);did=True;print('-',x,i)
            break
    if not did: break
print(out[:1500])
t=text(); open(f'/w/cut/part1-{name}','w').write(t); print(name,len(t.split('\n')),'of',len(lines))
# macros that nothing uses
for i in sorted(inc):
    m=re.match(r'#define (\w+)',B[i])
    if m and len(re.findall(rf'\b{m.group(1)}\b',t))==1: print('unused macro',m.group(1))
