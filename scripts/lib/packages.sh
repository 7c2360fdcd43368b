# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # of and for those that source it
#
# packages.sh - packages of Debian: those to install, and those to unpack. Sourced
# by common.sh.

packages=(build-essential bc bison flex libssl-dev libelf-dev rsync cpio kmod
	xz-utils git perl python3 ccache quilt sparse coccinelle codespell
	shellcheck qemu-system-x86 busybox-static gcc-i686-linux-gnu
	libc6-dev-i386-cross qemu-system-arm gcc-aarch64-linux-gnu
	libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
	gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross gcc-powerpc64-linux-gnu
	libc6-dev-ppc64-cross gcc-powerpc-linux-gnu libc6-dev-powerpc-cross
	gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)

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
	# The lists of a fresh machine are empty or old, and it may be at its own updates.
	# shellcheck disable=SC2086 # a list of words
	{ { apt-get -q update || { sleep 60 && apt-get -q update; }; } &&
		DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 install \
			--no-install-recommends $missing; } \
		</dev/null >"$cache/apt.log" 2>&1 ||
		die "apt-get failed, see $cache/apt.log: $(grep '^E:' "$cache/apt.log" | tail -n 1)"
}

# The name of this machine's release of Debian, and the mirror that apt has it from.
debian_codename() { sed -n 's/^VERSION_CODENAME=//p' /etc/os-release; }
debian_mirror() {
	# shellcheck disable=SC2016 # for apt to expand
	apt-get indextargets --no-release-info \
		--format '$(RELEASE) $(COMPONENT) $(REPO_URI)' "Created-By: Packages" |
		awk -v c="$(debian_codename)" '$2 == "main" && ($1 == c || $1 ~ /^(old)*stable$/) {
			if (!n++) print $3 }'
}

# fetch PACKAGE DIR [SUITE [ARCH]]
# Unpacks a Debian package's files into DIR, or, if it is called src:NAME, the
# upstream source that it is made from. An apt directory of our own is used, so
# neither root nor the machine's own sources are touched: SUITE (if given; a
# source needs it) replaces theirs, on the mirror that they name, and ARCH is
# another machine's architecture.
fetch() {
	local package=$1 dir=$2 suite=${3-} arch=${4-} apt=$cache/apt/${3:-own}-${4:-own}
	local key=/usr/share/keyrings/debian-archive-keyring.gpg mirror
	local -a get=(download "$package") conf=(-q -o APT::Sandbox::User=root
		-o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists"
		-o Dir::State::status=/dev/null -o "Dir::Cache=$apt/cache")

	[[ -e $dir ]] && return
	if [[ $suite ]]; then
		mirror=$(debian_mirror)
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
	fi || die "$package cannot be unpacked into $dir.new"
	rm -rf "$apt/download"
	mv "$dir.new" "$dir" || die "$dir.new cannot be renamed"
}
