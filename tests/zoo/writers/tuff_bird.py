# SPDX-License-Identifier: Apache-2.0
"""tuff-bird 0.2.1: several values an event, and hyperparameters. Without its web server."""

import sys

import tuffbird


def main(directory):
    run = tuffbird.init(directory, name="run", config={"lr": 0.1, "model": {"layers": 2}},
                        board=False, system_metrics=False)
    for step in range(3):
        run.log({"loss": 1 / (step + 1), "eval": {"accuracy": step / 2}}, step=step)
    run.log_text("note", "hello", 1)
    print("a line of output")
    run.finish()


main(sys.argv[1])
