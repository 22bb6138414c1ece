#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: EventAccumulator.most_recent_step is -1 after it has read a file of today's writers.
#
# Believed: `most_recent_step` is the step of the last event. Seen: only the check for steps that go back sets it, and that
# runs only for files of file_version below 2, or without one. Every current writer begins its files with "brain.Event:2",
# so the attribute stays -1, and so does `most_recent_wall_time`, though the points are there.
#
# Versions: tensorboard 2.21.0 from PyPI. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0

cat >"$folder/read.py" <<'PYTHON'
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


def read(version):
    path = os.path.join(sys.argv[1], f"events.out.tfevents.1.{version.replace(':', '_')}")
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1.0, file_version=version).SerializeToString())
        for step in range(5):
            summary = Summary(value=[Summary.Value(tag="loss", simple_value=step)])
            writer.write(Event(wall_time=2.0 + step, step=step, summary=summary).SerializeToString())
    accumulator = EventAccumulator(path).Reload()
    steps = [point.step for point in accumulator.Scalars("loss")]
    last = accumulator.most_recent_step, accumulator.most_recent_wall_time
    print(f"{version}: steps {steps}, most_recent_step {last[0]}, most_recent_wall_time {last[1]}")
    assert steps == [0, 1, 2, 3, 4]
    return last


assert read("brain.Event:1") == (4, 6.0)
assert read("brain.Event:2") == (-1, -1)
PYTHON
"$folder/venv/bin/python" "$folder/read.py" "$folder" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
