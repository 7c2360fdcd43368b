# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2164 # scripts/check's, which sets -e
#
# check-patches.sh - the checks of scripts/check that read this repository, and its
# patches as text. Sourced by it.

# Whatever is or would be committed.
repo_files() {
	git ls-files --cached --others --exclude-standard | while read -r f; do
		[[ ! -f $f ]] || echo "$f"
	done
}

all_patches() { find patches kunit-tests -maxdepth 1 -name '*.patch' | sort; }

series_and_files() {
	local f
	diff <(cat <(entries series) <(entries series-7.3) | sort -u) <(all_patches) |
		sed -n 's/^</named in a series, but not there:/p; s/^>/in no series:/p'
	# The same patches in the same order; a file that differs by base says so. Fixes
	# of mainline (00xx) may be for the older one only, tests for the newer.
	diff <(entries series | while read -r f; do
		[[ $f == */00*-6.12.patch && ! -f ${f%-6.12.patch}-7.3.patch ]] ||
			echo "${f/%-6.12.patch/.patch}"
	done) \
		<(entries series-7.3 | sed '/^kunit-tests.*-7\.3\.patch$/d; s/-7\.3\.patch$/.patch/') |
		sed -n 's/^</only in series:/p; s/^>/only in series-7.3:/p'
	for f in $(entries series | grep -e '/0[1-9].*-6\.12\.patch$'); do
		diff <(grep -m 1 '^Subject:' "$f") \
			<(grep -m 1 '^Subject:' "${f%-6.12.patch}-7.3.patch") ||
			echo "$f and its twin have different subjects"
	done
}

# Each can be mailed as it is, and nothing is between or behind its hunks.
patch_format() {
	local f author subject
	for f in $(all_patches); do
		author=$(git mailinfo /dev/null /dev/null <"$f" |
			sed -n 's/^Author: //p; s/^Email: \(.*\)/<\1>/p' | paste -sd' ')
		subject=$(git mailinfo /dev/null /dev/null <"$f" | sed -n 's/^Subject: //p')
		[[ $author == ?*' <'?*@?*'>' ]] || echo "$f: no author in From:"
		[[ $subject == ?*': '?* ]] || echo "$f: no \"subsystem: what it does\" in Subject:"
		grep -qxF "Signed-off-by: $author" "$f" || echo "$f: no Signed-off-by: $author"
		grep -q '[Tt]ested' <(sed '/^---$/q' "$f") || echo "$f: does not say how it was tested"
		# A whole file of CRs is the only place where they are not seen.
		! grep -n $'\r' "$f" | sed "s|^|$f:|; s/\r.*/ carriage return/; 1q" | grep . || true
	done
	all_patches | xargs -n 1 awk -f "$lib/check-hunks.awk"
}

# docs/regressions.md says which cases there are, and which tests are for them.
# A mutant names a case, or none; the kernel's sources name no case.
regression_ids() {
	local case
	find kunit-tests/mutants -name '*.patch' -print0 |
		xargs -0 grep -LE '^Regression-case: ' | sed 's/$/: no Regression-case:, not even none/' || true
	find kunit-tests/mutants -name '*.patch' -print0 |
		xargs -0 grep -nEi '^[[:space:]]*regression.?case' |
		grep -vE ':Regression-case: ([ACHLPUW][0-9]{2}|none)$' |
		sed 's/$/: not a case such as C01/' || true
	find kunit-tests/mutants -name '*.patch' -print0 |
		xargs -0 sed -nE 's/^Regression-case: ([A-Z][0-9]+)$/\1/p' | sort -u |
		while read -r case; do
			grep -qE "^\|[^|]*\b$case\b" docs/regressions.md ||
				echo "$case: a mutant has this case, and docs/regressions.md has not"
		done
	all_patches | xargs grep -nEi 'regression.?case' | sed 's/$/: cases stand in docs\/regressions.md/' || true
	# The names of tests that a reader looks for.
	grep -oE '\btest_[a-z0-9_]+' docs/regressions.md | sort -u |
		while read -r case; do
			all_patches | xargs grep -qE "\b$case\(" ||
				echo "docs/regressions.md: no patch has $case()"
		done
}

# Other people's machines have other paths, mirrors and names.
no_machine() {
	local hosts
	repo_files | xargs -d '\n' grep -nP '(?<![\w})~.$"/])/(root|home|work|Users)/[.\w]' || true
	# shellcheck disable=SC2016 # for apt to expand
	hosts=$(apt-get indextargets --no-release-info --format '$(SITE)' |
		sed 's|.*://||; s|[/:].*||; s|\.|[.]|g' | sort -u | grep '\[\.\]') || true
	hosts+=$'\n'$(hostname -f 2>/dev/null | grep '\.' | sed 's|\.|[.]|g') || true
	# Brackets, so that this line does not find itself.
	hosts+=$'\n'$'debian[.]org\npypi[.]org\n[/.@]registry[.]\nmirrors?[.][a-z]'
	repo_files | xargs -d '\n' grep -nEf <(grep . <<<"$hosts") || true
}

# Text that was written by hand, and no kernel source but in patches.
no_products() {
	repo_files | grep -vxE 'scripts/(lib/check-installed|prove/[^/]*\.d/[^/]*)\.c' |
		grep -E '\.(c|h|S|o|ko|a|so|pyc|gz|xz|deb|rej|orig|log)$|(^|/)(\.config|vmlinux|bzImage|Image)$' |
		sed 's/$/: a source or product of a build/' || true
	repo_files | xargs -d '\n' grep -LI '' | sed 's/$/: not text/' || true
	repo_files | xargs -d '\n' -I{} find {} -size +1M -printf '%p: larger than 1 MiB\n'
}

shell_scripts() {
	local f
	local -a scripts=()
	while read -r f; do
		if [[ $f == *.sh ]] || head -n 1 "$f" | grep -qE '^#!.*[/ ](ba)?sh\b'; then
			scripts+=("$f")
		fi
	done < <(repo_files)
	shellcheck -x -P SCRIPTDIR -P SCRIPTDIR/lib -P SCRIPTDIR/../lib "${scripts[@]}"
}

python_files() {
	local f
	for f in $(repo_files | grep '\.py$'); do
		# Not py_compile, which leaves a file.
		python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f"
	done
}

completion() { "$lib/check-completion" tools/perfctr; }

# Each script tells what it does, and README mentions it.
manuals() {
	local s text
	for s in scripts/* scripts/prove/*; do
		[[ -f $s && -x $s ]] || continue
		text=$("$s" --help)
		[[ $text == "$s"* ]] || echo "$s --help does not begin with its name"
		! grep -n 'shellcheck' <<<"$text" || echo "$s --help tells what is for shellcheck"
		grep -qF "$s" docs/README.md || echo "docs/README.md does not mention $s"
	done
}

# Names in pictures are what functions are called, cut off.
spelling() { repo_files | grep -Ev '\.(patch|svg)$' | xargs -d '\n' codespell -L crate || true; }

# base_files DIR [COMMIT]: the base's versions, or those of COMMIT, of the files that
# the series changes. All that quilt and git am need of a tree, in a second instead
# of a minute.
base_files() {
	mkdir -p "$1"
	touched M | xargs -d '\n' git -C "$tree" archive "${2-refs/tags/base}" | tar -x -C "$1"
}

# mended_base: prints the commit of the last fix of mainline (00xx).
mended_base() {
	tgit rev-list --reverse refs/tags/base..refs/heads/perfctr |
		sed -n "$(entries "$series" | grep -c '/00')p"
}

with_git_am() {
	local patches
	base_files "$tmp/am-$name"
	mapfile -t patches < <(entries "$series" | sed "s|^|$root/|")
	local tree=$tmp/am-$name
	tgit init -q .
	tgit add -f .
	GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x tgit commit -q -m base
	tgit am -q --no-3way --no-gpg-sign --whitespace=error-all "${patches[@]}"
}

with_quilt() {
	base_files "$tmp/quilt-$name"
	cd "$tmp/quilt-$name"
	QUILT_PATCHES=$root QUILT_SERIES=$series quilt --quiltrc /dev/null \
		push -a --fuzz=0 >"$tmp/quilt.log" 2>&1 || tail -n 15 "$tmp/quilt.log"
	grep -n 'with fuzz' "$tmp/quilt.log" || true
}

# The tree is the series, and to write it back changes not one byte. refresh
# runs on a copy of the repository, and on nothing but an untouched tree: it
# takes what it finds there for the series.
no_op() {
	local d repo=$tmp/repo-$name
	d=$(dirty)
	[[ -z $d ]] || {
		echo "$tree has uncommitted changes ($d)"
		return
	}
	rm -rf "$tmp/export" "$repo"
	export_patches "$tmp/export"
	tree_is_series "$tmp/export" "$series" || {
		echo "$tree is not what $series says"
		return
	}
	[[ -d $base ]] && return # a path has no series of its own to write to
	mkdir "$repo"
	cp -a "$root"/{scripts,patches,kunit-tests,series,series-7.3} "$repo"
	"$repo/scripts/refresh" --base "$base" >"$tmp/refresh.log" 2>&1 || cat "$tmp/refresh.log"
	for d in patches kunit-tests series series-7.3; do
		diff -rq "$root/$d" "$repo/$d" || true
	done
}

# What checkpatch says and is not heeded, on this base.
excused() {
	grep -v -e '^#' -e '^$' "$lib/check-excused"
	# kzalloc_obj() and constant sysctl tables came after 6.12, and one patch
	# serves both.
	[[ $name != 7.3 ]] || printf '%s kernel/perfctr/%s\n' \
		ALLOC_WITH_SIZEOF '(object|family|holders|cpus|sets|calls|policy|debug|samples)\.c' CONST_STRUCT '(policy|lease|storm|calls)\.c'
}

# What checkpatch says is kept for each patch, until the patch or the rules change:
# those of the base, and the names with capitals that headers have.
checkpatch() {
	local excuses=$tmp/excused said=$tmp/checkpatch type files b f key rules
	local -a patches again=() kept=()
	export dictionary dir=$cache/checked/patches
	mkdir -p "$dir"
	dictionary=$(dpkg -L codespell | grep '/dictionary\.txt$')
	rules=$({
		tip refs/tags/base
		dpkg-query -W perl codespell python3 python3-ply python3-git
		touched AM | grep '^include/' | xargs grep -ohE '\w*([A-Z][a-z]|[a-z][A-Z])\w*' | sort -u
	} | sha256sum)
	# The largest first, so that no processor is left with it at the end.
	mapfile -t patches < <(for b in "${bases[@]}"; do entries "$(series_of "$b")"; done |
		sort -u | sed "s|^|$root/|" | xargs -d '\n' ls -S)
	for f in "${patches[@]}"; do
		key="$rules ${f#"$root/"} $(sha256sum <"$f")"
		kept+=("$dir/${f##*/}")
		[[ -f ${kept[-1]} && $(head -n 1 "${kept[-1]}") == "$key" ]] || again+=("$key" "$f")
	done
	((!${#again[@]})) || printf '%s\0' "${again[@]}" |
		xargs -0 -n 2 -P "$(nproc)" "$lib/check-patch"
	tail -q -n +2 "${kept[@]}" >"$said"
	excused >"$excuses"
	while read -r type files; do
		grep -qE "^([^:]*/patches/.*|$files):[0-9]+: [A-Z]+:$type:" "$said" ||
			echo "scripts/lib/check-excused: checkpatch no longer says $type of $files"
	done <"$excuses"
	grep -vEf <(while read -r type files; do
		echo "^([^:]*\.patch|$files):[0-9]+: [A-Z]+:$type:"
	done <"$excuses") "$said" | sed "s|^$root/||" || true
}

# The mutants are the series with a bug put back: they must still apply.
mutants() {
	local m
	# An index of the files that they change is read faster than that of all.
	export GIT_INDEX_FILE=$tmp/series-index
	rm -f "$GIT_INDEX_FILE"
	touched AM | xargs -d '\n' git -C "$tree" ls-tree refs/heads/perfctr |
		tgit update-index --index-info
	for m in $(mutants_of "$series"); do
		tgit apply --check --cached "$m" 2>&1 | sed "s|^|${m#"$root/"}: |"
	done
	# A test that has another name now would never fail.
	touched A | grep -E '\.(c|h|sh)$' | xargs -d '\n' cat | sed -nE \
		-e 's/^TEST_F[A-Z_]*\((\w+), *(\w+).*/\1.\2/p' -e 's/^TEST[A-Z_]*\((\w+).*/global.\1/p' \
		-e 's/^FIXTURE_VARIANT_ADD\((\w+), *(\w+).*/\1.\2./p' \
		-e 's/^\s*KUNIT_CASE[A-Z_]*\((\w+).*/\1/p' -e 's/^(\w+)\(\)$/\1/p' >"$tmp/tests"
	mutants_of "$series" | xargs grep -HE '^Caught-by: .*\<(kunit|selftest|kmemleak) ' |
		sed -E "s|^$root/([^:]*):.* (kunit \w+\.)?|\1 |
			s/ (\w+)\.(\w+)\.(\w+)$/ \1.\2. \1.\3/" |
		while read -r m test; do
			for test in $test; do
				grep -qxF -e "$test" "$tmp/tests" || echo "$m: there is no test $test"
			done
		done
}

system_calls() {
	printf '%s\n' "vperfctr_open 548" "vperfctr_control 549" "vperfctr_unlink 550" \
		"vperfctr_read 551" "vperfctr_iresume 552" "perfctr_info 553"
}

# The same numbers in every table of every architecture, or in none. The one of
# arm64's 64-bit programs is scripts/syscall.tbl.
syscall_numbers() {
	local f call number tables=0
	for f in $(touched M | grep '\.tbl$'); do
		tables=$((tables + 1))
		while read -r call number; do
			grep -qE "^${number}[[:space:]]+[a-z0-9_,]+[[:space:]]+${call}([[:space:]]|\$)" "$f" ||
				echo "$f: $call is not $number"
		done < <(system_calls)
	done
	((tables)) || echo "no system call table in the series"
}

maintainers() {
	local pattern f
	local -a patterns files
	diff <(tgit diff -U0 refs/tags/base refs/heads/perfctr -- MAINTAINERS |
		sed -n '/^+++/d; s/^+//p' | sed '/^$/d') "$root/MAINTAINERS.snippet" ||
		echo "MAINTAINERS.snippet is not what the series adds to MAINTAINERS"
	mapfile -t patterns < <(sed -n 's/^F:[[:space:]]*//p' "$root/MAINTAINERS.snippet" | sed 's|/$|/*|')
	mapfile -t files < <(touched A)
	# shellcheck disable=SC2053 # a pattern
	for pattern in "${patterns[@]}"; do
		for f in "${files[@]}"; do [[ $f != $pattern ]] || continue 2; done
		echo "F: $pattern: the series adds no such file"
	done
	# shellcheck disable=SC2053 # a pattern
	for f in "${files[@]}"; do
		for pattern in "${patterns[@]}"; do [[ $f != $pattern ]] || continue 2; done
		echo "$f: in no F: of MAINTAINERS.snippet"
	done
}

