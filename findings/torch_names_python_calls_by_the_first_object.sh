#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch: with with_stack=True every call of a method bears the address of the object that it was first called on.
#
# Believed: "<built-in method add_ of Tensor object at 0x7f…>" tells on which tensor a call was. Seen: names are kept by
# method, so the calls on all later tensors have the address of the first one. It says nothing about a call, but differs
# between ranks and runs: tables that compare these by name find no call of the one in the other.
#
# Versions: torch 2.13.0 from PyPI, on a CPU; 1.13.1, 2.1.2, 2.5.1 and 2.12.1 have one address for each method as well.
# Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0

cat >"$folder/trace.py" <<'PYTHON'
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile

tensors = [torch.ones(4) for _ in range(3)]
with profile(activities=[ProfilerActivity.CPU], with_stack=True) as profiling:
    for tensor in tensors:
        tensor.add_(1)
profiling.export_chrome_trace(sys.argv[1])

with open(sys.argv[1], encoding="utf-8") as file:
    names = [event["name"] for event in json.load(file)["traceEvents"]]
calls = [name for name in names if name.startswith("<built-in method add_ ")]
print("the tensors:", *(hex(id(tensor)) for tensor in tensors))
print("the calls:", *calls, sep="\n  ")
assert len(set(map(id, tensors))) == 3
assert calls == [f"<built-in method add_ of Tensor object at {hex(id(tensors[0]))}>"] * 3
PYTHON
"$folder/venv/bin/python" "$folder/trace.py" "$folder/trace.json" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
