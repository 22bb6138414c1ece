#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures training on GPUs of a Slurm cluster: one rank for each GPU.
#
#   sbatch examples/jobs/slurm_gpu.sh --model resnet50 --batch-size 128
#
# The TensorBoard tunnel is in slurm.sh.
#
#SBATCH --job-name=steptape-gpu
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=00:30:00
#SBATCH --output=steptape-%j.log
set -euo pipefail

program=${PROGRAM:-build/release/bin/imagenet_benchmark}
run=${RUN:-runs/imagenet_$SLURM_JOB_ID}

# For the operators that stay on the CPU and for reading images.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK

# All GPUs of a node are visible to each of its ranks, which choose by their local rank. --gpus-per-task
# would leave each rank one that all of them call cuda:0, which works, too.
srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  "$program" --log-dir "$run" --image-size 224 "$@"
