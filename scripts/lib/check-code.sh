# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2164 # scripts/check's, which sets -e
#
# check-code.sh - the checks of scripts/check that read or compile what the series
# makes. Sourced by it.

# compile ARCH [off]: the .c files of the series that ARCH has, with W=1 and
# sparse, into $out; or, with the feature off, those that the base has, too.
#
# Each file that the base has, too, is full of the base's own messages, which
# are none of the series' business. So where make calls sparse, sparse and gcc
# go over the base's version of the file as well, with the base's headers.
compile() {
	local pristine=$cache/checked/pristine-$name off=${2-} objects
	out=$cache/build/$name-$1-check${off:+-off}
	[[ ! -e $tmp/compiled-$name-$1$off ]] || return 0
	lock_builds 2>&3
	# Always at the same place, where ccache knows them.
	[[ -e $tmp/pristine-$name ]] || {
		rm -rf "$pristine"
		base_files "$pristine" "$(mended_base)"
		touch "$tmp/pristine-$name"
	}
	checked_config "$1" "$off"
	rm -rf "$out/messages"
	mkdir "$out/messages"
	kmake "$out" "$1" -j"$(nproc)" prepare >"$out/prepare.log" 2>&1 ||
		tail -n 15 "$out/prepare.log"
	mapfile -t objects < <(sources "$1" "${off:+M}" | sed 's/\.c$/.o/')
	# So that all are compiled whenever they are checked.
	(cd "$out" && rm -f "${objects[@]}")
	# make takes CHECK apart at spaces.
	ln -sfn "$lib" "$tmp/lib"
	PERFCTR_TREE=$tree PERFCTR_BASE=$pristine PERFCTR_GCC=${kernel_cross[$1]}gcc PERFCTR_OFF=$off \
		kmake "$out" "$1" -j"$(nproc)" -k --output-sync W=1 C=2 CHECK="$tmp/lib/check-sparse" \
		"${objects[@]}" >"$out/build.log" 2>&1 ||
		grep -E '(error|Error [0-9]|\*\*\*)' "$out/build.log" || tail -n 15 "$out/build.log"
	unlock_builds
	touch "$tmp/compiled-$name-$1$off"
}

# checked_config ARCH [off]: configures $out for what is compiled of ARCH.
checked_config() {
	configure "$out" "$1" "$(fragment "$1")" "$(fragment boot)" "$(fragment guest)" \
		"$(fragment "check-$1")" "$(fragment "${2:-kunit}")"
}

# new_messages BASE-FILE...: of the messages on stdin those that the base hasn't.
new_messages() { awk -f "$lib/check-messages.awk" "$@" - | sort -u; }

gcc_w1() {
	compile "$1"
	new_messages "$out"/messages/*.base-gcc <"$out/build.log"
}

sparse_c2() {
	local f said
	local -a ours=()
	compile "$1"
	# arm64 prepares with files of the base, which sparse has seen, too.
	for f in $(sources "$1"); do
		said=$out/messages/${f//\//_}.sparse
		if [[ -f $said ]]; then ours+=("$said"); else echo "$f: sparse was not run"; fi
	done
	new_messages "$out"/messages/*.base-sparse < <(cat "${ours[@]}")
}

# From the switch and the interrupt, no function of the series is called
# through a pointer: whatever is called from these in the files that they are
# in, and in the driver behind a static call. For x86 alone: arm64 and PowerPC of
# 64 bits have no static calls (arm64's of 7.3 are for kernels of clang with CFI),
# and so no way to call a driver but through a pointer.
switch_path() {
	local -a objects=(kernel/perfctr/{run,books,page,holders,object,driver}.o arch/x86/kernel/cpu/perfctr/{core,tsc}.o)
	# With KUnit, but without the suites: these put pointers wherever a test may
	# want to look in, and nothing else is to.
	out=$cache/build/$name-x86_64-check-path
	mkdir -p "$out"
	lock_builds 2>&3
	configure "$out" x86_64 "$(fragment x86_64)" "$(fragment boot)" "$(fragment guest)" \
		"$(fragment kunit-alone)"
	kmake "$out" x86_64 -j"$(nproc)" "${objects[@]}" >"$out/build.log" 2>&1 || tail -n 15 "$out/build.log"
	unlock_builds
	cd "$out"
	objdump -dr --no-show-raw-insn "${objects[@]}" |
		awk -f "$lib/check-switch.awk"
}

# While no thread or CPU has counters, each hook is a NOP: its static key is off as it
# is compiled, and there is a key for every hook.
hooks_are_nops() {
	local f o site section offset hooks sites total=0 objdump=${kernel_cross[$1]}objdump
	compile "$1"
	cd "$out"
	for f in $(sources "$1" M); do
		o=${f%.c}.o
		[[ -f $o ]] || continue
		hooks=$("$objdump" -t "$o" | grep -c ' __perfctr_') || true
		sites=0
		# Three relocations a site: where it is, where it may jump, its key.
		for site in $("$objdump" -r -j __jump_table "$o" 2>/dev/null |
			awk '/ R_/ { if (++n % 3 == 1) at = $3; else if (n % 3 == 0 && $3 ~ /^perfctr_(users|cpus|accounts)/) print at }'); do
			section=${site%+*} offset=${site##*+}
			sites=$((sites + 1))
			"$objdump" -d --no-show-raw-insn -j "$section" --start-address="$offset" \
				--stop-address=$((offset + 8)) "$o" |
				sed -n '/^ *[0-9a-f]*:\t/{p;q}' |
				grep -qE '\bnop|xchg +%ax,%ax' || echo "$o: $site is not a NOP"
		done
		((sites >= hooks)) || echo "$o: $hooks hooks, but $sites of them behind the static key"
		total=$((total + sites))
	done
	((total)) || echo "no hooks found"
}

# With the feature off every object is that of the base with its bugs mended (00xx),
# to the last instruction. The one that cannot be is sys_ni.o: a caller of a number
# without a system call has to end somewhere.
off_is_unchanged() {
	local f o found=0
	compile "$1" off
	cd "$out/messages"
	for f in $(sources "$1" M); do
		o=${f//\//_}
		[[ $f != kernel/sys_ni.c ]] || continue
		[[ -f $o.o && -f $o.base.o ]] || {
			echo "$f: was not compiled"
			continue
		}
		instructions "$1" "$o.base.o" >"$o.base.s"
		instructions "$1" "$o.o" >"$o.s"
		[[ -s $o.s ]] || echo "$f: no instructions"
		diff "$o.base.s" "$o.s" | sed "s|^|$f: |; 10q"
		found=$((found + $(wc -l <"$o.s")))
	done
	((found > 10000)) || echo "only $found instructions compared"
}

# instructions ARCH OBJECT: code with the names that it refers to, but without
# numbers that the compiler gave to names of its own, and without places in
# data: longer names of files move them. Objects of RISC-V keep local labels.
instructions() {
	"${kernel_cross[$1]}objdump" -drw --no-show-raw-insn "$2" | sed -E '1,3d; /^[0-9a-f]+ <|^ /!d;
		/^[0-9a-f]+ <\.L[0-9]+>:/d; s/\.LC?[0-9]+([-+]0x[0-9a-f]+)?/.L/g
		s/\.[0-9]+([-+ ]|$)/\1/g; s/(__UNIQUE_ID_[a-z_]+)[0-9]+/\1/g
		/ R_[A-Z0-9_]+[[:space:]]+\.(bss|data|rodata|discard)/s/[-+$]?0x[0-9a-f]+//g'
}

# The new files are documented in full; the changed ones are the base's.
kernel_doc() {
	touched A | grep '\.[ch]$' | grep -vE '^(tools|Documentation)/' |
		PYTHONDONTWRITEBYTECODE=1 xargs -d '\n' scripts/kernel-doc -none -Wall -Werror
}

# The kernel's own semantic patches in report mode, as scripts/coccicheck runs
# most of them, on the new files. Two of them are programs in OCaml, for which
# no compiler is installed.
coccinelle() {
	local -a files
	mapfile -t files < <(touched A | grep '\.[ch]$')
	# A function of a test can be long: spatch goes through it by recursion.
	ulimit -s unlimited 2>/dev/null || true
	grep -rl '^virtual report' --include='*.cocci' scripts/coccinelle |
		xargs -d '\n' grep -L 'script:ocaml' |
		timeout 1200 xargs -d '\n' -P "$(nproc)" -I{} \
			spatch -D report --timeout 900 --very-quiet --no-show-diff --no-includes \
			--include-headers --cocci-file {} "${files[@]}" \
			>"$tmp/cocci" 2>"$tmp/cocci.err" || tail -n 5 "$tmp/cocci.err"
	# User programs do not have the kernel's helpers. Macros that read the counters
	# of RISC-V assign the variable; spatch does not expand them. Programs of 2005 know
	# the size of a structure.
	grep -vE -e '^tools/.*opportunity for (str_|min|max|swap)' \
		-e '^(arch/riscv/kernel/perfctr/sbi\.c|tools/perfctr/vperfctr\.h):.*Unneeded variable' \
		-e '^tools/perfctr/compat/libperfctr\.h:.*flexible-array' \
		"$tmp/cocci" || true
}

# exported ARCH: the headers that programs get, in $out/usr/include.
exported() {
	out=$cache/build/$name-$1-check
	mkdir -p "$out"
	lock_builds 2>&3
	kmake "$out" "$1" -s headers
	unlock_builds
}

uapi() {
	exported_headers x86_64
	exported_headers arm64
	exported_headers ppc64le
}

# A program in C or C++, of 32 or 64 bits, includes an exported header alone.
# No structure has padding, and so with one size all have one layout. The 32 bits
# are always i386's: no other compiler aligns less, so none lays out differently
# what that one lays out as one for 64 bits does.
exported_headers() {
	local header c gcc=${user_cross[$1]}gcc sizes=$tmp/sizes
	local -a headers
	mapfile -t headers < <(touched A |
		sed -nE "s/^(include|arch\/${source_arch[$1]}\/include)\/uapi\///p")
	out=$cache/build/$name-$1-check
	lock_builds 2>&3
	checked_config "$1"
	# The kernel's own test includes each header alone, and twice, in C90 for ARCH. It
	# looks again only at what it has to.
	mkdir -p "$out/usr/include"
	(cd "$out/usr/include" && rm -f "${headers[@]/%.h/.hdrtest}")
	kmake "$out" "$1" -j"$(nproc)" usr/ >"$out/usr.log" 2>&1 || tail -n 15 "$out/usr.log"
	unlock_builds
	grep -E '(perfctr|counter_page)[^ ]*\.h:[0-9]+:' "$out/usr.log" || true
	for header in "${headers[@]}"; do
		[[ -e $out/usr/include/${header%.h}.hdrtest ]] || echo "$header: not tested alone"
		for c in "i686-linux-gnu-gcc -xc -std=c90" "g++ -xc++"; do
			# shellcheck disable=SC2086 # a command
			echo "#include <$header>" | $c -Wall -Wextra -Wpadded -Werror -fsyntax-only \
				-I "$out/usr/include" - || true
		done
		for c in "$gcc" i686-linux-gnu-gcc; do
			{
				echo "#include <$header>"
				echo "void f(void) {"
				sed -nE 's/^struct ([a-z_]+) \{/asm("->\1 %c0" :: "i" (sizeof(struct \1)));/p' \
					"$out/usr/include/$header"
				echo "}"
			} | $c -xc -S -o - -I "$out/usr/include" - | sed -n 's/.*->//p' >"$sizes-$c"
		done
		[[ -s $sizes-$gcc ]] || echo "$header: no structures found"
		diff "$sizes-$gcc" "$sizes-i686-linux-gnu-gcc"
	done
	# As the programs of ARCH know them.
	echo '#include <asm/unistd.h>' | "$gcc" -E -dM -I "$out/usr/include" - |
		awk '/define __NR_v?perfctr_/ { print $2, $3 }' | sort >"$sizes-numbers"
	system_calls | sed 's/^/__NR_/' | sort | diff - "$sizes-numbers"
}

# programs ARCH: perfex, the tests and the examples of the man pages, without a
# warning; and a program with what "make install" has installed, and nothing else
# of the kernel's headers but those that came with the compiler.
programs() {
	exported "${1/%arm/arm64}"
	(build_user "$out" "$1") >"$tmp/user.log" 2>&1 || cat "$tmp/user.log"
	grep -F 'warning:' "$out/user-$1.log" || true
	installed "$1"
}

# installed ARCH: compiles a program in C, and on x86-64 one in C++, as its author
# would: with the directories that a compiler for ARCH looks into, below DESTDIR. Where
# perfctr 2.7 was, also one for its library.
installed() {
	local c gcc=${user_cross[$1]}gcc include=$out/user-$1/root/usr/include
	local -a compilers=("$gcc -xc -std=gnu99") flags
	flags=(-Wall -Wextra -Werror -c -o /dev/null -I "$include" -I "$include/$("$gcc" -print-multiarch)")
	[[ $1 != x86_64 ]] || compilers+=("g++ -xc++")
	for c in "${compilers[@]}"; do
		# shellcheck disable=SC2086 # a command
		$c "${flags[@]}" "$lib/check-installed.c" || true
	done
	[[ $1 =~ ^(x86_64|i386|ppc) ]] || return 0
	# shellcheck disable=SC2086 # a command
	${compilers[0]} -I "$include/perfctr-2.7" "${flags[@]}" - <<-'END' || true
		#include <libperfctr.h>
		int main(void) { return !vperfctr_open(); }
	END
}
