#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.read() returns every kind of value as logged."""

import inspect
import io
import math
import os
import tempfile
import unittest

import numpy as np
from PIL import Image
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2

import logs
import peer_numbers
import reader_runs
import steptape
import writer_program


class Logged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        logs.write_all(cls.log_dir)
        cls.runs = steptape.read(cls.log_dir)

    def logged(self, kind):
        """Yields a series, a step's index and the logged value, for both forms."""
        for form in ("compatible", "tensor"):
            expectations = writer_program.Expectations(os.path.join(self.log_dir, f"{form}.jsonl"))
            for (run, tag), lines in expectations.of(kind).items():
                series = self.runs[f"cpp/{form}/{run}"][tag]
                self.assertEqual(sorted(set(series.steps.tolist())), sorted(lines))
                for i, step in enumerate(series.steps.tolist()):
                    yield series, i, lines[step]

    def test_scalars(self):
        count = 0
        for form in ("compatible", "tensor"):
            expectations = writer_program.Expectations(os.path.join(self.log_dir, f"{form}.jsonl"))
            purged = expectations.of("purged")
            for (run, tag), lines in expectations.of("scalar").items():
                series = self.runs[f"cpp/{form}/{run}"][tag]
                self.assertEqual(series.kind, "scalars")
                end = purged[run, tag][0]["from_step"] if (run, tag) in purged else math.inf
                expected = {step: np.float32(line["value"]) for step, line in lines.items() if step < end}
                # Of several values at one step, the last one is expected.
                got = dict(zip(series.steps.tolist(), series.values.tolist()))
                self.assertEqual(list(got), list(expected))
                np.testing.assert_array_equal(list(got.values()), np.array(list(expected.values()), float))
                count += len(expected)
        self.assertGreater(count, 50000)

    def test_images(self):
        count = 0
        for series, i, line in self.logged("image"):
            image = series.values[i]
            self.assertEqual((image.width, image.height), (line["width"], line["height"]))
            with Image.open(io.BytesIO(image.encoded[0])) as decoded:
                np.testing.assert_array_equal(image.decode(), np.asarray(decoded))
            self.assertEqual(image.decode().tobytes(), bytes(map(int, line["pixels"])))
            count += 1
        self.assertGreater(count, 20)

    def test_sounds(self):
        for series, i, line in self.logged("sound"):
            sound = series.values[i]
            writer_program.check_wav(self, sound.encoded[0], line)
            samples, rate = sound.decode()
            self.assertEqual((samples.shape[1], rate, sound.content_type),
                             (line["channels"], line["rate"], "audio/wav"))
            np.testing.assert_array_equal(samples.ravel() * 32768, np.array(line["samples"], np.float32))

    def test_histograms(self):
        count = 0
        for series, i, line in self.logged("histogram"):
            values = np.array(writer_program.floats(line["values"]))
            values = values[np.isfinite(values)]
            histogram = series.values[i]
            self.assertEqual(histogram.counts.sum(), len(values))
            self.assertEqual(len(histogram.edges), len(histogram.counts) + 1 if len(values) else 0)
            if len(values):
                self.assertEqual((histogram.edges[0], histogram.edges[-1]), (min(values), max(values)))
            count += 1
        self.assertGreater(count, 10)

    def test_texts(self):
        for series, i, line in self.logged("text"):
            self.assertEqual(series.values[i], line["markdown"])

    def test_tensors(self):
        run = self.runs["torch/tensors"]
        arrays = {name: array for name, array in peer_numbers.make().items() if name.startswith("tensor_")}
        self.assertGreater(len(arrays), 5)
        for name, array in arrays.items():
            with self.subTest(name=name):
                value = run[name].values[0]
                self.assertEqual(value.dtype, array.dtype)
                np.testing.assert_array_equal(value, array)

    def test_strings_and_bfloat16(self):
        directory = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "run")
        numbers = np.array([[1.5, -2.0], [np.inf, 2.0 ** -126]], np.float32)
        halves = tensor_pb2.TensorProto(
            dtype=14, tensor_content=(numbers.view("<u4") >> 16).astype("<u2").tobytes(),
            tensor_shape=tensor_shape_pb2.TensorShapeProto(
                dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=2)] * 2))
        metadata = reader_runs.metadata_of("my plugin")
        reader_runs.Run(directory, "tensors").file(
            reader_runs.version(2),
            reader_runs.event(0, reader_runs.tensor("strings", np.array([b"a", b"\xff"], object), metadata)),
            event_pb2.Event(wall_time=1, summary=summary_pb2.Summary(value=[
                summary_pb2.Summary.Value(tag="halves", tensor=halves, metadata=metadata)])))
        run = steptape.read(directory)["tensors"]
        self.assertEqual(run["strings"].values[0].tolist(), [b"a", b"\xff"])
        np.testing.assert_array_equal(run["halves"].values[0], numbers)

    def test_hyperparameters(self):
        self.assertEqual(self.runs["hparams"].hparams, {"lr": 0.1, "optimizer": "sgd", "amp": True})
        self.assertEqual(self.runs["restarts"].hparams, {})

    def test_graphs(self):
        self.assertEqual(self.runs["graphs"]["__run_graph__"].values[-1], b"\x0a\x02\x0a\0")

    def test_every_kind_has_a_name(self):
        kinds = {series.kind for series in self.runs.series()}
        self.assertEqual(kinds, {"scalars", "images", "audio", "histograms", "text", "hparams", "tensors",
                                 "graphs", "graph_tagged_run_metadata"})
        for kind in kinds:
            for series in self.runs.series(kind):
                self.assertEqual(len(series.values), len(series))
                self.assertEqual(len(list(series.values)), len(series))


class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.runs = steptape.read(logs.one_run(cls.log_dir))

    def test_are_not_copied(self):
        series = self.runs["."]["curve/100"]
        for column in ("steps", "wall_times", "values"):
            self.assertEqual(getattr(series, column).ctypes.data, getattr(series, column).ctypes.data)

    def test_are_read_only(self):
        with self.assertRaises(ValueError):
            self.runs["."]["curve/100"].values[0] = 1

    def test_outlive_the_runs(self):
        runs = steptape.read(self.log_dir)
        values = runs["."]["curve/100"].values
        expected = values.tolist()
        del runs
        self.assertEqual(values.tolist(), expected)


class Mappings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        for run in ("a/x", "a/y", "b"):
            logs.one_run(os.path.join(cls.log_dir, run), tags=3, steps=5)
        cls.runs = steptape.read(cls.log_dir)

    def test_runs_and_tags_are_in_their_order(self):
        self.assertEqual(list(self.runs), ["a/x", "a/y", "b"])
        self.assertEqual(list(self.runs["b"]), ["curve/100", "curve/101", "curve/102"])
        self.assertEqual(dict(self.runs).keys(), {"a/x", "a/y", "b"})
        self.assertEqual([name for name, _ in self.runs.items()], self.runs.keys())
        self.assertEqual([run.name for run in self.runs.values()], self.runs.keys())

    def test_what_is_not_there_raises(self):
        self.assertNotIn("c", self.runs)
        self.assertIsNone(self.runs.get("c"))
        with self.assertRaises(KeyError):
            self.runs["c"]
        with self.assertRaises(KeyError):
            self.runs["b"]["no such tag"]

    def test_filters_match_any_part_of_a_name(self):
        runs = steptape.read(self.log_dir, run="^a/", tag="[02]$")
        self.assertEqual(list(runs), ["a/x", "a/y"])
        self.assertEqual(list(runs["a/x"]), ["curve/100", "curve/102"])
        self.assertEqual(set(runs.to_pandas()["tag"]), {"curve/100", "curve/102"})

    def test_a_run_or_a_file_can_be_read_alone(self):
        (path,) = self.runs["b"].files
        for each in (os.path.join(self.log_dir, "b"), path):
            (run,) = steptape.read(each).values()
            self.assertEqual(run["curve/100"].values.tolist(), self.runs["b"]["curve/100"].values.tolist())

    def test_one_thread_reads_what_several_read(self):
        one, four = (steptape.read(self.log_dir, threads=threads).to_pandas() for threads in (1, 4))
        self.assertTrue(one.equals(four))


class Documentation(unittest.TestCase):
    def test_every_public_name_has_a_docstring(self):
        for name in steptape.__all__:
            public = getattr(steptape, name)
            if inspect.isclass(public) or inspect.isfunction(public):
                self.assertTrue(inspect.getdoc(public), name)

    def test_the_version_is_that_of_the_tool(self):
        self.assertRegex(steptape.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
