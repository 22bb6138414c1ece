# SPDX-License-Identifier: Apache-2.0
"""tensorboard-chainer 0.5.3: as mxboard, with an empty tag for text."""

import sys

import numpy as np
from tb_chainer import SummaryWriter


def main(directory):
    writer = SummaryWriter(directory)
    for step in range(3):
        writer.add_scalar("loss", 1 / (step + 1), step)
    writer.add_histogram("weights", np.linspace(-1, 1, 9), 1)
    writer.add_image("picture", np.zeros((3, 2, 3), np.float32), 1)
    writer.add_text("note", "hello", 1)
    writer.close()


main(sys.argv[1])
