#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on CPUs of a Slurm cluster, and goes on in a new job where the time limit ended this one.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   sbatch examples/jobs/slurm.sh          # from the folder that holds build/ and data/
#
# Look at it while it runs, from your own computer, and open http://localhost:6006 there:
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
# Two minutes before the limit this script gets SIGTERM; see the trap below.
#SBATCH --signal=B:TERM@120
set -euo pipefail

program=${PROGRAM:-build/release/bin/cifar10}
data=${DATA:-data/cifar-10-batches-bin}
run=${RUN:-runs/cifar10}

if [[ ! -f $data/test_batch.bin ]]; then
  echo "no CIFAR-10 in $data; on the login node run: tools/get_data.sh cifar10" >&2
  exit 1
fi

# LibTorch takes the number of threads from SLURM_CPUS_PER_TASK by itself. Intel's OpenMP binds them
# to cores, and lets them sleep at once when they wait, so that they take no core from another rank.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
export KMP_AFFINITY=granularity=fine,compact,1,0
export KMP_BLOCKTIME=0

# Each rank gets the signal, not this script alone: they finish their step, write a checkpoint and end
# with exit code 0.
stopped=0
trap 'stopped=1; scancel --signal=TERM "$SLURM_JOB_ID"' TERM

# In the background: a shell runs a trap only while it does not wait for a program in front.
srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume "$@" &
job=$!
status=0
wait "$job" || status=$?
if ((stopped && status > 128)); then  # The signal ended the wait, and not the job.
  status=0
  wait "$job" || status=$?
fi

if ((stopped && status == 0)); then
  echo "out of time: goes on in a new job"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
