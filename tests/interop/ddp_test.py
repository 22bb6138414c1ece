#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GradientSync trains to the numbers of PyTorch's DistributedDataParallel."""

import os
import shlex
import subprocess
import sys
import tempfile
import unittest

import ddp_tasks
import torch
from patience import PATIENCE_SECONDS

PATHS = {"shared": "shared memory", "messages": "messages"}  # As GradientSync describes them.


def run(command):
    subprocess.run(command, check=True, timeout=PATIENCE_SECONDS,
                   env=dict(os.environ, OMP_NUM_THREADS="1"))


def distance(ours, theirs):
    """The largest difference, relative to the largest of their numbers."""
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


class SameAsDdp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.tasks = {name: ddp_tasks.write(name, cls.directory) for name in ddp_tasks.TASKS}
        peer = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ddp_peer.py")
        run([sys.executable, "-B", peer, cls.directory])

    def twin(self, name, path):
        """Returns this library's result of a task, after checking that it uses this path."""
        result = ddp_tasks.twin_path(self.directory, name, path)
        run(shlex.split(os.environ["STEPTAPE_MPIEXEC"]) +
            ["-n", str(ddp_tasks.RANKS), os.environ["STEPTAPE_TRAINING_PROGRAM"],
             "ddp", ddp_tasks.task_path(self.directory, name), result, path])
        # The dictionaries of LibTorch carry their types, which only this kind of loading allows.
        result = torch.load(result, weights_only=False)
        self.assertTrue(result["path"].startswith(PATHS[path]), result["path"])
        return result

    def peer(self, name):
        return torch.load(ddp_tasks.peer_path(self.directory, name))

    def check(self, name, path, tolerance):
        ours, theirs = self.twin(name, path), self.peer(name)
        self.assertLessEqual(distance(ours["losses"], theirs["losses"]), tolerance)
        self.assertEqual(set(ours["parameters"]), set(theirs["parameters"]))
        for key, trained in theirs["parameters"].items():
            # Parameters that have not moved would prove nothing.
            self.assertGreater(distance(self.tasks[name]["parameters"][key], trained), 0.01, key)
            self.assertLessEqual(distance(ours["parameters"][key], trained), tolerance, key)
        return ours, theirs

    def check_uncompressed(self, path):
        for name, task in self.tasks.items():
            if task["compression"] == "none":
                with self.subTest(task=name):
                    self.check(name, path, 1e-6)

    def test_through_shared_memory(self):
        self.check_uncompressed("shared")

    def test_through_messages(self):
        self.check_uncompressed("messages")

    def test_compressed_to_float16(self):
        """Theirs is added up in float16 too, ours in float32, which is the smaller difference."""
        ours, theirs = self.check("fp16", "messages", 1e-4)
        self.assertIn("float16", ours["path"])
        uncompressed = self.peer("sgd")["parameters"]
        for key, trained in theirs["parameters"].items():
            self.assertLess(distance(ours["parameters"][key], trained),
                            distance(uncompressed[key], trained) / 2, key)


if __name__ == "__main__":
    unittest.main()
