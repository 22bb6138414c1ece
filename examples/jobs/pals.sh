#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures training on the GPUs of an HPE Cray with PBS, where mpiexec of PALS starts the ranks, such as Polaris.
#
#   qsub -A PROJECT examples/jobs/pals.sh      # from the directory with build/
#
# pbs.sh shows how to continue after the time limit, and how to open TensorBoard from your own computer.
#
#PBS -N steptape-pals
#PBS -l select=2:system=polaris
#PBS -l place=scatter
#PBS -l walltime=00:30:00
#PBS -l filesystems=home:eagle
#PBS -q debug
#PBS -j oe
set -euo pipefail
cd "$PBS_O_WORKDIR"

program=${PROGRAM:-build/release/bin/imagenet_benchmark}
run=${RUN:-runs/imagenet_${PBS_JOBID%%.*}}

# A node of Polaris has 32 cores and 4 GPUs. A node of Aurora has 104 cores, and GPUs that Steptape does not use;
# set RANKS_PER_NODE=8, CORES_PER_RANK=13 and an empty WRAPPER there, and change the #PBS lines.
ranks_per_node=${RANKS_PER_NODE:-4}
cores_per_rank=${CORES_PER_RANK:-8}
wrapper=${WRAPPER-examples/jobs/gpu_affinity.sh}
nodes=$(sort -u "$PBS_NODEFILE" | wc -l)

# README.md says why. PBS has set OMP_NUM_THREADS to the cores of the node.
export OMP_NUM_THREADS=$cores_per_rank OMP_PLACES=cores OMP_PROC_BIND=close
export MPICH_MAX_THREAD_SAFETY=multiple

# PALS passes the environment on. Each rank gets --depth cores of its own, and a GPU from the wrapper.
mpiexec -n $((nodes * ranks_per_node)) --ppn "$ranks_per_node" --depth "$cores_per_rank" --cpu-bind depth \
  ${wrapper:+"$wrapper"} "$program" --log-dir "$run" "$@"
