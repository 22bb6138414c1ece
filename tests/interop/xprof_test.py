#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""XProf, TensorBoard's profile page, shows the contents of our profiles."""

import collections
import json
import os
import subprocess
import tempfile
import unittest
import urllib.parse

from browser import Page
from page_case import PageCase
from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard
from xprof_run import XProfRun, rows_of

HOST = "node1.example.org"
RANKS = [f"{HOST}_rank00000", f"{HOST}_rank00001"]

# The contents of each of trace_writer.cpp's seven steps.
STEPS = 7
CALLS = {"aten.stack": 1, "aten.linear": 1, "aten.t": 1, "aten.addmm": 1, "aten.relu": 1,
         "autograd.engine.evaluate_function/AddmmBackward0": 1, "AddmmBackward0": 1, "aten.mm": 2,
         "allreduce": 1, "allreduce/wait": 1, "aten.detach": 1, "aten.copy_": 1,
         "Iterator::load batch": 1}
SPANS = {"load batch": 1, "aten::stack": 1, "forward": 1, "aten::linear": 1, "aten::t": 1,
         "aten::addmm": 1, "aten::relu": 1, "backward": 1,
         "autograd::engine::evaluate_function: AddmmBackward0": 1, "AddmmBackward0": 1,
         "aten::mm": 2, "allreduce": 1, "allreduce: wait": 1, "aten::detach": 1,
         "decode": 1, "aten::copy_": 1}

tensorboard = None
session = None


def setUpModule():
    global tensorboard, session
    log_dir = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    for kind, number in (("job", 1), ("job", 2), ("bare", 1), ("bare", 5), ("bare", 6),
                         ("devices", 2), ("kernels", 3), ("ranks", 3), ("held_up", 3)):
        subprocess.run([os.environ["STEPTAPE_TRACE_WRITER"], kind,
                        os.path.join(log_dir, f"{kind}{number}"), str(number)],
                       check=True, timeout=PATIENCE_SECONDS)
    session, = os.listdir(os.path.join(log_dir, "job1/plugins/profile"))
    tensorboard = unittest.enterModuleContext(TensorBoard(log_dir))


def run_of(folder):
    return f"{folder}/{session}"


class Tools(unittest.TestCase):
    """The numbers that the page fetches for its charts and tables."""

    @staticmethod
    def run_in(folder):
        return XProfRun(tensorboard, run_of(folder))

    def assert_times(self, rows, name, *expected):
        times = [row[name] for row in rows]
        self.assertEqual(len(times), len(expected), times)
        for time, each in zip(times, expected):
            self.assertAlmostEqual(time, each, places=6)

    def test_lists_our_sessions(self):
        self.assertLessEqual({run_of("job1"), run_of("job2")},
                             set(tensorboard.get("plugin/profile/runs")))

    def test_lists_a_host_for_each_rank(self):
        self.assertEqual(self.run_in("job2").hosts(), RANKS)

    def test_overview_shows_steps_with_their_times(self):
        rows = self.run_in("job1").steps()
        # XProf leaves out the first and the last of more than five.
        self.assertEqual([row["stepnum"] for row in rows], ["11", "12", "13", "14", "15"])
        self.assert_times(rows, "stepTimeMs", 11, 12, 13, 14, 15)

    # XProf looks for the shift by which the steps of two ranks overlap longest, and leaves out those
    # without a partner. It does not look at their numbers.
    def test_overview_pairs_the_steps_of_ranks_by_time(self):
        rows = self.run_in("held_up3").steps()
        # It shows the steps of the file that the folder lists first.
        self.assertIn([row["stepnum"] for row in rows], (["11", "12"], ["10", "11"]))
        self.assert_times(rows, "stepTimeMs", 11, 1)

    def test_input_pipeline_shows_all_steps_of_one_rank(self):
        held_up = self.run_in("held_up3")
        for host, times in zip(RANKS, ((1, 11, 1), (11, 1, 1))):
            rows = held_up.steps("input_pipeline_analyzer", host=host)
            self.assertEqual([row["stepnum"] for row in rows], ["10", "11", "12"])
            self.assert_times(rows, "stepTimeMs", *times)

    def test_overview_separates_loading_and_host_time(self):
        rows = self.run_in("job1").steps()
        # Loading counts as such also where an operator runs in it; zones count as nothing.
        self.assert_times(rows, "infeedTimeMs", 2, 2, 2, 2, 2)
        # Operators take 5.5 ms of each step, and the collective at its end the rest from 8 ms on.
        self.assert_times(rows, "hostComputeTimeMs", 8.5, 9.5, 10.5, 11.5, 12.5)
        self.assert_times(rows, "otherTimeMs", 0.5, 0.5, 0.5, 0.5, 0.5)

    def test_overview_counts_collectives_and_waits_of_each_thread(self):
        rows = self.run_in("ranks3").steps()
        self.assert_times(rows, "stepTimeMs", 10, 10, 10)
        self.assert_times(rows, "hostComputeTimeMs", 9.8, 9.8, 9.8)
        self.assert_times(rows, "otherTimeMs", 0.2, 0.2, 0.2)

    def test_overview_does_not_blame_loading_for_communication(self):
        conclusion, = [table["p"]["input_conclusion"]
                       for table in self.run_in("ranks3").get("overview_page")
                       if table and "input_conclusion" in (table.get("p") or {})]
        self.assertIn("NOT input-bound", conclusion)

    def test_overview_reports_dropped_spans(self):
        messages = {row["message"] for table in self.run_in("job2").get("overview_page") if table
                    for row in rows_of(table) if "message" in row}
        what = "dropped 3 spans: the profile does not show all that happened"
        self.assertEqual(messages, {f"rank 0: {what}", f"rank 1: {what}"})

    def test_overview_shows_the_steps_of_one_of_several_ranks(self):
        times = [round(row["stepTimeMs"]) for row in self.run_in("job2").steps()]
        self.assertIn(times, ([11, 12, 13, 14, 15], [12, 13, 14, 15, 16]))

    # In the window's first and last step nothing but zones happened, and both are cut.
    def test_overview_shows_steps_without_operators(self):
        self.assert_times(self.run_in("bare1").steps(), "stepTimeMs", 4)
        self.assert_times(self.run_in("bare5").steps(), "stepTimeMs", 10, 10, 10, 10, 4)
        self.assert_times(self.run_in("bare6").steps(), "stepTimeMs", 10, 10, 10, 10)
        self.assert_times(self.run_in("bare1").steps(), "otherTimeMs", 4)

    def test_overview_shows_what_devices_do_in_a_step(self):
        rows = self.run_in("devices2").steps()
        self.assert_times(rows, "stepTimeMs", 10, 10, 10)
        self.assert_times(rows, "deviceComputeTimeMs", 4, 4, 4)
        self.assert_times(rows, "deviceCollectivesTimeMs", 1, 1, 1)
        self.assert_times(rows, "infeedTimeMs", 2, 2, 2)

    def test_input_pipeline_analyzer_shows_loading(self):
        self.assertEqual(len(self.run_in("job1").steps("input_pipeline_analyzer")), 5)
        loading, = [row for table in self.run_in("job1").get("input_pipeline_analyzer") if table
                    for row in rows_of(table) if "opName" in row]
        self.assertEqual(loading["opName"], "Iterator::load batch")
        self.assertEqual(loading["count"], STEPS)
        self.assertAlmostEqual(loading["timeInMs"], 2 * STEPS, places=6)

    def test_framework_op_stats_counts_every_call(self):
        for folder, ranks in (("job1", 1), ("job2", 2)):
            rows = self.run_in(folder).operators()
            calls = {row["operation"]: row["occurrences"] for row in rows}
            self.assertEqual(calls, {name: ranks * STEPS * calls for name, calls in CALLS.items()})

    def test_framework_op_stats_shows_total_and_self_time(self):
        times = {row["operation"]: (row["total_time"], row["total_self_time"])
                 for row in self.run_in("job1").operators()}
        for name, total, own in (("aten.addmm", 1900, 1900), ("aten.linear", 2000, 0),
                                 ("AddmmBackward0", 2900, 0), ("Iterator::load batch", 2000, 1500)):
            self.assertAlmostEqual(times[name][0], STEPS * total, places=3, msg=name)
            self.assertAlmostEqual(times[name][1], STEPS * own, places=3, msg=name)

    def test_framework_op_stats_lists_what_runs_on_devices(self):
        calls = {row["operation"]: row["occurrences"] for row in self.run_in("devices2").operators()
                 if row["host_or_device"] == "Device"}
        self.assertEqual(calls, {"volta_sgemm_128x64_nn": 6,
                                 "Memcpy_HtoD__Pageable_->_Device_": 6,
                                 "ncclDevKernel_AllReduce_Sum_f32_RING_LL": 6})

    def test_kernel_stats_show_the_size_of_kernels(self):
        kernels = {row["kernel_name"]: row for row in rows_of(self.run_in("kernels3")
                                                              .get("kernel_stats"))}
        kernel = kernels["volta_sgemm_128x64_nn"]
        self.assertEqual(kernel["occurrences"], 3)
        self.assertAlmostEqual(kernel["total_duration_us"], 9000)
        self.assertEqual(kernel["registers_per_thread"], 80)
        self.assertEqual(kernel["grid_dim"], "32,2,1")
        self.assertEqual(kernel["block_dim"], "128,1,1")

    def test_memory_profile_shows_the_peak(self):
        cpu = self.run_in("job1").memory(HOST)
        summary = cpu["profileSummary"]
        self.assertEqual(int(summary["peakBytesUsageLifetime"]), 9 << 20)
        self.assertEqual(int(summary["peakStats"]["heapAllocatedBytes"]), 9 << 20)
        # 2.2 ms into the fourth step, after a millisecond and steps of 10, 11 and 12.
        self.assertEqual(int(summary["peakStatsTimePs"]), 36_200_000_000)

    def test_memory_profile_shows_allocations_by_operator_and_time(self):
        cpu = self.run_in("job1").memory(HOST)
        self.assertEqual(len(cpu["sampledTimelineSnapshots"]), 2 * STEPS)
        peak, = cpu["memoryProfileSnapshots"]
        self.assertEqual(peak["activityMetadata"]["tfOpName"], "aten::addmm")
        self.assertEqual(peak["activityMetadata"]["stepId"], "13")
        self.assertEqual(int(peak["activityMetadata"]["allocationBytes"]), 8 << 20)

    def test_trace_viewer_shows_every_span_and_nothing_else(self):
        names = collections.Counter(
            event["name"] for event in self.run_in("job1").trace(HOST) if event["ph"] == "X")
        expected = {name: STEPS * calls for name, calls in SPANS.items()}
        expected.update({str(10 + i): 1 for i in range(STEPS)}, prefetch=1)
        self.assertEqual(names, expected)

    @staticmethod
    def processes(events):
        return {event["pid"]: event["args"]["name"] for event in events
                if event["name"] == "process_name"}

    def test_trace_viewer_shows_each_device(self):
        self.assertEqual(sorted(self.processes(self.run_in("devices2").trace("node1")).values()),
                         ["node1 /device:GPU:0", "node1 /device:GPU:1", "node1 /host:CPU"])

    def test_trace_viewer_shows_ranks_side_by_side(self):
        events = self.run_in("job2").trace(*RANKS)
        processes = self.processes(events)
        self.assertEqual(sorted(processes.values()), [f"{rank} /host:CPU" for rank in RANKS])
        first_steps = {processes[event["pid"]]: (event["ts"], event["dur"]) for event in events
                       if event["name"] == "10" and event["ph"] == "X"}
        self.assertEqual(first_steps, {f"{RANKS[0]} /host:CPU": (1000, 10000),
                                       f"{RANKS[1]} /host:CPU": (1000, 11000)})

    def test_trace_viewer_draws_arrows_from_forward_to_backward(self):
        arrows = collections.defaultdict(list)
        for event in self.run_in("job1").trace(HOST):
            if "bind_id" in event:
                end = "from" if event.get("flow_out") else "to"
                arrows[event["bind_id"]].append((end, event["name"]))
        self.assertEqual(len(arrows), STEPS)
        for ends in arrows.values():
            self.assertEqual(sorted(ends), [("from", "aten::addmm"), ("to", "AddmmBackward0")])

    def test_trace_viewer_draws_memory(self):
        counter, = [event for event in self.run_in("job1").trace(HOST) if event["ph"] == "C"]
        self.assertEqual(counter["name"], "Memory in use")
        self.assertEqual(counter["entries"][:2], [[3200, 3 << 20], [5700, 1 << 20]])

    def test_trace_viewer_shows_the_arguments_of_a_clicked_span(self):
        job = self.run_in("job1")
        addmm = next(event for event in job.trace(HOST) if event["name"] == "aten::addmm")
        clicked = job.trace(HOST, event_name="aten::addmm", start_time_ms=addmm["ts"] / 1000,
                            duration_ms=addmm["dur"] / 1000, unique_id=addmm["args"]["uid"])
        arguments = next(event["args"] for event in clicked if event["name"] == "aten::addmm")
        self.assertEqual(arguments["Input Dims"], "[[128], [64, 784], [784, 128], [], []]")
        self.assertEqual(arguments["Module"], "fc1")
        self.assertEqual(arguments["kind"], "operator")


class Pages(PageCase):
    """The drawn pages. Charts load from a Google server, so they are missing without a network."""

    @classmethod
    def setUpClass(cls):
        cls.page = cls.enterClassContext(Page(1400, 1000))

    def show(self, folder, tool, *hosts):
        query = {"run": run_of(folder), "tag": tool, "host": hosts[0], "hosts": ",".join(hosts)}
        self.page.open(f"{tensorboard.url}/?{urllib.parse.urlencode(query)}#profile")

    def test_overview_shows_the_parts_of_a_step(self):
        self.show("job1", "overview_page", "ALL_HOSTS")
        for text in ("Input Time (σ = 0.0 ms) 2.0 ms", "Host Compute Time (σ = 1.6 ms) 10.5 ms",
                     "All Others Time (σ = 0.0 ms) 0.5 ms", "dropped 3 spans"):
            self.page.wait_for_text(text)

    def test_trace_viewer_draws_the_spans(self):
        self.show("job2", "trace_viewer@", *RANKS)
        for rank in RANKS:
            self.page.wait_for_text(f"{rank} /host:CPU")
        rows = ["Memory in use:", "Steps", "main", "loader", "loader (detached)"]
        self.eventually(lambda: self.assertEqual(
            [row for row in self.page.all("#heading_content") if row], 2 * rows))
        # The second drawing is that of the rows, the first one that of the time axis.
        self.eventually(
            lambda: self.assert_colored("canvas.drawing-container-canvas", 20_000, index=1))

    def test_memory_profile_shows_the_peak(self):
        self.show("job1", "memory_profile", HOST)
        for text in ("#Allocation 7", "#Deallocation 7", "Timestamp: 36.2 ms",
                     "Heap Allocation: 9.00 MiB"):
            self.page.wait_for_text(text)


if __name__ == "__main__":
    unittest.main()
