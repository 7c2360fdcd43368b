# SPDX-License-Identifier: GPL-2.0
#
# leases.awk - for scripts/prove/leases: a trace of writes to registers of the PMU

function hex(text,    i, n) {
	for (i = 3; i <= length(text); i++)
		n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
	return n
}

# Which counter a register belongs to, if the first of its kind is FIRST, or -1.
function number(msr, first,    n) {
	n = (msr - first) / step
	return first && n >= 0 && n < 8 && n == int(n) ? n : -1
}

BEGIN { leased[1] = leased[last] = 1 }

/x86_pmu_wrmsr/ {
	for (i = 1; i <= NF; i++) {
		if ($i == "msr") msr = hex($(i + 1))
		if ($i == "value") value = hex($(i + 1))
	}
	n = number(msr, selector)
	if (n >= 0) {
		# Bit 20 enables interrupts.
		perfs = int(value / 1048576) % 2
		if (!perfs && value && n in leased)
			started[n] = 1
	} else {
		n = number(msr, counter)
		if (n < 0)
			n = number(msr, wide)
		if (n < 0)
			next
		# Bit 47, also of 32 bits that are extended
		perfs = value >= 140737488355328
	}
	if (perfs) {
		perf++
		if (n in started) {
			print "WRONG: line " NR ": " $0
			wrong++
		}
	} else if (n in leased) {
		held++
	}
}

END {
	print "held " held + 0
	print "perf " perf + 0
	print "wrong " wrong + 0
}
