# Renames of 2026-11-28, for what was written before them (sed -E; the second half for
# files of kernel/perfctr and arch/*/*perfctr* alone).
s/\bvperfctr_live\b/vperfctr_needs_resume/g
s/\bLEASE_STAY\b/LEASE_MIN/g
s/\blease_stayed\b/lease_is_old/g
s/\blease_wanted_work\b/lease_wanted_irq_work/g
s/\bPERFCTR_THEN_STOP\b/PERFCTR_THEN_SUSPEND/g
s/\bperfctr_engine_start\b/perfctr_engine_resume/g
s/(@|\.|->|\(\*|\bperfctr_(engine|x86|pmuv3|powerpc|riscv)_)cpu_off\b/\1cpu_reset/g
s/\bcpu_off\(\)/cpu_reset()/g
s/\bperfctr_pmuv3_of_cpu\b/perfctr_pmuv3_pmu_of/g
s/\bheld_here\b/on_hold_here/g

s/\b(perfctr|parent|child|next|other|[ab]|objects\[[a-z]\])(->|\.)cpu\b/\1\2ctx/g
s/container_of\(ctx, struct vperfctr, cpu\)/container_of(ctx, struct vperfctr, ctx)/g
s/^\tstruct perfctr_cpu_context cpu;/\tstruct perfctr_cpu_context ctx;/
s/^ \* @cpu: what the low-level driver works on/ * @ctx: what the low-level driver works on/
s/accessed as @cpu is/accessed as @ctx is/
s/domain of @cpu\b/domain of @ctx/
s/rest from @cpu to/rest from @ctx to/
s/and cpu\.user_read is set/and ctx.user_read is set/
