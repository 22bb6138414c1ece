#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input and failures: each has a defined result and a message that explains what to do."""

import _thread
import collections
import contextlib
import io
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np

import logs
import reader_runs
import steptape
from steptape import _core


def only_file(directory):
    (name,) = os.listdir(directory)
    return os.path.join(directory, name)


class Trouble(unittest.TestCase):
    def setUp(self):
        self.log_dir = self.enterContext(tempfile.TemporaryDirectory())

    def write(self, name, *events):
        reader_runs.Run(self.log_dir, name).file(reader_runs.version(2), *events)

    def read_quietly(self):
        """Reads, and fails at a warning."""
        with warnings.catch_warnings(action="error"):
            return steptape.read(self.log_dir)


class Paths(Trouble):
    def test_one_that_does_not_exist_is_not_found(self):
        path = os.path.join(self.log_dir, "no such")
        with self.assertRaisesRegex(FileNotFoundError, "no such log directory or event file: .*no such"):
            steptape.read(path)

    def test_a_directory_without_events_is_empty_and_warned_of(self):
        with self.assertWarnsRegex(steptape.EmptyLogWarning, r"got no event file in or below .*expected"):
            runs = steptape.read(self.log_dir)
        self.assertEqual((len(runs), runs.damage, len(runs.to_pandas())), (0, [], 0))

    def test_a_filter_that_leaves_nothing_is_named(self):
        logs.one_run(self.log_dir)
        with self.assertWarnsRegex(steptape.EmptyLogWarning, "run that matches 'resnet'"):
            self.assertEqual(len(steptape.read(self.log_dir, run="resnet")), 0)

    def test_names_that_are_not_utf_8_are_read(self):
        encoded = os.path.join(os.fsencode(self.log_dir), b"run\xe9")
        logs.one_run(os.fsdecode(encoded))
        runs = steptape.read(self.log_dir)
        self.assertEqual([os.fsencode(name) for name in runs], [b"run\xe9"])
        self.assertEqual(len(steptape.read(os.fsdecode(encoded))), 1)
        self.assertEqual(set(runs.to_arrow()["run"].to_pylist()), {"run\ufffd"})

    def test_wrong_arguments_say_what_was_expected(self):
        logs.one_run(self.log_dir)
        for arguments, message in (({"threads": 0}, "got 0; expected at least 1"),
                                   ({"purge": "all"}, "got 'all'; expected 'restarts', ")):
            with self.assertRaisesRegex(ValueError, message):
                steptape.read(self.log_dir, **arguments)


class Numbers(Trouble):
    def test_nan_and_infinities_pass_through(self):
        unusual = [float("nan"), float("inf"), float("-inf"), -0.0]
        self.write("run", *(reader_runs.event(step, reader_runs.scalar("x", number))
                            for step, number in enumerate(unusual)))
        runs = self.read_quietly()
        for values in (runs["run"]["x"].values, runs.to_pandas()["value"].to_numpy(),
                       runs.to_pandas(pivot=True)["x"].to_numpy()):
            np.testing.assert_array_equal(values, unusual)
            self.assertTrue(np.signbit(values[3]))

    def test_steps_beyond_2_to_the_53_are_exact(self):
        steps = [2 ** 53 + 1, 2 ** 53 + 2, 2 ** 62 + 1, 2 ** 63 - 1]
        self.write("run", *(reader_runs.event(step, reader_runs.scalar("x", 1)) for step in steps))
        runs = self.read_quietly()
        for column in (runs["run"]["x"].steps, runs.to_pandas()["step"], runs.to_arrow()["step"].to_numpy(),
                       runs.to_pandas(pivot=True)["step"]):
            self.assertEqual(column.tolist(), steps)


class Files(Trouble):
    def test_what_is_intact_of_a_damaged_file_is_read(self):
        logs.one_run(self.log_dir, tags=1, steps=1000)
        with open(only_file(self.log_dir), "r+b") as file:
            file.seek(20000)
            file.write(b"\0" * 8)
        with self.assertWarnsRegex(steptape.DamageWarning, "1 damaged places.*Runs.damage"):
            runs = steptape.read(self.log_dir)
        (damage,) = runs.damage
        self.assertEqual((damage.kind, damage.path), ("corrupt", only_file(self.log_dir)))
        self.assertLessEqual(damage.offset, 20000)
        self.assertGreater(damage.offset + damage.bytes, 20000)
        self.assertIn(len(runs["."]["curve/100"]), (998, 999))

    def test_an_end_inside_a_record_is_no_warning(self):
        logs.one_run(self.log_dir, tags=1, steps=1000)
        os.truncate(only_file(self.log_dir), os.path.getsize(only_file(self.log_dir)) - 5)
        runs = self.read_quietly()
        self.assertEqual([damage.kind for damage in runs.damage], ["truncated"])
        self.assertEqual(len(runs["."]["curve/100"]), 999)

    def test_a_value_whose_file_is_gone_raises(self):
        self.write("run", reader_runs.event(0, reader_runs.image("picture", b"PNG")))
        runs = self.read_quietly()
        shutil.rmtree(os.path.join(self.log_dir, "run"))
        with self.assertRaisesRegex(OSError, "run/events.out"):
            runs["run"]["picture"].values[0]

    def test_a_value_of_another_kind_raises(self):
        self.write("run", reader_runs.event(0, reader_runs.tensor(
            "picture", np.arange(2.0), reader_runs.metadata_of("images"))))
        with self.assertRaisesRegex(steptape.DataError, "images: got element type 2; expected"):
            self.read_quietly()["run"]["picture"].values[0]

    def test_an_index_beyond_the_last_raises(self):
        self.write("run", reader_runs.event(0, reader_runs.image("picture", b"PNG")))
        values = self.read_quietly()["run"]["picture"].values
        self.assertEqual(values[-1].encoded, (b"PNG",))
        self.assertEqual(values[1:], [])
        for index in (1, -2):
            with self.assertRaisesRegex(IndexError, f"'picture': got index {index}; expected one of 1 values"):
                values[index]


class Sizes(Trouble):
    def test_a_run_of_100_000_tags(self):
        logs.one_run(self.log_dir, tags=100_000, steps=2)
        runs = self.read_quietly()
        self.assertEqual((len(runs["."]), len(runs.to_pandas())), (100_000, 200_000))
        table = runs.to_pandas()
        self.assertEqual(table["tag"].iloc[-1], list(runs["."])[-1])
        self.assertEqual(runs.to_arrow()["tag"].to_pylist(), table["tag"].tolist())
        self.assertEqual(runs.to_pandas(pivot=True).shape, (2, 100_002))

    def test_many_small_files(self):
        logs.one_run(os.path.join(self.log_dir, "0"), tags=1, steps=3)
        file = only_file(os.path.join(self.log_dir, "0"))
        for i in range(1, 3000):
            os.mkdir(os.path.join(self.log_dir, str(i)))
            shutil.copy(file, os.path.join(self.log_dir, str(i)))
        runs = self.read_quietly()
        self.assertEqual((len(runs), len(runs.to_pandas())), (3000, 9000))
        self.assertLess(len(os.listdir("/proc/self/fd")), 100)  # none stays open


class GrowingLogs(Trouble):
    """A file that grows while it is read."""

    def setUp(self):
        super().setUp()
        self.source = self.enterContext(tempfile.TemporaryDirectory())
        logs.one_run(self.source, tags=2, steps=1000)
        with open(only_file(self.source), "rb") as file:
            self.content = file.read()
        self.path = os.path.join(self.log_dir, "run", os.path.basename(only_file(self.source)))
        self.written = 0

    def grow(self, end):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "ab") as file:
            file.write(self.content[self.written:end])
        self.written = end

    def test_are_followed_point_by_point(self):
        follower = steptape.follow(os.path.join(self.log_dir, "run"), tag="100")
        self.assertEqual(follower.update(), [])  # no directory yet
        steps, parts = [], []
        for end in (3, 100, 20001, 20002, 30000, len(self.content)):
            self.grow(end)
            new = follower.update()
            self.assertLessEqual(len(new), 1)
            for series in new:
                self.assertEqual((series.tag, series.kind), ("curve/100", "scalars"))
                steps += series.steps.tolist()
                parts.append(series)
        self.assertEqual(follower.update(), [])
        expected = steptape.read(self.source)["."]["curve/100"]
        self.assertEqual(steps, expected.steps.tolist())
        # The first points have not changed, although the columns have grown since.
        np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), expected.values)

    def test_are_followed_from_their_start_after_they_were_written_anew(self):
        follower = steptape.follow(os.path.join(self.log_dir, "run"), tag="100")
        self.grow(20001)
        follower.update()
        other = self.enterContext(tempfile.TemporaryDirectory())
        logs.one_run(other, tags=2, steps=1000)
        with open(only_file(other), "rb") as file, open(self.path, "wb") as replaced:
            replaced.write(file.read())
        with self.assertWarnsRegex(steptape.ReplacedFileWarning, re.escape(self.path)) as caught:
            (series,) = follower.update()
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(series.steps.tolist(), list(range(1000)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(follower.update(), [])

    def test_name_damage_once_while_they_are_followed(self):
        follower = steptape.follow(self.log_dir)
        self.content = b"damaged!" + self.content
        self.grow(20001)
        with self.assertWarnsRegex(steptape.DamageWarning, "steptape.follow.*the rest is read"):
            self.assertNotEqual(follower.update(), [])
        self.grow(30000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertNotEqual(follower.update(), [])

    def test_can_be_iterated_over(self):
        self.grow(len(self.content))
        follower = iter(steptape.follow(self.log_dir))
        self.assertEqual([next(follower).tag for _ in range(2)], ["curve/100", "curve/101"])

    def test_do_not_change_what_was_read(self):
        self.grow(20001)
        runs = self.read_quietly()
        before = runs["run"]["curve/100"].values.tolist()
        self.grow(len(self.content))
        self.assertEqual(runs["run"]["curve/100"].values.tolist(), before)
        self.assertEqual(len(self.read_quietly()["run"]["curve/100"]), 1000)


class Threads(Trouble):
    """update() without the GIL. `wants` is called inside it, holding the GIL; a long switch interval
    keeps other threads from running before it is released."""

    def setUp(self):
        super().setUp()
        logs.one_run(self.log_dir, tags=10, steps=200_000)  # 43 MB: several reports of progress
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1000)
        self.inside = threading.Event()
        self.log = _core.Log(os.fsencode(self.log_dir), wants=lambda _: self.inside.set() or True)
        self.addCleanup(delattr, self, "log")  # A cycle that Python's collector does not see.

    def update_beside(self, work):
        """Updates the log; `work` runs on another thread as soon as the GIL is free."""
        def wait_and_work():
            self.inside.wait()
            work()

        thread = threading.Thread(target=wait_and_work)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.inside.set)
        self.log.update()

    def test_run_while_one_reads(self):
        ran = []
        self.update_beside(lambda: ran.append("other thread"))
        self.assertEqual(ran, ["other thread"])

    def test_may_all_read(self):
        tables = [None] * 4

        def read(i):
            tables[i] = steptape.read(self.log_dir, threads=2).to_pandas()

        sys.setswitchinterval(0.005)
        threads = [threading.Thread(target=read, args=(i,)) for i in range(len(tables))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for table in tables[1:]:
            self.assertTrue(table.equals(tables[0]))

    def test_ctrl_c_ends_a_read(self):
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        # Calls interrupt_main(), and no Python code in which the interrupt would be noticed.
        press_ctrl_c = collections.defaultdict(_thread.interrupt_main).__getitem__
        log = _core.Log(os.fsencode(self.log_dir), threads=1)
        with self.assertRaises(KeyboardInterrupt):
            log.update(press_ctrl_c)
        # The interrupted read kept nothing of the file, so it was not finished.
        self.assertEqual(log.update(), os.path.getsize(only_file(self.log_dir)))

    def test_an_exception_of_progress_ends_a_read_and_the_next_one_reads_all(self):
        def stop(_):
            raise RuntimeError("stop")

        log = _core.Log(os.fsencode(self.log_dir), threads=2)
        with self.assertRaisesRegex(RuntimeError, "stop"):
            log.update(stop)
        self.assertEqual(log.update(), os.path.getsize(only_file(self.log_dir)))
        (run,) = log.runs()
        self.assertEqual([len(series) for series in run.series()], [200_000] * 10)


class Progress(Trouble):
    def test_ends_with_all_bytes(self):
        logs.one_run(self.log_dir, tags=10, steps=100_000)
        size = os.path.getsize(only_file(self.log_dir))
        calls = []
        steptape.read(self.log_dir, threads=1, progress=lambda *call: calls.append(call))
        self.assertEqual({total for _, total in calls}, {size})
        self.assertEqual(sorted(calls), calls)

    def test_says_nothing_where_nobody_watches(self):
        logs.one_run(self.log_dir, tags=1, steps=10)
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            steptape.read(self.log_dir)
        self.assertEqual(stream.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
