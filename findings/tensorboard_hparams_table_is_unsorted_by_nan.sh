#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: if the metric of one trial is NaN, the table of hyperparameters sorted by that metric is not sorted.
#
# Believed: a trial that diverged is at an end of the sorted table, as one without the metric is. Seen: the server sorts by
# Python's comparison, which is false both ways for NaN, so that it depends on where the NaN stands how much of the rest is
# sorted. Of 0.8, 0.7, NaN, 0.9 and 0.6 no order is right: from the largest on, 0.9 comes after 0.8 and 0.7; from the
# smallest on, 0.6 comes after 0.8. The order is right once the range of the metric is limited, which leaves the NaN out.
#
# Versions: tensorboard 2.21.0, tensorboard-data-server 0.7.2 from PyPI. Needs python3 with venv and network access. Fails
# if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0 tensorboard-data-server==0.7.2 'setuptools<81'

cat >"$folder/sort.py" <<'PYTHON'
import json
import math
import subprocess
import sys
import time
import urllib.error
import urllib.request

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import summary_v2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

accuracies = {"a": 0.8, "b": 0.7, "c": math.nan, "d": 0.9, "e": 0.6}
for name, accuracy in {**accuracies, "f": None}.items():
    writer = EventFileWriter(f"{sys.argv[1]}/{name}")
    trial = summary_v2.hparams_pb({"rate": 0.1 * ord(name)}, trial_id=name, start_time_secs=1)
    values = [] if accuracy is None else [Summary.Value(tag="accuracy", simple_value=accuracy)]
    writer.add_event(Event(wall_time=1, summary=trial))
    writer.add_event(Event(wall_time=2, step=1, summary=Summary(value=values)))
    writer.close()


def table(order, least=None):
    """Returns the accuracies in the order of the page's table, of trials with at least this one if it is given."""
    column = {"metric": {"tag": "accuracy", "group": ""}, "order": order}
    if least is not None:
        column["filterInterval"] = {"minValue": least, "maxValue": 1}
        column["excludeMissingValues"] = True
    asked = {"startIndex": 0, "sliceSize": 100, "colParams": [column], "aggregationType": "AGGREGATION_AVG",
             "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]}
    request = urllib.request.Request("http://localhost:16011/data/plugin/hparams/session_groups", json.dumps(asked).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        groups = json.load(answer).get("sessionGroups", [])
    return [round(float(group["metricValues"][0]["value"]), 3) if group.get("metricValues") else None for group in groups]


board = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", sys.argv[1], "--port", "16011"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(600):
        try:
            if len(table("ORDER_ASC")) == 6:
                break
        except urllib.error.URLError:
            pass
        time.sleep(0.1)
    up, down, finite = table("ORDER_ASC"), table("ORDER_DESC"), table("ORDER_DESC", 0)
finally:
    board.terminate()
    board.wait()
print(f"ascending:             {up}\ndescending:            {down}\ndescending, 0 or more: {finite}")
numbers = [[value for value in values if value is not None and not math.isnan(value)] for values in (up, down)]
assert finite == [0.9, 0.8, 0.7, 0.6] and up[-1] is down[-1] is None
assert numbers == [[0.7, 0.8, 0.6, 0.9], [0.8, 0.7, 0.9, 0.6]]
PYTHON
"$folder/venv/bin/python" "$folder/sort.py" "$folder/runs"
