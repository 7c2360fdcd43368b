#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""port.py TREE OLD NEW MUTANT... - mutants that applied to the commit OLD are ported to NEW

By a three-way merge of each file; conflicts are printed, and such a mutant stays as it is.
"""
import sys,subprocess,re,tempfile,os,difflib
W,OLD,NEW,*MS=sys.argv[1:]
def show(r,p): return subprocess.run(['git','-C',W,'show',f'{r}:{p}'],capture_output=True,text=True).stdout
for m in MS:
    t=open(m).read(); i=t.index('---\n')+4 if t.find('\n---\n')>=0 else 0
    i=t.index('\n---\n')+5
    head,patch=t[:i],t[i:]
    files=re.findall(r'^\+\+\+ b/(\S+)',patch,re.M)
    d=tempfile.mkdtemp()
    for f in files:
        os.makedirs(os.path.join(d,os.path.dirname(f)),exist_ok=True); open(os.path.join(d,f),'w').write(show(OLD,f))
    r=subprocess.run(['git','apply','--unsafe-paths','--directory='+d,'-'],input=patch,text=True,capture_output=True,cwd='/')
    if r.returncode: 
        r=subprocess.run(['patch','-p1','-s','-F3'],input=patch,text=True,capture_output=True,cwd=d)
        if r.returncode: print('old does not apply',m,r.stdout[:200]); continue
    out=''
    bad=False
    for f in files:
        mut=os.path.join(d,f); o=mut+'.o'; n=mut+'.n'
        open(o,'w').write(show(OLD,f)); new=show(NEW,f); open(n,'w').write(new)
        r=subprocess.run(['git','merge-file','-p',mut,o,n],capture_output=True,text=True)
        if r.returncode: print('conflict',m,f); bad=True; print(r.stdout[max(0,r.stdout.find('<<<<')-200):r.stdout.find('>>>>')+50])
        out+=''.join(difflib.unified_diff(new.splitlines(1),r.stdout.splitlines(1),'a/'+f,'b/'+f))
    if not bad: open(m,'w').write(head+out); print('ported',os.path.basename(m))
