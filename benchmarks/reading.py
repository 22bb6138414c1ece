#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures reading an event file with Steptape, compared with TensorBoard's Python loader.

    benchmarks/reading.py build/release/bin/reading_benchmark

Steptape reads 4,000,000 scalars in the form of torch.utils.tensorboard, one per event, from one file that was written
once. TensorBoard's EventFileLoader reads the first 100,000 of the same bytes, because it is about a thousand times
slower. Both check all checksums. The variants take turns.
"""

import argparse
import os
import struct
import subprocess
import tempfile
import time

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from rounds import print_medians, report, take_turns

EVENTS, PREFIX_EVENTS = 4_000_000, 100_000


def prefix(path, events, to):
    """Copies the version event and the next `events` events."""
    with open(path, "rb") as source, open(to, "wb") as target:
        for _ in range(1 + events):
            header = source.read(12)
            (length,) = struct.unpack("<Q", header[:8])
            target.write(header + source.read(length + 4))


def their_seconds(path):
    began = time.perf_counter()
    points = sum(len(event.summary.value) for event in EventFileLoader(path).Load())
    seconds = time.perf_counter() - began
    assert points == PREFIX_EVENTS, f"{path}: {points} points"
    return seconds / points


def our_seconds(program, path):
    output = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
    seconds, points = output.split()
    assert int(points) == EVENTS, f"{path}: {points} points"
    return float(seconds) / int(points)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reading_benchmark", help="the program that reads")
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.reading_benchmark)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "events.out.tfevents.1")
        subprocess.run([program, "--write", path], check=True)
        beginning = os.path.join(directory, "prefix.tfevents")
        prefix(path, PREFIX_EVENTS, beginning)
        seconds = take_turns({
            "ours": lambda: our_seconds(program, path),
            "ours, again (A/A)": lambda: our_seconds(program, path),
            "TensorBoard's": lambda: their_seconds(beginning),
        }, arguments.rounds)
    ours, again, theirs = seconds.values()
    print_medians("Nanoseconds per scalar", seconds, scale=1e9)
    report("ours / again", ours, again, control=(0.9, 1.1))
    report("TensorBoard's / ours", theirs, ours, at_least=1500)


if __name__ == "__main__":
    main()
