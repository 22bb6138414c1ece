#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what a job costs by its number of ranks, and the rule by which each count grows.

    python3 benchmarks/ranks.py build/release [--ranks 8 64 128 512] [--processes 2 8 32 64]

No figure is a time, so none depends on the machine. Ranks are threads of one process, whose transport and store count,
or processes of MPI on this machine, which also have files in memory. Columns of ranks are counts. The rule is found from
the counts of the smallest and the largest job and must fit the others; the last column follows from it. The exit code is
1 if a count follows none of the rules.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile


def main():
    arguments = parse()
    program = os.path.join(arguments.build, "bin", "ranks_benchmark")
    per_node = arguments.ranks_per_node
    threads = {ranks: run([program, "threads", str(ranks), str(per_node)])
               for ranks in arguments.ranks}
    store = {ranks: run([program, "store", str(ranks), str(per_node)])
             for ranks in arguments.ranks}
    processes = {ranks: mpi(program, ranks) for ranks in arguments.processes}
    fits = [
        report(f"Ranks as threads, {per_node} on a node", threads, arguments.target),
        report(f"The start without MPI, {per_node} ranks on a node", store, arguments.target),
        report("Processes of MPI", only(processes, False), arguments.target),
        report("Processes of MPI on one node", only(processes, True), per_node),
    ]
    if arguments.gloo:
        gloo = {ranks: by_torchrun(program, ranks) for ranks in arguments.gloo}
        fits.append(report("Processes of torchrun, each a node of its own", gloo, arguments.target))
    sys.exit(0 if all(fits) else 1)


def only(by_size, of_node):
    """The counts of what a node has, or the others."""
    return {size: {key: count for key, count in counts.items()
                   if (key[0].startswith("node: ")) == of_node} for size, counts in by_size.items()}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, such as build/release")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 64, 128, 512])
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 8, 32, 64])
    parser.add_argument("--gloo", type=int, nargs="+", metavar="RANKS", default=[],
                        help="also as processes without MPI; needs a build with LibTorch and gloo")
    parser.add_argument("--ranks-per-node", type=int, default=8)
    parser.add_argument("--target", type=int, default=8000, help="ranks of the job to predict")
    return parser.parse_args()


def run(command, **options):
    """The counts that a program prints, by phase and name."""
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                            timeout=600, **options).stdout
    counts = {}
    for line in output.splitlines():
        phase = json.loads(line)
        name = phase.pop("phase")
        counts.update({(name, key): number for key, number in phase.items()})
    return counts


def mpi(program, ranks):
    # Boxes of other programs are elsewhere.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        environment = dict(os.environ, STEPTAPE_BLACK_BOX=folder, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1",
                           OMPI_MCA_hwloc_base_binding_policy="none")
        return run(["mpiexec", "-n", str(ranks), program, "mpi"], env=environment)


def by_torchrun(program, ranks):
    """The counts of processes that have the variables that torchrun sets."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    others = [subprocess.Popen([program, "gloo"], env=dict(os.environ, RANK=str(rank), **variables))
              for rank in range(1, ranks)]
    counts = run([program, "gloo"], env=dict(os.environ, RANK="0", **variables))
    for process in others:
        process.wait()
    return counts


def report(title, by_size, target):
    """Prints the counts of each number of ranks. Returns whether all follow a rule."""
    sizes = list(by_size)
    print(f"\n{title}\n")
    print("| what | count | " + " | ".join(f"{size} ranks" for size in sizes) +
          f" | rule | {target} ranks |")
    print("|---|---|" + "--:|" * len(sizes) + "---|--:|")
    follow = True
    for what, name in by_size[sizes[0]]:
        counts = [by_size[size][what, name] for size in sizes]
        if any(counts):
            rule, predicted = rule_of(sizes, counts, target)
            follow = follow and rule is not None
            print(f"| {what} | {name} | " + " | ".join(f"{count:,}" for count in counts) +
                  f" | {rule or 'NONE FITS'} | {predicted} |")
    return follow


def rule_of(sizes, counts, target):
    """The first rule that fits, and what it says for `target` ranks."""
    slope = (counts[-1] - counts[0]) / (sizes[-1] - sizes[0])
    start = counts[0] - slope * sizes[0]
    if slope == 0 and len(set(counts)) == 1:
        return "the same", f"{counts[0]:,}"
    if fits(sizes, counts, lambda size: start + slope * size):
        return f"{start:,.0f} + {slope:,.0f} for each rank", f"{start + slope * target:,.0f}"
    each = [count / size for size, count in zip(sizes, counts)]
    if each == sorted(each, reverse=True):
        return f"at most {each[0]:,.0f} for each rank", f"at most {each[0] * target:,.0f}"
    curve = (each[-1] - each[0]) / (sizes[-1] - sizes[0])
    first = each[0] - curve * sizes[0]
    if fits(sizes, counts, lambda size: (first + curve * size) * size, 0.1):
        return (f"for each rank {first:,.0f} + {curve:,.2f} for each rank",
                f"{(first + curve * target) * target:,.0f}")
    return None, ""


def fits(sizes, counts, expected, tolerance=0.05):
    """Whether no count differs by more than the tolerance from the expected one."""
    return all(abs(expected(size) - count) <= tolerance * max(count, 1)
               for size, count in zip(sizes, counts))


if __name__ == "__main__":
    main()
