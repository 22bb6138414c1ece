# SPDX-License-Identifier: Apache-2.0
"""torch.utils.tensorboard: every call that needs no other package, in both forms of scalars."""

import sys
import warnings

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter


def main(directory):
    warnings.simplefilter("ignore")
    with SummaryWriter(directory) as writer:
        for step in range(3):
            writer.add_scalar("loss", 1 / (step + 1), step)
            writer.add_scalar("new/style", step / 2, step, new_style=True)
            writer.add_scalar("double", step / 3, step, new_style=True, double_precision=True)
            writer.add_histogram("weights", np.linspace(-1, 1 + step, 9), step, bins="auto")
        writer.add_scalar("without/step", 7.5)
        writer.add_scalars("pair", {"train": 1.0, "test": 2.0}, 1)
        writer.add_image("picture", np.zeros((3, 2, 3), np.uint8), 1)
        writer.add_audio("sound", torch.zeros(1, 8), 1, 8000)
        writer.add_text("note", "hello", 1)
        writer.add_pr_curve("curve", np.array([0, 1, 1]), np.array([0.1, 0.6, 0.9]), 1,
                            num_thresholds=3)
        writer.add_mesh("mesh", torch.zeros(1, 3, 3), global_step=1)
        writer.add_tensor("tensor", torch.arange(3.0), 1)
        writer.add_graph(torch.nn.Linear(2, 1), torch.zeros(1, 2))
        layout = {"category": {"losses": ["Multiline", ["loss", "double"]]}}
        writer.add_custom_scalars(layout)
        writer.add_hparams({"lr": 0.1, "bias": True, "name": "x"}, {"result": 0.5}, run_name="trial")
    with SummaryWriter(directory, purge_step=1, filename_suffix=".resumed") as writer:
        for step in range(1, 4):
            writer.add_scalar("loss", -step, step)


main(sys.argv[1])
