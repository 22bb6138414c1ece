#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the tests. It ends with the output of failed tests and a line that counts all:
# "N passed, N failed".
#
#   tools/test.sh                 every test of the full build
#   tools/test.sh --quick         without the slow ones: memory, examples, failing jobs, packages, TensorBoard
#   tools/test.sh --sanitizers    the core under ASan+UBSan and under TSan
#   tools/test.sh --all           the full build, with its benchmarks and each public header by itself,
#                                 the core as shared libraries, and the sanitizers
#   tools/test.sh --torch RELEASE every test of the full build on this LibTorch, such as 2.15.0 or `debian`
#   tools/test.sh --mpi MPI       the tests that start ranks with mpiexec on another MPI: mpich, openmpi5 or intel; without
#                                 LibTorch
#   tools/test.sh --slurm         jobs in a real Slurm of two nodes, which runs on this machine; needs root
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

command="tools/test.sh${*:+ $*}"
presets=(release)
release_targets=(all)
ctest_arguments=()
setup_arguments=(--tests)
mpi=
case ${1:-} in
  '') ;;
  --quick)
    release_targets=(quick_tests)
    ctest_arguments=(--label-exclude slow)
    ;;
  --sanitizers) presets=(asan tsan) ;;
  --all)
    presets=(ci core-shared asan tsan)
    release_targets+=(benchmarks all_verify_interface_header_sets)
    ;;
  --torch) export STEPTAPE_TORCH=${2:?tools/test.sh --torch needs a release, such as 2.15.0, or debian} ;;
  --mpi)
    mpi=${2:?tools/test.sh --mpi needs an MPI: mpich, openmpi5 or intel}
    export STEPTAPE_TORCH=none
    release_targets=(mpi_tests)
    ctest_arguments=(--label-regex '^mpi$')
    setup_arguments=()
    ;;
  --slurm) ;;
  *) die "argument: got '$1'; expected --quick, --sanitizers, --all, --torch RELEASE, --mpi MPI or --slurm; usage: tools/test.sh [--quick | --sanitizers | --all | --torch RELEASE | --mpi MPI | --slurm]" ;;
esac

settings=$(tools/setup.sh "${setup_arguments[@]}")
eval "$settings"
if [[ -n $mpi ]]; then
  settings=$(tools/mpi.sh "$mpi")
  eval "$settings"
fi

passed=0
failed=0
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT

# failed_tests <log of ctest>: the line and the end of the output of each failed test
failed_tests() {
  awk -v most=60 '
    function tell(   i) {
      for (i = lines > most ? lines - most : 0; i < lines; ++i) print said[i]
      lines = 0
    }
    /^ *[0-9]+\/[0-9]+ Test +#|^ +Start +[0-9]+: |^[0-9]+% tests passed/ {tell(); failing = 0}
    /^ *[0-9]+\/[0-9]+ Test +#.*\*\*\*/ {print; failing = 1; next}
    failing {said[lines++] = $0}
    END {tell()}
  ' "$1"
}

# make_preset <preset> [target ...]: configures and builds. It keeps the output, except in a terminal: there ninja
# updates one line, which would become a thousand lines in a pipe.
make_preset() {
  local log
  log=$(build_folder "$1")/build.log
  mkdir -p "${log%/*}"
  if [[ -t 2 ]]; then
    : >"$log"
    configure "$1" && build "$@"
  else
    { configure "$1" && build "$@"; } 2>&1 | tee "$log" >&2
  fi
}

# failed_steps <log of a build>: the errors of compilers and linkers, or the end of the log, and how much room there is:
# a full disk leaves no error, because the log itself is cut off.
failed_steps() {
  local errors free
  errors=$(grep -E -A 2 '(^|: )(fatal )?error: |^CMake Error|undefined reference' "$1" | cut -c 1-400 | head -n 40 || true)
  if [[ -z $errors ]]; then errors=$(tail -n 10 "$1" | cut -c 1-400); fi
  free=$(df --output=avail --block-size=1M "$1" | tail -n 1)
  printf '%s\n%s\n' "$errors" "free space on the disk: ${free// /} MB"
}

# run_preset <preset>: adds its tests to the counts. A failed build counts as one failed test.
run_preset() {
  local preset=$1 start=$SECONDS folder log
  folder=$(build_folder "$preset")
  log=$folder/tests.log
  local is_new=1
  if [[ -f $folder/build.ninja ]]; then is_new=0; fi
  local targets=() arguments=("${ctest_arguments[@]}") summary total broken
  case $preset in
    release | ci) targets=("${release_targets[@]}") ;;
    # The slow tests check files and packages, which sanitizers do not affect.
    asan | tsan)
      targets=(quick_tests)
      arguments=(--label-exclude slow)
      ;;
  esac
  if ! make_preset "$preset" "${targets[@]}"; then
    say "${folder#"$root"/} does not build"
    { echo "$preset: does not build" && failed_steps "$folder/build.log"; } >>"$failures"
    failed=$((failed + 1))
    return
  fi
  # Two more than there are cores, because many tests wait: for a browser, for a rank, for a child.
  ctest --preset "$preset" --test-dir "$folder" --parallel $(($(nproc) + 2)) "${arguments[@]}" | tee "$log" || true
  # "98% tests passed, 1 tests failed out of 57"; from CMake 4 on "100% tests passed out of 57".
  summary=$(grep -E '^[0-9]+% tests passed(, [0-9]+ tests failed)? out of [0-9]+$' "$log" || true)
  if [[ -z $summary ]]; then
    say "ctest of ${folder#"$root"/} did not finish"
    echo "$preset: ctest did not finish" >>"$failures"
    failed=$((failed + 1))
    return
  fi
  total=${summary##* }
  broken=0
  if [[ $summary =~ ([0-9]+)\ tests\ failed ]]; then broken=${BASH_REMATCH[1]}; fi
  passed=$((passed + total - broken))
  failed=$((failed + broken))
  if ((broken > 0)); then
    say "$preset: tests failed; $log has their complete output"
    { echo "$preset:" && failed_tests "$log"; } >>"$failures"
  fi
  say "$preset: $((total - broken)) passed, $broken failed, in $((SECONDS - start)) s"
  record_run "$command${presets[1]:+ ($preset)}" "$folder" "$((total - broken)) of $total tests passed" \
    $((is_new ? SECONDS - start : 0))
}

# run_in_slurm: as root, because only root may start nodes
run_in_slurm() {
  local slurm=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge libpmix2)
  dpkg --status "${slurm[@]}" >/dev/null 2>&1 || install_packages "${slurm[@]}"
  make_preset release
  as_root env STEPTAPE_BIN="$(build_folder release)/bin" tools/slurm.sh python3 tests/slurm/slurm_test.py
}

if [[ ${1:-} == --slurm ]]; then
  run_in_slurm
  exit
fi
for preset in "${presets[@]}"; do
  run_preset "$preset"
done
cat "$failures"
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
