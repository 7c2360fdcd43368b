# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # of and for those that source it
#
# guests.sh - machines under qemu, their programs, and their kernel logs. Sourced
# by the scripts that boot guests.

# choose_programs: makes $programs the architecture of programs, for a caller
# with $arch and $user32.
choose_programs() {
	programs=$arch
	[[ $user32 ]] || return 0
	programs=${user32_arch[$arch]-}
	[[ $programs ]] || die "--user32 is for 64-bit kernels"
}

# build_user OUT ARCH: perfex, counterstat and the tests for programs of ARCH, with the
# headers that the kernel in OUT exports, into OUT/user-ARCH/root. The kernel's selftests
# and the tests of tools/perfctr are in one directory, kselftest/perfctr, and one list.
build_user() {
	local out=$1 user=$1/user-$2 cross=${user_cross[$2]} headers=$1/usr/include pfm
	local targets=perfctr
	[[ -f $tree/tools/perfctr/Makefile || ${section-} ]] || die "$tree has no tools/perfctr"
	say "building perfex and the tests for $2, log in $user.log"
	[[ ! -d $tree/tools/testing/selftests/counter_page ]] || targets+=' counter_page'
	pfm=$(libpfm4 "$2")
	rm -rf "$user"
	mkdir -p "$user/perfex" "$user/counterstat" "$user/tests" "$user/root"
	# arm64's headers are those of 64-bit programs, but for this ABI, which is one.
	if [[ $2 == arm ]]; then
		(cd "$headers" && cp --parents linux/perfctr.h asm/perfctr.h \
			linux/counter_page.h "$user")
		headers=$user
	fi
	# A kselftest that cannot be built must not be passed over.
	{
		export PFM_CFLAGS="${pfm:+-I$pfm/include}" PFM_LIBS="${pfm:+$(find "$pfm/lib" -name libpfm.a)}"
		# A section may come before some of it.
		in_tree tools/perfctr O="$user/perfex" CC="${cross}gcc" \
			AR="${cross}ar" LDFLAGS=-static KHDR_INCLUDES="-isystem $headers" \
			install_shared='' DESTDIR="$user/root" install &&
			in_tree tools/counter_page O="$user/counterstat" CC="${cross}gcc" \
				LDFLAGS=-static KHDR_INCLUDES="-isystem $headers" \
				DESTDIR="$user/root" install &&
			in_tree tools/testing/selftests O="$user" TARGETS="$targets" \
				FORCE_TARGETS=1 CROSS_COMPILE="$cross" CC="${cross}gcc" AR="${cross}ar" \
				KHDR_INCLUDES="-isystem $headers" \
				KSFT_INSTALL_PATH="$user/root/kselftest" install &&
			in_tree tools/perfctr/tests OUTPUT="$user/tests" CROSS_COMPILE="$cross" \
				CC="${cross}gcc" AR="${cross}ar" KHDR_INCLUDES="-isystem $headers" \
				INSTALL_PATH="$user/root/kselftest/perfctr" install &&
			in_tree tools/perfctr/tests -s OUTPUT="$user/tests" CC="${cross}gcc" \
				COLLECTION=perfctr emit_tests >>"$user/root/kselftest/kselftest-list.txt"
	} >"$user.log" 2>&1 </dev/null || {
		grep -E '(error|undefined reference|Error [0-9])' "$user.log" | head -n 20 >&2 || true
		die "the programs for $2 cannot be built, see $user.log"
	}
}

# in_tree DIR ARG...: make there, if the tree has it.
in_tree() { [[ ! -f $tree/$1/Makefile ]] || make -C "$tree/$1" "${@:2}"; }

# libpfm4 ARCH: prints a directory that has libpfm4's include/ and lib/ for programs of
# ARCH, or nothing: it knows no RISC-V, and of 32-bit PowerPCs none that counts.
libpfm4() {
	local dir=$cache/libpfm4-$1 suite lock
	suite=$(debian_codename)
	case $1 in
	riscv64 | ppc32) return ;;
	ppc64) ;;
	*)
		local -A debian=([x86_64]=amd64 [ppc64le]=ppc64el [arm]=armhf)
		fetch libpfm4-dev "$dir" "$suite" "${debian[$1]-$1}"
		echo "$dir/usr"
		return
		;;
	esac
	# Debian has no release for it.
	exec {lock}>"$dir.lock"
	flock "$lock"
	[[ -e $dir ]] || {
		fetch src:libpfm4 "$dir.new" "$suite"
		say "building libpfm4 for $1, log in $dir.log"
		(cd "$dir.new" && make -C lib ARCH=powerpc CC="${user_cross[$1]}gcc" \
			AR="${user_cross[$1]}ar" CONFIG_PFMLIB_SHARED=n DBG=) \
			>"$dir.log" 2>&1 </dev/null || die "libpfm4 cannot be built, see $dir.log"
		mv "$dir.new" "$dir"
	}
	exec {lock}>&-
	echo "$dir"
}

# busybox ARCH: a static busybox for the guest.
busybox() {
	local dir=$cache/busybox-$1 suite
	suite=$(debian_codename)
	case $1 in
	x86_64) dir='' ;;
	# Debian has no release for these.
	ppc64 | ppc32 | riscv64) build_busybox "$1" "$dir" "$suite" ;;
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
	cp "$lib/guest-init" "$2/init"
	cp "$lib/guest-timeout" "$2/usr/bin/timeout"
	# The kernel's terminal, and the one of what runs in the guest.
	echo "log=/dev/${log_tty[$1]} job=/dev/${job_tty[$1]}" >"$2/terminals"
}

# debian_kernel: makes $out a directory with the kernel of $arch that Debian 13 installs, which
# is 6.12 and knows nothing of the series, and the headers that programs are built with.
debian_kernel() {
	local suite=trixie kernel=${debian_kernels[$arch]-} deb dir log
	local -A debs=([x86_64]=amd64)
	deb=${debs[$arch]-$arch}
	[[ $kernel ]] || die "--debian is for ${!debian_kernels[*]}"
	# An empty package names the newest one.
	fetch "linux-image-$kernel" "$cache/debian-$arch-newest" "$suite" "$deb"
	kernel=$(basename "$(readlink "$cache/debian-$arch-newest/usr/share/doc/linux-image-$kernel")")
	dir=$cache/$kernel out=$cache/build/debian-$arch log=$cache/build/debian-$arch.log
	fetch "$kernel" "$dir" "$suite" "$deb"
	mkdir -p "$(dirname "$out/$(kernel_image "$arch")")"
	cp "$dir"/boot/config-* "$out/.config"
	cp "$dir"/boot/vmlinu[xz]-* "$out/$(kernel_image "$arch")"
	make -C "$tree" O="$out" ARCH="${source_arch[$arch]}" headers >"$log" 2>&1 </dev/null ||
		die "there are no headers, see $log"
}
declare -A debian_kernels=([x86_64]=cloud-amd64 [arm64]=cloud-arm64 [riscv64]=riscv64)

# prepare_guest: builds the kernel and the programs that the caller's $arch, $base,
# $config and $programs ask for, or takes Debian's kernel if $debian says so; $out has the
# kernel, and $tmp/root the file system.
prepare_guest() {
	local f
	local -a args=(--arch "$arch" --base "$base" ${section:+--section "$section"})
	for f in ${config[@]+"${config[@]}"}; do args+=(--config "$f"); done
	if [[ ${debian-} ]]; then
		need_packages
		use_tree "$base"
		debian_kernel
	else
		out=$("$root/scripts/build" "${args[@]}")
		use_tree "$base" 2>/dev/null
	fi
	build_user "$out" "$programs"
	scratch
	guest_root "$arch" "$tmp/root"
	cp -a "$out/user-$programs/root/." "$tmp/root/"
}

# /dev/kvm may be there and not work: emulation always does. All CPUs take turns
# in one host thread, because qemu with a thread for each sometimes executes
# stale code after the kernel has patched it: on x86 an INT3 that is a NOP again
# ("Oops: int3" in a static branch), on arm64 the old branch or NOP, so that a hook
# is not called for no visible reason. Where a static key is switched while
# other CPUs do nothing but run through it, qemu 7.2 does so after most switches, and
# qemu 10.0 after 1 of 250. scripts/prove/emulator's does not, see 0007-stale-code.patch:
# --parallel, which --config kcsan implies, uses that one with a thread for each.
accel=tcg,thread=single qemu_options=()

# idle_states OUT FILE QEMU-OPTION...: FILE becomes the device tree of such an
# arm64 machine with an idle state that loses registers. qemu does not lose them
# and returns at once, but before and after that the kernel does all it has to;
# perf's driver resets the PMU.
idle_states() {
	"$qemu" "${@:3}" -machine "dumpdtb=$2.dtb" -display none -nodefaults \
		>/dev/null 2>&1
	"$1/scripts/dtc/dtc" -q -I dtb -O dts "$2.dtb" | awk -f "$lib/idle-states.awk" |
		"$1/scripts/dtc/dtc" -q -I dts -O dtb -o "$2"
	rm "$2.dtb"
}

# find_emulator: $emulator is the directory of scripts/prove/emulator's qemu, or empty
# where there is no source to build it from.
no_emulator='there is no source of qemu to build scripts/prove/emulator from'
find_emulator() {
	local status=0
	emulator=$("$root/scripts/prove/emulator") || status=$?
	((status != 77)) || return 0
	return "$status"
}

# use_emulator: guests on x86 get the CPU $cpu of scripts/prove/emulator's qemu. Without
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

# find_qemu: $qemu emulates the caller's $arch, with the options in $firmware. It is
# the one in $emulator, or Debian's; but that of Debian 12 has no overflow interrupts
# on PowerPC and RISC-V, nor does it filter counters by privilege there. The one of
# the backports does, and runs from where it was unpacked, with the firmware and the
# libraries that came with the others. RISC-V takes a newer firmware as well, which
# knows the filters of the cycle and the instruction counter.
find_qemu() {
	qemu=${qemu_system[$arch]} firmware=()
	if [[ ${emulator-} ]]; then
		# That of x86-64 emulates i386 as well.
		qemu=$emulator/${qemu/%-i386/-x86_64}
	elif [[ ${source_arch[$arch]} == powerpc ]]; then
		fetch qemu-system-ppc "$cache/qemu-ppc" bookworm-backports
		qemu=$cache/qemu-ppc/usr/bin/$qemu
	elif [[ $arch == riscv64 ]]; then
		fetch qemu-system-riscv "$cache/qemu-riscv" bookworm-backports
		fetch opensbi "$cache/opensbi" bookworm-backports
		qemu=$cache/qemu-riscv/usr/bin/$qemu
		firmware=(-bios "$cache/opensbi/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_dynamic.bin")
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
	[[ ! $parallel || ${source_arch[$arch]} =~ ^(x86|arm64)$ ]] ||
		die "--parallel is for x86 and arm64"
}

# guest_of_configs: the machine that kernels of the config fragments in $config,
# if there are such, have to have: sets what guest reads.
guest_of_configs() {
	[[ ! $parallel ]] || accel=tcg,thread=multi
	# shellcheck disable=SC2034 # for guest
	[[ " ${config[*]-} " != *" nmi "* ]] || {
		append="${append-} irqchip.gicv3_pseudo_nmi=1"
		qemu_options+=(-machine gic-version=3)
	}
	[[ " ${config[*]-} " != *" kvm "* || $arch != arm64 ]] ||
		qemu_options+=(-machine virtualization=on)
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
	local -a machine=(-M q35 ${cpu:+-cpu "$cpu"}) job=(-serial chardev:job) firmware
	# The drivers of Debian's kernels for the other bus are modules.
	local bus=device
	[[ ! ${debian-} ]] || bus=pci
	find_qemu
	case $arch in
	arm64)
		machine=(-M virt -cpu "${cpu:-cortex-a57}")
		job=(-device "virtio-serial-$bus" -device 'virtconsole,chardev=job')
		;;
	ppc64*)
		machine=(-M "$pseries" -cpu "${cpu:-power9}")
		memory=1536	# ppc64le's pages are of 64 KiB
		;;
	riscv64)
		machine=(-M virt -cpu "${cpu:-rv64,sscofpmf=on,smcntrpmf=on}")
		job=(-device "virtio-serial-$bus" -device 'virtconsole,chardev=job')
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
	timeout --foreground -k 60 "$limit" "$qemu" "${machine[@]}" "${processors[@]}" \
		${firmware[@]+"${firmware[@]}"} -m "$memory" -display none -nodefaults -no-reboot \
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

# add_perf: Debian's perf into the guest of $tmp/root, with the libraries of this machine
# that it is linked with.
add_perf() {
	local f
	for f in /usr/bin/perf $(ldd /usr/bin/perf | grep -oE '/[^ ]+'); do
		mkdir -p "$tmp/root$(dirname "$f")"
		cp -L "$f" "$tmp/root$f"
	done
}

# no_splats LOG: prints what is wrong in a kernel log, and fails if anything is.
no_splats() {
	local found
	[[ -f $1 ]] || {
		echo "$1: there is no such log" >&2
		return 1
	}
	found=$(awk -f "$lib/splats.awk" "$lib/allowed-splats" "$lib/splats" "$1")
	[[ $found ]] || return 0
	echo "$found" | tr -d '\r' | sed "40q; s|^|$1:|" >&2
	return 1
}
