# SPDX-License-Identifier: Apache-2.0
"""Pixels of matplotlib's figures and of Pillow's images."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _arguments
from ._optional import require


def is_pillow(image: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def pillow_pixels(image: Any) -> tuple[np.ndarray, str]:
    """The pixels, and the order of their dimensions."""
    if image.mode in ("P", "PA"):
        image = image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
    elif image.mode in ("1", "LA", "La", "RGBa", "CMYK", "YCbCr", "LAB", "HSV", "RGBX"):
        image = image.convert({"1": "L", "LA": "RGBA", "La": "RGBA", "RGBa": "RGBA"}.get(image.mode, "RGB"))
    pixels = np.asarray(image)
    if image.mode.startswith("I;16"):
        pixels = (pixels >> 8).astype(np.uint8)
    return pixels, "HW" if pixels.ndim == 2 else "HWC"


def figure_pixels(figure: Any, close: bool) -> np.ndarray:
    """Draws a figure of matplotlib. Returns (height, width, 4) of uint8."""
    made = sys.modules.get("matplotlib.figure")  # Who has a figure has imported it.
    if made is None or not isinstance(figure, made.Figure):
        raise _arguments.wrong("add_figure: figure", figure, "a figure of matplotlib, or a list of them")
    agg = require("matplotlib.backends.backend_agg", "matplotlib", "add_figure")
    canvas = agg.FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())
    if close:
        require("matplotlib.pyplot", "matplotlib", "add_figure").close(figure)
    return pixels
