#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a real browser, TensorBoard's pages draw the logged values."""

import os
import shutil
import tempfile
import unittest

import numpy as np

import screenshot
import writer_program
from browser import Page
from page_case import PageCase
from tensorboard_server import TensorBoard


class Screenshot(PageCase):
    @classmethod
    def setUpClass(cls):
        log_dir = os.path.join(cls.enterClassContext(tempfile.TemporaryDirectory()), "runs")
        writer_program.run("kinds", "compatible", log_dir, log_dir + ".jsonl")
        # TensorBoard draws no curve by itself where there are more than forty runs.
        shutil.rmtree(os.path.join(log_dir, "sub_runs"))
        cls.url = cls.enterClassContext(TensorBoard(log_dir)).url
        cls.page = cls.enterClassContext(Page())

    def show(self, page, tag):
        screenshot.show(self.page, self.url, page, tag)
        self.page.wait_for_text(tag)

    def test_shows_a_curve(self):
        self.show("timeseries", "by/name")
        # A line two pixels wide that crosses most of a chart.
        self.eventually(lambda: self.assert_colored("line-chart", 2 * 200))

    def test_shows_a_histogram(self):
        self.show("timeseries", "wave")
        self.eventually(lambda: self.assert_colored("tb-histogram", 2000))

    def test_shows_an_image(self):
        self.show("timeseries", "channels/3")

        def check():
            pixels = self.picture_of("image-card img").reshape(-1, 3)
            # 144 pixels, each of a different color.
            self.assertGreaterEqual(len(np.unique(pixels, axis=0)), 100)

        self.eventually(check)

    def test_shows_a_text_as_markdown(self):
        self.show("text", "note")
        self.page.wait_for_text("markdown")
        self.assertNotIn("*markdown*", self.page.text())


if __name__ == "__main__":
    unittest.main()
