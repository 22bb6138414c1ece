#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape aggregate` gives numpy's statistics, and TensorBoard shows them with their band."""

import os
import subprocess
import tempfile
import unittest

import numpy as np
import tensorboardX
from tensorboard.backend.event_processing import event_accumulator

from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard

SEEDS = 5
STEPS = range(0, 300, 3)


def curves():
    """A row of values for each seed."""
    random = np.random.default_rng(1)
    return np.float32(np.exp(-np.array(STEPS) / 100) + random.normal(0, 0.1, (SEEDS, len(STEPS))))


class Aggregate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.values = curves()
        for seed, values in enumerate(cls.values):
            with tensorboardX.SummaryWriter(os.path.join(cls.directory, f"seed_{seed}")) as writer:
                for step, value in zip(STEPS, values):
                    writer.add_scalar("loss", value, step, 1.7e9 + step)
        cls.output = os.path.join(cls.directory, "mean")
        subprocess.run([os.environ["STEPTAPE_TOOL"], "aggregate",
                        os.path.join(cls.directory, "seed_*"), "--output", cls.output,
                        "--percentiles", "5,50,97.5"], check=True, timeout=PATIENCE_SECONDS)

    def test_statistics_are_those_of_numpy(self):
        run = event_accumulator.EventAccumulator(self.output, {"scalars": 0}).Reload()
        values = np.float64(self.values)
        for tag, expected in {
                "loss": values.mean(axis=0),
                "loss/std": values.std(axis=0, ddof=1),
                "loss/min": values.min(axis=0),
                "loss/max": values.max(axis=0),
                "loss/p5": np.percentile(values, 5, axis=0),
                "loss/p50": np.median(values, axis=0),
                "loss/p97.5": np.percentile(values, 97.5, axis=0)}.items():
            points = run.Scalars(tag)
            self.assertEqual([point.step for point in points], list(STEPS), tag)
            np.testing.assert_allclose([point.value for point in points], expected, rtol=1e-6,
                                       err_msg=tag)
            self.assertEqual(points[1].wall_time, 1.7e9 + STEPS[1])

    def check_band(self, fast):
        with TensorBoard(self.directory, fast) as board:
            def margin():
                layout = board.get("plugin/custom_scalars/layout")
                self.assertIn("category", layout)
                return layout["category"][0]["chart"][0]["margin"]["series"][0]

            def points(tag):
                self.assertEqual(
                    len(board.get("plugin/scalars/scalars", run="mean", tag=tag)), len(STEPS), tag)

            band = board.eventually(margin)
            self.assertEqual(band, {"value": "loss", "lower": "loss/min", "upper": "loss/max"})
            for tag in band.values():
                board.eventually(lambda: points(tag))

    def test_data_server_has_the_band(self):
        self.check_band(fast=True)

    def test_python_loader_has_the_band(self):
        self.check_band(fast=False)


if __name__ == "__main__":
    unittest.main()
