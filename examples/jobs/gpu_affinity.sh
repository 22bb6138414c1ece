#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gives a rank one GPU of its node, and starts the program. For launchers that do not assign GPUs, such as
# mpiexec of PALS:
#
#   mpiexec -n 8 --ppn 4 --depth 8 --cpu-bind depth examples/jobs/gpu_affinity.sh PROGRAM ARGUMENT...
#
# GPUS are the GPUs of a node, in the order of the cores next to them. The default is the order of Polaris,
# where GPU 3 is next to the cores of the first rank; `nvidia-smi topo -m` shows the order of other nodes.
set -euo pipefail

read -r -a gpus <<<"${GPUS:-3 2 1 0}"
local_rank=${PALS_LOCAL_RANKID:-${PMI_LOCAL_RANK:-${OMPI_COMM_WORLD_LOCAL_RANK:-}}}
if [[ -z $local_rank ]]; then
  echo "gpu_affinity.sh: got no PALS_LOCAL_RANKID, PMI_LOCAL_RANK or OMPI_COMM_WORLD_LOCAL_RANK;" \
    "expected a launcher that sets one of them" >&2
  exit 1
fi

export CUDA_VISIBLE_DEVICES=${gpus[local_rank % ${#gpus[@]}]}
exec "$@"
