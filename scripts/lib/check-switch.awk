# SPDX-License-Identifier: GPL-2.0
#
# check-switch.awk - indirect calls and messages in whatever the switch and the
# interrupt call, in the objects that are disassembled with relocations.

function edge(to) { edges[fn] = edges[fn] " " to }
/^[0-9a-f]+ <.*>:$/ { fn = substr($2, 2, length($2) - 3); known[fn]; next }
{ was_branch = branch; branch = 0 }
/\t(call|j[a-z]+) / {
	branch = 1
	if (/(call|jmp) +\*/) indirect[fn] = $0
	else if (match($0, /<[^>+]+/)) edge(substr($0, RSTART + 1, RLENGTH - 1))
	next
}
was_branch && /: R_/ {
	to = $3
	sub(/[-+]0x[0-9a-f]+$/, "", to)
	if (to ~ /indirect_thunk/) indirect[fn] = $0
	edge(to)
}
function visit(f, path,    i, n, to, k) {
	if (f in seen) return
	seen[f]
	path = path " " f
	if (f in indirect) print "an indirect call:" path ":" indirect[f]
	if (f ~ /printk/) print "a message:" path
	# Out of line parts, and the drivers behind a static call.
	if (f ".cold" in known) visit(f ".cold", path)
	if (sub(/^__SCT__perfctr_driver/, "", f)) {
		for (k in known)
			if (substr(k, length(k) - length(f) + 1) == f && k !~ /^perfctr_driver/) {
				visit(k, path)
				drivers++
			}
	}
	n = split(edges[f], to)
	for (i = 1; i <= n; i++) visit(to[i], path)
}
END {
	n = split("__perfctr_suspend_thread __perfctr_resume_thread " \
		"__perfctr_sample_thread vperfctr_handle_overflow", root)
	for (i = 1; i <= n; i++) {
		if (!(root[i] in known)) print "no function " root[i]
		visit(root[i], "")
	}
	if (!drivers) print "no static call leads to a driver"
}
