#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# trackio: import_tf_events() leaves out the wall times of all points, though it is written to take them.
#
# Believed: an imported point has the time at which it was logged, as the points that trackio logs itself do. Seen: the
# import takes `wall_time` where the table of tbparse has it, but asks tbparse for a table without it. So each point has an
# empty time, and a run has no beginning: runs cannot be put in order of time, nor compared by time, and a look around a
# time finds none of them. The steps and the values are right, NaN and infinity too.
#
# Versions: trackio 0.43.0, tbparse 0.0.9, tensorboardX 2.6.5, tensorboard 2.21.0 from PyPI. Needs python3 with venv and
# network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet trackio==0.43.0 tbparse==0.0.9 tensorboardX==2.6.5 tensorboard==2.21.0 'setuptools<81'

cat >"$folder/import.py" <<'PYTHON'
import math
import os
import sys

os.environ.update(TRACKIO_DIR=f"{sys.argv[1]}/trackio", HF_HUB_OFFLINE="1")
import trackio
from tbparse import SummaryReader
from tensorboardX import SummaryWriter
from trackio.sqlite_storage import SQLiteStorage

with SummaryWriter(f"{sys.argv[1]}/runs/a") as writer:
    for step, loss in enumerate((1.0, math.nan, 0.25)):
        writer.add_scalar("loss", loss, step * 10, walltime=1700000000.0 + step)
trackio.import_tf_events(f"{sys.argv[1]}/runs", "imported")
run = trackio.init(project="logged", name="a")
run.log({"loss": 1.0}, step=0)
trackio.finish()

times = SummaryReader(f"{sys.argv[1]}/runs", extra_columns={"wall_time"}).scalars["wall_time"].tolist()
imported, logged = SQLiteStorage.get_logs("imported", "a"), SQLiteStorage.get_logs("logged", "a")
print(f"seen: trackio {trackio.__version__}; wall times in the event file: {times}")
print(f"seen: imported points: {imported}")
print(f"seen: a point logged by trackio: {logged}")
assert times == [1700000000, 1700000001, 1700000002]
assert [point["step"] for point in imported] == [0, 10, 20] and math.isnan(imported[1]["loss"])
assert [point["timestamp"] for point in imported] == ["", "", ""] and logged[0]["timestamp"]
PYTHON
"$folder/venv/bin/python" "$folder/import.py" "$folder" >"$folder/log" 2>&1 || { tail -20 "$folder/log"; exit 1; }
sed -n 's/^seen: //p' "$folder/log"
