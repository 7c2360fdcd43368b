# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # of and for those that source it
#
# kernels.sh - bases, their trees, the series on them, and kernels built of these.
# Sourced by common.sh.
#
# The tree of a base is a git work tree with the pristine base under the tag
# "base" and one commit per patch above it on the branch "perfctr". The ref
# refs/perfctr/applied remembers the tip as the series made it: as long as the
# branch is there, nothing in the tree is work that could be lost.

# tree_name BASE: what a base is called in the cache. All sections have one name, so that what
# is built at the end of one is only brought up to date for the next.
tree_name() {
	case $1 in
	6.12 | 7.3) echo "$1${section:+-section}" ;;
	*)
		local path
		path=$(realpath "$1")
		echo "$(basename "$path" | tr -c '[:alnum:]._\n-' _)-$(cksum <<<"$path" | cut -d' ' -f1)"
		;;
	esac
}

# series_of BASE: the series file for a base. A tree given by path takes that
# of the newest base that isn't newer than the tree.
series_of() {
	local version=$1
	[[ ! -d $1 ]] ||
		version=$(sed -n 's/^VERSION = //p; s/^PATCHLEVEL = //p' "$1/Makefile" | paste -sd.)
	if [[ -f $root/series-7.3 && $(printf '%s\n' 7.3 "$version" | sort -V) == 7.3* ]]; then
		echo series-7.3
	else
		echo series
	fi
}

# entries SERIES: the files that a series names, in order.
entries() { sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$root/$1"; }

# mutants_of SERIES: the bugs of kunit-tests/mutants in what only 7.3 has, for its series;
# or the others.
mutants_of() {
	local invert=()
	[[ $1 == series-7.3 ]] || invert=(-v)
	printf '%s\n' "$root"/kunit-tests/mutants/*.patch | grep ${invert[@]+"${invert[@]}"} -e '-7\.3\.patch$'
}

# tgit: git in the tree. The user's git settings must not change what a tree or a patch looks like.
tgit() {
	# shellcheck disable=SC2154 # the caller's
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
		GIT_COMMITTER_NAME=perfctr GIT_COMMITTER_EMAIL=perfctr@localhost \
		git -C "$tree" "$@"
}

# other_tree NAME COMMIT: another work tree of the same repository, with a commit
# checked out, so that the files of the first one, and with them its builds,
# stay as they are. Prints its path.
other_tree() {
	local path=$tree-$1
	tgit worktree prune
	[[ -d $path ]] || tgit worktree add -q --detach "$path" "$2"
	git -C "$path" reset -q --hard
	git -C "$path" checkout -q --detach "$2"
	echo "$path"
}

# touched [FILTER]: the kernel files that the series makes (A) or changes (M).
touched() {
	tgit diff --name-only --no-renames --diff-filter="${1-AM}" refs/tags/base refs/heads/perfctr
}

# sources ARCH [FILTER]: those .c files among them that a kernel of ARCH has. The
# PMUs in drivers/perf are arm64's and RISC-V's, x86 alone has the detector of
# lockups on an event of perf, as it is configured here, and tasks are counted on 64 bits.
# What is in virt is compiled by directories of the architectures alone.
sources() {
	touched "${2:-AM}" | awk -v own="arch/${source_arch[$1]}/" -v arch="$1" '
		!/\.c$/ || /^(Documentation|samples|tools|virt)\// { next }
		/^arch\// && index($0, own) != 1 { next }
		/^drivers\/perf\/arm/ && own != "arch/arm64/" { next }
		/^drivers\/perf\/riscv/ && own != "arch/riscv/" { next }
		/\/watchdog_perf\.c$/ && own != "arch/x86/" { next }
		/\/hold\.c$/ && own != "arch/x86/" && own != "arch/arm64/" { next }
		/_fred\.c$/ && arch != "x86_64" { next }
		/\/callchain_32\.c$/ && arch == "ppc64le" { next }
		/\/callchain_64\.c$/ && arch == "ppc32" { next }
		/\/usage\.c$/ && arch ~ /^(i386|ppc32)$/ { next }
		{ print }'
}

tip() { tgit rev-parse -q --verify "$1" || true; }

# dirty: the first change in the tree that no commit holds, if there is one.
dirty() { tgit status --porcelain | awk 'NR == 1 { print $2 }'; }

# export_patches DIR: the tree's commits as patches, in order.
export_patches() {
	tgit format-patch -q -o "$1" --zero-commit --no-signature --no-numbered \
		--no-renames --abbrev=12 refs/tags/base..refs/heads/perfctr
}

# same_patch A B: whether two patches say the same. Line numbers and the hashes
# of whole files move with every point release of a base, and mean nothing.
same_patch() {
	[[ -f $1 && -f $2 ]] &&
		cmp -s <(plain_patch "$1") <(plain_patch "$2")
}
plain_patch() { sed -E '/^index [0-9a-f]+\.\.[0-9a-f]+/d; s/^@@ -.* @@.*/@@/' "$1"; }

# tree_is_series DIR SERIES: whether the patches in DIR are those of the series.
tree_is_series() {
	local -a have names
	local i
	have=("$1"/*.patch)
	mapfile -t names < <(entries "$2")
	[[ -e ${have[0]} ]] || have=()
	((${#have[@]} == ${#names[@]})) || return
	for i in "${!names[@]}"; do
		same_patch "${have[i]}" "$root/${names[i]}" || return
	done
}

# scratch: a directory that goes when the script does; in $tmp.
scratch() {
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
}

# --- kernels ----------------------------------------------------------------

# use_tree BASE: the base's tree, with whatever is in it, in $tree; or one with the patches up
# to the end of the caller's $section.
use_tree() {
	local n
	tree=$("$root/scripts/tree" --base "$1" --as-is)
	[[ ${section-} ]] || return 0
	entries "$(series_of "$1")" | grep "/${section}[0-9][0-9]-" >/dev/null ||
		die "no section \"$section\" in $(series_of "$1")"
	n=$(entries "$(series_of "$1")" | awk -F / -v end="$section" 'substr($2, 1, 2) <= end' | wc -l)
	tree=$(other_tree section "$(tgit rev-list --reverse refs/tags/base..refs/heads/perfctr | sed -n "${n}p")")
}

# known: of a configuration's lines, those of options that the tree has.
known() {
	local line name
	while read -r line; do
		[[ $line == CONFIG_* ]] || continue
		name=${line#CONFIG_}
		if tgit grep -qE "^(menu)?config ${name%%=*}\$" -- '*Kconfig*'; then echo "$line"; fi
	done
}

# One kernel is built at a time; more would only take longer.
lock_builds() {
	local file=${PERFCTR_BUILD_LOCK:-$cache/build.lock}
	mkdir -p "$cache"
	exec {build_lock}>"$file"
	flock -n "$build_lock" || {
		say "waiting for another build ($file)"
		flock "$build_lock"
	}
}
unlock_builds() { exec {build_lock}>&-; }

# What makes two builds of one source the same, for ccache and for comparing objects.
export KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
export KBUILD_BUILD_USER=perfctr KBUILD_BUILD_HOST=perfctr
export CCACHE_BASEDIR=$cache

# make_variables ARCH: what make needs to know beyond ARCH, one a line.
make_variables() {
	printf '%s\n' "CROSS_COMPILE=${kernel_cross[$1]}" \
		"CC=ccache ${kernel_cross[$1]}gcc" "HOSTCC=ccache gcc" LOCALVERSION=
}

# kmake OUT ARCH ARG...: make in the kernel tree.
kmake() {
	local -a variables
	mapfile -t variables < <(make_variables "$2")
	make -C "$tree" O="$1" ARCH="${kernel_arch[$2]}" "${variables[@]}" "${@:3}"
}

# kernel_image ARCH: where a build directory has the kernel.
kernel_image() {
	case ${kernel_target[$1]} in
	vmlinux) echo vmlinux ;;
	*) echo "arch/${source_arch[$1]}/boot/${kernel_target[$1]}" ;;
	esac
}

# fragment NAME: the file of a config fragment, given by name or path.
fragment() {
	local f
	for f in "$1" "$root/kconfig-fragments/$1" "$root/kconfig-fragments/$1.config"; do
		[[ -f $f ]] || continue
		echo "$f"
		return
	done
	die "no config fragment \"$1\"; $root/kconfig-fragments has: $(cd "$root/kconfig-fragments" && echo *)"
}

# use_config FRAGMENT...: $fragments become the files of these and of the caller's
# --config, whose names are the $suffix of what is built with them.
# shellcheck disable=SC2154 # config is the caller's
use_config() {
	local f
	fragments=() suffix=''
	for f in "$@" ${config[@]+"${config[@]}"}; do
		fragments+=("$(fragment "$f")")
	done
	for f in ${config[@]+"${config[@]}"}; do
		suffix+=-$(basename "$f" .config)
	done
}

# configure OUT ARCH FRAGMENT...
# Everything off but what the fragments ask for; a later one overrides an
# earlier one. What was asked for and did not come about is left, one option a
# line, in OUT/refused.
configure() {
	local out=$1 arch=$2
	shift 2
	mkdir -p "$out"
	awk '/^CONFIG_/ { n = substr($0, 1, index($0, "=") - 1) }
		/^# CONFIG_.* is not set/ { n = $2 }
		n { line[n] = $0; n = "" }
		END { for (n in line) print line[n] }' "$@" | sort >"$out/wanted"
	KCONFIG_ALLCONFIG=$out/wanted kmake "$out" "$arch" allnoconfig \
		>"$out/config.log" 2>&1 ||
		die "the kernel cannot be configured, see $out/config.log: $(tail -n 1 "$out/config.log")"
	# An option that doesn't even exist is as good as not set.
	{ grep -v '^#' "$out/wanted" | grep -vxFf "$out/.config" || true
		sed -n 's/^# \(.*\) is not set/\1=/p' "$out/wanted" | grep -Ff - "$out/.config" ||
			true; } | if [[ ${section-} ]]; then known; else cat; fi >"$out/refused"
}

# logged LOG TOTAL COMMAND...: runs a long make with its output in LOG and says
# every now and then how far it is; TOTAL is a file that remembers how many
# steps it took the last time.
logged() {
	local log=$1 total=$2 pid start=$SECONDS said=0 steps status=0
	shift 2
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 1
		((SECONDS - start >= said + 30)) || continue
		said=$((SECONDS - start))
		steps=$(grep -cE '^  [A-Z]' "$log") || true
		say "  $said s, $steps steps$([[ ! -f $total ]] || echo " (a full build: $(<"$total"))")"
	done
	wait "$pid" || status=$?
	steps=$(grep -cE '^  [A-Z]' "$log") || true
	if ((!status && steps > $(cat "$total" 2>/dev/null || echo 0))); then
		echo "$steps" >"$total"
	fi
	return "$status"
}

# build OUT ARCH TARGET...: makes targets of a configured kernel.
build() {
	local out=$1 arch=$2 start=$SECONDS
	shift 2
	say "building in $out, log in $out/build.log"
	logged "$out/build.log" "$out/steps" kmake "$out" "$arch" -j"$(nproc)" "$@" || {
		grep -E '(error|undefined reference|Error [0-9])' "$out/build.log" | head -n 20 >&2 || true
		die "the build failed, see $out/build.log"
	}
	say "built in $((SECONDS - start)) s"
}
