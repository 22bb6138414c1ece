# SPDX-License-Identifier: Apache-2.0
"""tensorboard_logger 0.1.0: scalars with and without a step, and a histogram of given bins."""

import sys

import numpy as np
import tensorboard_logger


def main(directory):
    logger = tensorboard_logger.Logger(directory, flush_secs=1)
    for step in range(5):
        logger.log_value("loss", 1 / (step + 1), step)
        logger.log_value("accuracy", step / 4, step)
    logger.log_value("without/step", 7.5)
    edges = np.linspace(-1, 1, 5)
    logger.log_histogram("weights", (edges, np.array([1, 2, 3, 4])), 3)


main(sys.argv[1])
