#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module reads in the files of every writer what TensorBoard's own loaders read."""

import math
import unittest

import numpy as np
import steptape

import zoo_test


def simple(plugin, value):
    """A value in the form of zoo_test.simple(), where the two have one."""
    if plugin == "scalars":
        return float(value)
    if plugin == "images":
        return {"width": value.width, "height": value.height,
                "encoded": [encoded.hex() for encoded in value.encoded]}
    if plugin == "audio":
        return [encoded.hex() for encoded in value.encoded]
    if plugin == "text":
        return np.atleast_1d(value).ravel().tolist()
    if plugin == "histograms":
        return np.stack([value.left, value.right, value.counts], 1).tolist()
    return None


class Read(unittest.TestCase):
    maxDiff = 4000

    def test_gives_each_value_that_the_loader_reads(self):
        for directory in zoo_test.runs():
            run = steptape.read(directory, purge="none")["."]
            expected = {}
            for tags, plugin, step, wall_time, value in zoo_test.Oracle(directory).records:
                expected.setdefault(tuple(tags), []).append((plugin, step, wall_time, value))
            with self.subTest(run=directory):
                self.assertEqual(len(list(run)), len(expected))
            for tags, points in expected.items():
                with self.subTest(run=directory, tag=tags[-1]):
                    series = run[tags[-1] if tags[-1] in run else tags[0]]
                    self.assertEqual(series.plugin, points[0][0])
                    self.assertEqual(series.steps.tolist(), [step for _, step, _, _ in points])
                    self.assertEqual(series.wall_times.tolist(), [time for _, _, time, _ in points])
                    for value, (plugin, _, _, wanted) in zip(series.values, points, strict=True):
                        self.check(plugin, value, wanted)

    def check(self, plugin, value, wanted):
        got = simple(plugin, value)
        if plugin == "histograms" and got != wanted:
            got = zoo_test.as_float32(got)  # TensorBoard rounds those of the old form
        if got is not None and not (isinstance(wanted, float) and math.isnan(wanted)):
            self.assertEqual(got, wanted)


if __name__ == "__main__":
    unittest.main()
