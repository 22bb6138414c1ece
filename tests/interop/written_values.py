# SPDX-License-Identifier: Apache-2.0
"""Which values event files hold, and which of them a loader does not show.

Reads the events themselves, without code of Steptape or of TensorBoard's loaders, whose answers are compared with it.
"""

import math
from typing import NamedTuple, Optional

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, types_pb2

from loader_oracle import PAGES

CLASSES = {"scalars": summary_pb2.DATA_CLASS_SCALAR, "histograms": summary_pb2.DATA_CLASS_TENSOR,
           "text": summary_pb2.DATA_CLASS_TENSOR, "images": summary_pb2.DATA_CLASS_BLOB_SEQUENCE,
           "audio": summary_pb2.DATA_CLASS_BLOB_SEQUENCE, "pr_curves": summary_pb2.DATA_CLASS_TENSOR}

_FIELDS = {"simple_value": "scalars", "histo": "histograms", "image": "images", "audio": "audio"}
_NUMBERS = {types_pb2.DT_FLOAT: ("f4", "float_val"), types_pb2.DT_DOUBLE: ("f8", "double_val"),
            types_pb2.DT_INT32: ("i4", "int_val"), types_pb2.DT_INT16: ("i2", "int_val"),
            types_pb2.DT_INT8: ("i1", "int_val"), types_pb2.DT_UINT8: ("u1", "int_val"),
            types_pb2.DT_UINT16: ("u2", "int_val"), types_pb2.DT_INT64: ("i8", "int64_val"),
            types_pb2.DT_UINT32: ("u4", "uint32_val"), types_pb2.DT_UINT64: ("u8", "uint64_val"),
            types_pb2.DT_BOOL: ("?", "bool_val"), types_pb2.DT_HALF: ("f2", "half_val")}


class Written(NamedTuple):
    """A value in a file. Its meaning is what its page shows, or None if no page can show it as it is.

    An optional one may be shown or not: a restart has discarded it, or it is metadata without data.
    """
    tag: str
    page: Optional[str]
    step: int
    wall_time: float
    meaning: object
    is_optional: bool = False
    name: str = ""  # the tag, or of old writers the name of the node
    is_metadata: bool = False  # without data


def written_values(files):
    """Returns the values of a run in order. `files` are lists of events."""
    events = [event for file in files for event in file]
    plugins = {}
    for value in (value for event in events for value in event.summary.value):
        if value.metadata.plugin_data.plugin_name:
            plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
    values = []
    for event in events:
        if event.session_log.status == event_pb2.SessionLog.START:
            values = [value._replace(is_optional=value.is_optional or value.step >= event.step)
                      for value in values]
        for value in event.summary.value:
            field = value.WhichOneof("value")
            page = (_FIELDS.get(field) or value.metadata.plugin_data.plugin_name or plugins.get(value.tag))
            values.append(Written(value.tag, page if page in PAGES else None, event.step, event.wall_time,
                                  _meaning(page, value), field is None, value.tag or value.node_name,
                                  field is None))
    return values


def _meaning(page, value):
    """The content that the page shows."""
    field = value.WhichOneof("value")
    if field is None:
        return [] if page == "histograms" else ()
    if field == "simple_value":
        return value.simple_value
    if field == "histo":
        return _rows_of(value.histo)
    if field == "image":
        return (value.image.encoded_image_string,)
    if field == "audio":
        return (value.audio.encoded_audio_string,)
    return _meaning_of_tensor(page, value.tensor)


def _rows_of(histo):
    # Limits without a count mean nothing, and counts without a limit reach up to the maximum.
    edges = [*histo.bucket_limit, *[histo.max] * len(histo.bucket)][:len(histo.bucket)]
    lefts, rights = [histo.min, *edges[:-1]], [*edges[:-1], histo.max]
    return [list(row) for row in zip(lefts, rights, histo.bucket)]


def _meaning_of_tensor(page, tensor):
    shape = [dimension.size for dimension in tensor.tensor_shape.dim]
    size = math.prod(shape)
    if tensor.dtype == types_pb2.DT_STRING:
        strings = list(tensor.string_val)
        if len(strings) == 1:
            strings *= size
        if len(strings) != size:
            return None
        if page == "text":
            return tuple(strings)
        if page == "images":
            return tuple(strings[2:]) if len(shape) == 1 else None
        if page == "audio":
            clips = strings[::2] if len(shape) == 2 and shape[1] == 2 else strings
            return tuple(clips) if shape else None
        return None
    numbers = _numbers(tensor, size)
    if numbers is None:
        return None
    if page == "scalars":
        return float(numbers[0]) if size == 1 else None
    if page == "histograms":
        return numbers.reshape(shape).tolist() if len(shape) == 2 and shape[1] == 3 else None
    if page == "pr_curves":
        return numbers.reshape(shape)[5].tolist() if len(shape) == 2 and shape[0] == 6 else None
    return None


def _numbers(tensor, size):
    if tensor.dtype == types_pb2.DT_BFLOAT16:
        bits = np.frombuffer(tensor.tensor_content, "<u2") if tensor.tensor_content else np.array(
            list(tensor.half_val), "u2")
        return (bits.astype("u4") << 16).view("f4") if len(bits) == size else None
    if tensor.dtype not in _NUMBERS:
        return None
    code, field = _NUMBERS[tensor.dtype]
    if tensor.tensor_content:
        width = np.dtype(code).itemsize
        fits = len(tensor.tensor_content) == size * width
        return np.frombuffer(tensor.tensor_content, code) if fits else None
    given = list(getattr(tensor, field, ())) if hasattr(tensor, field) else []
    if len(given) == 1:
        given *= size
    if len(given) != size:
        return None
    return np.array(given, "u2").view("f2") if code == "f2" else np.array(given, code)


def lost_values(values, answers, run, tolerates_binary32):
    """Compares the written values of a run with a loader's pages.

    Returns {tag: reason} for each tag of which something is not shown, or is shown that was not written. The tag None
    stands for all tags of a page that fails.
    """
    lost = {}
    for tag in dict.fromkeys(value.tag for value in values):
        mine = [value for value in values if value.tag == tag]
        reason = _reason(mine, answers, run, tag, tolerates_binary32)
        if reason:
            lost[tag] = reason
    for name, page in answers.items():
        if page.status != 200 and any(value.page == name for value in values):
            lost[None] = f"{name}: HTTP {page.status} for all runs"
    return lost


def _reason(values, answers, run, tag, tolerates_binary32):
    for name in PAGES:
        mine = [value for value in values if value.page == name]
        page = answers[name]
        answer = page.tags.get((run, tag))
        if page.status != 200:
            continue
        if answer is None:
            if any(not value.is_optional for value in mine):
                return f"{name}: not listed"
            continue
        if answer.points is None:
            return f"{name}: HTTP {answer.status}"
        points = list(answer.points)
        for value in sorted(mine, key=lambda value: value.is_optional):
            is_shown = value.meaning is not None and (_take(value, name, points, tolerates_binary32) or
                                                      _is_repeated(value, mine))
            if not is_shown and not value.is_optional:
                return f"{name}: step {value.step} is not shown: {str(value.meaning)[:60]}"
        if points:
            return f"{name}: shows what was not written: {str(points[0])[:80]}"
    if any(value.page is None and not value.is_optional for value in values):
        return "no page"
    return None


def _is_repeated(value, others):
    """Whether another scalar has the same number at the same step, which is shown instead."""
    return value.page == "scalars" and any(
        other is not value and other.step == value.step and _is_same(other.meaning, value.meaning)
        for other in others)


def _take(value, page, points, tolerates_binary32):
    """Removes the points that show `value`. Returns whether there are as many as needed."""
    needed = ([(sample, content) for sample, content in enumerate(value.meaning)]
              if page in ("images", "audio") else [value.meaning])
    for each in needed:
        for point in points:
            if point[0] == value.step and _is_same(point[1], value.wall_time) and _shows(
                    point[2], each, page, tolerates_binary32):
                points.remove(point)
                break
        else:
            return False
    return True


def _shows(shown, meaning, page, tolerates_binary32):
    if page == "text":
        return isinstance(shown, str) and all(text.decode(errors="replace") in shown for text in meaning)
    if page == "histograms":
        return isinstance(shown, list) and (_are_same_rows(shown, meaning) or tolerates_binary32 and
                                            _are_same_rows(shown, _trimmed(meaning)))
    if page == "pr_curves":
        return len(shown) == len(meaning) and all(map(_is_same, shown, meaning))
    if page == "scalars":
        return isinstance(shown, (int, float)) and _is_same(float(shown), meaning)
    return shown == meaning


def _trimmed(rows):
    """The Python loader omits empty buckets at both ends of the compatible form, and rounds."""
    counts = [row[2] for row in rows]
    full = [i for i, count in enumerate(counts) if count != 0]
    if not full:
        return []
    kept = [list(row) for row in rows[full[0]:full[-1] + 1]]
    kept[0][0], kept[-1][1] = rows[0][0], rows[-1][1]
    return [[_binary32(number) for number in row] for row in kept]


def _binary32(number):
    with np.errstate(over="ignore"):
        return float(np.float32(number))


def _are_same_rows(a, b):
    return len(a) == len(b) and all(isinstance(x, list) and len(x) == len(y) and all(map(_is_same, x, y))
                                    for x, y in zip(a, b))


def _is_same(a, b):
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return a == b
