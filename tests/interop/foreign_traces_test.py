#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies of other programs' traces in every format that `steptape` writes are read by programs that are
not ours: Python's json without its extensions, Perfetto's messages, XProf, and a reader of folded
stacks."""

import collections
import gzip
import json
import os
import subprocess
import tempfile
import unittest

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
from xprof.convert import raw_to_tool_data

from patience import PATIENCE_SECONDS

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "golden")
FORMATS = ("json", "json.gz", "pftrace", "pftrace.gz", "xplane.pb", "folded")

# What Python's json and PyTorch's profiler write, with values and names that formats differ about.
STRANGE = """{"schemaVersion": 1, "baseTimeNanoseconds": 1795737600000000000, "host_name": "n;ode\\n",
 "loss": NaN, "options": {"lr": [Infinity, 0.1]}, "profile_start_time": 7, "traceEvents": [
 {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "py\\"thon; 3\\r\\n"}},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1, "dur": 90},
 {"ph": "X", "cat": "cpu_op", "name": "a;b\\r\\nc \\u2028\\ud83d\\ude00\\u0000", "pid": 1, "tid": 1, "ts": 2, "dur": 50,
  "args": {"loss": NaN, "Input Dims": [[2, 3], []], "module": "f\\"c", "value": -Infinity}},
 {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 4}, {"ph": "E", "pid": 1, "tid": 1, "ts": 14},
 {"ph": "C", "name": "n", "pid": 1, "ts": 5, "args": {"value": Infinity}},
 {"ph": "C", "name": "n", "pid": 1, "ts": 6, "args": {"value": 2}}, {}]}"""

folder = None
copies = None


def path(name):
    return os.path.join(folder, name)


def run(*arguments):
    subprocess.run([os.environ["STEPTAPE_TOOL"], *arguments], check=True, timeout=PATIENCE_SECONDS,
                   cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def setUpModule():
    global folder, copies
    folder = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    with open(path("strange.json"), "w", encoding="utf-8") as file:
        file.write(STRANGE)
    originals = {"strange": path("strange.json"), "jax": f"{GOLDEN}/jax.xplane.pb",
                 "jax_json": f"{GOLDEN}/jax.trace.json.gz",
                 "tensorflow": f"{GOLDEN}/tensorflow.xplane.pb"}
    copies = []
    for name, original in originals.items():
        copies.append(f"{name}_copy")
        for ending in FORMATS:
            run("profile", original, "--output", f"{name}_copy.{ending}")
        # What another format has kept comes back.
        copies.append(f"{name}_again")
        for ending in FORMATS:
            run("profile", f"{name}_copy.{'xplane.pb' if 'json' in ending else 'json'}",
                "--output", f"{name}_again.{ending}")
    copies.append("merged")
    for ending in FORMATS:
        if ending not in ("xplane.pb", "folded"):
            run("merge-traces", *originals.values(), "--output", f"merged.{ending}")
    run("profile", *originals.values(), "--output", "merged.folded")


def content(name):
    with (gzip.open if name.endswith(".gz") else open)(path(name), "rb") as file:
        return file.read()


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def chrome(name):
    return json.loads(content(name).decode("utf-8", errors="strict"), parse_constant=refuse)


def spans_of(copy):
    """How many spans of each name a copy has, without the steps."""
    return collections.Counter(event["name"] for event in chrome(f"{copy}.json")["traceEvents"]
                               if event["ph"] in "Xb"
                               and not event["name"].startswith("ProfilerStep#"))


def perfetto(name):
    trace = Trace()
    trace.ParseFromString(content(name))
    return trace


class Copies(unittest.TestCase):
    def test_as_json_are_json(self):
        for copy in copies:
            with self.subTest(copy):
                events = chrome(f"{copy}.json")["traceEvents"]
                self.assertEqual(events, chrome(f"{copy}.json.gz")["traceEvents"])
                self.assertTrue(any(event["ph"] == "X" for event in events))

    def test_for_perfetto_are_its_messages(self):
        for copy in copies:
            with self.subTest(copy):
                packets = perfetto(f"{copy}.pftrace").packet
                self.assertEqual(list(packets), list(perfetto(f"{copy}.pftrace.gz").packet))
                begins = sum(packet.track_event.type == packet.track_event.TYPE_SLICE_BEGIN
                             for packet in packets)
                ends = sum(packet.track_event.type == packet.track_event.TYPE_SLICE_END
                           for packet in packets)
                self.assertGreater(begins, 0)
                self.assertEqual(begins, ends)

    def test_for_perfetto_have_the_names_of_the_json(self):
        for copy in copies:
            with self.subTest(copy):
                names = {name.name for packet in perfetto(f"{copy}.pftrace").packet
                         for name in packet.interned_data.event_names}
                self.assertLessEqual(set(spans_of(copy)), names)

    def test_for_xprof_have_the_spans_of_the_json(self):
        for copy in copies[:-1]:
            with self.subTest(copy):
                data, _ = raw_to_tool_data.xspace_to_tool_data(
                    [path(f"{copy}.xplane.pb")], "trace_viewer", {})
                # It draws a span of no length as an instant, a step with its number as name, and
                # some counters also as instants.
                drawn = collections.Counter(
                    event["name"] for event in json.loads(data)["traceEvents"]
                    if event.get("ph") in ("X", "i") and not event["name"].isdigit()
                    and event["name"] != "n")
                self.assertEqual(drawn, spans_of(copy))

    def test_as_stacks_have_a_stack_and_a_number_in_each_line(self):
        for copy in copies:
            with self.subTest(copy):
                lines = content(f"{copy}.folded").decode("utf-8").split("\n")
                self.assertEqual(lines.pop(), "")
                self.assertTrue(lines)
                for line in lines:
                    self.assertRegex(line, r"^[^;]+(;[^;]+)* [1-9][0-9]*$")

    def test_keep_the_facts_of_the_original(self):
        for copy in ("strange_copy", "strange_again"):
            file = chrome(f"{copy}.json")
            self.assertEqual(file["loss"], "NaN")
            self.assertEqual(file["options"], {"lr": ["Infinity", 0.1]})
            self.assertEqual(file["host_name"], "n;ode\n")
        self.assertEqual(chrome("jax_copy.json")["profile_options"],
                         chrome("jax_again.json")["profile_options"])

    def test_of_several_processes_have_names_that_differ(self):
        names = [event["args"]["name"] for event in chrome("merged.json")["traceEvents"]
                 if event["name"] == "process_name"]
        self.assertEqual(len(names), 4)
        self.assertEqual(len(set(names)), 4)
        self.assertEqual(sorted(names), sorted(
            packet.track_descriptor.process.process_name
            for packet in perfetto("merged.pftrace").packet
            if packet.track_descriptor.HasField("process")))


if __name__ == "__main__":
    unittest.main()
