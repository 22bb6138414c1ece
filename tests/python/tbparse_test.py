#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.compat.tbparse returns the same tables as tbparse."""

import functools
import os
import shutil
import tempfile
import unittest
import warnings

import numpy as np
import tbparse

import logs
from steptape.compat.tbparse import SummaryReader

# Its pictures and sounds need TensorFlow.
KINDS = ("scalars", "tensors", "histograms", "text", "hparams")
EVERY_COLUMN = frozenset({"dir_name", "file_name", "wall_time", "min", "max", "num", "sum", "sum_squares"})
# Where tbparse fails; and steps that go back, which it compares with the largest one before.
RESTARTED = ("full", "large", "late_start", "restarts", "versions", "start_in_version_1", "no_version",
             "tag_twice", "cpp/compatible/restarted", "cpp/tensor/restarted")
UNREADABLE = ("new_style", "torch/tensors", "steps_back")


def plain(cell):
    """Cells that are equal where the values are: arrays and lists as tuples, NaN as text."""
    if isinstance(cell, (np.ndarray, list, tuple)):
        return tuple(plain(each) for each in cell)
    return "nan" if isinstance(cell, float) and cell != cell else cell


def in_any_order(cell):
    """Several values of one step come in the order of the files' tags there, and of tags' names here."""
    return sorted(cell, key=repr) if isinstance(cell, tuple) else cell


def rows(table):
    return [tuple(plain(cell) for cell in row) for row in table.itertuples(index=False)]


class SameAsTbparse(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        logs.write_all(cls.log_dir)
        # Two forms under one tag: over there half of the values are among the tensors.
        for form in ("compatible", "tensor"):
            for run in ("mixed", "resumed_in_the_other_form"):
                shutil.rmtree(f"{cls.log_dir}/cpp/{form}/{run}")
        cls.runs = [run for run in map(lambda run: logs.run_name(run, cls.log_dir),
                                       logs.run_directories(cls.log_dir)) if run not in UNREADABLE]

    def setUp(self):
        self.enterContext(warnings.catch_warnings(action="ignore"))  # of pandas

    def path(self, run):
        return os.path.join(self.log_dir, run)

    @classmethod
    @functools.lru_cache(maxsize=None)
    def readers(cls, run, pivot=False, extra_columns=frozenset()):
        """One of each, kept because tbparse takes long."""
        return [reader(os.path.join(cls.log_dir, run), pivot=pivot, extra_columns=set(extra_columns))
                for reader in (SummaryReader, tbparse.SummaryReader)]

    def tables(self, run, kind, **options):
        return [getattr(reader, kind) for reader in self.readers(run, **options)]

    def check(self, run, kind, **options):
        """Compares the rows of all tags that both have in a table of that kind."""
        got, expected = self.tables(run, kind, **options)
        if len(got) == 0 or len(expected) == 0:
            self.check_tags(run, kind, got, expected)
            return 0
        self.assertEqual(list(got.columns), list(expected.columns))
        both = set(got["tag"]) & set(expected["tag"])
        self.check_tags(run, kind, got, expected)
        got, expected = (table[[tag in both for tag in table["tag"]]] for table in (got, expected))
        self.assertEqual(rows(got), rows(expected))
        return len(expected)

    def check_tags(self, run, kind, got, expected):
        """Values written as tensors are in the table of their kind, not among tensors."""
        got, expected = (set(table["tag"]) if len(table) else set() for table in (got, expected))
        if kind == "tensors":
            tags = SummaryReader(self.path(run)).tags
            others = {tag for other in ("scalars", "histograms", "images", "audio") for tag in tags[other]}
            others |= {tag for tag in expected if tag.startswith("_hparams_")}
            self.assertLessEqual(got, expected)
            self.assertLessEqual(expected - got, others)
        elif kind in ("scalars", "histograms"):
            self.assertLessEqual(expected, got)
        else:
            self.assertEqual(expected, got)

    def check_runs(self, kind, **options):
        compared = 0
        for run in self.runs:
            # Over there a restart takes back no tensors.
            if kind not in ("tensors", "text") or run not in RESTARTED:
                with self.subTest(run=run, kind=kind):
                    compared += self.check(run, kind, **options)
        self.assertGreater(compared, 5, kind)

    def test_gives_the_same_rows(self):
        for kind in KINDS:
            self.check_runs(kind, extra_columns=EVERY_COLUMN)

    def test_gives_the_same_rows_of_a_tree_of_directories(self):
        for kind in ("scalars", "text"):
            for extra in ((), ("dir_name", "wall_time")):
                with self.subTest(kind=kind, extra=extra):
                    self.assertGreater(self.check("cpp/compatible", kind, extra_columns=extra), 2)

    def check_wide(self, run, kind, **options):
        got, expected = self.tables(run, kind, pivot=True, **options)
        self.assertEqual(list(got.columns), list(expected.columns))
        for row, (mine, other) in enumerate(zip(rows(got), rows(expected), strict=True)):
            self.assertEqual(tuple(map(in_any_order, mine)), tuple(map(in_any_order, other)), row)

    def test_gives_the_same_wide_tables(self):
        for run in ("cpp/compatible/sub_runs", "cpp/compatible/restarted"):
            for extra in ((), ("dir_name",), ("file_name", "wall_time")):
                with self.subTest(run=run, extra=extra):
                    self.check_wide(run, "scalars", extra_columns=extra)
        self.check_wide("cpp/compatible/texts", "text")
        self.check_wide("cpp/compatible/histograms", "histograms")

    def test_lists_the_same_tags(self):
        for run in ("cpp/compatible", "torch/trials"):
            got, expected = (reader.tags for reader in self.readers(run, extra_columns=()))
            for kind in ("scalars", "text", "hparams"):
                self.assertEqual(set(got[kind]), set(expected[kind]))

    def test_decodes_pictures(self):
        table = SummaryReader(self.path("cpp/compatible/images"), extra_columns={"width", "height"}).images
        self.assertGreater(len(table), 5)
        for tag, pixels, width, height in zip(table["tag"], table["value"], table["width"], table["height"]):
            self.assertEqual(pixels.shape[:2], (height, width))
            self.assertEqual(pixels.dtype, np.uint8)

    def test_decodes_sounds(self):
        table = SummaryReader(self.path("cpp/compatible/sounds"),
                              extra_columns={"sample_rate", "length_frames", "content_type"}).audio
        for samples, frames in zip(table["value"], table["length_frames"]):
            self.assertEqual(len(samples), frames)
            self.assertLessEqual(np.abs(samples).max(), 1)
        self.assertEqual(set(table["content_type"]), {"audio/wav"})

    def test_computes_the_same_from_histograms(self):
        counts, limits = np.array([0, 3, 0, 5, 2]), np.array([-1, 0, 0.5, 2, 2.5])
        x = np.linspace(-2, 3, 11)
        mine, other = SummaryReader, tbparse.SummaryReader
        np.testing.assert_allclose(mine.histogram_to_cdf(counts, limits, x),
                                   other.histogram_to_cdf(counts, limits, x))
        for got, expected in zip(mine.histogram_to_pdf(counts, limits, x),
                                 other.histogram_to_pdf(counts, limits, x)):
            np.testing.assert_allclose(got, expected)
        for bounds in ((-1, 2.5, 7), (-3, 4, 5), (None, None, 30), (1, 1, 4)):
            for got, expected in zip(mine.histogram_to_bins(counts, limits, *bounds),
                                     other.histogram_to_bins(counts, limits, *bounds)):
                np.testing.assert_allclose(got, expected, atol=1e-12, err_msg=str(bounds))
        rows = np.array([[0, 1, 2], [1, 3, 4]])
        for name, expected in other.tensor_to_histogram(rows).items():
            np.testing.assert_array_equal(mine.tensor_to_histogram(rows)[name], expected)

    def test_gives_the_same_raw_events(self):
        directory = self.path("compatible")
        path = os.path.join(directory, os.listdir(directory)[0])
        got, expected = (reader(path) for reader in (SummaryReader, tbparse.SummaryReader))
        self.assertEqual(got.raw_tags.keys(), expected.raw_tags.keys())
        mine, other = got.raw_events, expected.raw_events
        self.assertEqual(mine.keys(), other.keys())
        for kind, events_of in other.items():
            self.assertEqual(mine[kind].keys(), events_of.keys())
        for tag, events in other["scalars"].items():
            self.assertEqual([plain(tuple(each)) for each in mine["scalars"][tag]],
                             [plain((each.wall_time, each.step, each.value)) for each in events])

    def test_has_the_same_children(self):
        got, expected = self.readers("cpp/compatible", extra_columns=())
        self.assertEqual(list(got.children), list(expected.children))
        with self.assertRaises(ValueError):
            got.get_raw_tags()

    def test_raises_the_same_errors(self):
        for reader in (SummaryReader, tbparse.SummaryReader):
            with self.assertRaises(ValueError):
                reader(self.path("no such directory"))
            with self.assertRaises(KeyError):
                reader(self.path("compatible"), extra_columns={"no such column"})
            with self.assertRaises(KeyError):
                reader(self.path("compatible"), event_types={"no such kind"})
            with self.assertRaises(ValueError):
                reader(self.path("compatible"), event_types={"text"}).scalars


if __name__ == "__main__":
    unittest.main()
