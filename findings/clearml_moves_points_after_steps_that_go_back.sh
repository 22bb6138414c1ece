#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ClearML: where the steps of a TensorBoard tag go back by more than a tenth, all its later points get steps that were never
# logged.
#
# Believed: a point that a SummaryWriter logs at step 50 is at iteration 50 of the task. Seen: a step below 0.9 times the
# one before is taken for a counter that began anew, and the sum of both is added to this and to all later steps of that
# tag. A run that goes back from step 100 to a checkpoint at step 50 has its points 50, 60, … at 200, 210, …, after a hole
# of 100 steps; one that goes back from 100 to 95 keeps 95. Tags are judged one by one, so that after a restart some may be
# moved and others not. The event file, and TensorBoard, have the steps as logged.
#
# Versions: clearml 2.1.12 in its offline mode, tensorboardX 2.6.5, tensorboard 2.21.0 from PyPI. Needs python3 with venv
# and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet clearml==2.1.12 tensorboardX==2.6.5 tensorboard==2.21.0 'setuptools<81'

cat >"$folder/log.py" <<'PYTHON'
import glob
import json
import os
import sys

os.environ.update(HOME=sys.argv[1], CLEARML_CACHE_DIR=sys.argv[1], CLEARML_CONFIG_FILE=f"{sys.argv[1]}/none")
from clearml import Task
from tensorboardX import SummaryWriter
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

Task.set_offline(True)
task = Task.init("project", "task", auto_resource_monitoring=False, auto_connect_streams=False, auto_connect_arg_parser=False)
steps = {"loss": [80, 90, 100, 50, 60, 70], "accuracy": [0, 100, 95, 195]}
with SummaryWriter(f"{sys.argv[1]}/run") as writer:
    for tag, logged in steps.items():
        for step in logged:
            writer.add_scalar(tag, step, step)  # the value tells the step
task.flush(True)
task.close()

points = {tag: [] for tag in steps}
for path in glob.glob(f"{sys.argv[1]}/**/metrics.jsonl", recursive=True):
    for line in open(path):
        for point in json.loads(line):
            if point["metric"] in points:
                points[point["metric"]].append((int(point["value"]), point["iter"]))
accumulator = EventAccumulator(f"{sys.argv[1]}/run").Reload()
for tag, logged in steps.items():
    assert [(point.value, point.step) for point in accumulator.Scalars(tag)] == [(step, step) for step in logged]
    print(f"{tag}: logged at {logged}, in the event file at the same, in the task at {[at for _, at in points[tag]]}")
assert points["loss"] == [(80, 80), (90, 90), (100, 100), (50, 200), (60, 210), (70, 220)]
assert points["accuracy"] == [(0, 0), (100, 100), (95, 95), (195, 195)]
PYTHON
"$folder/venv/bin/python" "$folder/log.py" "$folder/out" >"$folder/log" 2>&1 || { tail -20 "$folder/log"; exit 1; }
grep logged "$folder/log"
