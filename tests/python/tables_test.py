#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of pandas, polars, pyarrow and DuckDB hold the columns of the series, bit for bit."""

import os
import sys
import tempfile
import unittest

import duckdb
import numpy as np
import pandas
import polars
import pyarrow

import logs
import steptape

COLUMNS = ["run", "tag", "step", "wall_time", "value"]


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        logs.write_all(cls.log_dir)
        cls.runs = steptape.read(cls.log_dir)
        scalars = list(cls.runs.series("scalars"))
        cls.expected = {
            "run": [each.run for each in scalars for _ in range(len(each))],
            "tag": [each.tag for each in scalars for _ in range(len(each))],
            "step": np.concatenate([each.steps for each in scalars]),
            "wall_time": np.concatenate([each.wall_times for each in scalars]),
            "value": np.concatenate([each.values for each in scalars]),
        }

    def check(self, columns):
        """columns: by name, as numpy arrays or lists."""
        self.assertEqual(list(columns), COLUMNS)
        self.assertGreater(len(self.expected["run"]), 60000)
        for name in ("run", "tag"):
            self.assertEqual(list(columns[name]), self.expected[name])
        for name in ("step", "wall_time", "value"):
            got = np.asarray(columns[name])
            self.assertEqual(got.dtype, self.expected[name].dtype)
            np.testing.assert_array_equal(got.view(np.int64), self.expected[name].view(np.int64))

    def test_pandas(self):
        table = self.runs.to_pandas()
        self.check({name: table[name].to_numpy() for name in table})
        self.assertEqual([str(table[name].dtype) for name in ("run", "tag")], ["category"] * 2)

    def test_pandas_may_be_written_to(self):
        table = self.runs["restarts"].to_pandas()
        table.loc[0, "value"] = 17.0
        self.assertEqual(table["value"][0], 17)

    def test_pandas_with_datetimes(self):
        table = self.runs.to_pandas(datetimes=True)
        self.assertEqual(str(table["wall_time"].dtype), "datetime64[ns]")
        seconds = table["wall_time"].to_numpy().view(np.int64) / 1e9
        np.testing.assert_allclose(seconds, self.expected["wall_time"], rtol=0, atol=1e-6)

    def test_pyarrow(self):
        table = self.runs.to_arrow()
        table.validate(full=True)
        self.check({name: table[name].to_numpy() for name in table.column_names})
        dictionary = pyarrow.dictionary(pyarrow.int32(), pyarrow.utf8())
        self.assertEqual([field.type for field in table.schema],
                         [dictionary, dictionary, pyarrow.int64(), pyarrow.float64(), pyarrow.float64()])
        self.assertFalse(any(field.nullable for field in table.schema))

    def test_polars(self):
        table = polars.DataFrame(self.runs)
        self.assertTrue(table.equals(self.runs.to_polars()))
        self.check({name: table[name].to_numpy() for name in table.columns})

    def test_duckdb(self):
        runs = self.runs  # DuckDB finds it by its name.
        table = duckdb.sql("select * from runs").fetchnumpy()
        self.assertIs(runs, self.runs)
        self.check({name: np.asarray(column) for name, column in table.items()})

    def test_pandas_from_arrow(self):
        table = pandas.DataFrame.from_arrow(self.runs)
        self.check({name: table[name].to_numpy() for name in table})

    def test_a_stream_that_nobody_reads_is_freed(self):
        capsule = self.runs.__arrow_c_stream__()
        self.assertIn("arrow_array_stream", repr(capsule))
        del capsule

    def test_every_stream_starts_anew(self):
        run = self.runs["restarts"]  # which has no NaN
        self.assertEqual(pyarrow.table(run), pyarrow.table(run))

    def test_a_stream_outlives_its_log(self):
        runs = steptape.read(os.path.join(self.log_dir, "restarts"))
        values = [value for series in runs.series("scalars") for value in series.values.tolist()]
        reader = pyarrow.RecordBatchReader.from_stream(runs)
        del runs
        self.assertEqual(reader.read_all()["value"].to_pylist(), values)

    def test_one_run_is_a_table_as_well(self):
        table = self.runs["restarts"].to_pandas()
        self.assertEqual(set(table["run"]), {"restarts"})
        self.assertEqual(set(table["tag"]), set(self.runs["restarts"].tags("scalars")))

    def test_without_scalars_tables_are_empty(self):
        runs = steptape.read(self.log_dir, tag="no such tag")
        self.assertEqual(list(runs.to_pandas()), COLUMNS)
        self.assertEqual((len(runs.to_pandas()), len(runs.to_polars()), runs.to_arrow().num_rows), (0, 0, 0))
        self.assertEqual(runs.to_pandas(pivot=True).shape, (0, 2))

    def test_wide_has_the_last_value_of_each_step(self):
        table = self.runs.to_pandas(pivot=True)
        last = {}
        for run, tag, step, value in zip(*(self.expected[name] for name in ("run", "tag", "step", "value"))):
            last[run, step, tag] = value
        found = {(run, step, tag): value
                 for tag in table.columns[2:]
                 for run, step, value in zip(table["run"], table["step"], table[tag])
                 if not np.isnan(value)}
        self.assertEqual(found, {place: value for place, value in last.items() if not np.isnan(value)})
        self.assertFalse(table.duplicated(["run", "step"]).any())

    def test_wide_is_sorted_by_run_and_step(self):
        table = self.runs.to_pandas(pivot=True)
        places = list(zip(table["run"].cat.codes, table["step"]))
        self.assertEqual(places, sorted(places))


class WithoutThePackages(unittest.TestCase):
    """Returns the error of a process that has only numpy."""

    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.runs = steptape.read(logs.one_run(cls.log_dir))

    def test_each_call_names_what_it_needs(self):
        for package, call in (("pandas", "to_pandas"), ("polars", "to_polars"), ("pyarrow", "to_arrow")):
            with self.subTest(package=package), hidden(package):
                with self.assertRaisesRegex(ImportError, rf"{call}\(\) needs {package}.*pip install {package}"):
                    getattr(self.runs, call)()


class hidden:
    """As if a package were not installed."""

    def __init__(self, package):
        self._package = package

    def __enter__(self):
        self._module = sys.modules.pop(self._package)
        sys.modules[self._package] = None

    def __exit__(self, *_):
        sys.modules[self._package] = self._module


if __name__ == "__main__":
    unittest.main()
