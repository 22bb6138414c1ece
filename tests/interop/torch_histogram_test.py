#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard shows the histograms of this library as it shows torch.utils.tensorboard's."""

import os
import tempfile
import unittest

import numpy as np
from torch.utils.tensorboard import SummaryWriter

import writer_program
from tensorboard_server import TensorBoard

OUTERMOST_LIMIT = 9e19
RUN = "histograms"


def logged_histograms(file_name):
    """Yields (tag, step, values) for every histogram that torch can write too.

    It refuses empty input, does not count what lies beyond its outermost limits, and makes every
    edge NaN where one value is.
    """
    for (run, tag), lines in writer_program.Expectations(file_name).of("histogram").items():
        for step, line in lines.items():
            values = np.array(writer_program.floats(line["values"]))
            if run == RUN and len(values) > 0 and np.abs(values).max() < OUTERMOST_LIMIT:
                yield tag, step, values


class SameAsTorch(unittest.TestCase):
    def test_histograms_have_the_same_buckets(self):
        directory = self.enterContext(tempfile.TemporaryDirectory())
        log_dir = os.path.join(directory, "runs")
        expectations = os.path.join(directory, "expectations.jsonl")
        writer_program.run("kinds", "compatible", log_dir, expectations)
        histograms = list(logged_histograms(expectations))
        with SummaryWriter(os.path.join(log_dir, "torch")) as writer:
            for tag, step, values in histograms:
                writer.add_histogram(tag, values, step)

        with TensorBoard(log_dir) as tensorboard:
            def shown(run, tag):
                rows = tensorboard.get("plugin/histograms/histograms", run=run, tag=tag)
                return {step: buckets for _, step, buckets in rows}

            for tag, step, _ in histograms:
                with self.subTest(tag=tag, step=step):
                    def check():
                        self.check_same(shown(RUN, tag)[step], shown("torch", tag)[step])

                    tensorboard.eventually(check)

    def check_same(self, ours, theirs):
        # torch begins with an empty bucket from the minimum back to the limit below it.
        if theirs[0][0] >= theirs[0][1]:
            self.assertEqual(theirs[0][2], 0)
            theirs = theirs[1:]
        self.assertEqual([count for _, _, count in ours], [count for _, _, count in theirs])
        self.assertEqual([right for _, right, _ in ours], [right for _, right, _ in theirs])


if __name__ == "__main__":
    unittest.main()
