# SPDX-License-Identifier: Apache-2.0
"""zvit 0.0.1: names without "events.out.", one event for all values of a step, messages."""

import sys

import numpy as np
from zvit import ZvitWriter


def main(directory):
    with ZvitWriter(directory, 0) as writer:
        for step in range(3):
            writer.logScalar("loss", 1 / (step + 1), displayName="Loss", description="the loss")
            # Not 0: that would be a value without a number.
            writer.logScalars({"accuracy": (step + 1) / 3, "rate": 0.1})
            writer.logHist("weights", np.linspace(-1, 1, 9), bucketLimits=np.linspace(-1, 1, 5))
            if step == 1:
                writer.logText("note", "hello")
                writer.logTensor("tensor", np.arange(3, dtype=np.float32))
                writer.logImage("picture", np.zeros((3, 2, 3), np.uint8))
                writer.logMessage("a message")
            writer.step().flush()
    writer.close()


main(sys.argv[1])
