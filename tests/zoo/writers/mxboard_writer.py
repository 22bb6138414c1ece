# SPDX-License-Identifier: Apache-2.0
"""mxboard 0.1.0 with mxnet 1.9.1: every kind of value; its text has an empty tag."""

import sys

import mxnet as mx
import numpy as np
from mxboard import SummaryWriter


def main(directory):
    with SummaryWriter(directory, flush_secs=1, verbose=False) as writer:
        for step in range(5):
            writer.add_scalar("loss", 1 / (step + 1), step)
        writer.add_scalar("pair", {"train": 1.0, "test": 2.0}, 1)
        writer.add_histogram("weights", mx.nd.arange(9), 1, bins=4)
        writer.add_image("picture", mx.nd.zeros((3, 2, 3)), 1)
        writer.add_audio("sound", np.zeros(8), 8000, 1)
        writer.add_text("note", "hello", 0)
        writer.add_pr_curve("curve", np.array([0, 1, 1]), np.array([0.1, 0.6, 0.9]), 3, 1)


main(sys.argv[1])
