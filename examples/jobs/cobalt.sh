#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on nodes of a Cray under Cobalt, where aprun starts the ranks.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   qsub examples/jobs/cobalt.sh           # from the folder that holds build/ and data/
#
# Look at it while it runs, from your own computer, and open http://localhost:6006 there:
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
# Two minutes before the limit above: the program writes a checkpoint and stops by itself.
seconds=${SECONDS_TO_RUN:-3480}

if [[ ! -f $data/test_batch.bin ]]; then
  echo "no CIFAR-10 in $data; on the login node run: tools/get_data.sh cifar10" >&2
  exit 1
fi

ranks_per_node=4
cores_per_rank=16   # 64 cores
threads_per_core=1  # of up to 4 on Xeon Phi
threads=$((cores_per_rank * threads_per_core))

# -cc depth gives each rank the cores that -d counts, within which its threads are free to go: so
# OpenMP must not bind them as well (KMP_AFFINITY=none). -j: threads on one core. KMP_BLOCKTIME=0:
# threads that wait sleep at once.
aprun -n $((COBALT_JOBSIZE * ranks_per_node)) -N "$ranks_per_node" \
  -cc depth -d "$threads" -j "$threads_per_core" \
  -e OMP_NUM_THREADS="$threads" -e KMP_AFFINITY=none -e KMP_BLOCKTIME=0 \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume \
  --max-seconds "$seconds" "$@"
