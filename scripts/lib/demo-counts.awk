# SPDX-License-Identifier: GPL-2.0
#
# demo-counts.awk - does demo-guest's output show what it says? Each of the two
# programs, in each counter; -v rows_of_each is how many there are.

/^Counts of / { n++ }
/^time-stamp counts|^instructions|^cycles/ {
	gsub(/,/, "")
	rows[n]++
	ok[n] += $(NF - 2) + $(NF - 1) == $NF &&
		(n == 1 ? 0 < $(NF - 2) && $(NF - 2) < $(NF - 1) : 0 < $NF)
}
/^ +in milliseconds/ { gsub(/,/, ""); ms[n] = $NF }
END { exit !(n == 2 && ok[1] == rows_of_each && ok[2] == rows_of_each && ms[2] < 500) }
