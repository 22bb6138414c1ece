#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch: with with_stack=True the span of a record_function is not nested with the Python calls that open and close it.
#
# Believed: spans of one thread nest, as the format of Chrome's traces demands of complete events. Seen: a record_function
# begins inside the call of `_record_function_enter_new` and ends inside the one that `__exit__` makes, so it overlaps
# each in part. So does every `ProfilerStep#`, `Optimizer.step#` and `enumerate(DataLoader)#`. A reader that closes what
# is open when an outer call ends gives the record_function the time of opening it, and nothing of what it is around.
#
# Versions: torch 2.13.0 from PyPI, on a CPU. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0

cat >"$folder/trace.py" <<'PYTHON'
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

matrix = torch.ones(100, 100)
with profile(activities=[ProfilerActivity.CPU], with_stack=True) as profiling:
    with record_function("scope"):
        matrix @ matrix
profiling.export_chrome_trace(sys.argv[1])

with open(sys.argv[1], encoding="utf-8") as file:
    events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
(scope,) = [event for event in events if event["name"] == "scope"]
begin, end = scope["ts"], scope["ts"] + scope["dur"]
openers, closers = [], []
for event in events:
    first, last = event["ts"], event["ts"] + event["dur"]
    if event["cat"] == "python_function" and first < begin < last < end:
        openers.append(event["name"])
    if event["cat"] == "python_function" and begin < first < end < last:
        closers.append(event["name"])
print("open when the scope begins, and closed inside it:", *openers, sep="\n  ")
print("begun inside the scope, and open when it ends:", *closers, sep="\n  ")
assert any("_record_function_enter_new" in name for name in openers)
assert any(name.endswith(": __exit__") for name in closers)
PYTHON
"$folder/venv/bin/python" "$folder/trace.py" "$folder/trace.json" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
