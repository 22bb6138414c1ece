#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each command says of the files of every writer what TensorBoard's own loaders read in them.

The files are those in golden/, and those below STEPTAPE_ZOO, which make_zoo.py makes.
"""

import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from tensorboard import data_compat
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader
from tensorboard.compat.proto import types_pb2
from tensorboard.util import tensor_util

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "interop"))
import reader_oracle  # noqa: E402
from patience import PATIENCE_SECONDS  # noqa: E402
from tensorboard_server import TensorBoard  # noqa: E402



def zoo():
    """The directories of all writers."""
    folders = [HERE / "golden"]
    if "STEPTAPE_ZOO" in os.environ:
        folders.append(pathlib.Path(os.environ["STEPTAPE_ZOO"]).resolve())
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.is_dir()]


def runs():
    """The directories that hold event files."""
    return [pathlib.Path(directory) for writer in zoo() for directory, _, files in os.walk(writer)
            if any("tfevents" in name for name in files)]


def tool(*arguments):
    result = subprocess.run([os.environ["STEPTAPE_TOOL"], *map(str, arguments)], capture_output=True,
                            text=True, timeout=PATIENCE_SECONDS)
    if result.returncode not in (0, 1) or (result.returncode == 1 and arguments[0] != "check"):
        raise AssertionError(f"{arguments}: {result.stderr}")
    return result.stdout


class Oracle:
    """The records that TensorBoard's loader reads in the files of a run, in their order."""

    def __init__(self, run):
        self.records = []
        self.restarts = False
        self.plugins = {}
        for path in sorted(path for path in run.iterdir() if "tfevents" in path.name):
            for event in LegacyEventFileLoader(str(path)).Load():
                self._take(event)

    def _take(self, event):
        kind = event.WhichOneof("what")
        if kind == "graph_def":
            self._add(event, ["__run_graph__"], "graphs", len(event.graph_def))
        elif kind == "tagged_run_metadata":
            run = event.tagged_run_metadata
            self._add(event, [run.tag], "graph_tagged_run_metadata", len(run.run_metadata))
        elif kind == "session_log":
            self.restarts = self.restarts or event.step > 0
        elif kind == "summary":
            for value in event.summary.value:
                self._take_value(event, value)

    def _take_value(self, event, value):
        # Old writers put the tag there; without it, a value has none.
        tags = [value.tag, value.tag or value.node_name]
        is_old = value.WhichOneof("value") in ("histo", "image", "audio")
        value = data_compat.migrate_value(value)
        metadata = value.metadata
        plugin, content = self.plugins.setdefault(
            value.tag, (metadata.plugin_data.plugin_name, metadata.plugin_data.content))
        if plugin == "hparams":
            meaning = reader_oracle.hparams(metadata.plugin_data.content or content)
        elif plugin == "histograms" and is_old:
            meaning = reader_oracle.rounded(tensor_util.make_ndarray(value.tensor))
        elif plugin == "audio":
            clips = tensor_util.make_ndarray(value.tensor)
            # TensorFlow puts a label beside each clip.
            meaning = {"encoded": [clip.hex() for clip in clips.reshape(len(clips), -1)[:, 0]]}
        else:
            meaning = reader_oracle.meaning(plugin, content, value.tensor)
        self._add(event, tags, plugin, simple(plugin, meaning))

    def _add(self, event, tags, plugin, value):
        self.records.append((tags, plugin, event.step, event.wall_time, value))

    def points(self, plugin="scalars"):
        return [(tags[-1], step, wall_time, value) for tags, kind, step, wall_time, value in self.records
                if kind == plugin]


def simple(plugin, meaning):
    """The parts of TensorBoard's meaning that each form of export has."""
    if plugin == "text":
        return [bytes.fromhex(text).decode() for text in meaning["strings"]]
    if plugin == "audio":
        return meaning["encoded"]
    if plugin == "mesh":
        return [meaning["name"], meaning["shape"], len(meaning["tensor"]["content"]) // 2]
    if plugin == "hparams":
        return hparams_of_tensorboard(meaning)
    if plugin not in ("scalars", "histograms", "images", "pr_curves", "custom_scalars"):
        if meaning["type"] == types_pb2.DT_STRING:
            return [bytes.fromhex(text).decode() for text in meaning["strings"]]
        dtype = tensor_util.dtypes.as_dtype(meaning["type"]).as_numpy_dtype
        return np.frombuffer(bytes.fromhex(meaning["content"]), dtype).tolist()
    return meaning


def hparams_of_tensorboard(meaning):
    if "values" in meaning:
        return meaning["values"]
    if "hparams" in meaning:
        return [[info["name"] for info in meaning["hparams"]], meaning["metrics"]]
    return {1: "success", 2: "failure", 3: "running"}.get(meaning["status"], "unknown")


def exported(record):
    """The same of a record of `export --format jsonl --media`."""
    plugin, value = record["plugin"], record.get("value")
    if plugin == "scalars":
        return float(value)
    if plugin == "images":
        return {"width": record["width"], "height": record["height"],
                "encoded": [pathlib.Path(image["file"]).read_bytes().hex()
                            for image in record["images"]]}
    if plugin == "audio":
        return [pathlib.Path(clip["file"]).read_bytes().hex() for clip in record["clips"]]
    if plugin == "mesh":
        return [record["mesh"], record["shape"], record["bytes"]]
    if plugin in ("graphs", "graph_tagged_run_metadata"):
        return record["bytes"]
    if plugin == "pr_curves":
        return list(value.values())
    if plugin == "custom_scalars":
        return [{"title": category["title"],
                 "charts": [{"title": chart["title"], "tags": chart.get("multiline", []),
                             "margins": chart.get("margin", [])} for chart in category["charts"]]}
                for category in value["categories"]]
    if plugin == "hparams":
        if "session_start" in value:
            return value["session_start"]["hparams"]
        if "experiment" in value:
            names = [each["name"] for each in value["experiment"]["hparams"]]
            return [names, [each["tag"] for each in value["experiment"]["metrics"]]]
        return value["session_end"]["status"]
    return value if isinstance(value, list) else [value]


def as_float32(rows):
    return [[struct.unpack("f", struct.pack("f", number))[0] for number in row] for row in rows]


class Records(unittest.TestCase):
    maxDiff = 4000

    def test_the_zoo_is_there(self):
        self.assertGreaterEqual(len(zoo()), 14)
        self.assertGreaterEqual(len(runs()), 25)

    def test_export_writes_each_record_that_the_loader_reads(self):
        for run in runs():
            media = self.enterContext(tempfile.TemporaryDirectory())
            lines = tool("export", "--format", "jsonl", "--all", "--media", media, run).splitlines()
            records = [record for record in map(json.loads, lines) if record["run"] == str(run)]
            oracle = Oracle(run).records
            with self.subTest(run=run):
                self.assertEqual(len(records), len(oracle))
            for record, (tags, plugin, step, wall_time, value) in zip(records, oracle):
                with self.subTest(run=run, tag=tags[-1], step=step):
                    self.assertIn(record["tag"], tags)
                    self.assertEqual(record["plugin"], plugin)
                    self.assertEqual((record["step"], record["wall_time"]), (step, wall_time))
                    got = exported(record)
                    if plugin == "histograms" and got != value:
                        got = as_float32(got)
                    self.assertEqual(got, value)

    def test_export_writes_each_scalar_into_a_table(self):
        for run in runs():
            text = tool("export", "--format", "csv", "--layout", "long", "--all", run)
            rows = [(row["tag"], int(row["step"]), float(row["wall_time"]), float(row["value"]))
                    for row in csv.DictReader(io.StringIO(text)) if row["run"] == str(run)]
            with self.subTest(run=run):
                # Of several tags, a table has one after the other.
                self.assertEqual(sorted(rows), sorted(Oracle(run).points()))

    def test_tail_prints_the_last_scalars(self):
        for run in runs():
            oracle = Oracle(run)
            if oracle.restarts:
                continue  # which takes away points that are in the file
            # Without the runs below.
            lines = tool("tail", "--once", "--json", "--lines", 1000, *run.glob("*tfevents*")).splitlines()
            points = [(point["tag"], point["step"], point["wall_time"], float(point["value"]))
                      for point in map(json.loads, lines) if "value" in point]
            with self.subTest(run=run):
                self.assertEqual(sorted(points), sorted(oracle.points()))

    def test_inspect_counts_the_points_of_each_tag(self):
        for run in runs():
            oracle = Oracle(run)
            if oracle.restarts:
                continue
            expected = {}
            for tags, plugin, step, _, _ in oracle.records:
                expected.setdefault(tags[-1], [plugin, []])[1].append(step)
            for entry in json.loads(tool("inspect", "--json", run))["runs"]:
                if entry["run"] != str(run):
                    continue
                got = {tag["tag"]: tag for tag in entry["tags"]}
                with self.subTest(run=run):
                    self.assertEqual(entry["problems"], [])
                    self.assertEqual(len(got), len(expected))
                for tag, (plugin, steps) in expected.items():
                    shown = got.get(tag) or got[""]  # see Oracle._take_value()
                    with self.subTest(run=run, tag=tag):
                        self.assertEqual((shown["plugin"], shown["points"]), (plugin, len(steps)))
                        self.assertEqual((shown["first_step"], shown["last_step"]),
                                         (steps[0], steps[-1]))


class Loaders(unittest.TestCase):
    """`check` never promises a curve that one of TensorBoard's loaders does not show."""

    def check(self, folder, fast):
        effects = {}
        for run in json.loads(tool("check", "--json", folder))["runs"]:
            for finding in run["findings"]:
                effect = finding["fast_data_server" if fast else "python_loader"]
                effects.setdefault((run["run"], finding["tag"]), set()).add(effect)
        return effects

    def assert_curves(self, folder, fast):
        effects = self.check(folder, fast)
        curves = {(run, tag): [point for point in Oracle(run).points() if point[0] == tag]
                  for run in runs() if run.is_relative_to(folder)
                  for tag in {point[0] for point in Oracle(run).points()}}
        with TensorBoard(str(folder), fast=fast) as tensorboard:
            def everything_is_loaded():
                shown = tensorboard.get("plugin/scalars/tags")
                self.assertEqual(len(shown), len({run for run, _ in curves}))

            tensorboard.eventually(everything_is_loaded)
            for (run, tag), points in curves.items():
                name = str(run.relative_to(folder))
                try:
                    shown = tensorboard.get("plugin/scalars/scalars", run=name, tag=tag)
                except OSError:
                    shown = []  # it does not have the tag, or cannot read it
                losses = "loss" in effects.get((str(run), tag), ())
                with self.subTest(run=run, tag=tag, fast=fast):
                    # Of a repeated point, the data server shows one.
                    if {(step, value) for _, step, value in shown} == \
                            {(step, value) for _, step, _, value in points}:
                        self.assertFalse(losses)
                    else:
                        self.assertTrue(losses or Oracle(run).restarts)

    def test_the_data_server_shows_what_check_says(self):
        for folder in {writer.parent for writer in zoo()}:
            self.assert_curves(folder, fast=True)

    def test_the_python_loader_shows_what_check_says(self):
        for folder in {writer.parent for writer in zoo()}:
            self.assert_curves(folder, fast=False)


if __name__ == "__main__":
    unittest.main()
