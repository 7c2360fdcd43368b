# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # for those that source it
#
# common.sh - what all scripts share: messages and options, and what differs by
# architecture; and with it packages.sh and kernels.sh. Scripts that boot guests
# source guests.sh after it. Sourced, never run.

set -euo pipefail
shopt -s inherit_errexit

self=$(basename "$0")
lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${lib%/scripts/lib}
manual="$(realpath --relative-base="$root" "$0") --help"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfctr
# A machine that tests may have checked it out as another user.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$root

# What differs by architecture. The machine's own compiler makes i386 kernels,
# too, but has no 32-bit libc for programs.
architectures=(x86_64 i386 arm64 ppc64le ppc64 ppc32 riscv64)
# A directory of the kernel's arch/, and what make calls the architecture.
declare -A source_arch=([x86_64]=x86 [i386]=x86 [arm64]=arm64
	[ppc64le]=powerpc [ppc64]=powerpc [ppc32]=powerpc [riscv64]=riscv)
declare -A kernel_arch=([x86_64]=x86_64 [i386]=i386 [arm64]=arm64
	[ppc64le]=powerpc [ppc64]=powerpc [ppc32]=powerpc [riscv64]=riscv)
declare -A kernel_cross=([x86_64]='' [i386]='' [arm64]=aarch64-linux-gnu-
	[ppc64le]=powerpc64le-linux-gnu- [ppc64]=powerpc64-linux-gnu-
	[ppc32]=powerpc-linux-gnu- [riscv64]=riscv64-linux-gnu-)
declare -A user_cross=([x86_64]='' [i386]=i686-linux-gnu- [arm64]=aarch64-linux-gnu-
	[arm]=arm-linux-gnueabihf- [ppc64le]=powerpc64le-linux-gnu-
	[ppc64]=powerpc64-linux-gnu- [ppc32]=powerpc-linux-gnu-
	[riscv64]=riscv64-linux-gnu-)
# Which 32-bit programs a 64-bit kernel runs.
declare -A user32_arch=([x86_64]=i386 [arm64]=arm [ppc64]=ppc32)
declare -A kernel_target=([x86_64]=bzImage [i386]=bzImage [arm64]=Image
	[ppc64le]=vmlinux [ppc64]=vmlinux [ppc32]=vmlinux [riscv64]=Image)
declare -A qemu_system=([x86_64]=qemu-system-x86_64 [i386]=qemu-system-i386
	[arm64]=qemu-system-aarch64 [ppc64le]=qemu-system-ppc64
	[ppc64]=qemu-system-ppc64 [ppc32]=qemu-system-ppc
	[riscv64]=qemu-system-riscv64)
# The kernel's terminal, and the one of what runs in the guest.
declare -A log_tty=([x86_64]=ttyS0 [i386]=ttyS0 [arm64]=ttyAMA0
	[ppc64le]=hvc0 [ppc64]=hvc0 [ppc32]=ttyS0 [riscv64]=ttyS0)
declare -A job_tty=([x86_64]=ttyS1 [i386]=ttyS1 [arm64]=hvc0
	[ppc64le]=hvc1 [ppc64]=hvc1 [ppc32]=ttyS1 [riscv64]=hvc0)

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

source "$lib/packages.sh"
source "$lib/kernels.sh"
