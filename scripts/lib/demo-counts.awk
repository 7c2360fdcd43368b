# SPDX-License-Identifier: GPL-2.0
#
# demo-counts.awk - does demo-guest's output show what it says? Each of the two
# programs under perfex, in each counter; -v rows_of_each is how many there are. And
# if that is more than the time stamps, the program with regions: "sum" is a part of
# "all", ten times.

/^Counts of / { n++ }
/^time-stamp counts|^instructions|^cycles/ {
	gsub(/,/, "")
	rows[n]++
	ok[n] += $(NF - 2) + $(NF - 1) == $NF &&
		(n == 1 ? 0 < $(NF - 2) && $(NF - 2) < $(NF - 1) : 0 < $NF)
}
/^ +in milliseconds/ { gsub(/,/, ""); ms[n] = $NF }
/^(all|sum) +[0-9]+ / { calls[$1] = $3; instructions[$1] = $5; cycles[$1] = $6 }
END {
	if (rows_of_each > 1 && !(calls["all"] == 1 && calls["sum"] == 10 &&
	    0 < instructions["sum"] && instructions["sum"] < instructions["all"] &&
	    0 < cycles["sum"] && cycles["sum"] < cycles["all"]))
		exit 1
	exit !(n == 2 && ok[1] == rows_of_each && ok[2] == rows_of_each && ms[2] < 500)
}
