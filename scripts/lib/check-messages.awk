# SPDX-License-Identifier: GPL-2.0
#
# check-messages.awk - of the compiler's messages on stdin those that are not in the
# files before it, which are the base's, wherever in the file; in a header, which
# each file sees, however often.

!/: (warning|error|fatal error): / { next }
{
	sub(/^[^ :]*\/(tree\/|pristine-)[^\/]*\//, "")
	what = $0
	sub(/:[0-9]+(:[0-9]+)?:/, ":", what)
}
FILENAME != "-" { base[what]++; next }
++n[what] > base[what] && !(/^[^ :]*\.h:/ && base[what])
