#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the static tool as root in a root directory with only the tool and an event file: no shell, no library, no
# /proc.
#
#   tests/packages/run_static_tool.sh <tarball>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tools/common.sh
source "$here/../../tools/common.sh"

tarball=${1:?usage: tests/packages/run_static_tool.sh <tarball>}
((EUID == 0)) || die "user: got $(id -un); expected root, because a bare system is a chroot"

system=$(mktemp -d)
trap 'rm -rf "$system"' EXIT
mkdir "$system/unpacked"
tar -C "$system/unpacked" -xzf "$tarball" --strip-components=1
mv "$system/unpacked/bin/steptape" "$system/steptape"
rm -r "$system/unpacked"
cp "$root/tests/golden/torch.tfevents" "$system/torch.tfevents"

# run <path in the root directory> [argument ...]: without this machine's environment
run() { env -i "$(command -v chroot)" "$system" "$@"; }

version=$(run /steptape --version)
[[ ${tarball##*/} == "steptape-${version##* }-"* ]] ||
  die "static tool: got version '$version'; expected that of ${tarball##*/}"
run /steptape inspect /torch.tfevents | grep scalar >/dev/null ||
  die "the static tool does not inspect tests/golden/torch.tfevents"
run /steptape export /torch.tfevents --output /export.json ||
  die "the static tool does not export tests/golden/torch.tfevents"
say "the static tool runs in a bare system: $version"
