#!/usr/bin/env python3
"""Folds a change made at the tip of a series of commits into the commits it belongs to.

  fold.py --repo R --base base --old OLD --new NEW --branch OUT [options]
  fold.py --port --repo R73 --old OLD73 --repo612 R --old612 OLD --new612 NEW --branch OUT

See README beside this file.  Arguments can be read from files: @FILE, one a line.
"""
import argparse, bisect, collections, concurrent.futures, difflib, os, re, subprocess, sys, tempfile

NULL = None


class Git:
    def __init__(self, repo):
        self.repo = repo
        self.batch = None
        self.cache = {}

    def run(self, *args, input=None, text=True):
        r = subprocess.run(['git', '-C', self.repo, *args], input=input, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        if r.returncode:
            sys.exit(f'git {" ".join(args)[:300]}: {r.stderr.decode(errors="replace").strip()}')
        return r.stdout.decode('utf-8', 'surrogateescape') if text else r.stdout

    def cat(self, name):
        """The contents of an object, as bytes."""
        if name in self.cache:
            return self.cache[name]
        if not self.batch or self.batch.poll() is not None:
            self.batch = subprocess.Popen(['git', '-C', self.repo, 'cat-file', '--batch'],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.batch.stdin.write(name.encode() + b'\n')
        self.batch.stdin.flush()
        head = self.batch.stdout.readline().split()
        if len(head) != 3:
            sys.exit(f'{self.repo}: no object {name}')
        data = self.batch.stdout.read(int(head[2]))
        self.batch.stdout.read(1)
        self.cache[name] = data
        return data

    def lines(self, sha):
        return self.cat(sha).splitlines(keepends=True) if sha else []

    def write(self, blobs):
        """Writes a list of contents (bytes); returns their names."""
        if not blobs:
            return []
        with tempfile.TemporaryDirectory(prefix='fold') as d:
            names = []
            for k, b in enumerate(blobs):
                names.append(f'{d}/{k}')
                with open(names[-1], 'wb') as f:
                    f.write(b)
            out = self.run('hash-object', '-w', '--no-filters', '--stdin-paths',
                           input='\n'.join(names).encode() + b'\n').split()
        for s, b in zip(out, blobs):
            self.cache[s] = b
        return out

    def diffs(self, pairs):
        """For a set of (blob, blob): {pair: [(a0, a1, b0, b1)]}, half open, from 0."""
        pairs = sorted({p for p in pairs if p[0] != p[1]})
        res = {p: [] for p in pairs}
        if pairs:
            a, b = [self.run('mktree', input=''.join(
                f'100644 blob {p[s]}\tf{k}\n' for k, p in enumerate(pairs)).encode()).strip()
                for s in (0, 1)]
            cur = None
            for line in self.run('diff-tree', '-r', '-p', '-a', '-U0', '--histogram', '--indent-heuristic',
                                 '--no-renames', '--full-index', '--no-ext-diff', a, b).split('\n'):
                if line.startswith('diff --git a/f'):
                    cur = res[pairs[int(line.split(' b/f')[-1])]]
                    todo = 0
                elif line.startswith('@@ ') and not todo:
                    m = re.match(r'@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@', line)
                    la, na, lb, nb = (int(x) if x else 1 for x in m.groups())
                    todo = na + nb
                    a0 = la if na == 0 else la - 1
                    b0 = lb if nb == 0 else lb - 1
                    cur.append((a0, a0 + na, b0, b0 + nb))
                elif line[:1] in '+-' and line and todo:
                    todo -= 1
        return res


Hunk = collections.namedtuple('Hunk', 'b0 b1 n0 n1 lines id')


def hunks_of(raw, lines):
    return [Hunk(a0, a1, b0, b1, tuple(lines[b0:b1]), k) for k, (a0, a1, b0, b1) in enumerate(raw)]


def fuse(hunks, old, gap):
    """Makes one hunk of those that have at most gap lines between them."""
    out = []
    for h in hunks:
        if out and h.b0 - out[-1].b1 < gap:
            p = out[-1]
            out[-1] = Hunk(p.b0, h.b1, p.n0, h.n1, p.lines + tuple(old[p.b1:h.b0]) + h.lines, p.id)
        else:
            out.append(h)
    return [h._replace(id=k) for k, h in enumerate(out)]


def apply(base, b0, b1, hunks):
    out, at = [], b0
    for h in sorted(hunks, key=lambda h: (h.b0, h.b1)):
        out += base[at:h.b0]
        out += h.lines
        at = h.b1
    return out + base[at:b1]


TOKEN = re.compile(rb'\s*\w+|\s*[^\w\s]|\s+')


def by_words(base, ours, theirs):
    """A merge of three texts by words, or None."""
    if max(len(base), len(ours), len(theirs)) > 40 or not base or not ours or not theirs:
        return None
    B, O, T = ([t for t in TOKEN.findall(b''.join(x))] for x in (base, ours, theirs))
    so = difflib.SequenceMatcher(None, B, O, False)
    st = difflib.SequenceMatcher(None, B, T, False)
    if so.ratio() < .6 or st.ratio() < .6:
        return None
    ho = [(a0, a1, O[b0:b1]) for op, a0, a1, b0, b1 in so.get_opcodes() if op != 'equal']
    ht = [(a0, a1, T[b0:b1]) for op, a0, a1, b0, b1 in st.get_opcodes() if op != 'equal']
    # what the patch does not have yet waits
    ht = [t for t in ht if not any(not o[2] and o[0] <= t[0] and t[1] <= o[1] for o in ho)]
    if not ht:
        return None
    for o in ho:
        for t in ht:
            if o[0] <= t[1] and t[0] <= o[1] and o != t:
                return None
    allh = sorted({(a, b, tuple(c)) for a, b, c in ho + ht})
    out, at = [], 0
    for a, b, c in allh:
        if a < at:
            return None
        out += B[at:a] + list(c)
        at = b
    return b''.join(out + B[at:]).splitlines(keepends=True)


class Merge:
    """Of a file: base (OLD), what NEW made of it, and the ways to resolve."""

    def __init__(self, base, theirs, opts, split=False, early=()):
        self.base, self.theirs, self.opts, self.split = base, theirs, opts, split
        self.early = set(early)      # insertions that need one neighbour only

    def conflict(self, o, t):
        on, tn = o.b0 < o.b1, t.b0 < t.b1
        if self.opts.strict:
            return o.b0 <= t.b1 and t.b0 <= o.b1
        if on and tn:
            return o.b0 < t.b1 and t.b0 < o.b1
        if on:                       # NEW inserts
            if t.id in self.early:
                return False if not o.lines else o.b0 < t.b0 < o.b1
            return o.b0 <= t.b0 <= o.b1
        if tn:                       # the patch has lines that a later one removes
            return t.b0 < o.b0 < t.b1
        return o.b0 == t.b0

    def run(self, ours, theirs):
        """ours, theirs: hunks.  Returns lines, ids of landed hunks, list of (kind, hunk ids)."""
        groups = []                  # connected components
        allh = sorted([(h.b0, h.b1, 0, h) for h in ours] + [(h.b0, h.b1, 1, h) for h in theirs],
                      key=lambda x: x[:3])
        par = list(range(len(allh)))

        def find(x):
            while par[x] != x:
                par[x] = par[par[x]]
                x = par[x]
            return x
        active = []
        for k, (b0, b1, side, h) in enumerate(allh):
            active = [j for j in active if allh[j][1] >= b0]
            for j in active:
                if allh[j][2] != side:
                    o, t = (h, allh[j][3]) if side == 0 else (allh[j][3], h)
                    if self.conflict(o, t):
                        par[find(k)] = find(j)
            active.append(k)
        comp = collections.OrderedDict()
        for k in range(len(allh)):
            comp.setdefault(find(k), []).append(allh[k])
        out, landed, notes = [], set(), []
        for c in comp.values():
            O = [x[3] for x in c if x[2] == 0]
            T = [x[3] for x in c if x[2] == 1]
            ids = [t.id for t in T]
            if not T:
                out += O
                continue
            if not O:
                out += T
                landed.update(ids)
                continue
            b0, b1 = min(x[0] for x in c), max(x[1] for x in c)
            lo = apply(self.base, b0, b1, O)
            lt = apply(self.base, b0, b1, T)
            if lo == lt:
                out.append(Hunk(b0, b1, 0, 0, tuple(lo), -1))
                landed.update(ids)
                continue
            early = [t for t in T if t.b0 == t.b1 and t.id in self.early]
            if early and all(not o.lines for o in O) and len(early) == len(T):
                at = early[0].b0
                out.append(Hunk(b0, b1, 0, 0, tuple(x for t in early for x in t.lines), -1))
                landed.update(ids)
                continue
            res = self.deletion(b0, b1, O, T)
            if res is not None:
                out.append(Hunk(b0, b1, 0, 0, tuple(res), -1))
                landed.update(ids)
                continue
            if not self.opts.no_words:
                res = by_words(self.base[b0:b1], lo, lt)
                if res is not None:
                    out.append(Hunk(b0, b1, 0, 0, tuple(res), -1))
                    landed.update(ids)
                    notes.append(('words', ids))
                    continue
            out += O
            rest = []
            for t in T:
                if t.b0 == t.b1:
                    # an insertion with one neighbour that stands, or none
                    if any(t.b0 in (o.b0, o.b1) for o in O):
                        notes.append(('one', [t.id]))
                    continue
                if any(not o.lines and o.b0 <= t.b0 and t.b1 <= o.b1 for o in O):
                    continue
                # Does anything that NEW changes stand in the patch?
                had = [l.strip() for l in self.base[t.b0:t.b1] if len(l.strip()) > 3]
                here = [l.strip() for l in lo if len(l.strip()) > 3]
                if had and not any(h in here or any(difflib.SequenceMatcher(None, h, x).quick_ratio() > .7 and
                                   difflib.SequenceMatcher(None, h, x).ratio() > .7 for x in here) for h in had):
                    continue
                rest.append(t.id)
            if rest:
                notes.append(('ours', rest))
        return apply(self.base, 0, len(self.base), out), landed, notes

    def deletion(self, b0, b1, O, T):
        """NEW only deletes: what the patch has of it goes as well."""
        if any(t.lines for t in T):
            return None
        dead = set()
        for t in T:
            dead.update(range(t.b0, t.b1))
        keep = []
        for o in O:
            if not o.lines:
                dead.update(range(o.b0, o.b1))
                continue
            if o.b0 == o.b1:
                inside = o.b0 in dead and o.b0 - 1 in dead
                half = False
            else:
                n = sum(1 for x in range(o.b0, o.b1) if x in dead)
                inside = n == o.b1 - o.b0
                half = n * 2 >= o.b1 - o.b0
            if inside or (self.split and half):
                dead.update(range(o.b0, o.b1))
            elif self.split:
                keep.append(o)
                dead.update(range(o.b0, o.b1))
            else:
                return None
        out = []
        for x in range(b0, b1 + 1):
            for o in keep:
                if o.b0 == x:
                    out += o.lines
            if x < b1 and x not in dead:
                out.append(self.base[x])
        return out


class Series:
    """The trees of a linear series, for the files it touches: state[path] = [(mode, blob) or None] * (n + 1)."""

    def __init__(self, git, base, old):
        self.git = git
        self.base = git.run('rev-parse', base + '^{commit}').strip()
        self.old = git.run('rev-parse', old + '^{commit}').strip()
        self.commits = git.run('rev-list', '--reverse', f'{self.base}..{self.old}').split()
        prev = self.base
        self.info, self.changes = [], []
        for c in self.commits:
            raw = git.cat(c)
            head, msg = raw.split(b'\n\n', 1)
            h = [l.split(b' ', 1) for l in head.split(b'\n')]
            d = {k: v for k, v in h}
            if [v for k, v in h if k == b'parent'] != [prev.encode()]:
                sys.exit(f'{c}: the series is not linear')
            self.info.append(dict(author=d[b'author'], committer=d[b'committer'], msg=msg))
            self.changes.append(raw_diff(git, prev, c))
            prev = c
        self.n = len(self.commits)

    def subject(self, i):
        return self.info[i - 1]['msg'].split(b'\n')[0].decode('utf-8', 'replace')

    def number(self, prefix):
        hit = [i for i in range(1, self.n + 1) if self.subject(i).startswith(prefix)]
        if len(hit) != 1:
            hit2 = [i for i in range(1, self.n + 1) if self.subject(i) == prefix]
            if len(hit2) == 1:
                return hit2[0]
            sys.exit(f'"{prefix}": {len(hit)} commits have a subject that begins so')
        return hit[0]

    def states(self, more=()):
        paths = {p for ch in self.changes for p in ch} | set(more)
        cur = {p: None for p in paths}
        lst = sorted(paths)
        for k in range(0, len(lst), 500):
            for e in self.git.run('ls-tree', '-r', '-z', self.base, '--', *lst[k:k + 500]).split('\0'):
                if e:
                    meta, p = e.split('\t', 1)
                    mode, _, sha = meta.split()
                    if p in cur:
                        cur[p] = (mode, sha)
        st = {p: [cur[p]] for p in paths}
        for ch in self.changes:
            for p, (_, new) in ch.items():
                cur[p] = new
            for p in paths:
                st[p].append(cur[p])
        return st


def raw_diff(git, a, b):
    out = git.run('diff-tree', '-r', '-z', '--no-renames', '--raw', '--full-index', a, b).split('\0')
    d = {}
    k = 0
    while k + 1 < len(out):
        m = out[k][1:].split()
        d[out[k + 1]] = ((m[0], m[2]) if int(m[0], 8) else None, (m[1], m[3]) if int(m[1], 8) else None)
        k += 2
    return d


class Filter:
    def __init__(self, script):
        self.script = os.path.abspath(script) if script else None
        self.cache = {}
        self.module = None
        if script and script.endswith('.py'):
            import importlib.util
            spec = importlib.util.spec_from_file_location('filter_module', self.script)
            self.module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.module)

    def one(self, arg, data):
        if self.module:
            t = data.decode('utf-8', 'surrogateescape')
            if arg == ':paths':
                t = ''.join(n + '\n' for n in self.module.paths(t.split('\n')[:-1]))
            else:
                t = self.module.filter_text(arg, t)
            return t.encode('utf-8', 'surrogateescape')
        r = subprocess.run([self.script, arg], input=data, stdout=subprocess.PIPE)
        if r.returncode:
            sys.exit(f'{self.script} {arg}: exit {r.returncode}')
        return r.stdout

    def paths(self, paths):
        if not self.script:
            return {p: p for p in paths}
        lst = sorted(paths)
        out = self.one(':paths', '\n'.join(lst).encode() + b'\n').decode().split('\n')[:-1]
        if len(out) != len(lst):
            sys.exit(f'{self.script} :paths: {len(lst)} lines in, {len(out)} out')
        return dict(zip(lst, out))

    def many(self, jobs):
        """jobs: set of (path, sha), contents by git."""
        git, jobs = jobs
        todo = [j for j in jobs if j not in self.cache]
        for j in todo:
            git.cat(j[1])
        with concurrent.futures.ThreadPoolExecutor(4) as ex:
            res = list(ex.map(lambda j: self.one(j[0], git.cache[j[1]]), todo))
        for j, s in zip(todo, git.write(res)):
            self.cache[j] = s


def filtered(git, st, flt, warn):
    """The states with the filter applied; paths of the base are not renamed, nor are the base's own lines changed."""
    if not flt.script:
        return st
    names = flt.paths(st)
    jobs = {(p, x[1]) for p, v in st.items() for x in v if x}
    flt.many((git, jobs))
    out = {}
    pairs = set()
    for p, v in st.items():
        if v[0]:
            b, fb = v[0][1], flt.cache[(p, v[0][1])]
            if b != fb:
                pairs |= {(fb, b)} | {(fb, flt.cache[(p, x[1])]) for x in v if x}
    d = git.diffs(pairs)

    class O:
        strict = False
        no_words = False
    new = {}
    for p, v in st.items():
        if v[0] and flt.cache[(p, v[0][1])] != v[0][1]:
            b, fb = v[0][1], flt.cache[(p, v[0][1])]
            base, want = git.lines(fb), git.lines(b)
            th = hunks_of(d[(fb, b)], want)
            for x in v:
                if not x:
                    continue
                f = flt.cache[(p, x[1])]
                if x[1] == b:
                    new[(p, x[1])] = b
                elif (p, x[1]) not in new:
                    oh = hunks_of(d.get((fb, f), []), git.lines(f))
                    lines, _, notes = Merge(base, th, O, early=range(len(th))).run(oh, th)
                    bad = [n for n in notes if n[0] == 'ours']
                    if bad:
                        warn(f'filter: {p}: {len(bad)} places of the base itself are changed in a patch')
                    new[(p, x[1])] = git.write([b''.join(lines)])[0]
        q = p if v[0] else names[p]
        o = [x and (x[0], new.get((p, x[1]), flt.cache[(p, x[1])])) for x in v]
        if q in out:                 # two names that became one
            out[q] = [a or b for a, b in zip(o, out[q])]
        else:
            out[q] = o
    return out


def provenance(git, st):
    """origin[path] = for each line of the last version the commit it is of (0: base); churn {(path, i, j): [lines]}."""
    pairs = set()
    for v in st.values():
        for a, b in zip(v, v[1:]):
            if a and b:
                pairs.add((a[1], b[1]))
    d = git.diffs(pairs)
    origin, churn = {}, collections.defaultdict(list)
    for p, v in st.items():
        cur = [0] * len(git.lines(v[0][1])) if v[0] else []
        for i in range(1, len(v)):
            a, b = v[i - 1], v[i]
            if a == b:
                continue
            if not b:
                hk = [(0, len(cur), 0, 0)]
            elif not a:
                hk = [(0, 0, 0, len(git.lines(b[1])))]
            else:
                hk = d.get((a[1], b[1]), [])
            al = git.lines(a[1]) if a else []
            new, at = [], 0
            for a0, a1, b0, b1 in hk:
                new += cur[at:a0]
                for x in range(a0, a1):
                    if cur[x] and al[x].strip():
                        churn[(p, cur[x], i)].append(al[x])
                new += [i] * (b1 - b0)
                at = a1
            cur = new + cur[at:]
        origin[p] = cur
    return origin, churn


def fold(a):
    git = Git(a.repo)
    rep, warns = [], []

    def warn(t):
        if t not in warns:
            warns.append(t)
    srs = Series(git, a.base, a.old)
    n = srs.n
    new_tree = git.run('rev-parse', a.new + '^{tree}').strip()
    flt = Filter(a.sed)
    delta0 = raw_diff(git, srs.old, new_tree)
    st = srs.states(delta0)
    st = filtered(git, st, flt, warn)
    if a.new_sed:
        # NEW is filtered here, for the files of the series and of the change
        want = {}
        for e in git.run('ls-tree', '-r', '-z', new_tree, '--', *sorted(set(srs.states(delta0)))).split('\0'):
            if e:
                meta, p = e.split('\t', 1)
                want[p] = tuple(meta.split()[::2])
        fst = filtered(git, {p: [git_base(git, srs.base, p), x] for p, x in want.items()}, flt, warn)
        new = {p: v[1] for p, v in fst.items()}
        for p in srs.states(delta0):
            new.setdefault(flt.paths([p])[p], None)
        for p in st:
            new.setdefault(p, None)
    else:
        new = {p: None for p in st}
        paths = sorted(set(st) | set(delta0))
        for k in range(0, len(paths), 500):
            for e in git.run('ls-tree', '-r', '-z', new_tree, '--', *paths[k:k + 500]).split('\0'):
                if e:
                    meta, p = e.split('\t', 1)
                    if p in paths:
                        new[p] = tuple(meta.split()[::2])
        for p, (o, x) in delta0.items():
            if p not in st:
                new[p] = x
    for p in list(new):
        if p not in st:
            st[p] = [None] * (n + 1)
    # where each file of NEW comes from
    source, split = {}, {}
    for r in a.rename:
        o, q = r.split('=', 1)
        if o not in st or not new.get(q):
            sys.exit(f'--rename {r}: no such file')
        source[q] = o
    for r in a.split:
        q, o = r.split('=', 1)
        if o not in st or not new.get(q):
            sys.exit(f'--split {r}: no such file')
        source[q] = o
        split[q] = True
    place = {}
    for r in a.place:
        f, pre = r.split('=', 1)
        place[f] = srs.number(pre)
    land = []
    for r in a.land:
        m = re.match(r'([^:]+):(?:/(.*)/|(\d+))=(.*)$', r)
        if not m:
            sys.exit(f'--land {r}: FILE:LINE=SUBJECT or FILE:/REGEX/=SUBJECT')
        land.append([m[1], m[2] and re.compile(m[2].encode(), re.M), m[3] and int(m[3]), srs.number(m[4]), r, 0])
    fixes = {}
    for r in a.fix:
        m = re.match(r'(.*):([^:=]+)=(.+)$', r)
        fixes[(srs.number(m[1]), m[2])] = open(m[3], 'rb').read()
    group = {}
    gap = 0
    for g in a.group:
        if '=' in g:
            f, x = g.split('=')
            group[f] = int(x)
        else:
            gap = int(g)
    drop = {srs.number(d) for d in a.drop}

    origin, churn_old = provenance(git, st)
    homeless, res = [], {}
    work = []
    for q, x in new.items():
        if not x:
            continue
        p = source.get(q, q)
        v = st[p]
        if not v[n]:
            if q in place:
                res[q] = [None] * place[q] + [x] * (n + 1 - place[q])
            elif v[0] or any(v):
                work_gone = max(i for i in range(n + 1) if v[i])
                warn(f'{q}: is in the series until {work_gone}, not in OLD, but in NEW')
                homeless.append(q)
            else:
                homeless.append(q)
        elif q == p and v[n] == x:
            res[q] = v
        elif q == p and all(y == v[0] for y in v):
            if q in place:
                res[q] = [v[0]] * place[q] + [x] * (n + 1 - place[q])
            else:
                homeless.append(q + ' (no patch touches it)')
        else:
            work.append((q, p, x, v))
    if homeless:
        print('These files of NEW have no place in the series (--place FILE=SUBJECT, --rename, --split):')
        for h in homeless:
            print('   ', h)
        cand = git.run('diff-tree', '-r', '-M30%', '-C30%', '--diff-filter=RC', '--name-status', srs.old, new_tree)
        if cand:
            print('git sees as renamed or copied:\n' + cand)
        sys.exit(2)
    pairs = set()
    for q, p, x, v in work:
        pairs.add((v[n][1], x[1]))
        pairs |= {(v[n][1], y[1]) for y in v if y}
    d = git.diffs(pairs)
    landed_at, one_at, notes_at = {}, {}, collections.defaultdict(list)
    guessed = set()
    hunks = {}
    towrite = []
    for q, p, x, v in work:
        old = git.lines(v[n][1])
        T = fuse(hunks_of(d.get((v[n][1], x[1]), []), git.lines(x[1])), old, group.get(q, gap))
        hunks[q] = T
        first = min(i for i in range(1, n + 1) if v[i] and v[i] != v[0])
        org = origin[p]
        least, forced = {}, {}
        for t in T:
            l = max(first, place.get(q, 0))
            if v[0] and not any(org[b] for b in range(t.b0, t.b1)):
                near = [(min(abs(k - t.b0), abs(k - max(t.b0, t.b1 - 1))), o) for k, o in enumerate(org) if o]
                if near:
                    l = max(l, min(near)[1])
                guessed.add((q, t.id))
            for e in land:
                if e[0] == q and ((e[1] and e[1].search(b''.join(t.lines) or b''.join(old[t.b0:t.b1]))) or
                                  (e[2] is not None and t.n0 < e[2] <= max(t.n1, t.n0 + 1))):
                    l = e[3]
                    forced[t.id] = True
                    guessed.discard((q, t.id))
                    e[5] += 1
            least[t.id] = l
        early = [i for i in forced] + (list(range(len(T))) if q in split else [])
        m = Merge(old, T, a, split=q in split, early=early)
        vv, cache = [], {}
        for i in range(n + 1):
            y = v[i]
            if not y or i < place.get(q, 0):
                vv.append(None if q != p or not v[0] or i >= first else y)
                continue
            if i < first:
                vv.append(y if q == p else None)
                continue
            act = tuple(t.id for t in T if i >= least[t.id])
            key = (y[1], act)
            fix = fixes.get((i, q))
            if fix is not None:
                cache[key] = [fix, set(act), [('fixed', [])]]
            if key not in cache:
                oh = hunks_of(d.get((v[n][1], y[1]), []), git.lines(y[1]))
                lines, landed, notes = m.run(oh, [T[k] for k in act])
                cache[key] = [b''.join(lines), landed, notes]
            data, landed, notes = cache[key]
            for k in landed:
                landed_at.setdefault((q, k), i)
            changed = v[i - 1] != y or not vv or not vv[-1] or vv[-1][1] != data
            for kind, ks in notes:
                if kind == 'one':
                    for k in ks:
                        one_at.setdefault((q, k), i)
            notes = [x for x in notes if x[0] != 'one']
            if notes and v[i - 1] != y:
                notes_at[i].append((q, notes))
            mode = x[0]
            vv.append((mode, data))
        towrite += [y[1] for y in vv if y and isinstance(y[1], bytes)]
        res[q] = vv
    uniq = sorted(set(towrite))
    name = dict(zip(uniq, git.write(uniq)))
    for q, vv in res.items():
        res[q] = [y and (y[0], name[y[1]] if isinstance(y[1], bytes) else y[1]) for y in vv]
    for q, x in new.items():
        if not x:                    # gone in NEW
            if st[q][0]:
                k = place.get(q)
                if q in source.values() or k is None:
                    warn(f'{q}: a file of the base that NEW deletes; in the first patch that touches it (or --place)')
                    k = k or min([i for i in range(1, n + 1) if st[q][i] != st[q][0]] or [n])
                res[q] = [st[q][0]] * k + [None] * (n + 1 - k)
            else:
                res[q] = [None] * (n + 1)
    # the end must be NEW
    bad = [q for q, x in new.items() if res[q][n] != x]
    for q in bad:
        last = max([i for i in range(1, n + 1) if res[q][i] != res[q][i - 1]] or [n])
        have = git.lines(res[q][n][1]) if res[q][n] else []
        want = git.lines(new[q][1]) if new[q] else []
        cnt = sum(1 for l in difflib.unified_diff(have, want, n=0) if l[:1] in (b'+', b'-'))
        rep.append(f'leftover {q} in {last} "{srs.subject(last)}": {cnt} lines')
        for i in range(last, n + 1):
            res[q][i] = new[q]
    # write the commits
    out, prevstate, emitted, pending = [], {q: v[0] for q, v in res.items()}, 0, []
    br = a.branch if a.branch.startswith('refs/') else 'refs/heads/' + a.branch
    stream = [f'reset {br}\nfrom {srs.base}\n'.encode()]
    mark_of = {}
    for i in range(1, n + 1):
        ops = []
        for q, v in sorted(res.items()):
            if v[i] != prevstate[q]:
                ops.append((q, v[i]))
        if i in drop and ops and i < n:
            warn(f'dropped {i} "{srs.subject(i)}" had {len(ops)} files left; they go to the next patch: '
                 + ' '.join(q for q, _ in ops))
            continue
        if not ops:
            rep.append(f'empty, left out: {i} "{srs.subject(i)}"')
            continue
        info = srs.info[i - 1]
        msg = info['msg']
        if flt.script:
            msg = flt.one(':message', msg)
        emitted += 1
        mark_of[i] = emitted
        b = [f'commit {br}\nmark :{emitted}\n'.encode(), b'author ' + info['author'] + b'\n',
             b'committer ' + info['committer'] + b'\n', f'data {len(msg)}\n'.encode(), msg, b'\n']
        # deletions first, so that a file can become a directory
        for q, x in sorted(ops, key=lambda o: o[1] is not None):
            qq = '"' + q.replace('\\', '\\\\').replace('"', '\\"') + '"' if re.search(r'[\s"]', q) else q
            b.append(f'M {x[0]} {x[1]} {qq}\n'.encode() if x else f'D {qq}\n'.encode())
            prevstate[q] = x
        stream += b
    stream.append(b'done\n')
    git.run('fast-import', '--quiet', '--force', '--done', '--date-format=raw', input=b''.join(stream))
    tip_tree = git.run('rev-parse', br + '^{tree}').strip()
    # churn that is new
    _, churn_new = provenance(git, res)
    back = {}                        # names of OLD for files of NEW
    for q, o in source.items():
        back[q] = o
    extra = []
    for (q, i, j), lines in sorted(churn_new.items()):
        have = collections.Counter(churn_old.get((back.get(q, q), i, j), []))
        more = []
        for l in lines:
            if have[l] > 0:
                have[l] -= 1
            else:
                more.append(l)
        if more:
            extra.append((q, i, j, more))

    print(f'{n} patches, {emitted} written to {a.branch}; '
          f'{sum(len(h) for h in hunks.values())} hunks of {len(work)} files')
    print(f'old: {srs.old[:12]}  new tree {new_tree[:12]}  out tree {tip_tree[:12]}: '
          + ('the same' if tip_tree == new_tree else 'NOT the same' + (' (expected with --new-sed)' if a.new_sed else '')))
    if tip_tree != new_tree and not a.new_sed:
        print(git.run('diff-tree', '-r', '--name-status', new_tree, tip_tree))
    for w in warns:
        print('warning:', w)
    for r in rep:
        print(r)
    for e in land:
        if e[5] != 1:
            print(f'--land {e[4]}: {e[5]} hunks')
    sub = lambda i: f'{i:3} {srs.subject(i)}'
    byp = collections.defaultdict(lambda: collections.defaultdict(list))
    for (q, k), i in landed_at.items():
        byp[i][q].append(k)
    print('\nWhere hunks landed (by lines of NEW; ?: guessed, only lines of the base are near; <N: an insertion that could also land in N):')
    for i in sorted(byp):
        print(' ', sub(i))
        for q in sorted(byp[i]):
            ks = sorted(byp[i][q])
            s = []
            for k in ks:
                t = hunks[q][k]
                s.append(f'{t.n0 + 1}{"?" if (q, k) in guessed else ""}{f"<{one_at[(q, k)]}" if one_at.get((q, k), i) < i else ""}(-{t.b1 - t.b0}+{t.n1 - t.n0})')
            print(f'      {q}: ' + ' '.join(s))
    print('\nConflicts, per patch that changes the file (kept ours: NEW\'s hunk waits for a later patch; words: merged by words):')
    tot = collections.Counter()
    for i in sorted(notes_at):
        print(' ', sub(i))
        for q, notes in notes_at[i]:
            o = [k for kind, ks in notes for k in ks if kind == 'ours']
            w = [k for kind, ks in notes for k in ks if kind == 'words']
            f = any(kind == 'fixed' for kind, ks in notes)
            tot['ours'] += len(o)
            tot['words'] += len(w)
            at = lambda ks: ','.join(str(hunks[q][k].n0 + 1) for k in ks)
            print(f'      {q}:' + (f' kept ours {len(o)} (NEW line {at(o)})' if o else '')
                  + (f' words {len(w)} ({at(w)})' if w else '') + (' fixed by hand' if f else ''))
    print(f'  in all: kept ours {tot["ours"]}, by words {tot["words"]}')
    print('\nNew churn (lines that the first patch adds and the second changes or deletes, and did not before):')
    for q, i, j, more in extra:
        print(f'  {q}: {len(more)} lines of {i} "{srs.subject(i)}" in {j} "{srs.subject(j)}"')
        if a.verbose:
            for l in more:
                print('      |' + l.decode('utf-8', 'replace').rstrip('\n'))
    print(f'  in all: {sum(len(m) for *_, m in extra)} lines; the series had {sum(len(l) for l in churn_old.values())}'
          f', has {sum(len(l) for l in churn_new.values())}')


def git_base(git, base, p):
    e = git.run('ls-tree', base, '--', p)
    return tuple(e.split('\t')[0].split()[::2]) if e else None


def port(a):
    git, g6 = Git(a.repo), Git(a.repo612)
    flt = Filter(a.sed)
    # objects of both trees in one place
    alt = os.path.join(g6.run('rev-parse', '--path-format=absolute', '--git-common-dir').strip(), 'objects')
    os.environ['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = alt
    o6 = git.run('rev-parse', g6.run('rev-parse', a.old612 + '^{tree}').strip()).strip()
    n6 = git.run('rev-parse', g6.run('rev-parse', a.new612 + '^{tree}').strip()).strip()
    old = git.run('rev-parse', a.old + '^{commit}').strip()
    ren = dict(r.split('=', 1) for r in a.rename)
    warns = []
    st6 = {}
    delta = raw_diff(git, o6, n6)
    if a.sed:
        sys.exit('--port takes filtered trees: run fold.py on 7.3 with --sed first (NEW = OLD filtered, --new-sed)')
    idx = tempfile.mktemp(prefix='fold')
    env = dict(os.environ, GIT_INDEX_FILE=idx)

    def g(*args, input=None):
        return subprocess.run(['git', '-C', a.repo, *args], input=input, env=env, check=True,
                              stdout=subprocess.PIPE).stdout.decode()
    g('read-tree', old)
    upd, conflicts, copied, notes = [], [], 0, []
    clean = 0
    here = {}
    ps = sorted(set(delta) | set(ren) | set(ren.values()))
    for e in git.run('ls-tree', '-r', '-z', old, '--', *ps).split('\0'):
        if e:
            meta, p = e.split('\t', 1)
            here[p] = tuple(meta.split()[::2])
    back = {q: o for o, q in ren.items()}
    for p, (o, x) in sorted(delta.items()):
        if p in ren:
            if p in here:
                upd.append(f'0 {"0" * 40}\t{p}')
            continue
        src = back.get(p, p)
        if src != p:
            o = tuple(git.run('ls-tree', o6, '--', src).split('\t')[0].split()[::2])
        h = here.get(src)
        if not x:
            if h:
                if h[1] != o[1]:
                    notes.append(f'{p}: deleted; in 7.3 it was different')
                upd.append(f'0 {"0" * 40}\t{p}')
            continue
        if not o:
            if p in here and here[p][1] != x[1]:
                notes.append(f'{p}: new in 6.12, but 7.3 has one: taken from 6.12')
            upd.append(f'{x[0]} {x[1]}\t{p}')
            copied += 1
            continue
        if not h:
            notes.append(f'{p}: changed in 6.12, not in 7.3: left out')
            continue
        if h[1] == o[1]:
            upd.append(f'{x[0]} {x[1]}\t{p}')
            copied += 1
            continue
        with tempfile.TemporaryDirectory(prefix='fold') as d:
            for f, s in (('ours', h), ('base', o), ('new', x)):
                open(f'{d}/{f}', 'wb').write(git.cat(s[1]))
            r = subprocess.run(['git', 'merge-file', '-p', '--zdiff3', '-L', '7.3', '-L', 'old 6.12', '-L', 'new 6.12',
                                f'{d}/ours', f'{d}/base', f'{d}/new'], stdout=subprocess.PIPE)
        if r.returncode < 0 or r.returncode > 127:
            notes.append(f'{p}: cannot be merged')
            continue
        if r.returncode:
            conflicts.append((p, r.returncode))
        else:
            clean += 1
        upd.append(f'{h[0] if o[0] == x[0] else x[0]} {git.write([r.stdout])[0]}\t{p}')
    g('update-index', '--index-info', input='\n'.join(upd).encode() + b'\n')
    # objects of 6.12 must be in 7.3's own store
    tree = g('write-tree').strip()
    c = git.run('commit-tree', tree, '-p', old, '-m', f'Changes of 6.12 ({a.old612}..{a.new612}), for 7.3').strip()
    os.unlink(idx)
    need = git.run('rev-list', '--objects', c, '^' + old).split('\n')
    pack = git.run('pack-objects', '--stdout', '-q', input='\n'.join(l.split()[0] for l in need if l).encode() + b'\n',
                   text=False)
    del os.environ['GIT_ALTERNATE_OBJECT_DIRECTORIES']
    Git(a.repo).run('unpack-objects', '-q', input=pack)
    Git(a.repo).run('branch', '-f', a.branch, c)
    print(f'{a.branch} {c[:12]}: {copied} files as in 6.12, {clean} merged, {len(conflicts)} with conflicts')
    for p, k in conflicts:
        print(f'  conflict {p}: {k}')
    for x in notes:
        print('  note', x)
    if conflicts:
        print('Resolve them (git checkout, edit, git commit --amend), then fold with --old', a.old, '--new', a.branch)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                 fromfile_prefix_chars='@')
    ap.add_argument('--repo', required=True)
    ap.add_argument('--base', default='base')
    ap.add_argument('--old', required=True)
    ap.add_argument('--new')
    ap.add_argument('--branch', required=True)
    ap.add_argument('--place', action='append', default=[], metavar='FILE=SUBJECT')
    ap.add_argument('--rename', action='append', default=[], metavar='OLD=NEW')
    ap.add_argument('--split', action='append', default=[], metavar='NEW=OLD',
                    help='NEW has parts of OLD, which stays: its earlier versions are made from those of OLD')
    ap.add_argument('--drop', action='append', default=[], metavar='SUBJECT')
    ap.add_argument('--land', action='append', default=[], metavar='FILE:LINE=SUBJECT',
                    help='the hunk at this line of NEW (or FILE:/REGEX/) lands in this patch')
    ap.add_argument('--fix', action='append', default=[], metavar='SUBJECT:FILE=CONTENTS',
                    help='what the file is after this patch')
    ap.add_argument('--group', action='append', default=[], metavar='[FILE=]LINES',
                    help='hunks that are fewer than LINES apart land together')
    ap.add_argument('--sed', metavar='SCRIPT')
    ap.add_argument('--new-sed', action='store_true', help='NEW is not filtered yet: do it')
    ap.add_argument('--strict', action='store_true', help='hunks that only touch conflict, as in git')
    ap.add_argument('--no-words', action='store_true', help='no merges by words')
    ap.add_argument('--verbose', '-v', action='store_true', help='show the lines of churn')
    ap.add_argument('--port', action='store_true')
    ap.add_argument('--repo612')
    ap.add_argument('--old612')
    ap.add_argument('--new612')
    a = ap.parse_args()
    if a.port:
        if not (a.repo612 and a.old612 and a.new612):
            ap.error('--port needs --repo612, --old612, --new612')
        port(a)
    else:
        if not a.new:
            ap.error('--new')
        fold(a)


if __name__ == '__main__':
    main()
