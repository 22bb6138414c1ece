#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Trains on CPUs of a PBS Pro cluster, and continues in a new job after the time limit.
#
#   tools/get_data.sh cifar10              # on the login node, which has internet
#   qsub examples/jobs/pbs.sh              # from the directory with build/ and data/
#
# To watch the run, start this on your own computer and open http://localhost:6006 there:
#
#   ssh -L 6006:localhost:6006 you@login-node tensorboard --logdir FOLDER/runs --port 6006
#
#PBS -N steptape
#PBS -l select=2:ncpus=32:mpiprocs=4:ompthreads=8
#PBS -l place=scatter:excl
#PBS -l walltime=01:00:00
#PBS -j oe
#PBS -r y
set -euo pipefail
cd "$PBS_O_WORKDIR"

program=${PROGRAM:-build/release/bin/cifar10}
data=${DATA:-data/cifar-10-batches-bin}
run=${RUN:-runs/cifar10}
# PBS leaves a few seconds between SIGTERM and the end, too few for a checkpoint. The program therefore
# stops two minutes before the walltime above.
seconds=${SECONDS_TO_RUN:-3480}

if [[ ! -f $data/test_batch.bin ]]; then
  echo "DATA: got $data, without test_batch.bin; expected CIFAR-10's binary files;" \
    "on the login node run: tools/get_data.sh cifar10" >&2
  exit 1
fi

# ompthreads above sets OMP_NUM_THREADS on the first node; the launcher forwards it. The KMP_ variables
# make Intel's OpenMP bind threads to cores, and make waiting threads sleep at once.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}
export KMP_AFFINITY=granularity=fine,compact,1,0
export KMP_BLOCKTIME=0
ranks=$(wc -l <"$PBS_NODEFILE")

# Open MPI. With Intel MPI or MPICH: mpiexec -n "$ranks" -ppn 4 -genvall ...
started=$SECONDS
mpiexec -n "$ranks" --map-by "slot:PE=$OMP_NUM_THREADS" --bind-to core \
  -x OMP_NUM_THREADS -x KMP_AFFINITY -x KMP_BLOCKTIME \
  "$program" --data "$data" --log-dir "$run" --checkpoint-dir "$run/checkpoints" --resume \
  --max-seconds "$seconds" "$@"

if ((SECONDS - started >= seconds)); then
  echo "time limit reached: continuing in a new job"
  qsub "${JOB_SCRIPT:-examples/jobs/pbs.sh}"
fi
