# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of parts of TensorBoard's pages, for the documentation."""

import argparse
import os

import screenshot
from browser import Page
from tensorboard_server import TensorBoard

WINDOW = (1440, 1000)  # Width and height in pixels, where nothing else is said.


class Camera:
    """Derive from it: each public method returns a picture, the bytes of a PNG file."""

    def __init__(self, page, url):
        self._page = page
        self._url = url

    def _show(self, page, tags):
        screenshot.show(self._page, self._url, page, tags)

    def _cards(self, page, element, tags, number):
        self._show(page, tags)
        return self._crop(element, number)

    def _crop(self, path, number, moving=False, margin=8):
        """The picture of the smallest box around the first elements at a path."""
        self._page.box(path)
        screenshot.wait_until_drawn(self._page, moving)
        boxes = [box for box in self._page.all(path, "boxOf(e)") if box[2] and box[3]][:number]
        left = min(box[0] for box in boxes) - margin
        top = min(box[1] for box in boxes) - margin
        right = max(box[0] + box[2] for box in boxes) + margin
        bottom = max(box[1] + box[3] for box in boxes) + margin
        return self._page.screenshot([round(x) for x in (left, top, right - left, bottom - top)])


def take_pictures(camera, prefix, sizes, true_color=()):
    """The main program: takes the pictures of a Camera's methods, as <prefix>_<method>.png.

    sizes are those of the window where they are not the usual ones, and true_color names the
    pictures with shades that 256 colors would break into bands.
    """
    names = [name for name in vars(camera) if not name.startswith("_")]
    parser = argparse.ArgumentParser(description=camera.__doc__)
    parser.add_argument("logdir", help="the directory that holds the runs")
    parser.add_argument("folder", help="where the pictures go")
    parser.add_argument("--only", action="append", choices=names, help="take this one")
    arguments = parser.parse_args()
    with TensorBoard(arguments.logdir) as tensorboard:
        for name in arguments.only or names:
            with Page(*sizes.get(name, WINDOW)) as page:
                picture = getattr(camera(page, tensorboard.url), name)()
            path = os.path.join(arguments.folder, f"{prefix}_{name}.png")
            with open(path, "wb") as png:
                png.write(picture if name in true_color else screenshot.small_png(picture))
            print(path)
