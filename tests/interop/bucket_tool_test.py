# SPDX-License-Identifier: Apache-2.0
"""The tool reads runs in a bucket as it reads them on the disk, and brings them there and back.

Environment: STEPTAPE_TOOL and, where it is built, STEPTAPE_DATA_SERVER: the programs.
"""

import contextlib
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import tensorboardX

import bucket_servers
import server_calls
from data_server import DataServer
from patience import PATIENCE_SECONDS

TOOL = os.environ["STEPTAPE_TOOL"]
NAMES = ("lr=0.1+seed 1", "50%25 done")  # of runs: what URLs and signatures write otherwise


def write_run(directory, points, start=0):
    # The suffix: files of one second would have one name.
    with contextlib.closing(tensorboardX.SummaryWriter(str(directory), filename_suffix=f".{start}")) as writer:
        for step in range(start, start + points):
            writer.add_scalar("loss", 1 / (step + 1), step)


class BucketCase(unittest.TestCase):
    Server = None  # of a subclass

    @classmethod
    def setUpClass(cls):
        if cls.Server is None:
            raise unittest.SkipTest("has no server")
        cls.server = cls.enterClassContext(cls.Server())

    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.copies = self.scratch / "copies"
        self.copies.mkdir()
        self.environment = os.environ | self.server.environment | {"TMPDIR": str(self.copies), "LC_ALL": "C.UTF-8"}
        self.place = f"s3://{bucket_servers.BUCKET}/{self.id()}"

    def tool(self, *arguments, exit_code=0, **changed):
        result = subprocess.run([TOOL, *map(str, arguments)], cwd=self.scratch, env=self.environment | changed,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE_SECONDS, text=True)
        self.assertEqual(result.returncode, exit_code, result.stdout + result.stderr)
        return result

    def sync(self, *arguments, exit_code=0):
        return json.loads(self.tool("sync", *arguments, "--json", exit_code=exit_code).stdout)

    def two_runs(self):
        for points, name in enumerate(NAMES, 3):
            write_run(self.scratch / "runs" / name, points)

    def keys(self):
        """The names of objects below the place of this test."""
        with self.server.client() as client:
            start = self.id() + "/"
            objects = client.list_objects_v2(Bucket=bucket_servers.BUCKET, Prefix=start).get("Contents", [])
            return sorted(entry["Key"].removeprefix(start) for entry in objects)


class AnyServer(BucketCase):
    def test_shows_a_bucket_as_it_shows_the_disk(self):
        self.two_runs()
        self.sync("runs", self.place)
        for command in (["inspect", "--json"], ["inspect"], ["export", "--format", "csv"], ["check"],
                        ["check", "--values"], ["tail", "--once"]):
            with self.subTest(command=command):
                local = self.tool(*command, "runs").stdout
                remote = self.tool(*command, self.place).stdout
                self.assertIn(NAMES[0], remote)
                # Names are longer, so that tables have other widths.
                self.assertEqual(remote.replace(self.place, "runs").split(), local.split())

    def test_names_the_bucket_in_what_it_says_of_damage(self):
        write_run(self.scratch / "run", 3)
        event_file, = glob.glob("*tfevents*", root_dir=self.scratch / "run")
        content = bytearray((self.scratch / "run" / event_file).read_bytes())
        content[-1] ^= 255
        (self.scratch / "run" / event_file).write_bytes(content)
        self.sync("run", self.place)
        for command in (["inspect"], ["inspect", "--json"], ["runs"], ["check", "--json"], ["tail", "--once"], ["plot"],
                        ["export"], ["rewrite", "--output", "new"]):
            with self.subTest(command=command):
                result = self.tool(*command, self.place, exit_code=1)
                self.assertIn(f"{self.place}/{event_file}", result.stdout + result.stderr)
                self.assertNotIn(str(self.copies), result.stdout + result.stderr)

    def test_names_the_bucket_of_an_object_that_was_replaced(self):
        write_run(self.scratch / "run", 3)
        self.sync("run", self.place)
        name, = self.keys()
        reader = subprocess.Popen([TOOL, "tail", self.place], cwd=self.scratch, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with reader:
            reader.stdout.readline()
            content = (self.scratch / "run" / name).read_bytes()
            with self.server.client() as client:
                client.put_object(Bucket=bucket_servers.BUCKET, Key=f"{self.id()}/{name}", Body=content[:100])
            self.assertIn(f"note: {self.place}/{name} was truncated or replaced", reader.stderr.readline())
            reader.terminate()

    def test_says_where_the_copy_of_a_bucket_has_no_room(self):
        write_run(self.scratch / "run", 30)
        self.sync("run", self.place)
        # Of files of 512 bytes at most the copy is none.
        limited = "trap '' XFSZ; ulimit -f 1; exec \"$@\""
        result = subprocess.run(["sh", "-c", limited, "sh", TOOL, "inspect", self.place], cwd=self.scratch,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                timeout=PATIENCE_SECONDS, text=True)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr,
                         f"cannot copy to {self.copies}/[^/]*: {re.escape(self.place)}/.*: File too large")

    def test_compares_a_run_in_a_bucket_with_one_on_the_disk(self):
        write_run(self.scratch / "run", 3)
        self.sync("run", self.place)
        self.tool("diff", self.place, "run")
        write_run(self.scratch / "run", 1, start=3)
        self.tool("diff", self.place, "run", exit_code=1)

    def test_brings_what_is_new_there_and_back(self):
        self.two_runs()
        first = self.sync("runs", self.place)
        self.assertEqual((first["files"], first["changed"]), (2, 2))
        self.assertEqual(self.sync("runs", self.place)["changed"], 0)
        write_run(self.scratch / "runs" / NAMES[0], 2, start=3)
        self.assertEqual(self.sync("runs", self.place)["changed"], 1)

        self.assertEqual(self.sync(self.place, "back")["changed"], 3)
        self.assertEqual(self.sync(self.place, "back")["changed"], 0)
        self.assertEqual(self.files("back"), self.files("runs"))

    def files(self, directory):
        """{path: bytes} of what is not hidden."""
        paths = glob.glob("**/*", root_dir=self.scratch / directory, recursive=True)
        return {path: (self.scratch / directory / path).read_bytes() for path in paths
                if (self.scratch / directory / path).is_file()}

    def test_leaves_checkpoints_and_hidden_files_on_the_disk(self):
        write_run(self.scratch / "run", 1)
        for name in ("checkpoint_7.pt", "model.safetensors", ".hidden"):
            (self.scratch / "run" / name).write_bytes(b"large")
        (self.scratch / "run" / "settings.json").write_text("{}")
        self.sync("run", self.place)
        event_file, = glob.glob("*tfevents*", root_dir=self.scratch / "run")
        self.assertEqual(self.keys(), [event_file, "settings.json"])

    def test_replaces_nothing_of_another_directory(self):
        for directory, text in (("one", "first"), ("two", "other")):
            (self.scratch / directory).mkdir()
            (self.scratch / directory / "notes.txt").write_text(text)
        self.sync("one", self.place)
        problem, = self.sync("two", self.place, exit_code=1)["problems"]
        self.assertIn(f"{self.place}/notes.txt is not replaced by two/notes.txt", problem)
        problem, = self.sync(self.place, "two", exit_code=1)["problems"]
        self.assertIn(f"two/notes.txt is not replaced by {self.place}/notes.txt", problem)
        self.assertEqual((self.scratch / "two" / "notes.txt").read_text(), "other")
        (self.scratch / "one" / "notes.txt").write_text("changed")
        self.assertEqual(self.sync("one", self.place)["changed"], 1, "its own object may be replaced")

    def test_leaves_nothing_in_the_temporary_directory(self):
        self.two_runs()
        self.sync("runs", self.place)
        reader = subprocess.Popen([TOOL, "tail", self.place], cwd=self.scratch, env=self.environment,
                                  stdout=subprocess.PIPE, start_new_session=True)
        with reader:
            reader.stdout.readline()
            left, = os.listdir(self.copies)
            os.killpg(reader.pid, signal.SIGKILL)
        self.tool("inspect", self.place)
        self.assertEqual(os.listdir(self.copies), [], f"{left} is of a killed program")

    def test_makes_nothing_outside_of_the_temporary_directory(self):
        said = self.tool("inspect", f"{self.place}/../../../../there", exit_code=1).stderr
        self.assertIn("expected no '.' and no '..' between slashes", said)
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["copies"])

    def test_says_what_is_not_there(self):
        said = self.tool("inspect", self.place, exit_code=1).stderr
        self.assertIn(f"no event file below {self.place}; expected the place of a run or of several, not a file", said)
        self.assertIn('TO: got "s3://b"', self.tool("sync", ".", "s3://b", exit_code=2).stderr)
        self.assertIn("NoSuchBucket", self.tool("inspect", "s3://nobody/runs", exit_code=1).stderr)
        self.assertIn("expected s3://BUCKET", self.tool("inspect", "s3://", exit_code=2).stderr)
        self.assertEqual(self.sync(self.place, "back", exit_code=1)["problems"],
                         [f"there is no object below {self.place}"])
        self.assertIn("no writer has mirrored", self.tool("sync", ".", exit_code=2).stderr)
        self.assertIn("AWS_ACCESS_KEY_ID",
                      self.tool("inspect", self.place, exit_code=1, AWS_ACCESS_KEY_ID="").stderr)

    @unittest.skipUnless(os.environ.get("STEPTAPE_DATA_SERVER"), "there is no data server")
    def test_serves_what_a_bucket_gains(self):
        write_run(self.scratch / "run", 3)
        self.sync("run", self.place)
        with unittest.mock.patch.dict(os.environ, self.environment), \
                DataServer(os.environ["STEPTAPE_DATA_SERVER"], self.place) as server:
            self.wait_for_steps(server, range(3))
            write_run(self.scratch / "run", 2, start=3)
            self.sync("run", self.place)
            self.wait_for_steps(server, range(5))

    def wait_for_steps(self, server, steps):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while [list(points) for points in server_calls.scalars(server, 100).values()] != [list(steps)]:
            self.assertLess(time.monotonic(), deadline, server.log())
            time.sleep(0.05)


class Rclone(AnyServer):
    Server = bucket_servers.Rclone

    def test_says_what_is_wrong_with_keys(self):
        wrong = self.tool("inspect", self.place, exit_code=1, AWS_SECRET_ACCESS_KEY="x").stderr
        self.assertIn("SignatureDoesNotMatch", wrong)


class Moto(AnyServer):
    Server = bucket_servers.Moto

    def test_writes_no_file_outside_of_the_directory(self):
        name = "events.out.tfevents.1.host"
        write_run(self.scratch / "run", 1)
        self.sync("run", self.place)
        with self.server.client() as client:
            for path in (f"../{name}", f"a//{name}"):
                client.put_object(Bucket=bucket_servers.BUCKET, Key=f"{self.id()}/{path}", Body=b"")
        result = self.tool("inspect", self.place, exit_code=1)
        self.assertIn(f'{self.id()}/../{name}"; expected one that can be the name of a file', result.stderr)
        self.assertIn("1 tag", result.stdout, "the others are shown")
        fetched = self.sync(self.place, "deep/back", exit_code=1)
        self.assertEqual((fetched["changed"], len(fetched["problems"])), (1, 2))
        self.assertEqual(os.listdir(self.scratch / "deep"), ["back"])


del AnyServer  # its tests are those of the servers

if __name__ == "__main__":
    unittest.main()
