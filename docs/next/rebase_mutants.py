#!/usr/bin/env python3
"""rebase_mutants.py TREE OLD NEW MUTANTS: mutants that apply to the commit OLD and not to NEW, brought to NEW.

Each is merged into NEW's files. Those without a conflict are written again in place; the others are
named, and wait for a person: what they break may be gone, or has to be broken in another way.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

tree, old, new, mutants = sys.argv[1:5]


def show(commit, name):
    r = subprocess.run(['git', '-C', tree, 'show', f'{commit}:{name}'],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if r.returncode else r.stdout


def patched(commit, files, diff):
    """The files of a commit with the diff, or None."""
    with tempfile.TemporaryDirectory() as d:
        for f in files:
            text = show(commit, f)
            if text is None:
                return None
            os.makedirs(os.path.dirname(f'{d}/{f}'), exist_ok=True)
            with open(f'{d}/{f}', 'wb') as out:
                out.write(text)
        r = subprocess.run(['patch', '-s', '-p1', '-F0', '-d', d], input=diff.encode(),
                           stdout=subprocess.DEVNULL)
        if r.returncode:
            return None
        return {f: open(f'{d}/{f}', 'rb').read() for f in files}


def merged(f, mutant):
    """A diff of NEW's file, or None."""
    with tempfile.TemporaryDirectory() as d:
        for name, text in (('new', show(new, f)), ('old', show(old, f)), ('mutant', mutant)):
            if text is None:
                return None
            with open(f'{d}/{name}', 'wb') as out:
                out.write(text)
        r = subprocess.run(['git', 'merge-file', '-p', f'{d}/new', f'{d}/old', f'{d}/mutant'],
                           stdout=subprocess.PIPE)
        if r.returncode:
            return None
        with open(f'{d}/mutant', 'wb') as out:
            out.write(r.stdout)
        return subprocess.run(['diff', '-up', '--label', 'a/' + f, '--label', 'b/' + f,
                               f'{d}/new', f'{d}/mutant'], stdout=subprocess.PIPE).stdout.decode()


left = []
for path in sorted(glob.glob(mutants + '/*.patch')):
    head, sep, diff = open(path).read().partition('\n---\n')
    files = re.findall(r'^\+\+\+ b/(\S+)', diff, re.M)
    if patched(new, files, diff) is not None:
        continue
    was = patched(old, files, diff)
    parts = was and [merged(f, was[f]) for f in files]
    if parts and all(parts):
        with open(path, 'w') as out:
            out.write(head + sep + ''.join(parts))
        print('rebased', os.path.basename(path))
    else:
        left.append(os.path.basename(path))
print(f'{len(left)} left:', *left, sep='\n  ')
