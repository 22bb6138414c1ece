#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that Python writes is in its bucket when the program ends, however it ends."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import warnings

import bucket_servers
import steptape
from patience import PATIENCE_SECONDS
from steptape.compat import tensorboard, tensorboardX

TOOL = os.environ.get("STEPTAPE_TOOL")
HEAD = """
import os, signal, socket, sys, threading, time
import steptape
log_dir, url = sys.argv[1:]
"""


def setUpModule():
    global server
    server = unittest.enterModuleContext(bucket_servers.Rclone())
    os.environ.pop("S3_ENDPOINT", None)
    os.environ.update(server.environment)


def files_below(directory):
    """The files that belong into a bucket, by their paths."""
    found = {}
    for parent, _, names in os.walk(directory):
        for name in names:
            if not name.startswith("."):
                path = os.path.join(parent, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = file.read()
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.log_dir = os.path.join(self.folder, "run")
        self.place = self.id().rsplit(".", 1)[-1]
        self.url = f"s3://{bucket_servers.BUCKET}/{self.place}"
        boxes = os.path.join(self.folder, "boxes")
        os.mkdir(boxes)
        self.environment = {**os.environ, "STEPTAPE_BLACK_BOX": boxes}

    @contextlib.contextmanager
    def start(self, text, **variables):
        """Starts a program that has log_dir and url, and ends it."""
        with subprocess.Popen([sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", HEAD + text,
                               self.log_dir, self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={**self.environment, **variables}) as process:
            try:
                yield process
            finally:
                process.kill()

    def program(self, text, **variables):
        """Runs a program; returns its exit status and what it said."""
        with self.start(text, **variables) as process:
            said, _ = process.communicate(timeout=PATIENCE_SECONDS)
        return process.returncode, said

    def in_bucket(self, place=None):
        return files_below(os.path.join(server.directory, place or self.place))

    def assert_mirrored(self, log_dir=None, place=None):
        expected = files_below(log_dir or self.log_dir)
        self.assertNotEqual(expected, {})
        self.assertEqual(self.in_bucket(place), expected)

    def steps(self, run="."):
        return steptape.read(self.log_dir)[run]["loss"].steps.tolist()


class Mirror(Case):
    def test_has_all_files_of_a_closed_run(self):
        with steptape.SummaryWriter(self.log_dir, mirror=self.url) as writer:
            for step in range(100):
                writer.add_scalar("loss", 0.5, step)
            writer.add_scalars("both", {"a": 1, "b": 2}, 0)
            writer.add_hparams({"lr": 0.1}, {"accuracy": 1}, run_name="trial")
            with open(os.path.join(self.log_dir, "notes = 100% +.json"), "w", encoding="utf-8") as file:
                file.write("{}")
            writer.close()
            stats = writer.stats()
        self.assert_mirrored()
        self.assertEqual(len(self.in_bucket()), 5)
        self.assertGreaterEqual(stats["mirror_bytes"], sum(map(len, self.in_bucket().values())))
        self.assertEqual((stats["mirror_late_files"], stats["mirror_late_bytes"]), (0, 0))

    def test_has_all_files_of_a_program_that_does_not_close_the_run(self):
        log = "writer = steptape.SummaryWriter(log_dir, mirror=url)\nwriter.add_scalar('loss', 0.5, 0)\n"
        for name, end, code in (("return", "", 0), ("exit", "sys.exit(3)", 3), ("raise", "raise KeyError", 1),
                                ("handler", "signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))\n"
                                            "os.kill(os.getpid(), signal.SIGTERM)", 4)):
            with self.subTest(end=name):
                self.log_dir, self.url = os.path.join(self.folder, name), f"s3://bucket/ends/{name}"
                self.assertEqual(self.program(log + end)[0], code)
                self.assert_mirrored(place=f"ends/{name}")

    def test_has_what_was_in_memory_when_sigterm_came(self):
        with self.start("""
writer = steptape.SummaryWriter(log_dir, mirror=url, mirror_secs=3600)
writer.close()
for step in range(1000):
    writer.add_scalar("loss", 0.5, step)
print("logged", flush=True)
sys.stdin.read()
""") as process:
            self.assertEqual(process.stdout.readline(), "logged\n")
            process.terminate()
            self.assertEqual((process.wait(PATIENCE_SECONDS), process.stdout.read()), (-signal.SIGTERM, ""))
        self.assertEqual(self.steps(), list(range(1000)))
        self.assert_mirrored()

    def test_lets_sigterm_end_processes_made_by_fork(self):
        code, said = self.program("""
writer = steptape.SummaryWriter(log_dir, mirror=url)
child = os.fork()
if child == 0:
    signal.sigtimedwait([signal.SIGUSR1], 60)
    os._exit(0)
os.kill(child, signal.SIGTERM)
print(os.waitpid(child, 0)[1])
writer.add_scalar("loss", 0.5, 0)
""")
        self.assertEqual((code, said), (0, f"{signal.SIGTERM.value}\n"))
        self.assert_mirrored()

    def test_gets_from_the_next_writer_what_a_killed_one_has_left(self):
        self.assertEqual(self.program("""
writer = steptape.SummaryWriter(log_dir, mirror=url, mirror_secs=3600)
writer.close()
for step in range(100):
    writer.add_scalar("loss", 0.5, step)
os.kill(os.getpid(), 9)
""")[0], -9)
        self.program("steptape.SummaryWriter(log_dir, mirror=url).add_scalar('loss', 0.5, 100)")
        self.assertEqual(self.steps(), list(range(101)))
        self.assert_mirrored()

    def test_gets_from_the_last_of_several_processes_what_it_has_logged(self):
        text = """
writer = steptape.SummaryWriter(log_dir, shared=True, mirror=url)
writer.add_scalar("loss", 0.5, 0)
writer.close()
print("logged", flush=True)
sys.stdin.readline()
writer.add_scalar("loss", 0.5, 1)
"""
        # The first one sends for both, as long as it lives.
        with self.start(text) as first:
            self.assertEqual(first.stdout.readline(), "logged\n")
            with self.start(text) as second:
                self.assertEqual(second.stdout.readline(), "logged\n")
                for process in (first, second):
                    self.assertEqual(process.communicate("\n", timeout=PATIENCE_SECONDS)[0], "")
        self.assertEqual(len(self.in_bucket()), 4)
        self.assert_mirrored()

    def test_has_a_place_for_each_rank(self):
        for rank in "01":
            code, said = self.program("steptape.SummaryWriter(log_dir, ranks='each', mirror=url + '/').add_scalar"
                                      "('loss', 0.5, 0)", RANK=rank, WORLD_SIZE="2", MASTER_ADDR="localhost",
                                      MASTER_PORT="29500")
            self.assertEqual((code, said), (0, ""))
        self.assertEqual({os.path.dirname(path) for path in self.in_bucket()}, {"rank_00000", "rank_00001"})
        self.assert_mirrored()

    def test_has_the_means_over_the_ranks_of_a_job(self):
        alone = types.SimpleNamespace(rank=0, size=1)
        with unittest.mock.patch("steptape._ranks.ranks_of", lambda _: alone), \
                steptape.SummaryWriter(self.log_dir, reduce=True, mirror=self.url) as writer:
            writer.add_reduced("loss", 0.5, 0)
            writer.reduce(0)
        self.assertEqual(self.steps(), [0])
        self.assert_mirrored()

    def test_of_a_disabled_writer_is_none(self):
        steptape.SummaryWriter(self.log_dir, mirror=self.url, enabled=False).close()
        self.assertEqual((self.in_bucket(), os.path.exists(self.log_dir)), ({}, False))


class Trouble(Case):
    """Of the bucket: the run is complete on the disk all the same."""

    def test_that_will_not_pass_is_said_at_once(self):
        for name, variables, says in (("keys", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
                                      ("bucket", {}, "NoSuchBucket")):
            self.log_dir = os.path.join(self.folder, name)
            self.url = "s3://no-bucket/exp" if name == "bucket" else self.url
            code, said = self.program("""
with steptape.SummaryWriter(log_dir, mirror=url, mirror_timeout=3600) as writer:
    writer.add_scalar("loss", 0.5, 0)
""", **variables)
            with self.subTest(trouble=name):
                self.assertEqual(code, 1)
                self.assertRegex(said, f"\nOSError: the mirror {self.url} lacks 1 file .*{says}")
                self.assertEqual(said.count("OSError"), 1, said)
                self.assertNotIn("WriterWarning", said)
                self.assertEqual(self.steps(), [0])

    def test_is_a_warning_where_nobody_can_catch_it(self):
        code, said = self.program("writer = steptape.SummaryWriter(log_dir, mirror=url)\n",
                                  AWS_SECRET_ACCESS_KEY="wrong")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "WriterWarning: the mirror .* lacks 1 file .*SignatureDoesNotMatch")
        self.assertEqual(said.count("WriterWarning"), 1, said)

    def test_of_the_network_is_waited_for_once_and_mended_by_sync(self):
        code, said = self.program("""
writer = steptape.SummaryWriter(log_dir, mirror=url, mirror_timeout=0.05)
writer.add_scalar("loss", 0.5, 0)
try:
    writer.close()
except TimeoutError as error:
    print(error)
writer.add_scalar("loss", 0.5, 1)
""", AWS_ENDPOINT_URL="http://127.0.0.1:1")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, f"^the mirror {self.url} lacks .* 50 ms\n$")
        self.assertEqual(self.steps(), [0, 1])
        subprocess.run([TOOL, "sync", self.log_dir, self.url], check=True, capture_output=True)
        self.assert_mirrored()

    def test_with_a_server_that_hangs_ends_by_ctrl_c(self):
        code, said = self.program("""
server = socket.create_server(("127.0.0.1", 0))
os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
is_closing = threading.Event()
def interrupt():
    connection, _ = server.accept()
    is_closing.wait()
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait()
threading.Thread(target=interrupt, daemon=True).start()
writer = steptape.SummaryWriter(log_dir, mirror=url, mirror_timeout=3600)
writer.add_scalar("loss", 0.5, 0)
sys.setswitchinterval(3600)  # The thread goes on when close() waits.
try:
    is_closing.set()
    writer.close()
except KeyboardInterrupt:
    print("interrupted")
""")
        self.assertEqual((code, said), (0, "interrupted\n"))
        self.assertEqual(self.steps(), [0])

    def test_with_an_answer_that_never_ends_does_not_keep_sigterm_from_ending_the_program(self):
        code, said = self.program("""
server = socket.create_server(("127.0.0.1", 0))
os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{server.getsockname()[1]}"
has_begun = threading.Event()
def answer():
    connection, _ = server.accept()
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000000\\r\\n\\r\\n")
    has_begun.set()
    while True:
        connection.sendall(b" ")
        time.sleep(0.1)
threading.Thread(target=answer, daemon=True).start()
writer = steptape.SummaryWriter(log_dir, mirror=url, mirror_timeout=0.05)
has_begun.wait()
writer.add_scalar("loss", 0.5, 0)
os.kill(os.getpid(), signal.SIGTERM)
threading.Event().wait()
""")
        self.assertEqual(code, -signal.SIGTERM, said)
        self.assertEqual(self.steps(), [0])

    def test_with_libcurl_is_an_exception(self):
        code, said = self.program("steptape.SummaryWriter(log_dir, mirror=url)", STEPTAPE_LIBCURL="/missing.so")
        self.assertEqual(code, 1)
        self.assertRegex(said, "\nRuntimeError: .*/missing.so")
        self.assertFalse(os.path.exists(self.log_dir))

    def test_with_the_address_is_an_exception(self):
        for url in ("runs/exp", "s3:/bucket/exp", "s3://", "gs://bucket/exp"):
            with self.assertRaisesRegex(ValueError, "SummaryWriter: mirror: got .*; expected s3://BUCKET"):
                steptape.SummaryWriter(self.log_dir, mirror=url)
        self.assertFalse(os.path.exists(self.log_dir))


class ModulesNamedLikeTheOriginals(Case):
    """They write to a bucket themselves."""

    def setUp(self):
        super().setUp()
        self.enterContext(contextlib.chdir(self.folder))

    def test_write_a_run_of_a_bucket_to_the_disk_and_mirror_it(self):
        for module in (tensorboard, tensorboardX):
            place = f"{self.place}/{module.__name__}"
            with self.subTest(module=module.__name__):
                with self.assertWarnsRegex(steptape.WriterWarning, f"written to 'runs/bucket/{place}' and mirrored"):
                    writer = module.SummaryWriter(f"s3://bucket//{place}/")
                with writer:
                    writer.add_scalar("loss", 0.5, 0)
                    writer.add_hparams({"lr": 0.1}, {"accuracy": 1})
                self.assertEqual(writer.get_logdir(), f"runs/bucket/{place}")
                self.assertEqual(len(self.in_bucket(place)), 2)
                self.assert_mirrored(writer.log_dir, place)

    def test_write_nothing_if_they_are_told_so(self):
        with warnings.catch_warnings(action="error"):
            tensorboardX.SummaryWriter(self.url, write_to_disk=False).close()
        self.assertEqual((self.in_bucket(), os.path.exists("runs")), ({}, False))

    def test_refuse_a_place_that_is_none(self):
        for url in ("s3://", "s3://bucket/../../exp", "s3://bucket/."):
            with self.assertRaisesRegex(ValueError, "SummaryWriter: log_dir: got .*; expected s3://BUCKET/RUN"):
                tensorboard.SummaryWriter(url)
        with self.assertRaisesRegex(ValueError, "SummaryWriter: log_dir: got 'gs://bucket/exp'; expected a directory"):
            tensorboard.SummaryWriter("gs://bucket/exp")

    def test_take_the_endpoint_of_the_originals(self):
        text = "from steptape.compat.tensorboardX import SummaryWriter\nSummaryWriter(url).close()\n"
        os.chdir(self.folder)
        code, said = self.program(text, S3_ENDPOINT=server.url, AWS_ENDPOINT_URL="")
        self.assertEqual(code, 0, said)
        self.assert_mirrored(f"runs/bucket/{self.place}")


if __name__ == "__main__":
    unittest.main()
