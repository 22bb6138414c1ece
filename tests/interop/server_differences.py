# SPDX-License-Identifier: Apache-2.0
"""Where Steptape's data server shows more than TensorBoard's, tensorboard_data_server 0.7.2.

Each of DIFFERENCES is a change of the files: TensorBoard's server shows of the changed files what Steptape's shows of
the original ones. So both are compared answer by answer, with nothing left out.
"""

import os
import shutil
from typing import Callable, NamedTuple, Optional

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_shape_pb2, types_pb2
from tensorboard.util import tensor_util

from event_records import intact_payloads, record


class Difference(NamedTuple):
    """`change` takes the events of a run, by file, and returns those that show the same with 0.7.2."""
    what: str
    reason: str
    runs: Optional[str] = None  # how the names of the runs that show it begin, in server_logs.differing()
    change: Callable = lambda files: files


def _without_events_without_a_time(files):
    return [[event for event in events if not np.isnan(event.wall_time)] for events in files]


def _with_plain_scalars(files):
    """Numbers of other types and of one element become what 0.7.2 shows: float32 of rank 0."""
    first = {}
    changed = []
    for events in files:
        changed.append([])
        for event in events:
            copy = event_pb2.Event.FromString(event.SerializeToString())
            for value in copy.summary.value:
                first.setdefault(value.tag, summary_pb2.Summary.Value.FromString(value.SerializeToString()))
                if value.WhichOneof("value") == "tensor" and _is_scalar(first[value.tag]):
                    _make_plain(value.tensor)
            changed[-1].append(copy)
    return changed


def _is_scalar(value):
    metadata = value.metadata
    if metadata.data_class:
        return metadata.data_class == summary_pb2.DATA_CLASS_SCALAR
    return value.WhichOneof("value") == "simple_value" or metadata.plugin_data.plugin_name == "scalars"


def _make_plain(tensor):
    if tensor.dtype == types_pb2.DT_BFLOAT16:
        number = _bfloat16(tensor)
    else:
        number = _number(tensor)
    if number is None:
        return
    tensor.Clear()
    tensor.dtype = types_pb2.DT_FLOAT
    tensor.tensor_shape.CopyFrom(tensor_shape_pb2.TensorShapeProto())
    tensor.float_val.append(number)


def _number(tensor):
    if not tensor.tensor_shape.dim and len(tensor.float_val) > 1:
        return np.float32(tensor.float_val[0])
    try:
        array = tensor_util.make_ndarray(tensor)
    except (TypeError, ValueError):
        return None
    if array.size != 1 or array.dtype.kind not in "fiub":
        return None
    with np.errstate(over="ignore"):
        return np.float32(array.item())


def _bfloat16(tensor):
    """numpy has no such type: its bits are the upper half of a float32."""
    bits = (np.frombuffer(tensor.tensor_content, "<u2") if tensor.tensor_content
            else np.array(tensor.half_val, "u2"))
    if np.prod([dim.size for dim in tensor.tensor_shape.dim], dtype=int) != 1 or bits.size != 1:
        return None
    return (bits.astype("u4") << 16).view("f4")[0]


def _plugin_of(value):
    """The plugin that a value names, by its field or its metadata."""
    fields = {"simple_value": "scalars", "image": "images", "histo": "histograms", "audio": "audio"}
    return fields.get(value.WhichOneof("value")) or value.metadata.plugin_data.plugin_name


def _with_values(files, change):
    """The events with copies of their values, or without those of which `change` returns None."""
    changed = []
    for events in files:
        changed.append([])
        for event in events:
            copy = event_pb2.Event.FromString(event.SerializeToString())
            if event.HasField("summary"):
                values = [change(value) for value in copy.summary.value]
                del copy.summary.value[:]
                copy.summary.value.extend(value for value in values if value is not None)
            changed[-1].append(copy)
    return changed


def _with_tags_of_one_plugin(files):
    plugins = {}
    for events in files:
        for event in events:
            for value in event.summary.value:
                if _plugin_of(value):
                    plugins.setdefault(value.tag, _plugin_of(value))
    return _with_values(files, lambda value: value if _plugin_of(value) in ("", plugins.get(value.tag)) else None)


def _with_metadata_from_the_first_value_on(files):
    metadata = {}
    for events in files:
        for event in events:
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name:
                    metadata.setdefault(value.tag, value.metadata)

    def change(value):
        if not _plugin_of(value) and value.tag in metadata:
            value.metadata.CopyFrom(metadata[value.tag])
        return value

    return _with_values(files, change)


def _with_names_of_nodes_as_tags(files):
    def change(value):
        value.tag = value.tag or value.node_name
        return value

    return _with_values(files, change)


def _with_plugins_of_simple_values(files):
    def change(value):
        if value.WhichOneof("value") == "simple_value" and value.HasField("metadata"):
            if value.metadata.data_class not in (summary_pb2.DATA_CLASS_UNKNOWN, summary_pb2.DATA_CLASS_SCALAR):
                return None
            value.metadata.plugin_data.plugin_name = "scalars"
            value.metadata.data_class = summary_pb2.DATA_CLASS_SCALAR
        return value

    return _with_values(files, change)


def _with_repeated_numbers(files):
    def change(value):
        numbers = value.tensor.double_val
        size = np.prod([dim.size for dim in value.tensor.tensor_shape.dim], dtype=int)
        if numbers and value.tensor.dtype == types_pb2.DT_DOUBLE and not value.tensor.tensor_content:
            numbers.extend([numbers[-1]] * (size - len(numbers)))
        return value

    return _with_values(files, change)


def _with_pairs_of_limits_and_counts(files):
    def change(value):
        count = min(len(value.histo.bucket_limit), len(value.histo.bucket))
        del value.histo.bucket_limit[count:]
        del value.histo.bucket[count:]
        return value

    return _with_values(files, lambda value: change(value) if value.WhichOneof("value") == "histo" else value)


DIFFERENCES = (
    Difference(
        "Damaged files are read to their end",
        "TensorBoard's server stops at the first record with a wrong length, a wrong checksum of the length, or a "
        "payload that is not an event, and shows nothing of the file from there on. It shows the value of a damaged "
        "payload that still decodes. Steptape shows every record whose two checksums are correct, and no other.",
        "damaged "),  # reading the events is the change
    Difference(
        "A node's name is a tag",
        "Files of TensorFlow before 1.0 name a value by its node. TensorBoard's server shows it under an empty tag.",
        "node ", _with_names_of_nodes_as_tags),
    Difference(
        "A wall time that is NaN costs one event",
        "TensorBoard's server stops reading the file there.",
        "wall time NaN", _without_events_without_a_time),
    Difference(
        "Scalars of every type are shown",
        "TensorBoard's server shows scalars that are float32 of shape []. Steptape also shows float64, integers, "
        "booleans, half, bfloat16 and tensors of one element, rounded to float32, which is what the protocol holds. Of "
        "a tensor of rank 0 with several values it shows the first.",
        "scalar ", _with_plain_scalars),
    Difference(
        "A tag shows the values of one plugin",
        "If a tag has values of several plugins, TensorBoard's server removes points of the first plugin where others "
        "have the same step, and passes others on to pages that cannot show them. Steptape serves those of the plugin "
        "that is named first, and leaves the others out.",
        "mixed ", _with_tags_of_one_plugin),
    Difference(
        "Metadata may come late",
        "TensorBoard's server shows nothing of a tag whose first value has no metadata, even if a later one has.",
        "late ", _with_metadata_from_the_first_value_on),
    Difference(
        "Display names of simple values are shown",
        "TensorBoard's server keeps the display name and the description of a simple value only if its metadata names "
        "a class of data. Of a simple value that declares to be no scalar, Steptape shows nothing.",
        "described ", _with_plugins_of_simple_values),
    Difference(
        "Tags that are not UTF-8 are shown",
        "TensorBoard's server stops reading the file there. Steptape shows U+FFFD for what is not UTF-8.",
        "not UTF-8"),  # reading the events is the change
    Difference(
        "Tensors whose last number is repeated are whole",
        "The format lets a tensor leave out numbers that equal the one before. TensorBoard's server passes such a tensor "
        "on as it is, and the page answers 500.",
        "repeated ", _with_repeated_numbers),
    Difference(
        "Histograms with limits and counts of different number are shown",
        "TensorBoard's server leaves them out. Steptape shows the buckets that have both.",
        "buckets ", _with_pairs_of_limits_and_counts),
)

SAMPLING = Difference(
    "Sampling keeps extremes",
    "TensorBoard's server draws points at random and keeps the last one. Steptape returns at most as many points, and "
    "among them the first, the last, the smallest, the largest and each value that is not finite, as far as the number "
    "allows, so that a spike does not vanish.")


def extremes(numbers):
    """The steps of the first and last number, the smallest and largest, and those that are not finite."""
    finite = [number for number in numbers if np.isfinite(number)]
    return {0, len(numbers) - 1, numbers.index(min(finite)), numbers.index(max(finite)),
            *(step for step, number in enumerate(numbers) if not np.isfinite(number))}


QUOTED = Difference(
    "Images and sounds of every run and tag are shown",
    "TensorBoard's server cannot read its own key of a blob if the name of the run or tag holds a quote, a backslash "
    "or a control character, and answers 400.")

ORDER = Difference(
    "Runs and tags have a fixed order",
    "TensorBoard's server lists them in another order after each start.")

REPLACED = Difference(
    "A file that is replaced, truncated or written again is read again",
    "TensorBoard's server shows nothing new of such a file until TensorBoard is restarted.")

_REFUSED_KEY = b"Invalid argument: failed to parse blob key"


# Pages that ask for fewer points than --samples_per_plugin allows, and how many.
SAMPLED_ROUTES = {"histograms/histograms": 51, "distributions/distributions": 501}


def with_samples(expected, got):
    """`expected`, with the tested samples of series that a page asks for in part: as many points, and the same last."""
    return expected | {
        question: got[question] for question, answer in expected.items()
        if answer.status == 200 and question in got and got[question].status == 200
        and len(answer.body) == SAMPLED_ROUTES.get(question.route) == len(got[question].body)
        and answer.body[-1] == got[question].body[-1]}


def with_refused_blobs(expected, got, log_dir):
    """`expected`, with the tested blobs where TensorBoard's server refuses its key, if event files hold these blobs."""
    refused = [question for question, answer in expected.items()
               if answer.status == 400 and answer.body.startswith(_REFUSED_KEY)]
    if not refused or not any('"' in name or not name.isprintable() or "\\" in name
                              for question in refused for name in question.names):
        return expected
    written = blobs_in(log_dir)
    return expected | {question: got[question] for question in refused
                       if question in got and got[question].status == 200 and got[question].body in written}


def blobs_in(log_dir):
    """The images and sounds in all event files of a log directory."""
    blobs = set()
    for folder, _, names in os.walk(log_dir):
        for name in names:
            path = os.path.join(folder, name)
            for event in _events(path) if "tfevents" in name and os.path.isfile(path) else ():
                for value in event.summary.value:
                    blobs.update((value.image.encoded_image_string, value.audio.encoded_audio_string,
                                  *value.tensor.string_val))
    return blobs


def write_equivalent(log_dir, target):
    """Writes the log directory of which TensorBoard's server shows what Steptape's shows of `log_dir`."""
    shutil.copytree(log_dir, target, symlinks=True)
    for folder, _, names in os.walk(target):
        paths = [os.path.join(folder, name) for name in sorted(names) if "tfevents" in name]
        paths = [path for path in paths if os.path.isfile(path)]
        files = [_events(path) for path in paths]
        for difference in DIFFERENCES:
            files = difference.change(files)
        for path, events in zip(paths, files):
            if not os.path.islink(path):
                with open(path, "wb") as file:
                    file.writelines(record(event.SerializeToString()) for event in events)


def _with_a_tag_in_utf8(payload):
    """The event with U+FFFD for a byte of a tag that is not UTF-8, if that is all that is wrong."""
    try:
        event = event_pb2.Event.FromString(payload.replace(b"\xff", b"?"))
    except DecodeError:
        return
    for value in event.summary.value:
        value.tag = value.tag.replace("?", "\ufffd")
    yield event


def _events(path):
    with open(path, "rb") as file:
        payloads = intact_payloads(file.read())
    events = []
    for payload in payloads:
        try:
            events.append(event_pb2.Event.FromString(payload))
        except DecodeError:
            events.extend(_with_a_tag_in_utf8(payload))
    return events
