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
# shellcheck source=/dev/null
source /etc/os-release

system=$(mktemp -d)
trap 'rm -rf --one-file-system "$system"' EXIT
make_system "$VERSION_CODENAME" "$system"
mkdir -p "$system/test"
cp "$packages"/*.deb "$here/use_packages.sh" "$system/test"
cp -r "$root/tests/install" "$root/tests/golden" "$system/test"
in_system "$system" bash /test/use_packages.sh
