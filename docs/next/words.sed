# The renames of review-words.md, for rename.py; not compiled yet. perfctr->cpu is not among
# them: its declaration and all ways to write it have to change together.
s/\bvperfctr_live\b/vperfctr_needs_resume/g
s/\bLEASE_STAY\b/LEASE_MIN/g
s/\blease_stayed\b/lease_is_old/g
s/\blease_wanted_work\b/lease_wanted_irq_work/g
s/\bPERFCTR_THEN_STOP\b/PERFCTR_THEN_SUSPEND/g
s/\bperfctr_engine_start\b/perfctr_engine_resume/g
s/(@|\.|->|\(\*|\bperfctr_(engine|x86|pmuv3|powerpc|riscv)_)cpu_off\b/\1cpu_reset/g
s/\bcpu_off\(\)/cpu_reset()/g
s/\bperfctr_pmuv3_type_hardware\b/perfctr_pmuv3_hw_write_type/g
s/\bperfctr_pmuv3_zero_hardware\b/perfctr_pmuv3_hw_zero_counter/g
s/\bperfctr_pmuv3_read_hardware\b/perfctr_pmuv3_hw_read_counter/g
s/\bheld_here\b/on_hold_here/g
