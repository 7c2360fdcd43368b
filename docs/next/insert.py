#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""insert.py TREE BRANCH OUT AFTER PATH... < MESSAGE - a new patch in the middle of the series

The commits of BRANCH in the git tree TREE become the branch OUT, with one more behind the one
whose subject is AFTER. It has what the next one has in these paths, so rewrite.py changes them
first, in all patches behind it.
"""
import sys,subprocess,os
W,B,OUT,AFTER,*PATHS=sys.argv[1:]
msg=sys.stdin.read()
def git(*a,env=None,inp=None): return subprocess.run(['git','-C',W,*a],check=True,capture_output=True,text=True,env=env,input=inp).stdout.strip('\n')
commits=git('rev-list','--reverse','base..'+B).split()
subj=[git('log','-1','--format=%s',c) for c in commits]
k=subj.index(AFTER)
import tempfile
env=dict(os.environ,GIT_INDEX_FILE=os.path.join(tempfile.mkdtemp(),'index'))
def meta(c):
    f=git('log','-1','--format=%an%x00%ae%x00%aI%x00%cI',c).split('\0')
    return dict(os.environ,GIT_AUTHOR_NAME=f[0],GIT_AUTHOR_EMAIL=f[1],GIT_AUTHOR_DATE=f[2],GIT_COMMITTER_NAME='perfctr',GIT_COMMITTER_EMAIL='perfctr@localhost',GIT_COMMITTER_DATE=f[3]),f
git('read-tree',commits[k],env=env)
for p in PATHS:
    m,t,h=git('ls-tree',commits[k+1],p).split()[:3]
    git('update-index','--cacheinfo',f'{m},{h},{p}',env=env)
tree=git('write-tree',env=env)
e,f=meta(commits[k+1])
new=git('commit-tree',tree,'-p',commits[k],env=e,inp=msg)
for c in commits[k+1:]:
    e,f=meta(c)
    new=git('commit-tree',c+'^{tree}','-p',new,env=e,inp=git('log','-1','--format=%B',c)+'\n')
git('branch','-f',OUT,new)
