#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the static tool and data server as root in a root directory with only them and an event file: no shell, no library, no
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
mv "$system/unpacked/bin/"* "$system"
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
mkfifo "$system/stdin"
run /steptape-data-server --logdir=/ --port=0 --port-file=/port --die-after-stdin <"$system/stdin" >&2 &
exec 3>"$system/stdin"
until [[ -s $system/port ]]; do
  kill -0 $! 2>/dev/null || die "the static data server does not start"
  sleep 0.1
done
exec 3>&-
wait $! || die "the static data server: got exit code $?; expected 0 when its stdin ends"
say "the static tool runs in a bare system: $version"
