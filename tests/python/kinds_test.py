#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every value in a file has a place, whatever tag, kind and type it has, or a warning names it."""

import os
import tempfile
import unittest
import warnings

import numpy as np
import tbparse
from tensorboard.backend.event_processing import event_accumulator as theirs
from tensorboard.compat.proto import summary_pb2, tensor_pb2, types_pb2

import reader_runs
import steptape
from reader_runs import event, histogram, image, metadata_of, scalar, tensor
from steptape.compat.event_accumulator import EventAccumulator
from steptape.compat.tbparse import SummaryReader

ALL = theirs.STORE_EVERYTHING_SIZE_GUIDANCE


def counts(tag):
    return histogram(tag, 0, 2, [1, 2], [3, 4])


class Logs(unittest.TestCase):
    def setUp(self):
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, *events):
        reader_runs.Run(self.log_dir, "run").file(reader_runs.version(2), *events)
        return os.path.join(self.log_dir, "run")

    def read(self):
        """The runs, and the warnings of reading them."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            runs = steptape.read(self.log_dir)
        return runs, {each.category: str(each.message) for each in caught}


class OneTagOfSeveralKinds(Logs):
    def check(self):
        runs, warned = self.read()
        run = runs["run"]
        self.assertEqual(run.kinds("layer"), ["scalars", "histograms"])
        self.assertEqual(run.tags("scalars"), ["layer", "other"])
        self.assertEqual(run["layer"].values.tolist(), [0, 1, 2, 3])
        self.assertEqual([each.counts.tolist() for each in run["layer", "histograms"].values], [[3, 4]] * 4)
        self.assertEqual([len(each) for each in runs.series()], [4, 4, 1])
        self.assertEqual(runs.to_pandas()["value"].tolist(), [0, 1, 2, 3, 9])
        self.assertEqual(len(runs.to_arrow()), 5)
        self.assertIn("4 scalars and 4 histograms under the tag 'layer'", warned[steptape.MixedTagWarning])
        with self.assertRaisesRegex(KeyError, "got no values of the kind 'images'; expected one of"):
            run["layer", "images"]

    def check_originals(self, directory):
        got, expected = (each(directory, ALL).Reload() for each in (EventAccumulator, theirs.EventAccumulator))
        self.assertEqual([tuple(each) for each in got.Scalars("layer")],
                         [(each.wall_time, each.step, each.value) for each in expected.Scalars("layer")])
        self.assertEqual([each.histogram_value.bucket for each in got.Histograms("layer")],
                         [each.histogram_value.bucket for each in expected.Histograms("layer")])
        with warnings.catch_warnings(action="ignore"):  # of pandas
            for kind in ("scalars", "histograms"):
                mine, other = (getattr(each(directory), kind) for each in (SummaryReader, tbparse.SummaryReader))
                self.assertEqual(list(mine["tag"]), list(other["tag"]))

    def test_has_each_kind_if_the_scalars_are_first(self):
        directory = self.write(*(event(step, scalar("layer", step), counts("layer")) for step in range(4)),
                               event(4, scalar("other", 9)))
        self.check()
        self.check_originals(directory)

    def test_has_each_kind_if_the_histograms_are_first(self):
        directory = self.write(*(event(step, counts("layer"), scalar("layer", step)) for step in range(4)),
                               event(4, scalar("other", 9)))
        self.check()
        self.check_originals(directory)

    def test_has_a_text_after_scalars(self):
        directory = self.write(*(event(step, scalar("x", step)) for step in range(5)),
                               event(5, tensor("x", "oops", metadata_of("text"))))
        runs, warned = self.read()
        self.assertEqual(runs["run"]["x"].values.tolist(), [0, 1, 2, 3, 4])
        self.assertEqual(list(runs["run"]["x", "text"].values), ["oops"])
        self.assertIn("5 scalars and 1 text", warned[steptape.MixedTagWarning])
        got, expected = (each(directory, ALL).Reload() for each in (EventAccumulator, theirs.EventAccumulator))
        for call in ("Scalars", "Tensors"):
            self.assertEqual([each.step for each in getattr(got, call)("x")],
                             [each.step for each in getattr(expected, call)("x")])

    def test_has_pictures_and_histograms(self):
        self.write(event(0, image("x", b"PNG")), event(1, counts("x")))
        run = self.read()[0]["run"]
        self.assertEqual(run["x", "images"].values[0].encoded, (b"PNG",))
        self.assertEqual(run["x", "histograms"].values[0].counts.tolist(), [3, 4])

    def test_is_followed_kind_by_kind(self):
        directory = self.write(event(0, scalar("x", 1), counts("x")))
        follower = steptape.follow(directory)
        self.assertEqual([(each.kind, len(each)) for each in follower.update()],
                         [("scalars", 1), ("histograms", 1)])
        path = os.path.join(directory, os.listdir(directory)[0])
        other = reader_runs.Run(self.log_dir, "more")
        other.file(event(1, counts("x")))
        with open(os.path.join(other.directory, os.listdir(other.directory)[0]), "rb") as source, \
                open(path, "ab") as file:
            file.write(source.read())
        (added,) = follower.update()
        self.assertEqual((added.kind, added.steps.tolist()), ("histograms", [1]))

    def test_is_not_warned_of_if_it_has_one(self):
        self.write(event(0, scalar("x", 1), counts("y")))
        self.assertEqual(self.read()[1], {})


class ScalarsOfEachType(Logs):
    def test_are_scalars(self):
        for data in (np.int64(-5), np.int32(-5), np.float16(1.5), np.bool_(True), np.float64(0.1), np.uint8(7)):
            with self.subTest(type=data.dtype):
                self.write(event(0, tensor(f"{data.dtype}", data, metadata_of("scalars"))))
                table = self.read()[0].to_pandas()
                self.assertEqual(table["value"].tolist(), [float(data)])
                os.rename(os.path.join(self.log_dir, "run"), os.path.join(self.enterContext(
                    tempfile.TemporaryDirectory()), "run"))

    def test_are_scalars_as_bfloat16(self):
        upper_half = np.array(1.5, np.float32).view(np.uint32) >> 16
        proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_BFLOAT16, half_val=[int(upper_half)])
        self.write(event(0, summary_pb2.Summary.Value(tag="x", tensor=proto, metadata=metadata_of("scalars"))))
        self.assertEqual(self.read()[0]["run"]["x"].values.tolist(), [1.5])

    def test_that_a_double_rounds_are_warned_of(self):
        self.write(event(0, tensor("x", np.int64(2 ** 53 + 1), metadata_of("scalars"))))
        runs, warned = self.read()
        self.assertIn("integers that no double equals under the tag 'x'", warned[steptape.RoundedWarning])
        self.assertTrue(runs["run"]["x"].is_rounded)

    def test_without_a_value_are_not_zero(self):
        proto = tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT)
        self.write(event(0, summary_pb2.Summary.Value(tag="x", tensor=proto, metadata=metadata_of("scalars"))))
        run = self.read()[0]["run"]
        self.assertEqual((run["x"].kind, len(run.to_pandas())), ("tensors", 0))
        with self.assertRaisesRegex(steptape.DataError, "got no value"):
            run["x"].values[0]


class TagsNamedLikeColumns(Logs):
    def test_get_another_column(self):
        directory = self.write(*(event(step, scalar("loss", step), scalar("step", 10 * step), scalar("run", 7))
                                 for step in range(3)))
        with self.assertWarnsRegex(UserWarning, r"got a tag 'step', .* in the column 'step \(2\)'"):
            table = self.read()[0].to_pandas(pivot=True)
        self.assertEqual(list(table.columns), ["run", "step", "loss", "run (2)", "step (2)"])
        self.assertEqual(table["step"].tolist(), [0, 1, 2])
        self.assertEqual(set(table["run"]), {"run"})
        self.assertEqual(table["step (2)"].tolist(), [0, 10, 20])
        with self.assertWarnsRegex(UserWarning, "got a tag 'step'"):
            table = SummaryReader(directory, pivot=True, extra_columns={"wall_time"}).scalars
        self.assertEqual(list(table.columns), ["step", "loss", "run", "step (2)", "wall_time"])
        self.assertEqual(table["step"].tolist(), [0, 1, 2])

    def test_get_one_that_no_other_tag_has(self):
        self.write(event(0, scalar("step", 1), scalar("step (2)", 2)))
        with self.assertWarns(UserWarning):
            table = self.read()[0].to_pandas(pivot=True)
        self.assertEqual((table["step (3)"].tolist(), table["step (2)"].tolist()), ([1], [2]))


class Times(Logs):
    def times(self, *wall_times):
        self.write(*(reader_runs.event_pb2.Event(wall_time=time, step=step, summary=event(
            0, scalar("x", 1)).summary) for step, time in enumerate(wall_times)))
        return self.read()[0]["run"]["x"]

    def test_that_are_no_numbers_are_no_times(self):
        series = self.times(1.7e9, float("nan"), float("inf"))
        with warnings.catch_warnings(action="error"):
            self.assertEqual(np.isnat(series.times).tolist(), [False, True, True])
        self.assertEqual(str(series.times[0]), "2023-11-14T22:13:20.000000000")

    def test_in_milliseconds_are_named(self):
        series = self.times(1.7957e12, 1.7957e12 + 1000)
        with self.assertWarnsRegex(UserWarning, r"2 wall times such as 1795700000000.0; .* Milliseconds\?"):
            self.assertTrue(np.isnat(series.times).all())


if __name__ == "__main__":
    unittest.main()
