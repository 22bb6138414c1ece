#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures training on GPUs of a Slurm cluster, with one rank for each GPU.
#
#   sbatch examples/jobs/slurm_gpu.sh --model resnet50 --batch-size 128
#
# slurm.sh shows how to open TensorBoard from your own computer.
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

# Threads for reading images and for operators on the CPU.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK

# Each rank sees all GPUs of its node and chooses one by its local rank. --gpus-per-task also works: each
# rank then sees one GPU, as cuda:0.
srun --cpu-bind=cores --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  "$program" --log-dir "$run" --image-size 224 "$@"
