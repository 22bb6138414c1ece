#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape check` against both of TensorBoard's loaders, on a family of files with every kind and form of values.

Each member is a run. `check` must report a loss for a loader exactly where the loader's pages do not show the values
that the run's files hold.
"""

import json
import os
import subprocess
import tempfile
import unittest

from tensorboard.compat.proto import summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

import loader_oracle
from patience import PATIENCE_SECONDS
from reader_runs import BEGAN, Run, event, histogram, image, metadata_of, scalar, sound, start, version
from written_values import CLASSES, lost_values, written_values

SUMMARY = summary_pb2.Summary


def tensor_value(plugin, dtype, shape=(), tag="t", is_bare=False, has_class=True, node="", **fields):
    """A value of a tensor with exactly these fields."""
    dimensions = [tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in shape or ()]
    kind = None if shape is None else tensor_shape_pb2.TensorShapeProto(dim=dimensions)
    metadata = None
    if not is_bare:
        metadata = metadata_of(plugin, data_class=CLASSES.get(plugin, 0) if has_class else 0)
    return SUMMARY.Value(tag=tag, node_name=node, metadata=metadata,
                         tensor=tensor_pb2.TensorProto(dtype=dtype, tensor_shape=kind, **fields))


def number(dtype=types_pb2.DT_FLOAT, shape=(), plugin="scalars", **fields):
    return tensor_value(plugin, dtype, shape, **(fields or {"float_val": [1.5]}))


def rows(plugin="histograms", **more):
    return tensor_value(plugin, types_pb2.DT_DOUBLE, (2, 3), double_val=[0, 1, 3, 1, 2, 4], **more)


def words(*strings, shape=None, plugin="text", **more):
    return tensor_value(plugin, types_pb2.DT_STRING, (len(strings),) if shape is None else shape,
                        string_val=strings, **more)


def curve(**more):
    return tensor_value("pr_curves", types_pb2.DT_FLOAT, (6, 2), float_val=[9, 8, 1, 2, 3, 4, 5, 6, .5, .6, .7, .8],
                        **more)


def picture(plugin="images", shape=(3,), **more):
    return words(b"2", b"2", b"PNG", shape=shape, plugin=plugin, **more)


def clip(**more):
    return words(b"RIFF", plugin="audio", **more)


# One good value of each kind and form.
GOOD = {
    "simple": lambda: scalar("t", 0.5),
    "scalar": number,
    "histo": lambda: histogram("t", 0, 2, [1, 2], [3, 4]),
    "histogram": rows,
    "image": lambda: image("t", b"PNG"),
    "images": picture,
    "sound": lambda: sound("t", b"RIFF"),
    "audio": clip,
    "text": lambda: words(b"word"),
    "curve": curve,
}


def numbers_of_all_types():
    """Scalars of every type and of both places where a tensor holds its elements."""
    half = 0x3e00
    content = {types_pb2.DT_FLOAT: b"\0\0\xc0\x3f", types_pb2.DT_DOUBLE: b"\0\0\0\0\0\0\xf8\x3f",
               types_pb2.DT_INT32: b"\3\0\0\0", types_pb2.DT_INT64: b"\3" + bytes(7), types_pb2.DT_BOOL: b"\1",
               types_pb2.DT_UINT8: b"\3", types_pb2.DT_UINT16: b"\3\0", types_pb2.DT_INT8: b"\3",
               types_pb2.DT_INT16: b"\3\0", types_pb2.DT_UINT32: b"\3\0\0\0", types_pb2.DT_UINT64: b"\3" + bytes(7),
               types_pb2.DT_HALF: b"\0\x3e", types_pb2.DT_BFLOAT16: b"\xc0\x3f"}
    fields = {types_pb2.DT_FLOAT: {"float_val": [1.5]}, types_pb2.DT_DOUBLE: {"double_val": [1.5]},
              types_pb2.DT_INT32: {"int_val": [3]}, types_pb2.DT_INT64: {"int64_val": [3]},
              types_pb2.DT_BOOL: {"bool_val": [True]}, types_pb2.DT_UINT8: {"int_val": [3]},
              types_pb2.DT_UINT16: {"int_val": [3]}, types_pb2.DT_INT8: {"int_val": [3]},
              types_pb2.DT_INT16: {"int_val": [3]}, types_pb2.DT_HALF: {"half_val": [half]},
              types_pb2.DT_BFLOAT16: {"half_val": [0x3fc0]}}
    for dtype, bytes_ in content.items():
        name = types_pb2.DataType.Name(dtype)
        yield f"{name} content", [number(dtype, tensor_content=bytes_)]
        if dtype in fields:
            yield f"{name} field", [number(dtype, **fields[dtype])]


def scalars_of_odd_shapes():
    yield "scalar without a shape", [number(shape=None)]
    for shape in ((1,), (1, 1), (0,), (2,)):
        yield f"scalar {shape} of one", [number(shape=shape)]
    yield "scalar of two", [number(shape=(2,), float_val=[1, 2])]
    yield "scalar with two values", [number(float_val=[1, 2])]
    yield "scalar without a value", [number(types_pb2.DT_FLOAT, (), float_val=[])]
    yield "scalar of a bad length", [number(tensor_content=b"\0\0\0")]
    yield "scalar after one without a value", [number(float_val=[]), number()]
    yield "scalar before one without a value", [number(), number(float_val=[])]
    yield "string as a scalar", [tensor_value("scalars", types_pb2.DT_STRING, (), string_val=[b"oops"])]
    yield "float, then int", [number(), number(types_pb2.DT_INT64, int64_val=[3])]
    yield "int, then float", [number(types_pb2.DT_INT64, int64_val=[3]), number()]
    yield "simple, then tensor", [scalar("t", 1), number()]
    yield "tensor, then simple", [number(), scalar("t", 1)]


def histograms_of_odd_forms():
    nan = float("nan")
    yield "histo without buckets", [histogram("t", 0, 0, [], [])]
    yield "histo with empty ends", [histogram("t", 1, 2, [0, 1, 2, 3], [0, 5, 3, 0])]
    yield "histo with a first NaN", [histogram("t", 0, 3, [1, 2, 3], [nan, 3, 4])]
    yield "histo with a last NaN", [histogram("t", 0, 3, [1, 2, 3], [2, 3, nan])]
    yield "histo with an inner NaN", [histogram("t", 0, 3, [1, 2, 3], [2, nan, 3])]
    yield "histo with a negative count", [histogram("t", 0, 2, [1, 2], [-1, 3])]
    yield "histo of zeros", [histogram("t", 0, 2, [1, 2], [0, 0])]
    yield "histo with more limits", [histogram("t", 0, 3, [1, 2, 3], [2, 3])]
    yield "histo with fewer limits", [histogram("t", 0, 3, [1], [2, 3, 4])]
    yield "histo with fewer limits and empty counts", [histogram("t", 0, 3, [1], [2, 3, 0, 0])]
    yield "histogram with a NaN", [tensor_value("histograms", types_pb2.DT_DOUBLE, (2, 3),
                                                double_val=[0, 1, nan, 1, 2, 4])]
    yield "histogram without buckets", [tensor_value("histograms", types_pb2.DT_DOUBLE, (0, 3))]
    yield "histogram of floats", [tensor_value("histograms", types_pb2.DT_FLOAT, (1, 3), float_val=[0, 1, 3])]
    yield "histogram of ints", [tensor_value("histograms", types_pb2.DT_INT64, (1, 3), int64_val=[0, 1, 3])]
    yield "histogram of rank 1", [tensor_value("histograms", types_pb2.DT_DOUBLE, (3,), double_val=[0, 1, 3])]
    yield "histogram of two columns", [tensor_value("histograms", types_pb2.DT_DOUBLE, (1, 2), double_val=[0, 1])]
    yield "histogram of too few numbers", [tensor_value("histograms", types_pb2.DT_DOUBLE, (2, 3), double_val=[0, 1])]
    yield "histogram of one number", [tensor_value("histograms", types_pb2.DT_DOUBLE, (2, 3), double_val=[1])]
    yield "histogram of bfloat16", [tensor_value("histograms", types_pb2.DT_BFLOAT16, (1, 3), half_val=[0, 1, 3])]


def texts_and_curves_of_odd_forms():
    yield "text of rank 0", [words(b"word", shape=())]
    yield "text without a shape", [tensor_value("text", types_pb2.DT_STRING, None, string_val=[b"word"])]
    yield "table", [words(b"a", b"b", b"c", b"d", shape=(2, 2))]
    yield "text of rank 3", [words(b"a", b"b", b"c", b"d", shape=(1, 2, 2))]
    yield "text of rank 3 in slices", [words(b"aa", b"bb", b"cc", b"dd", shape=(2, 1, 2))]
    yield "text of no strings", [words(shape=(0,))]
    yield "text without a string", [tensor_value("text", types_pb2.DT_STRING, ())]
    yield "text of too few strings", [words(b"a", b"b", shape=(3,))]
    yield "text that repeats", [words(b"aa", shape=(3,))]
    yield "number as a text", [tensor_value("text", types_pb2.DT_FLOAT, (), float_val=[1.5])]
    yield "numbers as a text", [tensor_value("text", types_pb2.DT_FLOAT, (2,), float_val=[1.5, 2])]
    yield "text that is not UTF-8", [words(b"w\xff")]
    yield "curve of rank 1", [tensor_value("pr_curves", types_pb2.DT_FLOAT, (6,), float_val=range(6))]
    yield "curve of five rows", [tensor_value("pr_curves", types_pb2.DT_FLOAT, (5, 1), float_val=range(5))]
    yield "curve of seven rows", [tensor_value("pr_curves", types_pb2.DT_FLOAT, (7, 1), float_val=range(7))]
    yield "curve of a NaN", [tensor_value("pr_curves", types_pb2.DT_FLOAT, (6, 1), float_val=[1, 2, 3, float("nan"), 5, 6])]
    yield "curve of doubles", [tensor_value("pr_curves", types_pb2.DT_DOUBLE, (6, 1), double_val=range(1, 7))]
    yield "curve of strings", [tensor_value("pr_curves", types_pb2.DT_STRING, (6, 1), string_val=[b"1"] * 6)]
    yield "curve of no thresholds", [tensor_value("pr_curves", types_pb2.DT_FLOAT, (6, 0))]


def media_of_odd_forms():
    yield "images", [words(b"2", b"2", b"PNG1", b"PNG2", plugin="images")]
    yield "images of a varying number", [words(b"2", b"2", b"P1", b"P2", plugin="images"), picture()]
    yield "no images", [words(b"2", b"2", plugin="images")]
    yield "fewer strings than an image has", [words(b"2", plugin="images")]
    for shape in ((1, 3), (3, 1), (1, 1, 3)):
        yield f"image {shape}", [picture(shape=shape)]
    yield "image of rank 0", [words(b"PNG", shape=(), plugin="images")]
    yield "image without a shape", [tensor_value("images", types_pb2.DT_STRING, None, string_val=[b"1", b"1", b"P"])]
    yield "image of too few strings", [words(b"2", b"2", shape=(3,), plugin="images")]
    yield "image of numbers", [tensor_value("images", types_pb2.DT_FLOAT, (3,), float_val=[2, 2, 3])]
    yield "image, then number", [picture(), number(plugin="images")]
    yield "audio clips", [words(b"R1", b"R2", plugin="audio")]
    yield "audio of a varying number of clips", [words(b"R1", b"R2", plugin="audio"), clip()]
    yield "audio of a growing number of clips", [clip(), words(b"R1", b"R2", plugin="audio")]
    yield "no audio clips", [words(plugin="audio", shape=(0,))]
    yield "audio of rank 0", [words(b"RIFF", shape=(), plugin="audio")]
    yield "labeled audio", [words(b"R", b"label", shape=(1, 2), plugin="audio", has_class=False)]
    yield "labeled audio clips", [words(b"R", b"l", b"S", b"m", shape=(2, 2), plugin="audio", has_class=False)]
    yield "labeled audio of a class", [words(b"R", b"label", shape=(1, 2), plugin="audio")]
    yield "labeled audio without labels", [words(b"R", b"S", shape=(2, 1), plugin="audio", has_class=False)]
    yield "labeled audio with three columns", [words(b"R", b"l", b"m", shape=(1, 3), plugin="audio", has_class=False)]
    yield "audio of numbers", [tensor_value("audio", types_pb2.DT_FLOAT, (1,), float_val=[2])]
    yield "sound, then labeled audio", [sound("t", b"RIFF"), words(b"R", b"l", shape=(1, 2), plugin="audio")]


def metadata_of_all_sorts():
    for plugin in CLASSES:
        good = {"scalars": number, "histograms": rows, "text": lambda **more: words(b"word", **more),
                "images": picture, "audio": clip, "pr_curves": curve}[plugin]
        yield f"{plugin} without a class", [_without_class(good())]
        yield f"{plugin}, metadata with the first value only", [good(), _bare(good())]
        yield f"{plugin}, metadata with the second value only", [_bare(good()), good()]
        yield f"{plugin}, metadata without a class with the second value only", [_bare(good()), _without_class(good())]
        yield f"{plugin} without metadata", [_bare(good())]
        for other, data_class in CLASSES.items():
            if data_class != CLASSES[plugin]:
                yield f"{plugin} of the class of {other}", [_of_class(good(), data_class)]
        yield f"{plugin} of class 9", [_of_class(good(), 9)]
        nothing = SUMMARY.Value(tag="t", metadata=metadata_of(plugin))
        typed = SUMMARY.Value(tag="t", metadata=metadata_of(plugin, data_class=CLASSES[plugin]))
        yield f"{plugin}, metadata only", [nothing, number_under_another_tag(plugin)]
        yield f"{plugin}, metadata only, with a class", [typed, number_under_another_tag(plugin)]
        yield f"{plugin}, metadata before the value", [nothing, _bare(good())]
        yield f"{plugin}, metadata with a class before the value", [typed, _bare(good())]
        yield f"{plugin} without a tag", [_renamed(good(), ""), number_under_another_tag(plugin)]
        yield f"{plugin}, tag in the node's name", [_renamed(good(), "", "node"), number_under_another_tag(plugin)]
    yield "simple without a tag", [scalar("", 1), scalar("other", 1)]
    yield "simple, tag in the node's name", [SUMMARY.Value(node_name="node", simple_value=1), scalar("other", 1)]
    for number_of_tag, tag in enumerate(('a"b', "a\\b", "a\tb", "a\x7fb", "a/ü")):
        for kind, make in GOOD.items():
            yield f"{kind} of odd tag {number_of_tag}", [_renamed(make(), tag)]
    yield "plugin that nobody knows", [number(plugin="mine")]
    yield "simple with another plugin", [scalar("t", 1, metadata=metadata_of("text"))]
    yield "simple with another plugin and class", [scalar("t", 1, metadata=metadata_of("text", data_class=2))]
    yield "simple with its plugin and class", [scalar("t", 1, metadata=metadata_of("scalars", data_class=1))]


def number_under_another_tag(plugin):
    """A good value of the plugin, which a failing page hides as well."""
    good = {"scalars": number, "histograms": rows, "text": lambda: words(b"word"), "images": picture, "audio": clip,
            "pr_curves": curve}[plugin]()
    return _renamed(good, "other")


def _changed(value, change):
    change(value)
    return value


def _bare(value):
    return _changed(value, lambda value: value.ClearField("metadata"))


def _of_class(value, data_class):
    return _changed(value, lambda value: setattr(value.metadata, "data_class", data_class))


def _without_class(value):
    return _of_class(value, 0)


def _renamed(value, tag, node=""):
    def rename(value):
        value.tag, value.node_name = tag, node
    return _changed(value, rename)


def two_kinds():
    for first, make_first in GOOD.items():
        for second, make_second in GOOD.items():
            if first != second:
                yield f"{first}, then {second}", [make_first(), make_second()]
                yield f"{first} and {second} at each step", [(make_first(), make_second()),
                                                             (make_first(), make_second())]


def repeated_steps():
    for name, make in GOOD.items():
        yield f"{name} twice at a step", [(0, make()), (1, make()), (1, _other(make())), (2, make())]
        yield f"{name} back and on", [(0, make()), (4, make()), (2, _other(make())), (6, make())]
        yield f"{name} back to a step", [(0, make()), (1, make()), (2, make()), (1, _other(make()))]
        yield f"{name} with a restart", [(0, make()), (4, make()), start(2), (2, _other(make())), (3, make())]
        yield f"{name} that a restart discards", [(3, make()), start(2), (2, _renamed(_other(make()), "other"))]


def _other(value):
    """The same kind with other content."""
    field = value.WhichOneof("value")
    if field == "simple_value":
        value.simple_value += 1
    elif field == "histo":
        value.histo.bucket[0] += 1
    elif field == "image":
        value.image.encoded_image_string += b"2"
    elif field == "audio":
        value.audio.encoded_audio_string += b"2"
    elif value.tensor.string_val:
        value.tensor.string_val[-1] += b"2"
    elif value.tensor.double_val:
        value.tensor.double_val[2] += 1
    else:
        value.tensor.float_val[-1] += 1
    return value


def family():
    """Yields (name, files): each file is a list of events."""
    for part in (numbers_of_all_types, scalars_of_odd_shapes, histograms_of_odd_forms, texts_and_curves_of_odd_forms,
                 media_of_odd_forms, metadata_of_all_sorts, two_kinds, repeated_steps):
        for name, steps in part():
            yield name, [[version(2), start(0), *_events(steps)]]
    for kind in ("simple", "image", "sound"):
        yield f'{kind} in a "run"', [[version(2), start(0), event(0, GOOD[kind]())]]
    for name, make in GOOD.items():
        bare = make()
        bare.ClearField("metadata")
        yield f"{name}, in a second file without metadata", [[version(2), start(0), event(0, make())],
                                                             [version(2), event(1, bare)]]
        yield f"{name} without a version", [[event(0, make()), event(3, make()), event(1, _other(make()))]]
    yield "labeled audio, in a second file without metadata", [
        [version(2), start(0), event(0, words(b"R", b"l", shape=(1, 2), plugin="audio", has_class=False))],
        [version(2), event(1, words(b"S", b"l", shape=(1, 2), plugin="audio", is_bare=True))]]


def _events(steps):
    for number_of_step, step in enumerate(steps):
        if isinstance(step, SUMMARY.Value):
            yield event(number_of_step, step)
        elif isinstance(step, tuple) and isinstance(step[0], int):
            yield event(*step)
        elif isinstance(step, tuple):
            yield event(number_of_step, *step)
        else:
            yield step


class BothLoaders(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.members = dict(family())
        for name, files in cls.members.items():
            run = Run(cls.directory, name)
            for file in files:
                run.file(*file)
        checked = subprocess.run([os.environ["STEPTAPE_TOOL"], "check", "--json", cls.directory],
                                 stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS, text=True)
        cls.checked = {os.path.relpath(run["run"], cls.directory): run
                       for run in json.loads(checked.stdout)["runs"]}

    def mistakes(self, reader, lost_of):
        """Compares all members; `lost_of(name, values)` returns what the loader does not show."""
        mistakes = []
        for name, files in self.members.items():
            lost = lost_of(name, written_values(files))
            run = self.checked[name]
            claimed = {finding["tag"]: finding for finding in run["findings"] if finding[reader] == "loss"}
            if lost and run[reader] != "loss":
                mistakes.append(f"{name}: check promises everything; {lost}")
            elif claimed and not lost:
                mistakes.append(f"{name}: check reports a loss that is none: "
                                f"{[finding['message'] for finding in claimed.values()]}")
        return mistakes

    def test_the_fast_data_server(self):
        answers = loader_oracle.pages(self.directory, fast=True)
        mistakes = self.mistakes("fast_data_server", lambda name, values: lost_values(
            values, answers, name, tolerates_binary32=False))
        self.assertFalse(mistakes, "\n" + "\n".join(mistakes))

    def test_the_python_loader(self):
        # A page can fail for all runs, and the loader itself too: each member gets a loader of its own.
        mistakes = self.mistakes("python_loader", lambda name, values: lost_values(
            values, loader_oracle.pages(os.path.join(self.directory, name), fast=False), ".",
            tolerates_binary32=True))
        self.assertFalse(mistakes, "\n" + "\n".join(mistakes))


if __name__ == "__main__":
    unittest.main()
