"""split.py WORKTREE SPEC: cuts large patches into two, as SPEC says (a Python file that sets spec); writes
branch cut2 from s38n. The trees of all other commits stay as they are. Of a file to be cut part1.py has made the first half."""
import subprocess,sys,os,re,tempfile
W=sys.argv[1]
def git(*a,inp=None,env=None,raw=False):
    e=dict(os.environ); e.update(env or {})
    r=subprocess.run(['git','-C',W,*a],input=inp,capture_output=True,env=e)
    if r.returncode: sys.exit(f'git {a}: {r.stderr.decode()}')
    return r.stdout if raw else r.stdout.decode().strip('\n')
TF='Tested in guests of all architectures that have a driver here, with 64-\nand 32-bit programs; and each test was seen to fail with the bug that it\nnames.\n\nSigned-off-by: Seed 6a3c005a maintainers <maintainers@users.noreply.a-seed-6a3c005a.example>\n'
T='tools/testing/selftests/perfctr/'; M='tools/perfctr/man/'
SOB='Signed-off-by: Seed 6a3c005a maintainers <maintainers@users.noreply.a-seed-6a3c005a.example>\n'
exec(open(sys.argv[2]).read())  # spec: subject -> (files of the first, file to cut or None, both messages)
def blob(rev,path):
    r=subprocess.run(['git','-C',W,'show',f'{rev}:{path}'],capture_output=True)
    return r.stdout.decode() if not r.returncode else None
def names(rev,parent): return git('diff-tree','--no-commit-id','-r','--name-only',parent,rev).split('\n')
def tree_with(base,changes):
    with tempfile.TemporaryDirectory() as d:
        env={'GIT_INDEX_FILE':d+'/i'}
        git('read-tree',base,env=env)
        info=''
        for p,(mode,sha) in changes.items(): info+=f'{mode} {sha}\t{p}\n'
        git('update-index','--index-info',inp=info.encode(),env=env)
        return git('write-tree',env=env)
def entry(rev,path):
    o=git('ls-tree',rev,'--',path); m,_,s=o.split('\t')[0].split(); return m,s
def put(text): return git('hash-object','-w','--stdin',inp=text.encode())
def make_words(s):
    i=s.index('TEST_GEN_PROGS :='); j=s.index('\n\n',i)
    return i,j,re.sub(r'\\\n\s*',' ',s[i:j]).split()[2:]
def wrap(words):
    lines=[];cur='TEST_GEN_PROGS :='
    for w in words:
        if len(cur.expandtabs())+1+len(w)>72: lines.append(cur+' \\'); cur='\t'+w
        else: cur+=' '+w if not cur.endswith('\t') else w
    lines.append(cur); return '\n'.join(lines)
def halves(path,text):
    f=f'/w/cut/part1-{os.path.basename(path)}'
    return open(f).read()
commit_env=lambda h: {'GIT_AUTHOR_NAME':git('log','-1','--format=%an',h),'GIT_AUTHOR_EMAIL':git('log','-1','--format=%ae',h),'GIT_AUTHOR_DATE':git('log','-1','--format=%aI',h),'GIT_COMMITTER_NAME':git('log','-1','--format=%cn',h),'GIT_COMMITTER_EMAIL':git('log','-1','--format=%ce',h),'GIT_COMMITTER_DATE':git('log','-1','--format=%cI',h)}
revs=git('rev-list','--reverse','base..s38n').split()
new=git('rev-parse','base'); changed=False; done=set(); prev=None
for h in revs:
    sub=git('log','-1','--format=%s',h); parent=git('rev-parse',h+'~1')
    env=commit_env(h)
    if sub in spec and not ('ONLY' in os.environ and os.environ['ONLY'] not in sub):
        first,cut,msgs=spec[sub]; done.add(sub)
        fs=names(h,parent); ch={}
        for p in first: assert p in fs,(sub,p,fs)
        for p in first: ch[p]=entry(h,p)
        for p in fs:
            if p in ch: continue
            if p==T+'Makefile':
                text=blob(h,p); old=blob(parent,p) or ''
                if cut: ch[p]=entry(h,p); continue
                i,j,words=make_words(text); _,_,oldw=make_words(old)
                mine={os.path.basename(f)[:-2] for f in first if f.endswith('_test.c')}
                w1=[w for w in words if w in oldw or w in mine]
                oi,oj,_=make_words(old)
                ch[p]=(entry(h,p)[0],put(old[:oi]+wrap(w1)+old[oj:]))
            elif p=='MAINTAINERS': ch[p]=entry(h,p)
            elif p==cut: ch[p]=(entry(h,p)[0],put(halves(p,blob(h,p))))
        t1=tree_with(git('rev-parse',parent+'^{tree}'),ch)
        new=git('commit-tree',t1,'-p',new,'-F','-',inp=msgs[0].encode(),env=env)
        print('1',new[:10],msgs[0].split('\n')[0])
        new=git('commit-tree',git('rev-parse',h+'^{tree}'),'-p',new,'-F','-',inp=msgs[1].encode(),env=env)
        print('2',new[:10],msgs[1].split('\n')[0])
        changed=True
        continue
    if not changed: new=h; continue
    new=git('commit-tree',git('rev-parse',h+'^{tree}'),'-p',new,'-F','-',inp=git('log','-1','--format=%B',h,raw=True).decode().rstrip('\n').encode()+b'\n',env=env)
assert done==set(spec) or 'ONLY' in os.environ,set(spec)-done
assert git('rev-parse',new+'^{tree}')==git('rev-parse','s38n^{tree}')
git('branch','-f','cut2',new); print(new)
