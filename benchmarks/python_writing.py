#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures logging from Python with Steptape, torch.utils.tensorboard and tensorboardX.

    PYTHONPATH=build/release/python benchmarks/python_writing.py

Each measurement opens a run, logs, closes it, and checks that all values are in its files. The time of a call is the
median of bursts of calls, so that other programs of the machine count little. The CPU time is that of all threads from
the first call until close() has returned. The variants take turns in one process. The inputs are torch tensors on the
CPU, and no two calls in a row get the same one.
"""

import argparse
import glob
import math
import os
import statistics
import tempfile
import time

import torch
import torch.utils.tensorboard
import tensorboardX

import steptape
import steptape.compat.tensorboard
from rounds import print_medians, report, take_turns

OURS, AGAIN = "steptape", "the same, again (A/A)"
COMPATIBLE, TORCH = "steptape.compat.tensorboard", "torch.utils.tensorboard"
WRITERS = {OURS: steptape.SummaryWriter, AGAIN: steptape.SummaryWriter,
           COMPATIBLE: steptape.compat.tensorboard.SummaryWriter,
           TORCH: torch.utils.tensorboard.SummaryWriter, "tensorboardX": tensorboardX.SummaryWriter}
TAG = "loss/train"
BURST = 50
PAUSE_SECONDS = 0.001


def is_ours(name):
    return WRITERS[name].__module__.startswith("steptape")


# Each of these logs values, and returns the seconds of a call in each burst.

def log_scalars(writer, values):
    seconds = []
    for first in range(0, len(values), BURST):
        burst = values[first:first + BURST]
        began = time.perf_counter()
        for step, value in enumerate(burst, first):
            writer.add_scalar(TAG, value, step)
        seconds.append((time.perf_counter() - began) / len(burst))
    return seconds


def log_scalars_with_pauses(writer, values):
    """In the pauses the threads that write finish, and caches cool."""
    seconds = []
    for step, value in enumerate(values):
        time.sleep(PAUSE_SECONDS)
        began = time.perf_counter()
        writer.add_scalar(TAG, value, step)
        seconds.append(time.perf_counter() - began)
    return seconds


def log_each(add, values):
    seconds = []
    for step, value in enumerate(values):
        began = time.perf_counter()
        add(TAG, value, step)
        seconds.append(time.perf_counter() - began)
    return seconds


def log_histograms(writer, arrays):
    return log_each(writer.add_histogram, arrays)


def log_images(writer, images):
    return log_each(writer.add_image, images)


def floor(values):
    """Like log_scalars(), with the cheapest call of a method with two arguments."""
    known, seconds = {TAG: 0}, []
    for first in range(0, len(values), BURST):
        burst = values[first:first + BURST]
        began = time.perf_counter()
        for _, value in enumerate(burst, first):
            known.get(TAG, value)
        seconds.append((time.perf_counter() - began) / len(burst))
    return statistics.median(seconds)


def cost(name, log, values, kind, cpu_seconds):
    """Returns the seconds of a call; appends the CPU time of a value."""
    with tempfile.TemporaryDirectory() as log_dir:
        writer = WRITERS[name](log_dir)
        began = time.process_time()
        seconds = log(writer, values)
        writer.close()
        cpu_seconds.append((time.process_time() - began) / len(values))
        (run,) = steptape.read(log_dir).values()
        assert len(run[TAG, kind]) == len(values), f"{name}: {len(run[TAG, kind])} of {len(values)} values"
    return statistics.median(seconds)


def bytes_a_value(name, log, values):
    with tempfile.TemporaryDirectory() as log_dir:
        with WRITERS[name](log_dir) as writer:
            log(writer, values)
        return sum(map(os.path.getsize, glob.glob(f"{log_dir}/*"))) / len(values)


def compare(title, costs, unit, scale, at_least):
    print_medians(f"{title}: {unit}", costs, scale)
    report("ours / again", costs[OURS], costs[AGAIN], control=(0.9, 1.1))
    for name in WRITERS:
        if not is_ours(name):
            report(f"{name} / ours", costs[name], costs[OURS], at_least=at_least)
    report(f"{TORCH} / {COMPATIBLE}", costs[TORCH], costs[COMPATIBLE], at_least=at_least)


def measure(log, kind, our_values, their_values, rounds, **others):
    """Returns the seconds of a call and the CPU time of a value, by variant."""
    cpu_seconds = {name: [] for name in WRITERS}
    seconds = take_turns({**{name: lambda name=name: cost(
        name, log, our_values if is_ours(name) else their_values, kind, cpu_seconds[name]) for name in WRITERS},
                          **others}, rounds)
    return seconds, {name: each[1:] for name, each in cpu_seconds.items()}  # without the warm-up


def compare_scalars(rounds):
    count = 200_000  # The peers get fewer: they take hundreds of times longer.
    values = [math.exp(-step / count) for step in range(count)]
    loop = "a loop of dict.get()"
    seconds, cpu_seconds = measure(log_scalars, "scalars", values, values[:count // 20], rounds,
                                   **{loop: lambda: floor(values)})
    compare("add_scalar(tag, value, step), time of the call", seconds, "nanoseconds", 1e9, 150)
    report(f"ours / {loop}", seconds[OURS], seconds[loop], at_most=5)
    compare("add_scalar(), CPU time of all threads", cpu_seconds, "nanoseconds", 1e9, 100)
    seconds, _ = measure(log_scalars_with_pauses, "scalars", values[:300], values[:300], rounds)
    compare("add_scalar() once a millisecond, time of the call", seconds, "microseconds", 1e6, 10)


def compare_large(title, log, kind, values, rounds):
    seconds, cpu_seconds = measure(log, kind, values * 4, values, rounds)
    compare(f"{title}, time of the call", seconds, "milliseconds", 1e3, 10)
    compare(f"{title}, CPU time of all threads", cpu_seconds, "milliseconds", 1e3, 10)
    print("  bytes a value: " + ", ".join(f"{name} {bytes_a_value(name, log, values):.0f}"
                                          for name in WRITERS if name != AGAIN))


def photographs():
    """Pictures with smooth areas and noise, as cameras make them; (3, 1024, 1024), 0 to 255."""
    generator = torch.Generator().manual_seed(1)
    y, x = torch.meshgrid(torch.arange(1024.0), torch.arange(1024.0), indexing="ij")
    for shift in range(3):
        channels = [127 + 70 * torch.sin(x / (60 + 15 * channel) + shift) + 40 * torch.cos(y / (45 + 10 * channel))
                    for channel in range(3)]
        noise = 3 * torch.randn(3, 1024, 1024, generator=generator)
        yield (torch.stack(channels) + noise).clamp(0, 255).to(torch.uint8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    generator = torch.Generator().manual_seed(1)
    compare_scalars(arguments.rounds)
    compare_large("a histogram of 262,144 float32", log_histograms, "histograms",
                  [torch.randn(262_144, generator=generator) for _ in range(8)], arguments.rounds)
    images = list(photographs())
    compare_large("an image of 1024 x 1024, uint8", log_images, "images", images, arguments.rounds)
    compare_large("an image of 1024 x 1024, float32", log_images, "images", [image / 255 for image in images],
                  arguments.rounds)


if __name__ == "__main__":
    main()
