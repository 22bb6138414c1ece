#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how a program scales from 1 to 16 ranks in one allocation.
#
#   sbatch examples/jobs/slurm_scaling.sh
#
#SBATCH --job-name=steptape-scaling
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#SBATCH --output=steptape-%j.log
set -euo pipefail

folder=${PROGRAMS:-build/release/bin}
run=${RUN:-runs/scaling_$SLURM_JOB_ID}

# --exact gives a job step only the cores that its ranks need, so that only the number of ranks differs.
"$folder/scaling_study" --ranks 1,2,4,8,16 --threads "$SLURM_CPUS_PER_TASK" --log-dir "$run" \
  --launcher "srun --exact --cpu-bind=cores --cpus-per-task=$SLURM_CPUS_PER_TASK -n {ranks}" "$@"
