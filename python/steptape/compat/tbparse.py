# SPDX-License-Identifier: Apache-2.0
"""tbparse's SummaryReader over Steptape's reader.

    from steptape.compat.tbparse import SummaryReader

    SummaryReader("runs", pivot=True, extra_columns={"dir_name"}).scalars

Names, arguments, columns and the order of rows are those of tbparse 0.0.9; tag, dir_name and file_name
are categories. Every event file is read for itself, so that a restart takes back values of its own file
only. Scalars and histograms that were written as tensors are among `scalars` and `histograms`; tbparse
has them among `tensors`. Pictures need Pillow, and nothing needs TensorFlow.
"""

from __future__ import annotations

import os
from typing import Iterator, NamedTuple, Optional

import numpy as np

from .. import _core, _values
from .._filters import default_threads
from .._optional import require
from .._series import kind_of
from ._tbparse_rows import (COLUMNS_OF, hparam_rows, histogram_dict, long, name_of, pixels_of, scalar_rows,
                            value_rows, wide)
from .event_accumulator import STORE_EVERYTHING_SIZE_GUIDANCE, EventAccumulator

ALL_EVENT_TYPES = {"scalars", "tensors", "histograms", "images", "audio", "hparams", "text"}
ALL_EXTRA_COLUMNS = {"dir_name", "file_name", "wall_time", "min", "max", "num", "sum", "sum_squares",
                     "width", "height", "content_type", "length_frames", "sample_rate"}
# Columns with the origin of a row, in sorting order.
PLACES = ("dir_name", "file_name")


class File(NamedTuple):
    """An event file and its series of each kind."""

    dir_name: str
    file_name: str
    series: list[_core.Series]


class SummaryReader:
    """Reads an event file, or all in and below a directory, into a DataFrame for each kind."""

    def __init__(self, log_path, *, pivot: bool = False, extra_columns: Optional[set] = None,
                 event_types: Optional[set] = None):
        """pivot: one column for each tag; a list where a tag has several values at one step.

        extra_columns: some of ALL_EXTRA_COLUMNS. event_types: some of ALL_EVENT_TYPES, all by default.
        Raises ValueError if there is no such path, KeyError for a name that is not known.
        """
        self.log_path = os.fspath(log_path)
        self._pivot = pivot
        self._extra = check("columns entries", extra_columns or set(), ALL_EXTRA_COLUMNS)
        self._event_types = check("event types", event_types or ALL_EVENT_TYPES, ALL_EVENT_TYPES)
        if not os.path.exists(self.log_path):
            raise ValueError(f"File or directory not found: {self.log_path}")
        self._files = [read_file(self.log_path, path) for path in event_files(self.log_path)]

    @property
    def scalars(self):
        return self.get_events("scalars")

    @property
    def tensors(self):
        return self.get_events("tensors")

    @property
    def histograms(self):
        return self.get_events("histograms")

    @property
    def images(self):
        """`value`: pixels, height x width x channels; needs Pillow."""
        return self.get_events("images")

    @property
    def audio(self):
        """`value`: samples from -1 to 1, frames x channels, of WAV files."""
        return self.get_events("audio")

    @property
    def hparams(self):
        return self.get_events("hparams")

    @property
    def text(self):
        return self.get_events("text")

    @property
    def tags(self) -> dict[str, list[str]]:
        """The tags of each kind."""
        return {kind: self.get_tags(kind) for kind in ALL_EVENT_TYPES}

    def get_tags(self, event_type: Optional[str] = None):
        """The tags of one kind, or a dict of all."""
        if event_type is None:
            return self.tags
        self._check_type(event_type)
        if event_type == "hparams":
            return list(dict.fromkeys(name for _, series in self._of_kind("hparams")
                                      for name in _core.session_hparams(series) or {}))
        return list(dict.fromkeys(name_of(series) for _, series in self._of_kind(event_type)))

    def get_events(self, event_type: str):
        """A pandas.DataFrame of one kind; empty if there is none. Reads values from the files."""
        self._check_type(event_type)
        if event_type not in self._event_types:
            raise ValueError(f"event_type is ignored by user: {event_type}")
        pandas = require("pandas", "pandas", "SummaryReader")
        if event_type == "scalars":
            rows = scalar_rows(self._of_kind("scalars"))
        elif event_type == "hparams":
            rows = hparam_rows(self._of_kind("hparams"))
        else:
            rows = value_rows(self._of_kind(event_type), COLUMNS_OF[event_type])
        if len(rows.tags) == 0:
            return pandas.DataFrame()
        wanted = [name for name in rows.values
                  if name not in ALL_EXTRA_COLUMNS or name in self._extra]
        rows.values = {name: rows.values[name] for name in wanted}
        rows.sort([place for place in PLACES if place in self._extra], by_tag=not self._pivot)
        shape = wide if self._pivot else long
        return shape(pandas, rows, [name for name in ("wall_time", *PLACES) if name in self._extra])

    def _check_type(self, event_type: str) -> None:
        if event_type not in ALL_EVENT_TYPES:
            raise ValueError(f"Unknown event_type: {event_type}")

    def _of_kind(self, kind: str) -> list[tuple[File, _core.Series]]:
        return [(file, series) for file in self._files for series in file.series
                if kind_of(series) == kind]

    @property
    def children(self) -> dict[str, SummaryReader]:
        """A reader for each entry of the directory; empty for a file."""
        if not os.path.isdir(self.log_path):
            return {}
        return {name: SummaryReader(os.path.join(self.log_path, name), pivot=self._pivot,
                                    extra_columns=self._extra, event_types=self._event_types)
                for name in sorted(os.listdir(self.log_path))}

    @property
    def raw_tags(self) -> dict[str, list[str]]:
        return self.get_raw_tags()

    def get_raw_tags(self, event_type: Optional[str] = None, event_acc: Optional[EventAccumulator] = None):
        """The tags of an event file in an EventAccumulator, of one kind or a dict of all.

        Raises ValueError for a directory, and for a kind that is not known.
        """
        event_acc = self._accumulator(event_acc)
        tags = event_acc.Tags()
        for plugin in ("hparams", "text"):
            try:
                tags[plugin] = list(event_acc.PluginTagToContent(plugin))
            except KeyError:
                tags[plugin] = []
        if event_type is not None and event_type not in tags:
            raise ValueError(f"Unknown event_type: {event_type}")
        return tags if event_type is None else tags[event_type]

    @property
    def raw_events(self) -> dict[str, dict[str, list]]:
        return self.get_raw_events()

    def get_raw_events(self, event_type: Optional[str] = None, tag: Optional[str] = None,
                       event_acc: Optional[EventAccumulator] = None):
        """The events of an event file as an EventAccumulator returns them: of one tag, or a dict of those
        of one kind, or a dict of the dicts of all kinds.

        Raises ValueError for a directory, KeyError for a kind or a tag that is not there.
        """
        event_acc = self._accumulator(event_acc)
        if event_type is None:
            if tag is not None:
                raise ValueError("tag shouldn't be set if event_type is None")
            return {kind: self.get_raw_events(kind, None, event_acc) for kind in ALL_EVENT_TYPES}
        events_of = {"scalars": event_acc.Scalars, "tensors": event_acc.Tensors, "text": event_acc.Tensors,
                     "histograms": event_acc.Histograms, "images": event_acc.Images,
                     "audio": event_acc.Audio,
                     "hparams": lambda name: event_acc.PluginTagToContent("hparams")[name]}[event_type]
        if tag is not None:
            return events_of(tag)
        return {name: events_of(name) for name in self.get_raw_tags(event_type, event_acc)}

    def _accumulator(self, given: Optional[EventAccumulator]) -> EventAccumulator:
        if os.path.isdir(self.log_path):
            raise ValueError(f"Not an event file: {self.log_path}")
        return given or EventAccumulator(self.log_path, STORE_EVERYTHING_SIZE_GUIDANCE).Reload()

    @staticmethod
    def tensor_to_histogram(tensor) -> dict:
        """The columns of a histogram from rows of left edge, right edge and count."""
        left, right, counts = np.asarray(tensor, dtype=float).reshape(-1, 3).T
        return histogram_dict(left, right, counts)

    buckets_to_histogram_dict = tensor_to_histogram

    @staticmethod
    def tensor_to_image(tensor) -> dict:
        """Pixels, width and height from a list of width, height and encoded images; needs Pillow."""
        width, height, *encoded = tensor
        image = _values.Image(int(width), int(height), tuple(map(bytes, encoded)))
        return {"image": pixels_of(image), "width": image.width, "height": image.height}

    @staticmethod
    def tensor_to_audio(tensor) -> dict:
        """Samples, media type, frames and sample rate from a list of pairs of WAV file and label."""
        sounds = [_values.Audio((bytes(file),), "audio/wav", None, None, None).decode()
                  for file, _ in tensor]
        samples = [each for each, _ in sounds]
        rates = [rate for _, rate in sounds]
        return {"audio": samples[0] if len(samples) == 1 else np.stack(samples), "content_type": "audio/wav",
                "length_frames": len(samples[0]), "sample_rate": rates[0] if len(rates) == 1 else rates}

    @staticmethod
    def histogram_to_cdf(counts, limits, x) -> np.ndarray:
        """The cumulative distribution at each of `x`, which ascends, linear inside of buckets."""
        x, total = np.asarray(x, dtype=float), np.cumsum(counts)
        limits = np.asarray(limits, dtype=float)
        if len(total) != len(limits) or np.any(np.diff(x) <= 0):
            raise ValueError(f"histogram_to_cdf(): got {len(total)} counts, {len(limits)} limits and "
                             f"x = {x}; expected as many limits as counts, and ascending x")
        return np.interp(x, limits, total) / total[-1]

    @staticmethod
    def histogram_to_pdf(counts, limits, x) -> tuple[np.ndarray, np.ndarray]:
        """The centers between neighboring `x`, and the density of the distribution there."""
        x = np.asarray(x, dtype=float)
        y = SummaryReader.histogram_to_cdf(counts, limits, x)
        return (x[1:] + x[:-1]) / 2, np.diff(y) / np.diff(x)

    @staticmethod
    def histogram_to_bins(counts, limits, lower_bound: Optional[float] = None,
                          upper_bound: Optional[float] = None, n_bins: int = 30) -> tuple[list, list]:
        """The centers of `n_bins` bins of equal width, and the share of the counts in each, as
        TensorBoard's histogram page draws them. The first count must be 0."""
        counts, limits = np.asarray(counts, dtype=float), np.asarray(limits, dtype=float)
        if len(counts) != len(limits) or len(counts) == 0 or counts[0] != 0:
            raise ValueError(f"histogram_to_bins(): got {len(counts)} counts and {len(limits)} limits; "
                             "expected as many limits as counts, and a first count of 0")
        low, high = (0, 0) if None in (lower_bound, upper_bound) else (lower_bound, upper_bound)
        if low == high:
            low, high = low / 1.1 - 1, low * 1.1 + 1
        width = (high - low) / n_bins
        left = np.maximum(low, limits[:-1])
        right = np.minimum(high, limits[1:])
        centers, bins = [], []
        for i in range(n_bins):
            begin, end = low + i * width, low + i * width + width
            overlap = np.minimum(right, end) - np.maximum(left, begin)
            share = np.divide(overlap, right - left, out=np.zeros_like(overlap), where=right > left)
            is_point = (right <= left) & (begin <= left) & ((right <= end) if end >= high else (right < end))
            centers.append(begin + width / 2)
            bins.append(float(np.sum(counts[1:] * np.where(is_point, 1, np.maximum(share, 0)))))
        return centers, bins

    def __getitem__(self, name: str) -> SummaryReader:
        return self.children[name]

    def __repr__(self) -> str:
        return f"SummaryReader(log_path='{self.log_path}')"


def check(what: str, names: set, known: set) -> set:
    if not isinstance(names, set):
        raise ValueError(f"{what}: got {type(names)}; expected a set")
    if names - known:
        raise KeyError(f"Invalid {what}: {names - known}")
    return set(names)


def event_files(path: str) -> Iterator[str]:
    """In the order of tbparse: directory by directory, sorted by name."""
    if os.path.isfile(path):
        yield path
        return
    for name in sorted(os.listdir(path)):
        below = os.path.join(path, name)
        if os.path.isdir(below) or "tfevents" in name:
            yield from event_files(below)


def read_file(log_path: str, path: str) -> File:
    log = _core.Log(os.fsencode(path), threads=default_threads())
    log.update()
    directory = os.path.relpath(os.path.dirname(path), log_path) if path != log_path else "."
    series = [each for run in log.runs() for each in run.series()]
    return File("" if directory == "." else directory, os.path.basename(path), series)
