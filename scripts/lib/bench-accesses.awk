# SPDX-License-Identifier: GPL-2.0
#
# bench-accesses.awk - the addresses in a disassembled vmlinux at which a register of
# the PMU is read or written, where a switch begins, and of the system call that
# "bench registers" makes around what it measures. PowerPC's registers have
# numbers: SIER, MMCR2, MMCRA, PMC1-6, then MMCR0, SIAR, SDAR, MMCR1; MMCR3; or
# names, when they are written. On RISC-V the firmware sets up, starts and stops
# counters: a call of it is a write, to however many. -v switched is the function that
# switches from one thread to another.

/\tmrs\t[xz0-9r]+, (pm|s3_3_c9_)/ { sub(":", "", $1); print $1, "read" }
/\tmsr\t(pm|s3_3_c9_)/ { sub(":", "", $1); print $1, "write" }
/\tmfspr +r[0-9]+,(78[4-9]|79[0-2]|79[5-8]|754)(,|$)/ { sub(":", "", $1); print $1, "read" }
/\tmtspr +(78[4-9]|79[0-2]|79[5-8]|754)(,|$)|\tmt(mmcr|pmc)/ { sub(":", "", $1); print $1, "write" }
$2 == "<" switched ">:" { print $1, "switch" }
/\t(csrr\t[a-z0-9]+,hpmcounter|rd(cycle|instret)\t)/ { sub(":", "", $1); print $1, "read" }
/\tcsrw\tscounteren,|\tecall$/ { sub(":", "", $1); print $1, "write" }
/<(__(arm64|x64|riscv)_)?sys_sched_get_priority_max>:$/ { print $1, "mark" }
