#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH: when one rank leaves by exit(0) before MPI_Finalize(), mpiexec kills the others and returns 0 or 9, by chance.
#
# Believed: a launcher that kills ranks says so by its exit code. Seen: of the same job, some runs return 0, as if all
# had gone well, and others 9; with exit(3), some return 3 and others 9. In all of them the other ranks are killed:
# none reaches its last line. So a script that checks the exit code takes some dead jobs for finished ones.
#
# Versions: mpich 5.0.2 from PyPI; the same with Debian's MPICH 4.0.2. Needs python3 with venv, a C compiler and
# network access. Fails if that changes: if the code is always the same, or if a rank survives.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet mpich==5.0.2
export PATH=$folder/venv/bin:$PATH

cat >"$folder/job.c" <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) exit(atoi(argv[1]));
  sleep(20);
  printf("rank %d has reached its last line\n", rank);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
C
mpicc "$folder/job.c" -o "$folder/job"
mpiexec --version | grep -m 1 Version

runs=40
for code in 0 3; do
  seen=()
  for ((i = 0; i < runs; ++i)); do
    status=0
    output=$(mpiexec -n 3 "$folder/job" "$code" 2>/dev/null) || status=$?
    if [[ $output == *"last line"* ]]; then
      echo "changed: a rank survived the exit of another one"
      exit 1
    fi
    seen+=("$status")
  done
  counts=$(printf '%s\n' "${seen[@]}" | sort -n | uniq -c | awk '{printf "%s%s in %s runs", sep, $2, $1; sep = ", "}')
  echo "rank 1 calls exit($code): mpiexec returned $counts; the other ranks were killed in all of them"
  if [[ $(printf '%s\n' "${seen[@]}" | sort -nu | tr '\n' ' ') != "$code 9 " ]]; then
    echo "changed: expected $code in some runs and 9 in others"
    exit 1
  fi
done
