#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on a Flux cluster, and continues in a new job after the time limit.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   flux batch examples/jobs/flux.sh       # from the directory with build/ and data/
#
# To watch the run, start this on your own computer and open http://localhost:6006 there:
#
#   ssh -L 6006:localhost:6006 you@login-node tensorboard --logdir FOLDER/runs --port 6006
#
#FLUX: --job-name=steptape
#FLUX: --nodes=2
#FLUX: --exclusive
#FLUX: --time-limit=60m
#FLUX: --output=steptape-{{id}}.log
set -euo pipefail

program=${PROGRAM:-build/release/bin/cifar10}
data=${DATA:-data/cifar-10-batches-bin}
run=${RUN:-runs/cifar10}
# The program writes a checkpoint and stops two minutes before the time limit above.
seconds=${SECONDS_TO_RUN:-3480}

if [[ ! -f $data/test_batch.bin ]]; then
  echo "DATA: got $data, without test_batch.bin; expected CIFAR-10's binary files;" \
    "on the login node run: tools/get_data.sh cifar10" >&2
  exit 1
fi

nodes=$(flux resource list --states=up --no-header --format='{nnodes}')
ranks_per_node=${RANKS_PER_NODE:-4}
cores_per_rank=${CORES_PER_RANK:-8}
gpus=()
if [[ -n ${GPUS_PER_RANK:-} ]]; then  # 1 on nodes with a GPU for each rank
  gpus=(-g "$GPUS_PER_RANK")
fi

# Each rank is bound to its own cores, which its threads share.
export OMP_NUM_THREADS=$cores_per_rank OMP_PLACES=cores OMP_PROC_BIND=close

# per-task gives each rank its own cores, and shows it only its own GPU, as cuda:0.
started=$SECONDS
flux run -N "$nodes" -n $((nodes * ranks_per_node)) -c "$cores_per_rank" "${gpus[@]}" \
  -o cpu-affinity=per-task -o gpu-affinity=per-task \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume \
  --max-seconds "$seconds" "$@"

if ((SECONDS - started >= seconds)); then
  echo "time limit reached: continuing in a new job"
  # This script runs in a Flux instance of its own. The new job goes to the instance around it.
  flux --parent batch "${JOB_SCRIPT:-examples/jobs/flux.sh}"
fi
