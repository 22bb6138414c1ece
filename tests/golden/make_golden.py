#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden event files with the other projects' writers; see README.md."""

import glob
import os
import sys
import tempfile

import numpy as np
import tensorboardX
import torch.utils.tensorboard

WALL_TIME = 1_700_000_000.5
PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)  # CHW
VALUES = np.array([-1.0, 0.0, 0.5, 0.5, 2.0])


def keep(directory, target):
    (path,) = glob.glob(os.path.join(directory, "*tfevents*"))
    os.replace(path, target)


def write_common(writer):
    for step in range(3):
        writer.add_scalar("loss/train", 1.0 / (step + 1), step, walltime=WALL_TIME + step)
    writer.add_scalar("diverged", float("nan"), 3, walltime=WALL_TIME)
    writer.add_histogram("weights", VALUES, 1, bins="auto", walltime=WALL_TIME)
    writer.add_image("sample", PIXELS, 2, walltime=WALL_TIME)
    writer.add_text("note", "*markdown*", 4, walltime=WALL_TIME)


def write_torch(directory):
    with torch.utils.tensorboard.SummaryWriter(directory) as writer:
        write_common(writer)
        writer.add_scalar("accuracy", 0.75, 5, walltime=WALL_TIME, new_style=True)
        writer.add_scalar(
            "precise", 0.1, 6, walltime=WALL_TIME, new_style=True, double_precision=True)
        writer.add_audio("tone", np.zeros((1, 4), dtype=np.float32), 8, sample_rate=8000,
                         walltime=WALL_TIME)


def write_tensorboardx(directory):
    with tensorboardX.SummaryWriter(directory) as writer:
        write_common(writer)
        writer.add_scalar(
            "named", 7.0, 7, walltime=WALL_TIME, display_name="Name",
            summary_description="What it is")


def main():
    target = sys.argv[1]
    for name, write in [("torch", write_torch), ("tensorboardx", write_tensorboardx)]:
        with tempfile.TemporaryDirectory() as directory:
            write(directory)
            keep(directory, os.path.join(target, name + ".tfevents"))


if __name__ == "__main__":
    main()
