# SPDX-License-Identifier: Apache-2.0
"""The tasks that ddp_twin.cpp and ddp_peer.py both train: a small network with given weights and data.

A task is a file of torch.save(), so that both begin with the same bits.
"""

import os

import torch
from torch import nn

RANKS = 2
STEPS = 20
BATCH = 8
CLASSES = 10

# The defaults of a task.
DEFAULTS = {
    "optimizer": "sgd",
    "lr": 0.05,
    "momentum": 0.9,  # Of sgd only.
    "weight_decay": 0.01,
    "compression": "none",
    "accumulation": 1,  # Passes of backward() to a step.
    "max_norm": 0.0,  # To which gradients are clipped; 0: they are not.
    "missing_batches": 0,  # By which the last rank's data ends before the others'.
}
TASKS = {
    "sgd": {},
    "adam": {"optimizer": "adam", "lr": 0.003},
    "adamw": {"optimizer": "adamw", "lr": 0.003},
    "accumulation": {"accumulation": 2},
    "clipping": {"max_norm": 0.5},
    "uneven_data": {"missing_batches": 7},
    "fp16": {"compression": "fp16"},
}


def network():
    """Smooth: where a maximum is taken, a difference in the last bit can become one of the result.

    The names of its parameters are those of the twin's torch::nn::Sequential: "0.weight" …
    """
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
                         nn.Linear(150, 40), nn.Tanh(), nn.Linear(40, CLASSES))


def write(name, directory):
    """Writes the task `name`, and returns it."""
    torch.manual_seed(1)
    task = {
        **DEFAULTS, **TASKS[name],
        "parameters": {key: value.detach() for key, value in network().named_parameters()},
        "inputs": torch.randn(RANKS, STEPS, BATCH, 1, 12, 12),
        "targets": torch.randint(CLASSES, (RANKS, STEPS, BATCH)),
    }
    torch.save(task, task_path(directory, name))
    return task


def task_path(directory, name):
    return os.path.join(directory, f"{name}.task.pt")


def peer_path(directory, name):
    return os.path.join(directory, f"{name}.peer.pt")


def twin_path(directory, name, path):
    return os.path.join(directory, f"{name}.{path}.pt")
