#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network of examples/fashion_mnist with PyTorch's DistributedDataParallel and its writer.

    .venv/bin/python3 benchmarks/ddp_fashion_mnist.py [--model cnn|mlp] [--max-steps 200]

Two processes over gloo, one thread each. Rank 0 logs its loss at every step. Prints the seconds per epoch as one
line of JSON, scaled from the steps that were made to all steps of an epoch.
"""
import argparse
import gzip
import json
import os
import tempfile
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler
from torch.utils.tensorboard import SummaryWriter

RANKS = 2
BATCH_SIZE = 64
LEARNING_RATE = 0.01 * RANKS
MOMENTUM = 0.5


class Cnn(nn.Module):
    """`Network` of the example."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.dropout2d(self.conv2(x), 0.5, self.training)
        x = F.relu(F.max_pool2d(x, 2))
        x = F.relu(self.fc1(x.view(-1, 320)))
        x = F.dropout(x, 0.5, self.training)
        return F.log_softmax(self.fc2(x), dim=1)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10),
                         nn.LogSoftmax(dim=1))


MODELS = {"cnn": Cnn, "mlp": mlp}


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(run_rank, (arguments, folder), nprocs=RANKS)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=MODELS, default="cnn")
    parser.add_argument("--max-steps", type=int, default=0, help="0: a whole epoch")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    return parser.parse_args()


def load(directory):
    """The training images, normalized once: there shall be no input pipeline to speak of."""
    def read(name, header_bytes):
        with gzip.open(os.path.join(directory, name)) as file:
            return torch.from_numpy(np.frombuffer(file.read(), np.uint8, offset=header_bytes).copy())

    images = read("train-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28)
    images = images.float().div_(255).sub_(0.1307).div_(0.3081)
    return images, read("train-labels-idx1-ubyte.gz", 8).long()


def run_rank(rank, arguments, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                            world_size=RANKS)
    images, labels = load(arguments.data)
    order = torch.tensor(list(DistributedSampler(range(len(images)), RANKS, rank, seed=1)))
    batches = order.split(BATCH_SIZE)
    writer = SummaryWriter(os.path.join(folder, "run")) if rank == 0 else None
    torch.manual_seed(1)
    model = DistributedDataParallel(MODELS[arguments.model]())
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, MOMENTUM)
    dist.barrier()
    steps = 0
    start = time.monotonic()
    for indices in batches[:arguments.max_steps or None]:
        optimizer.zero_grad()
        loss = F.nll_loss(model(images[indices]), labels[indices])
        loss.backward()
        optimizer.step()
        steps += 1
        if writer:
            writer.add_scalar("loss/train", loss.item(), steps)
    seconds = time.monotonic() - start
    if writer:
        writer.close()
        print(json.dumps({"steps": steps, "seconds_per_epoch": seconds * len(batches) / steps,
                          "loss": loss.item()}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
