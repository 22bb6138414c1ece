#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard shows the same with Steptape's data server as with its own, tensorboard_data_server 0.7.2.

The environment variable STEPTAPE_DATA_SERVER names the program. Without it the test compares two starts of 0.7.2, which
shows that it compares nothing that differs by chance.
"""

import itertools
import os
import tempfile
import time
import unittest

import server_calls
import server_differences
import server_logs
import server_routes
import tensorboard_data_server
from data_server import DataServer
from tensorboard_server import LOAD_SECONDS, TensorBoard, eventually

THEIRS = tensorboard_data_server.server_binary()
OURS = os.environ.get("STEPTAPE_DATA_SERVER", THEIRS)
IS_CONTROL = OURS == THEIRS

DOCUMENT = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "docs", "data_server.md")

LOADED = "Finished load cycle"  # what 0.7.2 says with --verbose
PLACES_SHOWN, LINES_SHOWN = 3, 200
MANY = 100_000_000
PLUGINS = ("scalars", "histograms", "distributions", "images", "audio", "text", "pr_curves", "mesh", "custom_scalars")
ALL_SAMPLES = ",".join(f"{plugin}={MANY}" for plugin in PLUGINS)

# The routes of the plugins, each of which must have shown something in one of the log directories.
ROUTES = {
    "environment", "logdir", "runs", "experiments", "experiment_runs", "window_properties", "plugins_listing",
    "scalars/tags", "scalars/scalars", "scalars/scalars_multirun",
    "custom_scalars/layout", "custom_scalars/scalars", "custom_scalars/download_data",
    "histograms/tags", "histograms/histograms", "distributions/tags", "distributions/distributions",
    "images/tags", "images/images", "images/individualImage", "audio/tags", "audio/audio", "audio/individualAudio",
    "text/tags", "text/text", "pr_curves/tags", "pr_curves/pr_curves", "mesh/tags", "mesh/meshes", "mesh/data",
    "graphs/info", "graphs/graph", "graphs/run_metadata",
    "hparams/experiment", "hparams/session_groups", "hparams/metric_evals", "hparams/download_data",
    "timeseries/tags", "timeseries/timeSeries", "timeseries/imageData",
    "projector/runs", "projector/info", "projector/tensor", "projector/metadata", "projector/sprite_image",
    "profile/runs", "debugger-v2/runs",
}


def expected_answers(log_dir):
    """What TensorBoard answers with its own data server, which says when it has read everything."""
    with TensorBoard(log_dir, samples=ALL_SAMPLES, verbose=True) as board:
        def check():
            assert LOADED in board.log()

        board.eventually(check)
        return server_routes.answers_of(board)


class Case(unittest.TestCase):
    maxDiff = None

    def log_directory(self, write):
        directory = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "logs")
        write(directory)
        return directory

    def equivalent(self, log_dir):
        """A log directory of which TensorBoard's server must show what the tested one shows of `log_dir`."""
        if IS_CONTROL:
            return log_dir
        target = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "logs")
        server_differences.write_equivalent(log_dir, target)
        return target

    def assert_shows(self, expected, log_dir):
        with TensorBoard(log_dir, samples=ALL_SAMPLES, data_server=OURS) as board:
            def check():
                got = server_routes.answers_of(board)
                known = server_differences.with_refused_blobs(expected, got, log_dir)
                self.assert_same(server_differences.with_samples(known, got), got)

            board.eventually(check)

    def assert_same(self, expected, got):
        different = server_routes.differences(expected, got)
        lines = [f"{question}{place}: got {_short(ours)}; expected {_short(theirs)}"
                 for question, (whole, other) in different.items()
                 for place, theirs, ours in itertools.islice(server_routes.places(whole, other), PLACES_SHOWN)]
        if lines:
            self.fail("\n".join([f"{len(different)} of {len(expected)} answers differ", *lines[:LINES_SHOWN]]))


def _short(value):
    text = "nothing" if value is None else repr(value)
    return text if len(text) < 200 else f"{text[:200]}… ({len(text)} characters)"


class Pages(Case):
    """Every route of every plugin."""

    answered = set()
    checked = set()

    def check(self, write):
        self.checked.add(self._testMethodName)
        log_dir = self.log_directory(write)
        expected = expected_answers(self.equivalent(log_dir))
        self.assert_shows(expected, log_dir)
        self.answered.update(question.route for question, answer in expected.items() if answer.status == 200)

    def test_files_of_steptape_in_the_compatible_form(self):
        self.check(server_logs.compatible)

    def test_files_of_steptape_in_the_form_of_tensorflow(self):
        self.check(server_logs.tensor_form)

    def test_files_of_tensorboardx(self):
        self.check(server_logs.tensorboardx)

    def test_files_of_torch(self):
        self.check(server_logs.pytorch)

    def test_hyperparameters_of_a_study(self):
        self.check(server_logs.study)

    def test_folders_links_and_profiles(self):
        self.check(server_logs.folders)

    def test_events_that_few_writers_write(self):
        self.check(server_logs.odd_events)

    @classmethod
    def tearDownClass(cls):
        if cls.checked < set(unittest.defaultTestLoader.getTestCaseNames(cls)):
            return  # only some tests were chosen
        missing = ROUTES - cls.answered
        assert not missing, f"no log directory has data for {sorted(missing)}"


class PythonLoader(Case):
    """The answers that are expected are those of TensorBoard itself: its loader in Python gives most of them too.

    It draws histograms over other buckets, names tags, and keeps other points after a restart.
    """

    ROUTES = ("text/", "pr_curves/", "mesh/", "graphs/", "hparams/", "custom_scalars/layout", "images/images",
              "images/individualImage", "timeseries/imageData", "projector/")
    RESUMED = "resumed"

    def test_it_answers_alike(self):
        log_dir = self.log_directory(server_logs.tensorboardx)
        expected = self.comparable(expected_answers(log_dir))
        with TensorBoard(log_dir, fast=False, samples=ALL_SAMPLES) as board:
            board.eventually(lambda: self.assert_same(expected, self.comparable(server_routes.answers_of(board))))
        self.assertGreater(len(expected), 100)

    def comparable(self, answers):
        return {question: answer for question, answer in answers.items() if question.route.startswith(self.ROUTES)
                or question.route == "scalars/scalars" and not question.names[0].startswith(self.RESUMED)}


class NamedDifferences(Case):
    """What server_differences names is shown differently."""

    def setUp(self):
        self.log_dir = self.log_directory(server_logs.differing)
        self.changed = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "logs")
        server_differences.write_equivalent(self.log_dir, self.changed)

    @unittest.skipIf(IS_CONTROL, "0.7.2 does not differ from itself")
    def test_the_server_shows_more(self):
        self.assert_shows(expected_answers(self.changed), self.log_dir)

    def test_tensorboards_server_shows_less(self):
        """Otherwise docs/data_server.md would claim a difference that is none."""
        different = server_routes.differences(expected_answers(self.log_dir), expected_answers(self.changed))
        places = [f"{question}{place}" for question, (whole, other) in different.items()
                  for place, _, _ in server_routes.places(whole, other)]
        same = [run for run in os.listdir(self.log_dir) if not any(run in place for place in places)]
        self.assertEqual(same, [])

    def test_each_run_belongs_to_a_difference(self):
        for run in os.listdir(self.log_dir):
            named = [each.what for each in server_differences.DIFFERENCES if run.startswith(each.runs)]
            self.assertEqual(len(named), 1, run)


class Page(unittest.TestCase):
    def test_each_difference_is_in_the_documentation(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            page = file.read()
        for each in (*server_differences.DIFFERENCES, server_differences.SAMPLING, server_differences.QUOTED,
                     server_differences.ORDER, server_differences.REPLACED):
            self.assertIn(f"| {each.what} | {each.reason} |", page)


class LoadedServer(DataServer):
    """TensorBoard's data server, after it has read the log directory once."""

    def __init__(self, log_dir, *options):
        super().__init__(THEIRS, log_dir, *options)

    def _begin(self):
        super()._begin()

        def check():
            assert LOADED in self.log()

        eventually(check, time.monotonic() + LOAD_SECONDS)


class Calls(Case):
    """The protocol between TensorBoard and its data server."""

    def test_each_call_is_answered_alike(self):
        log_dir = self.log_directory(server_calls.log_directory)
        with LoadedServer(log_dir) as server:
            expected = server_calls.answers_of(server)
        with DataServer(OURS, log_dir) as server:
            eventually(lambda: self.assert_same(expected, server_calls.answers_of(server)),
                       time.monotonic() + LOAD_SECONDS)


class ChangingFiles(Case):
    """Files that change while a server shows them are shown as a server shows them that is started afterwards."""

    def setUp(self):
        self.log_dir = self.log_directory(server_logs.before_changes)

    def curves_of_a_new_server(self):
        with LoadedServer(self.log_dir) as server:
            return server_calls.scalars(server, MANY)

    def assert_follows(self, program, change):
        before = self.curves_of_a_new_server()
        with DataServer(program, self.log_dir) as server:
            self.eventually_shows(server, before)
            change(self.log_dir)
            after = self.curves_of_a_new_server()
            self.assertNotEqual(before, after)
            self.eventually_shows(server, after)

    def eventually_shows(self, server, curves):
        eventually(lambda: self.assertEqual(curves, server_calls.scalars(server, MANY)),
                   time.monotonic() + LOAD_SECONDS)

    def test_growing_new_and_removed_runs(self):
        self.assert_follows(OURS, server_logs.grow)

    def test_keys_of_discarded_images_are_not_found(self):
        with DataServer(OURS, self.log_dir) as server:
            keys = eventually(lambda: self.keys_of_images(server), time.monotonic() + LOAD_SECONDS)
            self.assertEqual({server_calls.code_of_blob(server, key) for key in keys}, {"OK"})
            server_logs.discard_images(self.log_dir)

            def check():
                self.assertEqual({server_calls.code_of_blob(server, key) for key in keys}, {"NOT_FOUND"})

            eventually(check, time.monotonic() + LOAD_SECONDS)

    def keys_of_images(self, server):
        try:
            return [server_calls.key_of(server, run, "image") for run in ("removed image", "restarted image")]
        except ValueError as error:  # it has not loaded them
            raise AssertionError from error

    @unittest.skipIf(IS_CONTROL, "0.7.2 shows nothing new of them")
    def test_replaced_files(self):
        self.assert_follows(OURS, server_logs.replace)

    def test_tensorboards_server_shows_nothing_new_of_replaced_files(self):
        """Otherwise docs/data_server.md would claim a difference that is none."""
        with LoadedServer(self.log_dir) as server:
            server_logs.replace(self.log_dir)
            cycles = server.log().count(LOADED)
            eventually(lambda: self.assertGreater(server.log().count(LOADED), cycles + 1),
                       time.monotonic() + LOAD_SECONDS)
            after = server_calls.scalars(server, MANY)
        new = self.curves_of_a_new_server()
        for run in server_logs.REPLACEMENTS:
            self.assertNotEqual({name: curve for name, curve in after.items() if name[0] == run},
                                {name: curve for name, curve in new.items() if name[0] == run}, run)


class Sampling(Case):
    """Fewer points than were written, as the server keeps them by default and as a page asks for them."""

    POINTS = 3000
    KEPT = 1000  # by 0.7.2

    def setUp(self):
        self.log_dir = self.log_directory(lambda log_dir: server_logs.sampled(log_dir, self.POINTS))
        self.written = server_logs.curves(self.POINTS)

    def test_tensorboards_server_loses_spikes(self):
        """Otherwise docs/data_server.md would claim a difference that is none."""
        with LoadedServer(self.log_dir) as server:
            curves = server_calls.scalars(server, self.KEPT)
            lost = [run for run, numbers in self.written.items()
                    if not server_differences.extremes(numbers) <= curves[run, "curve"].keys()]
            self.assertTrue(lost)

    @unittest.skipIf(IS_CONTROL, "0.7.2 loses them")
    def test_extremes_are_kept(self):
        with DataServer(OURS, self.log_dir) as server:
            eventually(lambda: self.check_curves(server), time.monotonic() + LOAD_SECONDS)

    def check_curves(self, server):
        for points in (1, 2, 10, 100, self.KEPT, 10 * self.POINTS):
            curves = server_calls.scalars(server, points)
            self.assertEqual({run for run, _ in curves}, set(self.written))
            for (run, tag), curve in curves.items():
                self.check_curve(f"{run}, {tag}, {points} points", self.written[run], curve, min(points, self.KEPT))

    def check_curve(self, name, numbers, curve, most):
        self.assertLessEqual(len(curve), most, name)
        self.assertEqual(list(curve), sorted(curve), name)
        self.assertEqual({step: str(numbers[step]) for step in curve}, {step: str(curve[step]) for step in curve}, name)
        self.assertIn(len(numbers) - 1, curve, name)
        if most >= 2:
            self.assertIn(0, curve, name)
        if most >= 10:
            self.assertLessEqual(server_differences.extremes(numbers), curve.keys(), name)
            steps = list(curve)
            widest = max(after - before for before, after in zip(steps, steps[1:]))
            self.assertLessEqual(widest, 4 * len(numbers) / most, f"{name}: the rest is not evenly spread")

    @unittest.skipIf(IS_CONTROL, "0.7.2 draws points at random")
    def test_as_many_tensors_and_blobs_are_kept(self):
        with LoadedServer(self.log_dir) as server:
            expected = server_calls.steps_of_others(server)
        with DataServer(OURS, self.log_dir) as server:
            def check():
                got = server_calls.steps_of_others(server)
                self.assertEqual({name: len(steps) for name, steps in got.items()},
                                 {name: len(steps) for name, steps in expected.items()})
                self.assertEqual({name: steps[-1] for name, steps in got.items()},
                                 {name: steps[-1] for name, steps in expected.items()})
                self.assertTrue(all(steps[0] == 0 for steps in got.values()), got)

            eventually(check, time.monotonic() + LOAD_SECONDS)


if __name__ == "__main__":
    unittest.main()
