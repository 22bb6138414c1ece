#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of build/release under the conditions of other machines: other instruction sets, one core, a busy
# machine, and another user with another language in another folder. It takes hours.
#
#   tools/sweep.sh                      every condition
#   tools/sweep.sh busy one-core        some conditions; --list prints all
#   STEPTAPE_SWEEP_TESTS='-R torch_'    arguments for ctest, to run some tests only
#
# `stranger` adds a user and needs root. The last line counts conditions.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly conditions=(aten-default aten-avx2 onednn-sse41 onednn-avx2 one-core busy stranger)
read -r -a chosen_tests <<<"${STEPTAPE_SWEEP_TESTS:-}"

# run_tests <command or environment> ...: runs ctest under it
run_tests() {
  "$@" ctest --preset release "${chosen_tests[@]}"
}

# Runs the tests while every core is busy.
run_busy() {
  local spinners=() status=0
  for ((i = 0; i < $(nproc); ++i)); do
    (while :; do :; done) &
    spinners+=($!)
  done
  run_tests env || status=$?
  kill "${spinners[@]}"
  wait "${spinners[@]}" 2>/dev/null || true
  return "$status"
}

# Builds and tests a clone in a folder with a space and an umlaut, as a user without privileges, in a Turkish locale,
# in which "i" has another capital, and in a time zone that is not a whole hour from UTC.
run_stranger() {
  local user=steptape-stranger home folder settings
  ((EUID == 0)) || die "stranger: got user $(id -un); expected root, because it adds a user"
  if ! locale -a | grep -qi '^tr_TR.utf-\?8$'; then
    install_packages locales && localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 || return 1
  fi
  /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv || return 1
  id "$user" >/dev/null 2>&1 || useradd --create-home "$user"
  home=$(getent passwd "$user" | cut -d : -f 6)
  folder="$home/Übungen und Versuche/steptape"
  rm -rf "$home/Übungen und Versuche"
  mkdir -p "${folder%/*}"
  git clone -q "$root" "$folder" || return 1
  chown -R "$user": "${folder%/*}"
  # Keeps this machine's sources of packages.
  settings=$(settings_of_this_machine | paste -s -d ,)
  su - "$user" ${settings:+-w "$settings"} -s /bin/bash -c "cd '$folder' && export LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 \
    TZ=Asia/Kathmandu && time tools/quickstart.sh && time tools/test.sh"
}

run_condition() {
  case $1 in
    aten-default) run_tests env ATEN_CPU_CAPABILITY=default ;;
    aten-avx2) run_tests env ATEN_CPU_CAPABILITY=avx2 ;;
    onednn-sse41) run_tests env ONEDNN_MAX_CPU_ISA=SSE41 ;;
    onednn-avx2) run_tests env ONEDNN_MAX_CPU_ISA=AVX2 ;;
    one-core) run_tests taskset -c 0 ;;
    busy) run_busy ;;
    stranger) run_stranger ;;
    *) die "condition: got '$1'; expected one that --list prints" ;;
  esac
}

if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${conditions[@]}"
  exit
fi
chosen=("$@")
if ((${#chosen[@]} == 0)); then chosen=("${conditions[@]}"); fi

mkdir -p build/sweep
passed=0
failed=0
for condition in "${chosen[@]}"; do
  log=build/sweep/$condition.log
  start=$SECONDS
  if (run_condition "$condition") >"$log" 2>&1; then
    passed=$((passed + 1))
    outcome=passed
  else
    failed=$((failed + 1))
    outcome="FAILED, see $log"
  fi
  say "$condition: $outcome, in $((SECONDS - start)) s: $(grep -E 'tests passed|passed, [0-9]+ failed' "$log" | tail -n 1)"
  grep -E '^[[:space:]]+[0-9]+ - .*\((Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run)\)' "$log" >&2 || true
done
echo "$passed passed, $failed failed"
((failed == 0))
