#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how long training waits for images, with PrefetchLoader and with PyTorch's DataLoader.

    python3 benchmarks/loader.py build/release [--images 2000] [--rounds 7]

Needs torch and torchvision, such as torch 2.13.0+cpu and torchvision 0.28.0+cpu. The script writes JPEG files of
400 x 300 pixels. Both loaders read them in random order with two workers: RandomResizedCrop to 224, random flips,
normalization, batches of 32. The variants take turns and read the same files, from the page cache. Three kinds of
step use the batches: none, for the throughput of the loader; 40 ms of sleep, as a device that computes ResNet-50; and
ResNet-50 on one thread of the CPU, for fewer images.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import torch
from PIL import Image, ImageDraw, ImageFilter
from rounds import print_medians, report, take_turns

# A torchvision for CUDA cannot load its operators without CUDA, and its import misses these. Transforms and models
# need none.
operators = torch.library.Library("torchvision", "FRAGMENT")
for name in ("nms", "qnms"):
    operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
import torchvision  # noqa: E402
from torchvision import transforms  # noqa: E402

BATCH_SIZE, WORKERS = 32, 2
WIDTH, HEIGHT = 400, 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build folder, such as build/release")
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--training-images", type=int, default=256, help="images for ResNet-50 on the CPU")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    program = os.path.join(arguments.build, "bin", "loader_benchmark")
    with tempfile.TemporaryDirectory() as folder:
        few, many = os.path.join(folder, "few"), os.path.join(folder, "many")
        write_images(few, arguments.training_images)
        write_images(many, arguments.images)
        compare(program, many, "none", "seconds", arguments.rounds)
        compare(program, many, "40", "wait_seconds", arguments.rounds)
        compare(program, few, "resnet50", "wait_seconds", arguments.rounds)


def compare(program, folder, step, figure, rounds):
    def ours():
        command = [program, folder, str(WORKERS), str(BATCH_SIZE), step]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)[figure]

    costs = take_turns({"PrefetchLoader": ours, "the same, again (A/A)": ours,
                        "DataLoader": lambda: data_loader(folder, step)[figure]}, rounds)
    first, again, peer = costs.values()
    print_medians(f"Step {step}: {figure} of an epoch", costs)
    report("PrefetchLoader / again", first, again, control=(0.8, 1.25))
    report("PrefetchLoader / DataLoader", first, peer, at_most=0.9)


def data_loader(folder, step):
    """An epoch of PyTorch's DataLoader, as loader_benchmark makes one."""
    normalize = transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
    dataset = torchvision.datasets.ImageFolder(
        folder, transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                                    transforms.ToTensor(), normalize]))
    loader = torch.utils.data.DataLoader(dataset, BATCH_SIZE, shuffle=True, num_workers=WORKERS)
    model = torchvision.models.resnet50() if step == "resnet50" else None
    start = time.perf_counter()
    waited = 0
    batches = iter(loader)
    while True:
        before = time.perf_counter()
        batch = next(batches, None)
        if batch is None:
            break
        waited += time.perf_counter() - before
        if model:
            torch.nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
        elif step != "none":
            time.sleep(int(step) / 1000)
    return {"seconds": time.perf_counter() - start, "wait_seconds": waited}


def write_images(folder, count):
    """Images with the detail of photographs: shapes and noise, of which JPEG leaves about 30 kB."""
    chooser = random.Random(1)
    noise = Image.effect_noise((WIDTH, HEIGHT), 60)
    for number in range(count):
        image = Image.new("RGB", (WIDTH, HEIGHT), color(chooser))
        draw = ImageDraw.Draw(image)
        for _ in range(12):
            left, top = chooser.randrange(WIDTH), chooser.randrange(HEIGHT)
            draw.ellipse([left, top, left + chooser.randrange(20, 200), top + chooser.randrange(20, 200)],
                         color(chooser))
        image = Image.blend(image.filter(ImageFilter.GaussianBlur(2)), noise.convert("RGB"), 0.2)
        path = os.path.join(folder, f"class{number % 10}", f"{number:05}.jpg")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        image.save(path, quality=85)


def color(chooser):
    return tuple(chooser.randrange(256) for _ in range(3))


if __name__ == "__main__":
    sys.exit(main())
