# SPDX-License-Identifier: Apache-2.0
"""The numbers that Steptape and its peers in Python log, and the files that hand them to C++.

A folder of them has the elements of each array in `<name>.bin`, little-endian and row-major, and a
line `<name> <type> <dimension> ...` for it in `index.txt`.
"""

import io
import os

import numpy as np
from PIL import Image

BATCH = 11  # more than the eight images that make a row of a grid
HEIGHT, WIDTH = 7, 9
POINTS = 10


def make():
    """A dict of arrays; the same in every run."""
    rng = np.random.default_rng(2021)
    arrays = scalars(rng)
    arrays |= histograms(rng)
    arrays |= images(rng)
    arrays |= sounds(rng)
    arrays |= pr_curves(rng)
    arrays |= meshes(rng)
    arrays |= tensors(rng)
    arrays |= embeddings(rng)
    return arrays


def save(arrays, directory):
    os.makedirs(directory)
    with open(os.path.join(directory, "index.txt"), "w", encoding="utf-8") as index:
        for name, array in arrays.items():
            print(name, array.dtype.name, *array.shape, file=index)
            array.astype(array.dtype.newbyteorder("<")).tofile(
                os.path.join(directory, name + ".bin"))


def scalars(rng):
    return {
        "curve": rng.normal(size=40),
        "curves": rng.normal(size=(2, 20)),
        "unusual": np.array([np.nan, np.inf, -np.inf, 2.0 ** -149, 3.4e38, -0.0, 1 / 3]),
    }


def histograms(rng):
    normal = rng.normal(size=(3, 400))
    return {
        "normal": normal,
        "float32": normal.astype(np.float32),
        "float16": normal.astype(np.float16),
        "integers": rng.integers(-20, 20, size=(3, 400)),
        "bytes": rng.integers(0, 255, size=(3, 400)).astype(np.uint8),
        "truths": rng.integers(0, 2, size=(3, 400)).astype(bool),
        "empty": np.zeros(0),
        "equal": np.full((1, 5), 2.5),
        "zeros": np.zeros((1, 5)),
        "not_finite": np.array([1, np.nan, 2, np.inf, -np.inf, 3]),
        "far_out": np.array([-1e21, 0.5, 1e21]),
        "edges": np.array([-10, -1, -0.25, 0, 0.5, 10.0]),
        "inner_edges": np.array([-1, 0, 1.0]),
        "raw_limits": np.array([-1, 0, 0.5, 2.0]),
        "raw_counts": np.array([1, 4, 2, 3.0]),
    }


def images(rng):
    rgb = rng.random((3, HEIGHT, WIDTH), dtype=np.float32)
    frames = rng.integers(0, 256, size=(3, 4, 3, 6, 5)).astype(np.uint8)
    return {
        "chw": rgb,
        "hwc": np.ascontiguousarray(rgb.transpose(1, 2, 0)),
        "cwh": np.ascontiguousarray(rgb.transpose(0, 2, 1)),
        "hw": rgb[0],
        "wh": np.ascontiguousarray(rgb[0].T),
        "gray": rgb[:1],
        "rgba": rng.random((4, HEIGHT, WIDTH), dtype=np.float32),
        "levels": rng.integers(0, 256, size=(3, HEIGHT, WIDTH)).astype(np.uint8),
        "too_bright": (4 * rgb - 2).astype(np.float32),
        # Just below each level, too near for binary32.
        "all_levels": (np.arange(256) / 255 * (1 - 1e-10)).reshape(1, 16, 16),
        "nchw": rng.random((BATCH, 3, HEIGHT, WIDTH), dtype=np.float32),
        "nchw_rgba": rng.random((3, 4, HEIGHT, WIDTH), dtype=np.float32),
        "nhwc": rng.integers(0, 256, size=(BATCH, HEIGHT, WIDTH, 3)).astype(np.uint8),
        "scene": rng.random((3, 40, 60), dtype=np.float32),
        # The last one reaches out of the picture.
        "boxes": np.array([[5, 6, 20, 30], [10.6, 2.4, 50.5, 20.5], [40, 25, 80, 60.0]]),
        "clip": frames[:1],
        "clips": frames,
        "plot": frames[0, 0],
        "plot_png": png(frames[0, 0]),
    }


def png(picture):
    """The bytes of a PNG file of a picture of (C, H, W)."""
    file = io.BytesIO()
    Image.fromarray(picture.transpose(1, 2, 0)).save(file, "PNG")
    return np.frombuffer(file.getvalue(), np.uint8)


def sounds(rng):
    tone = np.sin(np.arange(2000) * 0.07) * 0.9
    return {
        "mono": tone.astype(np.float32),
        "stereo": np.stack([tone, rng.uniform(-1, 1, size=2000)], axis=1).astype(np.float32),
        "loud": (2 * tone).astype(np.float32),
    }


def pr_curves(rng):
    labels = rng.integers(0, 2, size=300)
    return {
        "labels": labels.astype(np.int64),
        # Up to 0.75, so that thresholds at the end have no positive.
        "predictions": (0.75 * rng.random(300)).astype(np.float32),
        "example_weights": rng.uniform(0.5, 3, size=300).astype(np.float32),
        # Rows: true and false positives, true and false negatives, precision, recall.
        "counts": np.array([[75, 64, 21, 5, 0], [150, 105, 18, 0, 0], [0, 45, 132, 150, 150],
                            [0, 11, 54, 70, 75], [.333, .379, .538, 1, 0],
                            [1, .853, .28, .067, 0]]),
    }


def meshes(rng):
    return {
        "vertices": rng.uniform(-1, 1, size=(2, 6, 3)).astype(np.float32),
        "faces": rng.integers(0, 6, size=(2, 4, 3)).astype(np.int32),
        "colors": rng.integers(0, 256, size=(2, 6, 3)).astype(np.uint8),
        "color_fractions": rng.random((2, 6, 3), dtype=np.float32),
    }


def tensors(rng):
    return {
        "tensor_float32": rng.normal(size=(2, 3)).astype(np.float32),
        "tensor_float64": rng.normal(size=(2, 3)),
        "tensor_float16": rng.normal(size=(2, 3)).astype(np.float16),
        "tensor_int8": rng.integers(-128, 128, size=(4,)).astype(np.int8),
        "tensor_uint8": rng.integers(0, 256, size=(4,)).astype(np.uint8),
        "tensor_int16": rng.integers(-9999, 9999, size=(4,)).astype(np.int16),
        "tensor_int32": rng.integers(-9999, 9999, size=(1, 2, 2)).astype(np.int32),
        "tensor_int64": rng.integers(-2 ** 60, 2 ** 60, size=(4,)),
        "tensor_bool": rng.integers(0, 2, size=(5,)).astype(bool),
        "tensor_scalar": np.array(2.5),
    }


def embeddings(rng):
    return {
        "matrix": rng.normal(size=(POINTS, 4)).astype(np.float32),
        "matrix_float64": rng.normal(size=(POINTS, 3)),
        "thumbnails": rng.random((POINTS, 3, 8, 8), dtype=np.float32),
    }
