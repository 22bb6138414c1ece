#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# zvit: a scalar of exactly 0.0 is written as a tag without a value.
#
# Believed: a writer of event files writes each value that it is given. Seen: zvit leaves out fields that have protobuf's
# default, also inside a oneof, where the field's presence says which kind of value this is. Of 1, 0, -0, 0.5 and 0, the
# event file has 1 and 0.5; the others are values with a tag and nothing else, which TensorBoard ignores. So a loss that
# reaches 0, or an accuracy that is still 0, has no point.
#
# Versions: zvit 0.0.1 (the version that pip installs), tensorboard 2.21.0, from PyPI. Needs python3 with venv and network
# access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet zvit==0.0.1 tensorboard==2.21.0
mkdir "$folder/run"

cat >"$folder/write.py" <<'PYTHON'
import glob
import sys

import zvit
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

writer = zvit.ZvitWriter(sys.argv[1], 0)
for value in (1.0, 0.0, -0.0, 0.5, 0.0):
    writer.logScalar("loss", value)
    writer.step()
writer.close()

(path,) = glob.glob(sys.argv[1] + "/*")
kinds = {}
for event in LegacyEventFileLoader(path).Load():
    for value in event.summary.value:
        kinds[event.step] = value.WhichOneof("value")
print("the kind of value in the file, by step:", kinds)
assert kinds == {0: "simple_value", 1: None, 2: None, 3: "simple_value", 4: None}

accumulator = EventAccumulator(sys.argv[1]).Reload()
points = [(point.step, point.value) for point in accumulator.Scalars("loss")]
print("the points that TensorBoard has:", points)
assert points == [(0, 1.0), (3, 0.5)]
PYTHON
"$folder/venv/bin/python" "$folder/write.py" "$folder/run"
