# SPDX-License-Identifier: GPL-2.0
#
# splats.awk - the lines of a kernel log that match a line of splats. One that matches
# an entry of allowed-splats is left out, and a warning to the end of its trace.
# Arguments: allowed-splats, splats, the log.

FNR == 1 { file++ }
file < 3 && /^#/ { next }
file == 1 { allowed = allowed sep[1] $0; sep[1] = "|" }
file == 2 { splat = splat sep[2] $0; sep[2] = "|" }
file < 3 { next }
{
	is_allowed = $0 ~ allowed
	if (is_allowed && /WARNING: CPU/)
		trace = 1
	if (!is_allowed && !trace && $0 ~ splat)
		print FNR ":" $0
	if (/---\[ (end trace|cut here)|\[ cut here \]/)
		trace = 0
}
