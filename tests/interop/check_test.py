#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape check` reports the real TensorBoard's behavior for a run's files and layouts."""

import json
import os
import subprocess
import tempfile
import unittest

from tensorboard.compat.proto import event_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_scalar_metadata
from tensorboard.plugins.hparams import summary_v2 as hparams_summary
from tensorboard.summary.writer.record_writer import RecordWriter

from reader_runs import BEGAN, Run, event, scalar, start, tensor
from tensorboard_server import TensorBoard


def version(second):
    return event_pb2.Event(wall_time=BEGAN + second, file_version="brain.Event:2")


def layout(*charts):
    category = layout_pb2.Category(title="category", chart=[
        layout_pb2.Chart(title=chart, multiline=layout_pb2.MultilineChartContent(tag=["loss"]))
        for chart in charts])
    content = layout_pb2.Layout(category=[category]).SerializeToString()
    return tensor(custom_scalar_metadata.CONFIG_SUMMARY_TAG, content,
                  custom_scalar_metadata.create_summary_metadata())


def experiment(metric):
    config = hparams_summary.hparams_config_pb([], [hparams_summary.Metric(metric)],
                                               time_created_secs=17)
    return config.value[0]


def points(tag, steps, number=0):
    return [event(step, scalar(tag, number + step)) for step in steps]


def append(run, number, *events):
    """Adds to a file of a run that somebody watches."""
    path = os.path.join(run.directory, f"events.out.tfevents.{number:010}.host")
    with open(path, "ab") as file:
        writer = RecordWriter(file)
        for each in events:
            writer.write(each.SerializeToString())


class CheckedRuns(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def check(self):
        result = subprocess.run([os.environ["STEPTAPE_TOOL"], "check", "--json", self.directory],
                                capture_output=True, text=True, timeout=300)
        return json.loads(result.stdout)

    def effects(self):
        """Returns the effect of each broken rule on both of TensorBoard's readers."""
        checked = self.check()
        findings = checked["between_runs"] + [finding for run in checked["runs"]
                                              for finding in run["findings"]]
        return {finding["rule"]: (finding["fast_data_server"], finding["python_loader"])
                for finding in findings if finding["rule"] != "no-first-start"}

    def steps(self, tensorboard, tag):
        shown = tensorboard.get("plugin/scalars/scalars", run="run", tag=tag)
        return [step for _, step, _ in shown]

    def assert_shown(self, fast, **tags):
        with TensorBoard(self.directory, fast=fast) as tensorboard:
            for tag, steps in tags.items():
                with self.subTest(fast=fast, tag=tag):
                    tensorboard.eventually(
                        lambda: self.assertEqual(self.steps(tensorboard, tag), list(steps)))


class Layouts(CheckedRuns):
    def test_the_last_one_of_a_run_is_shown(self):
        Run(self.directory, "run").file(version(0), event(0, layout("first", "both")),
                                        event(1, layout("both", "last")))
        self.assertEqual(self.effects(), {"layout-replaced": ("loss", "loss")})
        for fast in (True, False):
            with self.subTest(fast=fast), TensorBoard(self.directory, fast=fast) as tensorboard:
                shown = tensorboard.eventually(lambda: self.category(tensorboard))
                self.assertEqual([chart["title"] for chart in shown["chart"]], ["both", "last"])

    def category(self, tensorboard):
        shown = tensorboard.get("plugin/custom_scalars/layout")
        self.assertIn("category", shown)
        return shown["category"][0]


class Experiments(CheckedRuns):
    def shown(self, fast):
        with TensorBoard(self.directory, fast=fast) as tensorboard:
            return tensorboard.eventually(lambda: self.metrics(tensorboard))

    def metrics(self, tensorboard):
        shown = tensorboard.get("plugin/hparams/experiment", request="{}")
        self.assertTrue(shown.get("metricInfos"))
        return [info["name"]["tag"] for info in shown["metricInfos"]]

    def test_one_experiment_is_shown_for_all_runs(self):
        for name in "abc":
            Run(self.directory, name).file(version(0), event(0, experiment(name)))
        self.assertEqual(self.effects(), {"experiment-conflict": ("loss", "loss")})
        for fast in (True, False):
            with self.subTest(fast=fast):
                (metric,) = self.shown(fast)
                self.assertIn(metric, "abc")

    def test_the_first_one_of_a_run_is_shown(self):
        Run(self.directory, "run").file(version(0), event(0, experiment("first")),
                                        event(1, experiment("last")))
        self.assertEqual(self.effects(), {"experiment-conflict": ("loss", "loss")})
        for fast in (True, False):
            with self.subTest(fast=fast):
                self.assertEqual(self.shown(fast), ["first"])


class FileOrder(CheckedRuns):
    def test_a_file_out_of_order_alone_loses_nothing(self):
        run = Run(self.directory, "run")
        run.file(version(100), *points("late", range(10, 20)))
        run.file(version(0), *points("early", range(10)))
        self.assertEqual(self.effects(), {"name-order": ("note", "note")})
        for fast in (True, False):
            self.assert_shown(fast, late=range(10, 20), early=range(10))

    def test_the_file_whose_name_sorts_last_overwrites(self):
        run = Run(self.directory, "run")
        run.file(version(100), *points("loss", range(10, 20)))
        run.file(version(0), *points("loss", range(10)))
        self.assertEqual(self.effects(), {"name-order": ("note", "note"),
                                          "step-goes-back": ("loss", "none")})
        self.assert_shown(True, loss=range(10))
        self.assert_shown(False, loss=[*range(10, 20), *range(10)])

    def test_a_restart_in_a_file_out_of_order_drops_later_points(self):
        run = Run(self.directory, "run")
        run.file(version(100), start(0), *points("loss", range(10, 20)))
        run.file(version(0), start(15), *points("other", range(5)))
        self.assertEqual(self.effects(), {"name-order": ("note", "note"),
                                          "restart-order": ("none", "loss")})
        self.assert_shown(True, loss=range(10, 20), other=range(5))
        self.assert_shown(False, loss=range(10, 15), other=range(5))


class FilesWrittenAtOnce(CheckedRuns):
    def setUp(self):
        super().setUp()
        self.written = Run(self.directory, "run")
        self.written.file(version(0), *points("first", range(10)))
        self.written.file(version(5), *points("last", range(10)))

    def assert_followed(self, fast, first):
        """Both files grow, the first one first, while a reader watches."""
        with TensorBoard(self.directory, fast=fast) as tensorboard:
            def assert_steps(tag, steps):
                tensorboard.eventually(
                    lambda: self.assertEqual(self.steps(tensorboard, tag), list(steps)))

            assert_steps("last", range(10))
            append(self.written, 1, *points("first", range(10, 20)))
            append(self.written, 2, *points("last", range(10, 20)))
            assert_steps("last", range(20))
            assert_steps("first", first)

    def test_are_noted(self):
        self.assertEqual(self.effects(), {"written-at-once": ("none", "note")})

    def test_the_fast_data_server_follows_all(self):
        self.assert_followed(fast=True, first=range(20))

    def test_the_python_loader_follows_the_last_one(self):
        self.assert_followed(fast=False, first=range(10))


if __name__ == "__main__":
    unittest.main()
