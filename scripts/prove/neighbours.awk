# SPDX-License-Identifier: GPL-2.0
#
# neighbours.awk - each result of kselftest's runner under the program that it is
# of; numbers and times vary.

/^# selftests: / { program = $3 $4; next }
/^# *(not )?ok [0-9]+ / {
	result = /^# *not ok/ ? "not ok" : /# *SKIP/ ? "skip" : "ok"
	sub(/^# *(not )?ok [0-9]+ (- )?/, "")
	sub(/ *# .*/, "")
	gsub(/[0-9.]+/, "N")
	print program " " $0 ": " result
}
/^(not )?ok [0-9]+ / {
	result = /^not ok/ ? "not ok" : /# *SKIP/ ? "skip" : "ok"
	print $0 ~ /^not/ ? $5 $6 : $4 $5, result
}
