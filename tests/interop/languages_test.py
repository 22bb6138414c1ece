#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in four languages that log the same: the same is in their files, and TensorBoard shows it.

STEPTAPE_LANGUAGES names the programs: language=program, separated by spaces.
"""

import glob
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

import bucket_servers
from patience import PATIENCE_SECONDS
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import event_pb2
from tensorboard_server import TensorBoard

PYTHON_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "languages", "twin.py")


def setUpModule():
    global runs, languages, mirrored
    runs = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    programs = {language: [program] for language, program in
                (item.split("=", 1) for item in os.environ["STEPTAPE_LANGUAGES"].split())}
    if importlib.util.find_spec("steptape") is not None:
        programs["python"] = [sys.executable, PYTHON_PROGRAM]
    languages = sorted(programs)
    with bucket_servers.Rclone() as server:
        for language, command in programs.items():
            subprocess.run([*command, os.path.join(runs, language), f"s3://{bucket_servers.BUCKET}/{language}"],
                           check=True, timeout=PATIENCE_SECONDS, env={**os.environ, **server.environment})
        mirrored = {language: names_and_bytes(os.path.join(server.directory, language)) for language in programs}


def names_and_bytes(directory):
    found = {}
    for path in glob.glob(os.path.join(directory, "*")):
        with open(path, "rb") as file:
            found[os.path.basename(path)] = file.read()
    return found


def values_of(language):
    """All values of a run in their order, without the times at which they were logged."""
    (path,) = glob.glob(os.path.join(runs, language, "events.out.tfevents.*"))
    found = []
    for payload in RawEventFileLoader(path).Load():
        event = event_pb2.Event.FromString(payload)
        for value in event.summary.value:
            if value.metadata.plugin_data.plugin_name == "hparams":
                # The records of start and end have times of their own.
                value.metadata.plugin_data.ClearField("content")
            found.append((event.step, value.SerializeToString(deterministic=True)))
    return found


class Languages(unittest.TestCase):
    def test_write_the_same_values(self):
        self.assertIn("cpp", languages)
        expected = values_of("cpp")
        self.assertEqual(len(expected), 200 + 3 + 3 + 1 + 2)
        for language in languages:
            with self.subTest(language=language):
                self.assertEqual(values_of(language), expected)

    def test_mirror_their_runs_into_a_bucket(self):
        for language in languages:
            with self.subTest(language=language):
                self.assertEqual(len(mirrored[language]), 1)
                self.assertEqual(mirrored[language], names_and_bytes(os.path.join(runs, language)))

    def test_look_the_same_in_tensorboard(self):
        with TensorBoard(runs) as board:
            def check(plugin, tag, count):
                """Compares the points of all runs, without their wall times."""
                points = {run: [point[1:] for point in board.get(f"plugin/{plugin}", run=run, tag=tag)]
                          for run in languages}
                self.assertEqual(len(points["cpp"]), count)
                for run in languages:
                    self.assertEqual(points[run], points["cpp"], (plugin, run))

            for seen in (("scalars/scalars", "loss", 200), ("histograms/histograms", "weights", 3)):
                board.eventually(lambda seen=seen: check(*seen))


if __name__ == "__main__":
    unittest.main()
