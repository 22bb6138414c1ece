#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What training on two ranks costs, as ratios of runs that take turns.

    python3 benchmarks/training.py build/release [--rounds 11] [--steps 200]

Every round runs, in an order that rotates: two plain LibTorch loops side by side, twice (the A/A
control), the example on 2 ranks with all its logging, and the example with --no-log. Each gives the
seconds of an epoch as it took its steps. Quote a ratio only from a run whose control holds.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from rounds import print_medians, report, rotate


def main():
    arguments = parse()
    programs = os.path.join(arguments.build, "bin")
    with tempfile.TemporaryDirectory() as folder:
        example = Example(programs, folder, arguments.steps)
        variants = {
            "two plain loops": lambda: plain_loops(programs, arguments.steps),
            "two plain loops again (A/A)": lambda: plain_loops(programs, arguments.steps),
            "2 ranks": lambda: example.run([]),
            "2 ranks, --no-log": lambda: example.run(["--no-log"]),
        }
        seconds = rotate(variants, arguments.rounds)
    plain, again, logged, silent = seconds.values()
    print_medians("Seconds of an epoch", seconds)
    report("plain / plain again", plain, again, control=(0.67, 1.5))
    report("2 ranks / two plain loops", logged, plain, at_most=1.25)
    report("2 ranks / 2 ranks --no-log", logged, silent, at_most=1.01)
    share = statistics.median(example.logging_shares)
    print(f"  {'of the epoch, spent in logging calls':52} {100 * share:10.3f} %")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, such as build/release")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--steps", type=int, default=200, help="training steps of each run")
    return parser.parse_args()


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")


def plain_loops(programs, steps):
    command = [os.path.join(programs, "plain_libtorch_loop"), "--shards", "2",
               "--max-steps", str(steps)]
    running = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
               for _ in range(2)]
    outputs = [process.communicate(timeout=600)[0] for process in running]
    if any(process.returncode for process in running):
        sys.exit(f"{command[0]} failed")
    return max(json.loads(output)["seconds_per_epoch"] for output in outputs)


class Example:
    def __init__(self, programs, folder, steps):
        self.command = ["mpiexec", "-n", "2", os.path.join(programs, "fashion_mnist"), "--json",
                        "--threads", "1", "--max-steps", str(steps), "--progress", "none"]
        self.folder = folder
        self.runs = 0
        self.logging_shares = []

    def run(self, options):
        self.runs += 1
        log_dir = os.path.join(self.folder, f"run{self.runs}")
        output = subprocess.run(self.command + ["--log-dir", log_dir] + options, check=True,
                                env=environment(), stdout=subprocess.PIPE, text=True,
                                timeout=600).stdout
        result = json.loads(output.splitlines()[-1])
        if not options:
            # Of a whole epoch: a short run logs its once-an-epoch values as well.
            self.logging_shares.append(result["logging_seconds"] / result["seconds_per_epoch"])
        return result["seconds_per_epoch"]


if __name__ == "__main__":
    main()
