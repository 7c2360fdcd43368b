#!/usr/bin/env python3
"""mutants.py REPO OLD DIR OUT: the mutants in DIR, diffs against the tree OLD, as diffs against OLD filtered by words.py.

REPO has the tags base and OLD. A mutant that does not apply to OLD is copied with its words replaced, and named.
"""
import os, sys, re, subprocess, glob
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fold, words
repo, old, src, out = sys.argv[1:5]
os.makedirs(out, exist_ok=True)
g = fold.Git(repo)
f = fold.Filter(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'words.py'))
warns = []
base = g.run('rev-parse', 'base^{commit}').strip()
oldc = g.run('rev-parse', old + '^{commit}').strip()
idx = os.path.abspath(out) + '.index'
env = dict(os.environ, GIT_INDEX_FILE=idx)


def git(*a, input=None, ok=False):
    r = subprocess.run(['git', '-C', repo, *a], input=input, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if r.returncode and not ok:
        sys.exit(f'git {a}: {r.stderr.decode()}')
    return r if ok else r.stdout.decode('utf-8', 'surrogateescape')


d = fold.raw_diff(g, base, oldc)
# only the files of the series and those that mutants name: a small index is a fast one
every = {p: x for p, (o, x) in d.items()}
for m in glob.glob(src + '/*.patch'):
    for p in re.findall(r'^(?:\+\+\+ b|--- a)/(\S+)', open(m, errors='surrogateescape').read(), re.M):
        if p not in every:
            every[p] = fold.git_base(g, oldc, p)


def reset():
    if os.path.exists(idx):
        os.unlink(idx)
    git('update-index', '--add', '--index-info', input=''.join(
        f'{x[0]} {x[1]}\t{p}\n' for p, x in every.items() if x).encode())
    return git('write-tree').strip()


start = reset()
import shutil
shutil.copy(idx, idx + '0')
bs = {p: o for p, (o, x) in d.items()}
changed = same = 0
bad = []
for m in sorted(glob.glob(src + '/*.patch')):
    text = open(m, encoding='utf-8', errors='surrogateescape').read()
    name = os.path.basename(m)
    head, sep, diff = text.partition('\n---\n')
    if not sep:
        bad.append(name + ' (no ---)')
        continue
    # series-7.3 only
    r = git('apply', '--cached', '-', input=diff.encode('utf-8', 'surrogateescape'), ok=True)
    if r.returncode:
        bad.append(name)
        new = words.filter_text(':message', head) + sep + diff
    else:
        t = git('write-tree').strip()
        ch = fold.raw_diff(g, start, t)
        for p in ch:
            if p not in bs:
                bs[p] = fold.git_base(g, base, p)
        st = fold.filtered(g, {p: [bs[p], a, b] for p, (a, b) in ch.items()}, f, warns.append)
        trees = []
        for k in (1, 2):
            e = dict(os.environ, GIT_INDEX_FILE=idx + '2')
            if os.path.exists(idx + '2'):
                os.unlink(idx + '2')
            subprocess.run(['git', '-C', repo, 'update-index', '--add', '--index-info'], env=e, check=True,
                           input=''.join(f'{v[k][0]} {v[k][1]}\t{p}\n' for p, v in st.items() if v[k]).encode())
            trees.append(subprocess.run(['git', '-C', repo, 'write-tree'], env=e, check=True,
                                        stdout=subprocess.PIPE).stdout.decode().strip())
        newdiff = git('diff-tree', '-p', '--no-renames', '--abbrev=12', trees[0], trees[1])
        od = re.sub(r'^index .*\n', '', diff, flags=re.M)
        # as it was written: with or without "diff" and "index" lines
        if 'index ' not in diff:
            newdiff = re.sub(r'^index .*\n', '', newdiff, flags=re.M)
        if not re.search(r'^diff --git', diff, re.M):
            newdiff = re.sub(r'^diff --git.*\n', '', newdiff, flags=re.M)
        same_body = re.sub(r'^@@.*|^index.*|^diff.*', '', newdiff, flags=re.M) == re.sub(r'^@@.*|^index.*|^diff.*', '', diff, flags=re.M)
        new = words.filter_text(':message', head) + sep + (diff if same_body else newdiff)
        shutil.copy(idx + '0', idx)
    if new != text:
        changed += 1
    open(os.path.join(out, name), 'w', encoding='utf-8', errors='surrogateescape').write(new)
print(f'{changed} mutants changed')
for w in sorted(set(warns)):
    print('warning', w)
print(f'{len(bad)} do not apply to {old}; only their heads were filtered:', *bad, sep='\n  ')
