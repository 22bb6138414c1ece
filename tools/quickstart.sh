#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh machine to a trained network in TensorBoard: sets up, builds Release, trains the
# Fashion-MNIST example for one epoch on two MPI ranks, and prints the command that shows it.
# Arguments are passed to the example, for example --epochs 3.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

settings=$(tools/setup.sh)
eval "$settings"
is_new=1
if [[ -f $(build_folder release)/build.ninja ]]; then is_new=0; fi
data=$(tools/get_data.sh)
configure release
build release fashion_mnist steptape
programs=$(build_folder release)/bin
# The one that starts programs of the MPI which was found; another may be first on PATH.
mpiexec=$(cached release MPIEXEC_EXECUTABLE)
problem=$(cached release STEPTAPE_MPIEXEC_PROBLEM)
[[ -z $problem ]] || die "$problem"

# A second run gets its own folder, so that TensorBoard shows two curves instead of one mixed curve.
log_dir=runs/fashion_mnist
if [[ -e $log_dir ]]; then log_dir=${log_dir}_$(date +%b%d_%H-%M-%S); fi

say "training on 2 ranks into $log_dir"
# By default Open MPI rejects root and more ranks than cores, and 5 says on hosts with IPv6 that its ranks do not reach each
# other, although they do. Other MPIs ignore these variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_reachable=weighted
options=()
if [[ $("$mpiexec" --version) =~ OpenRTE|"Open MPI"|PRRTE ]]; then options=(--map-by :oversubscribe); fi
"$mpiexec" "${options[@]}" -n 2 "$programs"/fashion_mnist \
  --data "$data" --epochs 1 --log-dir "$log_dir" --json "$@"

"$programs"/steptape inspect "$log_dir"
record_run tools/quickstart.sh "$(build_folder release)" trained $((is_new ? SECONDS : 0))
tensorboard=$(command -v tensorboard || echo "$(dirname "$STEPTAPE_PYTHON")/tensorboard")
printf '\nLook at it:\n  %s --logdir runs\n' "${tensorboard#"$root"/}"
