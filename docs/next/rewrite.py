#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rewrite.py TREE SRC OUT EDITS.py - change all patches of a series by rule, in seconds

Rewrites the commits from the tag base to the branch SRC of the git tree TREE as the branch OUT,
without a checkout. EDITS.py defines edits(subject, show), which returns {path: text, or None to
delete it} of a commit whose show(path) is the text there, and may define message(subject, text),
which returns the message (None: the commit goes, and its changes are in the next one), and MODES,
{path: mode} of paths that are new. It reads by one git cat-file and writes objects itself.
"""
import hashlib, os, re, subprocess, sys, zlib
W, SRC, OUT, ED = sys.argv[1:]
ns = {}; exec(open(ED).read(), ns)
def git(*a): return subprocess.run(['git', '-C', W, *a], check=True, capture_output=True, text=True).stdout.strip('\n')
OBJ = os.path.join(W, git('rev-parse', '--git-path', 'objects'))
cat = subprocess.Popen(['git', '-C', W, 'cat-file', '--batch'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
new = {}
def read(name):
    if name in new: return new[name]
    cat.stdin.write(name.encode() + b'\n'); cat.stdin.flush()
    head = cat.stdout.readline().split()
    if head[-1] == b'missing': return None
    data = cat.stdout.read(int(head[2])); cat.stdout.read(1)
    return data
def write(kind, data):
    raw = f'{kind} {len(data)}'.encode() + b'\0' + data
    sha = hashlib.sha1(raw).hexdigest()
    if sha not in new:
        new[sha] = data
        path = f'{OBJ}/{sha[:2]}/{sha[2:]}'
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + '.new', 'wb') as f: f.write(zlib.compress(raw, 1))
            os.rename(path + '.new', path)
    return sha
trees = {}
def entries(sha):
    if sha in trees: return trees[sha]
    data, e, i = read(sha), {}, 0
    while i < len(data):
        z = data.index(b'\0', i)
        mode, name = data[i:z].decode().split(' ', 1)
        e[name] = (mode, data[z + 1:z + 21].hex()); i = z + 21
    trees[sha] = e
    return e
def change(tree, ch, at=''):
    """ch: {path below this tree: blob or None}"""
    e, below = dict(entries(tree)) if tree else {}, {}
    for p, sha in ch.items():
        d, _, rest = p.partition('/')
        if rest: below.setdefault(d, {})[rest] = sha
        elif sha is None: del e[d]
        else: e[d] = (e[d][0] if d in e else ns.get('MODES', {}).get(at + d, '100644'), sha)
    for d, c in below.items():
        sha = change(e[d][1] if d in e else None, c, at + d + '/')
        if entries(sha): e[d] = ('40000', sha)
        else: del e[d]
    data = b''.join(f'{m} {n}'.encode() + b'\0' + bytes.fromhex(s) for n, (m, s) in
                    sorted(e.items(), key=lambda x: (x[0] + ('/' if x[1][0] == '40000' else '')).encode()))
    return write('tree', data)
parent, moved = git('rev-parse', 'base^{commit}'), False
for h in git('rev-list', '--reverse', f'base..{SRC}').split('\n'):
    head, msg = read(h).decode().split('\n\n', 1)
    subject = msg.split('\n\n')[0].replace('\n', ' ').strip()
    tree = old = re.match('tree (.*)', head)[1]
    def show(p):
        t, parts = old, p.split('/')
        for i, d in enumerate(parts):
            e = entries(t).get(d)
            if e is None: return None
            t = e[1]
        return read(t).decode()
    ch = {p: t for p, t in (ns['edits'](subject, show) or {}).items() if t != show(p)}
    if ch: tree = change(old, {p: None if t is None else write('blob', t.encode()) for p, t in ch.items()})
    m2 = ns['message'](subject, msg) if 'message' in ns else msg
    if m2 is None: moved = True; continue
    if not moved and tree == old and m2 == msg: parent = h; continue
    moved = True
    author = re.search('^author (.*)', head, re.M)[1]
    parent = write('commit', f'tree {tree}\nparent {parent}\nauthor {author}\ncommitter {author}\n\n{m2}'.encode())
git('branch', '-f', OUT, parent)
print(git('log', '--oneline', '-1', OUT)); print(git('diff', '--stat', '-M', SRC, OUT))
