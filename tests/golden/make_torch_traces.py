#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden traces of PyTorch's profiler, reduced; see README.md."""

import json
import os
import re
import sys
import tempfile
import time

import torch
import torch.distributed
import torch.multiprocessing
from torch.profiler import ProfilerActivity, profile, record_function, schedule

PROCESS = 100  # of rank 0; rank 1 is 101


def profiler(path, **options):
    return profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=0, warmup=2, active=2, repeat=1),
        on_trace_ready=lambda p: p.export_chrome_trace(path),
        **options,
    )


def train_rank(rank, directory):
    """Rank 1 comes 30 ms late to each step."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{directory}/store", rank=rank, world_size=2
    )
    torch.set_num_threads(1)
    layers = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
    model = torch.nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(32, 64)
    with profiler(f"{directory}/ddp_rank{rank}.pt.trace.json") as profiling:
        for _ in range(4):
            optimizer.zero_grad()
            if rank == 1:
                time.sleep(0.03)
            model(batch).sum().backward()
            optimizer.step()
            profiling.step()
    torch.distributed.destroy_process_group()


def train(path, **options):
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    data = torch.utils.data.TensorDataset(torch.randn(64, 128), torch.randint(0, 10, (64,)))
    with profiler(path, **options) as profiling:
        for batch, labels in torch.utils.data.DataLoader(data, batch_size=16):
            optimizer.zero_grad()
            with record_function("forward"):
                loss = torch.nn.functional.cross_entropy(model(batch), labels)
            loss.backward()
            optimizer.step()
            profiling.step()


def reduced(trace, rank, shortest):
    """Returns the trace without short leaves and without what differs between machines."""
    processes = {}
    threads = {}
    base = min(e["ts"] for e in trace["traceEvents"] if e.get("ph") == "X" and e["cat"] != "Trace")
    scopes = re.compile(
        r"_record_function_enter|nn\.Module|^gloo:|^c10d::|^Optimizer|^enumerate|^ProfilerStep"
        r"|profiler\.py\(\d+\): step"
    )
    events = []
    for event in sorted(trace["traceEvents"], key=lambda e: (e["ts"], -e.get("dur", 0))):
        is_long = event.get("dur", 0) >= shortest or scopes.search(event["name"])
        if event["ph"] != "X" or event["cat"] == "Trace" or not is_long:
            continue
        kept = ("Sequence number", "Fwd thread id")
        process = processes.setdefault(event["pid"], PROCESS + rank)
        thread = threads.setdefault(event["tid"], process + 10 * len(threads))
        name = re.sub(r"0x[0-9a-f]+", "0x7f0000000000", event["name"])
        name = re.sub(r"^\S*make_torch_traces", "train", name)
        events.append(
            {
                "ph": "X",
                "cat": event["cat"],
                "name": name,
                "pid": process,
                "tid": thread,
                "ts": round(event["ts"] - base, 3),
                "dur": event["dur"],
                "args": {k: event["args"][k] for k in kept if k in event["args"]},
            }
        )
    result = {"schemaVersion": 1, "deviceProperties": []}
    if "distributedInfo" in trace:
        result["distributedInfo"] = trace["distributedInfo"]
    result.update(displayTimeUnit="ms", baseTimeNanoseconds=1_700_000_000_000_000_000)
    head = json.dumps(result)[:-1]
    return head + ', "traceEvents": [\n' + ",\n".join(json.dumps(e, separators=(",", ":")) for e in events) + "\n]}\n"


def main(target):
    with tempfile.TemporaryDirectory() as directory:
        torch.multiprocessing.spawn(train_rank, (directory,), nprocs=2)
        train(f"{directory}/with_stack.pt.trace.json", with_stack=True, with_modules=True)
        for name in sorted(os.listdir(directory)):
            if name.endswith(".json"):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    trace = json.load(file)
                shortest = 30 if "stack" in name else 4
                folder = os.path.join(target, "ddp" if "ddp" in name else "")
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(reduced(trace, int("rank1" in name), shortest))


if __name__ == "__main__":
    main(sys.argv[1])
