#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tensorboardX: a histogram with edges says that it holds all values, and its buckets hold only those between the edges.
#
# Believed: values outside the edges are counted in the first and the last bucket, or are left out of every number of the
# histogram. Seen: `num`, `min`, `max` and `sum` are those of all values, and the buckets lack the values outside. A reader
# that computes a quantile from the buckets and `num` is wrong without a hint, and TensorBoard draws a distribution whose
# tails are missing. torch.utils.tensorboard has the same function.
#
# Versions: tensorboardX 2.6.5, tensorboard 2.21.0, numpy 2.4.0 from PyPI. Needs python3 (3.11 or later) with venv and
# network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboardX==2.6.5 tensorboard==2.21.0 numpy==2.4.0 'setuptools<81'

cat >"$folder/histogram.py" <<'PYTHON'
import os
import sys

import numpy as np
import tensorboardX
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

log_dir = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
with tensorboardX.SummaryWriter(log_dir) as writer:
    writer.add_histogram("values", np.arange(100.0), 0, bins=[20.0, 40.0, 60.0])
histogram = EventAccumulator(log_dir).Reload().Histograms("values")[0].histogram_value
print(f"num {histogram.num:g}, min {histogram.min:g}, max {histogram.max:g}, in buckets {sum(histogram.bucket):g}")
sys.exit(0 if (histogram.num, sum(histogram.bucket), histogram.min, histogram.max) == (100, 41, 0, 99) else 1)
PYTHON
"$folder/venv/bin/python" "$folder/histogram.py"
