#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A filter for fold.py --sed: renames by the script in $RENAMES (sed -E), and keeps what
goes on in the next lines aligned with the parenthesis that has moved.

Called as fold.py calls a filter, with a path, ":paths" or ":message" as argument.
"""
import os
import subprocess
import sys


def parentheses(line):
    """columns of those that are open at the end of the line"""
    found = []
    for i, c in enumerate(line.expandtabs(8)):
        if c == "(":
            found.append(i)
        elif c == ")" and found:
            found.pop()
    return found


def indent(line):
    line = line.expandtabs(8)
    return len(line) - len(line.lstrip())


def main():
    data = sys.stdin.buffer.read()
    out = subprocess.run(["sed", "-E", "-f", os.environ["RENAMES"]], input=data,
                         stdout=subprocess.PIPE, check=True).stdout
    if sys.argv[1].endswith((".c", ".h")):
        before, after = data.decode().split("\n"), out.decode().split("\n")
        for i, line in enumerate(before):
            was, now = parentheses(line), parentheses(after[i])
            if not was or len(was) != len(now) or was[-1] == now[-1]:
                continue
            for j in range(i + 1, len(before)):
                if not before[j].strip() or indent(before[j]) != was[-1] + 1:
                    break
                n = now[-1] + 1
                after[j] = "\t" * (n // 8) + " " * (n % 8) + after[j].lstrip()
        out = "\n".join(after).encode()
    sys.stdout.buffer.write(out)


main()
