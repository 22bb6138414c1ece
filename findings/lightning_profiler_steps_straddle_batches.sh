#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lightning: a step of PyTorchProfiler is the backward pass of one batch and the forward pass of the next, and a step
# number occurs twice in one trace.
#
# Believed: `ProfilerStep#N` is the training step N, from loading a batch to the optimizer. Seen: the profiler calls
# step() when `training_step` returns, which is before the backward pass and inside the span of the optimizer's step, which
# calls both. So a step begins with a backward pass, and ends with the forward pass of the next batch. The numbers are not
# those of the batches either: with the sanity check of the validation, which comes first and counts steps too, the trace
# of the training has the steps 2, 1, 2, 3, 4. A script that groups by the number adds up two different steps.
#
# Versions: lightning 2.6.6, torch 2.13.0, numpy 2.4.6 from PyPI, on a CPU. Needs python3 with venv and network access.
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet lightning==2.6.6 torch==2.13.0 numpy==2.4.6

cat >"$folder/train.py" <<'PYTHON'
import glob
import json
import sys

import lightning
import torch
from lightning.pytorch.profilers import PyTorchProfiler


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        return self.layer(batch).sum()

    def validation_step(self, batch, index):
        self.layer(batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.utils.data.DataLoader(torch.ones(80, 8), batch_size=10)
lightning.Trainer(
    accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, default_root_dir=sys.argv[1],
    profiler=PyTorchProfiler(dirpath=sys.argv[1], filename="trace"),
).fit(Model(), data, data)

(path,) = glob.glob(glob.escape(sys.argv[1]) + "/*training_step*.json")
with open(path, encoding="utf-8") as file:
    events = sorted((e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"), key=lambda e: e["ts"])
numbers, contents = [], []
for step in events:
    if step["name"].startswith("ProfilerStep#"):
        inside = [e for e in events if step["ts"] <= e["ts"] < step["ts"] + step["dur"]]
        ends = [name for e in inside for name in ("train_dataloader_next", "training_step", "backward")
                if e["name"].startswith("[pl][profile]") and e["name"].endswith("." + name)]
        numbers.append(int(step["name"].partition("#")[2]))
        contents.append(ends)
        print(f"{step['name']}:", ", ".join(ends))
assert numbers == [2, 1, 2, 3, 4]
assert contents[1:] == [["backward", "train_dataloader_next", "training_step"]] * 4
PYTHON
"$folder/venv/bin/python" "$folder/train.py" "$folder/run" >"$folder/log" 2>&1 || { tail -5 "$folder/log"; exit 1; }
grep '^ProfilerStep#' "$folder/log"
