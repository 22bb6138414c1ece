#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of training on two ranks, as ratios of runs that take turns.

    .venv/bin/python3 benchmarks/training.py build/release [--model cnn] [--rounds 11] [--steps 469]

For each network, every round runs these variants in random order: two plain LibTorch loops at the same time, without
communication or logging, twice (the A/A control); the example on 2 ranks with full logging; the same with --no-log;
and PyTorch's DistributedDataParallel, which logs one scalar per step. Each reports the seconds per epoch, scaled from
its steps. Quote a ratio only from a run whose control holds.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from rounds import print_medians, report, take_turns

# The upper limits of the ratios for an epoch with logging.
TARGETS = {
    "cnn": {"plain": 1.10, "silent": 1.01, "ddp": 0.60, "launchers": 1.05},
    "mlp": {"plain": 1.50, "ddp": 0.30, "launchers": 1.05},  # Its steps are too short for a bound on logging alone.
}


def main():
    arguments = parse()
    for model in arguments.model or TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            compare(model, arguments, folder)


def compare(model, arguments, folder):
    programs = os.path.join(arguments.build, "bin")
    common = ["--model", model, "--max-steps", str(arguments.steps)]
    example = Example(programs, common, folder)
    variants = {
        "two plain loops": lambda: plain_loops(programs, common),
        "two plain loops again (A/A)": lambda: plain_loops(programs, common),
        "2 ranks": lambda: example.run([]),
        "2 ranks by torchrun": lambda: example.run([], by_torchrun()),
        "2 ranks, --no-log": lambda: example.run(["--no-log"]),
        "2 ranks of PyTorch's DDP": lambda: ddp(common),
    }
    seconds = take_turns(variants, arguments.rounds)
    plain, again, logged, by_agent, silent, peer = seconds.values()
    print_medians(f"Seconds per epoch, {model}", seconds)
    targets = TARGETS[model]
    report("plain / plain again", plain, again, control=(0.67, 1.5))
    report("2 ranks / two plain loops", logged, plain, at_most=targets["plain"])
    report("2 ranks / 2 ranks of DDP", logged, peer, at_most=targets["ddp"])
    report("2 ranks by torchrun / 2 ranks of DDP", by_agent, peer, at_most=targets["ddp"])
    report("2 ranks by torchrun / by mpiexec", by_agent, logged, at_most=targets["launchers"])
    if "silent" in targets:
        report("2 ranks / 2 ranks --no-log", logged, silent, at_most=targets["silent"])
    share = statistics.median(example.logging_shares)
    print(f"  {'share of the epoch spent in logging calls':52} {100 * share:10.3f} %")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, such as build/release")
    parser.add_argument("--model", choices=TARGETS, nargs="+", help="default: all")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--steps", type=int, default=469,
                        help="training steps of each run; 469 are an epoch")
    return parser.parse_args()


def environment():
    return dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe")


def plain_loops(programs, options):
    command = [os.path.join(programs, "plain_libtorch_loop"), "--shards", "2", *options]
    running = [subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
               for _ in range(2)]
    outputs = [process.communicate(timeout=600)[0] for process in running]
    if any(process.returncode for process in running):
        sys.exit(f"{command[0]} failed")
    return max(json.loads(output)["seconds_per_epoch"] for output in outputs)


def ddp(options):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddp_fashion_mnist.py")
    return run_one([sys.executable, script, *options])["seconds_per_epoch"]


def run_one(command):
    """The line of JSON that a program ends with."""
    output = subprocess.run(command, check=True, env=environment(), stdout=subprocess.PIPE,
                            text=True, timeout=600).stdout
    return json.loads(output.splitlines()[-1])


def by_torchrun():
    """Does not bind ranks to cores, unlike mpiexec."""
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--no-python"]


class Example:
    def __init__(self, programs, options, folder):
        self.command = [os.path.join(programs, "fashion_mnist"), "--json", "--threads", "1",
                        "--progress", "none", *options]
        self.folder = folder
        self.runs = 0
        self.logging_shares = []

    def run(self, options, launcher=("mpiexec", "-n", "2")):
        self.runs += 1
        log_dir = os.path.join(self.folder, f"run{self.runs}")
        result = run_one([*launcher, *self.command, "--log-dir", log_dir, *options])
        if not options:
            # For a whole epoch: a short run also logs its once-per-epoch values.
            self.logging_shares.append(result["logging_seconds"] / result["seconds_per_epoch"])
        return result["seconds_per_epoch"]


if __name__ == "__main__":
    main()
