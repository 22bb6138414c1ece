#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GradientSync averages gradients as PyTorch's DistributedDataParallel does, bit for bit.

    ddp_gradients_test.py gpu_gradients [--device cpu]

Trains the same network on the same samples by DistributedDataParallel and by the program gpu_gradients, with two
ranks if there are two GPUs, and else with one. A sum of two numbers does not depend on their order, so gradients and
parameters must be equal in every bit.
"""
import argparse
import os
import socket
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 4
TIMEOUT_SECONDS = 200


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--rank-of-ddp", nargs=2, metavar=("INITIAL", "RESULT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank_of_ddp:
        train(arguments.device, *arguments.rank_of_ddp)
        return
    devices = 2 if arguments.device == "cpu" else torch.cuda.device_count()
    if devices == 0:
        sys.exit("ddp_gradients_test: got no CUDA device; expected at least one")
    compare(arguments, min(2, devices))


def compare(arguments, ranks):
    with tempfile.TemporaryDirectory() as folder:
        initial = os.path.join(folder, "initial")
        torch.manual_seed(1)
        np.concatenate([p.detach().numpy().ravel() for p in network().parameters()]).tofile(initial)
        start_ranks(ranks, [sys.executable, __file__, arguments.program, "--device", arguments.device,
                            "--rank-of-ddp", initial, os.path.join(folder, "ddp")])
        start_ranks(ranks, [arguments.program, arguments.device, initial, os.path.join(folder, "steptape")])
        for rank in range(ranks):
            expected, got = (np.fromfile(os.path.join(folder, f"{name}.{rank}"), np.uint32)
                             for name in ("ddp", "steptape"))
            if expected.size == 0 or got.size != expected.size:
                sys.exit(f"rank {rank}: got {got.size} numbers; expected the {expected.size} of DDP, more than 0")
            different = np.flatnonzero(got != expected)
            if different.size:
                first = different[0]
                sys.exit(f"rank {rank}: {different.size} of {got.size} numbers differ, first number {first}: "
                         f"got {got.view(np.float32)[first]!r}; expected {expected.view(np.float32)[first]!r}")
    print(f"{ranks} ranks on {arguments.device}: gradients of {STEPS} steps and parameters are equal in every bit")


def start_ranks(ranks, command):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    job = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
           "OMP_NUM_THREADS": 1}
    processes = []
    try:
        for rank in range(ranks):
            environment = {**job, "RANK": rank, "LOCAL_RANK": rank}
            processes.append(subprocess.Popen(
                command, env={**os.environ, **{name: str(value) for name, value in environment.items()}}))
        for rank, process in enumerate(processes):
            if process.wait(TIMEOUT_SECONDS) != 0:
                sys.exit(f"rank {rank} of {command[0]} ended with exit code {process.returncode}")
    finally:
        for process in processes:
            process.kill()


def network():
    return nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 10))


def samples_of(rank, step):
    numbers = torch.arange(32 * 64) * (2 * rank + 3) + 7 * step
    return (numbers % 17).float().view(32, 64) / 16 - 0.5


def train(device_type, initial, result):
    rank = int(os.environ["RANK"])
    device = torch.device(device_type, int(os.environ["LOCAL_RANK"]) if device_type == "cuda" else None)
    if device_type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device_type == "cuda" else "gloo")
    net = network()
    numbers = torch.from_numpy(np.fromfile(initial, np.float32))
    with torch.no_grad():
        for parameter, part in zip(net.parameters(), numbers.split([p.numel() for p in net.parameters()])):
            parameter.copy_(part.view_as(parameter))
    ddp = DistributedDataParallel(net.to(device))
    with open(f"{result}.{rank}", "wb") as file:
        for step in range(STEPS):
            ddp.zero_grad()
            ddp(samples_of(rank, step).to(device)).pow(2).mean().backward()
            with torch.no_grad():
                for parameter in net.parameters():
                    file.write(parameter.grad.cpu().numpy().tobytes())
                    parameter.sub_(parameter.grad * 0.5)
        for parameter in net.parameters():
            file.write(parameter.detach().cpu().numpy().tobytes())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
