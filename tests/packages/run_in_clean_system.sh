#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs use_packages.sh in a minimal system of this machine's release, which has only the archive's packages and those
# in <folder>:
#
#   tests/packages/run_in_clean_system.sh <folder with .deb files>
#
# Needs root, debootstrap and network access. STEPTAPE_DEBIAN_MIRROR overrides debootstrap's default mirror.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/common.sh
source "$here/../../tools/common.sh"

packages=${1:?usage: tests/packages/run_in_clean_system.sh <folder with .deb files>}
((EUID == 0)) || die "user: got $(id -un); expected root, because a clean system is a chroot"
command -v debootstrap >/dev/null || die "debootstrap: not installed; install it: apt-get install debootstrap"
# shellcheck source=/dev/null
source /etc/os-release

system=$(mktemp -d)
# The mounts belong to the namespace below and end with it.
trap 'rm -rf --one-file-system "$system"' EXIT

options=(--variant=minbase)
if [[ $ID == ubuntu ]]; then options+=("--components=main,universe"); fi
with_progress "making a minimal $PRETTY_NAME" debootstrap "${options[@]}" "$VERSION_CODENAME" "$system" \
  ${STEPTAPE_DEBIAN_MIRROR:+"$STEPTAPE_DEBIAN_MIRROR"}
cp /etc/resolv.conf "$system/etc/resolv.conf"

mkdir -p "$system/test"
cp "$packages"/*.deb "$here/use_packages.sh" "$system/test"
cp -r "$root/tests/install" "$root/tests/golden" "$system/test"

# shellcheck disable=SC2016
unshare --mount --pid --fork bash -euc '
  mount -t proc proc "$1/proc"
  mount -t tmpfs tmpfs "$1/dev/shm" 2>/dev/null || { mkdir -p "$1/dev/shm" && mount -t tmpfs tmpfs "$1/dev/shm"; }
  exec chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 bash /test/use_packages.sh
' bash "$system"
