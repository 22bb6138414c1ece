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
from .._optional import require
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

# The percentiles of CompressedHistograms(), which is not available here, in hundredths of a percent.
NORMAL_HISTOGRAM_BPS = (0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000)

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

    # Numbers are always in tensor_content; make_ndarray looks here if a tensor has none.
    half_val = float_val = double_val = int_val = int64_val = bool_val = scomplex_val = dcomplex_val = ()


class TensorEvent(NamedTuple):
    wall_time: float
    step: int
    tensor_proto: TensorProto


class PluginData(NamedTuple):
    plugin_name: str
    content: bytes


class SummaryMetadata(NamedTuple):
    """The fields of a SummaryMetadata."""

    plugin_data: PluginData
    display_name: str
    summary_description: str
    data_class: int


class Events:
    """The events of one kind, as the attributes `scalars`, `images` and so on of the original."""

    def __init__(self, tags_of, events_of):
        self._tags_of = tags_of
        self._events_of = events_of

    def Keys(self) -> list[str]:
        return self._tags_of()

    def Items(self, key: str) -> list:
        """Raises KeyError if there is no such tag."""
        return self._events_of(key)


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
        self.purge_orphaned_data = purge_orphaned_data
        sizes = {**DEFAULT_SIZE_GUIDANCE, **(size_guidance or {})}
        limits = {kind: sizes[kind] for kind in (SCALARS, HISTOGRAMS, IMAGES, AUDIO)}
        is_file = os.path.isfile(path)
        self._log = _core.Log(os.fsencode(path), threads=default_threads(), max_points=limits,
                              other_max_points=sizes[TENSORS],
                              purge="restarts" if purge_orphaned_data else "none",
                              wants=None if is_file else lambda name: name == ".")
        self._run: Optional[_core.Run] = None
        self._series: dict[str, list[_core.Series]] = {}  # by tag, one for each kind of value
        self.accumulated_attrs = ("scalars", "histograms", "compressed_histograms", "images", "audios")
        self.scalars = self._events_of_kind(SCALARS, self.Scalars)
        self.histograms = self._events_of_kind(HISTOGRAMS, self.Histograms)
        self.compressed_histograms = self._events_of_kind(COMPRESSED_HISTOGRAMS, self.CompressedHistograms)
        self.images = self._events_of_kind(IMAGES, self.Images)
        self.audios = self._events_of_kind(AUDIO, self.Audio)
        self.tensors = self._events_of_kind(TENSORS, self.Tensors)

    def Reload(self) -> EventAccumulator:
        """Reads what was written since the last call. Raises OSError if the path cannot be read."""
        self._log.update()
        for run in self._log.runs():
            self._run = run
            self._series = {}
            for series in run.series():
                self._series.setdefault(series.tag, []).append(series)
        return self

    def Tags(self) -> dict[str, Any]:
        """The tags of each kind; for graphs whether there is one. A record of hyperparameters is among the
        tensors if its writer gave it a tensor."""
        tags: dict[str, Any] = {kind: [] for kind in (IMAGES, AUDIO, HISTOGRAMS, SCALARS, TENSORS)}
        for tag, kinds in self._series.items():
            for series in kinds:
                if is_value(series):
                    kind = kind_of(series)
                    of_kind = tags[kind if kind in tags else TENSORS]
                    of_kind.extend([] if tag in of_kind else [tag])
        return {**tags, COMPRESSED_HISTOGRAMS: list(tags[HISTOGRAMS]),
                **{kind: tag in self._series for kind, tag in GRAPH_TAGS.items()},
                RUN_METADATA: [tag for tag, (series, *_) in self._series.items()
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
        """Values of any plugin that were written as tensors, and scalars of a tag without others."""
        kinds = self._series[tag]
        series = next((each for each in kinds if kind_of(each) in (TENSORS, "text")), kinds[0])
        proto_of = scalar_proto if series.is_scalar else tensor_proto
        return events(series, TensorEvent, lambda *at: (proto_of(*at),))

    def CompressedHistograms(self, tag: str) -> list:
        """Not available: Histograms() has all buckets, from which numpy computes percentiles."""
        raise NotImplementedError(f"CompressedHistograms({tag!r}): got a call that steptape.compat does not "
                                  "have; use Histograms()")

    def SerializedGraph(self) -> bytes:
        """The serialized GraphDef of the run. Raises ValueError if there is none."""
        return self._message(GRAPH_TAGS[GRAPH], "There is no graph in this EventAccumulator")

    def Graph(self) -> Any:
        """The GraphDef of the run; needs tensorboard. Raises ValueError if there is none."""
        return parsed("graph_pb2", "GraphDef", self.SerializedGraph(), "Graph()")

    def MetaGraph(self) -> Any:
        """The MetaGraphDef of the run; needs tensorboard. Raises ValueError if there is none."""
        found = self._message(GRAPH_TAGS[META_GRAPH], "There is no metagraph in this EventAccumulator")
        return parsed("meta_graph_pb2", "MetaGraphDef", found, "MetaGraph()")

    def RunMetadata(self, tag: str) -> Any:
        """The RunMetadata of a tag; needs tensorboard. Raises ValueError if there is none."""
        missing = "There is no run metadata with this tag name"
        if tag not in self._series or self._series[tag][0].plugin != RUN_METADATA_PLUGIN:
            raise ValueError(missing)
        return parsed("config_pb2", "RunMetadata", self._message(tag, missing), "RunMetadata()")

    def SummaryMetadata(self, tag: str) -> SummaryMetadata:
        """The metadata of the first value of the tag; that of a value without any names its kind."""
        return self.summary_metadata[tag]

    @property
    def summary_metadata(self) -> dict[str, SummaryMetadata]:
        """SummaryMetadata() of every tag."""
        return {tag: metadata_of(series) for tag, (series, *_) in self._series.items()
                if series.plugin not in ("graphs", RUN_METADATA_PLUGIN)}

    def PluginAssets(self, plugin_name: str) -> list[str]:
        """The names of the files that a plugin keeps beside the event files; empty if there are none."""
        try:
            return os.listdir(os.path.join(self.path, "plugins", plugin_name))
        except OSError:
            return []

    def RetrievePluginAsset(self, plugin_name: str, asset_name: str) -> str:
        """The content of such a file. Raises KeyError if it cannot be read."""
        path = os.path.join(self.path, "plugins", plugin_name, asset_name)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read()
        except OSError as error:
            raise KeyError(f"Asset path {path} not found: {error}") from error

    @property
    def file_version(self) -> Optional[float]:
        """The version of the event files, 2.0 since 2015; None if they name none, or before Reload()."""
        versions = [version for _, _, version in self._first_events() if version]
        return version_number(versions[-1]) if versions else None

    @property
    def most_recent_step(self) -> int:
        """With which steps of files before version 2 are compared; -1 for all others, as in the original.
        Reads such files."""
        return self._most_recent()[0]

    @property
    def most_recent_wall_time(self) -> float:
        """The time of most_recent_step, or -1."""
        return self._most_recent()[1]

    def FirstEventTimestamp(self) -> float:
        """The wall time of the first event. Raises ValueError if there is none."""
        return self._first_event()[0]

    def GetSourceWriter(self) -> Optional[str]:
        """The writer that the first event names; None if it names none."""
        return self._first_event()[1] or None

    def PluginTagToContent(self, plugin_name: str) -> dict[str, bytes]:
        """The plugin data of each tag of a plugin. Raises KeyError if no tag has that plugin."""
        found = {tag: metadata.plugin_data.content for tag, metadata in self.summary_metadata.items()
                 if metadata.plugin_data.plugin_name == plugin_name}
        if not found:
            raise KeyError(f"Plugin {plugin_name!r} could not be found.")
        return found

    def _of_kind(self, tag: str, kind: str) -> _core.Series:
        kinds = self._series[tag]
        for series in kinds:
            if kind_of(series) == kind:
                return series
        raise KeyError(f"{tag!r}: got a tag of {kind_of(kinds[0])}; expected one of {kind}")

    def _events(self, tag: str, kind: str, make, value_of) -> list:
        return events(self._of_kind(tag, kind), make, value_of)

    def _events_of_kind(self, kind: str, events_of) -> Events:
        return Events(lambda: self.Tags()[kind], events_of)

    def _message(self, tag: str, missing: str) -> bytes:
        if tag not in self._series or len(self._series[tag][0]) == 0:
            raise ValueError(missing)
        series = self._series[tag][0]
        *_, (message, *_) = _core.tensor(series, len(series) - 1)
        return message

    def _most_recent(self) -> tuple[int, float]:
        if not self.purge_orphaned_data or all(version_number(each) >= 2 for *_, each in self._first_events()):
            return -1, -1
        return _core.most_recent(self._files())

    def _files(self) -> list[bytes]:
        return [os.fsencode(path) for path in self._run.files] if self._run is not None else []

    def _first_events(self):
        found = map(_core.first_event, self._files())
        return (each for each in found if each is not None)

    def _first_event(self) -> tuple[float, str, str]:
        if self._run is None:
            self.Reload()
        for event in self._first_events():
            return event
        raise ValueError(f"No event timestamp could be found: got no event in {self.path}")


def version_number(version: str) -> float:
    """Of "brain.Event:2"; 0 if there is none, -1 if it is no number."""
    try:
        return float(version.rpartition(":")[2] or 0)
    except ValueError:
        return -1.0


def is_value(series: _core.Series) -> bool:
    """Returns whether the original lists the series: not for graphs, and for hyperparameters if the writer
    gave them a tensor."""
    if series.plugin in ("graphs", RUN_METADATA_PLUGIN):
        return False
    if series.plugin != "hparams":
        return True
    try:
        return len(series) > 0 and _core.tensor(series, 0) is not None
    except _core.DataError:
        return False


def events(series: _core.Series, make, value_of) -> list:
    places = zip(series.wall_times.tolist(), series.steps.tolist())
    return [make(*place, *value_of(series, i)) for i, place in enumerate(places)]


def metadata_of(series: _core.Series) -> SummaryMetadata:
    plugin, content, display_name, description, data_class = series.metadata
    return SummaryMetadata(PluginData(plugin, content), display_name, description, data_class)


def parsed(module: str, message: str, content: bytes, call: str):
    proto = getattr(require(f"tensorboard.compat.proto.{module}", "tensorboard", call), message)()
    proto.ParseFromString(content)
    return proto


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
