#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast TensorBoard's own loader reads our event file, against torch.utils.tensorboard's.

    benchmarks/load_time.py build/release/bin/interop_writer

Both files hold 10 curves of 3000 points. The rounds alternate between the files, and the first file
is read twice a round: the ratio of these two says how much of a ratio is noise.
"""

import argparse
import glob
import os
import subprocess
import statistics
import tempfile
import time

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from torch.utils.tensorboard import SummaryWriter

TAGS, STEPS = 10, 3000


def write_with_torch(directory):
    with SummaryWriter(directory) as writer:
        for step in range(STEPS):
            for tag in range(TAGS):
                writer.add_scalar(f"curve/{100 + tag}", 0.99 ** step, step)


def event_file(directory):
    (path,) = glob.glob(os.path.join(directory, "*tfevents*"))
    return path


def points_in(path):
    return sum(len(event.summary.value) for event in EventFileLoader(path).Load())


def load_seconds(path):
    began = time.perf_counter()
    points = points_in(path)
    seconds = time.perf_counter() - began
    assert points == TAGS * STEPS, f"{path}: {points} points"
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interop_writer", help="the program that writes our file")
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as ours_dir, tempfile.TemporaryDirectory() as torch_dir:
        subprocess.run([arguments.interop_writer, "curves", ours_dir, str(TAGS), str(STEPS)],
                       check=True)
        write_with_torch(torch_dir)
        ours, theirs = event_file(ours_dir), event_file(torch_dir)
        seconds = {"ours": [], "torch": [], "ours again": []}
        for _ in range(arguments.rounds):
            for name, path in [("ours", ours), ("torch", theirs), ("ours again", ours)]:
                seconds[name].append(load_seconds(path))
        median = {name: statistics.median(times) for name, times in seconds.items()}
        size = {name: os.path.getsize(path) for name, path in [("ours", ours), ("torch", theirs)]}

    print(f"{TAGS} curves of {STEPS} points      ours     torch   torch / ours")
    print(f"load, ms                 {1e3 * median['ours']:8.1f}  {1e3 * median['torch']:8.1f}"
          f"  {median['torch'] / median['ours']:8.2f}")
    print(f"bytes a scalar           {size['ours'] / (TAGS * STEPS):8.1f}"
          f"  {size['torch'] / (TAGS * STEPS):8.1f}  {size['torch'] / size['ours']:8.2f}")
    print(f"ours / ours again        {median['ours'] / median['ours again']:8.2f}")


if __name__ == "__main__":
    main()
