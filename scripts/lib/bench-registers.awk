# SPDX-License-Identifier: GPL-2.0
#
# bench-registers.awk - how many registers of the PMU a switch accesses, of what
# bench-accesses.awk found and qemu's trace; -v results is what "bench registers"
# printed. A sleep is two switches.

NR == FNR { what[$1] = $2; next }
/x86_pmu_(rdmsr|rdpmc)/ { n["read"]++; next }
/x86_pmu_wrmsr/ { n["write"]++; next }
{ split($0, part, "/"); pc = part[2]; sub(/^0+/, "", pc) }
!(pc in what) { next }
what[pc] == "mark" { if (++marks % 2) split("", n); else report() }
{ n[what[pc]]++ }
function report(line) {
	while ((getline line <results) > 0 && line !~ /^(switch|sleep)/);
	split(line, part, " ")
	if (!n["switch"]) return
	per = n["switch"] / (line ~ /^sleep/ ? 2 : 1)
	print "registers-" part[1], part[2], part[3], (n["read"] + n["write"]) / per
	print "writes-" part[1], part[2], part[3], n["write"] / per
}
