#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch 2.5: with with_stack=True the spans `ProfilerStep#` last microseconds, whatever the steps last.
#
# Believed: `ProfilerStep#N` lasts from one call of profiler.step() to the next, as without with_stack. Seen: torch 2.5
# moves the begin of a step to that of the first Python call that crosses its end. That is step() itself, at the end of the
# step; or the function around it, and then what the step did before that function, such as loading, is no part of it.
# So viewers and scripts that divide a trace by steps see nothing in them.
#
# Versions: torch 2.5.1 and numpy 1.26.4 from PyPI, on a CPU, 5 GB with what pip installs; 2.4.1, 2.6.0, 2.7.1, 2.8.0,
# 2.12.1 and 2.13.0 do not do so. Needs Python 3.9 to 3.12 with venv as python3, and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.5.1 numpy==1.26.4

cat >"$folder/trace.py" <<'PYTHON'
import json
import sys
import time

from torch.profiler import ProfilerActivity, profile, schedule


def train(profiling):
    time.sleep(0.1)
    profiling.step()


def lengths(path, in_function, with_stack):
    """Returns how long steps of 0.2 s last in a trace, in ms."""
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=1, active=3, repeat=1),
        on_trace_ready=lambda done: done.export_chrome_trace(path),
        with_stack=with_stack,
    ) as profiling:
        for _ in range(4):
            time.sleep(0.1)
            if in_function:
                train(profiling)
            else:
                time.sleep(0.1)
                profiling.step()
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = [event["dur"] / 1000 for event in events if event["name"].startswith("ProfilerStep#")]
    print(f"with_stack={with_stack}, step() {'in a function' if in_function else 'in the loop'}:",
          *(f"{length:.3f} ms" for length in found))
    assert len(found) == 3
    return found


path = sys.argv[1]
assert min(lengths(path, in_function=False, with_stack=False)) > 190
assert max(lengths(path, in_function=False, with_stack=True)) < 50
assert max(lengths(path, in_function=True, with_stack=True)) < 150
PYTHON
"$folder/venv/bin/python" "$folder/trace.py" "$folder/trace.json" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
