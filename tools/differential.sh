#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Searches for event files that TensorBoard and Steptape read differently (tests/interop/loader_fuzz.py tells how), and
# for traces that Steptape reads or converts wrong (tests/interop/trace_fuzz.py).
#
#   tools/differential.sh [SECONDS [SEED]]     default: 60 seconds each with seed 1
#
# Findings are printed with the smallest run that has them. The same seed gives the same runs.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

readonly usage="usage: tools/differential.sh [SECONDS [SEED]]"
seconds=${1:-60}
seed=${2:-1}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "SECONDS: got '$seconds'; expected a positive integer; $usage"
[[ $seed =~ ^[0-9]+$ ]] || die "SEED: got '$seed'; expected an integer; $usage"

settings=$(tools/setup.sh --tests)
eval "$settings"
configure release
build release steptape
build release steptape_python || say "the Python module is not built, and not compared"
folder=$(build_folder release)
export PYTHONPATH=$folder/python
export STEPTAPE_TOOL=$folder/bin/steptape
status=0
"$STEPTAPE_PYTHON" tests/interop/loader_fuzz.py --seconds "$seconds" --seed "$seed" || status=$?
"$STEPTAPE_PYTHON" tests/interop/trace_fuzz.py --seconds "$seconds" --seed "$seed" || status=$?

# The successor of HolisticTraceAnalysis, which has the same module.
PYTHONPATH=$root/.cache/traceinsight:$PYTHONPATH \
  "$STEPTAPE_PYTHON" tests/interop/trace_fuzz.py --seconds "$seconds" --seed "$seed" || status=$?
exit "$status"
