#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example image_recognition finds the classes that PyTorch finds, with the same network."""

import os
import re
import subprocess
import tempfile
import unittest

import numpy as np
import safetensors.torch
import torch
from PIL import Image
from torch import nn

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

CLASSES = 10
DELTA = 0.0005  # Versions of LibTorch and processors round differently.


def convolution(channels_in, channels, kernel, stride=1):
    return nn.Conv2d(channels_in, channels, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """A residual block with the names of torchvision: two convolutions, or the three of a bottleneck."""

    def __init__(self, channels_in, width, stride, is_bottleneck):
        super().__init__()
        channels = width * (4 if is_bottleneck else 1)
        self.convolutions = 3 if is_bottleneck else 2
        if is_bottleneck:
            self.conv1 = convolution(channels_in, width, 1)
            self.conv2 = convolution(width, width, 3, stride)
            self.conv3 = convolution(width, channels, 1)
            self.bn3 = nn.BatchNorm2d(channels)
        else:
            self.conv1 = convolution(channels_in, width, 3, stride)
            self.conv2 = convolution(width, width, 3)
        self.bn1 = nn.BatchNorm2d(width)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            self.downsample = nn.Sequential(convolution(channels_in, channels, 1, stride),
                                            nn.BatchNorm2d(channels))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.convolutions == 3:
            y = self.bn3(self.conv3(torch.relu(y)))
        return torch.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, blocks, is_bottleneck):
        super().__init__()
        self.conv1 = convolution(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        channels = 64
        for i, count in enumerate(blocks):
            width = 64 << i
            layer = []
            for block in range(count):
                layer.append(Block(channels, width, 2 if i > 0 and block == 0 else 1, is_bottleneck))
                channels = width * (4 if is_bottleneck else 1)
            setattr(self, f"layer{i + 1}", nn.Sequential(*layer))
        self.fc = nn.Linear(channels, CLASSES)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(x.mean((2, 3)))


def trained(network):
    """Random weights, but statistics of real activations, so that the result depends on them."""
    network.train()
    with torch.no_grad():
        network(torch.randn(4, 3, 64, 64))
        network.fc.weight.mul_(20)
    return network.eval()


def make_picture(path):
    """Saves a picture whose center crop needs no scaling, and returns the network's input."""
    noise = np.random.default_rng(3).integers(0, 256, (8, 8, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((256, 256), Image.BICUBIC)
    picture.save(path)
    crop = torch.from_numpy(np.array(picture)[16:240, 16:240].copy()).permute(2, 0, 1) / 255
    mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
    std = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)
    return ((crop - mean) / std)[None]


class ImageRecognition(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        torch.manual_seed(1)

    def path(self, name):
        return os.path.join(self.directory, name)

    def run_program(self, *arguments):
        return subprocess.run(
            [os.environ["STEPTAPE_IMAGE_RECOGNITION"], "--weights", self.path("net.safetensors"),
             "--log-dir", self.path("runs"), *arguments], capture_output=True, text=True)

    def recognized(self, *arguments):
        run = self.run_program(*arguments, self.path("picture.png"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = run.stdout.splitlines()
        self.assertEqual(lines[0], self.path("picture.png"))
        return [re.fullmatch(r"  (\d\.\d{6})  (.+)", line).groups() for line in lines[1:]]

    def check_same_as_torch(self, network):
        network = trained(network)
        safetensors.torch.save_model(network, self.path("net.safetensors"))
        picture = make_picture(self.path("picture.png"))
        with torch.no_grad():
            expected = network(picture).softmax(1)[0]
        recognized = self.recognized()
        self.assertEqual(len(recognized), 5)
        self.assertEqual(recognized, sorted(recognized, reverse=True))
        for probability, name in recognized:
            self.assertAlmostEqual(float(probability), expected[int(name.split()[1])].item(),
                                   delta=DELTA)
        self.assertAlmostEqual(float(recognized[4][0]), expected.topk(5).values[4].item(),
                               delta=DELTA)

    def test_resnet_18_gives_the_probabilities_of_torch(self):
        self.check_same_as_torch(ResNet([2, 2, 2, 2], False))

    def test_resnet_50_gives_the_probabilities_of_torch(self):
        self.check_same_as_torch(ResNet([3, 4, 6, 3], True))

    def test_labels_and_picture_are_in_tensorboard(self):
        network = trained(ResNet([1, 1, 1, 1], False))
        state = {name: tensor for name, tensor in network.state_dict().items()
                 if not name.endswith("num_batches_tracked")}  # as in files of old versions
        safetensors.torch.save_file(state, self.path("net.safetensors"))
        make_picture(self.path("picture.png"))
        with open(self.path("labels.txt"), "w") as file:
            file.writelines(f"animal {i}\n" for i in range(CLASSES))
        recognized = self.recognized("--labels", self.path("labels.txt"))
        self.assertTrue(all(name.startswith("animal ") for _, name in recognized))
        log = EventAccumulator(self.path("runs"))
        log.Reload()
        tags = log.Tags()["tensors"] + log.Tags()["images"]
        self.assertIn("picture", tags)
        self.assertIn("likeliest_classes/table", tags)
        self.assertIn("likeliest_classes", tags)

    def test_trouble_is_named(self):
        run = self.run_program()
        self.assertEqual(run.returncode, 2)
        self.assertIn("expected --weights and at least one picture; see --help", run.stderr)
        safetensors.torch.save_file({"w": torch.ones(1)}, self.path("net.safetensors"))
        run = self.run_program("picture.png")
        self.assertEqual(run.returncode, 1)
        self.assertIn("expected a ResNet with the names of torchvision", run.stderr)
        network = ResNet([1, 1, 1, 1], False)
        network.fc = nn.Linear(7, CLASSES)
        safetensors.torch.save_model(network, self.path("net.safetensors"))
        run = self.run_program("picture.png")
        self.assertEqual(run.returncode, 1)
        self.assertIn('"fc.weight": got F32 [10, 7]; expected F32 [10, 512]', run.stderr)


if __name__ == "__main__":
    unittest.main()
