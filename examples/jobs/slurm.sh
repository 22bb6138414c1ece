#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on CPUs of a Slurm cluster, and continues in a new job after the time limit.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   sbatch examples/jobs/slurm.sh          # from the directory with build/ and data/
#
# To watch the run, start this on your own computer and open http://localhost:6006 there:
#
#   ssh -L 6006:localhost:6006 you@login-node tensorboard --logdir FOLDER/runs --port 6006
#
#SBATCH --job-name=steptape
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --output=steptape-%j.log
#SBATCH --open-mode=append
#SBATCH --requeue
# Slurm sends SIGTERM to this script two minutes before the time limit; see the trap below.
#SBATCH --signal=B:TERM@120
set -euo pipefail

program=${PROGRAM:-build/release/bin/cifar10}
data=${DATA:-data/cifar-10-batches-bin}
run=${RUN:-runs/cifar10}

if [[ ! -f $data/test_batch.bin ]]; then
  echo "DATA: got $data, without test_batch.bin; expected CIFAR-10's binary files;" \
    "on the login node run: tools/get_data.sh cifar10" >&2
  exit 1
fi

# The program takes the number of threads from OMP_NUM_THREADS. The KMP_ variables make Intel's OpenMP
# bind threads to cores, and make waiting threads sleep at once, so that they block no other rank.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export KMP_AFFINITY=granularity=fine,compact,1,0
export KMP_BLOCKTIME=0

# Forwards the signal to all ranks. They finish their step, write a checkpoint and exit with code 0.
stopped=0
trap 'stopped=1; scancel --signal=TERM "$SLURM_JOB_ID"' TERM

# In the background, because a shell does not run traps while it waits for a foreground program.
srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume "$@" &
job=$!
status=0
wait "$job" || status=$?
if ((stopped && status > 128)); then  # The signal ended the wait, not the job.
  status=0
  wait "$job" || status=$?
fi

if ((stopped && status == 0)); then
  echo "time limit reached: continuing in a new job"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
