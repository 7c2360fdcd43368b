# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lib.sh - what the scripts share: messages, options, packages, bases, trees.
# Sourced, never run.

set -euo pipefail
shopt -s inherit_errexit

self=$(basename "$0")
manual="scripts/$self --help"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfctr

# What differs by architecture. The machine's own compiler makes i386 kernels,
# too, but has no 32-bit libc for programs.
architectures=(x86_64 i386 arm64 ppc64le ppc64 ppc32)
# A directory of the kernel's arch/, and what make calls the architecture.
declare -A source_arch=([x86_64]=x86 [i386]=x86 [arm64]=arm64
	[ppc64le]=powerpc [ppc64]=powerpc [ppc32]=powerpc)
declare -A kernel_arch=([x86_64]=x86_64 [i386]=i386 [arm64]=arm64
	[ppc64le]=powerpc [ppc64]=powerpc [ppc32]=powerpc)
declare -A kernel_cross=([x86_64]='' [i386]='' [arm64]=aarch64-linux-gnu-
	[ppc64le]=powerpc64le-linux-gnu- [ppc64]=powerpc64-linux-gnu-
	[ppc32]=powerpc-linux-gnu-)
declare -A user_cross=([x86_64]='' [i386]=i686-linux-gnu- [arm64]=aarch64-linux-gnu-
	[arm]=arm-linux-gnueabihf- [ppc64le]=powerpc64le-linux-gnu-
	[ppc64]=powerpc64-linux-gnu- [ppc32]=powerpc-linux-gnu-)
# Which 32-bit programs a 64-bit kernel runs.
declare -A user32_arch=([x86_64]=i386 [arm64]=arm [ppc64]=ppc32)
declare -A kernel_target=([x86_64]=bzImage [i386]=bzImage [arm64]=Image
	[ppc64le]=vmlinux [ppc64]=vmlinux [ppc32]=vmlinux)
declare -A qemu_system=([x86_64]=qemu-system-x86_64 [i386]=qemu-system-i386
	[arm64]=qemu-system-aarch64 [ppc64le]=qemu-system-ppc64
	[ppc64]=qemu-system-ppc64 [ppc32]=qemu-system-ppc)
# The kernel's terminal, and the one of what runs in the guest.
declare -A log_tty=([x86_64]=ttyS0 [i386]=ttyS0 [arm64]=ttyAMA0
	[ppc64le]=hvc0 [ppc64]=hvc0 [ppc32]=ttyS0)
declare -A job_tty=([x86_64]=ttyS1 [i386]=ttyS1 [arm64]=hvc0
	[ppc64le]=hvc1 [ppc64]=hvc1 [ppc32]=ttyS1)

# Messages go to stderr: stdout is for results, which others may read.
say() { echo "$self: $*" >&2; }
die() {
	trap - ERR
	say "$*"
	exit 1
}

# An unexpected failure is still told in one sentence.
set -E
trap 'die "line $LINENO failed: $BASH_COMMAND"' ERR

# help: the comment at the head of the script is its manual.
help() {
	sed -n '1,/^# SPDX/d; /^#/!q; s/^# \{0,1\}//; p' "$0" | tail -n +2
	exit 0
}

# options SPEC... -- ARG...
# Reads the options named by SPEC ("name": a flag, "name=": with a value,
# "name+": with a value, may be given again) into variables of that name,
# which the caller has set to their defaults, and the rest into args.
# Every script has --help, and --base and --arch mean the same everywhere.
options() {
	local spec=" " name value
	while [[ $1 != -- ]]; do
		spec+="$1 "
		shift
	done
	shift
	args=()
	while (($#)); do
		case $1 in
		-h | --help) help ;;
		--)
			shift
			# shellcheck disable=SC2034 # for the caller
			args=("$@")
			break
			;;
		--*) ;;
		*) die "no argument \"$1\" is known here; $manual tells more" ;;
		esac
		name=${1#--}
		name=${name%%=*}
		if [[ $spec == *" $name "* && $1 != *=* ]]; then
			declare -g "${name//-/_}=1"
			shift
			continue
		fi
		[[ $spec == *" $name"[=+]* ]] ||
			die "no option \"$1\" is known here; $manual tells more"
		if [[ $1 == *=* ]]; then
			value=${1#*=}
			shift
		else
			(($# > 1)) || die "--$name needs a value"
			value=$2
			shift 2
		fi
		if [[ $spec == *" $name+ "* ]]; then
			local -n list=${name//-/_}
			list+=("$value")
		else
			declare -g "${name//-/_}=$value"
		fi
	done
	[[ " ${architectures[*]} " == *" ${arch:-x86_64} "* ]] ||
		die "no architecture \"$arch\"; there are: ${architectures[*]}"
	case ${base:-6.12} in
	6.12 | 7.3) ;;
	*) [[ -f $base/Kbuild && -f $base/Makefile ]] ||
		die "no base \"$base\": 6.12, 7.3 or the path of a kernel tree" ;;
	esac
}

# --- packages ---------------------------------------------------------------

packages=(build-essential bc bison flex libssl-dev libelf-dev rsync cpio kmod
	xz-utils git perl python3 ccache quilt sparse coccinelle codespell
	shellcheck qemu-system-x86 busybox-static gcc-i686-linux-gnu
	libc6-dev-i386-cross qemu-system-arm gcc-aarch64-linux-gnu
	libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
	gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross gcc-powerpc64-linux-gnu
	libc6-dev-ppc64-cross gcc-powerpc-linux-gnu libc6-dev-powerpc-cross)

# need_packages: installs what is missing, or says what to install.
need_packages() {
	local have missing
	command -v dpkg-query >/dev/null || die "this needs a Debian machine"
	# dpkg-query fails if one of them is unknown, and tells of the others.
	have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' \
		"${packages[@]}" 2>/dev/null | sed -n 's/^installed //p') || true
	missing=$(printf '%s\n' "${packages[@]}" | grep -vxF "$have") || true
	[[ $missing ]] || return 0
	missing=${missing//$'\n'/ }
	((EUID == 0)) ||
		die "packages are missing; as root: apt-get install --no-install-recommends $missing"
	say "installing $missing"
	mkdir -p "$cache"
	# The lists of a fresh machine are empty or old.
	# shellcheck disable=SC2086 # a list of words
	{ apt-get -q update &&
		DEBIAN_FRONTEND=noninteractive apt-get -q -y install \
			--no-install-recommends $missing; } \
		</dev/null >"$cache/apt.log" 2>&1 ||
		die "apt-get failed, see $cache/apt.log: $(grep '^E:' "$cache/apt.log" | tail -n 1)"
}

# fetch PACKAGE DIR [SUITE [ARCH]]
# Unpacks a Debian package's files into DIR, or, if it is called src:NAME, the
# upstream source that it is made from. An apt directory of our own is used, so
# neither root nor the machine's own sources are touched: SUITE (if given; a
# source needs it) replaces theirs, on the mirror that they name, and ARCH is
# another machine's architecture.
fetch() {
	local package=$1 dir=$2 suite=${3-} arch=${4-} apt=$cache/apt/${3:-own}-${4:-own}
	local key=/usr/share/keyrings/debian-archive-keyring.gpg codename mirror
	local -a get=(download "$package") conf=(-q -o APT::Sandbox::User=root
		-o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists"
		-o Dir::State::status=/dev/null -o "Dir::Cache=$apt/cache")

	[[ -e $dir ]] && return
	if [[ $suite ]]; then
		codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
		# shellcheck disable=SC2016 # for apt to expand
		mirror=$(apt-get indextargets --no-release-info \
			--format '$(RELEASE) $(COMPONENT) $(REPO_URI)' "Created-By: Packages" |
			awk -v c="$codename" '$2 == "main" && ($1 == c || $1 ~ /^(old)*stable$/) {
				if (!n++) print $3 }')
		[[ $mirror ]] || die "no Debian mirror is set up in /etc/apt: $suite is out of reach"
		conf+=(-o "Dir::Etc::SourceList=$apt/sources.list"
			-o Dir::Etc::SourceParts=/dev/null)
	fi
	[[ $arch ]] && conf+=(-o "APT::Architecture=$arch" -o "APT::Architectures=$arch")

	say "fetching $package${suite:+ of $suite}${arch:+ for $arch} into $dir"
	rm -rf "$dir.new" "$apt/download"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/download" "$dir.new"
	[[ -z $suite ]] || printf "%s [signed-by=$key] $mirror $suite main\n" deb deb-src >"$apt/sources.list"
	[[ $package != src:* ]] || get=(source --tar-only --download-only "${package#src:}")
	(cd "$apt/download" && apt-get "${conf[@]}" ${suite:+-eany} update &&
		apt-get "${conf[@]}" "${get[@]}") >"$apt/log" 2>&1 ||
		die "$package cannot be fetched, see $apt/log: $(grep '^E:' "$apt/log" | tail -n 1)"
	if [[ $package == src:* ]]; then
		tar -xf "$apt/download"/*.orig.tar.* -C "$dir.new" --strip-components=1
	else
		dpkg-deb -x "$apt/download"/*.deb "$dir.new"
	fi
	rm -rf "$apt/download"
	mv "$dir.new" "$dir"
}

# --- bases, trees and series ------------------------------------------------
#
# The tree of a base is a git work tree with the pristine base under the tag
# "base" and one commit per patch above it on the branch "perfctr". The ref
# refs/perfctr/applied remembers the tip as the series made it: as long as the
# branch is there, nothing in the tree is work that could be lost.

# tree_name BASE: what a base is called in the cache.
tree_name() {
	case $1 in
	6.12 | 7.3) echo "$1" ;;
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
# PMUs in drivers/perf are arm64's. The perf hard lockup detector needs an NMI, which
# is another build elsewhere than on x86.
sources() {
	touched "${2:-AM}" | awk -v own="arch/${source_arch[$1]}/" -v arch="$1" '
		!/\.c$/ || /^(Documentation|samples|tools)\// { next }
		/^arch\// && index($0, own) != 1 { next }
		/^drivers\/perf\// && own != "arch/arm64/" { next }
		/_fred\.c$/ && arch != "x86_64" { next }
		/watchdog_perf\.c$/ && own != "arch/x86/" { next }
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

# use_tree BASE: the base's tree, with whatever is in it, in $tree.
use_tree() { tree=$("$root/scripts/tree" --base "$1" --as-is); }

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
			true; } >"$out/refused"
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


# --- user programs and guests -----------------------------------------------

# choose_programs: makes $programs the architecture of programs, for a caller
# with $arch and $user32.
choose_programs() {
	programs=$arch
	[[ $user32 ]] || return 0
	programs=${user32_arch[$arch]-}
	[[ $programs ]] || die "--user32 is for 64-bit kernels"
}

# build_user OUT ARCH: perfex and the tests for programs of ARCH, with the
# headers that the kernel in OUT exports, into OUT/user-ARCH/root.
build_user() {
	local out=$1 user=$1/user-$2 cross=${user_cross[$2]} headers=$1/usr/include
	[[ -f $tree/tools/perfctr/Makefile ]] || die "$tree has no tools/perfctr"
	say "building perfex and the tests for $2, log in $user.log"
	rm -rf "$user"
	mkdir -p "$user/perfex" "$user/root"
	# arm64's headers are those of 64-bit programs, but for this ABI, which is one.
	if [[ $2 == arm ]]; then
		(cd "$headers" && cp --parents linux/perfctr.h asm/perfctr.h "$user")
		headers=$user
	fi
	# A kselftest that cannot be built must not be passed over.
	{
		make -C "$tree/tools/perfctr" O="$user/perfex" CC="${cross}gcc" \
			LDFLAGS=-static KHDR_INCLUDES="-isystem $headers" \
			DESTDIR="$user/root" install &&
			make -C "$tree/tools/testing/selftests" O="$user" TARGETS=perfctr \
				FORCE_TARGETS=1 CROSS_COMPILE="$cross" CC="${cross}gcc" \
				KHDR_INCLUDES="-isystem $headers" \
				KSFT_INSTALL_PATH="$user/root/kselftest" install
	} >"$user.log" 2>&1 </dev/null || {
		grep -E '(error|undefined reference|Error [0-9])' "$user.log" | head -n 20 >&2 || true
		die "the programs for $2 cannot be built, see $user.log"
	}
}

# busybox ARCH: a static busybox for the guest.
busybox() {
	local dir=$cache/busybox-$1 suite
	suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	case $1 in
	x86_64) dir='' ;;
	# Debian has no release for these.
	ppc64 | ppc32) build_busybox "$1" "$dir" "$suite" ;;
	*) fetch busybox-static "$dir" "$suite" "${1/%ppc64le/ppc64el}" ;;
	esac
	echo "$dir/bin/busybox"
}

# build_busybox ARCH DIR SUITE: DIR/bin/busybox from Debian's source of it.
build_busybox() {
	local lock
	[[ ! -e $2 ]] || return 0
	exec {lock}>"$2.lock"
	flock "$lock"
	[[ ! -e $2 ]] || return 0
	fetch src:busybox "$cache/busybox-source" "$3"
	say "building busybox for $1, log in $2.log"
	rm -rf "$2.new"
	mkdir -p "$2.new/bin"
	(cd "$2.new" && make -C "$cache/busybox-source" O="$PWD" defconfig &&
		echo CONFIG_STATIC=y >>.config &&
		make -j"$(nproc)" CC="ccache ${user_cross[$1]}gcc" \
			CROSS_COMPILE="${user_cross[$1]}" busybox &&
		mv busybox bin) >"$2.log" 2>&1 </dev/null ||
		die "busybox cannot be built, see $2.log"
	mv "$2.new" "$2"
	exec {lock}>&-
}

# guest_root ARCH DIR: makes DIR the guest's file system, with busybox in it.
#
# The guest has two terminals: the first is the kernel's, and qemu writes it
# to a log; the second is for /job, and is qemu's stdin and stdout. So nothing
# that a program prints can be torn by a kernel message, or hide one.
guest_root() {
	mkdir -p "$2"/{bin,sbin,usr/bin,usr/sbin,proc,sys,dev,tmp,root}
	cp "$(busybox "$1")" "$2/bin/busybox"
	cat >"$2/init" <<-END
		#!/bin/busybox sh
		log=/dev/${log_tty[$1]} job=/dev/${job_tty[$1]}
	END
	cat >>"$2/init" <<-'END'
		/bin/busybox --install -s 2>/dev/null
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs devtmpfs /dev
		ln -s /proc/self/fd /dev/fd
		ln -s fd/0 /dev/stdin
		ln -s fd/1 /dev/stdout
		ln -s fd/2 /dev/stderr
		mount -t tmpfs tmpfs /tmp
		[ -d /sys/fs/cgroup ] && mount -t cgroup2 cgroup2 /sys/fs/cgroup
		[ -d /sys/kernel/debug ] && mount -t debugfs debugfs /sys/kernel/debug
		export HOME=/root PATH=/root:/usr/bin:/bin:/usr/sbin:/sbin:/kselftest/perfctr
		ulimit -c 0
		cd /root
		# What is on its way between two lists looks lost for a moment. Once it is
		# quiet, below, nothing is any more.
		[ ! -e /sys/kernel/debug/kmemleak ] || echo scan=off >/sys/kernel/debug/kmemleak
		# A virtio console has no speed, and forgets its settings when no program has it open.
		if [ -e /interactive ]; then
			. /interactive
			setsid -c sh -i
		else
			stty raw -echo
			stty 115200 2>/dev/null
			sh /job </dev/null
		fi <$job >$job 2>&1
		status=$?
		if [ -e /sys/kernel/debug/kmemleak ] && [ ! -e /no-leak-scan ]; then
			# An object has to be lost for five seconds to be called so.
			for i in 1 2; do
				sleep 6
				echo scan >/sys/kernel/debug/kmemleak
			done
			cat /sys/kernel/debug/kmemleak >$log
		fi
		echo "perfctr-guest: exit status $status" >/dev/kmsg
		reboot -f
	END
	chmod +x "$2/init"
}

# kselftest_timeout DIR: kselftest's runner gives timeout an option that busybox
# has not; on the guest's terminal it makes no difference.
kselftest_timeout() {
	cat >"$1/usr/bin/timeout" <<-'END'
		#!/bin/sh
		[ "$1" = --foreground ] && shift
		exec busybox timeout "$@"
	END
	chmod +x "$1/usr/bin/timeout"
}

# /dev/kvm may be there and not work: emulation always does. All CPUs take turns
# in one host thread, because qemu with a thread for each sometimes executes
# stale code after the kernel has patched it: on x86 an INT3 that is a NOP again
# ("Oops: int3" in a static branch), on arm64 the old branch or NOP, so that a hook
# is not called for no visible reason. Where a static key is switched while
# other CPUs do nothing but run through it, qemu 7.2 does so after most switches, and
# qemu 10.0 after 1 of 250. scripts/emulator's does not, see 0007-stale-code.patch:
# --parallel, which --config kcsan implies, uses that one with a thread for each.
accel=tcg,thread=single qemu_options=()

# idle_states OUT FILE QEMU-OPTION...: FILE becomes the device tree of such an
# arm64 machine with an idle state that loses registers. qemu does not lose them
# and returns at once, but before and after that the kernel does all it has to;
# perf's driver resets the PMU.
idle_states() {
	"$qemu" "${@:3}" -machine "dumpdtb=$2.dtb" -display none -nodefaults \
		>/dev/null 2>&1
	"$1/scripts/dtc/dtc" -q -I dtb -O dts "$2.dtb" | awk '
		/^\tcpus \{/ { cpus = 1 }
		cpus && /cpu-map \{/ {
			print "idle-states { entry-method = \"psci\"; cpu-sleep {"
			print "phandle = <0x9000>; compatible = \"arm,idle-state\";"
			print "arm,psci-suspend-param = <0x10000>; min-residency-us = <10>;"
			print "entry-latency-us = <1>; exit-latency-us = <1>; }; };"
			cpus = 0
		}
		{ print }
		/device_type = "cpu";/ { print "cpu-idle-states = <0x9000>;" }' |
		"$1/scripts/dtc/dtc" -q -I dts -O dtb -o "$2"
	rm "$2.dtb"
}

# find_emulator: $emulator is the directory of scripts/emulator's qemu, or empty
# where there is no source to build it from.
no_emulator='there is no source of qemu to build scripts/emulator from'
find_emulator() {
	local status=0
	emulator=$("$root/scripts/emulator") || status=$?
	((status != 77)) || return 0
	return "$status"
}

# use_emulator: guests on x86 get the CPU $cpu of scripts/emulator's qemu. Without
# it there is nothing to test, and that is all there is to say.
use_emulator() {
	find_emulator
	[[ ! $emulator ]] || return 0
	echo "  skipped: $no_emulator"
	echo "0 passed, 0 failed, 1 skipped"
	exit 0
}

# The machine of a PowerPC guest of 64 bits, without what qemu's own CPUs lack.
# With its own short firmware it boots in a second, not in eight.
pseries=pseries,x-vof=on,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off

# find_qemu: $qemu emulates the caller's $arch. It is the one in $emulator, or
# Debian's; but that of Debian 12 has no overflow interrupts on PowerPC. The one of
# the backports has, and runs from where it was unpacked, with the firmware and the
# libraries that came with the others.
find_qemu() {
	qemu=${qemu_system[$arch]}
	if [[ ${emulator-} ]]; then
		# That of x86-64 emulates i386 as well.
		qemu=$emulator/${qemu/%-i386/-x86_64}
	elif [[ ${source_arch[$arch]} == powerpc ]]; then
		fetch qemu-system-ppc "$cache/qemu-ppc" bookworm-backports
		qemu=$cache/qemu-ppc/usr/bin/$qemu
	fi
}

# check_machine: can there be a guest with the caller's $arch, $cpus, $icount,
# $parallel and $idle? That of KCSAN is parallel.
check_machine() {
	# To see races, CPUs have to run at the same time.
	if [[ " ${config[*]-} " == *" kcsan "* ]]; then parallel=1; fi
	[[ ! ${idle-} || $arch == arm64 ]] || die "--idle is for arm64"
	[[ ! $cpus || $cpus =~ ^[1-9][0-9]*$ ]] || die "--cpus takes a number, not \"$cpus\""
	[[ ! $cpus || ! ${icount-} || $cpus == 1 ]] || die "with --icount there is one CPU"
	[[ ! $cpus || $arch != ppc32 || $cpus == 1 ]] || die "a guest on ppc32 has one CPU"
	[[ ! $parallel || ! $icount ]] || die "with --icount there is one CPU"
	[[ ! $parallel || ${source_arch[$arch]} != powerpc ]] ||
		die "--parallel is for x86 and arm64"
}

# guest_of_configs: the machine that kernels of the config fragments in $config,
# if there are such, have to have: sets what guest reads.
guest_of_configs() {
	[[ ! $parallel ]] || accel=tcg,thread=multi
	# shellcheck disable=SC2034 # for guest
	[[ " ${config[*]-} " != *" nmi "* ]] || {
		append=irqchip.gicv3_pseudo_nmi=1
		qemu_options=(-machine gic-version=3)
	}
	[[ " ${config[*]-} " != *" kvm "* || $arch != arm64 ]] ||
		qemu_options=(-machine virtualization=on)
}

# guest OUT DIR LOG SECONDS: boots the kernel of OUT, which is one for the
# caller's $arch, with DIR for its file system. It has $cpus CPUs, or else four
# (ppc32: always one), the third of them without a tick where the kernel can do
# without (64 bits); $append is put on the kernel's command line, $cpu is the model
# of the CPUs (on x86 those of find_emulator), and qemu_options what else qemu gets. With $icount it has one
# CPU that executes an instruction per nanosecond; with $idle its CPUs have
# idle_states(). The kernel's messages go to LOG, the job's output to stdout;
# hands on the job's exit status, or dies if the guest did.
guest() {
	local out=$1 dir=$2 log=$3 limit=$4 memory=512 smp=${cpus:-4} tickless='' status qemu
	local -a machine=(-M q35 ${cpu:+-cpu "$cpu"}) job=(-serial chardev:job)
	find_qemu
	case $arch in
	arm64)
		machine=(-M virt -cpu "${cpu:-cortex-a57}")
		job=(-device virtio-serial-device -device 'virtconsole,chardev=job')
		;;
	ppc64*)
		machine=(-M "$pseries" -cpu "${cpu:-power9}")
		memory=1536	# ppc64le's pages are of 64 KiB
		;;
	# Without a console for the firmware a large kernel never starts.
	ppc32) machine=(-M 'g3beige,graphics=off' -cpu "${cpu:-7400}") smp=1 ;;
	esac
	grep -q '^CONFIG_KASAN=y' "$out/.config" && memory=1536
	((smp < 3)) || tickless=nohz_full=2
	(cd "$dir" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$log.initramfs"
	: >"$log"
	local -a processors=(-accel "$accel" -smp "$smp")
	[[ ! ${icount-} ]] || processors=(-accel "$accel" -smp 1 -icount 'shift=0,sleep=off')
	[[ ! ${idle-} ]] || {
		idle_states "$out" "$log.devices" "${machine[@]}" "${processors[@]}" -m "$memory"
		machine+=(-dtb "$log.devices")
	}
	timeout --foreground "$limit" "$qemu" "${machine[@]}" "${processors[@]}" \
		-m "$memory" -display none -nodefaults -no-reboot \
		-serial "file:$log" -chardev stdio,id=job,signal=off "${job[@]}" \
		${qemu_options[@]+"${qemu_options[@]}"} \
		-kernel "$out/$(kernel_image "$arch")" -initrd "$log.initramfs" \
		-append "console=${log_tty[$arch]},115200 panic=-1 printk.devkmsg=on $tickless ${append-}" || true
	rm -f "$log.initramfs" "$log.devices"
	status=$(sed -n 's/.*perfctr-guest: exit status \([0-9]*\).*/\1/p' "$log")
	[[ $status ]] || {
		tail -n 25 "$log" >&2
		die "the guest died, or was not done after $limit s; see $log"
	}
	return "$status"
}

# What no kernel log may contain. A line that matches an entry of
# scripts/allowed-splats (an extended regular expression a line, under a comment
# that gives the reason) is taken out first, and a warning to the end of its trace.
splats='BUG:|WARNING:|Oops|Kernel panic|general protection|Call [Tt]race
KASAN|UBSAN|ODEBUG|DEBUG_LOCKS|refcount_t|double fault
possible circular locking|possible recursive locking|inconsistent lock state
suspicious RCU usage|sleeping function called|scheduling while atomic
list_add corruption|list_del corruption|[Uu]nable to handle|Bad page
unreferenced object
INFO: task .* blocked|detected .*stall|soft lockup|hard LOCKUP'

# no_splats LOG: prints what is wrong in a kernel log, and fails if anything is.
no_splats() {
	local found
	found=$(awk '
		NR == FNR { if (!/^#/) allowed[$0]; next }
		{
			is = 0
			for (a in allowed)
				if ($0 ~ a)
					is = 1
			if (is && /WARNING: CPU/)
				trace = 1
			if (!is && !trace)
				print FNR ":" $0
			if (/---\[ end trace/)
				trace = 0
		}' "$root/scripts/allowed-splats" "$1" | grep -aE "${splats//$'\n'/|}") || true
	[[ $found ]] || return 0
	echo "$found" | tr -d '\r' | sed "40q; s|^|$1:|" >&2
	return 1
}

# measure NAME PROGRAM BUILD-OPTION...: what a program of the tests prints under
# -icount, where it has a CPU to itself, on a kernel of $arch and $base with these
# options: into $tmp/NAME. The programs are those of the first kernel that is
# measured, which has to have the headers; $out is where this one is.
measure() {
	out=$("$root/scripts/build" --arch "$arch" --base "$base" "${@:3}")
	use_tree "$base" 2>/dev/null
	[[ -d ${user-} ]] || {
		build_user "$out" "$arch"
		user=$out/user-$arch/root
	}
	rm -rf "$tmp/root"
	guest_root "$arch" "$tmp/root"
	cp -a "$user/." "$tmp/root/"
	echo "/kselftest/perfctr/$2" >"$tmp/root/job"
	icount=1 guest "$out" "$tmp/root" "$tmp/$1.log" 600 | tr -d '\r' >"$tmp/$1" ||
		die "$2 failed: $(tail -n 1 "$tmp/$1")"
	no_splats "$tmp/$1.log" || die "the kernel complained"
}
