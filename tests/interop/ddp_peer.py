#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains every task of ddp_tasks.py with PyTorch's DistributedDataParallel over gloo.

    ddp_peer.py <directory with the tasks, where the results go>
"""

import contextlib
import os
import sys

import ddp_tasks
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel


def make_optimizer(task, parameters):
    common = {"lr": task["lr"], "weight_decay": task["weight_decay"]}
    if task["optimizer"] == "sgd":
        return torch.optim.SGD(parameters, momentum=task["momentum"], **common)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[task["optimizer"]]
    return kind(parameters, **common)


def train(task, rank):
    """Returns the trained network and the losses of this rank's batches."""
    network = ddp_tasks.network()
    network.load_state_dict(task["parameters"])
    model = DistributedDataParallel(network)
    if task["compression"] == "fp16":
        model.register_comm_hook(None, fp16_compress_hook)
    optimizer = make_optimizer(task, model.parameters())
    batches = list(zip(task["inputs"][rank], task["targets"][rank]))
    if rank == ddp_tasks.RANKS - 1:
        batches = batches[:len(batches) - task["missing_batches"]]
    losses = torch.zeros(ddp_tasks.STEPS)
    with contextlib.ExitStack() as uneven:
        if task["missing_batches"]:
            uneven.enter_context(model.join(divide_by_initial_world_size=False))
        for number, (inputs, targets) in enumerate(batches):
            is_last_pass = (number + 1) % task["accumulation"] == 0
            with contextlib.nullcontext() if is_last_pass else model.no_sync():
                loss = torch.nn.functional.cross_entropy(model(inputs), targets)
                (loss / task["accumulation"]).backward()
            losses[number] = loss.detach()
            if is_last_pass:
                if task["max_norm"]:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), task["max_norm"])
                optimizer.step()
                optimizer.zero_grad()
    return network, losses


def run_rank(rank, directory):
    torch.set_num_threads(1)
    store = f"file://{os.path.join(directory, 'store')}"
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=ddp_tasks.RANKS)
    for name in ddp_tasks.TASKS:
        network, losses = train(torch.load(ddp_tasks.task_path(directory, name)), rank)
        dist.all_reduce(by_rank := torch.stack(
            [losses if other == rank else torch.zeros_like(losses)
             for other in range(ddp_tasks.RANKS)]))
        if rank == 0:
            torch.save({"parameters": dict(network.state_dict()), "losses": by_rank},
                       ddp_tasks.peer_path(directory, name))
    dist.destroy_process_group()
    # PyTorch 2.13 sometimes aborts a busy machine's rank while its interpreter ends, after all of its work.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    torch.multiprocessing.spawn(run_rank, (sys.argv[1],), nprocs=ddp_tasks.RANKS)
