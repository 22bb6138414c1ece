#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the core and the tool for AArch64 on a Debian of another architecture, and runs the core's tests in QEMU.
# Arguments are passed to ctest:
#
#   tools/cross.sh                  all tests
#   tools/cross.sh -R Crc32c        some tests
#
# It omits tests that start the tool or Python: QEMU runs only the given program. The system, which has another
# processor, would run the programs that it starts.
#
# The libraries for AArch64 are unpacked from Debian's packages into build/sysroot/aarch64. On this machine only the
# cross compiler and QEMU are installed.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly sysroot=$root/build/sysroot/aarch64
readonly programs=(
  base_test tfrecord_test event_test summary_test reader_test run_reader_test writer_test exporter_test
  checker_test trace_test span_test comm_test distributed_test profile_test testing_test
  server_store_test server_provider_test http2_test grpc_test
)
readonly libraries=(
  libc6-dev libstdc++-12-dev libprotobuf-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libfmt-dev
  libgtest-dev libgmock-dev libpng-dev libjpeg-dev libnghttp2-dev
)

# fill_sysroot: unpacks the libraries and their dependencies, by an apt with its own state in build/sysroot/apt
fill_sysroot() {
  local state=$root/build/sysroot/apt archive link
  rm -rf "$sysroot" "$state"
  mkdir -p "$sysroot/usr/lib" "$state/lists/partial" "$state/archives/partial"
  touch "$state/status"
  # The packages use the old names of folders that were merged into /usr.
  ln -s usr/lib "$sysroot/lib"
  local options=(
    -q -y
    -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Install-Recommends=false
    -o "Dir::State::lists=$state/lists" -o "Dir::State::status=$state/status"
    -o "Dir::Cache::archives=$state/archives" -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o "APT::Sandbox::User=$(id -un)"
  )
  with_progress "fetching the package lists of arm64" apt-get "${options[@]}" update || return 1
  with_progress "fetching the libraries for arm64" \
    apt-get "${options[@]}" --download-only install "${libraries[@]}" || return 1
  for archive in "$state"/archives/*.deb; do
    dpkg-deb -x "$archive" "$sysroot" || return 1
  done
  rm -r "$state"
  while IFS= read -r -d '' link; do
    ln -sfnr "$sysroot$(readlink "$link")" "$link"
  done < <(find "$sysroot" -type l -lname '/*' -print0)
  touch "$sysroot/complete"
}

settings=$(tools/setup.sh)
eval "$settings"
missing=()
command -v aarch64-linux-gnu-g++ >/dev/null || missing+=(g++-aarch64-linux-gnu)
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
if ((${#missing[@]})); then install_packages "${missing[@]}" || die "cross compiler or QEMU: not installed; see the missing packages above"; fi
[[ -f $sysroot/complete ]] || fill_sysroot || die "libraries for AArch64: could not be fetched, see above; delete build/sysroot and run again"

CXX=aarch64-linux-gnu-g++ configure aarch64
build aarch64 steptape steptape_data_server "${programs[@]}"
names=$(IFS='|' && echo "${programs[*]}")
# The caller's -R overrides this one.
ctest --preset aarch64 --parallel "$(nproc)" --tests-regex "^($names)\\." "$@"
