#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.runs() gives the rows of `steptape runs` as a DataFrame."""

import math
import os
import subprocess
import sys
import tempfile
import unittest

import pandas
import torch.utils.tensorboard

import steptape


class OverviewTest(unittest.TestCase):
    def setUp(self):
        path = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        os.environ["PATH"] = os.path.dirname(os.environ["STEPTAPE_TOOL"]) + os.pathsep + path
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())
        for name, lr, losses in (("a", 0.1, [3, 1, 2]), ("b", 0.01, [4, math.nan])):
            with torch.utils.tensorboard.SummaryWriter(os.path.join(self.log_dir, name)) as writer:
                for step, loss in enumerate(losses):
                    writer.add_scalar("loss", loss, step, 1000 + step)
                writer.add_hparams({"lr": lr, "opt": "adam", "amp": True}, {}, run_name=".")

    def test_has_a_row_for_each_run(self):
        table = steptape.runs(self.log_dir, metrics=["loss", "loss:min"])
        self.assertEqual([os.path.basename(run) for run in table["run"]], ["a", "b"])
        self.assertEqual(list(table["hparams/lr"]), [0.1, 0.01])
        self.assertEqual(list(table["hparams/opt"]), ["adam", "adam"])
        self.assertEqual(list(table["loss:min"]), [1.0, 4.0])
        self.assertEqual(list(table["step"]), [2, 1])
        self.assertEqual(table["loss"][0], 2.0)
        self.assertTrue(math.isnan(table["loss"][1]))

    def test_leaves_out_what_does_not_fulfill_the_conditions(self):
        table = steptape.runs(self.log_dir, where=["lr<0.1"])
        self.assertEqual(list(table["hparams/lr"]), [0.01])
        self.assertEqual(len(steptape.runs([self.log_dir], run="a$")), 1)

    def write_run(self, name, hparams, scalars):
        with torch.utils.tensorboard.SummaryWriter(os.path.join(self.log_dir, name)) as writer:
            for tag, value in scalars.items():
                writer.add_scalar(tag, value, 3)
            writer.add_hparams(hparams, {}, run_name=".")

    def test_names_a_metric_anew_that_is_named_like_another_column(self):
        self.write_run("c", {"lr": 1.0}, {"step": 77, "run": 8, "hparams/lr": 9})
        with self.assertWarnsRegex(UserWarning, "tag 'step'.*in the column 'step \\(2\\)'") as warned:
            table = steptape.runs(os.path.join(self.log_dir, "c"))
        self.assertEqual(warned.filename, __file__)
        row = table.iloc[0]
        self.assertEqual((os.path.basename(row["run"]), row["step"], row["hparams/lr"]), ("c", 3, 1.0))
        self.assertEqual((row["run (2)"], row["step (2)"], row["hparams/lr (2)"]), (8.0, 77.0, 9.0))

    def test_is_written_with_the_types_of_the_hyperparameters(self):
        self.write_run("types/a", {"commit": "0012345", "amp": True, "note": "", "mixed": 1}, {"step": 1})
        self.write_run("types/b", {"commit": "12e4567", "amp": False, "mixed": "auto"}, {"step": 2})
        environment = {**os.environ, "STEPTAPE_PYTHON": sys.executable}
        for file_format, read in (("parquet", pandas.read_parquet), ("arrow", pandas.read_feather)):
            with self.subTest(format=file_format):
                path = os.path.join(self.log_dir, "table." + file_format)
                subprocess.run([os.environ["STEPTAPE_TOOL"], "runs", os.path.join(self.log_dir, "types"), "--format",
                                file_format, "--output", path], env=environment, check=True, stderr=subprocess.DEVNULL)
                table = read(path)
                self.assertEqual(table["hparams/commit"].tolist(), ["0012345", "12e4567"])
                self.assertEqual(table["hparams/amp"].tolist(), [True, False])
                self.assertEqual(table["hparams/mixed"].tolist(), ["1.0", "auto"])
                self.assertEqual(table["hparams/note"][0], "")
                self.assertTrue(pandas.isna(table["hparams/note"][1]))
                self.assertEqual(table["step"].tolist(), [3, 3])
                self.assertEqual(table["step (2)"].tolist(), [1.0, 2.0])

    def test_says_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, r'steptape.runs\(\): --metric: got "los".*expected "loss"'):
            steptape.runs(self.log_dir, metrics=["los"])
        with self.assertRaisesRegex(ValueError, 'got "O.05"; expected a number'):
            steptape.runs(self.log_dir, where=["lr<O.05"])
        with self.assertRaisesRegex(TypeError, "metrics: got the str 'loss'"):
            steptape.runs(self.log_dir, metrics="loss")
        with self.assertRaisesRegex(FileNotFoundError, "cannot find"):
            steptape.runs(os.path.join(self.log_dir, "missing"))
        with self.assertRaisesRegex(FileNotFoundError, "no event file"):
            steptape.runs(self.enterContext(tempfile.TemporaryDirectory()))

    def test_warns_of_damage_and_returns_the_rest(self):
        for entry in os.scandir(os.path.join(self.log_dir, "b")):
            with open(entry.path, "r+b") as file:
                file.seek(entry.stat().st_size // 2)
                file.write(bytes(8))
        with self.assertWarns(steptape.DamageWarning):
            table = steptape.runs(self.log_dir)
        self.assertEqual(len(table), 2)


if __name__ == "__main__":
    unittest.main()
