# SPDX-License-Identifier: Apache-2.0
"""TensorBoard's EventAccumulator over Steptape's reader.

    from steptape.compat.event_accumulator import EventAccumulator

    accumulator = EventAccumulator("runs/exp1", size_guidance={"scalars": 0}).Reload()
    accumulator.Scalars("loss")

Names, arguments and results are those of tensorboard.backend.event_processing.event_accumulator. Values
that TensorFlow writes as tensors with a plugin's metadata are found under their kind: a scalar under
`scalars`, where TensorBoard's class lists every one of them under `tensors`. Tensors() gives them as well.
"""

from __future__ import annotations

import io
import os
import wave
from typing import Any, NamedTuple, Optional, Sequence

from .. import _core
from .._filters import default_threads
from .._series import kind_of

COMPRESSED_HISTOGRAMS = "distributions"
HISTOGRAMS = "histograms"
IMAGES = "images"
AUDIO = "audio"
SCALARS = "scalars"
TENSORS = "tensors"
GRAPH = "graph"
META_GRAPH = "meta_graph"
RUN_METADATA = "run_metadata"

DEFAULT_SIZE_GUIDANCE = {COMPRESSED_HISTOGRAMS: 500, IMAGES: 4, AUDIO: 4, SCALARS: 10000, HISTOGRAMS: 1,
                         TENSORS: 10}
STORE_EVERYTHING_SIZE_GUIDANCE = dict.fromkeys(DEFAULT_SIZE_GUIDANCE, 0)

# Tags that the reader creates for data outside summaries.
GRAPH_TAGS = {GRAPH: "__run_graph__", META_GRAPH: "__meta_graph__"}
RUN_METADATA_PLUGIN = "graph_tagged_run_metadata"


class ScalarEvent(NamedTuple):
    wall_time: float
    step: int
    value: float


class HistogramValue(NamedTuple):
    min: float
    max: float
    num: float
    sum: float
    """NaN for a histogram that was written as a tensor, which has no sums."""
    sum_squares: float
    bucket_limit: list[float]
    bucket: list[float]


class HistogramEvent(NamedTuple):
    wall_time: float
    step: int
    histogram_value: HistogramValue


class ImageEvent(NamedTuple):
    wall_time: float
    step: int
    encoded_image_string: bytes
    """The first image of the step."""
    width: int
    height: int


class AudioEvent(NamedTuple):
    wall_time: float
    step: int
    encoded_audio_string: bytes
    """The first audio clip of the step."""
    content_type: str
    sample_rate: float
    length_frames: int


class Dimension(NamedTuple):
    size: int


class TensorShape(NamedTuple):
    dim: list[Dimension]


class TensorProto(NamedTuple):
    """The fields of a TensorProto that `make_ndarray` of tensorboard, tbparse and TensorFlow reads."""

    dtype: int
    tensor_shape: TensorShape
    tensor_content: bytes
    string_val: Sequence[bytes]


class TensorEvent(NamedTuple):
    wall_time: float
    step: int
    tensor_proto: TensorProto


class EventAccumulator:
    """The values of one run: of the event files in a directory, not below it, or of one file."""

    def __init__(self, path, size_guidance: Optional[dict] = None, compression_bps=None,
                 purge_orphaned_data: bool = True):
        """path: a run's directory or an event file.

        size_guidance: how many values of a tag are kept, by kind; 0: all. Chosen as TensorBoard chooses.
        compression_bps: accepted and not used.
        purge_orphaned_data: whether values that a restarted program has written again are left out.
        """
        self.path = path
        sizes = {**DEFAULT_SIZE_GUIDANCE, **(size_guidance or {})}
        limits = {kind: sizes[kind] for kind in (SCALARS, HISTOGRAMS, IMAGES, AUDIO)}
        is_file = os.path.isfile(path)
        self._log = _core.Log(os.fsencode(path), threads=default_threads(), max_points=limits,
                              other_max_points=sizes[TENSORS],
                              purge="restarts" if purge_orphaned_data else "none",
                              wants=None if is_file else lambda name: name == ".")
        self._run: Optional[_core.Run] = None
        self._series: dict[str, _core.Series] = {}

    def Reload(self) -> EventAccumulator:
        """Reads what was written since the last call. Raises OSError if the path cannot be read."""
        self._log.update()
        for run in self._log.runs():
            self._run = run
            self._series = {series.tag: series for series in run.series()}
        return self

    def Tags(self) -> dict[str, Any]:
        """The tags of each kind; for graphs whether there is one. Hyperparameters are not values: see
        PluginTagToContent()."""
        tags: dict[str, Any] = {kind: [] for kind in (IMAGES, AUDIO, HISTOGRAMS, SCALARS, TENSORS)}
        for tag, series in self._series.items():
            if series.plugin not in ("graphs", RUN_METADATA_PLUGIN, "hparams"):
                kind = kind_of(series)
                tags[kind if kind in tags else TENSORS].append(tag)
        return {**tags, COMPRESSED_HISTOGRAMS: list(tags[HISTOGRAMS]),
                **{kind: tag in self._series for kind, tag in GRAPH_TAGS.items()},
                RUN_METADATA: [tag for tag, series in self._series.items()
                               if series.plugin == RUN_METADATA_PLUGIN]}

    def Scalars(self, tag: str) -> list[ScalarEvent]:
        """Raises KeyError if there is no such tag, like all of these methods."""
        series = self._of_kind(tag, SCALARS)
        return list(map(ScalarEvent._make, zip(series.wall_times.tolist(), series.steps.tolist(),
                                               series.scalar_values.tolist())))

    def Histograms(self, tag: str) -> list[HistogramEvent]:
        return self._events(tag, HISTOGRAMS, HistogramEvent, lambda *at: (histogram_value(*at),))

    def Images(self, tag: str) -> list[ImageEvent]:
        return self._events(tag, IMAGES, ImageEvent, picture)

    def Audio(self, tag: str) -> list[AudioEvent]:
        return self._events(tag, AUDIO, AudioEvent, sound)

    def Tensors(self, tag: str) -> list[TensorEvent]:
        """Values of any plugin that were written as tensors, and scalars."""
        series = self._series[tag]
        proto_of = scalar_proto if series.is_scalar else tensor_proto
        return self._events(tag, None, TensorEvent, lambda *at: (proto_of(*at),))

    def FirstEventTimestamp(self) -> float:
        """The wall time of the first event. Raises ValueError if there is none."""
        return self._first_event()[0]

    def GetSourceWriter(self) -> Optional[str]:
        """The writer that the first event names; None if it names none."""
        return self._first_event()[1] or None

    def PluginTagToContent(self, plugin_name: str) -> dict[str, bytes]:
        """The plugin data of each tag of a plugin. Raises KeyError if no tag has that plugin."""
        found = {tag: series.plugin_content for tag, series in self._series.items()
                 if series.plugin == plugin_name}
        if not found:
            raise KeyError(f"Plugin {plugin_name!r} could not be found.")
        return found

    def _of_kind(self, tag: str, kind: str) -> _core.Series:
        series = self._series[tag]
        if kind_of(series) != kind:
            raise KeyError(f"{tag!r}: got a tag of {kind_of(series)}; expected one of {kind}")
        return series

    def _events(self, tag: str, kind: Optional[str], make, value_of) -> list:
        series = self._series[tag] if kind is None else self._of_kind(tag, kind)
        places = zip(series.wall_times.tolist(), series.steps.tolist())
        return [make(*place, *value_of(series, i)) for i, place in enumerate(places)]

    def _first_event(self) -> tuple[float, str]:
        if self._run is None:
            self.Reload()
        files = self._run.files if self._run is not None else []
        for path in files:
            if (found := _core.first_event(os.fsencode(path))) is not None:
                return found
        raise ValueError(f"No event timestamp could be found: got no event in {self.path}")


def histogram_value(series: _core.Series, index: int) -> HistogramValue:
    fields = _core.histogram_fields(series, index)
    if fields is not None:
        *numbers, limits, counts = fields
        return HistogramValue(*numbers, limits.tolist(), counts.tolist())
    left, right, counts = _core.histogram(series, index)
    low, high = (left[0], right[-1]) if len(left) else (0.0, 0.0)
    return HistogramValue(float(low), float(high), float(counts.sum()), float("nan"), float("nan"),
                          right.tolist(), counts.tolist())


def picture(series: _core.Series, index: int) -> tuple:
    width, height, encoded = _core.image(series, index)
    return encoded[0] if encoded else b"", width, height


def sound(series: _core.Series, index: int) -> tuple:
    encoded, content_type, rate, frames, _ = _core.audio(series, index)
    first = encoded[0] if encoded else b""
    if rate is None and content_type == "audio/wav" and first:
        with wave.open(io.BytesIO(first)) as file:
            rate, frames = float(file.getframerate()), file.getnframes()
    return first, content_type, rate or 0.0, frames or 0


def tensor_proto(series: _core.Series, index: int) -> TensorProto:
    dtype, shape, content, strings = _core.tensor(series, index)
    return TensorProto(dtype, TensorShape([Dimension(size) for size in shape]), content, strings)


def scalar_proto(series: _core.Series, index: int) -> TensorProto:
    """A double, which holds any scalar exactly."""
    return TensorProto(2, TensorShape([]), series.scalar_values[index].tobytes(), [])
