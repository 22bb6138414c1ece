# SPDX-License-Identifier: Apache-2.0
"""Python types of values other than scalars."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass
from typing import Optional

import numpy as np

from . import _core
from ._optional import require


@dataclass(frozen=True)
class Image:
    """The images of one step."""

    width: int
    """In pixels, as the writer noted it."""
    height: int
    """In pixels, as the writer noted it."""
    encoded: tuple[bytes, ...]
    """A PNG, GIF or JPEG file for each image."""

    def decode(self, index: int = 0) -> np.ndarray:
        """The pixels of one image as an array of height x width x channels; needs Pillow.

        Pillow determines shape and type: a gray image has no third dimension.
        """
        pillow = require("PIL.Image", "pillow", "Image.decode()")
        with pillow.open(io.BytesIO(self.encoded[index])) as picture:
            return np.asarray(picture)


@dataclass(frozen=True)
class Audio:
    """The audio clips of one step."""

    encoded: tuple[bytes, ...]
    """A file for each clip."""
    content_type: str
    """The media type of the files, such as "audio/wav"."""
    sample_rate: Optional[float]
    """In Hz; None if only the files contain it."""
    frames: Optional[int]
    """Samples of each channel; None if only the files contain it."""
    channels: Optional[int]
    """None if only the files contain it."""

    def decode(self, index: int = 0) -> tuple[np.ndarray, int]:
        """Samples of one clip, from -1 to 1, as an array of frames x channels, and its rate in Hz.

        Reads WAV files of 16-bit integers, which TensorBoard's writers produce.
        """
        with wave.open(io.BytesIO(self.encoded[index])) as sound:
            if sound.getsampwidth() != 2:
                raise _core.DataError(f"Audio.decode(): got a WAV file of {sound.getsampwidth() * 8} "
                                      "bits per sample; expected 16")
            samples = np.frombuffer(sound.readframes(sound.getnframes()), "<i2")
            shaped = samples.reshape(-1, sound.getnchannels())
            return shaped.astype(np.float32) / np.float32(32768), sound.getframerate()


@dataclass(frozen=True)
class Histogram:
    """The distribution of one step: `counts[i]` numbers are between `left[i]` and `right[i]`."""

    left: np.ndarray
    right: np.ndarray
    counts: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """The edges of all buckets, one more than there are counts, as `numpy.histogram` returns."""
        return np.concatenate([self.left, self.right[-1:]])


# The numbers of tensorflow/core/framework/types.proto that numpy has types for.
NUMPY_TYPES = {1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 9: "<i8", 10: "?", 17: "<u2",
               19: "<f2", 22: "<u4", 23: "<u8"}
STRING, BFLOAT16 = 7, 14


def image(series: _core.Series, index: int) -> Image:
    return Image(*_core.image(series, index))


def audio(series: _core.Series, index: int) -> Audio:
    return Audio(*_core.audio(series, index))


def histogram(series: _core.Series, index: int) -> Histogram:
    return Histogram(*_core.histogram(series, index))


def tensor(series: _core.Series, index: int) -> np.ndarray:
    """An array of any type; of bytes objects for strings, of float32 for bfloat16."""
    kind, shape, content, strings = _core.tensor(series, index)
    if kind == STRING:
        return object_array(strings, shape)
    if kind == BFLOAT16:
        halves = np.frombuffer(content, "<u2").astype("<u4")
        return (halves << np.uint32(16)).view("<f4").reshape(shape)
    if kind not in NUMPY_TYPES:
        raise _core.DataError(f"tensor '{series.tag}': got element type {kind}; expected a number, "
                              "a Boolean or a string")
    return np.frombuffer(content, NUMPY_TYPES[kind]).reshape(shape)


def text(series: _core.Series, index: int):
    """A str, or an array of them if the writer logged several."""
    shape, encoded = _core.text(series, index)
    texts = [each.decode("utf-8", "replace") for each in encoded]
    return texts[0] if len(texts) == 1 else object_array(texts, shape)


def message(series: _core.Series, index: int) -> bytes:
    """A serialized GraphDef, MetaGraphDef or RunMetadata."""
    *_, strings = _core.tensor(series, index)
    return strings[0]


def hparams(series: _core.Series, _index: int):
    return _core.session_hparams(series)


def object_array(items, shape) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


# The function that reads a value of each kind.
READERS = {"images": image, "audio": audio, "histograms": histogram, "text": text, "hparams": hparams,
           "graphs": message, "graph_tagged_run_metadata": message, "tensors": tensor}
