#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that is mirrored into a bucket of a real server has all its bytes there, and TensorBoard reads it there.

Environment: STEPTAPE_MIRROR_WRITER, the program mirror_writer.
"""

import json
import math
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import bucket_servers
from patience import PATIENCE_SECONDS
from tensorboard_server import TensorBoard

HOUR = 3_600_000  # of milliseconds: the mirror looks only when it must
PROGRAM = os.environ["STEPTAPE_MIRROR_WRITER"]


class Writer:
    """A running mirror_writer; a context manager that always ends it."""

    def __init__(self, directory, place, environment, period=HOUR):
        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([PROGRAM, directory, place, str(period)], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        self.began = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self._errors.close()

    def __call__(self, line):
        """What it answers."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def stats(self):
        return json.loads(self("stats"))

    def errors(self):
        return os.pread(self._errors.fileno(), 1 << 16, 0).decode()


class BucketCase(unittest.TestCase):
    Server = None  # of a subclass

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(cls.Server())
        cls.environment = os.environ | cls.server.environment

    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.run = self.directory / "lr=0.1+seed 1, 50%25"

    def place_of(self, name):
        return f"s3://{bucket_servers.BUCKET}/{self.id()}/{name}"

    def writer(self, run=None, place=None, period=HOUR, **changed):
        run = run or self.run
        place = place or self.place_of(run.name)
        return self.enterContext(Writer(run, place, self.environment | changed, period))

    def objects(self):
        """{path below the place of this test: bytes}."""
        start = self.id() + "/"
        with self.server.client() as client:
            listed = client.list_objects_v2(Bucket=bucket_servers.BUCKET, Prefix=start).get("Contents", [])
            return {entry["Key"].removeprefix(start):
                    client.get_object(Bucket=bucket_servers.BUCKET, Key=entry["Key"])["Body"].read()
                    for entry in listed}

    def files(self):
        """{path: bytes} of what is not hidden."""
        return {str(path.relative_to(self.directory)): path.read_bytes()
                for path in self.directory.rglob("*") if path.is_file() and not path.name.startswith(".")}

    def assert_whole(self):
        files = self.files()
        self.assertTrue(any("tfevents" in path for path in files), files.keys())
        self.assertEqual(self.objects(), files)

    def eventually(self, check):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not check():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)


class AnyServer(BucketCase):
    def test_has_all_bytes_at_the_end(self):
        writer = self.writer()
        self.assertEqual(writer.began, "ok")
        writer("write 20000")
        (self.run / "trace.json").write_text("[]")
        (self.run / "below").mkdir()
        (self.run / "below" / "a + b.txt").write_text("")
        self.assertEqual(writer("close"), "ok", writer.errors())
        self.assert_whole()
        stats = writer.stats()
        self.assertEqual(stats["late"], 0)
        self.assertEqual(writer.errors(), "")

    def test_grows_with_the_run(self):
        writer = self.writer(period=10)
        for _ in range(3):
            writer("write 500")
            self.assertEqual(writer("flush"), "ok")
            self.eventually(lambda: self.objects() == self.files())
        self.assertEqual(writer("close"), "ok")
        self.assert_whole()

    def test_gets_from_the_next_process_what_a_killed_one_left(self):
        writer = self.writer()
        writer("write 1000")
        self.assertEqual(writer("flush"), "ok")
        writer.process.kill()
        writer.process.wait()
        self.assertNotEqual(self.objects(), self.files())
        following = self.writer()
        following("write 1000")
        self.assertEqual(following("close"), "ok", following.errors())
        self.assert_whole()

    def test_has_all_bytes_when_sigterm_ends_the_process(self):
        writer = self.writer()
        writer("write 1000")
        writer.process.terminate()
        self.assertEqual(writer.process.wait(timeout=PATIENCE_SECONDS), -signal.SIGTERM, writer.errors())
        self.assert_whole()

    def test_replaces_nothing_of_another_job_with_the_same_place(self):
        jobs = [self.directory / name for name in ("one", "two")]
        for job in jobs:
            job.mkdir()
            (job / "notes.txt").write_text(f"of {job.name}")
        first = self.writer(jobs[0], self.place_of("one"))
        first("write 10")
        self.eventually(lambda: len(self.objects()) == 2)
        second = self.writer(jobs[1], self.place_of("one"))
        second("write 10")
        self.assertEqual(first("close"), "ok")
        closed = second("close")
        self.assertIn("lacks 1 file with 6 bytes", closed)
        self.assertIn("notes.txt is not replaced by ", closed)
        self.assertRegex(second.errors(), r"got \d+ event files? that ")
        objects = {path.split("/")[-1]: content for path, content in self.objects().items()}
        self.assertEqual(objects.pop("notes.txt"), b"of one")
        self.assertEqual(sorted(objects.values()),
                         sorted(content for path, content in self.files().items() if "tfevents" in path))

    def test_says_that_there_is_no_such_bucket(self):
        writer = self.writer(place="s3://nobodys-bucket/runs")
        writer("write 10")
        closed = writer("close")
        self.assertIn("the mirror s3://nobodys-bucket/runs lacks 1 file", closed)
        self.assertIn("404 NoSuchBucket", closed)


class Rclone(AnyServer):
    Server = bucket_servers.Rclone

    def test_says_what_is_wrong_with_keys(self):
        for name, value, expected in (("AWS_SECRET_ACCESS_KEY", "x", "SignatureDoesNotMatch"),
                                      ("AWS_ACCESS_KEY_ID", "x", "InvalidAccessKeyId"),
                                      ("AWS_ACCESS_KEY_ID", "", "AWS_SECRET_ACCESS_KEY without AWS_ACCESS_KEY_ID")):
            with self.subTest(expected=expected):
                writer = self.writer(self.directory / expected, **{name: value})
                writer("write 10")
                self.assertIn(expected, writer("close"))
        self.assertEqual(len(self.files()), 3, "the runs are whole on the disk")
        self.assertEqual(self.objects(), {})

    def test_takes_the_time_of_the_server(self):
        for ahead in (20 * 60, -20 * 60):
            with self.subTest(ahead=ahead):
                writer = self.writer(self.directory / str(ahead), CLOCK_SECONDS_AHEAD=str(ahead))
                writer("write 10")
                self.assertEqual(writer("close"), "ok", writer.errors())
        self.assert_whole()


class Moto(AnyServer):
    Server = bucket_servers.Moto

    def test_is_what_tensorboard_shows(self):
        points = 50
        writers = [self.writer(self.directory / name) for name in ("a b", "c=1")]
        for writer in writers:
            writer(f"write {points}")
        self.assertEqual(writers[0]("close"), "ok")
        with unittest.mock.patch.dict(os.environ, self.server.environment | {"S3_ENDPOINT": self.server.url}), \
                TensorBoard(f"s3://{bucket_servers.BUCKET}/{self.id()}", fast=False) as tensorboard:
            def shown():
                runs = tensorboard.get("plugin/scalars/tags")
                self.assertEqual({run: list(tags) for run, tags in runs.items()},
                                 {name: ["loss"] for name in names}, tensorboard.log())
                for name in names:
                    series = tensorboard.get("plugin/scalars/scalars", run=name, tag="loss")
                    self.assertEqual([step for _, step, _ in series], list(range(points)))
                    for _, step, value in series:
                        self.assertAlmostEqual(value, math.exp(-0.001 * step), places=6)

            names = ["a b"]
            tensorboard.eventually(shown)
            self.assertEqual(writers[1]("close"), "ok")
            names = ["a b", "c=1"]
            tensorboard.eventually(shown)


class SecureRclone(BucketCase):
    Server = bucket_servers.SecureRclone

    def test_is_used_only_with_a_certificate_that_is_known(self):
        stranger = self.writer()
        stranger("write 10")
        self.assertRegex(stranger("close"), "(?i)certificate")
        friend = self.writer(self.directory / "friend", AWS_CA_BUNDLE=self.server.certificate)
        friend("write 10")
        self.assertEqual(friend("close"), "ok", friend.errors())
        # The client of objects() would need the certificate too.
        directory = pathlib.Path(self.server.directory) / self.id() / "friend"
        self.assertEqual([path.read_bytes() for path in directory.iterdir()],
                         [content for path, content in self.files().items() if path.startswith("friend/")])


del AnyServer, BucketCase  # their tests are those of the servers

if __name__ == "__main__":
    unittest.main()
