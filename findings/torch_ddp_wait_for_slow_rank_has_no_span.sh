#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch: in the traces of DistributedDataParallel over Gloo the thread that trains has no span while it waits for a slow
# rank; the fast rank and the slow one have holes of the same length.
#
# Believed: the time in which a rank waits for others is in a span of a collective, so that the trace of the thread tells
# who waits. Seen: backward() waits in C++ for the threads of Gloo, without a span. If rank 1 sleeps 50 ms in each step,
# both ranks have a hole of 50 ms in their steps: rank 1 while it sleeps, rank 0 while it waits. Only the spans
# `gloo:all_reduce` on another thread tell them apart: that of rank 0 lasts as long as its hole, transfer included, and
# while rank 1 sleeps its Gloo is idle.
#
# Versions: torch 2.13.0 and numpy 2.4.6 from PyPI, on a CPU. Needs python3 with venv and network access. Fails if that
# changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy==2.4.6

cat >"$folder/train.py" <<'PYTHON'
import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule


def train(rank, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=2, active=2, repeat=1),
        on_trace_ready=lambda done: done.export_chrome_trace(f"{folder}/{rank}.json"),
    ) as profiling:
        for _ in range(4):
            loss = model(torch.ones(32, 64)).sum()
            time.sleep(0.05 if rank == 1 else 0)
            loss.backward()
            profiling.step()
    torch.distributed.destroy_process_group()


def hole(events, step):
    """Returns the longest time of a step in which its thread has no other span, in ms."""
    longest, covered = (0, 0), step["ts"]
    end = step["ts"] + step["dur"]
    inside = [e for e in events if e["tid"] == step["tid"] and e is not step and step["ts"] <= e["ts"] < end]
    for event in sorted(inside, key=lambda e: e["ts"]) + [{"ts": end, "dur": 0}]:
        longest = max(longest, (event["ts"] - covered, covered))
        covered = max(covered, event["ts"] + event["dur"])
    return longest[1], longest[1] + longest[0]


def compare(folder):
    for rank in 0, 1:
        with open(f"{folder}/{rank}.json", encoding="utf-8") as file:
            events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and e["cat"] != "Trace"]
        for step in (e for e in events if e["name"].startswith("ProfilerStep#")):
            begin, end = hole(events, step)
            beside = sum(
                max(0, min(end, e["ts"] + e["dur"]) - max(begin, e["ts"]))
                for e in events
                if e["name"] == "gloo:all_reduce" and e["tid"] != step["tid"]
            )
            length = (end - begin) / 1000
            print(f"rank {rank}, {step['name']}: {length:.0f} ms without a span, gloo:all_reduce for "
                  f"{beside / 1000:.0f} ms of them")
            assert length > 25
            assert beside / 1000 > 0.8 * length if rank == 0 else beside / 1000 < 0.2 * length


if __name__ == "__main__":
    torch.multiprocessing.spawn(train, (sys.argv[1],), nprocs=2)
    compare(sys.argv[1])
PYTHON
"$folder/venv/bin/python" "$folder/train.py" "$folder" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
