#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard shows the values of all ranks of a job, and which rank was slow."""

import io
import os
import re
import shlex
import socket
import subprocess
import tempfile
import unittest

import numpy as np
from PIL import Image

import screenshot
from browser import Page
from page_case import PageCase
from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard

RANKS = 4
# The tags of rank_writer, with characters that are special in a regular expression.
METRICS = ["loss/train", "loss/test [EMA.9]", "|gradient|^2+$"]
# The runs with slow ranks: number of ranks, the slow rank, and the part in which it is slow.
SLOW = {"slow_input": (4, 2, "input"), "slow_forward": (3, 0, "forward"),
        "slow_of_two": (2, 1, "input")}
STEPS = [5, 10, 15, 20, 25, 30]  # At which rank_writer gathers the times.
SLOW_STEPS = STEPS[3:]  # Until then chance decides who is the slowest.

tensorboard = None
page = None


def run_ranks(ranks, program, *arguments):
    subprocess.run([*shlex.split(os.environ["STEPTAPE_MPIEXEC"]), "-n", str(ranks),
                    os.environ[program], *map(str, arguments)], check=True, timeout=PATIENCE_SECONDS)


def setUpModule():
    global tensorboard, page
    runs = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    run_ranks(RANKS, "STEPTAPE_RANK_WRITER", "metrics", os.path.join(runs, "job"), "per_rank")
    run_ranks(RANKS, "STEPTAPE_RANK_WRITER", "steps", os.path.join(runs, "equal"), -1, "none")
    for name, (ranks, slow, part) in SLOW.items():
        run_ranks(ranks, "STEPTAPE_RANK_WRITER", "steps", os.path.join(runs, name), slow, part)
    tensorboard = unittest.enterModuleContext(TensorBoard(runs))
    tensorboard.eventually(wait_until_loaded)
    page = unittest.enterModuleContext(Page(1400, 1000))


def wait_until_loaded():
    """Fails until the last value of each run is loaded."""
    texts = tensorboard.get("plugin/text/tags")
    assert "files/rank_00003" in texts.get("job", []), texts
    curves = [(run, "straggler/slowdown", len(STEPS)) for run in ("equal", *SLOW)]
    curves += [(f"job/rank_{rank:05}", METRICS[-1], 60) for rank in range(RANKS)]
    for run, tag, number in curves:
        points = tensorboard.get("plugin/scalars/scalars", run=run, tag=tag)
        assert len(points) == number, (run, tag, points)


def texts_of(server, run, tag):
    """Returns the texts by step, without markup."""
    texts = server.get("plugin/text/text", run=run, tag=tag)
    return {text["step"]: re.sub("<.*?>", "", text["text"]).strip() for text in texts}


def report_pattern(slow_rank, part):
    """Of the text that names a rank of this machine."""
    start = re.escape(f"rank {slow_rank} ({socket.gethostname()}) needs ")
    return rf"^{start}[\d.]+ times as long as the median: [\d.]+ ms a step, [\d.]+ ms of it {part}$"


class AllRanksCase(PageCase):
    def setUp(self):
        self.page = page

    def tearDown(self):
        self.assertEqual(self.page.errors(), [], "the browser's console")

    def show(self, name, *texts, tags="."):
        screenshot.show(self.page, tensorboard.url, name, tags)
        for text in texts:
            self.page.wait_for_text(text)

    def points(self, run, tag):
        """The steps and values of a curve."""
        points = tensorboard.get("plugin/scalars/scalars", run=run, tag=tag)
        return [step for _, step, _ in points], np.array([value for _, _, value in points])


class MarginCharts(AllRanksCase):
    def charts(self):
        """The charts of the layout that the writer has made, by their titles."""
        layout = tensorboard.get("plugin/custom_scalars/layout")
        return {chart["title"]: (category["title"], chart["margin"]["series"])
                for category in layout["category"] for chart in category["chart"]}

    def series(self, metric):
        """The band as the page asks for it: arrays of mean, minimum, maximum, and the steps."""
        _, [tags] = self.charts()[metric]
        names = [tags["value"], tags["lower"], tags["upper"]]
        regex = "|".join(f"({re.escape(name)})" for name in names)
        answer = tensorboard.get("plugin/custom_scalars/scalars", run="job", tag=regex)
        self.assertTrue(answer["regex_valid"])
        events = [answer["tag_to_events"][name] for name in names]
        steps = [[step for _, step, _ in curve] for curve in events]
        self.assertEqual(steps[1:], steps[:1] * 2, "the page draws nothing where steps differ")
        return [np.array([value for _, _, value in curve]) for curve in events], steps[0]

    def test_each_metric_has_a_chart_in_the_category_of_its_tag(self):
        self.assertEqual({title: category for title, (category, _) in self.charts().items()},
                         {"loss/train": "loss", "loss/test [EMA.9]": "loss",
                          "|gradient|^2+$": "|gradient|^2+$"})

    def test_the_band_matches_what_the_ranks_logged(self):
        for metric in METRICS:
            with self.subTest(metric):
                (mean, least, greatest), steps = self.series(metric)
                of_ranks = [self.points(f"job/rank_{rank:05}", metric) for rank in range(RANKS)]
                self.assertEqual([steps] * RANKS, [steps for steps, _ in of_ranks])
                values = np.array([values for _, values in of_ranks])
                np.testing.assert_array_equal(least, values.min(axis=0))
                np.testing.assert_array_equal(greatest, values.max(axis=0))
                self.assertTrue((least < greatest).all(), "a band without width shows nothing")
                weights = np.arange(1, RANKS + 1) if metric == "loss/train" else None
                np.testing.assert_allclose(mean, np.average(values, axis=0, weights=weights),
                                           rtol=1e-6)

    def test_the_page_draws_each_with_its_band(self):
        self.show("custom_scalars", *METRICS)
        for index in range(len(METRICS)):
            # The band is a paler shade of the line's color, and much wider.
            self.eventually(lambda: self.assert_colored("vz-line-chart2", 1500, index))
        self.assertNotIn("do not match", self.page.text())


class RankValues(AllRanksCase):
    def test_the_histogram_of_the_ranks_counts_each_rank_once(self):
        _, least = self.points("job", "loss/train/min")
        _, greatest = self.points("job", "loss/train/max")
        histograms = tensorboard.get("plugin/histograms/histograms", run="job",
                                     tag="loss/train/ranks")
        self.assertGreaterEqual(len(histograms), 50)  # TensorBoard shows a sample of the 60 steps.
        for _, step, buckets in histograms:
            self.assertEqual(sum(count for _, _, count in buckets), RANKS)
            self.assertAlmostEqual(buckets[0][0], least[step], places=6)
            self.assertAlmostEqual(buckets[-1][1], greatest[step], places=6)
        self.show("histograms", "loss/train/ranks", tags="ranks")
        self.eventually(lambda: self.assert_colored("vz-histogram-timeseries", 2000))

    def test_images_of_chosen_ranks_name_their_rank(self):
        tags = tensorboard.get("plugin/images/tags")["job"]
        self.assertEqual(sorted(tags), ["sample/rank_00000", "sample/rank_00002"])
        for rank in (0, 2):
            # In the first row, the rings of each rank surround its own point.
            x, y = np.meshgrid(np.arange(48), np.arange(48))
            rings = 0.5 + 0.5 * np.sin(np.hypot(x - 12 * rank, y) / 3)
            np.testing.assert_allclose(self.image(f"sample/rank_{rank:05}"), 255 * rings, atol=1)
        self.show("images", "sample/rank_00000", "sample/rank_00002", tags="sample")
        self.eventually(lambda: self.assertEqual(
            self.page.all("tf-image-loader >> img", "e.naturalWidth")[:2], [48, 48]))

    def image(self, tag):
        [entry] = tensorboard.get("plugin/images/images", run="job", tag=tag, sample=0)
        data = tensorboard.get_bytes(f"plugin/images/individualImage?{entry['query']}")
        with Image.open(io.BytesIO(data)) as picture:
            return np.array(picture)

    def test_texts_of_chosen_ranks_name_their_rank(self):
        tags = tensorboard.get("plugin/text/tags")["job"]
        self.assertEqual(sorted(tags), ["files/rank_00001", "files/rank_00003"])
        for rank in (1, 3):
            self.assertEqual(texts_of(tensorboard, "job", f"files/rank_{rank:05}"),
                             {60: f"shard {rank} of 4"})
        self.show("text", "files/rank_00001", "files/rank_00003", tags="files")
        self.page.wait_for_text("shard 3 of 4")


class Stragglers(AllRanksCase):
    def assert_named(self, run):
        """Scalars and text name the slow rank, its host and its part, and nobody who waits."""
        _, slow, part = SLOW[run]
        for tag in ("slowest_rank", "work/slowest_rank", f"{part}/slowest_rank"):
            self.assertEqual(list(self.slow_points(run, tag)), [slow] * 3, tag)
        self.assertTrue((self.slow_points(run, "slowdown") > 1.2).all())
        self.assertTrue((self.slow_points(run, f"{part}/max_ms") > 50).all())

        def check():
            texts = texts_of(tensorboard, run, "straggler/report")
            for step in SLOW_STEPS:
                self.assertRegex(texts.get(step, "nothing"), report_pattern(slow, part))

        tensorboard.eventually(check)

    def slow_points(self, run, tag):
        steps, values = self.points(run, f"straggler/{tag}")
        self.assertEqual(steps, STEPS)
        return values[3:]

    def test_names_the_rank_that_is_slow_in_input(self):
        self.assert_named("slow_input")

    def test_names_the_rank_that_is_slow_in_computation(self):
        self.assert_named("slow_forward")

    def test_names_the_slower_of_two(self):
        self.assert_named("slow_of_two")

    def test_does_not_blame_a_rank_that_waits(self):
        # The waiting ranks wait longer than they work.
        self.assertTrue((self.slow_points("slow_input", "wait/mean_ms") > 20).all())
        tags = tensorboard.get("plugin/scalars/tags")["slow_input"]
        self.assertIn("straggler/wait/max_ms", tags)
        self.assertNotIn("straggler/wait/slowest_rank", tags)

    def test_names_no_rank_if_all_are_equal(self):
        steps, slowdowns = self.points("equal", "straggler/slowdown")
        self.assertEqual((steps, list(slowdowns)), (STEPS, [1] * 6))
        self.assertEqual(tensorboard.get("plugin/text/tags")["equal"], ["straggler/parts"])

    def test_names_no_rank_for_a_part_that_no_rank_has(self):
        tags = tensorboard.get("plugin/scalars/tags")["slow_input"]
        self.assertIn("straggler/optimizer/max_ms", tags)
        self.assertNotIn("straggler/optimizer/slowest_rank", tags)

    def test_the_pages_show_curves_and_name(self):
        self.show("scalars", "straggler/slowdown", "straggler/slowest_rank",
                  tags="straggler/slow")
        for index in range(2):
            self.eventually(lambda: self.assert_colored("vz-line-chart2", 100, index))
        self.show("text", "straggler/report", "straggler/parts", tags="straggler")
        self.page.wait_for_text(f"rank 2 ({socket.gethostname()}) needs ")


class TrainerStragglers(unittest.TestCase):
    """Trainer itself counts waiting for the gradients of the slow rank as such, on either way."""

    @classmethod
    def setUpClass(cls):
        runs = cls.enterClassContext(tempfile.TemporaryDirectory())
        run_ranks(3, "STEPTAPE_TRAINING_PROGRAM", "slow", runs, 1)
        cls.tensorboard = cls.enterClassContext(TensorBoard(runs))

    def check(self, path, part):
        run = f"{path}_{part}"

        def check():
            texts = texts_of(self.tensorboard, run, "straggler/report")
            for step in (3, 6):
                self.assertRegex(texts.get(step, "nothing"), report_pattern(1, part))
            slowest = self.tensorboard.get("plugin/scalars/scalars", run=run,
                                           tag="straggler/slowest_rank")
            self.assertEqual([(step, rank) for _, step, rank in slowest], [(3, 1), (6, 1)])

        self.tensorboard.eventually(check)

    def test_names_the_rank_that_is_slow_in_input_through_shared_memory(self):
        self.check("shared", "input")

    def test_names_the_rank_that_is_slow_in_input_through_messages(self):
        self.check("messages", "input")

    def test_names_the_rank_that_is_slow_in_computation_through_shared_memory(self):
        self.check("shared", "forward")

    def test_names_the_rank_that_is_slow_in_computation_through_messages(self):
        self.check("messages", "forward")


if __name__ == "__main__":
    unittest.main()
