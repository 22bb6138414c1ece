#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HolisticTraceAnalysis, or its successor traceinsight, breaks down the kernels of a GPU.

The trace is that of `trace_writer kernels`: steps of 10 ms, each with one kernel, one copy and one
collective, whose times are known.
"""

import logging
import os
import subprocess
import tempfile
import unittest

import hta
from hta.trace_analysis import TraceAnalysis

STEPS = 4
# HolisticTraceAnalysis omits the last step.
COUNTED = STEPS - 1
KERNEL = "volta_sgemm_128x64_nn"
COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
COPY = "Memcpy HtoD (Pinned -> Device)"
STEP_US = 10_000
KERNEL_US, COLLECTIVE_US, COPY_US = 3000, 3000, 1000
KERNEL_AND_COLLECTIVE_US = 1000  # at the same time
COPY_AND_COLLECTIVE_US = 1000
BUSY_US = 5000  # from the start of the kernel to the end of the collective

only_in_traceinsight = unittest.skipIf(hta.__version__ == "0.5.0", "HolisticTraceAnalysis 0.5.0 fails here with pandas 3")


class HolisticTraceAnalysisOfGpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("hta").setLevel(logging.ERROR)
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        subprocess.run([os.environ["STEPTAPE_TRACE_WRITER"], "kernels", folder, str(STEPS)],
                       check=True)
        cls.analysis = TraceAnalysis(trace_dir=folder)

    def test_sums_up_kernels_by_name(self):
        _, kernels = self.analysis.get_gpu_kernel_breakdown(visualize=False)
        rows = {row["name"]: (row["sum (us)"], row["kernel_type"]) for _, row in kernels.iterrows()}
        self.assertEqual(rows, {KERNEL: (COUNTED * KERNEL_US, "COMPUTATION"),
                                COLLECTIVE: (COUNTED * COLLECTIVE_US, "COMMUNICATION"),
                                COPY: (COUNTED * COPY_US, "MEMORY")})

    def test_sums_up_kinds_of_kernels(self):
        kinds, _ = self.analysis.get_gpu_kernel_breakdown(visualize=False)
        sums = dict(zip(kinds["kernel_type"], kinds["sum"]))
        self.assertEqual(sums["COMPUTATION"],
                         COUNTED * (KERNEL_US - KERNEL_AND_COLLECTIVE_US))
        self.assertEqual(sums["COMPUTATION overlapping COMMUNICATION"],
                         COUNTED * KERNEL_AND_COLLECTIVE_US)
        self.assertEqual(sums["COMMUNICATION overlapping MEMORY"],
                         COUNTED * COPY_AND_COLLECTIVE_US)

    def test_finds_the_share_of_communication_during_computation(self):
        overlap = self.analysis.get_comm_comp_overlap(visualize=False)
        self.assertEqual(list(overlap["comp_comm_overlap_pctg"]),
                         [round(100 * KERNEL_AND_COLLECTIVE_US / COLLECTIVE_US, 2)])

    def test_finds_the_idle_time_of_the_device(self):
        row = self.analysis.get_temporal_breakdown(visualize=False).iloc[0]
        # The first kernel begins what is counted, and the last one ends it.
        self.assertEqual(row["idle_time(us)"], (COUNTED - 1) * (STEP_US - BUSY_US))
        self.assertEqual(row["compute_time(us)"], COUNTED * KERNEL_US)
        self.assertEqual(row["non_compute_time(us)"], COUNTED * (BUSY_US - KERNEL_US))

    def test_finds_that_the_streams_wait_for_the_host(self):
        idle, _ = self.analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
        times = {(row["stream"], row["idle_category"]): row["idle_time"]
                 for _, row in idle.iterrows()}
        gaps = COUNTED - 1
        self.assertEqual(times[7, "host_wait"], gaps * (STEP_US - KERNEL_US - COPY_US))
        self.assertEqual(times[20, "host_wait"], gaps * (STEP_US - COLLECTIVE_US))
        self.assertEqual(times[7, "kernel_wait"], 0)

    def test_links_kernels_to_their_launches(self):
        launches = self.analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
        rows = [tuple(row) for row in launches[["cpu_duration", "gpu_duration", "launch_delay"]]
                .itertuples(index=False)]
        self.assertEqual(rows, COUNTED * [(10, KERNEL_US, 790), (20, COPY_US, 2880),
                                          (30, COLLECTIVE_US, 1360)])

    def test_links_kernels_to_their_operators(self):
        operators = self.analysis.get_aten_op_kernels_and_delay(ranks=[0])[0]
        rows = [tuple(row) for row in operators[["aten_op_name", "kernel_sequence",
                                                 "occurrence_count"]].itertuples(index=False)]
        self.assertIn(("aten::mm", KERNEL, COUNTED), rows)

    def test_counts_what_is_queued(self):
        queue = self.analysis.get_queue_length_summary(ranks=[0])["queue_length"]
        self.assertEqual(queue.loc[(0, 7), "max"], 1)
        # Each kernel and copy is queued once and started once.
        self.assertEqual(queue.loc[(0, 7), "count"], COUNTED * 2 * 2)

    def test_knows_the_throughput_of_copies(self):
        throughput = self.analysis.get_memory_bw_summary(ranks=[0])["memory_bw_gbps"]
        self.assertEqual(throughput.loc[(0, "Memcpy HtoD"), "mean"], 8)  # 8 MB in 1 ms

    @only_in_traceinsight
    def test_finds_the_kernels_of_an_operator(self):
        with tempfile.TemporaryDirectory() as folder:
            sequences = self.analysis.get_frequent_cuda_kernel_sequences("aten::mm", folder, min_pattern_len=1)
        rows = [tuple(row) for row in sequences.itertuples(index=False)]
        self.assertEqual(rows, [(f"aten::mm|{KERNEL}", COUNTED, COUNTED * KERNEL_US, COUNTED * 800)])

    @only_in_traceinsight
    def test_finds_the_critical_path_of_a_step(self):
        graph, is_found = self.analysis.critical_path_analysis(0, "ProfilerStep", 1)
        self.assertTrue(is_found)
        times = graph.get_critical_path_breakdown().groupby("bound_by")["duration"].sum()
        self.assertEqual(times["cpu_bound"], 800 + 500 + 10)  # aten::mm, aten::copy_, the collective's until its launch
        self.assertEqual(times["gpu_kernel_launch_overhead"], 1390)
        self.assertEqual(times["gpu_communication_bound"], COLLECTIVE_US)
        self.assertNotIn("gpu_compute_bound", times)  # the kernel ends before the collective


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # deprecations of the newest pandas
