#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis, or its successor traceinsight, reads the traces of a job of two ranks.

    hta_test.py [folder]

The folder holds a Chrome trace of each rank; without one torch.profiler makes them.
"""

import collections
import glob
import gzip
import json
import logging
import os
import sys
import tempfile
import unittest

from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import LabeledTrace, TraceDiff

RANKS = [0, 1]
MICROSECOND = 1

folder = None


def setUpModule():
    global folder
    logging.getLogger("hta").setLevel(logging.ERROR)
    if folder is None:
        folder = unittest.enterModuleContext(tempfile.TemporaryDirectory())
        for rank in RANKS:
            write_peer_trace(rank)


def write_peer_trace(rank):
    """Four steps; rank 1 calls one operator more often than rank 0."""
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    batch = torch.rand(32, 64)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                schedule=torch.profiler.schedule(wait=1, warmup=1, active=4,
                                                                 repeat=1)) as profiler:
        for _ in range(7):
            model(batch).sum().backward()
            for _ in range(rank):
                torch.sin(batch)
            # Counts only while the profiler records.
            profiler.add_metadata_json("distributedInfo", json.dumps(
                {"backend": "gloo", "rank": rank, "world_size": len(RANKS)}))
            profiler.step()
    profiler.export_chrome_trace(os.path.join(folder, f"rank{rank}.pt.trace.json"))


class Trace:
    """A Chrome trace, read without HolisticTraceAnalysis."""

    def __init__(self, path):
        open_text = gzip.open if path.endswith(".gz") else open
        with open_text(path, "rt", encoding="utf-8") as file:
            trace = json.load(file)
        self.rank = trace["distributedInfo"]["rank"]
        self._events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.steps = {int(event["name"].split("#")[1]): event for event in self._events
                      if event["name"].startswith("ProfilerStep#")}

    def operators(self, step):
        """Name -> (calls, microseconds) of the operators that begin in a step."""
        begin = self.steps[step]["ts"]
        end = begin + self.steps[step]["dur"]
        calls, times = collections.Counter(), collections.Counter()
        for event in self._events:
            if event["cat"] == "cpu_op" and begin <= event["ts"] < end:
                calls[event["name"]] += 1
                times[event["name"]] += event["dur"]
        return {name: (calls[name], times[name]) for name in calls}


class HolisticTraceAnalysis(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        paths = [*glob.glob(f"{folder}/*.json"), *glob.glob(f"{folder}/*.json.gz")]
        cls.traces = {trace.rank: trace for trace in map(Trace, paths)}
        cls.step = min(cls.traces[0].steps)

    def labeled(self, label):
        return LabeledTrace(label=label, trace_dir=folder)

    def test_finds_both_ranks(self):
        self.assertEqual(sorted(self.traces), RANKS)
        self.assertEqual(sorted(TraceAnalysis(trace_dir=folder).t.traces), RANKS)

    def test_finds_the_steps(self):
        steps = sorted(self.traces[0].steps)
        self.assertGreater(len(steps), 2)
        # By default HolisticTraceAnalysis omits the last step.
        self.assertEqual(list(TraceAnalysis(trace_dir=folder).get_profiler_steps()), steps[:-1])
        self.assertEqual(self.labeled("all").iterations(), steps)

    def test_sums_up_the_operators_of_a_step(self):
        labeled = self.labeled("all")
        for rank in RANKS:
            summary = labeled.get_ops_summary(labeled.extract_ops(rank, self.step))
            operators = summary[summary["cat"] == "cpu_op"].set_index("name")
            expected = self.traces[rank].operators(self.step)
            self.assertEqual(dict(operators["counts"]),
                             {name: calls for name, (calls, _) in expected.items()})
            for name, (calls, time) in expected.items():
                # HolisticTraceAnalysis rounds both ends of a call to microseconds.
                self.assertAlmostEqual(operators["total_duration"][name], time, msg=name,
                                       delta=2 * calls * MICROSECOND)

    def test_compares_the_ranks(self):
        compared = TraceDiff.compare_traces(self.labeled("one"), self.labeled("other"),
                                            control_rank=0, test_rank=1,
                                            control_iteration=self.step, test_iteration=self.step)
        operators = [self.traces[rank].operators(self.step) for rank in RANKS]
        for name in operators[0].keys() | operators[1].keys():
            one, other = (calls.get(name, (0, 0))[0] for calls in operators)
            self.assertEqual(compared["one_counts"][name], one, name)
            self.assertEqual(compared["other_counts"][name], other, name)
            self.assertEqual(compared["diff_counts"][name], other - one, name)


if __name__ == "__main__":
    if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
        folder = sys.argv.pop(1)
    unittest.main(warnings="ignore")  # deprecations of the newest pandas
