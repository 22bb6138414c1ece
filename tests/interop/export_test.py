#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape export` writes the same data that TensorBoard's EventAccumulator reads from the files."""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import tensorboardX
import torch.utils.tensorboard
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

import writer_program
from patience import PATIENCE_SECONDS

STEPS = 300
UNUSUAL = [0.1, -0.0, 1e-45, 3.4028234663852886e38, math.nan, math.inf, -math.inf]


def as_float32(value):
    """The value as a file holds it."""
    return float(numpy.float32(value))


def number(value):
    """A number of the JSON forms, in which NaN and infinities are strings."""
    return float(value)


def same(points):
    """Points that can be compared: NaN differs from itself, and -0.0 from 0.0 only as text."""
    return [(step, wall_time, repr(float(value))) for step, wall_time, value in points]


class ExportTest(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())
        self.run = os.path.join(self.directory, "run")

    def export(self, *arguments):
        """Gives the path of the exported file."""
        path = os.path.join(self.directory, "exported")
        subprocess.run([os.environ["STEPTAPE_TOOL"], "export", self.run, "--output", path,
                        *arguments], check=True, timeout=PATIENCE_SECONDS,
                       env={**os.environ, "STEPTAPE_PYTHON": sys.executable})
        return path

    def columns(self, file_format, *arguments):
        """The exported Parquet or Arrow file, as pyarrow reads it."""
        path = self.export("--format", file_format, *arguments)
        return pyarrow.parquet.read_table(path) if file_format == "parquet" else \
            pyarrow.feather.read_table(path)


class Scalars:
    """Exports files of a Python writer; every subclass names one."""

    writer = None

    def setUp(self):
        super().setUp()
        with self.writer(self.run) as writer:
            for step in range(STEPS):
                writer.add_scalar("loss/train", math.sin(step), step, 1.7e9 + step / 7)
                writer.add_scalar('a "tag", ü', math.exp(step / 50), 3 * step, 1.7e9 + step)
            for step, value in enumerate(UNUSUAL):
                writer.add_scalar("unusual", value, step, 1.7e9)
            writer.add_text("text", "no scalar", 0)
        run = event_accumulator.EventAccumulator(self.run, size_guidance={"scalars": 0}).Reload()
        self.curves = {tag: same((point.step, point.wall_time, point.value)
                                 for point in run.Scalars(tag))
                       for tag in run.Tags()["scalars"]}
        self.assertEqual(len(self.curves), 3)

    def test_json(self):
        with open(self.export("--format", "json"), encoding="utf-8") as file:
            curves = json.load(file)
        self.assertEqual(
            {key[len(self.run) + 1:]: same((step, wall_time, number(value))
                                           for wall_time, step, value in points)
             for key, points in curves.items()}, self.curves)

    def test_records(self):
        curves = {}
        with open(self.export("--format", "jsonl"), encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                self.assertEqual(record["run"], self.run)
                if record["plugin"] == "scalars":
                    curves.setdefault(record["tag"], []).append(
                        (record["step"], record["wall_time"], number(record["value"])))
        self.assertEqual({tag: same(points) for tag, points in curves.items()}, self.curves)

    def test_long_csv(self):
        table = pandas.read_csv(self.export("--format", "csv", "--layout", "long"))
        self.assertEqual(
            {tag: same(zip(rows["step"], rows["wall_time"], rows["value"]))
             for tag, rows in table.groupby("tag")}, self.curves)

    def test_wide_csv(self):
        path = self.export("--format", "csv", "--tag", "loss|ü")
        table = pandas.read_csv(path, index_col="step")
        self.assertTrue(table.index.is_monotonic_increasing)
        self.assertEqual(list(table.columns), sorted(self.curves.keys() - {"unusual"}))
        for tag in table.columns:
            self.assertEqual([(step, repr(float(value))) for step, value in
                              table[tag].dropna().items()],
                             [(step, value) for step, _, value in self.curves[tag]])


    def test_long_columns(self):
        for file_format in ("parquet", "arrow"):
            table = self.columns(file_format, "--layout", "long")
            self.assertEqual(dict(zip(table.column_names, table.schema.types)),
                             {"run": pyarrow.string(), "tag": pyarrow.string(),
                              "step": pyarrow.int64(), "wall_time": pyarrow.float64(),
                              "value": pyarrow.float64()})
            self.assertEqual(table["run"].unique().to_pylist(), [self.run])
            curves = {}
            for row in table.to_pylist():
                curves.setdefault(row["tag"], []).append(
                    (row["step"], row["wall_time"], row["value"]))
            self.assertEqual({tag: same(points) for tag, points in curves.items()}, self.curves)

    def test_wide_columns(self):
        for file_format in ("parquet", "arrow"):
            table = self.columns(file_format)
            self.assertEqual(table.column_names, ["step", *sorted(self.curves)])
            for tag, points in self.curves.items():
                rows = zip(table["step"].to_pylist(), table[tag].to_pylist())
                self.assertEqual([(step, repr(value)) for step, value in rows
                                  if value is not None],
                                 [(step, value) for step, _, value in points])


    def test_runs_as_columns(self):
        for file_format, read in (("parquet", pyarrow.parquet.read_table), ("arrow", pyarrow.feather.read_table)):
            path = f"{self.run}.{file_format}"
            subprocess.run([os.environ["STEPTAPE_TOOL"], "runs", self.run, "--format", file_format, "--output", path],
                           check=True, env={**os.environ, "STEPTAPE_PYTHON": sys.executable})
            table = read(path)
            self.assertEqual(table.column_names[:6],
                             ["run", "state", "step", "trained_seconds", "sessions", "last_wall_time"])
            self.assertEqual(table["run"].to_pylist(), [self.run])
            for tag, points in self.curves.items():
                self.assertEqual([repr(value) for value in table[tag].to_pylist()], [points[-1][2]])


class TensorboardX(Scalars, ExportTest):
    writer = tensorboardX.SummaryWriter


class Torch(Scalars, ExportTest):
    writer = torch.utils.tensorboard.SummaryWriter


class Restarts(ExportTest):
    def test_leave_the_points_that_tensorboard_keeps(self):
        for purge_step, scale in ((0, 1), (50, 2), (20, 3)):
            with torch.utils.tensorboard.SummaryWriter(
                    self.run, purge_step=purge_step, filename_suffix=f".{scale}") as writer:
                for step in range(purge_step, 100 // scale):
                    writer.add_scalar("loss", step * scale, step)
        kept = event_accumulator.EventAccumulator(self.run, size_guidance={"scalars": 0}).Reload()
        with open(self.export("--format", "json"), encoding="utf-8") as file:
            (points,) = json.load(file).values()
        self.assertEqual([(step, value) for _, step, value in points],
                         [(point.step, point.value) for point in kept.Scalars("loss")])


class Columns(ExportTest):
    POINTS = 300_000  # More than one of the tool's blocks.

    def test_hold_what_csv_holds(self):
        writer_program.run("curves", "compatible", self.run, 3, self.POINTS // 3)
        csv = pandas.read_csv(self.export("--format", "csv", "--layout", "long"))
        self.assertEqual(len(csv), self.POINTS)
        for file_format in ("parquet", "arrow"):
            table = self.columns(file_format, "--layout", "long").to_pandas()
            pandas.testing.assert_frame_equal(table, csv, check_dtype=False, check_exact=True)

    def test_are_there_without_a_row(self):
        with tensorboardX.SummaryWriter(self.run) as writer:
            writer.add_text("text", "no scalar", 0)
        for file_format in ("parquet", "arrow"):
            table = self.columns(file_format, "--layout", "long")
            self.assertEqual(table.column_names, ["run", "tag", "step", "wall_time", "value"])
            self.assertEqual(len(table), 0)


def columns_of_arrow(table):
    return dict(zip(table.column_names, (column.to_pylist() for column in table.columns)))


def columns_of_duckdb(relation):
    """By the columns' places: DuckDB renames those that differ only in case."""
    return [list(column) for column in zip(*relation.fetchall())]


class OtherReaders(ExportTest):
    """What pandas, polars, DuckDB and pyarrow read from the exports, with their default settings."""

    STEPS = [-2**63, -1, 0, 1, 2**53 + 1, 2**63 - 1]
    # Whole numbers until the last one, which a reader that guesses integers would reject or round.
    CURVES = {"loss": [0.0, 1.0, -3.0, 100000.0, 1e20, 0.5],
              "Loss": [1.0, math.nan, math.inf, -math.inf, -0.0, 2.0],
              "step": [float(number) for number in range(6)],
              "run": [0.25] * 6,
              'comma, "quote"': [1.5] * 6,
              "two\nlines": [2.5] * 6,
              "": [3.5] * 6}
    NAMES = ["", "Loss", 'comma, "quote"', "loss", "run", "step (2)", "two\nlines"]

    def setUp(self):
        super().setUp()
        self.write(self.run, self.CURVES, self.STEPS)

    @staticmethod
    def write(directory, curves, steps):
        with torch.utils.tensorboard.SummaryWriter(directory) as writer:
            for i, step in enumerate(steps):
                for tag, values in curves.items():
                    # torch replaces characters in tags, but not in an event.
                    value = Summary.Value(tag=tag, simple_value=values[i])
                    writer.file_writer.add_event(Event(summary=Summary(value=[value])), step, 1.7e9 + i)

    def assert_wide(self, names, columns):
        """`columns`: the steps and then those of NAMES, by place."""
        self.assertEqual(list(names), ["step", *self.NAMES])
        steps, *values = columns
        self.assertEqual(list(steps), self.STEPS)
        for name, column in zip(self.NAMES, values):
            expected = self.CURVES[name.removesuffix(" (2)")]
            self.assertEqual([repr(float(value)) for value in column],
                             [repr(as_float32(value)) for value in expected], name)

    def test_duckdb_finds_nan_in_parquet(self):
        # It takes the statistics of a file, which leave out NaN, for those of the column. To it NaN is the largest number.
        self.run = os.path.join(self.directory, "diverged")
        self.write(self.run, {"loss": [0.5, 0.25, math.nan]}, [0, 1, 2])
        for layout, column in (("wide", "loss"), ("long", "value")):
            rows = f"from read_parquet('{self.export('--format', 'parquet', '--layout', layout)}')"
            for condition in (f"isnan({column})", f"{column} > 1"):
                self.assertEqual(duckdb.sql(f"select step {rows} where {condition}").fetchall(), [(2,)], (layout, condition))
            self.assertTrue(math.isnan(duckdb.sql(f"select max({column}) {rows}").fetchall()[0][0]), layout)

    def test_wide_csv(self):
        path = self.export("--format", "csv")
        table = pandas.read_csv(path)
        self.assertEqual(table.columns[1], "Unnamed: 1")  # pandas' name for an empty one
        self.assert_wide(["step", "", *table.columns[2:]], [table[name] for name in table.columns])
        table = polars.read_csv(path)
        self.assertEqual(table.columns[3], 'comma, ""quote""')  # polars leaves doubled quotes in names
        self.assert_wide([name.replace('""', '"') for name in table.columns], table.get_columns())
        columns = columns_of_duckdb(duckdb.read_csv(path))
        self.assert_wide(["step", *self.NAMES], columns)
        table = columns_of_arrow(pyarrow.csv.read_csv(
            path, convert_options=pyarrow.csv.ConvertOptions(null_values=[""])))
        self.assert_wide(table, table.values())

    def test_wide_columns(self):
        for file_format in ("parquet", "arrow"):
            table = self.columns(file_format)
            columns = columns_of_arrow(table)
            self.assert_wide(columns, columns.values())
            self.assert_wide(["step", *self.NAMES], columns_of_duckdb(duckdb.from_arrow(table)))
        path = self.export("--format", "parquet")
        table = pandas.read_parquet(path)
        self.assert_wide(table.columns, [table[name] for name in table.columns])
        table = polars.read_parquet(path)
        self.assert_wide(table.columns, table.get_columns())
        self.assert_wide(["step", *self.NAMES], columns_of_duckdb(duckdb.read_parquet(path)))

    def assert_long(self, rows):
        """`rows`: run, tag, step, wall time, value."""
        curves = {}
        for run, tag, step, wall_time, value in rows:
            self.assertEqual(run, self.run)
            curves.setdefault(tag or "", []).append((step, wall_time, repr(float(value))))
        self.assertEqual(curves, {
            tag: [(step, 1.7e9 + i, repr(as_float32(values[i])))
                  for i, step in enumerate(self.STEPS)]
            for tag, values in self.CURVES.items()})

    def test_long_csv(self):
        path = self.export("--format", "csv", "--layout", "long")
        self.assert_long(pandas.read_csv(path, keep_default_na=False, na_values={"value": ["NaN"]})
                         .itertuples(index=False))
        self.assert_long(polars.read_csv(path).iter_rows())
        self.assert_long(duckdb.read_csv(path).fetchall())

    def test_long_columns(self):
        path = self.export("--format", "parquet", "--layout", "long")
        self.assert_long(pandas.read_parquet(path).itertuples(index=False))
        self.assert_long(polars.read_parquet(path).iter_rows())
        self.assert_long(duckdb.read_parquet(path).fetchall())

    def test_records(self):
        path = self.export("--format", "jsonl", "--tag", "^loss$")
        order = ["run", "tag", "step", "wall_time", "value"]
        self.CURVES = {"loss": self.CURVES["loss"]}
        self.assert_long(pandas.read_json(path, lines=True, convert_dates=False, precise_float=True)[order]
                         .itertuples(index=False))
        self.assert_long(polars.read_ndjson(path)[order].iter_rows())
        self.assert_long(duckdb.read_json(path).project(", ".join(order)).fetchall())

    def test_curves_of_one_path(self):
        below = os.path.join(self.run, "a")
        self.write(self.run, {"a/b": [1.0]}, [7])
        self.write(below, {"b": [2.0]}, [7])
        arguments = ("--tag", "b$")
        name = f"{self.run}/a/b"
        with open(self.export("--format", "json", *arguments), encoding="utf-8") as file:
            curves = json.load(file)
        self.assertEqual({key: points[0][2] for key, points in curves.items()},
                         {name: 1.0, f"{name} (2)": 2.0})
        expected = {"step": [7], name: [1.0], f"{name} (2)": [2.0]}
        path = self.export("--format", "csv", *arguments)
        self.assertEqual(pandas.read_csv(path).to_dict("list"), expected)
        self.assertEqual(polars.read_csv(path).to_dict(as_series=False), expected)
        self.assertEqual(columns_of_duckdb(duckdb.read_csv(path)), list(expected.values()))
        path = self.export("--format", "parquet", *arguments)
        self.assertEqual(pandas.read_parquet(path).to_dict("list"), expected)
        self.assertEqual(polars.read_parquet(path).to_dict(as_series=False), expected)


class Sparse(ExportTest):
    """Readers guess the type of a column from its first rows: polars from 100, DuckDB from 20480."""

    POINTS = 30_000

    def test_a_curve_that_is_0_for_long(self):
        OtherReaders.write(self.run, {"reward": [0.0] * (self.POINTS - 1) + [0.5]},
                           range(self.POINTS))
        for arguments in ([], ["--layout", "long"]):
            path = self.export("--format", "csv", *arguments)
            for column in (pandas.read_csv(path).iloc[:, -1], polars.read_csv(path).get_columns()[-1],
                           columns_of_duckdb(duckdb.read_csv(path))[-1]):
                self.assertEqual((len(column), list(column)[-2:]), (self.POINTS, [0.0, 0.5]))
        path = self.export("--format", "jsonl")
        for column in (pandas.read_json(path, lines=True)["value"], polars.read_ndjson(path)["value"],
                       [row[0] for row in duckdb.read_json(path).project("value").fetchall()]):
            self.assertEqual((len(column), list(column)[-2:]), (self.POINTS, [0.0, 0.5]))


class SteptapeWriter(ExportTest):
    def test_exports_the_same_json_as_the_tool(self):
        by_writer = os.path.join(self.directory, "by_writer.json")
        writer_program.run("json", self.run, by_writer)
        with open(by_writer, "rb") as file:
            expected = file.read()
        self.assertEqual(len(json.loads(expected)), 6)
        with open(self.export("--format", "json"), "rb") as file:
            self.assertEqual(file.read(), expected)

    def test_scalars_are_those_of_tensorboard(self):
        writer_program.run("curves", "compatible", self.run, 3, STEPS)
        run = plugin_event_accumulator.EventAccumulator(
            self.run, tensor_size_guidance={"scalars": 0}).Reload()
        with open(self.export("--format", "json"), encoding="utf-8") as file:
            curves = json.load(file)
        self.assertEqual(len(curves), 3)
        for key, points in curves.items():
            self.assertEqual(
                same((step, wall_time, value) for wall_time, step, value in points),
                same((point.step, point.wall_time, point.tensor_proto.float_val[0]
                      if point.tensor_proto.float_val else
                      float(memoryview(point.tensor_proto.tensor_content).cast("f")[0]))
                     for point in run.Tensors(key[len(self.run) + 1:])))


if __name__ == "__main__":
    unittest.main()
