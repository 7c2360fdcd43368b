#!/usr/bin/env python3
"""words-split.py REPO BASE OLD BRANCH: the series BASE..OLD with the names and files of next.patch.

Each commit is written again, with the same message (filtered), author and dates:
 - names: words_sed.py
 - kernel/perfctr/internal.h becomes driver.h, lease.h and vperfctr.h
 - lease.c gives what chooses counters to choose.c, and lease_preferred() takes its place
 - include/linux/perfctr_{sim,kunit}.h move to kernel/perfctr/tests, with -I in the Makefiles
Text that has been through this stays as it is, so it can also be used on a tip that is partly so.
"""
import os, re, subprocess, sys, tempfile
import words_sed as sed
repo, base, old, branch = sys.argv[1:5] if __name__ == '__main__' else [sys.argv[1]] + [''] * 3


def git(*a, inp=None, env=None):
    return subprocess.run(['git', '-C', repo, *a], input=inp, stdout=subprocess.PIPE, check=True,
                          env=env).stdout


cat = subprocess.Popen(['git', '-C', repo, 'cat-file', '--batch'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def blob(sha):
    cat.stdin.write(sha.encode() + b'\n')
    cat.stdin.flush()
    n = int(cat.stdout.readline().split()[2])
    d = cat.stdout.read(n)
    cat.stdout.read(1)
    return d.decode('utf-8', 'surrogateescape')


def write(text):
    return git('hash-object', '-w', '--stdin', inp=text.encode('utf-8', 'surrogateescape')).decode().strip()


P = 'kernel/perfctr/'
HEAD = '/* SPDX-License-Identifier: GPL-2.0 */\n/*\n%s */\n#ifndef _KERNEL_PERFCTR_%s_H\n#define _KERNEL_PERFCTR_%s_H\n\n'
WHAT = {'driver': ' * Virtual per-thread performance counters: the driver in use.\n',
        'lease': ' * Virtual per-thread performance counters: which counters of the hardware\n'
                 ' * perfctr has, which of them count for a control, and which callers may use\n * them.\n',
        'policy': ' * Virtual per-thread performance counters: which callers may count what.\n',
        'vperfctr': ' * Virtual per-thread performance counters: objects, and what is done with them.\n'}


def header(name, includes, body, what=None):
    N = name.upper()
    return HEAD % (WHAT[what or name], N, N) + includes + '\n' + body.strip('\n') + f'\n\n#endif /* _KERNEL_PERFCTR_{N}_H */\n'


def split_internal(t):
    """internal.h -> {name: text}"""
    t = t.split('_INTERNAL_H\n', 2)[2]
    t = re.sub(r'\n#endif /\* _KERNEL_PERFCTR_INTERNAL_H \*/\n$', '\n', t)
    incs = [l for l in t.split('\n') if l.startswith('#include')]
    t = '\n'.join(l for l in t.split('\n') if not l.startswith('#include')).strip('\n') + '\n'
    page = re.search(r'/\* Offset of struct vperfctr_page.*?\n\n', t, re.S)
    t = t.replace(page[0], '')
    parts = re.split(r'^(/\* \w+\.c \*/\n)', t, flags=re.M)
    objs, sec = parts[0], list(zip(parts[1::2], parts[2::2]))
    res, driver, lease, upper = {}, '', '', ''
    for mark, text in sec:
        name = mark[3:-6]
        if name == 'driver':
            driver = text
        elif name == 'lease':
            if 'choose_any' in text:
                ch = re.findall(r'^(?:u32|bool) choose_\w+\(.*?;\n', text, re.M | re.S)
                for c in ch:
                    text = text.replace(c, '')
                text = text.replace('u32 lease_taken(void);\n', 'u32 lease_preferred(u32 counters);\nu32 lease_taken(void);\n')
                lease += mark + text.rstrip('\n') + '\n\n/* choose.c */\n' + ''.join(ch) + '\n'
            else:
                lease += mark + text
        elif name in ('hold', 'policy'):
            lease += mark + text
        else:
            upper += mark + text
    if 'perfctr_set_aside_current' in upper:
        upper = upper.replace('void perfctr_set_aside_current(u32 counters);\n', '')
        lease = lease.rstrip('\n') + '\n\n/* run.c, for hold.c, which does not know objects */\n' \
            'void perfctr_set_aside_current(u32 counters);\n'
    res['driver'] = header('driver', '#include <linux/align.h>\n#include <linux/perfctr.h>\n'
                           '#include <linux/perfctr_cpu.h>\n#include <linux/static_call.h>\n', page[0] + driver)
    if lease:
        res['lease'] = header('lease', '#include <linux/perfctr_cpu.h>\n#include <linux/types.h>\n', lease,
                              'lease' if 'lease.c' in lease else 'policy')
    if upper:
        inc = [i for i in incs if 'static_call' not in i]
        if '#include <linux/perfctr.h>' not in inc:
            inc = ['#include <linux/perfctr.h>'] + inc
        res['vperfctr'] = header('vperfctr', '\n'.join(inc) + '\n\n#include "driver.h"\n' +
                                 ('#include "lease.h"\n' if lease else ''), objs + upper)
    return res


def split_lease(t):
    """lease.c -> (lease.c, choose.c or None)"""
    a = t.find('/*\n * Controls.\n */\n\n/**\n * lease_of -')
    b = t.find('/* Which counters of the hardware the counters of a control get. */')
    c = t.find('/*\n * Display.\n */')
    if min(a, b, c) < 0:
        return t, None
    lease_of = t[a:b].split('*/\n\n', 1)[1]
    ch = t[b:c].replace('LEASE_NR', 'PERFCTR_MAX_COUNTERS')
    ch = re.sub(r'^\tu32 (granted|used|leased);\n', '', ch, flags=re.M)
    ch = re.sub(r'^\t\t\.(granted|used|leased)\t*= READ_ONCE.*\n', '', ch, flags=re.M)
    m = re.search(r'fls\((\*left & .*?)\) - 1;', ch, re.S)
    terms = [x.strip() for x in m[1].replace('\n', ' ').split('?:')]
    ch = ch.replace(m[0], 'fls(lease_preferred(*left)) - 1;')
    ch = ch.replace('\tu32 leasable = perfctr_driver->leasable;\n\n', '')
    said = []
    exprs = []
    for x in terms:
        x = x.replace('*left', 'counters').replace('& leasable', '& perfctr_driver->leasable')
        x = re.sub(r'choice->(\w+)', r'READ_ONCE(lease.\1)', re.sub(r'\s+', ' ', x))
        exprs.append(x)
    d = ch.find(' * Prefers counters')
    e = ch.find(' *\n * Context', d)
    ch = ch[:d] + ' * Prefers counters as lease_preferred() says, and of these the highest, because\n' \
        ' * perf fills from the bottom.\n' + ch[e:]
    granted = any('granted' in x for x in exprs)
    pref = '/**\n * lease_preferred - which counters are the best to choose from?\n' \
        ' * @counters: counters (bits, as in pmc_map[])\n *\n' + (
            ' * The best are counters that are granted, which no limit keeps from the caller,\n'
            ' * then those in use, those that are leased, and those that can be leased.\n' if granted else
            ' * The best are counters in use, then those that are leased, and those that can be\n * leased.\n') + \
        ' *\n * Context: any. The answer may be out of date.\n * Return: some of @counters, 0 only if there are none\n */\n' \
        'u32 lease_preferred(u32 counters)\n{\n\treturn ' + ' ?:\n\t\t'.join(exprs[:-1]) + ' ?: ' + exprs[-1] + ';\n}\n\n'
    new = t[:a] + lease_of + pref + t[c:]
    head = '// SPDX-License-Identifier: GPL-2.0\n/*\n * Virtual per-thread performance counters: which counters of the hardware count\n' \
        ' * for a control that leaves the choice to the kernel (PERFCTR_PMC_ANY).\n */\n#include <linux/bitops.h>\n' \
        '#include <linux/perfctr.h>\n#include <linux/string.h>\n\n#include "driver.h"\n#include "lease.h"\n\n'
    return new, head + ch.rstrip('\n') + '\n'


def transform(path, text, has_lease):
    """path, text -> {path: text}"""
    out = {}
    if path == P + 'internal.h':
        for k, v in split_internal(text).items():
            out[f'{P}{k}.h'] = v
        return {p: sed.filter_text(p, v) for p, v in out.items()}
    if re.match(r'kernel/perfctr/\w+\.c$', path) and '#include "internal.h"\n' in text:
        n = path[len(P):-2]
        low = n in ('driver', 'lease', 'choose', 'hold', 'policy')
        inc = '#include "driver.h"\n' + ('#include "lease.h"\n' if has_lease else '') if low else '#include "vperfctr.h"\n'
        if n == 'driver' and not ('perfctr_cpu_online' in text and 'static int perfctr_cpu_online' not in text or
                                  'perfctr_check_privilege' in text):
            inc = '#include "driver.h"\n'
        text = text.replace('#include "internal.h"\n', inc).replace('internal.h tells', 'vperfctr.h tells')
    if path == P + 'lease.c':
        text, ch = split_lease(text)
        if ch:
            out[P + 'choose.c'] = sed.filter_text(P + 'choose.c', ch)
    if path == P + 'Makefile' and 'lease.o' in text and 'choose.o' not in text:
        text = text.replace('lease.o policy.o object.o page.o books.o run.o holders.o \\\n\tfamily.o control.o fs.o syscall.o',
                            'lease.o choose.o policy.o object.o page.o books.o run.o \\\n\tholders.o family.o control.o fs.o syscall.o')
    if re.match(r'arch/\w+/kernel/(cpu/)?perfctr/Makefile$', path) and 'kernel/perfctr/tests' not in text and \
            re.search(r'\b(pmuv3|sbi|book3s|core)\.o', text):
        text = re.sub(r'^(obj-y)', '# perfctr_kunit.h and perfctr_sim.h\nccflags-y := -I $(srctree)/kernel/perfctr/tests\n\n\\1',
                      text, count=1, flags=re.M)
    out[sed.paths([path])[0]] = sed.filter_text(path, text)
    return out


def main():
    idx = tempfile.mktemp(prefix='words')
    env = dict(os.environ, GIT_INDEX_FILE=idx)
    commits = git('rev-list', '--reverse', f'{base}..{old}').decode().split()
    basec = git('rev-parse', base + '^{commit}').decode().strip()
    git('read-tree', basec, env=env)
    parent = basec
    cache = {}
    made = {}       # old path -> new paths
    for c in commits:
        raw = git('cat-file', 'commit', c).decode('utf-8', 'surrogateescape')
        head, msg = raw.split('\n\n', 1)
        up = []
        has_lease = subprocess.run(['git', '-C', repo, 'cat-file', '-e', f'{c}:{P}policy.c'], stderr=subprocess.DEVNULL).returncode == 0
        changed = git('diff-tree', '-r', '-z', '--no-renames', c + '^', c).decode('utf-8', 'surrogateescape').split('\0')
        todo = []
        for m, p in zip(changed[::2], changed[1::2]):
            _, mode, _, sha, st = m.split()
            todo.append((p, mode, sha, st))
        todo.sort(key=lambda x: x[3] != 'D')
        # policy.c brings lease.h: driver.c may need it in the same patch without a change of its own
        for p, mode, sha, st in todo:
            inbase = subprocess.run(['git', '-C', repo, 'cat-file', '-e', f'{basec}:{p}'], stderr=subprocess.DEVNULL).returncode == 0
            if st == 'D':
                for q in made.get(p, {p}):
                    up.append(f'0 {"0" * 40}\t{q}')
                continue
            if mode == '120000' or mode == '160000':
                up.append(f'{mode} {sha}\t{p}')
                continue
            k = (p, sha, has_lease)
            if k not in cache:
                t = blob(sha)
                res = transform(p, t, has_lease)
                cache[k] = {q: sha if v == t else write(v) for q, v in res.items()}
            for q in made.get(p, set()) - set(cache[k]):
                up.append(f'0 {"0" * 40}\t{q}')
            made[p] = set(cache[k])
            for q, s in cache[k].items():
                up.append(f'{mode} {s}\t{q}')
        git('update-index', '--index-info', inp='\n'.join(up).encode('utf-8', 'surrogateescape') + b'\n', env=env)
        tree = git('write-tree', env=env).decode().strip()
        lines = [f'tree {tree}' if l.startswith('tree ') else f'parent {parent}' if l.startswith('parent ') else l for l in head.split('\n')]
        msg = sed.filter_text(':message', msg)
        parent = git('hash-object', '-t', 'commit', '-w', '--stdin',
                     inp=('\n'.join(lines) + '\n\n' + msg).encode('utf-8', 'surrogateescape')).decode().strip()
    os.unlink(idx)
    git('branch', '-f', branch, parent)
    print(branch, parent)


if __name__ == '__main__':
    main()
