# SPDX-License-Identifier: Apache-2.0
"""tensorboardX 2.6.5: the calls that torch.utils.tensorboard does not have, or does otherwise."""

import sys

import numpy as np
from tensorboardX import SummaryWriter


def main(directory):
    with SummaryWriter(directory) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step, display_name="Loss",
                              summary_description="the loss")
            writer.add_histogram("weights", np.linspace(-1, 1 + step, 9), step, bins=4)
        writer.add_histogram_raw("raw", min=0, max=3, num=3, sum=4, sum_squares=6,
                                 bucket_limits=[1, 2, 3], bucket_counts=[1, 1, 1], global_step=0)
        writer.add_scalars("pair", {"train": 1.0, "test": 2.0}, 1)
        writer.add_image("picture", np.zeros((3, 2, 3), np.uint8), 1)
        writer.add_image_with_boxes("boxes", np.zeros((3, 8, 8), np.uint8), np.array([[1, 1, 5, 5]]),
                                    1)
        writer.add_text("note", "hello", 1)
        writer.add_pr_curve("curve", np.array([0, 1, 1]), np.array([0.1, 0.6, 0.9]), 1,
                            num_thresholds=3)
        writer.add_mesh("mesh", np.zeros((1, 3, 3)), global_step=1)
        writer.add_hparams({"lr": 0.1, "bias": True}, {"result": 0.5}, name="trial")


main(sys.argv[1])
