#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of the real PyTorch profiler, read and written again: everything in them is still there, in
the same form, and only additional data that the library marks as its own."""

import collections
import decimal
import gzip
import json
import os
import re
import subprocess
import tempfile
import threading
import unittest

import torch
from torch import profiler

COPY = os.environ["STEPTAPE_CHROME_TRACE_COPY"]

# The numbers of an event in its file, and the arrow's end that every operator gets.
DERIVED = {"External id", "Ev Idx", "Record function id", "Python id", "Python parent id"}
OURS = {"kind", "overlaps on its thread"}


def train(model, steps, on_step=lambda: None):
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step in range(steps):
        with profiler.record_function('load "batch" \n\\ \x01 é 日本'):
            inputs = torch.randn(4, 1, 8, 8)
        optimizer.zero_grad()
        model(inputs).square().sum().backward()
        optimizer.step()
        on_step()


def model_with_a_bit_of_everything():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                               torch.nn.Flatten(), torch.nn.Linear(4 * 6 * 6, 3))


def load(path):
    """Parses numbers exactly as written, so that no nanosecond is lost."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def frozen(value):
    return json.dumps(value, sort_keys=True, default=str)


def is_span(event):
    return event["ph"] == "X" and event["cat"] != "Trace"


def spans(events):
    """Returns every span in a comparable form, asynchronous spans from their begin and end events."""
    ends = {event["id"]: event for event in events if event["ph"] == "e"}
    found = []
    for event in events:
        if event["ph"] == "b":
            found.append((event, ends[event["id"]]["ts"] - event["ts"]))
        elif is_span(event):
            found.append((event, event["dur"]))
    return collections.Counter(
        (name(event), event["cat"], event["pid"], event["tid"], decimal.Decimal(event["ts"]),
         decimal.Decimal(duration), frozen(arguments(event))) for event, duration in found)


def name(event):
    """Without the address of the first object on which a Python method was called."""
    if event["cat"] != "python_function":
        return event["name"]
    return re.sub(r" at 0x[0-9a-fA-F]+>$", ">", event["name"])


def arguments(event):
    kept = {key: value for key, value in event.get("args", {}).items()
            if key not in DERIVED | OURS}
    # Kineto states the forward thread of autograd's wrappers; ours is that of nodes alone.
    if event["name"].startswith("autograd::engine::evaluate_function: "):
        kept.pop("Fwd thread id", None)
    return kept


def memory(events):
    return [(event["pid"], event["tid"], event["ts"], frozen(
        {key: event["args"][key] for key in ("Addr", "Bytes", "Device Id", "Device Type",
                                             "Total Allocated", "Total Reserved")}))
            for event in events if event["name"] == "[memory]"]


def arrows(events):
    """From where to where, whatever their ids."""
    begins = {event["id"]: event for event in events
              if event["ph"] == "s" and event["cat"] == "fwdbwd"}
    return sorted((begins[event["id"]]["tid"], begins[event["id"]]["ts"], event["tid"], event["ts"])
                  for event in events if event["ph"] == "f" and event["cat"] == "fwdbwd")


class ChromeTrace(unittest.TestCase):
    def check_copy(self, profile):
        with tempfile.TemporaryDirectory() as folder:
            original = os.path.join(folder, "original.json")
            copy = os.path.join(folder, "copy.json.gz")
            second = os.path.join(folder, "second.json.gz")
            profile.export_chrome_trace(original)
            subprocess.run([COPY, original, copy], check=True)
            subprocess.run([COPY, copy, second], check=True)
            theirs, ours, again = load(original), load(copy), load(second)

        their_events, our_events = theirs["traceEvents"], ours["traceEvents"]
        self.assertEqual(spans(our_events), spans(their_events))
        self.assertEqual(memory(our_events), memory(their_events))
        self.assertEqual(arrows(our_events), arrows(their_events))
        for key in ("schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds",
                    "host_name", "trace_id"):
            self.assertEqual(ours[key], theirs[key], key)
        self.assertFalse([event for event in our_events if event["name"].startswith("dropped ")])
        self.assertEqual(again["traceEvents"], our_events)
        return our_events

    def test_operators_and_steps(self):
        schedule = profiler.schedule(wait=0, warmup=1, active=3, repeat=1)
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], schedule=schedule) as profile:
            train(model_with_a_bit_of_everything(), 4, profile.step)
        events = self.check_copy(profile)
        steps = {event["name"] for event in events if event["name"].startswith("ProfilerStep#")}
        self.assertEqual(steps, {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3"})
        self.assertGreater(len(arrows(events)), 10)

    def test_shapes_memory_and_stacks(self):
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True,
                              profile_memory=True, with_stack=True, with_modules=True,
                              with_flops=True) as profile:
            train(model_with_a_bit_of_everything(), 2)
        events = self.check_copy(profile)
        self.assertTrue([event for event in events if "Input Dims" in event.get("args", {})])
        self.assertGreater(len(memory(events)), 10)
        self.assertTrue([event for event in events if event.get("cat") == "python_function"])

    def test_threads(self):
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True,
                              experimental_config=torch._C._profiler._ExperimentalConfig(
                                  profile_all_threads=True)) as profile:
            threads = [threading.Thread(target=train, args=(model_with_a_bit_of_everything(), 3))
                       for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        events = self.check_copy(profile)
        self.assertGreater(len({event["tid"] for event in events if is_span(event)}), 1)


if __name__ == "__main__":
    unittest.main()
