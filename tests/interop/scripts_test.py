#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scripts of users read our files: event accumulators, tbparse, tensorboard-reducer, and a
reader that knows the format's definition only."""

import io
import math
import os
import struct
import tempfile
import unittest
import warnings

import numpy as np
import tbparse
import tensorboard_reducer
from PIL import Image
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.util import tensor_util

import writer_program

ALL = {kind: 0 for kind in ("scalars", "histograms", "images", "audio", "tensors")}
# Runs whose first file does not have the requested form.
OTHER_FORM = {"resumed_in_the_other_form", "mixed"}


def same(number):
    number = float(np.float32(number))
    return "nan" if math.isnan(number) else number


class Scripts(unittest.TestCase):
    form = "compatible"

    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.log_dir = os.path.join(cls.directory, "runs")
        expectations = os.path.join(cls.directory, "expectations.jsonl")
        writer_program.run("kinds", cls.form, cls.log_dir, expectations)
        cls.logged = writer_program.Expectations(expectations)

    def path(self, run):
        return os.path.join(self.log_dir, run)

    def series(self, kind):
        """(run, {tag: {step: line}}) of the runs that are of one form."""
        runs = {}
        for (run, tag), lines in self.logged.of(kind).items():
            if run not in OTHER_FORM:
                runs.setdefault(run, {})[tag] = lines
        return runs.items()

    def points(self, run, tag, lines, purges=True):
        """{step: value}, without those that a restart purges for a reader that knows of restarts."""
        purged = self.logged.of("purged").get((run, tag))
        end = purged[0]["from_step"] if purged and purges else math.inf
        return {step: same(line["value"]) for step, line in lines.items() if step < end}


class EventAccumulator(Scripts):
    """event_accumulator.EventAccumulator(run).Scalars(tag), of thousands of scripts."""

    def load(self, run):
        return event_accumulator.EventAccumulator(self.path(run), ALL).Reload()

    def test_finds_every_scalar(self):
        for run, tags in self.series("scalar"):
            accumulator = self.load(run)
            self.assertEqual(set(accumulator.Tags()["scalars"]), set(tags))
            for tag, lines in tags.items():
                with self.subTest(run=run, tag=tag):
                    read = {point.step: same(point.value) for point in accumulator.Scalars(tag)}
                    self.assertEqual(read, self.points(run, tag, lines))

    def found(self, kind, listed, read):
        """Yields each value as logged and as read, once every tag and step has arrived."""
        for run, tags in self.series(kind):
            accumulator = self.load(run)
            self.assertEqual(set(accumulator.Tags()[listed]), set(tags))
            for tag, lines in tags.items():
                points = read(accumulator, tag)
                self.assertEqual([point.step for point in points], list(lines))
                for point in points:
                    yield lines[point.step], point

    def test_finds_every_histogram(self):
        for line, point in self.found("histogram", "histograms",
                                      event_accumulator.EventAccumulator.Histograms):
            with self.subTest(run=line["run"], tag=line["tag"], step=point.step):
                self.check_histogram(point.histogram_value, line)

    def check_histogram(self, histogram, line):
        values = np.array(writer_program.floats(line["values"]))
        values = values[np.isfinite(values)]
        self.assertEqual(histogram.num, len(values))
        self.assertEqual(sum(histogram.bucket), len(values))
        self.assertEqual(len(histogram.bucket), len(histogram.bucket_limit))
        if len(values) > 0:
            self.assertEqual((histogram.min, histogram.max), (min(values), max(values)))
            self.assertTrue(math.isclose(histogram.sum, sum(values), rel_tol=1e-9, abs_tol=1e-9))
            # The last limit is beyond the largest value, or is it.
            counts, _ = np.histogram(values, [histogram.min, *histogram.bucket_limit])
            self.assertEqual(list(histogram.bucket), list(counts))

    def test_finds_every_image(self):
        for line, point in self.found("image", "images", event_accumulator.EventAccumulator.Images):
            self.assertEqual((point.width, point.height), (line["width"], line["height"]))
            with Image.open(io.BytesIO(point.encoded_image_string)) as decoded:
                self.assertEqual(decoded.tobytes(), bytes(map(int, line["pixels"])))

    def test_finds_every_sound(self):
        for line, point in self.found("sound", "audio", event_accumulator.EventAccumulator.Audio):
            self.assertEqual(point.sample_rate, line["rate"])
            self.assertEqual(point.length_frames, len(line["samples"]) / line["channels"])
            self.assertEqual(point.content_type, "audio/wav")
            writer_program.check_wav(self, point.encoded_audio_string, line)

    def test_finds_every_text_among_the_tensors(self):
        for run, tags in self.series("text"):
            accumulator = self.load(run)
            self.assertEqual(set(accumulator.Tags()["tensors"]), set(tags))


class EventAccumulatorOfTensors(Scripts):
    """It lists the tensor form only as tensors, which is why that form is not the default."""

    form = "tensor"

    def test_finds_all_among_the_tensors(self):
        for kind in "scalar", "histogram", "image", "sound":
            for run, tags in self.series(kind):
                found = event_accumulator.EventAccumulator(self.path(run), ALL).Reload().Tags()
                self.assertEqual(set(found["tensors"]), set(tags))
                for others in "scalars", "histograms", "images", "audio":
                    self.assertEqual(found[others], [])


class PluginEventAccumulator(Scripts):
    """The one of TensorBoard itself has tensors only, whatever the form."""

    def test_finds_every_scalar(self):
        for run, tags in self.series("scalar"):
            accumulator = plugin_event_accumulator.EventAccumulator(self.path(run), ALL).Reload()
            self.assertEqual(set(accumulator.Tags()["tensors"]), set(tags))
            for tag, lines in tags.items():
                with self.subTest(run=run, tag=tag):
                    read = {point.step: same(tensor_util.make_ndarray(point.tensor_proto))
                            for point in accumulator.Tensors(tag)}
                    self.assertEqual(read, self.points(run, tag, lines))


class PluginEventAccumulatorOfTensors(PluginEventAccumulator):
    form = "tensor"


class TbParse(Scripts):
    """tbparse.SummaryReader(run).scalars; its pictures and sounds need TensorFlow."""

    def setUp(self):
        self.enterContext(warnings.catch_warnings(action="ignore"))  # of pandas

    def table(self, run, kind):
        return getattr(tbparse.SummaryReader(self.path(run)), kind)

    def test_finds_every_scalar(self):
        for run, tags in self.series("scalar"):
            if run.startswith("sub_runs/"):
                continue  # below
            table = self.table(run, "scalars")
            self.assertEqual(set(table.tag), set(tags))
            for tag, lines in tags.items():
                with self.subTest(run=run, tag=tag):
                    rows = table[table.tag == tag]
                    read = {step: same(value) for step, value in zip(rows.step, rows.value)}
                    self.assertEqual(read, self.points(run, tag, lines, purges=False))

    def test_finds_the_curves_of_one_chart_by_their_folders(self):
        table = tbparse.SummaryReader(self.path("sub_runs"), extra_columns={"dir_name"}).scalars
        read = {}
        for folder, step, value in zip(table.dir_name, table.step, table.value):
            read.setdefault(f"sub_runs/{folder}", {})[step] = same(value)
        self.assertEqual(read, {run: self.points(run, "group", tags["group"])
                                for run, tags in self.series("scalar")
                                if run.startswith("sub_runs/")})

    def test_finds_every_histogram(self):
        for run, tags in self.series("histogram"):
            table = self.table(run, "histograms")
            self.assertEqual(set(table.tag), set(tags))
            for tag, step, counts in zip(table.tag, table.step, table.counts):
                values = np.array(writer_program.floats(tags[tag][step]["values"]))
                self.assertEqual(sum(counts), np.count_nonzero(np.isfinite(values)))

    def test_finds_every_text(self):
        for run, tags in self.series("text"):
            table = self.table(run, "text")
            self.assertEqual([(tag, step) for tag, step in zip(table.tag, table.step)],
                             [(tag, step) for tag, lines in tags.items() for step in lines])


class TensorboardReducer(Scripts):
    """tensorboard_reducer.load_tb_events(runs), of simple_value only"""

    def test_finds_every_scalar(self):
        for run, tags in self.series("scalar"):
            tables = tensorboard_reducer.load_tb_events([self.path(run)],
                                                        handle_dup_steps="keep-last")
            self.assertEqual(set(tables), set(tags))
            for tag, lines in tags.items():
                with self.subTest(run=run, tag=tag):
                    read = {step: same(value)
                            for step, value in zip(tables[tag].index, tables[tag].iloc[:, 0])}
                    self.assertEqual(read, self.points(run, tag, lines, purges=False))


def records(path):
    """The payloads of a file of TFRecords: length, its checksum, data, their checksum."""
    with open(path, "rb") as file:
        data = file.read()
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        payload = data[12:12 + length]
        assert struct.unpack("<I", data[8:12]) == (masked_crc32c(data[:8]),)
        assert struct.unpack("<I", data[12 + length:16 + length]) == (masked_crc32c(payload),)
        yield payload
        data = data[16 + length:]


class RecordReader(Scripts):
    """A reader of TFRecords that takes every `simple_value` it meets."""

    def test_finds_every_scalar(self):
        for run, tags in self.series("scalar"):
            found = {}
            for name in sorted(os.listdir(self.path(run))):
                if "tfevents" not in name:
                    continue
                for payload in records(os.path.join(self.path(run), name)):
                    event = event_pb2.Event.FromString(payload)
                    for value in event.summary.value:
                        if value.HasField("simple_value"):
                            found.setdefault(value.tag, {})[event.step] = same(value.simple_value)
            self.assertEqual(found, {tag: self.points(run, tag, lines, purges=False)
                                     for tag, lines in tags.items()})


if __name__ == "__main__":
    unittest.main()
