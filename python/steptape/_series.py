# SPDX-License-Identifier: Apache-2.0
"""One tag of one run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from . import _core, _values


class LazyValues(Sequence):
    """Values that are read from their file on access: by index, slice or iteration.

    Nothing is cached: each access opens the file and decodes a record. Raises OSError if the file no
    longer exists, DataError if it now holds something else.
    """

    def __init__(self, native: _core.Series, reader: Callable[[_core.Series, int], Any]):
        self._native = native
        self._reader = reader

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"'{self._native.tag}': got index {index}; expected one of {len(self)} "
                             "values")
        return self._reader(self._native, position)

    def __repr__(self) -> str:
        return f"<{len(self)} values, read on access>"


class Series:
    """All values of one kind under one tag in one run, in the order of writing.

    Values that a restart discarded are not included; see read().
    """

    __slots__ = ("_native",)

    def __init__(self, native: _core.Series):
        self._native = native

    @property
    def run(self) -> str:
        """The name of the run: its directory below the log directory, or "."."""
        return self._native.run

    @property
    def tag(self) -> str:
        return self._native.tag

    @property
    def kind(self) -> str:
        """"scalars", "images", "audio", "histograms", "text", "hparams", "graphs",
        "graph_tagged_run_metadata", or "tensors" for any other."""
        return kind_of(self._native)

    @property
    def plugin(self) -> str:
        """The name of the TensorBoard plugin that shows the tag, such as "scalars" or "pr_curves"."""
        return self._native.plugin

    @property
    def is_rounded(self) -> bool:
        """Whether scalars were integers that no double equals; `values` has the nearest doubles."""
        return self._native.is_rounded

    @property
    def display_name(self) -> str:
        return self._native.display_name

    @property
    def description(self) -> str:
        """Markdown that TensorBoard shows next to the chart; usually empty."""
        return self._native.description

    @property
    def steps(self) -> np.ndarray:
        """Read-only int64."""
        return self._native.steps

    @property
    def wall_times(self) -> np.ndarray:
        """Seconds since 1970-01-01 UTC: read-only float64, with a resolution of 240 ns today."""
        return self._native.wall_times

    @property
    def times(self) -> np.ndarray:
        """wall_times as datetime64[ns], in UTC; a copy.

        NaT where a time is not a number, or not from 1677 to 2262, which datetime64[ns] holds; of the
        latter, a warning names the first.
        """
        return to_datetime(self.wall_times)

    @property
    def values(self):
        """Scalars: a read-only float64 array. Other kinds: LazyValues of Image, Audio, Histogram, str
        (or an array of them), dict for hparams, bytes for graphs, and numpy arrays for tensors.

        Arrays share the memory of the log: none is a copy, and each keeps all of it alive.
        """
        if self._native.is_scalar:
            return self._native.scalar_values
        return LazyValues(self._native, _values.READERS[self.kind])

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<steptape.Series {self.run!r} {self.tag!r}: {len(self)} {self.kind}>"


def kind_of(native: _core.Series) -> str:
    if native.is_scalar:
        return "scalars"
    return native.plugin if native.plugin in _values.READERS else "tensors"


def to_datetime(seconds: np.ndarray) -> np.ndarray:
    nanoseconds = np.rint(seconds * 1e9)
    fits = np.abs(nanoseconds) < 2.0 ** 63  # false for NaN
    wrong = seconds[~fits & np.isfinite(seconds)]
    if len(wrong):
        warnings.warn(f"steptape: got {len(wrong)} wall times such as {wrong[0]!s}; expected seconds since "
                      "1970, from the years 1677 to 2262. Milliseconds? They become NaT", UserWarning,
                      stacklevel=3)
    # NaT is the smallest integer.
    return np.where(fits, nanoseconds, -2.0 ** 63).astype("int64").view("datetime64[ns]")
