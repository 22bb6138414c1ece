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


DIFFERENCES = (
    Difference(
        "Damaged files are read to their end",
        "TensorBoard's server stops at the first record with a wrong length, a wrong checksum of the length, or a "
        "payload that is not an event, and shows nothing of the file from there on. It shows the value of a damaged "
        "payload that still decodes. Steptape shows every record whose two checksums are correct, and no other.",
        "damaged "),  # reading the events is the change
    Difference(
        "A wall time that is NaN costs one event",
        "TensorBoard's server stops reading the file there.",
        "wall time NaN", _without_events_without_a_time),
    Difference(
        "Scalars of every type are shown",
        "TensorBoard's server shows scalars that are float32 of shape []. Steptape also shows float64, integers, "
        "booleans, half, bfloat16 and tensors of one element, rounded to float32, which is what the protocol holds.",
        "scalar ", _with_plain_scalars),
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


def _events(path):
    with open(path, "rb") as file:
        payloads = intact_payloads(file.read())
    events = []
    for payload in payloads:
        try:
            events.append(event_pb2.Event.FromString(payload))
        except DecodeError:
            pass
    return events
