#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures reading scalars into a pandas.DataFrame with Steptape, EventAccumulator and tbparse.

    PYTHONPATH=build/release/python benchmarks/python_reading.py build/release/bin/interop_writer

All read 3,000,000 scalars, 10 tags in one file in the form of torch.utils.tensorboard, into a long table of tag,
step, wall time and value. The figure is wall time on an idle machine, on which Steptape uses all processors. --cpu
measures the CPU time of all threads instead. The variants take turns, and a round takes a minute. At the end the
script compares the peak memory of a process with the size of its table.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings

import pandas
import tbparse
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import steptape
import steptape.compat.tbparse
from rounds import print_medians, report, take_turns

TAGS, STEPS = 10, 300_000
clock = time.process_time if "--cpu" in sys.argv else time.perf_counter


def ours(log_dir):
    return steptape.read(log_dir).to_pandas()


def our_summary_reader(log_dir):
    return steptape.compat.tbparse.SummaryReader(log_dir, extra_columns={"wall_time"}).scalars


def event_accumulator(log_dir):
    accumulator = EventAccumulator(log_dir, size_guidance={"scalars": 0}).Reload()
    return pandas.concat(
        [pandas.DataFrame.from_records([(tag, point.step, point.wall_time, point.value)
                                        for point in accumulator.Scalars(tag)],
                                       columns=["tag", "step", "wall_time", "value"])
         for tag in accumulator.Tags()["scalars"]], ignore_index=True)


def summary_reader(log_dir):
    return tbparse.SummaryReader(log_dir, extra_columns={"wall_time"}, event_types={"scalars"}).scalars


def seconds_a_scalar(read, log_dir):
    began = clock()
    table = read(log_dir)
    seconds = clock() - began
    assert len(table) == TAGS * STEPS, f"{log_dir}: {len(table)} points"
    return seconds / len(table)


def compare(log_dir, rounds):
    readers = {"steptape.read().to_pandas()": ours, "the same, again (A/A)": ours,
               "steptape.compat.tbparse": our_summary_reader, "EventAccumulator": event_accumulator,
               "tbparse": summary_reader}
    seconds = take_turns({name: lambda read=read: seconds_a_scalar(read, log_dir)
                          for name, read in readers.items()}, rounds)
    first, again, drop_in, accumulator, reader = seconds.values()
    print_medians("Nanoseconds per scalar", seconds, scale=1e9)
    report("ours / again", first, again, control=(0.9, 1.1))
    report("EventAccumulator / ours", accumulator, first, at_least=400)
    report("tbparse / ours", reader, first, at_least=250)
    report("tbparse / steptape.compat.tbparse", reader, drop_in, at_least=200)


def status_bytes(name):
    """Of this process since it was started, which getrusage() mixes with its parent's."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(re.search(rf"{name}:\s+(\d+) kB", status.read())[1]) * 1024


def print_memory(log_dir):
    """In this process, which has made an empty table, so that libraries are loaded."""
    pandas.DataFrame({"run": pandas.Categorical([])}).memory_usage(deep=True)
    before = status_bytes("VmRSS")
    table = ours(log_dir)
    columns = int(table.memory_usage(deep=True, index=False).sum())
    ratio = (status_bytes("VmHWM") - before) / columns
    print(f"  {'peak memory of a process / columns of its table':52} {ratio:10.3f}  "
          f"{'within' if ratio <= 2 else 'MISSES'} 2; the columns are {columns / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interop_writer", help="the program that writes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--form", choices=("compatible", "tensor"), default="compatible")
    parser.add_argument("--cpu", action="store_true", help="count CPU time")
    parser.add_argument("--memory", metavar="LOGDIR", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        print_memory(arguments.memory)
        return
    warnings.simplefilter("ignore")  # of pandas, in tbparse
    with tempfile.TemporaryDirectory() as log_dir:
        subprocess.run([os.path.abspath(arguments.interop_writer), "curves", arguments.form, log_dir,
                        str(TAGS), str(STEPS)], check=True)
        compare(log_dir, arguments.rounds)
        subprocess.run([sys.executable, __file__, arguments.interop_writer, "--memory", log_dir], check=True)


if __name__ == "__main__":
    main()
