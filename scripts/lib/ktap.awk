# SPDX-License-Identifier: GPL-2.0
#
# ktap.awk - counts what kselftest's runner printed; -v failed is set if the guest
# failed otherwise.
#
# Results of a test program are indented by "# "; a program without any, or one
# that failed although all of them passed, counts itself. What was planned and
# did not run has failed. The runner prints a plan for each collection of programs.
# What a test said of its failure goes with it, because CI keeps the end alone.

function close_plan(where) {
	if (plan > seen) {
		bad("planned " plan " tests in " where ", saw " seen)
		fail += plan - seen - 1
	}
}
function bad(what) { fail++; fails = fails "\n  FAILED: " what }
function result(line) {
	# SKIP() forgets what a test has expected in vain before.
	if (line ~ /# SKIP/ && !expected) { skip++; skips = skips "\n  skipped: " line }
	else if (line ~ /^ok/ && line !~ /# SKIP/) pass++
	else { bad(line); fails = fails said }
	said = expected = ""
}
/^# # [a-z0-9_]+\.[ch]:[0-9]+:/ {
	if (/^# # [^:]+:[0-9]+:[^:]+:Expected /) expected = 1
	if (length(said) < 2000) said = said "\n  FAILED:     " substr($0, 5, 300)
}
/^# 1\.\.[0-9]+/ { plan = substr($2, 4) + 0 }
/^# (not )?ok [0-9]/ { seen++; if (/^# not ok/) seen_bad++; result(substr($0, 3)) }
/^1\.\.[0-9]+/ { programs += substr($1, 4) }
/^(not )?ok [0-9]/ {
	ran++
	close_plan($0)
	if (!seen || (/^not ok/ && !seen_bad && plan <= seen)) result($0)
	plan = seen = seen_bad = 0
}
END {
	if (!programs) bad("the guest ran no tests")
	else if (ran != programs) bad("of " programs " test programs " ran + 0 " came to an end")
	if (failed) bad("the guest or its kernel log, see above")
	else pass++
	if (fails skips) print substr(fails skips, 2)
	printf "%d passed, %d failed, %d skipped\n", pass, fail, skip
	exit fail != 0
}
