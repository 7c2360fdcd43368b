#!/usr/bin/env python3
"""The renames of house.md 1 in perfctr's files, as a filter of fold.py (--sed).

  words_sed.py PATH <contents     words_sed.py :paths <names     words_sed.py :message <text

A filtered text stays as it is. Names that are given to another function (x86's
event_counters, powerpc's write_reg and put_off) change only where the name of the one
that had it before is not there yet: a mutant, which may show only one of them, is
filtered once.
"""
import re, sys

OURS = re.compile(r'^(kernel/perfctr/|arch/[^/]+/kernel/(cpu/)?perfctr/|include/linux/perfctr)')
PERF = re.compile(r'^(arch/x86/(events|include/asm|mm)/|drivers/perf/|include/linux/perf/)')

# (pattern, replacement, only in files that match)
WORDS = [
    # set_up: counters of a CPU; program: registers for a control
    (r'(?<![\w])cpu_start\b(?=\)?\(|\s*[;,=)]|$| is\b| =| \?|:)', 'cpu_set_up', None),
    (r'@cpu_start\b', '@cpu_set_up', None),
    (r'\bperfctr_cpu_start\b', 'perfctr_cpu_set_up', None),
    (r'((?:##|\bperfctr_[a-z0-9]+|\bperfctr_x86_msr|\bsim))_cpu_start\b', r'\1_cpu_set_up', None),
    (r'\b(bank(?:\.|->|::))owned\b', r'\1set_up', None),
    (r'\bu32 owned;', 'u32 set_up;', r'include/linux/perfctr_engine\.h'),
    (r'@owned: counters', '@set_up: counters', r'include/linux/perfctr_engine\.h'),
    (r'\be->set_up\(', 'e->program(', None),
    (r'##_set_up\b', '##_program', None),
    (r'\.set_up(\t+)= name', r'.program\1= name', None),
    (r'\(\*set_up\)\(struct perfctr_bank', '(*program)(struct perfctr_bank', None),
    (r'@set_up: perfctr_engine_set_up\(\)', '@program: perfctr_engine_program()', None),
    (r'\bperfctr_engine_set_up\b', 'perfctr_engine_program', None),
    (r'\bperfctr_x86_set_up\b', 'perfctr_x86_program', None),
    # resumed
    (r'\b(other|perfctr)->handed_over\b', r'\1->resumed', None),
    (r'\bbool handed_over;', 'bool resumed;', r'kernel/perfctr/\w+\.h'),
    (r'@handed_over: the counters were handed over by', '@resumed: the counters were started by', r'kernel/perfctr/\w+\.h'),
    # user-mode reads
    (r'\bdriver->user_read\b', 'driver->reads_enabled', None),
    (r'\(\*user_read\)', '(*reads_enabled)', None),
    (r'@user_read: has the administrator', '@reads_enabled: has the administrator', None),
    (r'\bx86_pmu_user_read\b', 'x86_pmu_reads_enabled', None),
    (r'\barmv8pmu_may_user_read\b', 'armv8pmu_may_read', None),
    (r'\bmay_read\b', 'readable', r'include/linux/perfctr_engine\.h'),
    # any, late
    (r'\b((?:perfctr_|sim_)?driver(?:->|\.))any\b', r'\1choosable', None),
    (r'\b((?:perfctr_|sim_)?driver(?:->|\.))late\b', r'\1unjudged', None),
    (r'@any\b(?!: (?:counters|elements) of)', '@choosable', r'include/linux/perfctr_cpu\.h'),
    (r'\bu32 any;', 'u32 choosable;', r'include/linux/perfctr_cpu\.h'),
    (r'@late\b', '@unjudged', r'include/linux/perfctr_cpu\.h'),
    (r'\bstruct cpumask \*late;', 'struct cpumask *unjudged;', None),
    (r'\bstruct cpumask late;', 'struct cpumask unjudged;', r'kernel/perfctr/thread_test\.c'),
    (r'\bsim\.late\b', 'sim.unjudged', r'kernel/perfctr/'),
    (r'\.any\t\t\t=', '.choosable\t\t=', None),
    (r'\.late\t\t\t=', '.unjudged\t\t=', None),
    (r'\bperfctr_x86_late\b', 'perfctr_x86_unjudged', None),
    # the number of a CPU
    (r'\b(bank(?:\.|->))number\b', r'\1cpu', None),
    (r'\bint number;', 'int cpu;', r'include/linux/perfctr_engine\.h'),
    (r'@number: number of the CPU', '@cpu: number of the CPU', r'include/linux/perfctr_engine\.h'),
    # which counters can count an event
    (r'\bperfctr_riscv_counters_of\b', 'perfctr_riscv_event_counters', None),
    (r'\bperfctr_riscv_pmu\.can_count\b', 'perfctr_riscv_pmu.event_counters', None),
    (r'\bu32 can_count\[', 'u32 event_counters[', None),
    (r'@can_count: counters', '@event_counters: counters', None),
    (r'\bsim_counters_of\b', 'sim_counters', r'kernel/perfctr/'),
    # operations have the names of their functions
    (r'\be->write\(', 'e->write_imode(', None),
    (r'\be->stop\(', 'e->stop_imode(', None),
    (r'\(\*write\)\(', '(*write_imode)(', r'include/linux/perfctr_engine\.h'),
    (r'\(\*stop\)\(', '(*stop_imode)(', r'include/linux/perfctr_engine\.h'),
    (r'\.write\t\t\t=', '.write_imode\t\t=', r'perfctr/'),
    (r'\.stop\t\t\t=', '.stop_imode\t\t=', r'perfctr/'),
    (r'\b(perfctr_(?:pmuv3|x86|powerpc))_stop\b', r'\1_stop_imode', None),
    (r'\bperfctr_riscv_share\b', 'perfctr_riscv_tell_perf', None),
    # x86: what one file knows is no family
    (r'\bfamilies\b', 'finders', r'detect\.c'),
    # a claim is an argument from 0506 on, also in what later patches take away
    (r'\b((?:\w*driver(?:->|\.)|perfctr_x86_)cpu_(?:set_up|stop|start))\(PERFCTR_ALL_COUNTERS\)', r'\1(PERFCTR_ALL_COUNTERS, true)', None),
    (r'\b(\w*driver\.cpu_(?:set_up|stop|start))\(SIM_REGS\)', r'\1(SIM_REGS, false)', None),
    (r'\b(saved_driver\.cpu_(?:set_up|stop|start))\(counters\)', r'\1(counters, claim)', None),
    (r'^(static void sim_cpu_(?:set_up|stop|start))\(u32 counters\)', r'\1(u32 counters, bool claim)', None),
    # files
    (r'\b_LINUX_PERFCTR_(SIM|KUNIT)_H\b', r'_PERFCTR_\1_H', None),
    (r'\b_ARCH_RISCV_PERFCTR_RISCV_H\b', '_ARCH_RISCV_PERFCTR_SBI_H', None),
    (r'\b_ARCH_ARM64_PERFCTR_H\b', '_ARCH_ARM64_PERFCTR_PMUV3_H', None),
    (r'\b_ARCH_X86_PERFCTR_H\b', '_ARCH_X86_PERFCTR_CORE_H', None),
    (r'\b_ARCH_POWERPC_PERFCTR_H\b', '_ARCH_POWERPC_PERFCTR_BOOK3S_H', None),
    (r'<linux/perfctr_(sim|kunit)\.h>', r'"perfctr_\1.h"', None),
    # perf's side on riscv: a request to take counters; the PMU that is lent
    (r'\bstruct riscv_pmu_lease\b', 'struct riscv_pmu_request', r'drivers/perf/'),
    (r'\briscv_pmu_share\b', 'riscv_pmu_lend', r'drivers/perf/'),
    (r'\briscv_pmu_shared\b', 'riscv_pmu_lent', r'drivers/perf/'),
]
SWAPS = [   # (there already, {old: new}): in one pass
    ('perfctr_x86_ask_perf', {'perfctr_x86_event_counters': 'perfctr_x86_ask_perf',
                              'perfctr_x86_can_count': 'perfctr_x86_event_counters'}),
    ('perfctr_powerpc_write_spr', {'perfctr_powerpc_write_reg': 'perfctr_powerpc_write_spr',
                                   'perfctr_powerpc_write_one': 'perfctr_powerpc_write_reg'}),
    ('perfctr_powerpc_queue_work', {'perfctr_powerpc_put_off': 'perfctr_powerpc_queue_work',
                                    'perfctr_powerpc_put_off_work': 'perfctr_powerpc_put_off'}),
]
TEXTS = [
    (''' * @write: set i-mode counter @i (index into pmc[]), which does not count, to
 *	pmc_start[i]
 * @stop: stop the i-mode counters of @ctx. With @counting they are counting
 *	for @ctx; else they may be counting for the control that was set up
 *	before.
''', ''' * @write_imode: set i-mode counter @i (index into pmc[]), which does not count,
 *	to pmc_start[i]
 * @stop_imode: stop the i-mode counters of @ctx. With @counting they are
 *	counting for @ctx; else they may be counting for the control that was
 *	programmed before.
'''),
    ('/* Set up the registers for another control than they had, or for i-mode. */',
     '/* Program the registers for another control than they had, or for i-mode. */'),
    (' *	CPU, in the switch to the owner\n', ' *	CPU, in the switch to the owner\n'),
]


def width(s):
    return len(s.expandtabs(8))


def indent(n):
    return '\t' * (n // 8) + ' ' * (n % 8)


def opened(s):
    """Columns of the parentheses that a line leaves open."""
    st = []
    x = s.expandtabs(8)
    for i, c in enumerate(x):
        if c == '(':
            st.append(i)
        elif c == ')' and st:
            st.pop()
    return st


def shift(old, new, after):
    """Lines after a changed line that are aligned with what it opens."""
    a, b = opened(old), opened(new)
    if not a or len(a) != len(b):
        return
    depth = len(a)
    for k, l in enumerate(after):
        ind = width(l[:len(l) - len(l.lstrip())])
        for p, q in zip(a, b):
            if p + 1 == ind and p != q:
                after[k] = indent(q + 1) + l.lstrip()
                break
        else:
            if k == 0:
                return
        depth += l.count('(') - l.count(')')
        if depth <= 0:
            return


def sub_lines(path, text, subs):
    lines = text.split('\n')
    out = list(lines)
    for i in range(len(lines)):
        l = out[i]
        n = l
        for p, r, only in subs:
            if only and not re.search(only, path):
                continue
            n = re.sub(p, r, n)
        if n == l:
            continue
        m = re.match(r'^(\t\.\w+)\t+(= .*)$', n)
        o = re.match(r'^(\t\.\w+\t+)= ', l)
        if m and o:
            col = width(o[1])
            n = m[1] + '\t' * max(1, (col - width(m[1]) + 7) // 8) + m[2]
        m = re.match(r'^(.*\S)\t+\\$', n)
        if m:
            w = width(m[1])
            n = m[1] + ('\t' * ((72 - w + 7) // 8) if w < 72 else '\t') + '\\'
        out[i] = n
        tail = out[i + 1:i + 12]
        shift(l, n, tail)
        out[i + 1:i + 12] = tail
    return '\n'.join(out)


FUNC = re.compile(r'^static (?:void|u64) perfctr_(pmuv3|x86|riscv|powerpc)_(cpu_off|cpu_on|cpu_return|share|tell_perf|fixed_bits)'
                  r'\([^;{]*\)\n\{.*?^\}', re.M | re.S)


def masks(m):
    t = m[0]
    if not re.search(r'\bu32 mask\b', t.split('{')[0]):
        return t
    if m[1] == 'riscv':
        t = re.sub(r'(?<![.\w])counters\b', 'ours', t)
    return re.sub(r'\bmask\b', 'counters', t)


CTX = ('isuspend', 'suspend', 'start', 'switch_to')


def banks(path, text):
    """this_bank() -> bank_of(ctx)"""
    if 'this_bank' not in text:
        return text
    text = text.replace(' * @this_bank: find the struct perfctr_bank of this CPU\n',
                        ' * @bank_of: find the struct perfctr_bank of this CPU in which @ctx counts. %NULL\n'
                        ' *\tstands for the contexts of threads.\n')
    text = text.replace('struct perfctr_bank *(*this_bank)(void);',
                        'struct perfctr_bank *(*bank_of)(const struct perfctr_cpu_context *ctx);')
    text = re.sub(r'^(static (?:__always_inline )?struct perfctr_bank \*)(perfctr_\w+)_this_bank\(void\)$',
                  r'\1\n\2_bank_of(const struct perfctr_cpu_context *ctx)', text, flags=re.M)
    text = re.sub(r'\.this_bank(\t+= perfctr_\w+)_this_bank\b', r'.bank_of\1_bank_of', text)
    out, fn = [], ''
    for l in text.split('\n'):
        m = re.match(r'^(?:static .*[ *])?(perfctr_engine_\w+)\(', l)
        if m:
            fn = m[1][len('perfctr_engine_'):]
        out.append(l.replace('e->this_bank()', 'e->bank_of(%s)' % ('ctx' if fn in CTX else 'NULL')))
    return '\n'.join(out)


def includes(text, where):
    """perfctr_sim.h and perfctr_kunit.h come after what is in <>."""
    for name in ('kunit', 'sim'):
        inc = f'#include <linux/perfctr_{name}.h>\n'
        if inc not in text:
            continue
        text = text.replace(inc, '')
        new = f'#include "{where}perfctr_{name}.h"\n'
        m = list(re.finditer(r'^#include "[^"]+"\n', text, re.M))
        top = [x for x in m if '-kunit.h' not in x[0]]
        if top:
            # in order of names, within the block
            block = [top[0]]
            for x in top[1:]:
                if x.start() == block[-1].end():
                    block.append(x)
            at = block[-1].end()
            for x in block:
                if x[0] > new:
                    at = x.start()
                    break
            text = text[:at] + new + text[at:]
        else:
            last = list(re.finditer(r'^#include <[^>]+>\n', text, re.M))[-1]
            text = text[:last.end()] + '\n' + new + text[last.end():]
    return text


def filter_text(path, text):
    if path == ':message':
        return sub_lines(path, text, [(p, r, o) for p, r, o in WORDS if o is None and 'set_up' not in r])
    ours = OURS.match(path) or path.endswith('.patch') or '.patch/' in path
    if path.startswith('kernel/perfctr/tests/perfctr_'):
        path = 'include/linux/' + path.rsplit('/', 1)[1]
    if not ours and not PERF.match(path):
        return text
    if not ours:
        return sub_lines(path, text, [w for w in WORDS if re.search('x86_pmu|armv8pmu|riscv_pmu', w[0]) and 'perfctr' not in w[0]])
    for a, b in TEXTS:
        text = text.replace(a, b)
    text = FUNC.sub(masks, text)
    text = banks(path, text)
    text = includes(text, 'tests/' if path == 'kernel/perfctr/contract_test.c' else '')
    subs = list(WORDS)
    for there, names in SWAPS:
        if there not in text:
            subs.append((r'\b(' + '|'.join(names) + r')\b', lambda m, names=names: names[m[0]], None))
    return sub_lines(path, text, subs)


def paths(names):
    return [re.sub(r'^include/linux/perfctr_(sim|kunit)\.h$', r'kernel/perfctr/tests/perfctr_\1.h', n) for n in names]


if __name__ == '__main__':
    arg = sys.argv[1]
    data = sys.stdin.buffer.read().decode('utf-8', 'surrogateescape')
    if arg == ':paths':
        data = ''.join(n + '\n' for n in paths(data.split('\n')[:-1]))
    else:
        data = filter_text(arg, data)
    sys.stdout.buffer.write(data.encode('utf-8', 'surrogateescape'))
