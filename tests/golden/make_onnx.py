# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models of this folder with PyTorch's exporter: make_onnx.py DIRECTORY"""

import io
import os
import sys
import warnings

import torch
from torch.onnx._internal.torchscript_exporter import onnx_proto_utils

# The exporter's last step adds functions of the package onnxscript, which these models have none
# of, and asks for the package onnx to do so. Without that step it needs PyTorch alone.
onnx_proto_utils._add_onnxscript_fn = lambda model_bytes, custom_opsets: model_bytes


class Block(torch.nn.Module):
    """Two convolutions and a shortcut, as in a ResNet."""

    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(channels)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(channels)
        self.relu = torch.nn.ReLU()
        self.downsample = torch.nn.Identity()
        if channels_in != channels:
            self.downsample = torch.nn.Sequential(
                torch.nn.Conv2d(channels_in, channels, 1, stride, bias=False),
                torch.nn.BatchNorm2d(channels))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet(torch.nn.Module):
    """A ResNet of two stages with very few channels."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.relu = torch.nn.ReLU()
        self.maxpool = torch.nn.MaxPool2d(2)
        self.layer1 = torch.nn.Sequential(Block(4, 4, 1), Block(4, 4, 1))
        self.layer2 = torch.nn.Sequential(Block(4, 6, 2), Block(6, 6, 1))
        self.avgpool = torch.nn.AdaptiveAvgPool2d(1)
        self.fc = torch.nn.Linear(6, 10)
        for module in self.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                # Equal statistics would make the exporter share one folded bias among layers.
                torch.nn.init.uniform_(module.running_mean)

    def forward(self, x):
        x = self.maxpool(self.relu(self.conv1(x)))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(torch.flatten(x, 1))


class ControlFlow(torch.nn.Module):
    """A loop around a branch, which TorchScript keeps."""

    def forward(self, x, n: int):
        for _ in range(n):
            if bool(x.sum() > 0):
                x = x * 2
            else:
                x = x - 1
        return x


def write(path, model, arguments, **options):
    buffer = io.BytesIO()
    torch.onnx.export(model, arguments, buffer, dynamo=False, opset_version=17, **options)
    with open(path, "wb") as file:
        file.write(buffer.getvalue())


def main():
    warnings.simplefilter("ignore")
    directory = sys.argv[1]
    torch.manual_seed(0)
    write(os.path.join(directory, "resnet.onnx"), ResNet().eval(), (torch.zeros(2, 3, 16, 16),),
          input_names=["image"], output_names=["logits"], dynamic_axes={"image": {0: "batch"}})
    write(os.path.join(directory, "control_flow.onnx"), torch.jit.script(ControlFlow()),
          (torch.ones(2, 3), 4), input_names=["x", "n"], output_names=["y"])


if __name__ == "__main__":
    main()
