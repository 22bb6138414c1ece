#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes pictures of the real TensorBoard showing a log directory, in headless Chromium.

    screenshot.py --logdir runs --tags "" --size 1600x1180 docs/images/tensorboard.png

    mpiexec -n 4 build/release/bin/heat_equation --cells 256 --steps 8000
    screenshot.py --logdir runs --tags 'residual$|temperature' --size 1240x560 docs/images/fortran.png
"""

import argparse
import io
import time
import urllib.parse

from PIL import Image

from browser import Page
from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard

PAGES = ("timeseries", "scalars", "images", "histograms", "distributions", "text")
SETTLED_SECONDS = 2

CLOSE_SETTINGS = """
(function() {
  const close = document.querySelector('settings-view-component, .sidebar') &&
      [...document.querySelectorAll('button')].find(b => b.textContent.includes('Settings'));
  if (close) close.click();
  return Boolean(close);
})()
"""
# TensorBoard fetches data in several rounds, the later ones once it knows which charts are visible.
REQUESTS = "performance.getEntriesByType('resource').length"


def show(page, url, name, tags, smoothing=0):
    """Opens TensorBoard's page `name` with the tags that match a regular expression unfolded."""
    tags = urllib.parse.quote(tags)
    # The newer pages read their state before the '#', the older ones after it.
    page.open(f"{url}/?tagFilter={tags}&smoothing={smoothing}"
              f"#{name}&tagFilter={tags}&_smoothingWeight={smoothing}")
    if name == "timeseries":
        page.wait_for(CLOSE_SETTINGS, "the button Settings")


def wait_until_drawn(page, moving=False):
    """Returns the picture once it and the number of requests have not changed for a while.

    Of a page on which a video plays only the requests count.
    """
    deadline = time.monotonic() + PATIENCE_SECONDS
    last, since = None, 0.0
    while time.monotonic() < deadline:
        picture = page.screenshot()
        now = (page.evaluate(REQUESTS), None if moving else picture)
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since > SETTLED_SECONDS:
            return picture
        time.sleep(0.2)
    raise TimeoutError("TensorBoard's page does not come to rest")


def small_png(data):
    """The same picture with at most 256 colors, enough for charts: a third of the bytes."""
    picture = Image.open(io.BytesIO(data)).convert("RGB").quantize(256)
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--logdir", required=True)
    parser.add_argument("--page", choices=PAGES, default="timeseries")
    parser.add_argument("--tags", default=".",
                        help="regular expression of the tags to show; empty: the page as it opens")
    parser.add_argument("--smoothing", type=float, default=0, help="of the curves, from 0 to 0.999")
    parser.add_argument("--size", default="1400x900", help="of the window, in pixels")
    parser.add_argument("--wait-for", action="append", default=[], metavar="TEXT",
                        help="text that has to be on the page")
    parser.add_argument("png", help="where the picture goes")
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    with TensorBoard(arguments.logdir) as tensorboard, Page(width, height) as page:
        show(page, tensorboard.url, arguments.page, arguments.tags, arguments.smoothing)
        for text in arguments.wait_for:
            page.wait_for_text(text)
        with open(arguments.png, "wb") as png:
            png.write(small_png(wait_until_drawn(page)))


if __name__ == "__main__":
    main()
