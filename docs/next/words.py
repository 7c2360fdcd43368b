#!/usr/bin/env python3
"""The words of house.md 1, as a filter for fold.py --sed.

  words.py PATH <old >new      contents of a file of the kernel tree, a patch, a document
  words.py :paths <names       one a line
  words.py :message <text      of a commit, or the head of a mutant

Works on any version of the tree: words are replaced one by one; what depends on the context is
decided within one function and the comment before it. Continuation lines, columns made by tabs
and the backslashes of macros are aligned again, comments that become too long are wrapped.
"""
import re, sys

# ---------------------------------------------------------------- words that mean one thing
W = {}


def words(text):
    for line in text.strip().splitlines():
        if line.strip():
            a, b = line.split()
            W[a] = b


words('''
perfctr_cpu_regs                perfctr_bank
PERFCTR_CPU_REGS                PERFCTR_NR_CTL
PERFCTR_X86_SLOTS               PERFCTR_X86_CTLS
PERFCTR_X86_REGS                PERFCTR_X86_MAX_CTL
POWERPC_NR_REGS                 POWERPC_NR_CTL
iregs                           icounters
perfctr_engine_regs             perfctr_engine_counters
perfctr_x86_this_regs           perfctr_x86_this_bank
perfctr_pmuv3_this_regs         perfctr_pmuv3_this_bank
perfctr_riscv_this_regs         perfctr_riscv_this_bank
perfctr_powerpc_this_regs       perfctr_powerpc_this_bank
sim_regs                        sim_counters_of

perfctr_cpu_driver              perfctr_driver
perfctr_cpu_set_driver          perfctr_driver_set
perfctr_cpu_suspend             perfctr_driver_suspend
perfctr_cpu_resume              perfctr_driver_resume
perfctr_cpu_switch_to           perfctr_driver_switch_to
perfctr_cpu_leave               perfctr_driver_leave
perfctr_cpu_sample              perfctr_driver_sample
perfctr_cpu_identify_overflow   perfctr_driver_identify_overflow
perfctr_cpu_ireload             perfctr_driver_ireload
perfctr_cpu_has_pending_interrupt perfctr_driver_has_pending_interrupt
perfctr_cpu_has_room            perfctr_driver_has_room
perfctr_cpu_check_control       perfctr_driver_check_control
perfctr_cpu_features            perfctr_driver_features
perfctr_cpu_may_read            perfctr_driver_may_read
perfctr_cpu_mapped              perfctr_driver_mapped
perfctr_cpu_info                perfctr_driver_info
perfctr_cpu_init                perfctr_driver_init
perfctr_cpu_set_cstatus         perfctr_set_cstatus
perfctr_cpu_has_overflowed      perfctr_has_overflowed
perfctr_cpu_holder              lease_owner
perfctr_cpu_note_started        perfctr_cpu_note_set_up

perfctr_slots_get               lease_get
perfctr_slots_share             lease_share
perfctr_slots_put               lease_put
perfctr_slots_give_back         lease_give_back_now
perfctr_slots_of                lease_of
perfctr_slots_leased            lease_taken
perfctr_slots_claim             lease_needs_claim
perfctr_slots_any               choose_any
perfctr_slots_choose            choose_counters
slots_choice                    choice
slots_place                     choose_place
slots_next                      choose_next
slots_lease                     lease_take
slots_are_held                  lease_holds
slots_have_started              lease_was_set_up
slots_started                   lease_set_up
slots_start_here                lease_set_up_here
perfctr_give_back               perfctr_try_give_back

perfctr_x86_reserve             perfctr_x86_claim
perfctr_pmuv3_reserve           perfctr_pmuv3_claim
perfctr_riscv_reserve           perfctr_riscv_claim
perfctr_powerpc_reserve         perfctr_powerpc_claim
perfctr_x86_release             perfctr_x86_unclaim
perfctr_pmuv3_release           perfctr_pmuv3_unclaim
perfctr_riscv_release           perfctr_riscv_unclaim
perfctr_powerpc_release         perfctr_powerpc_unclaim
sim_reserve                     sim_claim
sim_release                     sim_unclaim
reserve_err                     claim_err
nr_reserved                     nr_claimed
test_reservation                test_claim_of_a_thread
vperfctr_set_reserved           vperfctr_set_held
__vperfctr_set_reserved         __vperfctr_set_held
vperfctr_renew_reserved         vperfctr_renew_held
vperfctr_reserve                vperfctr_take

perfctr_pmuv3_set_started       perfctr_pmuv3_note_set_up
perfctr_riscv_set_started       perfctr_riscv_note_set_up
sim_set_started                 sim_note_set_up
armpmu_set_started              armpmu_note_set_up
riscv_pmu_set_started           riscv_pmu_note_set_up
armpmu_lease_started            armpmu_lease_set_up
riscv_pmu_lease_started         riscv_pmu_lease_set_up
riscv_pmu_started               riscv_pmu_set_up

perfctr_x86_scrub               perfctr_x86_hide_from
perfctr_x86_scrub_cpu           perfctr_x86_hide_here
perfctr_engine_clear            perfctr_engine_hide_counts
test_scrub                      test_hide_from
test_scrub_after_hand_over      test_hide_after_hand_over

perfctr_engine_may_use          perfctr_engine_accepts
perfctr_x86_may_use             perfctr_x86_driver_accepts
perfctr_pmuv3_may_use           perfctr_pmuv3_driver_accepts
perfctr_riscv_may_use           perfctr_riscv_driver_accepts
perfctr_x86_suits               perfctr_x86_accepts_any
perfctr_intel_suits             perfctr_intel_accepts_any
looks_around                    needs_privilege
perfctr_x86_looks_around        perfctr_x86_needs_privilege
perfctr_pmuv3_looks_around      perfctr_pmuv3_needs_privilege
perfctr_riscv_looks_around      perfctr_riscv_needs_privilege
perfctr_powerpc_looks_around    perfctr_powerpc_needs_privilege
counts_kernel                   needs_privilege

perfctr_x86_derive              perfctr_x86_image
perfctr_powerpc_derive          perfctr_powerpc_image
perfctr_powerpc_image           perfctr_powerpc_values
perfctr_powerpc_pass_on         perfctr_powerpc_overflow
perfctr_powerpc_cannot_close    perfctr_powerpc_always_readable
perfctr_powerpc_samples         perfctr_powerpc_leaves_traces
perfctr_powerpc_clear_negative  perfctr_powerpc_acknowledge
perfctr_powerpc_in_nmi          perfctr_powerpc_is_nmi
perfctr_pmuv3_in_nmi            perfctr_pmuv3_is_nmi
perfctr_pmuv3_read_timer        perfctr_pmuv3_read_tsc

perfctr_x86_family              perfctr_x86_rules
perfctr_amd_family              perfctr_amd_rules
perfctr_x86_write_slot          perfctr_x86_write_ctl
slot_msr                        ctl_msr
nr_regs                         nr_ctl
SLOT_ESCR                       CTL_ESCR
SLOT_PEBS_ENABLE                CTL_PEBS_ENABLE
SLOT_PEBS_VERT                  CTL_PEBS_VERT
SLOT_FIXED_CTRL                 CTL_FIXED_CTRL
''')

# families of words, after W
FAMILIES = [
    (re.compile(r'\bslots_(give_back|claim|mutex|lock|limit|limit_now|is_limited|can_be_joined|sysctls|'
                r'sysctl_init|add|join|stop_here|stop_all_here|may_stop_detector|age|stayed|grant|'
                r'refused_lately|note_refused|work|work_fn|queue_work|wanted_fn|wanted_work|revoke|'
                r'lost_\w+|idle_\w+|set_firm|\w+)\b'), r'lease_\1'),
    (re.compile(r'\bSLOTS_([A-Z_]+)\b'), r'LEASE_\1'),
    (re.compile(r'\bperfctr_(\w+)_counts_kernel\b'), r'perfctr_\1_needs_privilege'),
    (re.compile(r'\bSLOT_([A-Z_]+)\b'), r'CTL_\1'),
]

FILES = [
    ('kernel/perfctr/slots.c', 'kernel/perfctr/lease.c'),
    ('kernel/perfctr/cpu.c', 'kernel/perfctr/driver.c'),
    ('kernel/perfctr/reserve.c', 'kernel/perfctr/holders.c'),
    ('kernel/perfctr/overflow.c', 'kernel/perfctr/books.c'),
    ('kernel/perfctr/tests/slots-kunit.h', 'kernel/perfctr/tests/lease-kunit.h'),
    ('kernel/perfctr/tests/reserve-kunit.h', 'kernel/perfctr/tests/holders-kunit.h'),
    ('kernel/perfctr/tests/overflow-kunit.h', 'kernel/perfctr/tests/books-kunit.h'),
]
BASENAMES = {'slots': 'lease', 'cpu': 'driver', 'reserve': 'holders', 'overflow': 'books'}

WORD = re.compile(r'[A-Za-z_]\w*')


def is_kernel(path):
    return bool(re.match(r'kernel/perfctr/|include/linux/perfctr|arch/\w+/kernel/perfctr/|arch/x86/kernel/cpu/perfctr/|'
                         r'arch/\w+/include/asm/perfctr_cpu\.h|include/asm-generic/perfctr_cpu\.h', path))


def is_x86(path):
    return bool(re.match(r'arch/x86/kernel/cpu/perfctr/|arch/x86/include/asm/perfctr_cpu\.h', path))


def is_perf(path):
    return bool(re.match(r'drivers/perf/|arch/\w+/events/|include/linux/perf/|include/linux/perf_event|kernel/events|'
                         r'arch/powerpc/perf', path))


def file_names(s):
    s = re.sub(r'\b((?:kernel/)?perfctr/)(slots|cpu|reserve|overflow)\.([co])\b',
               lambda m: m[1] + BASENAMES[m[2]] + '.' + m[3], s)
    s = re.sub(r'(?<![\w/.-])(slots|reserve)\.([co])\b', lambda m: BASENAMES[m[1]] + '.' + m[2], s)
    s = re.sub(r'\b(slots|reserve|overflow)-kunit\.h\b', lambda m: BASENAMES[m[1]] + '-kunit.h', s)
    return s


# Sentences, where a word alone does not do.
KERNEL_PHRASES = [
    ('its control registers are the slots', 'its control registers are those of ctl_msr'),
    ('slots whose register does not hold zero', 'control registers that do not hold zero'),
    ('MSRs of the control registers, by slot; 0', 'MSRs of the control registers; 0'),
    ('is the slot with its number', 'has its number'),
    ('/* Slots: the CCCRs, in the order of the counters;', '/* Registers: the CCCRs, as the counters;'),
    ('@family: its rules', '@rules: those of its family'),
    ('A second reservation: the old one may be revoked', 'Counted twice: what it held may be revoked'),
    ('without a reservation', 'without counters'),
    ('holds a reservation of the counters', 'holds counters'),
    ('hold reservations of', 'hold counters of'),
    ('Objects that hold a reservation,', 'Objects that hold counters,'),
    ('gains or loses its reservation', 'gains or loses the counters that it holds'),
    ('counters of its new reservation, 0 for none', 'counters that it holds from now on, 0 for none'),
    ('the counters of the reservation before, for', 'the counters that it held before, for'),
    ('give up the reservation', 'give up what it holds'),
    ('An object with a reservation still', 'An object that holds counters still'),
    ('it gives up its reservation before', 'it gives up its counters before'),
    ('the object had a reservation, or', 'the object held counters, or'),
    ('reservations of the hardware', 'who holds the hardware'),
    ('does not release the reservation once more', 'does not give the counters back once more'),
    ('must have a reservation', 'must hold counters'),
    ('* Reserve the counters of a control', '* Take the counters of a control'),
    ('A revocation clears reserved first', 'A revocation clears held first'),
    ('What ends the reservation of one object drops its reference:', 'A reference ends when its object stops holding counters: at'),
    ('@reserved: its new reservation', '@held: what it holds from now on'),
    ('@held: its new reservation', '@held: what it holds from now on'),
    ('the reservation before, for vperfctr_put_held()', 'what it held before, for vperfctr_put_held()'),
    ('its reservation before, for vperfctr_put_held()', 'what it held before, for vperfctr_put_held()'),
    ('finds its parent without a\n\t\t * reservation.', 'finds that its parent\n\t\t * holds none.'),
    ('true if it had a reservation, which the caller has to release', 'true if it held counters, which the caller has to give back'),
    ('true if there was a reservation, which the caller has to release', 'true if it held counters, which the caller has to give back'),
    ('counters that are reserved for the control, 0 for none', 'counters that are held for the control, 0 for none'),
    ('Catches hardware that is reserved when no thread counts, or is not released,',
     'Catches hardware that is claimed when no thread counts, or is not given back,'),
]


# Text of messages, documents and tests.
TEXT_PHRASES = [
    ('The reservation of an object changes under its map_lock, and the caller\n'
     'that clears it releases it, so it is released once. Revoking clears it,\n',
     'What an object holds changes under its map_lock, and the caller that\n'
     'clears it gives it back, so that happens once. Revoking clears it,\n'),
    ('takes a reservation of its own before it gives the old one back. A\n',
     'takes its own counters before it gives the old ones back. A\n'),
    ('A thread has reserved the hardware or has not, and', 'A thread holds the hardware or does not, and'),
    ('Note for each object which counters it has reserved. Tell', 'Note for each object which counters it holds. Tell'),
    ('tells what is reserved, because', 'tells what is claimed, because'),
    ('affinity, reservation,\n', 'affinity, claims,\n'),
    ('Catches a reservation that is released twice or never when', 'Catches counters that are given back twice or never when'),
    ('Catches a reservation of counters for the TSC, which needs none', 'Catches counters that are taken for the TSC, which needs none'),
    ('A refused reservation counts as one', 'A refused claim counts as one'),
    ('owner and tid, reservation |', 'owner and tid, what it holds |'),
    ('  reservation is given back at once,', '  counters are given back at once,'),
    ('(allocation,\nreservation, affinity)', '(allocation,\ntaking counters, affinity)'),
    ('`revoked`, `reserved` = 0', '`revoked`, `held` = 0'),
    ("its parent's `reserved`;", "its parent's `held`;"),
    ('only then the reservation released:', 'only then the counters are put:'),
    ('reserve and release raced', 'claim and unclaim raced'),
    ('| common; reserve leaves nothing', '| common; claim leaves nothing'),
    ('perf events keep reserve from it', 'perf events keep claim from it'),
    ('on each CPU after reserve; with', 'on each CPU after claim; with'),
    ('needs_privilege, reserve and release with perf_events', 'needs_privilege, claim and unclaim with perf_events'),
    ('family.c -> reserve.c -> page.c -> run.c -> overflow.c -> object.c', 'family.c -> holders.c -> page.c -> run.c -> books.c -> object.c'),
    # sysfs: owner (who has the PMU) and threads (a list), which differed by an s
    ('files but "holders" and "revoke"', 'files but "threads" and "revoke"'),
    ('``holders`` and ``revoke``', '``threads`` and ``revoke``'),
    ('``holder``          What', '``owner``           What'),
    ('\n.I holder\n', '\n.I owner\n'),
    ('the page, the control and the list of\n * holders do not tell', 'the page, the control and the list of\n * threads do not tell'),
]


def owner_and_threads(path, s):
    """The files of sysfs."""
    s = re.sub(r'(/sys/kernel/perfctr/|SYSFS "/?)(holders?)\b', lambda m: m[1] + ('owner' if m[2] == 'holder' else 'threads'), s)
    if path == 'kernel/perfctr/sysfs.c':
        for a, b in (('holder_show', 'owner_show'), ('holders_show', 'threads_show'), ('holder_attr', 'owner_attr'),
                     ('holders_attr', 'threads_attr'), ('holders_list', 'threads_list'), ('show_holder', 'show_thread'),
                     ('HOLDERS_ROOM', 'THREADS_ROOM')):
            s = re.sub(r'\b' + a + r'\b', b, s)
        s = re.sub(r'(__ATTR_\w+\()(holders?)\b', lambda m: m[1] + ('owner' if m[2] == 'holder' else 'threads'), s)
    elif re.match(r'tools/perfctr/(doctor|info|select)\.c|tools/perfctr/perfex\.h|tools/perfctr/lib/error\.c|'
                  r'tools/testing/selftests/perfctr/(fault_test\.c|perfctr_test\.h)', path):
        s = re.sub(r'\bget_holder\b', 'get_owner', s)
        s = re.sub(r'\bholder\b', 'owner', s)
    elif path == 'tools/testing/selftests/perfctr/share_test.c':
        s = re.sub(r'\bHOLDERS\b', 'THREADS', s)
    elif path == 'tools/testing/selftests/perfctr/sysfs_test.c':
        s = s.replace('TEST_F(sysfs, holder)', 'TEST_F(sysfs, owner)').replace('names[i], "holders")', 'names[i], "threads")')
        m = re.search(r'(static const char \*const names\[\] = \{\n)(.*?)(\n\t\};)', s, re.S)
        if m and '"holder' in m[2]:
            names = sorted({'"holder"': '"owner"', '"holders"': '"threads"'}.get(n, n) for n in re.findall(r'"\w+"', m[2]))
            lines = ['']
            for n in names:
                if lines[-1] and 16 + len(lines[-1]) + len(n) + 2 > 79:
                    lines.append('')
                lines[-1] += (' ' if lines[-1] else '') + n + ','
            s = s[:m.start(2)] + '\n'.join('\t\t' + l for l in lines) + s[m.end(2):]
    return s


DOC_PHRASES = [
    ('| reserve, release |', '| claim, unclaim |'),
    ('| reserve: take', '| claim: take'),
    ('survive release', 'survive unclaim'),
    ('lease() or reserve()', 'lease() or claim()'),
    ('    reserve.c   reservations of the hardware, and revoking them', '    holders.c   who holds the hardware, and revoking it'),
]


def by_words(s):
    s = WORD.sub(lambda m: W.get(m[0], m[0]), s)
    for r, to in FAMILIES:
        s = r.sub(to, s)
    return s


def chunks(lines):
    """Functions, each with what stands before it: (first line, last line + 1)."""
    at = 0
    for k, l in enumerate(lines):
        if l.startswith('}') or (l.startswith('DEFINE_') and l.rstrip().endswith(');')):
            yield at, k + 1
            at = k + 1
    if at < len(lines):
        yield at, len(lines)


def chunk(path, c):
    """The words of one function that depend on what it is about."""
    x86 = is_x86(path)
    has_bank = re.search(r'struct perfctr_cpu_regs \*(const )?regs\b', c)
    pt = re.search(r'struct pt_regs \*regs\b', c)
    # the members first
    c = re.sub(r'\b(container_of\(\s*\w+,\s*struct \w+,\s*)regs\b', r'\1bank', c)
    c = re.sub(r'(->|\.)regs(?=\.)', r'\1bank', c)
    c = re.sub(r'(return &[\w()>-]*?->)regs(?=;)', r'\1bank', c)
    c = re.sub(r'(&(?:sim_here\(\)|\w*cpu\w*(?:\(\w*\))?|ours)(?:->(?:kept|driver|ours))?(?:->|\.))regs\b', r'\1bank', c)
    c = re.sub(r'\bstruct perfctr_cpu_regs regs\b', 'struct perfctr_cpu_regs bank', c)
    if re.search(r'struct perfctr_cpu_regs bank;', c):
        c = c.replace('* @regs: the engine', '* @bank: the engine')
    c = re.sub(r'\bpowerpc_model->regs\b', 'powerpc_model->\x01', c)
    if 'powerpc' in path and (re.search(r'struct powerpc_model \{', c) or path.endswith('models.c')):
        c = re.sub(r'\bregs\b', '\x01', c)
    c = re.sub(r'(->|\.)regs\b', r'\1counters', c)
    c = re.sub(r'::regs\b', '::counters', c)
    c = re.sub(r'(struct perfctr_cpu_regs \*(?:const )?)regs\b', r'\1bank', c)
    c = re.sub(r'(struct pt_regs \*)regs\b', '\\1\x01', c)
    c = re.sub(r'\b(u32 )regs\b(?=[,);\s=])', r'\1counters', c)
    if 'expect_cost(' in c and x86:
        c = re.sub(r'\bregs\b', 'nr_ctl', c)
    elif has_bank:
        c = re.sub(r'\bregs\b', 'bank', c)
    elif pt and not re.search(r'\bu32 counters\b', c):
        c = re.sub(r'\bregs\b', '\x01', c)
    else:
        c = re.sub(r'(?<!pt_)\bregs\b', 'counters', c)
    c = c.replace('\x01', 'regs')
    if re.search(r'struct perfctr_cpu_regs \*(const )?cpu\b', c) and not re.search(r'\bint cpu\b', c):
        c = re.sub(r'\bcpu\b(?!:|/)', 'bank', c)
    # the engine's macros give names to what a driver calls
    c = re.sub(r'\bname##_regs\b', 'name##_counters', c)
    c = re.sub(r'\bname##_may_use\b', 'name##_driver_accepts', c)
    c = re.sub(r'\bname##_needs_privilege\b', 'name##_driver_needs_privilege', c)
    c = re.sub(r'(?<=[.>@])this_cpu\b(?!_)', 'this_bank', c)
    c = re.sub(r'\(\*this_cpu\)\(', '(*this_bank)(', c)
    # claims
    c = re.sub(r'(\(\*|(?<=\s)\.|driver->|[@.])reserve\b(?!\()', r'\1claim', c)
    c = re.sub(r'(driver->)reserve\b', r'\1claim', c)
    c = re.sub(r'\(\*release\)\(void\)', '(*unclaim)(void)', c)
    c = re.sub(r'(driver->)release\b', r'\1unclaim', c)
    c = re.sub(r'(\.)release(\s*=\s*(?:perfctr_(?:x86|riscv|pmuv3|powerpc)_release|riscv_pmu_unclaim|sim_release))', r'\1unclaim\2', c)
    if path.startswith('include/linux/perfctr'):
        c = re.sub(r'@release\b(?!_)', '@unclaim', c)
    # started
    if path.startswith('kernel/perfctr/'):
        c = re.sub(r'((?:perfctr|other|next|child|parent|\b[abc])->)started\b', r'\1handed_over', c)
        c = re.sub(r'@started: the counters were already started by', '@handed_over: the counters were handed over by', c)
        c = re.sub(r'\bbool started;', 'bool handed_over;', c)
        c = re.sub(r'\bu32 started;', 'u32 set_up;', c)
        c = re.sub(r'\bstarted = this_cpu_read\(', 'set_up = this_cpu_read(', c)
        c = re.sub(r'(this_cpu_write\(slots_started, )started\)', r'\1set_up)', c)
        # what a thread holds
        if not path.endswith('contract_test.c'):
            c = re.sub(r'\bsim(->|\.)reserved\b', r'sim\1claimed', c)
            if 'thread_test' in path:
                c = re.sub(r'\bint reserved;', 'int claimed;', c)
            c = re.sub(r'\breserved\b(?! bits| field)', 'held', c)
    elif path.startswith('arch/'):
        c = re.sub(r'(->|\.)started\b', r'\1set_up', c)
        c = re.sub(r'\b(u32 |u64 )started;', r'\1set_up;', c)
    # x86: control registers, and the rules of a family
    if x86:
        c = re.sub(r'\bslots\b', 'ctls', c)
        c = re.sub(r'\bslot\b', 'ctl', c)
        c = re.sub(r'(->|\.)family\b', r'\1rules', c)
        c = re.sub(r'(\*)family;', r'\1rules;', c)
        c = re.sub(r'\b(c3|cyrix|fam10h|intel_beside|intel|k7|k8|p4|p5|p6|winchip)_family\b', r'\1_rules', c)
        c = re.sub(r'([.@>*])suits\b', r'\1accepts_any', c)
    return c


def kernel_c(path, s):
    for a, b in KERNEL_PHRASES:
        s = s.replace(a, b)
    s = s.replace('struct vperfctr_held held = { .counters = reserved };', 'struct vperfctr_held new = { .counters = reserved };')
    s = s.replace('*before = __vperfctr_set_reserved(perfctr, held);', '*before = __vperfctr_set_reserved(perfctr, new);')
    lines = s.split('\n')
    out = []
    for a, b in chunks(lines):
        c = chunk(path, '\n'.join(lines[a:b]))
        out += c.split('\n')
    s = '\n'.join(out)
    if path in ('kernel/perfctr/slots.c', 'kernel/perfctr/lease.c'):
        s = re.sub(r'(?<![\w/])slots(?=\.(?!c\b)\w)', 'lease', s)
        s = re.sub(r'^\} slots;', '} lease;', s, flags=re.M)
    s = by_words(s)
    if path.startswith('kernel/perfctr/') or path.startswith('include/linux/perfctr'):
        s = re.sub(r'(?<![\w/.-])(cpu|overflow)\.([co])\b', lambda m: BASENAMES[m[1]] + '.' + m[2], s)
    return file_names(s)


# ---------------------------------------------------------------- lines
def col(s, at=0):
    for ch in s:
        at = (at // 8 + 1) * 8 if ch == '\t' else at + 1
    return at


def to_col(n):
    return '\t' * (n // 8) + ' ' * (n % 8)


STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|/\*.*?\*/')


def mask(l):
    """The line with strings and comments made harmless, as long as it was."""
    return STRINGS.sub(lambda m: 'x' * len(m[0]), l)


def retab(old, new):
    """Bring what stands after tabs to the columns where it was."""
    if old == new or '\t' not in old.lstrip('\t'):
        return new
    ind = re.match(r'[\t ]*', new)[0]
    po, pn = re.split(r'(?<=[^\t])(\t+)(?=[^\t])', old), re.split(r'(?<=[^\t])(\t+)(?=[^\t])', new)
    if len(po) != len(pn):
        return new
    res, ores = pn[0], po[0]
    for k in range(1, len(po), 2):
        want = col(ores + po[k])
        have = col(res)
        n = max(1, (want - have + 7) // 8)
        res += '\t' * n + pn[k + 1]
        ores += po[k] + po[k + 1]
    return res


def align(old, new):
    """old, new: lists of lines, one to one. Indents continuation lines to the parenthesis that they were under."""
    out, stack, comment = [], [], False
    for o, n in zip(old, new):
        lo = mask(o)
        if comment or lo.lstrip().startswith(('/*', '*')):
            out.append(n)
            comment = '*/' not in o if (comment or '/*' in o) else False
            continue
        if not o.strip() or o.startswith('#') or re.match(r'[\w}]', o):
            if not o.startswith('#'):
                stack = []
        io, i_n = re.match(r'[\t ]*', o)[0], re.match(r'[\t ]*', n)[0]
        if stack and io and n.strip():
            c = col(io)
            for po, pn in reversed(stack):
                if po + 1 == c:
                    n = to_col(pn + 1) + n[len(i_n):]
                    break
        n = retab(o, n)
        ln = mask(n)
        # parentheses: the k-th of the old line is the k-th of the new one
        a = [k for k, ch in enumerate(lo) if ch in '()']
        b = [k for k, ch in enumerate(ln) if ch in '()']
        if len(a) != len(b):
            stack = []
        else:
            for x, y in zip(a, b):
                if lo[x] == '(':
                    stack.append((col(o[:x]), col(n[:y])))
                elif stack:
                    stack.pop()
        if lo.rstrip('\t \\').endswith((';', '{', '}')) and len(a) == len(b) and not stack:
            stack = []
        out.append(n)
    return out


def wrap(old, new, width=80):
    """Comments that became too long, and parameter lists."""
    out = []
    k = 0
    new = list(new)
    old = list(old)
    while k < len(new):
        l, o = new[k], old[k] if k < len(old) else ''
        if col(l) <= width or l == o or col(l) <= col(o):
            out.append(l)
            k += 1
            continue
        m = re.match(r'(\s*\*[ \t]*)(.*)$', l)
        if m and not l.rstrip().endswith('*/') and not m[2].startswith('/'):
            cont = m[1]
            if re.match(r'@[\w.]+:', m[2]):
                cont = re.match(r'\s*\*', l)[0] + '\t'
            elif cont.endswith('*'):
                cont += ' '
            words_, rest = l.split(' '), []
            while col(' '.join(words_)) > width and len(words_) > 3:
                rest.insert(0, words_.pop())
            out.append(' '.join(words_))
            nxt = new[k + 1] if k + 1 < len(new) else ''
            text = nxt[len(cont):] if nxt.startswith(cont) else None
            if text and text.strip() and text[0] not in '\t ' and \
                    not re.match(r'(@[\w.]+:|Return:|Context:|\d\.|- |/)', text):
                new[k + 1] = cont + ' '.join(rest) + ' ' + text
                old[k + 1] = ''
            else:
                new.insert(k + 1, cont + ' '.join(rest))
                old.insert(k + 1, '')
            k += 1
            continue
        ml = mask(l)
        b = None if '\\' in l or ml.lstrip().startswith(('/*', '*', '//', '#')) else break_at(l, ml, width)
        if b:
            x, c = b
            rest = to_col(c) + l[x:].lstrip()
            out.append(l[:x].rstrip())
            # what was below a parenthesis that moved moves with it
            by = c - col(l[:len(l) - len(l[x:].lstrip())])
            under = {col(l[:y]) + 1 for y, ch in enumerate(ml) if ch == '(' and y >= x}
            j = k + 1
            while j < len(new) and new[j].strip() and col(re.match(r'[\t ]*', new[j])[0]) in under and \
                    col(re.match(r'[\t ]*', new[j])[0]) > 8:
                new[j] = to_col(col(re.match(r'[\t ]*', new[j])[0]) + by) + new[j].lstrip()
                j += 1
            nxt = new[k + 1] if k + 1 < len(new) else ''
            if re.match(r'[\t ]*', nxt)[0] == to_col(c) and l.endswith(','):
                new[k + 1] = rest + ' ' + nxt.lstrip()
                old[k + 1] = ''
            else:
                new.insert(k + 1, rest)
                old.insert(k + 1, '')
        elif HEAD.match(l) and not l.startswith('#'):
            # the type on a line of its own
            m = HEAD.match(l)
            was = col(m[0])
            now = col(m[2])
            out += [m[1], l[len(m[1]) + 1:]]
            j = k + 1
            while j < len(new) and new[j].strip() and col(re.match(r'[\t ]*', new[j])[0]) == was:
                new[j] = to_col(now) + new[j].lstrip()
                j += 1
        else:
            out.append(l)
        k += 1
    return out


HEAD = re.compile(r'((?:static|VISIBLE_IF_KUNIT)(?: \w+)*) (\w+\()')


def break_at(l, ml, width):
    """Where a line of code is broken: outside of as many parentheses as possible, and as late as possible."""
    best, stack = None, []
    ind = col(re.match(r'\s*', l)[0])
    for m in re.finditer(r'[()]|, |&& |\|\| | \? | : |= ', ml):
        t = m[0]
        if t == '(':
            stack.append(m.start())
            continue
        if t == ')':
            if stack:
                stack.pop()
            continue
        x = m.end()
        if col(l[:x].rstrip()) > width:
            break
        if stack:
            c = col(l[:stack[-1]]) + 1
        elif re.match(r'[\t ]', l):
            # a continuation goes on where it was
            c = ind if re.match(r'[\t ]*\S', l) and t in (', ', '&& ', '|| ') and ind % 8 else ind + 8
            if t == ', ':
                c = ind
        else:
            continue
        if t == '= ' and stack:
            continue
        if c + col(l[x:].strip()) > width:
            continue
        if best is None or len(stack) <= best[0]:
            best = (len(stack), x, c)
    return best and best[1:]


FIELD = re.compile(r'^(\t+)(\.\w+)([\t ]+)= ')


def fields(old, new):
    """Members of an initializer, whose values stood in one column."""
    out = list(new)
    k = 0
    while k < len(new):
        if not FIELD.match(old[k]):
            k += 1
            continue
        j, rows = k, []
        while j < len(old) and old[j].strip() and not old[j].startswith('}'):
            if FIELD.match(old[j]) and FIELD.match(new[j]):
                rows.append(j)
            j += 1
        c = lambda l: col(FIELD.match(l)[0]) - 2
        if len(rows) > 1 and len({c(old[r]) for r in rows}) == 1 and len({c(new[r]) for r in rows}) > 1 and \
                not any('\\' in old[r] for r in rows):
            want = max(c(new[r]) for r in rows)
            for r in rows:
                m = FIELD.match(new[r])
                have = col(m[1] + m[2])
                out[r] = m[1] + m[2] + '\t' * ((want - have + 7) // 8) + new[r][len(m[0]) - 2:]
        k = max(j, k + 1)
    return out


def filter_text(path, s):
    for a, b in TEXT_PHRASES:
        s = s.replace(a, b)
    s = owner_and_threads(path, s)
    if path == ':message':
        return message(s)
    base = path.rsplit('/', 1)[-1]
    if is_kernel(path):
        if base in ('Makefile', 'Kconfig'):
            if path == 'kernel/perfctr/Makefile':
                s = re.sub(r'\b(slots|cpu|reserve|overflow)\.o\b', lambda m: BASENAMES[m[1]] + '.o', s)
            return s
        n = kernel_c(path, s)
        lo, ln = s.split('\n'), n.split('\n')
        assert len(lo) == len(ln), path
        return '\n'.join(wrap(lo, fields(lo, align(lo, ln))))
    if is_perf(path) or re.match(r'kernel/watchdog|include/linux/nmi|arch/powerpc/kernel|arch/x86/|fs/|include/linux/', path):
        n = WORD.sub(lambda m: W.get(m[0], m[0]) if re.match(r'perfctr_|armpmu_|riscv_pmu_', m[0]) else m[0], s)
        n = re.sub(r'\b(hw_events->)started\b', r'\1set_up', n)
        if re.match(r'include/linux/perf/|drivers/perf/(arm_pmu\.c|riscv)', path):
            n = re.sub(r'(\b[u](?:32|64)\s+)started;', r'\1set_up;', n)
            n = re.sub(r'@started:', '@set_up:', n)
            n = n.replace('counters that are started; the same', 'counters that are set up; the same')
            n = re.sub(r'(\*\t)started on any CPU', r'\1set up on any CPU', n)
        if n == s:
            return s
        lo, ln = s.split('\n'), n.split('\n')
        return '\n'.join(wrap(lo, fields(lo, align(lo, ln))))
    if path.startswith('docs/'):
        for a, b in DOC_PHRASES:
            s = s.replace(a, b)
        s = re.sub(r'(?<![\w/.-])(cpu|overflow)\.c\b', lambda m: BASENAMES[m[1]] + '.c', s)
    if re.match(r'tools/|Documentation/|docs/|README|MAINTAINERS|scripts/|kunit-tests/', path) or base.endswith('.md'):
        return message(s)
    return s


def message(s):
    """Words of text, which is about more than code: those that are names only."""
    s = WORD.sub(lambda m: W.get(m[0], m[0]) if re.search(r'_', m[0]) and m[0] not in ('nr_regs',) else m[0], s)
    s = re.sub(r'\bslots_(\w+)\b', r'lease_\1', s)
    s = re.sub(r'\bSLOTS_([A-Z_]+)\b', r'LEASE_\1', s)
    s = re.sub(r'\bperfctr_(\w+)_counts_kernel\b', r'perfctr_\1_needs_privilege', s)
    s = re.sub(r'\b(ctx->|perfctr_cpu_context::)regs\b', r'\1counters', s)
    s = re.sub(r'\b(ctx->|perfctr_cpu_context::)iregs\b', r'\1icounters', s)
    s = re.sub(r'(?<![\w/])cpu\.c\b(?=[^\n]*perfctr)|(?<=perfctr/)cpu\.c\b', 'driver.c', s)
    return file_names(s)


def paths(names):
    return [dict(FILES).get(n, n) for n in names]


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ('-h', '--help'):
        sys.exit(__doc__)
    data = sys.stdin.buffer.read().decode('utf-8', 'surrogateescape')
    if sys.argv[1] == ':paths':
        out = ''.join(n + '\n' for n in paths(data.split('\n')[:-1]))
    else:
        out = filter_text(sys.argv[1], data)
    sys.stdout.buffer.write(out.encode('utf-8', 'surrogateescape'))


if __name__ == '__main__':
    main()
