#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# One-line bugs for scripts/prove/mutate.
#
# mutate.py draw SEED TREE <LINES
#
# LINES are those that may be changed, "FILE LINE" each. Prints one bug a line, in the
# order in which they are drawn, in fields that tabs separate: number, file, line,
# operator, first and last + 1 byte that are replaced, and by what, with escapes for
# printf %b.
#
# What the order is made of is the seed and the text of the line, so that code that
# moves, or changes elsewhere, changes no draw. A line has its second bug only after
# all lines had their first.
#
# mutate.py put TREE <BUGS
#
# Makes the files such that they have each of these bugs if the kernel's variable "mutant"
# is the bug's number. The condition or statement that the bug is in is there once more
# for each of its bugs, a line each, with its number in it.

import collections
import hashlib
import re
import sys

# Not mutated: what only says something, checks, or tells the compiler; and barriers,
# without which no emulator misbehaves.
SILENT = re.compile(
    r"\b(\w*WARN\w*|BUG\w*|pr_\w+|dev_\w+|lockdep_\w+|might_\w+|static_assert|"
    r"smp_\w*mb\w*|barrier|prefetch\w*|cpu_relax|cond_resched|unreachable|kunit_\w+|"
    r"BUILD_BUG\w*|__acquires?|__releases?|__must_hold|sizeof|typeof|__printf|DEFINE_\w+|MODULE_\w+|"
    r"EXPORT_\w+)\s*\(")
BLANKS = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|"
    r"^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)

SWAPS = {
    "&&": "||", "||": "&&", "<": "<=", "<=": "<", ">": ">=", ">=": ">",
    "==": "!=", "!=": "==", "|=": "=", "&=": "=", "^=": "=", "+=": "-=", "-=": "+=",
    "<<": ">>", ">>": "<<", "+": "-", "-": "+", "&": "|", "|": "&",
}
# Binary operators have blanks around them, or end a line.
SWAP = re.compile(r"(?<=\s)(&&|\|\||[<>]=?|[=!]=|[|&^+-]=|<<|>>|[+&|-])(?=\s)")
LOST = re.compile(r"[~!](?=[\w(*~!])")
STEP = re.compile(r"\+\+|--")
BOOL = re.compile(r"\b(?:true|false)\b")
NUMBER = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|0|[1-9]\d*)(?=[UL]*\b)")
CONDITION = re.compile(r"\b(?:if|while) (?=\()")
RESULT = re.compile(r"\breturn (?!(?:\d+|true|false);| )")
STATEMENT = re.compile(
    r"^[ \t]+(?=(?:[A-Za-z_][\w.\[\]>-]*\(|"            # a call
    r"[*(]*[A-Za-z_][^\s,;]* (?:[|&^+*/-]|<<|>>)?= |"     # an assignment
    r"(?:\+\+|--)|[^\s,;(]+(?:\+\+|--);|"
    r"(?:return|goto|break|continue)\b))", re.M)
FOR = re.compile(r"\bfor \(")
LABEL = re.compile(r"\s*(?:case\b[^:?]*:|\w+\s*:|else\b|do\b)")
HEAD = re.compile(r"\s*(if|while|switch|for|\w*for_each\w*|scoped_guard) ?\(")
# What a statement of its own would end too soon.
SCOPE = re.compile(r"guard\(|CLASS\(|LIST_HEAD\(|DECLARE_|DEFINE_")
DECLARATION = re.compile(r"(?!return\b|goto\b)(?:\w+ +)+\**(?:const +)?\w+(?:\[[^]]*\])*(?:;|,| =)")
KEYWORDS = re.compile(r"(?:if|for|while|switch|else|do|case|default)\b")


def blank(match):
    """The same length, and the same lines."""
    return re.sub(r"[^\n]", " ", match.group())


def closing(text, start):
    """Where the parenthesis that opens at start is closed."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if not depth:
            return i
    raise ValueError("unbalanced parentheses")


def end_of_statement(text, start):
    """Where its semicolon is, or None if this is no simple statement."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in "([") - (text[i] in ")]")
        if text[i] in "{}" or depth < 0:
            return None
        if text[i] == ";" and not depth:
            return i
    return None


def code(text):
    """Blanks where there is nothing to be mutated."""
    text = BLANKS.sub(blank, text)
    while match := SILENT.search(text):
        end = closing(text, match.end() - 1) + 1
        text = text[:match.start()] + " " * (match.end() - match.start()) + \
            re.sub(r"[^\n]", " ", text[match.end():end]) + text[end:]
    return text


def bugs(original):
    """Operator, first byte, last + 1, replacement."""
    text = code(original)
    for m in SWAP.finditer(text):
        yield f"{m.group()} becomes {SWAPS[m.group()]}", m.start(), m.end(), SWAPS[m.group()]
    for m in LOST.finditer(text):
        yield f"lost {m.group()}", m.start(), m.end(), ""
    for m in STEP.finditer(text):
        other = "--" if m.group() == "++" else "++"
        yield f"{m.group()} becomes {other}", m.start(), m.end(), other
    for m in BOOL.finditer(text):
        other = "false" if m.group() == "true" else "true"
        yield f"{m.group()} becomes {other}", m.start(), m.end(), other
    for m in NUMBER.finditer(text):
        yield "number + 1", m.start(), m.end(), str(int(m.group(), 0) + 1)
    for m in CONDITION.finditer(text):
        end = closing(text, m.end())
        if text[m.end() + 1:end].strip():
            yield "negated condition", m.end() + 1, end, "!(" + original[m.end() + 1:end] + ")"
    for m in RESULT.finditer(text):
        end = end_of_statement(text, m.end())
        if end:
            yield "negated result", m.end(), end, "!(" + original[m.end():end] + ")"
    for m in STATEMENT.finditer(text):
        if KEYWORDS.match(text, m.end()):
            continue
        end = end_of_statement(text, m.end())
        # A function without its last return does not compile.
        if end and not (text.startswith("return ", m.end()) and text.startswith(";\n}", end)):
            yield "deleted statement", m.end(), end, ""


def part(text, start):
    """The condition (or other expression), or else the statement, in which start is: what
    it is, first, last + 1; or None if it is in what cannot be chosen at run time."""
    for m in FOR.finditer(text, 0, start):
        end = closing(text, m.end() - 1)
        if start < end:
            first = text.rfind(";", m.end(), start) + 1 or m.end()
            last = text.find(";", start, end)
            last = end if last < 0 else last
            return None if DECLARATION.match(text, first) else ("", first, last)
    depth = 0
    for i in range(start - 1, -1, -1):
        depth = max(0, depth + (text[i] in ")]") - (text[i] in "(["))
        if text[i] in ";{}" and not depth:
            break
    at = i + 1
    while m := LABEL.match(text, at) or HEAD.match(text, at):
        at = m.end()
        if m.re is HEAD:
            first, at = at, closing(text, at - 1) + 1
            if first <= start < at:
                return {"if": ("!!", first, at - 1), "while": ("!!", first, at - 1),
                        "switch": ("", first, at - 1)}.get(m[1])
    at = re.compile(r"\s*").match(text, at).end()
    end = end_of_statement(text, at)
    if end is None or not at <= start <= end or SCOPE.match(text, at):
        return None
    if not DECLARATION.match(text, at):
        return "statement", at, end + 1
    first, depth = at, 0
    for i in range(at, end + 1):
        depth += (text[i] in "([") - (text[i] in ")]")
        if not depth and text[i] in ",;":
            if start < i:
                value = text.find(" = ", first, i) + 3
                return ("", value, i) if 3 <= value <= start else None
            first = i + 1
    return None


def choose(kind, original, changed):
    """What has a bug by its number, a line each."""
    if kind == "statement":
        return "{\n" + "".join(f"if (mutant == {n}) {{ {new} }} else\n" for n, new in changed) + \
            "{ " + original + " } }"
    return "(\n" + "".join(f"mutant == {n} ? {kind}({new}) :\n" for n, new in changed) + \
        f"{kind}({original}))"


def put(tree):
    places = collections.defaultdict(lambda: collections.defaultdict(list))
    for bug in sys.stdin:
        number, name, _, _, start, end, *new = bug.rstrip("\n").split("\t")
        new = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), "".join(new))
        places[name][int(start)].append((number, int(end), new))
    for name, found in places.items():
        with open(f"{tree}/{name}", encoding="ascii", errors="surrogateescape") as f:
            original = f.read()
        text = code(original)
        parts = collections.defaultdict(list)
        for start, bugs_here in found.items():
            kind, first, last = part(text, start)
            for number, end, new in bugs_here:
                new = original[first:start] + new + original[end:last]
                new = re.sub(r"/\*.*?\*/", "", new, flags=re.S)
                parts[first, last, kind].append((number, re.sub(r"\s*\n\s*", " ", new)))
        for (first, last, kind), changed in sorted(parts.items(), reverse=True):
            original = original[:first] + choose(kind, original[first:last], changed) + \
                original[last:]
        with open(f"{tree}/{name}", "w", encoding="ascii", errors="surrogateescape") as f:
            f.write("extern int mutant;\n" + original)


def draw(seed, tree):
    allowed = collections.defaultdict(set)
    for line in sys.stdin:
        name, number = line.split()
        allowed[name].add(int(number))
    lines = []
    for name, numbers in sorted(allowed.items()):
        with open(f"{tree}/{name}", encoding="ascii", errors="surrogateescape") as f:
            text = f.read()
        found = collections.defaultdict(list)
        clean = code(text)
        for operator, start, end, new in bugs(text):
            number = text.count("\n", 0, start) + 1
            if number in numbers and part(clean, start):
                found[number].append((operator, start, end, new))
        source = text.split("\n")
        same = collections.Counter()
        for number, choices in sorted(found.items()):
            line = source[number - 1].strip()
            same[line] += 1
            hashed = []
            for nth, choice in enumerate(choices):
                key = f"{seed} {name} {line} {same[line]} {nth} {choice[0]}"
                hashed.append((hashlib.sha256(key.encode()).digest(), name, number, choice))
            lines.append(sorted(hashed))
    drawn = [(nth, bug) for line in lines for nth, bug in enumerate(line)]
    for i, (_, (_, name, number, (operator, start, end, new))) in enumerate(sorted(drawn), 1):
        new = new.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
        print(i, name, number, operator, start, end, new, sep="\t")


{"draw": draw, "put": put}[sys.argv[1]](*sys.argv[2:])
