# SPDX-License-Identifier: Apache-2.0
"""The TBXLoggerCallback of Ray Tune 2.60: nested results, lists as histograms, hyperparameters."""

import sys

from ray.tune.experiment import Trial
from ray.tune.logger.tensorboardx import TBXLoggerCallback


class TrialInDirectory(Trial):
    def __init__(self, directory):  # without a cluster
        self.directory = directory
        self.evaluated_params = {"lr": 0.1, "layers": 2, "name": "x"}
        self.trial_id = "trial"

    @property
    def local_path(self):
        return self.directory

    def init_local_path(self):
        pass


def main(directory):
    callback = TBXLoggerCallback()
    trial = TrialInDirectory(directory)
    callback.log_trial_start(trial)
    for iteration in range(1, 4):
        callback.log_trial_result(iteration, trial, {
            "training_iteration": iteration, "timesteps_total": 10 * iteration, "loss": 1 / iteration,
            "info": {"reward": {"mean": iteration / 2}}, "done": iteration == 3, "pid": 1,
            "values": [1.0, 2.0, float(iteration)], "text": "left out"})
    callback.log_trial_end(trial)


main(sys.argv[1])
