#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The event file of a killed process is readable, and a scalar takes few bytes."""

import glob
import os
import subprocess
import tempfile
import unittest

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

import writer_program
from tensorboard_server import TensorBoard


class EventFileTest(unittest.TestCase):
    def setUp(self):
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())

    def event_file(self):
        (path,) = glob.glob(os.path.join(self.log_dir, "*tfevents*"))
        return path


class KilledWriter(EventFileTest):
    POINTS = 20000

    def test_leaves_every_flushed_point_readable(self):
        self.kill_after_flush()
        steps = [event.step for event in EventFileLoader(self.event_file()).Load()
                 if event.HasField("summary")]
        self.assertEqual(steps, list(range(len(steps))))
        self.assertGreaterEqual(len(steps), self.POINTS)

        with TensorBoard(self.log_dir) as tensorboard:
            def check():
                points = tensorboard.get("plugin/scalars/scalars", run=".", tag="loss")
                self.assertEqual([step for _, step, _ in points], steps)

            tensorboard.eventually(check)

    def kill_after_flush(self):
        command = [writer_program.path(), "flush", self.log_dir, str(self.POINTS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                self.assertEqual(process.stdout.readline(), "flushed\n")
            finally:
                process.kill()


class ScalarBytes(EventFileTest):
    TAGS, STEPS = 10, 3000

    def bytes_of(self, form):
        writer_program.run("curves", form, self.log_dir, self.TAGS, self.STEPS)
        return os.path.getsize(self.event_file()) / (self.TAGS * self.STEPS)

    def test_are_at_most_22_at_ten_tags_per_step(self):
        self.assertLessEqual(self.bytes_of("compatible"), 22)

    def test_are_at_most_27_as_tensors(self):
        self.assertLessEqual(self.bytes_of("tensor"), 27)


if __name__ == "__main__":
    unittest.main()
