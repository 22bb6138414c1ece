#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FlopCounter counts what PyTorch's FlopCounterMode counts for the models of flop_twin.cpp."""

import math
import os
import subprocess
import unittest

import torch
from patience import PATIENCE_SECONDS
from torch import nn
from torch.utils import flop_counter


def linear(x, outputs):
    return nn.Linear(x.shape[-1], outputs)(x)


def mlp(x):
    return linear(torch.relu(linear(x, 30)), 10)


def convolutions(x):
    strided = nn.Conv2d(3, 8, 3, stride=2, padding=1)(x)
    dilated = nn.Conv2d(8, 16, (3, 2), dilation=(1, 2))(torch.relu(strided))
    larger = nn.ConvTranspose2d(16, 4, 2, stride=2)(dilated)
    return linear(larger.flatten(1), 10)


def transformer(x):
    heads = 2
    width = x.shape[2]

    def split(every):
        return every.view(*x.shape[:2], heads, width // heads).transpose(1, 2)

    query, key, value = (split(linear(x, width)) for _ in range(3))
    weights = torch.softmax(query @ key.transpose(2, 3) / math.sqrt(width // heads), -1)
    attended = x + linear((weights @ value).transpose(1, 2).reshape(x.shape), width)
    return attended + linear(nn.functional.gelu(linear(attended, 4 * width)), width)


def count(model, x):
    """The operations forward, and those of forward and backward."""
    with flop_counter.FlopCounterMode(display=False) as counter:
        output = model(x)
        forward = counter.get_total_flops()
        output.sum().backward()
    return forward, counter.get_total_flops()


class Flops(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = subprocess.run([os.environ["STEPTAPE_TRAINING_PROGRAM"], "flops"], check=True,
                                 timeout=PATIENCE_SECONDS, capture_output=True, text=True).stdout
        cls.ours = {}
        for line in printed.splitlines():
            name, forward, both = line.split()
            cls.ours[name] = (int(forward), int(both))

    def test_of_a_perceptron(self):
        self.assertEqual(self.ours["mlp"], count(mlp, torch.rand(7, 20)))

    def test_of_convolutions(self):
        x = torch.rand(5, 3, 17, 15, requires_grad=True)
        self.assertEqual(self.ours["convolutions"], count(convolutions, x))

    def test_of_a_transformer(self):
        self.assertEqual(self.ours["transformer"], count(transformer, torch.rand(3, 6, 8)))

    def test_of_fused_attention(self):
        if "attention" not in self.ours:
            self.skipTest("LibTorch has fused attention for CPUs from 2.2 on")
        # PyTorch counts it on GPUs only, so by its formulas.
        shape = (3, 2, 6, 8)
        forward = flop_counter.sdpa_flop_count(shape, shape, shape)
        backward = flop_counter.sdpa_backward_flop_count(shape, shape, shape, shape)
        self.assertEqual(self.ours["attention"], (forward, forward + backward))


if __name__ == "__main__":
    unittest.main()
