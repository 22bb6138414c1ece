#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on the nodes of a Cray with Cobalt, where aprun starts the ranks.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   qsub examples/jobs/cobalt.sh           # from the directory with build/ and data/
#
# To watch the run, start this on your own computer and open http://localhost:6006 there:
#
#   ssh -L 6006:localhost:6006 you@login-node tensorboard --logdir FOLDER/runs --port 6006
#
#COBALT -n 2
#COBALT -t 60
#COBALT -q default
#COBALT --jobname steptape
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

ranks_per_node=4
cores_per_rank=16   # 64 cores
threads_per_core=1  # of up to 4 on Xeon Phi
threads=$((cores_per_rank * threads_per_core))

# -cc depth gives each rank as many cores as -d says, and its threads may move among them. OpenMP must
# therefore not bind them (KMP_AFFINITY=none). -j is the number of threads on one core. With
# KMP_BLOCKTIME=0 waiting threads sleep at once.
aprun -n $((COBALT_JOBSIZE * ranks_per_node)) -N "$ranks_per_node" \
  -cc depth -d "$threads" -j "$threads_per_core" \
  -e OMP_NUM_THREADS="$threads" -e KMP_AFFINITY=none -e KMP_BLOCKTIME=0 \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume \
  --max-seconds "$seconds" "$@"
