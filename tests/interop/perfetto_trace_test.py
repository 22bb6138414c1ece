#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own code reads our binary traces: the spans, counters, arrows and processes are those of
the Chrome trace of the same processes.

The messages are parsed with the official schema, and put together by the rules of Perfetto's
importer. Where STEPTAPE_TRACE_PROCESSOR names Perfetto's trace_processor_shell, it loads both files
as well.
"""

import collections
import csv
import decimal
import glob
import gzip
import io
import json
import os
import subprocess
import tempfile
import unittest

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from perfetto_model import Model, Span, frozen

WRITER = os.environ["STEPTAPE_TRACE_WRITER"]
PROCESSOR = os.environ.get("STEPTAPE_TRACE_PROCESSOR", "")
RANDOM_TRACES = 8

folder = None


def setUpModule():
    global folder
    folder = tempfile.TemporaryDirectory()
    subprocess.run([WRITER, "formats", folder.name, str(RANDOM_TRACES)], check=True)


def tearDownModule():
    folder.cleanup()


def path(name):
    return os.path.join(folder.name, name)


def names():
    return ["training", "job"] + [f"random{seed}" for seed in range(RANDOM_TRACES)]


def read_perfetto(name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(path(name), "rb") as file:
        trace = Trace()
        trace.ParseFromString(file.read())
    return trace


# Numbers of events in a Chrome trace, which no reader of this format needs; the track says the device. Overlapping spans,
# which have a track of their own here, are among the asynchronous ones there, with a mark.
LEFT_OUT = {"External id", "overlaps on its thread"}


class Chrome:
    """The same of a Chrome trace."""

    def __init__(self, name):
        with gzip.open(path(name), "rt", encoding="utf-8") as file:
            content = json.load(file, parse_float=decimal.Decimal)
        self.base = content["baseTimeNanoseconds"]
        events = content["traceEvents"]
        self.hosts = {event["pid"]: event["args"]["process"] for event in events
                      if event["name"] == "steptape_device"}
        self.stream_names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events
                             if event["name"] == "thread_name"}
        ends = {event["id"]: event for event in events if event["ph"] == "e"}
        self.slices, self.instants = [], []
        self.counters = collections.defaultdict(list)
        begins, self.flows = {}, []
        for event in events:
            if event["ph"] in "Xb":
                start = self.nanos(event["ts"])
                end = (start + self.nanos(event["dur"]) - self.base if event["ph"] == "X" else
                       self.nanos(ends[event["id"]]["ts"]))
                self.slices.append(Span(*self.place(event), event["name"], event["cat"], start, end,
                                        self.arguments(event)))
            elif event["ph"] == "i" and event["name"] == "[memory]":
                self.instants.append((*self.place(event), event["name"], self.nanos(event["ts"]),
                                      self.arguments(event)))
            elif event["ph"] == "C":
                for key, value in event["args"].items():
                    name = event["name"] + ("" if key == "value" else " " + key)
                    self.counters[event["pid"], name].append((self.nanos(event["ts"]), float(value)))
            elif event["ph"] == "s":
                begins[event["id"]] = (*self.place(event), self.nanos(event["ts"]))
            elif event["ph"] == "f":
                self.flows.append([begins[event["id"]],
                                   (*self.place(event), self.nanos(event["ts"]))])

    def nanos(self, micros):
        return self.base + int(decimal.Decimal(micros) * 1000)

    def place(self, event):
        if event["pid"] in self.hosts:
            return self.hosts[event["pid"]], self.stream_names[event["pid"], event["tid"]]
        return event["pid"], event["tid"]

    @staticmethod
    def arguments(event):
        # The counters say the totals after a memory event.
        left_out = LEFT_OUT | ({"Total Allocated", "Total Reserved"}
                               if event["name"] == "[memory]" else set())
        return frozen({key: float(value) if isinstance(value, decimal.Decimal) else value
                       for key, value in event["args"].items() if key not in left_out})


class OfficialSchema(unittest.TestCase):
    def test_has_no_unknown_field_and_the_shortest_form(self):
        for name in names():
            with open(path(name + ".pftrace"), "rb") as file:
                content = file.read()
            trace = Trace()
            trace.ParseFromString(content)
            size = len(content)
            trace.DiscardUnknownFields()
            self.assertEqual(trace.ByteSize(), size, name)

    def test_is_the_same_compressed(self):
        for name in names():
            with open(path(name + ".pftrace"), "rb") as file, gzip.open(
                    path(name + ".pftrace.gz"), "rb") as compressed:
                self.assertEqual(file.read(), compressed.read())

    def test_has_what_the_chrome_trace_has(self):
        for name in names():
            with self.subTest(name):
                ours, chrome = Model(read_perfetto(name + ".pftrace.gz")), Chrome(name + ".json.gz")
                self.assertEqual(collections.Counter(ours.slices),
                                 collections.Counter(chrome.slices))
                self.assertEqual(ours.counters, chrome.counters)
                memory = [instant for instant in ours.instants if instant[2] == "[memory]"]
                self.assertEqual(sorted(memory), sorted(chrome.instants))
                # A Chrome trace has no arrows at spans that do not nest.
                arrows = collections.Counter(map(tuple, ours.flows.values()))
                self.assertFalse(collections.Counter(map(tuple, chrome.flows)) - arrows)
                self.assertTrue(all(len(ends) == 2 for ends in ours.flows.values()))

    def test_names_processes_threads_and_devices(self):
        tracks = [packet.track_descriptor for packet in read_perfetto("job.pftrace").packet
                  if packet.HasField("track_descriptor")]
        processes = {track.process.pid: track.process for track in tracks
                     if track.HasField("process")}
        self.assertEqual(list(processes), [1, 2])
        self.assertEqual(processes[2].process_name, "rank 2")
        self.assertEqual(processes[2].process_labels, ["rank 2 of 3 on node1"])
        threads = {(track.thread.pid, track.thread.tid): track.thread.thread_name
                   for track in tracks if track.HasField("thread")}
        self.assertEqual(threads[1, 4242], "main")
        self.assertEqual(threads[2, 4250], "autograd \\ 0")
        self.assertEqual([track.name for track in tracks if track.name.startswith(("GPU", "stream"))],
                         ["GPU 0", "stream 7"] * 2)

    def test_says_the_facts_of_the_process(self):
        model = Model(read_perfetto("training.pftrace"))
        facts = {name: dict(arguments) for _, _, name, _, arguments in model.instants}
        self.assertEqual(facts["steptape_process"]["host_name"], "node1")
        self.assertEqual(facts["steptape_process"]["process_id"], 4242)
        self.assertEqual(facts["steptape_process"]["metadata.profile_memory"], "1")
        self.assertIn("dropped 12 spans", facts)


class Profiler(unittest.TestCase):
    """The file of ProfilerOptions::perfettoTrace, next to that of chromeTrace."""

    STEPS = 3

    @classmethod
    def setUpClass(cls):
        subprocess.run([WRITER, "profiler", path("profiler"), str(cls.STEPS)], check=True)
        (perfetto,) = glob.glob(path("profiler/*.pftrace.gz"))
        (chrome,) = glob.glob(path("profiler/*.pt.trace.json.gz"))
        cls.ours, cls.chrome = Model(read_perfetto(perfetto)), Chrome(chrome)

    def spans(self, name):
        return [span for span in self.ours.slices if span.name == name]

    def test_writes_the_spans_of_the_window_and_no_others(self):
        zones = collections.Counter(span.name for span in self.ours.slices
                                    if span.category == "user_annotation")
        for name in ("train", "forward", "backward"):
            self.assertEqual(zones[name], self.STEPS, zones)
        self.assertNotIn("outside the window", zones)

    def test_nests_them_in_the_steps(self):
        for step in range(1, 1 + self.STEPS):
            (around,) = self.spans(f"ProfilerStep#{step}")
            (train,) = [span for span in self.spans("train")
                        if around.start <= span.start and span.end <= around.end]
            for name in ("forward", "backward"):
                (part,) = [span for span in self.spans(name)
                           if train.start <= span.start and span.end <= train.end]
                self.assertEqual((part.process, part.thread), (train.process, train.thread))

    def test_writes_what_the_chrome_trace_has(self):
        self.assertEqual(collections.Counter(self.ours.slices),
                         collections.Counter(self.chrome.slices))


def query(trace, sql):
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(sql)
        file.flush()
        done = subprocess.run([PROCESSOR, "-q", file.name, path(trace)], check=True,
                              stdout=subprocess.PIPE, text=True)
    return [tuple(row.values()) for row in csv.DictReader(io.StringIO(done.stdout))]


# Texts as hexadecimal digits, since the program does not escape line breaks.
SLICES = """
    select hex(s.name) n, hex(s.category) c, s.ts t, s.dur d, s.depth l,
      (select count(*) from slice up where up.track_id = s.track_id and up.depth < s.depth and
         up.ts <= s.ts and up.ts + up.dur >= s.ts + s.dur) around
    from slice s where s.name != 'steptape_process'"""
ARGUMENTS = """
    select s.ts t, hex(s.name) n, hex(a.key) k, hex(a.display_value) v
    from slice s join args a using (arg_set_id)
    where s.name != 'steptape_process' and a.key not like '%Total %' and a.key not like '%External id' and a.key not like '%Input%'"""
PROCESSES = "select pid, hex(name) n from process where pid != 0"
FLOWS = """
    select o.ts a, i.ts b from flow f join slice o on f.slice_out = o.id
    join slice i on f.slice_in = i.id"""
COUNTERS = "select hex(t.name) n, c.ts ts, c.value v from counter c join track t on c.track_id = t.id"
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value != 0"


@unittest.skipUnless(PROCESSOR, "STEPTAPE_TRACE_PROCESSOR does not name trace_processor_shell")
class TraceProcessor(unittest.TestCase):
    def assert_near(self, ours, chrome):
        """Equal but for a nanosecond: the trace processor computes the times of a Chrome trace in
        floating point."""
        self.assertTrue(ours)
        self.assertEqual(len(ours), len(chrome))
        for our, their in zip(sorted(ours), sorted(chrome)):
            for a, b in zip(our, their):
                self.assertLessEqual(abs(a - b), 1) if isinstance(a, int) else self.assertEqual(a, b)

    def test_reports_no_error(self):
        for name in names():
            for ending in (".pftrace", ".pftrace.gz"):
                self.assertEqual(query(name + ending, ERRORS), [], name)

    def test_shows_the_spans_of_the_chrome_trace(self):
        for name in names():
            with self.subTest(name):
                base = Chrome(name + ".json.gz").base
                ours = [(text, category, int(start) - base, int(duration))
                        for text, category, start, duration, depth, around
                        in query(name + ".pftrace.gz", SLICES)]
                chrome = [(text, category, int(start), int(duration))
                          for text, category, start, duration, depth, around
                          in query(name + ".json.gz", SLICES)]
                self.assert_near(ours, chrome)

    def test_nests_each_span_in_those_around_it(self):
        for name in names():
            for *_, duration, depth, around in query(name + ".pftrace.gz", SLICES):
                if int(duration) > 0:  # an empty span at an end may be in or out
                    self.assertEqual(int(depth), int(around), name)

    def test_shows_the_arguments_of_the_chrome_trace(self):
        for name in ("training", "job"):
            base = Chrome(name + ".json.gz").base
            key = lambda digits: bytes.fromhex(digits).decode().removeprefix("args.").removeprefix(
                "debug.")
            self.assert_near([(n, key(k), v, int(t) - base)
                              for t, n, k, v in query(name + ".pftrace.gz", ARGUMENTS)],
                             [(n, key(k), v, int(t))
                              for t, n, k, v in query(name + ".json.gz", ARGUMENTS)])

    def test_shows_the_arrows_and_counters_of_the_chrome_trace(self):
        for name in ("training", "job"):
            base = Chrome(name + ".json.gz").base
            self.assert_near([(int(a) - base, int(b) - base)
                              for a, b in query(name + ".pftrace.gz", FLOWS)],
                             [(int(a), int(b)) for a, b in query(name + ".json.gz", FLOWS)])
            label = lambda digits: bytes.fromhex(digits).decode().removesuffix(" value")
            self.assert_near([(label(n), v, int(t) - base)
                              for n, t, v in query(name + ".pftrace.gz", COUNTERS)],
                             [(label(n), v, int(t))
                              for n, t, v in query(name + ".json.gz", COUNTERS)])

    def test_shows_the_processes(self):
        self.assertEqual(query("job.pftrace.gz", PROCESSES),
                         [("1", b"train".hex().upper()), ("2", b"train".hex().upper())])


if __name__ == "__main__":
    unittest.main()
