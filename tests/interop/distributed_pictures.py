#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/distributed.md, which show the values of all ranks in TensorBoard.

    bin=build/release/bin
    mpiexec -n 4 $bin/fashion_mnist --model mlp --max-steps 100 --log-dir fashion/run
    mpiexec -n 4 $bin/rank_writer steps slow/slow_input 2 input
    $bin/scaling_study --ranks 1,2 --rounds 3 --log-dir study/run
    tests/interop/distributed_pictures.py fashion docs/images --only band
    tests/interop/distributed_pictures.py slow docs/images --only stragglers --only report
    tests/interop/distributed_pictures.py study docs/images --only scaling
"""

from camera import Camera, take_pictures

SIZES = {"report": (900, 900), "stragglers": (1120, 1000)}  # Of the window.


class DistributedCamera(Camera):
    """Takes the pictures, one method for each."""

    def band(self):
        return self._cards("custom_scalars", "tf-custom-scalar-margin-chart-card", ".", 1)

    def stragglers(self):
        return self._cards("scalars", "tf-scalar-card",
                           "straggler/(slow|input/max|wait/mean)", 4)

    def report(self):
        return self._cards("text", "tf-text-loader", "straggler/report", 1)

    def scaling(self):
        self._show("images", "scaling")
        return self._crop("tf-image-loader", 2, margin=14)


if __name__ == "__main__":
    take_pictures(DistributedCamera, "distributed", SIZES)
