# SPDX-License-Identifier: Apache-2.0
"""The base class of tests of TensorBoard's pages in a browser."""

import io
import time
import unittest

import numpy as np
from PIL import Image

from tensorboard_server import eventually

DRAW_SECONDS = 120


class PageCase(unittest.TestCase):
    """A test that has opened self.page."""

    def eventually(self, check):
        return eventually(check, time.monotonic() + DRAW_SECONDS)

    def picture_of(self, element, index=0):
        """The pixels of an element of the page, rows of RGB."""
        box = [round(number) for number in self.page.box(element, index)]
        self.assertTrue(box[2] and box[3], f"{element} has no size yet")
        with Image.open(io.BytesIO(self.page.screenshot(box))) as picture:
            return np.array(picture.convert("RGB")).astype(int)

    def assert_colored(self, element, least, index=0):
        """Axes, grids and text are gray; curves are not, although one run's color is slate."""
        pixels = self.picture_of(element, index)
        colored = np.count_nonzero(pixels.max(axis=2) - pixels.min(axis=2) > 30)
        self.assertGreaterEqual(colored, least)
