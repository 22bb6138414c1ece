#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how fast TensorBoard's loaders and scripts read our event files, in both forms, compared with torch's.

    benchmarks/load_time.py build/release/bin/interop_writer

The files hold 10 curves, written in the compatible form, as tensors, and by torch.utils.tensorboard. Our files have
one event per step, torch's have one per scalar. EventFileLoader is TensorBoard's loader in Python. EventAccumulator
is the class that scripts call. The data server, TensorBoard's default, is timed from the start of its process until
it serves the last point of a larger run. The variants take turns. The compatible form is timed twice per round: the
ratio of the two shows the noise in the other ratios.
"""

import argparse
import glob
import os
import subprocess
import tempfile
import time

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from torch.utils.tensorboard import SummaryWriter

from rounds import print_medians, report, take_turns
from server_load import server_seconds

TAGS = 10
STEPS, SERVER_STEPS = 3000, 100_000
AGAIN = "compatible, again (A/A)"


def write_runs(program, directory, steps):
    """A run for each way to write."""
    for form in "compatible", "tensor":
        subprocess.run([program, "curves", form, os.path.join(directory, form), str(TAGS),
                        str(steps)], check=True)
    with SummaryWriter(os.path.join(directory, "torch")) as writer:
        for step in range(steps):
            for tag in range(TAGS):
                writer.add_scalar(f"curve/{100 + tag}", 0.99 ** step, step)


def event_file(run):
    (path,) = glob.glob(os.path.join(run, "*tfevents*"))
    return path


def loader_points(run):
    return sum(len(event.summary.value) for event in EventFileLoader(event_file(run)).Load())


def accumulator_points(run):
    accumulator = EventAccumulator(run, {"scalars": 0, "tensors": 0}).Reload()
    tags = accumulator.Tags()
    return (sum(len(accumulator.Scalars(tag)) for tag in tags["scalars"]) +
            sum(len(accumulator.Tensors(tag)) for tag in tags["tensors"]))


def seconds(count_points, run):
    began = time.perf_counter()
    points = count_points(run)
    elapsed = time.perf_counter() - began
    assert points == TAGS * STEPS, f"{run}: {points} points"
    return elapsed / points


def server(run):
    return server_seconds(run, {".": TAGS * SERVER_STEPS}) / (TAGS * SERVER_STEPS)


def compare(title, directory, cost, rounds):
    runs = {"compatible": "compatible", "tensor": "tensor", "torch": "torch", AGAIN: "compatible"}
    costs = take_turns(
        {name: lambda run=run: cost(os.path.join(directory, run)) for name, run in runs.items()},
        rounds)
    print_medians(f"{title}: microseconds per scalar", costs, scale=1e6)
    report("compatible / again", costs["compatible"], costs[AGAIN], control=(0.9, 1.1))
    report("torch / compatible", costs["torch"], costs["compatible"], at_least=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interop_writer", help="the program that writes our files")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.interop_writer)
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as large:
        write_runs(program, small, STEPS)
        print("Bytes per scalar")
        for run in sorted(os.listdir(small)):
            size = os.path.getsize(event_file(os.path.join(small, run))) / (TAGS * STEPS)
            print(f"  {run:52} {size:10.1f}")
        compare("EventFileLoader", small, lambda run: seconds(loader_points, run), arguments.rounds)
        compare("EventAccumulator", small, lambda run: seconds(accumulator_points, run),
                arguments.rounds)
        write_runs(program, large, SERVER_STEPS)
        compare("Data server", large, server, arguments.rounds)


if __name__ == "__main__":
    main()
