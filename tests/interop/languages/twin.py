# SPDX-License-Identifier: Apache-2.0
"""The Python one of the programs that log the same: see languages_test.py."""

import sys

import numpy as np

import steptape

with steptape.SummaryWriter(sys.argv[1], mirror=sys.argv[2] if len(sys.argv) > 2 else None) as writer:
    for step in range(200):
        writer.add_scalar("loss", 100 / (step + 1), step)
    weights = 0.25 * (np.arange(100) - 50)
    field = np.arange(48, dtype=np.float32).reshape(6, 8) / 64
    for step in range(3):
        writer.add_histogram("weights", weights, step)
        writer.add_image("field", field, step, dataformats="HW")
    writer.add_text("notes", "Logged by *four* languages.", 0)
    writer.add_hparams({"lr": 0.25, "layers": 3}, {})
