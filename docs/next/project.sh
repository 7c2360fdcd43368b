#!/bin/bash
# project.sh MAIN: filters documents, scripts and other text of a copy of the project in place (not patches/, kunit-tests/*.patch, mutants: scripts/refresh and mutants.py make them)
here=$(cd "$(dirname "$0")" && pwd)
cd "$1" || exit 1
git ls-files README 'docs/*.md' 'docs/bench/*.md' MAINTAINERS.snippet 'scripts/*' 'kconfig-fragments/*' 'kunit-tests/*config' 'kunit-tests/*.py' |
	grep -vE 'emulator\.d|facts/' | while read -r f; do
	[ -f "$f" ] || continue
	python3 "$here/words.py" "docs/$f" <"$f" >/tmp/project.$$ && ! cmp -s /tmp/project.$$ "$f" && { cat /tmp/project.$$ >"$f"; echo "changed $f"; }
done
rm -f /tmp/project.$$
