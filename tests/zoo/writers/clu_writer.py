# SPDX-License-Identifier: Apache-2.0
"""clu 0.0.12, the metric writer of Flax: the calls of SummaryWriter."""

import sys

import numpy as np
from clu import metric_writers


def main(directory):
    writer = metric_writers.SummaryWriter(directory)
    writer.write_hparams({"lr": 0.1, "layers": 2})
    for step in range(3):
        writer.write_scalars(step, {"loss": 1 / (step + 1), "accuracy": step / 2})
        writer.write_histograms(step, {"weights": np.linspace(-1, 1, 9)}, num_buckets={"weights": 4})
    writer.write_images(1, {"picture": np.zeros((1, 2, 3, 3), np.uint8)})
    writer.write_audios(1, {"sound": np.zeros((1, 8, 1), np.float32)}, sample_rate=8000)
    writer.write_texts(1, {"note": "hello"})
    writer.flush()
    writer.close()


main(sys.argv[1])
