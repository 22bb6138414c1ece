# SPDX-License-Identifier: Apache-2.0
"""A profile of a real training on two ranks: that of the Fashion-MNIST example."""

import collections
import json
import os
import shlex
import subprocess

from patience import PATIENCE_SECONDS

RANKS = [0, 1]
STEPS = [11, 12, 13]  # Those that the example profiles.


def train(log_dir, *options):
    subprocess.run([*shlex.split(os.environ["STEPTAPE_MPIEXEC"]), "-n", str(len(RANKS)),
                    os.environ["STEPTAPE_FASHION_MNIST"], "--model", "mlp", "--threads", "1",
                    "--max-steps", "20", "--log-dir", log_dir, "--progress", "none", *options],
                   check=True, timeout=PATIENCE_SECONDS)


class Summary:
    """The output of `steptape profile --json` for one rank."""

    def __init__(self, trace):
        self._trace = trace
        self.rank = trace["rank"]
        self.parts = {step["step"]: step for step in trace["steps"]}
        self.calls = collections.Counter()
        self.total_ms = collections.Counter()
        for operator in trace["operators"]:
            self.calls[operator["name"]] += operator["calls"]
            self.total_ms[operator["name"]] += operator["total_ms"]

    def peak_bytes(self):
        memory, = self._trace["memory"]
        return memory["peak_bytes"]


def summaries(path):
    """The Summary of each rank in a run or trace."""
    profile = subprocess.run([os.environ["STEPTAPE_TOOL"], "profile", path, "--json"], check=True,
                             stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS)
    traces = map(Summary, json.loads(profile.stdout)["traces"])
    return {summary.rank: summary for summary in traces}
