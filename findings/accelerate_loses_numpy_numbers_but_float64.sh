#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Accelerate: a loss that is a numpy.float32 or a numpy integer is not logged to TensorBoard; one that is a numpy.float64
# is.
#
# Believed: accelerator.log() writes each number, or says that it cannot. Seen: the tracker writes what is an int, a float,
# a str or a dict in Python's sense, after it has made tensors to numbers, and passes over all else without a message.
# numpy.float64 is a subclass of float, numpy.float32 and numpy.int64 are not. So the mean of an array has a curve or none
# by the array's type, and numpy.mean() of losses that a model gave as float32 has none, and a count of samples neither.
#
# Versions: accelerate 1.15.0, torch 2.13.0, tensorboard 2.21.0, numpy 2.4.6 from PyPI, on a CPU. Needs python3 with venv
# and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile accelerate==1.15.0 torch==2.13.0 tensorboard==2.21.0 numpy==2.4.6 \
    'setuptools<81'

cat >"$folder/log.py" <<'PYTHON'
import sys

import accelerate
import numpy as np
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

losses = np.array([0.5, 0.25, 0.125])
values = {
    "python_float": 0.5, "python_int": 3, "tensor": torch.tensor(0.5),
    "mean_of_float64": losses.mean(), "mean_of_float32": losses.astype(np.float32).mean(),
    "sum_of_int64": np.array([1, 2]).sum(), "last_of_float16": losses.astype(np.float16)[-1],
}
accelerator = accelerate.Accelerator(cpu=True, log_with="tensorboard", project_dir=sys.argv[1])
accelerator.init_trackers("run")
for step in range(3):
    accelerator.log(values, step=step)
accelerator.end_training()
logged = EventAccumulator(f"{sys.argv[1]}/run").Reload().Tags()["scalars"]
print(f"accelerate {accelerate.__version__}, torch {torch.__version__}, numpy {np.__version__}")
for tag, value in values.items():
    print(f"{tag} ({type(value).__name__}): {'logged' if tag in logged else 'not logged'}")
assert logged == ["python_float", "python_int", "tensor", "mean_of_float64"], logged
PYTHON
"$folder/venv/bin/python" "$folder/log.py" "$folder/out" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
if grep -i -E 'float32|not.*logged|skip' "$folder/log"; then exit 1; fi
