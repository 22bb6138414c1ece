#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged files: the real TensorBoard shows less of them, `steptape check` reports why, and
TensorBoard shows every intact point after `steptape repair`."""

import io
import json
import math
import os
import struct
import subprocess
import tempfile
import unittest
import wave

import numpy as np
from PIL import Image
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

from reader_runs import metadata_of, tensor
from tensorboard_server import TensorBoard

TOOL = os.environ["STEPTAPE_TOOL"]
NAME = "events.out.tfevents.1700000000.host.1"
STEPS = 400
DAMAGED_STEP = 100
WALL_TIME = 1.7e9


def record(event):
    data = event.SerializeToString()
    header = struct.pack("<Q", len(data))
    return (header + struct.pack("<I", masked_crc32c(header)) + data
            + struct.pack("<I", masked_crc32c(data)))


def point(step, wall_time=None):
    event = event_pb2.Event(wall_time=WALL_TIME + step if wall_time is None else wall_time, step=step)
    value = event.summary.value.add(tag="loss")
    value.tensor.dtype = 1
    value.tensor.float_val.append(step / 8)
    value.metadata.plugin_data.plugin_name = "scalars"
    value.metadata.data_class = summary_pb2.DATA_CLASS_SCALAR
    return record(event)


def flipped(data, offset):
    return data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1:]


class Damage:
    """A file with a damaged spot, and its intact parts."""

    def __init__(self, rule, damage):
        self.rule = rule
        records = [record(event_pb2.Event(wall_time=WALL_TIME, file_version="brain.Event:2"))]
        records += [point(step) for step in range(STEPS)]
        self.bytes, self.offset, self.lost_steps = damage(records)
        self.intact = {step: step / 8 for step in range(STEPS) if step not in self.lost_steps}


def offset_of(records, step):
    return sum(map(len, records[:step + 1]))


def flip_length(records):
    offset = offset_of(records, DAMAGED_STEP)
    return flipped(b"".join(records), offset), offset, {DAMAGED_STEP}


def flip_value(records):
    offset = offset_of(records, DAMAGED_STEP)
    value = records[DAMAGED_STEP + 1].index(struct.pack("<f", DAMAGED_STEP / 8))
    return flipped(b"".join(records), offset + value + 2), offset, {DAMAGED_STEP}


def zero_page(records):
    """4 KiB of zeros, as a network file system leaves them if a write did not arrive."""
    data = b"".join(records)
    begin = 8192
    lost = {step for step in range(STEPS)
            if offset_of(records, step + 1) > begin and offset_of(records, step) < begin + 4096}
    return (data[:begin] + bytes(4096) + data[begin + 4096:], offset_of(records, min(lost)), lost)


def torn_and_appended(records):
    """A writer was killed within a record, and another one appended to its file."""
    offset = offset_of(records, DAMAGED_STEP)
    torn = records[DAMAGED_STEP + 1][:-20]
    return (b"".join(records[:DAMAGED_STEP + 1]) + torn + b"".join(records[DAMAGED_STEP + 2:]),
            offset, {DAMAGED_STEP})


def nan_wall_time(records):
    records = list(records)
    offset = offset_of(records, DAMAGED_STEP)
    records[DAMAGED_STEP + 1] = point(DAMAGED_STEP, math.nan)
    return b"".join(records), offset, set()


RUNS = {
    "flipped_length": Damage("length-checksum", flip_length),
    "flipped_value": Damage("data-checksum", flip_value),
    "zero_page": Damage("data-checksum", zero_page),
    "torn_and_appended": Damage("data-checksum", torn_and_appended),
    "nan_wall_time": Damage("nan-wall-time", nan_wall_time),
}


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=300)


class Repair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.damaged = os.path.join(cls.directory, "damaged")
        cls.repaired = os.path.join(cls.directory, "repaired")
        for run, damage in RUNS.items():
            os.makedirs(os.path.join(cls.damaged, run))
            os.makedirs(os.path.join(cls.repaired, run))
            with open(os.path.join(cls.damaged, run, NAME), "wb") as file:
                file.write(damage.bytes)
            result = tool("repair", os.path.join(cls.damaged, run, NAME),
                          "--output", os.path.join(cls.repaired, run, NAME))
            if result.returncode != 0:
                raise RuntimeError(result.stderr)

    def points(self, tensorboard, run):
        """A file of this size appears at once, so that it is complete when it exists."""

        def load():
            shown = tensorboard.get("plugin/scalars/tags")
            self.assertIn("loss", shown.get(run, {}))
            return tensorboard.get("plugin/scalars/scalars", run=run, tag="loss")

        return tensorboard.eventually(load)

    def test_the_fast_data_server_does_not_show_what_was_written(self):
        with TensorBoard(self.damaged) as tensorboard:
            for run, damage in RUNS.items():
                with self.subTest(run=run):
                    shown = {step: value for _, step, value in self.points(tensorboard, run)}
                    self.assertTrue(shown)
                    self.assertNotEqual(shown, damage.intact)

    def test_check_names_the_spot(self):
        for run, damage in RUNS.items():
            with self.subTest(run=run):
                result = tool("check", "--json", os.path.join(self.damaged, run))
                self.assertEqual(result.returncode, 1, result.stderr)
                (checked,) = json.loads(result.stdout)["runs"]
                (finding,) = checked["findings"]
                self.assertEqual(finding["file"], os.path.join(self.damaged, run, NAME))
                self.assertEqual((finding["offset"], finding["rule"]), (damage.offset, damage.rule))
                self.assertEqual(finding["fast_data_server"], "loss")

    def test_check_finds_nothing_in_repaired_files(self):
        result = tool("check", "--json", self.repaired)
        self.assertEqual(result.returncode, 0, result.stderr)
        for run in json.loads(result.stdout)["runs"]:
            self.assertEqual(run["findings"], [])

    def test_the_fast_data_server_shows_every_intact_point_of_repaired_files(self):
        self.check_repaired(fast=True)

    def test_the_python_loader_shows_every_intact_point_of_repaired_files(self):
        self.check_repaired(fast=False)

    def check_repaired(self, fast):
        with TensorBoard(self.repaired, fast=fast) as tensorboard:
            for run, damage in RUNS.items():
                with self.subTest(run=run):
                    self.check_points(self.points(tensorboard, run), damage)

    def check_points(self, points, damage):
        self.assertEqual([(step, value) for _, step, value in points],
                         list(damage.intact.items()))
        for wall_time, step, _ in points:
            # The event without a time has that of the one before it.
            is_set = damage.rule == "nan-wall-time" and step == DAMAGED_STEP
            self.assertEqual(wall_time, WALL_TIME + step - is_set)


def png():
    content = io.BytesIO()
    Image.new("L", (4, 3)).save(content, "png")
    return content.getvalue()


def wav():
    content = io.BytesIO()
    with wave.open(content, "wb") as clip:
        clip.setparams((1, 2, 8000, 4, "NONE", ""))
        clip.writeframes(bytes(8))
    return content.getvalue()


class LostMetadata(unittest.TestCase):
    """A writer describes a tag with its first value only, as Steptape's does, and that is damaged.

    Another file of the run "told" describes a tag again; of the run "guessed" there is none.
    """

    # Values of each kind without metadata that names the kind.
    VALUES = {
        "scalars": np.float32(0.5),
        "histograms": np.array([[-1, 0, 3], [0, 2.5, 4]]),
        "images": [b"4", b"3", png()],
        "audio": [wav()],
        "text": np.array(b"*text*"),
        "pr_curves": np.array([[2, 1], [1, 0], [0, 1], [0, 1], [0.5, 1], [1, 0.5]], np.float32),
    }
    REST = list(range(1, 5))

    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.damaged, cls.cut, cls.repaired = (
            os.path.join(directory, name) for name in ("damaged", "cut", "repaired"))
        records = [record(event_pb2.Event(wall_time=WALL_TIME, file_version="brain.Event:2"))]
        records += [cls.record_of_all(step) for step in [0, *cls.REST]]
        damaged = flipped(b"".join(records), len(records[0]) + 20)
        cls.write(cls.cut, "run", NAME, [records[0], *records[2:], cls.described("marker")])
        cls.write(cls.damaged, "guessed", NAME, [damaged])
        cls.write(cls.damaged, "told", NAME, [damaged])
        cls.write(cls.damaged, "told", NAME + ".later", [records[0], cls.described("scalars")])
        cls.reports = {run: cls.repair(run) for run in ("guessed", "told")}

    @classmethod
    def record_of_all(cls, step):
        event = event_pb2.Event(wall_time=WALL_TIME + step, step=step)
        event.summary.value.extend(tensor(plugin, data) for plugin, data in cls.VALUES.items())
        return record(event)

    @staticmethod
    def described(tag):
        event = event_pb2.Event(wall_time=WALL_TIME + 9, step=9)
        names = metadata_of("scalars", display_name="Loss",
                            data_class=summary_pb2.DATA_CLASS_SCALAR)
        event.summary.value.append(tensor(tag, np.float32(0.5), names))
        return record(event)

    @staticmethod
    def write(log_dir, run, name, records):
        directory = os.path.join(log_dir, run)
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, name), "wb") as file:
            file.write(b"".join(records))

    @classmethod
    def repair(cls, run):
        os.makedirs(os.path.join(cls.repaired, run))
        result = tool("repair", "--json", os.path.join(cls.damaged, run, NAME),
                      "--output", os.path.join(cls.repaired, run, NAME))
        return json.loads(result.stdout)

    def test_tensorboard_shows_nothing_of_what_is_left_without_it(self):
        for fast in (True, False):
            with self.subTest(fast=fast), TensorBoard(self.cut, fast=fast) as tensorboard:
                tensorboard.eventually(lambda: self.assertEqual(
                    list(tensorboard.get("plugin/scalars/tags").get("run", {})), ["marker"]))
                for plugin in self.VALUES.keys() - {"scalars"}:
                    self.assertFalse(tensorboard.get(f"plugin/{plugin}/tags").get("run"), plugin)

    def test_check_says_so(self):
        result = tool("check", "--json", self.cut)
        self.assertEqual(result.returncode, 1)
        (run,) = json.loads(result.stdout)["runs"]
        self.assertEqual({(finding["tag"], finding["rule"]) for finding in run["findings"]},
                         {(plugin, "no-metadata") for plugin in self.VALUES})

    def test_repair_says_what_it_restored(self):
        for run, report in self.reports.items():
            with self.subTest(run=run):
                self.assertEqual(report["tags_restored"], len(self.VALUES))
                self.assertEqual(report["tags_without_metadata"], [])

    def test_the_fast_data_server_shows_what_is_left_of_every_tag(self):
        self.check_repaired(fast=True)

    def test_the_python_loader_shows_what_is_left_of_every_tag(self):
        self.check_repaired(fast=False)

    def check_repaired(self, fast):
        with TensorBoard(self.repaired, fast=fast) as tensorboard:
            for run in self.reports:
                for plugin in self.VALUES:
                    with self.subTest(run=run, plugin=plugin):
                        tensorboard.eventually(
                            lambda: self.assertEqual(self.steps(tensorboard, run, plugin),
                                                     self.REST))
            shown = tensorboard.get("plugin/scalars/tags")
            self.assertEqual(shown["told"]["scalars"]["displayName"], "Loss")
            self.assertEqual(shown["guessed"]["scalars"]["displayName"], "")

    def steps(self, tensorboard, run, plugin):
        if plugin == "pr_curves":
            curves = tensorboard.get("plugin/pr_curves/pr_curves", run=run, tag=plugin)
            return [curve["step"] for curve in curves[run]]
        shown = tensorboard.get(f"plugin/{plugin}/{plugin}", run=run, tag=plugin, sample=0)
        return [point["step"] if isinstance(point, dict) else point[1] for point in shown]


if __name__ == "__main__":
    unittest.main()
