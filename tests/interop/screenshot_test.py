#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was logged is drawn on TensorBoard's pages, in a real browser."""

import io
import os
import shutil
import tempfile
import time
import unittest

import numpy as np
from PIL import Image

import screenshot
import writer_program
from browser import Page
from tensorboard_server import TensorBoard, eventually

DRAW_SECONDS = 30


class Screenshot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        log_dir = os.path.join(cls.enterClassContext(tempfile.TemporaryDirectory()), "runs")
        writer_program.run("kinds", log_dir, log_dir + ".jsonl")
        # TensorBoard draws no curve by itself where there are more than forty runs.
        shutil.rmtree(os.path.join(log_dir, "sub_runs"))
        cls.url = cls.enterClassContext(TensorBoard(log_dir)).url

    def setUp(self):
        self.page = self.enterContext(Page())

    def eventually(self, check):
        return eventually(check, time.monotonic() + DRAW_SECONDS)

    def show(self, page, tag):
        screenshot.show(self.page, self.url, page, tag)
        self.page.wait_for_text(tag)

    def picture_of(self, element):
        """The pixels of the page's first such element, rows of RGB."""
        box = self.page.wait_for(
            f"(e => e && Object.values(e.getBoundingClientRect().toJSON()))"
            f"(document.querySelector({element!r}))", element)
        x, y, width, height = (round(number) for number in box[:4])
        with Image.open(io.BytesIO(self.page.screenshot())) as picture:
            return np.array(picture.convert("RGB"))[y:y + height, x:x + width].astype(int)

    def assert_coloured(self, element, least):
        """Axes, grids and text are grey; what runs draw is not."""
        pixels = self.picture_of(element)
        coloured = np.count_nonzero(pixels.max(axis=2) - pixels.min(axis=2) > 60)
        self.assertGreaterEqual(coloured, least)

    def test_shows_a_curve(self):
        self.show("timeseries", "by/name")
        # A line two pixels wide that crosses most of a chart.
        self.eventually(lambda: self.assert_coloured("line-chart", 2 * 200))

    def test_shows_a_histogram(self):
        self.show("timeseries", "wave")
        self.eventually(lambda: self.assert_coloured("tb-histogram", 2000))

    def test_shows_an_image(self):
        self.show("timeseries", "channels/3")

        def check():
            pixels = self.picture_of("image-card img").reshape(-1, 3)
            # 144 pixels, each of its own colour.
            self.assertGreaterEqual(len(np.unique(pixels, axis=0)), 100)

        self.eventually(check)

    def test_shows_a_text_as_markdown(self):
        self.show("text", "note")
        self.page.wait_for_text("markdown")
        self.assertNotIn("*markdown*", self.page.text())


if __name__ == "__main__":
    unittest.main()
