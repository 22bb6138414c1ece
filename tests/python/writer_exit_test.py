#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that logs ends as it would without the writer, whatever its threads do and whoever interrupts it."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

import steptape

HEAD = """
import os, signal, sys, threading, time, warnings
import numpy as np
import steptape
warnings.simplefilter("ignore")
log_dir = sys.argv[1]
"""


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.log_dir = os.path.join(self.folder, "run")
        boxes = os.path.join(self.folder, "boxes")
        os.mkdir(boxes)
        self.environment = {**os.environ, "STEPTAPE_BLACK_BOX": boxes}

    def program(self, text):
        """Runs a program; returns its exit status and what it said."""
        done = subprocess.run([sys.executable, "-c", HEAD + text, self.log_dir], capture_output=True, text=True,
                              env=self.environment, timeout=100, check=False)
        return done.returncode, done.stdout + done.stderr


class ThreadsThatLog(Case):
    # What a thread may be in when Python ends: the core without the GIL, or a function of Python that the core calls.
    CALLS = {
        "scalars": "writer.add_scalar('loss', 0.5, i)",
        "arrays": "writer.add_histogram('weights', array, i)",
        "arrays of Python": "writer.add_histogram('weights', Exported(), i)",
        "flush": "writer.flush()",
        "steps of their own": "writer.add_scalar('loss', 0.5, Step())",
        "scalars at a time": "writer.add_scalar('loss', 0.5, i, 1.5)",
        "warnings": "writer.add_scalar(f'{i}', 1, 2); writer.add_scalar(f'{i}', 1, 1); writer.flush()",
        "writers": "steptape.SummaryWriter(f'{log_dir}/{threading.get_ident()}_{i}').add_scalar('loss', 0.5, 0)",
        "reading": "steptape.read(log_dir, progress=lambda *sizes: sum(range(1000)))",
    }

    def test_while_python_ends_do_not_crash_or_hang_it(self):
        for name, call in self.CALLS.items():
            with self.subTest(call=name):
                self.log_dir = os.path.join(self.folder, name)
                code, said = self.program(f"""
writer = steptape.SummaryWriter(log_dir)
array = np.arange(1000.0)
class Step:
    def __index__(self):
        return sum(range(100))
class Exported:  # as tensors of torch, whose own calls end the process here
    def __dlpack__(self, **options):
        sum(range(100))
        return array.__dlpack__()
    def __dlpack_device__(self):
        return 1, 0
writer.add_histogram("first", array, 0)
writer.flush()
def work(begun):
    i = 0
    while True:
        {call}
        i += 1
        if i == 3:
            begun.set()
begun = [threading.Event() for _ in range(4)]
for event in begun:
    threading.Thread(target=work, args=(event,), daemon=True).start()
for event in begun:
    event.wait()
""")
                self.assertEqual((code, said), (0, ""))
                self.assertEqual(steptape.read(self.log_dir)["."]["first"].steps.tolist(), [0])


class Interrupted(Case):
    def test_wait_for_a_device_ends_by_ctrl_c(self):
        code, said = self.program("""
from steptape import _arrays
def wait():
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()
arrive = _arrays.arrive
_arrays.arrive = lambda value, what: (_arrays.Arrival(lambda: value, lambda: False, wait) if value == "device"
                                      else arrive(value, what))
writer = steptape.SummaryWriter(log_dir)
writer.add_scalar("loss", 0.5, 0)
writer.add_histogram("weights", "device", 0)
try:
    writer.flush()
except KeyboardInterrupt:
    print("interrupted")
warnings.simplefilter("always")
""")
        self.assertEqual(code, 0, said)
        self.assertIn("interrupted\n", said)
        self.assertIn("got Ctrl-C while the run was closed", said)
        self.assertEqual(steptape.read(self.log_dir)["."]["loss"].steps.tolist(), [0])


if __name__ == "__main__":
    unittest.main()
