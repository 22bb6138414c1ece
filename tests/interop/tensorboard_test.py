#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real TensorBoard finds exactly the logged data: every run, tag and point."""

import html
import io
import math
import os
import struct
import tempfile
import time
import unittest

import numpy as np
from PIL import Image

import writer_program
from tensorboard_server import TensorBoard

MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def bits(number):
    """A float32's bits, so that NaN equals NaN and 0.0 differs from -0.0."""
    number = float(number)
    return "nan" if math.isnan(number) else struct.pack("<f", number)


class Loader:
    """The checks; a subclass for each of TensorBoard's loaders and each form runs them all."""

    fast: bool
    form: str

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        log_dir = os.path.join(cls.directory, "runs")
        expectations = os.path.join(cls.directory, "expectations.jsonl")
        cls.began = time.time()
        writer_program.run("kinds", cls.form, log_dir, expectations)
        cls.ended = time.time()
        cls.logged = writer_program.Expectations(expectations)
        cls.tensorboard = cls.enterClassContext(TensorBoard(log_dir, fast=cls.fast))

    def by_run(self, kind):
        tags = {}
        for run, tag in self.logged.of(kind):
            tags.setdefault(run, set()).add(tag)
        return tags

    def assert_tags(self, plugin, kind):
        """A plugin shows exactly the tags that were logged."""

        def check():
            shown = self.tensorboard.get(f"plugin/{plugin}/tags")
            self.assertEqual({run: set(tags) for run, tags in shown.items() if tags},
                             self.by_run(kind))
            return shown

        return self.tensorboard.eventually(check)

    def test_shows_every_run(self):
        self.tensorboard.eventually(lambda: self.assertEqual(
            set(self.tensorboard.get("runs")), self.logged.runs()))

    def test_shows_every_scalar(self):
        self.assert_tags("scalars", "scalar")
        for (run, tag), lines in self.logged.of("scalar").items():
            with self.subTest(run=run, tag=tag):
                self.tensorboard.eventually(lambda: self.check_scalars(run, tag, lines))

    def check_scalars(self, run, tag, lines):
        points = self.tensorboard.get("plugin/scalars/scalars", run=run, tag=tag)
        shown = {}
        for wall_time, step, value in points:
            shown[step] = (wall_time, value)
        # The loader in Python keeps all points of a step, the fast one the last.
        if self.fast:
            self.assertEqual(len(points), len(shown))
        self.assertEqual(list(shown), sorted(shown))
        steps = self.steps_after_purges(run, tag, lines)
        self.assertEqual(list(shown), steps)
        for step in steps:
            wall_time, value = shown[step]
            self.assertEqual(bits(value), bits(lines[step]["value"]), f"at step {step}")
            if "wall_time" in lines[step]:
                self.assertEqual(wall_time, lines[step]["wall_time"])
            else:
                # The clock of the writer is the cycle counter, read against the system's.
                self.assertTrue(self.began - 1e-3 <= wall_time <= self.ended + 1e-3, wall_time)

    def steps_after_purges(self, run, tag, lines):
        """The fast loader purges only overwritten points, the Python loader all later points."""
        purge = self.logged.of("purged").get((run, tag))
        if self.fast or purge is None:
            return list(lines)
        return [step for step in lines if step < purge[0]["from_step"]]

    def test_shows_names_and_descriptions(self):
        shown = self.assert_tags("scalars", "scalar")
        for (run, tag), lines in self.logged.of("names").items():
            self.assertEqual(shown[run][tag]["displayName"], lines[0]["display_name"])
            self.assertEqual(shown[run][tag]["description"],
                             "<p>cross-entropy of <em>one</em> batch</p>")

    def test_shows_every_histogram(self):
        self.assert_tags("histograms", "histogram")
        for (run, tag), lines in self.logged.of("histogram").items():
            with self.subTest(tag=tag):
                self.tensorboard.eventually(lambda: self.check_histograms(run, tag, lines))

    def check_histograms(self, run, tag, lines):
        shown = self.tensorboard.get("plugin/histograms/histograms", run=run, tag=tag)
        self.assertEqual([step for _, step, _ in shown], list(lines))
        for _, step, buckets in shown:
            values = np.array(writer_program.floats(lines[step]["values"]))
            values = values[np.isfinite(values)]
            if self.fast or self.form == "tensor" and run != "mixed":
                self.check_buckets(buckets, values)
            else:
                self.check_rounded_buckets(buckets, values)

    def check_rounded_buckets(self, buckets, values):
        """The loader in Python reads the compatible form in binary32."""
        self.assertEqual(sum(count for _, _, count in buckets), len(values))
        if len(values) == 0:
            return
        self.assertEqual(np.float32([buckets[0][0], buckets[-1][1]]).tolist(),
                         np.float32([min(values), max(values)]).tolist())
        for (_, right, _), (left, _, _) in zip(buckets, buckets[1:]):
            self.assertEqual(right, left)
        for left, right, _ in buckets:
            self.assertLessEqual(left, right)

    def check_buckets(self, buckets, values):
        self.assertEqual(sum(count for _, _, count in buckets), len(values))
        if len(values) == 0:
            return
        self.assertEqual((buckets[0][0], buckets[-1][1]), (min(values), max(values)))
        for (_, right, _), (left, _, _) in zip(buckets, buckets[1:]):
            self.assertEqual(right, left)
        last = len(buckets) - 1
        for i, (left, right, count) in enumerate(buckets):
            self.assertLessEqual(left, right)
            inside = (values >= left) & ((values < right) | ((i == last) & (values == right)))
            self.assertEqual(count, np.count_nonzero(inside), f"in [{left}, {right})")

    def test_shows_a_distribution_of_every_histogram(self):
        self.assert_tags("distributions", "histogram")
        for (run, tag), lines in self.logged.of("histogram").items():
            with self.subTest(tag=tag):
                shown = self.tensorboard.eventually(lambda: self.tensorboard.get(
                    "plugin/distributions/distributions", run=run, tag=tag))
                self.assertEqual([step for _, step, _ in shown], list(lines))
                for _, _, percentiles in shown:
                    for _, value in percentiles:
                        self.assertTrue(math.isfinite(float(value)))

    def test_shows_every_image_to_the_pixel(self):
        self.assert_tags("images", "image")
        for (run, tag), lines in self.logged.of("image").items():
            with self.subTest(tag=tag):
                self.tensorboard.eventually(lambda: self.check_images(run, tag, lines))

    def check_images(self, run, tag, lines):
        shown = self.tensorboard.get("plugin/images/images", run=run, tag=tag, sample=0)
        self.assertEqual([image["step"] for image in shown], list(lines))
        for image in shown:
            line = lines[image["step"]]
            data = self.tensorboard.get_bytes("plugin/images/individualImage?" + image["query"])
            with Image.open(io.BytesIO(data)) as decoded:
                self.assertEqual(decoded.format, "PNG")
                self.assertEqual(decoded.size, (line["width"], line["height"]))
                self.assertEqual(decoded.mode, MODES[line["channels"]])
                self.assertEqual(decoded.tobytes(), bytes(map(int, line["pixels"])))

    def test_plays_every_sound(self):
        self.assert_tags("audio", "sound")
        for (run, tag), lines in self.logged.of("sound").items():
            with self.subTest(tag=tag):
                self.tensorboard.eventually(lambda: self.check_sounds(run, tag, lines))

    def check_sounds(self, run, tag, lines):
        shown = self.tensorboard.get("plugin/audio/audio", run=run, tag=tag, sample=0)
        self.assertEqual([sound["step"] for sound in shown], list(lines))
        for sound in shown:
            self.assertEqual(sound["contentType"], "audio/wav")
            data = self.tensorboard.get_bytes("plugin/audio/individualAudio?" + sound["query"])
            writer_program.check_wav(self, data, lines[sound["step"]])

    def test_shows_every_text_as_markdown(self):
        shown = self.tensorboard.eventually(lambda: self.check_text_tags())
        for (run, tag), lines in self.logged.of("text").items():
            shown = self.tensorboard.eventually(lambda: self.check_texts(run, tag, lines))
            texts = [html.unescape(text["text"]) for text in shown]
            self.assertIn("<em>markdown</em>", texts[0])
            self.assertIn("plain", texts[1])
            self.assertIn("<td>1</td>", texts[2].replace('<td align="left">', "<td>"))

    def check_text_tags(self):
        shown = self.tensorboard.get("plugin/text/tags")
        self.assertEqual({run: set(tags) for run, tags in shown.items() if tags},
                         self.by_run("text"))

    def check_texts(self, run, tag, lines):
        shown = self.tensorboard.get("plugin/text/text", run=run, tag=tag)
        self.assertEqual([text["step"] for text in shown], list(lines))
        return shown


class FastLoader(Loader, unittest.TestCase):
    """TensorBoard's default, the data server in Rust."""

    fast = True
    form = "compatible"


class FastLoaderOfTensors(FastLoader):
    form = "tensor"


class PythonLoader(Loader, unittest.TestCase):
    """--load_fast=false, which TensorBoard also takes for some file systems."""

    fast = False
    form = "compatible"


class PythonLoaderOfTensors(PythonLoader):
    form = "tensor"


if __name__ == "__main__":
    unittest.main()
