#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Searches for inputs that break a reader: runs each fuzz target of tests/fuzz with libFuzzer, one after another.
#
#   tools/fuzz.sh [SECONDS]     for each target (default: 60)
#
# New inputs are in build/fuzz/found/<target>, and later runs continue from them. Inputs that crash a reader are in
# build/fuzz/crashes. Add such an input to tests/fuzz/corpus/<target>: every test run then replays it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "SECONDS: got '$seconds'; expected a positive integer; usage: tools/fuzz.sh [SECONDS]"

settings=$(tools/setup.sh)
eval "$settings"
command -v clang++ >/dev/null || install_packages clang || die "libFuzzer: got no clang++; install the package above"
# In Debian, Clang's runtime is a separate package.
has_libfuzzer() { [[ -n $(compgen -G "$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a") ]]; }
has_libfuzzer || install_packages "libclang-rt-$(clang++ -dumpversion | cut -d . -f 1)-dev" || die "libFuzzer: not found; install the package above"
configure fuzz
build fuzz

mkdir -p build/fuzz/crashes
passed=0
failed=0
for corpus in tests/fuzz/corpus/*/; do
  target=$(basename "$corpus")
  found=build/fuzz/found/$target
  mkdir -p "$found"
  if with_progress "fuzzing $target for $seconds s" "build/fuzz/bin/fuzz_$target" \
    -max_total_time="$seconds" -rss_limit_mb=4096 -artifact_prefix="build/fuzz/crashes/$target-" \
    "$found" "$corpus"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
