#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Viewers show a real training of two ranks and agree with `steptape profile`."""

import collections
import functools
import glob
import logging
import os
import re
import tempfile
import unittest

from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import LabeledTrace

import hta_test
import profiled_run
from browser import Page
from profiled_run import RANKS, STEPS
from tensorboard_server import TensorBoard
from xprof_run import XProfRun

MILLISECOND = 1000  # in microseconds, HolisticTraceAnalysis's unit
ROUNDING = 2  # microseconds that it may be off at both ends of a span together
CLOCKS = 100  # microseconds that the ranks' clocks may be apart

log_dir = None
summaries = None


def setUpModule():
    global log_dir, summaries
    logging.getLogger("hta").setLevel(logging.ERROR)
    log_dir = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    hta_test.folder = os.path.join(log_dir, "run")
    profiled_run.train(hta_test.folder)
    session, = glob.glob(f"{hta_test.folder}/plugins/profile/*")
    summaries = profiled_run.summaries(session)


@functools.cache
def tensorboard():
    return unittest.enterModuleContext(TensorBoard(log_dir))


@functools.cache
def page():
    return unittest.enterModuleContext(Page(1440, 1000))


class InHolisticTraceAnalysis(hta_test.HolisticTraceAnalysis):
    """The viewer's findings in every job's traces, and those of `steptape profile` about ranks and steps."""

    def events(self, rank, name):
        """The spans of a name: for each step (begin, end), by time."""
        trace = self.labeled("all").t
        table = trace.get_trace(rank)
        numbers = trace.symbol_table.get_sym_id_map()
        steps = {step: table[table["name"] == numbers[f"ProfilerStep#{step}"]].iloc[0] for step in STEPS}
        spans = collections.defaultdict(list)
        for event in table[table["name"] == numbers[name]].sort_values("ts").itertuples():
            # The viewer rounds begins up and ends down: what begins just before the end of a step
            # may be in none.
            step, = [step for step in STEPS
                     if 0 <= event.ts - steps[step]["ts"] < steps[step]["dur"] + ROUNDING
                     and event.iteration in (step, -1)]
            spans[step].append((event.ts, event.ts + event.dur))
        return spans

    def test_finds_the_file_of_each_rank(self):
        for rank, path in TraceAnalysis(trace_dir=hta_test.folder).t.trace_files.items():
            self.assertRegex(os.path.basename(path), rf"^[^/]+_rank{rank:05}_\d+\.\d+\.pt\.trace")

    def test_finds_the_steps_that_the_example_profiles(self):
        self.assertEqual(self.labeled("all").iterations(), STEPS)

    def test_finds_when_each_rank_loads(self):
        for rank in RANKS:
            loading = self.events(rank, "input")
            self.assertEqual(sorted(loading), STEPS)
            for step in STEPS:
                (begin, end), = loading[step]
                self.assertAlmostEqual(
                    end - begin, MILLISECOND * summaries[rank].parts[step]["input_ms"],
                    delta=ROUNDING, msg=(rank, step))

    def test_finds_how_long_each_rank_waits(self):
        for rank in RANKS:
            waits = self.events(rank, "wait for ranks")
            self.assertEqual(sorted(waits), STEPS)
            times = [end - begin for step in STEPS for begin, end in waits[step]]
            self.assertEqual(len(times), summaries[rank].calls["wait for ranks"])
            self.assertAlmostEqual(
                sum(times), MILLISECOND * summaries[rank].total_ms["wait for ranks"],
                delta=ROUNDING * len(times), msg=rank)

    # All gradients must be complete before the optimizer's step, all parameters after it.
    def test_sees_no_rank_go_on_before_the_others_have_come(self):
        waits = [self.events(rank, "wait for ranks") for rank in RANKS]
        for step in STEPS:
            for barrier in (0, 1):
                come = max(ofRank[step][barrier][0] for ofRank in waits)
                go_on = min(ofRank[step][barrier][1] for ofRank in waits)
                self.assertGreater(go_on, come - CLOCKS, (step, barrier))


class InXProf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        name, = tensorboard().get("plugin/profile/runs")
        cls.run_shown = XProfRun(tensorboard(), name)
        cls.hosts = cls.run_shown.hosts()

    def test_lists_both_ranks(self):
        self.assertEqual([host[-10:] for host in self.hosts], ["_rank00000", "_rank00001"])

    def test_shows_the_steps_of_each_rank_with_their_parts(self):
        for rank, host in zip(RANKS, self.hosts):
            rows = self.run_shown.steps("input_pipeline_analyzer", host=host)
            self.assertEqual([int(row["stepnum"]) for row in rows], STEPS)
            for row, step in zip(rows, STEPS):
                for shown, part in (("stepTimeMs", "total"), ("infeedTimeMs", "input")):
                    self.assertAlmostEqual(row[shown], self.part(rank, step, part), places=5)
                counted = sum(self.part(rank, step, part)
                              for part in ("forward", "backward", "transfer", "wait"))
                self.assertGreater(row["hostComputeTimeMs"], counted - 1e-3)
                # The optimizer's operators and the collectives of logging come on top.
                self.assertLess(row["hostComputeTimeMs"],
                                row["stepTimeMs"] - row["infeedTimeMs"] + 1e-3)

    # It pairs the steps of the ranks by their times, not by their numbers; see xprof_test.py. Of
    # short steps on a busy machine it may therefore leave out the first or the last.
    def test_shows_steps_of_all_ranks_in_the_overview(self):
        shown = [int(row["stepnum"]) for row in self.run_shown.steps()]
        self.assertIn(shown, [STEPS[i:k] for i in range(len(STEPS))
                              for k in range(i + 1, len(STEPS) + 1)])

    @staticmethod
    def part(rank, step, name):
        return summaries[rank].parts[step][f"{name}_ms"]

    def test_counts_the_calls_of_both_ranks(self):
        shown = {row["operation"]: row["occurrences"] for row in self.run_shown.operators()}
        names = {name for name in summaries[0].calls if re.fullmatch(r"aten::\w+", name)}
        self.assertIn("aten::addmm", names)
        for name in names:
            self.assertEqual(shown[name.replace("::", ".")],
                             sum(summaries[rank].calls[name] for rank in RANKS), name)

    def test_draws_every_span_of_each_rank(self):
        events = self.run_shown.trace(*self.hosts)
        hosts = {event["pid"]: event["args"]["name"] for event in events
                 if event["name"] == "process_name"}
        self.assertEqual(sorted(hosts.values()), [f"{host} /host:CPU" for host in self.hosts])
        for rank, host in zip(RANKS, self.hosts):
            spans = collections.Counter(event["name"] for event in events if event["ph"] == "X"
                                        and hosts[event["pid"]].startswith(host))
            expected = {**summaries[rank].calls, **{str(step): 1 for step in STEPS}}
            self.assertEqual(spans, expected)

    def test_shows_the_memory_of_each_rank(self):
        for rank, host in zip(RANKS, self.hosts):
            summary = self.run_shown.memory(host)["profileSummary"]
            self.assertEqual(int(summary["peakBytesUsageLifetime"]), summaries[rank].peak_bytes())
            self.assertGreater(summaries[rank].peak_bytes(), 64 * 784 * 4)  # A batch of images.


# Its pages as they open, without a filter or a click.
class InTensorBoard(unittest.TestCase):
    def test_shows_where_the_time_of_a_step_went(self):
        page().open(f"{tensorboard().url}/#text")
        page().wait_for_text("Steps 11 to 13 of rank 0 were recorded.")
        page().wait_for_text("pip install xprof")
        page().wait_for_text("aten::addmm")


class PicturesInTensorBoard(unittest.TestCase):
    def test_draws_where_the_time_of_a_step_went(self):
        page().open(f"{tensorboard().url}/#images")
        for tag in ("flame_graph", "memory_curve", "step_breakdown"):
            page().wait_for_text(f"tag: profile/{tag}")


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # deprecations of the newest pandas
