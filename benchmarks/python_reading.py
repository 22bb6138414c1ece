#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to read scalars into a pandas.DataFrame: Steptape, EventAccumulator and tbparse.

    PYTHONPATH=build/release/python benchmarks/python_reading.py build/release/bin/interop_writer

Steptape reads 3,000,000 scalars, 10 tags in one file in the form of torch.utils.tensorboard. The two
others are hundreds of times slower: they read files of 30,000, and --all has them read the large file
as well. Every reading ends with a long table of tag, step, wall time and value. What counts is the time
that a person waits, of an idle machine; Steptape uses all of its processors. --cpu counts the CPU time of
all threads instead. The rounds alternate. Then the peak memory of a process is compared with its table's.
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

TAGS, STEPS, FEWER_STEPS = 10, 300_000, 3_000
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


def seconds_a_scalar(read, log_dir, steps):
    began = clock()
    table = read(log_dir)
    seconds = clock() - began
    assert len(table) == TAGS * steps, f"{log_dir}: {len(table)} points"
    return seconds / len(table)


def compare(large, small, rounds):
    seconds = take_turns({
        "steptape.read().to_pandas()": lambda: seconds_a_scalar(ours, large, STEPS),
        "the same, again (A/A)": lambda: seconds_a_scalar(ours, large, STEPS),
        "steptape.compat.tbparse": lambda: seconds_a_scalar(our_summary_reader, large, STEPS),
        "EventAccumulator": lambda: seconds_a_scalar(event_accumulator, small, FEWER_STEPS),
        "tbparse": lambda: seconds_a_scalar(summary_reader, small, FEWER_STEPS),
    }, rounds)
    first, again, drop_in, accumulator, reader = seconds.values()
    print_medians("Nanoseconds a scalar", seconds, scale=1e9)
    report("ours / again", first, again, control=(0.9, 1.1))
    report("EventAccumulator / ours", accumulator, first, at_least=400)
    report("tbparse / ours", reader, first, at_least=250)
    report("tbparse / steptape.compat.tbparse", reader, drop_in, at_least=100)


def compare_large(large, rounds):
    """All read the large file: the Python objects that the others make of it cost more, the more there are."""
    readers = {"steptape.read().to_pandas()": ours, "the same, again (A/A)": ours,
               "EventAccumulator": event_accumulator, "tbparse": summary_reader}
    seconds = {name: [] for name in readers}
    for number in range(rounds):
        for name, read in readers.items():
            seconds[name].append(seconds_a_scalar(read, large, STEPS))
        print(f"round {number + 1} of {rounds}", flush=True)
    first, again, accumulator, reader = seconds.values()
    print_medians("Nanoseconds a scalar of 3,000,000", seconds, scale=1e9)
    report("ours / again", first, again, control=(0.9, 1.1))
    report("EventAccumulator / ours", accumulator, first, at_least=400)
    report("tbparse / ours", reader, first, at_least=250)


def peak_bytes():
    """Of this process since it was started, which getrusage() mixes with its parent's."""
    with open("/proc/self/status", encoding="utf-8") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024


def print_memory(large, small):
    """In this process, which has read a small file, so that libraries are loaded."""
    ours(small)
    before = peak_bytes()
    table = ours(large)
    columns = int(table.memory_usage(deep=True, index=False).sum())
    ratio = (peak_bytes() - before) / columns
    print(f"  {'peak memory of a process / columns of its table':52} {ratio:10.3f}  "
          f"{'within' if ratio <= 2 else 'MISSES'} 2; the columns are {columns / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("interop_writer", help="the program that writes")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--form", choices=("compatible", "tensor"), default="compatible")
    parser.add_argument("--all", type=int, default=0, metavar="ROUNDS",
                        help="every reader reads the large file, too: minutes for each round")
    parser.add_argument("--cpu", action="store_true", help="count CPU time")
    parser.add_argument("--memory", nargs=2, metavar=("LARGE", "SMALL"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        print_memory(*arguments.memory)
        return
    warnings.simplefilter("ignore")  # of pandas, in tbparse
    with tempfile.TemporaryDirectory() as directory:
        logs = {steps: os.path.join(directory, str(steps)) for steps in (STEPS, FEWER_STEPS)}
        for steps, path in logs.items():
            subprocess.run([os.path.abspath(arguments.interop_writer), "curves", arguments.form, path,
                            str(TAGS), str(steps)], check=True)
        compare(logs[STEPS], logs[FEWER_STEPS], arguments.rounds)
        subprocess.run([sys.executable, __file__, arguments.interop_writer, "--memory", *logs.values()],
                       check=True)
        if arguments.all:
            compare_large(logs[STEPS], arguments.all)


if __name__ == "__main__":
    main()
