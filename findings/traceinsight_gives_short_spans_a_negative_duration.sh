#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# traceinsight, the successor of HolisticTraceAnalysis: a span of less than a microsecond may last -1 microsecond, and
# then the search for sequences of kernels fails.
#
# Believed: rounding to microseconds makes a short span 0 or 1 long. Seen: the begin is rounded up and the end down, so
# that one from 20.3 to 20.8 lasts from 21 to 20. The operators' total times get less by it, and call stacks, which
# get_frequent_cuda_kernel_sequences() builds, fail with "Unexpected case" where another rounded span is 0 long at the
# same microsecond, as the operator around it may be. Traces of PyTorch have many such spans: 79 of 409 in one of a small
# model on a CPU. HTA_DISABLE_NS_ROUNDING=1 in the environment turns the rounding off. HolisticTraceAnalysis 0.5.0 does the same.
#
# Versions: traceinsight 0.6.1, pandas 3.1.1, numpy 2.4.6 from PyPI. Needs python3 with venv and network access. Fails if
# that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# Without JupyterLab, which it does not import, but with what JupyterLab brings.
"$folder/venv/bin/pip" install --quiet pandas==3.1.1 numpy==2.4.6 networkx==3.6.1 plotly==7.1.0 psutil==7.2.2 PyYAML==6.0.4
"$folder/venv/bin/pip" install --quiet --no-deps traceinsight==0.6.1

cat >"$folder/read.py" <<'PYTHON'
import json
import logging
import os
import sys

from hta.trace_analysis import TraceAnalysis

logging.disable(logging.ERROR)
folder = sys.argv[1]


def span(name, start, duration, category="cpu_op", thread=7, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": thread, "tid": thread, "ts": start, "dur": duration,
            "args": args}


events = [
    span("ProfilerStep#1", 0.0, 100.0, "user_annotation"),
    span("aten::mm", 10.0, 50.0),
    span("aten::transpose", 20.2, 1.2),
    span("aten::as_strided", 20.3, 0.5),
    span("cudaLaunchKernel", 30.0, 10.0, "cuda_runtime", correlation=1),
    span("gemm", 60.0, 20.0, "kernel", 3, correlation=1, device=0, stream=3),
]
with open(f"{folder}/trace.json", "w", encoding="utf-8") as file:
    json.dump({"distributedInfo": {"rank": 0}, "traceEvents": events}, file, indent=1)

analysis = TraceAnalysis(trace_dir=folder)
trace = analysis.t.get_trace(0)
names = analysis.t.symbol_table.get_sym_table()
durations = {names[row.name]: row.dur for row in trace[["name", "dur"]].itertuples(index=False, name="Row")}
print("duration of aten::as_strided:", durations["aten::as_strided"])
try:
    sequences = analysis.get_frequent_cuda_kernel_sequences("aten::mm", folder, min_pattern_len=1)
    print("sequences:", *sequences["pattern"])
    fails = False
except ValueError as error:
    print("sequences:", error)
    fails = True
is_rounded = "HTA_DISABLE_NS_ROUNDING" not in os.environ
assert fails == is_rounded
assert durations["aten::as_strided"] == (-1 if is_rounded else 0.5)
PYTHON
mkdir "$folder/rounded" "$folder/exact"
"$folder/venv/bin/python" "$folder/read.py" "$folder/rounded"
HTA_DISABLE_NS_ROUNDING=1 "$folder/venv/bin/python" "$folder/read.py" "$folder/exact"
