#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tensorboard-reducer: the mean over runs leaves out those that are NaN at a step, and `std` is not numpy's.
#
# Believed: "mean" and "std" are numpy's, as its documentation says ("numpy reduce operations", `arr.mean(-1)`). Seen: they
# are pandas': NaN is skipped, so that a run that diverged no longer counts, and from then on the mean is that of the runs
# that went well, without a message; also min_runs_per_step counts none that is NaN. A diverged run makes the mean loss
# better. `std` divides by n - 1, where numpy divides by n: of 2 runs it is 1.41 times as large. And strict_steps compares
# the numbers of steps only: runs with as many steps as each other, but at other steps, pass, and what they do not share is
# gone.
#
# Versions: tensorboard-reducer 0.4.0, tensorboardX 2.6.5, pandas 3.1.1, numpy 2.4.6 from PyPI. Needs python3 with venv and
# network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard-reducer==0.4.0 tensorboardX==2.6.5 pandas==3.1.1 numpy==2.4.6 'setuptools<81'

cat >"$folder/reduce.py" <<'PYTHON'
import math
import sys

import numpy as np
from tensorboard_reducer import load_tb_events, reduce_events
from tensorboardX import SummaryWriter


def written(name, losses, every=1):
    with SummaryWriter(f"{sys.argv[1]}/{name}") as writer:
        for i, loss in enumerate(losses):
            writer.add_scalar("loss", loss, i * every)
    return f"{sys.argv[1]}/{name}"


a, b = written("a", [1, 2, 3, 4]), written("b", [3, 4, 5, 6])
c = written("c", [5, 30, math.nan, math.nan])
loaded = load_tb_events([a, b, c])
reduced = reduce_events(loaded, ["mean", "std", "max"])
for name, of_numpy in (("mean", np.mean), ("std", np.std), ("max", np.max)):
    got, expected = reduced[name]["loss"].tolist(), of_numpy(loaded["loss"].to_numpy(), axis=1).tolist()
    print(f"{name}: {np.round(got, 4).tolist()}, numpy's: {np.round(expected, 4).tolist()}")
    assert not np.isnan(got).any() and np.isnan(expected).tolist() == [False, False, True, True]
assert reduced["mean"]["loss"].tolist() == [3, 12, 4, 5]
assert reduced["std"]["loss"][0] == 2.0 != np.std([1, 3, 5])
counted = load_tb_events([a, b, c], strict_steps=False, min_runs_per_step=3)["loss"].index.tolist()
print(f"steps at which 3 runs have a value, by min_runs_per_step: {counted}")
assert counted == [0, 1]

sparse = written("sparse", [1, 2, 3, 4], every=3)
kept = load_tb_events([a, sparse], strict_steps=True)["loss"].index.tolist()
print(f"steps 0, 1, 2, 3 and 0, 3, 6, 9 with strict_steps: {kept} are left")
assert kept == [0, 3]
PYTHON
"$folder/venv/bin/python" "$folder/reduce.py" "$folder/runs" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
