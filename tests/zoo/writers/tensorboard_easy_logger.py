# SPDX-License-Identifier: Apache-2.0
"""tensorboard-easy 0.2.3: no file version; images are BMP files."""

import sys

import numpy as np
from tensorboard_easy import Logger


def main(directory):
    with Logger(directory) as logger:
        for step in range(3):
            logger.log_scalar("loss", 1 / (step + 1), step)
        logger.log_image("picture", np.zeros((4, 4, 3), np.uint8), 1)
        logger.log_histogram("weights", np.linspace(-1, 1, 9), 1, num_bars=4)
        logger.log_text("note", ["hello", "world"], 1)


main(sys.argv[1])
