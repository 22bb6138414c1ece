#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures training on GPUs of a PBS Pro cluster, with one rank for each GPU.
#
#   qsub examples/jobs/pbs_gpu.sh              # from the directory with build/
#
# pbs.sh shows how to continue after the time limit, and how to open TensorBoard from your own computer.
#
#PBS -N steptape-gpu
#PBS -l select=2:ncpus=32:ngpus=4:mpiprocs=4:ompthreads=8
#PBS -l place=scatter:excl
#PBS -l walltime=00:30:00
#PBS -j oe
set -euo pipefail
cd "$PBS_O_WORKDIR"

program=${PROGRAM:-build/release/bin/imagenet_benchmark}
run=${RUN:-runs/imagenet_${PBS_JOBID%%.*}}

# Threads for reading images and for operators on the CPU; ompthreads above sets it on the first node.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-8}
ranks=$(wc -l <"$PBS_NODEFILE")

# Each rank sees all GPUs of its node and chooses one by its local rank. Open MPI; with Intel MPI or MPICH:
# mpiexec -n "$ranks" -ppn 4 -genvall ...
mpiexec -n "$ranks" --map-by "slot:PE=$OMP_NUM_THREADS" --bind-to core -x OMP_NUM_THREADS \
  "$program" --log-dir "$run" "$@"
