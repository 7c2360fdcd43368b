# SPDX-License-Identifier: GPL-2.0
#
# counter-pages.awk - makes tables of what the kselftest "cost" of counter pages prints:
# lines of a name, possible CPUs, values or additions, and the instructions of all.
# What was not measured is reckoned: a scan costs the same for each CPU from the 9th on.

$1 ~ /^(loop|counter_page_adjust|this_cpu_add|percpu_counter_add)$/ && !($1 in add) {
	add[$1] = $4 / $3
}
$1 ~ /^(text|pages|moment|copy|diskstats)$/ { scan[$1, $2] = $4; values[$1, $2] = $3 }

function cost(what, cpus,	per_cpu) {
	if ((what, cpus) in scan)
		return scan[what, cpus]
	per_cpu = (scan[what, 64] - scan[what, 8]) / 56
	return scan[what, 64] + per_cpu * (cpus - 64)
}

function row(what, label,	i, text) {
	text = "| " label " |"
	for (i = 1; i <= 4; i++)
		text = text sprintf(" %.0f |", cost(what, cpus[i]))
	return text
}

# What one of the values costs: of the text and the copy one of a CPU, of /proc the sum of all.
function each(what, label,	i, text) {
	text = "| " label " |"
	for (i = 1; i <= 4; i++)
		text = text sprintf(" %.1f |", cost(what, cpus[i]) / values[what, cpus[i]])
	return text
}

function factor(what, label,	i, text) {
	text = "| " label " |"
	for (i = 1; i <= 4; i++)
		text = text sprintf(" %.0f |", cost("text", cpus[i]) / cost(what, cpus[i]))
	return text
}

END {
	split("1 8 64 512", cpus)
	missing = !("loop" in add) || !("percpu_counter_add" in add)
	for (i = 1; i <= 3; i++)
		missing = missing || !(("text", cpus[i]) in scan) || !(("copy", cpus[i]) in scan) || !values["diskstats", cpus[i]]
	if (missing) {
		print "counter-pages.awk: figures are missing" >"/dev/stderr"
		exit 1
	}
	print "| one addition | instructions |\n|---|---|"
	printf "| counter_page_adjust() | %.1f |\n", add["counter_page_adjust"] - add["loop"]
	printf "| this_cpu_add() | %.1f |\n", add["this_cpu_add"] - add["loop"]
	printf "| percpu_counter_add() | %.1f |\n\n", add["percpu_counter_add"] - add["loop"]
	print "| scan of 1,000 counters, instructions | 1 CPU | 8 CPUs | 64 CPUs | 512 CPUs (reckoned) |"
	print "|---|---|---|---|---|"
	print row("text", "text, one pread() and the cheapest loop")
	print row("pages", "counter_pages_read() for each counter")
	print row("moment", "counter_pages_read_cpu(), all of one moment")
	print row("copy", "counter_pages_copy(), all of a CPU")
	print factor("pages", "text / counter_pages_read()")
	print factor("copy", "text / counter_pages_copy()")
	print ""
	values["diskstats", 512] = values["diskstats", 64]
	values["text", 512] = 512 / 64 * values["text", 64]
	values["copy", 512] = 512 / 64 * values["copy", 64]
	print "| one value, instructions | 1 CPU | 8 CPUs | 64 CPUs | 512 CPUs (reckoned) |"
	print "|---|---|---|---|---|"
	print each("diskstats", "/proc/diskstats: one number, mostly a sum over all CPUs")
	print each("text", "text: one number of one CPU")
	print each("copy", "counter_pages_copy(): one counter of one CPU")
}
