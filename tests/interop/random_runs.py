# SPDX-License-Identifier: Apache-2.0
"""Random runs as valid event files: every kind and form of values, and the habits of several writers."""

import random
import string

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from reader_runs import BEGAN, metadata_of
from written_values import CLASSES

SUMMARY = summary_pb2.Summary
_INTEGERS = {types_pb2.DT_INT32: ("i4", "int_val"), types_pb2.DT_INT64: ("i8", "int64_val"),
             types_pb2.DT_INT16: ("i2", "int_val"), types_pb2.DT_INT8: ("i1", "int_val"),
             types_pb2.DT_UINT8: ("u1", "int_val"), types_pb2.DT_UINT16: ("u2", "int_val"),
             types_pb2.DT_UINT32: ("u4", None), types_pb2.DT_UINT64: ("u8", None),
             types_pb2.DT_BOOL: ("?", "bool_val")}


class Tag:
    """A tag, with the kind and form of its values."""

    def __init__(self, rng, name, habits):
        self.name = name
        self.page = rng.choices(list(CLASSES), (6, 3, 2, 2, 1, 1))[0]
        self.is_compatible = habits.is_compatible and self.page in ("scalars", "histograms", "images", "audio")
        self.dtype = rng.choices([types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE, types_pb2.DT_HALF,
                                  types_pb2.DT_BFLOAT16, *_INTEGERS], [30, 4, 1, 1] + [.5] * len(_INTEGERS))[0]
        self.clips = rng.choice((1, 1, 2))
        self.metadata = habits.metadata
        self.has_class = habits.has_class
        self.is_described = False
        self.step = rng.choice((0, 0, 0, 1, 1000, -5, 2 ** 40))
        self.stride = rng.choice((1, 1, 1, 2, 100))
        self.oddity = rng.choices((None, "shape", "back", "twice", "no shape", "kind", "empty", "labels"),
                                  (40, 1, 1, 1, 1, 2, 1, 1))[0]


class Habits:
    """What a writer does in each of its files."""

    def __init__(self, rng):
        self.first = rng.choices(("version", "empty", "none", "version 1"), (12, 1, 1, 1))[0]
        self.is_compatible = rng.random() < 0.5
        self.metadata = rng.choices(("first", "always", "each file"), (3, 3, 2))[0]
        self.has_class = rng.random() < 0.6
        self.values_of_event = rng.choice((1, 1, 3, 100))
        self.has_starts = rng.random() < 0.6
        self.tag_in_node = rng.random() < 0.02


def random_run(rng):
    """Returns the files of a run, each a list of events."""
    habits = Habits(rng)
    names = rng.sample(["loss", "a/b", "a", "step", "run", "lr", "grad/fc1", "größe", "x y", "tag,1", 'q"q'],
                       rng.randint(1, 4))
    tags = [Tag(rng, name, habits) for name in names]
    clock = [BEGAN]
    files = []
    for number in range(rng.choice((1, 1, 1, 2, 3))):
        events = list(_beginning(rng, habits, number, clock, tags))
        for tag in tags:
            if habits.metadata == "each file":
                tag.is_described = False
        for _ in range(rng.randint(0, 6)):
            events += _step(rng, habits, tags, clock)
        files.append(events)
    return files


def _tick(rng, clock):
    clock[0] += rng.choice((0, 0.25, 1, 1, 60))
    return clock[0]


def _beginning(rng, habits, number, clock, tags):
    time = _tick(rng, clock)
    if habits.first == "empty":
        yield event_pb2.Event(wall_time=time)
    elif habits.first != "none":
        yield event_pb2.Event(wall_time=time, file_version="brain.Event:" + ("1" if "1" in habits.first else "2"))
    if habits.has_starts:
        restart = number > 0 and rng.random() < 0.5
        step = min(tag.step for tag in tags) - (rng.randint(0, 3) if restart else 0) if number else 0
        log = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
        yield event_pb2.Event(wall_time=time, step=step, session_log=log)
        if restart:
            for tag in tags:
                tag.step = max(step, tag.step - 2 * tag.stride)
    if rng.random() < 0.05:
        yield event_pb2.Event(wall_time=time, graph_def=b"\x0a\0")
    if rng.random() < 0.05:
        log = event_pb2.SessionLog(status=event_pb2.SessionLog.CHECKPOINT, checkpoint_path="x")
        yield event_pb2.Event(wall_time=time, step=1, session_log=log)


def _step(rng, habits, tags, clock):
    """Events with one value of some tags, at the tags' own steps."""
    by_step = {}
    for tag in tags:
        if rng.random() < 0.8:
            by_step.setdefault(_next_step(rng, tag), []).append(tag)
    for step, those in sorted(by_step.items()):
        for begin in range(0, len(those), habits.values_of_event):
            values = [_value(rng, habits, tag) for tag in those[begin:begin + habits.values_of_event]]
            yield event_pb2.Event(wall_time=_tick(rng, clock), step=step, summary=SUMMARY(value=values))


def _next_step(rng, tag):
    step = tag.step
    if tag.oddity == "back" and rng.random() < 0.2:
        return step - tag.stride * 3
    if tag.oddity == "twice" and rng.random() < 0.3:
        return step
    tag.step += tag.stride
    return step


def _value(rng, habits, tag):
    page = tag.page
    if tag.oddity == "kind" and rng.random() < 0.3:
        page = rng.choice(list(CLASSES))
    if tag.oddity == "empty" and rng.random() < 0.2:
        return SUMMARY.Value(tag=tag.name, metadata=_metadata(tag, page))
    if tag.is_compatible and page in ("scalars", "histograms", "images", "audio"):
        value = _compatible(rng, page)
    else:
        value = SUMMARY.Value(tensor=_tensor(rng, tag, page))
        if tag.metadata == "always" or not tag.is_described:
            value.metadata.CopyFrom(_metadata(tag, page))
            tag.is_described = True
    if habits.tag_in_node and page == "text" and not tag.is_compatible:
        value.node_name = tag.name
    else:
        value.tag = tag.name
    return value


def _metadata(tag, page):
    return metadata_of(page, data_class=CLASSES[page] if tag.has_class else 0)


def _number(rng):
    return rng.choice((rng.uniform(-1, 1), rng.gauss(0, 1e3), float(rng.randint(-5, 5)), 0.0, -0.0, 1e-42, 3e38,
                       float("nan"), float("inf"), float("-inf")) + (0.5,) * 20)


def _histogram(rng):
    """Ascending edges and counts. Counts are whole numbers that binary32 has."""
    buckets = rng.choice((0, 1, 2, 3, 10))
    edges = sorted(float(np.float32(rng.gauss(0, 10))) for _ in range(buckets + 1))
    counts = [float(rng.choice((0, 0, 1, 2, 7, 1000))) for _ in range(buckets)]
    if buckets and rng.random() < 0.02:
        counts[rng.randrange(buckets)] = float("nan")
    return edges, counts


def _compatible(rng, page):
    if page == "scalars":
        return SUMMARY.Value(simple_value=_number(rng))
    if page == "images":
        return SUMMARY.Value(image=SUMMARY.Image(width=4, height=3, colorspace=3, encoded_image_string=_blob(rng)))
    if page == "audio":
        return SUMMARY.Value(audio=SUMMARY.Audio(sample_rate=8000, num_channels=1, length_frames=7,
                                                 encoded_audio_string=_blob(rng), content_type="audio/wav"))
    edges, counts = _histogram(rng)
    histo = summary_pb2.HistogramProto(min=edges[0], max=edges[-1], num=1, bucket_limit=edges[1:], bucket=counts)
    if counts and rng.random() < 0.2:  # as torch: empty outer buckets, up to far limits
        histo.bucket_limit[:] = [histo.bucket_limit[0] - 1, *histo.bucket_limit, 1e20]
        histo.bucket[:] = [0, *histo.bucket, 0]
    return SUMMARY.Value(histo=histo)


def _blob(rng):
    return rng.choice((b"\x89PNG\r\n\x1a\n", b"RIFF", b"GIF89a")) + rng.randbytes(rng.choice((0, 3, 40)))


def _text(rng):
    return "".join(rng.choices(string.ascii_letters + "äé漢", k=rng.randint(1, 8))).encode()


def _tensor(rng, tag, page):
    if page == "scalars":
        return _scalar_tensor(rng, tag)
    if page == "histograms":
        edges, counts = _histogram(rng)
        rows = [[left, right, count] for left, right, count in zip(edges, edges[1:], counts)]
        return _numbers(rng, types_pb2.DT_DOUBLE, [number for row in rows for number in row], (len(rows), 3))
    if page == "pr_curves":
        thresholds = rng.choice((1, 2, 5))
        counts = [float(rng.randint(1, 9)) for _ in range(4 * thresholds)]
        return _numbers(rng, rng.choice((types_pb2.DT_FLOAT, types_pb2.DT_DOUBLE)),
                        counts + [rng.randint(0, 8) / 8 for _ in range(2 * thresholds)], (6, thresholds))
    if page == "text":
        shape = rng.choice(((), None, (1,), (2,), (2, 2), (0,)))
        strings = [_text(rng) for _ in range(int(np.prod(shape or (), dtype=int)))]
        return _strings(shape, strings)
    blobs = [_blob(rng) for _ in range(tag.clips)]
    if page == "images":
        return _strings((len(blobs) + 2,), [b"4", b"3", *blobs])
    if tag.oddity == "labels":
        return _strings((len(blobs), 2), [part for blob in blobs for part in (blob, b"label")])
    return _strings((len(blobs),), blobs)


def _strings(shape, strings):
    return tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, tensor_shape=_shape(shape), string_val=strings)


def _shape(shape):
    if shape is None:
        return None
    dimensions = [tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in shape]
    return tensor_shape_pb2.TensorShapeProto(dim=dimensions)


def _scalar_tensor(rng, tag):
    shape = {"shape": rng.choice(((1,), (1, 1), (2,))), "no shape": None}.get(tag.oddity, ())
    size = 2 if shape == (2,) else 1
    if tag.dtype in _INTEGERS:
        code, field = _INTEGERS[tag.dtype]
        numbers = np.array([rng.randint(0, 1) if code == "?" else rng.randint(0, 100)] * size, code)
        if field is None or rng.random() < 0.5:
            return tensor_pb2.TensorProto(dtype=tag.dtype, tensor_shape=_shape(shape), tensor_content=numbers.tobytes())
        return tensor_pb2.TensorProto(dtype=tag.dtype, tensor_shape=_shape(shape), **{field: numbers.tolist()})
    return _numbers(rng, tag.dtype, [_number(rng) for _ in range(size)], shape)


def _numbers(rng, dtype, numbers, shape):
    content = rng.random() < 0.5
    proto = tensor_pb2.TensorProto(dtype=dtype, tensor_shape=_shape(shape))
    with np.errstate(over="ignore"):
        if dtype in (types_pb2.DT_HALF, types_pb2.DT_BFLOAT16):
            bits = (np.array(numbers, "f2").view("u2") if dtype == types_pb2.DT_HALF
                    else (np.array(numbers, "f4").view("u4") >> 16).astype("u2"))
            if content:
                proto.tensor_content = bits.tobytes()
            else:
                proto.half_val.extend(bits.tolist())
            return proto
        array = np.array(numbers, "f8" if dtype == types_pb2.DT_DOUBLE else "f4")
    if content:
        proto.tensor_content = array.tobytes()
    else:
        getattr(proto, "double_val" if dtype == types_pb2.DT_DOUBLE else "float_val").extend(array.tolist())
    return proto


def rng_of(seed, number):
    return random.Random(f"{seed}/{number}")
