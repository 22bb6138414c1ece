#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the efficiency of two ranks compared with two independent trainings of one rank each.

    python3 benchmarks/scaling.py build/release [--rounds 11]

The efficiency is the throughput of two ranks divided by that of two independent trainings that run at the same time.
In both cases both cores are busy, so memory and clock are equally fast. Each process has one thread on its own core.
ResNet-50 computes much per parameter. AlexNet on small images has 60 million parameters, nearly all in its last
layers, like VGG. The variants take turns. Quote a ratio only from a run whose control holds.
"""
import argparse
import json
import os
import subprocess
import tempfile

from rounds import print_medians, report, take_turns

# The arguments of imagenet_benchmark and the target efficiency.
NETWORKS = {
    "resnet50": (["--image-size", "64", "--batch-size", "32"], 0.97),
    "alexnet": (["--image-size", "64", "--batch-size", "16"], 0.85),
}


def main():
    arguments = parse()
    program = os.path.join(arguments.build, "bin", "imagenet_benchmark")
    for name in arguments.model:
        options, target = NETWORKS[name]
        command = [program, "--model", name, *options, "--warmup", "2", "--iterations", "1",
                   "--steps", str(arguments.steps), "--json"]
        compare(name, command, arguments.rounds, target)


def compare(name, command, rounds, target):
    rates = take_turns({
        "two trainings of 1 rank": lambda: side_by_side(command),
        "two trainings again (A/A)": lambda: side_by_side(command),
        "2 ranks": lambda: two_ranks(command),
    }, rounds)
    alone, again, together = rates.values()
    print_medians(f"Images per second, {name}", rates)
    report("two trainings / two trainings again", alone, again, control=(0.67, 1.5))
    report("2 ranks / two trainings", together, alone, at_least=target)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, such as build/release")
    parser.add_argument("--model", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--steps", type=int, default=5, help="training steps of each run")
    return parser.parse_args()


def side_by_side(command):
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as folder:
        running = [start([*command, "--log-dir", os.path.join(folder, f"core{core}")],
                         preexec_fn=lambda: os.sched_setaffinity(0, {core})) for core in cores]
        return sum(rate(process) for process in running)


def two_ranks(command):
    with tempfile.TemporaryDirectory() as folder:
        return rate(start(["mpiexec", "-n", "2", "--bind-to", "core", *command,
                           "--log-dir", folder]))


def start(command, **options):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, **options)


def rate(process):
    """Images a second of all ranks, from the line of JSON that the program ends with."""
    output = process.communicate(timeout=600)[0]
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return json.loads(output.splitlines()[-1])["images_per_second"]


if __name__ == "__main__":
    main()
