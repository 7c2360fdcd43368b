# SPDX-License-Identifier: GPL-2.0
#
# check-hunks.awk - what is between or behind the hunks of a patch, or too short.

function wrong(what) { print FILENAME ":" FNR ": " what ": " $0 }
old > 0 || new > 0 {
	if (/^\\/) next
	if (!/^[-+ ]/) { wrong("hunk too short"); old = new = 0; next }
	old -= !/^\+/
	new -= !/^-/
	next
}
/^@@ -[0-9]+(,[0-9]+)? \+[0-9]+(,[0-9]+)? @@/ {
	old = split($2, a, ",") == 2 ? a[2] : 1
	new = split($3, a, ",") == 2 ? a[2] : 1
	next
}
/^diff --git / { diff = 1; next }
diff && !/^(index|---|\+\+\+|new file mode|deleted file mode|old mode|new mode|\\)/ {
	wrong("not part of a hunk")
}
END { if (!diff) wrong("no diff"); if (old > 0 || new > 0) wrong("hunk too short") }
