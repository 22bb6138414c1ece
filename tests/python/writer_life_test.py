#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was logged from Python is in the run, however the program ends, and whichever process logged it."""

import json
import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import steptape

TOOL = os.environ.get("STEPTAPE_TOOL")
KILLS = int(os.environ.get("STEPTAPE_KILLS", "3"))
HEAD = "import os, sys, threading, warnings, steptape\nlog_dir = sys.argv[1]\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.log_dir = os.path.join(self.folder, "run")
        boxes = os.path.join(self.folder, "boxes")
        os.mkdir(boxes)
        self.environment = {**os.environ, "STEPTAPE_BLACK_BOX": boxes}
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            self.environment.pop(name, None)

    def program(self, text, **variables):
        """Runs a program; returns its exit status and what it said."""
        # Python 3.12 and later warn of every fork() of a process with threads.
        done = subprocess.run([sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", HEAD + text,
                               self.log_dir], capture_output=True, text=True, env={**self.environment, **variables},
                              timeout=100, check=False)
        return done.returncode, done.stdout + done.stderr

    def recover(self):
        subprocess.run([TOOL, "recover", self.log_dir], env=self.environment, check=True, capture_output=True)

    def steps(self, tag="loss", run="."):
        return steptape.read(self.log_dir)[run][tag].steps.tolist()


LOG_100 = """
writer = steptape.SummaryWriter(log_dir)
for step in range(100):
    writer.add_scalar("loss", 0.5, step)
"""


class End(Case):
    def test_of_a_program_without_close_writes_everything(self):
        for name, end in (("return", ""), ("exit", "sys.exit(3)"), ("exception", "raise KeyError('x')"),
                          ("del", "del writer"), ("collected", "writer = None; import gc; gc.collect()"),
                          ("kept", "sys.keep = writer"), ("cycle", "writer.me = writer; del writer")):
            with self.subTest(end=name):
                self.log_dir = os.path.join(self.folder, name)
                code, said = self.program(LOG_100 + end)
                self.assertEqual(code, {"exit": 3, "exception": 1}.get(name, 0), said)
                self.assertEqual(self.steps(), list(range(100)))

    def test_by_os_exit_or_a_signal_loses_nothing(self):
        for name, end in (("os._exit", "os._exit(7)"), ("abort", "os.abort()"),
                          ("kill", "os.kill(os.getpid(), 9)"), ("term", "os.kill(os.getpid(), 15)")):
            with self.subTest(end=name):
                self.log_dir = os.path.join(self.folder, name)
                self.program(LOG_100 + end)
                self.recover()
                self.assertEqual(self.steps(), list(range(100)))

    def test_by_kill_at_any_moment_loses_no_call_that_had_returned(self):
        text = """
writer = steptape.SummaryWriter(log_dir)
for step in range(10**9):
    writer.add_scalar("loss", 0.5, step)
    if step % 64 == 0:
        print(step, flush=True)
"""
        moments = random.Random(20261129)
        for i in range(KILLS):
            self.log_dir = os.path.join(self.folder, f"kill{i}")
            with subprocess.Popen([sys.executable, "-c", HEAD + text, self.log_dir], stdout=subprocess.PIPE,
                                  env=self.environment) as process:
                said = process.stdout.readline()
                reader = threading.Thread(target=self.read_all, args=(process.stdout, said))
                reader.start()
                time.sleep(moments.random() * 0.3)
                process.kill()
                reader.join()
            self.recover()
            steps = self.steps()
            self.assertEqual(steps, list(range(len(steps))))
            self.assertGreaterEqual(len(steps), self.said + 1)

    def read_all(self, output, said):
        for line in output:
            said = line if line.endswith(b"\n") else said
        self.said = int(said)

    def test_of_a_with_block_keeps_the_exception_of_the_program(self):
        with self.assertRaises(ZeroDivisionError), steptape.SummaryWriter(self.log_dir) as writer:
            writer.add_scalar("loss", 0.5, 0)
            1 / 0
        self.assertEqual(self.steps(), [0])

    def test_of_a_run_says_whether_the_program_failed(self):
        opened = "writer = steptape.SummaryWriter(log_dir)\nwriter.add_hparams({'lr': 0.1}, {})\n"
        scope = "with steptape.SummaryWriter(log_dir) as writer:\n    writer.add_hparams({'lr': 0.1}, {})\n    "
        caught = "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\n"
        generator = ("def train():\n    with steptape.SummaryWriter(log_dir) as writer:\n"
                     "        writer.add_hparams({'lr': 0.1}, {})\n        yield\n"
                     "steps = train()\nnext(steps)\nsteps.close()\n")
        for name, text, state in (
                ("block that ends", scope + "pass", "ended"),
                ("block left by an exception", scope + "raise RuntimeError('diverged')", "failed"),
                ("block left by Ctrl-C", scope + "raise KeyboardInterrupt", "failed"),
                ("block left by exit(1)", scope + "sys.exit(1)", "failed"),
                ("block left by a message", scope + "sys.exit('diverged')", "failed"),
                ("block left by exit()", scope + "sys.exit()", "ended"),
                ("block of a generator", generator, "ended"),
                ("program that ends", opened, "ended"),
                ("program that catches its exception", opened + caught, "ended"),
                ("program ended by an exception", opened + "1 / 0", "failed"),
                ("close before the exception", opened + "writer.close()\n1 / 0", "ended")):
            with self.subTest(end=name):
                self.log_dir = os.path.join(self.folder, name)
                self.program(text)
                said = subprocess.run([TOOL, "runs", "--json", self.log_dir], env=self.environment, check=True,
                                      capture_output=True).stdout
                self.assertEqual(json.loads(said)["runs"][0]["state"], state)

    def test_by_close_may_be_followed_by_more(self):
        writer = steptape.SummaryWriter(self.log_dir)
        for step in range(3):
            writer.add_scalar("loss", 0.5, step)
            writer.close()
        self.assertEqual(self.steps(), [0, 1, 2])


class Directory(Case):
    def test_stays_where_it_is_when_the_program_goes_elsewhere(self):
        code, said = self.program("""
os.makedirs(log_dir + "/elsewhere")
os.chdir(log_dir)
given = ["run/", b"bytes", None]
writers = [steptape.SummaryWriter(name) for name in given]
print([writer.log_dir for writer in writers[:2]], writers[2].log_dir.startswith("runs/"))
os.chdir("elsewhere")
for writer in writers:
    writer.add_scalar("loss", 0.5, 0)
    writer.add_scalars("both", {"a": 1}, 0)
    writer.add_hparams({"lr": 0.1}, {"accuracy": 1}, run_name="trial")
    writer.close()
    writer.add_scalar("loss", 0.25, 1)
""")
        self.assertEqual((code, said), (0, "['run/', 'bytes'] True\n"))
        self.assertEqual(os.listdir(os.path.join(self.log_dir, "elsewhere")), [])
        runs = steptape.read(self.log_dir)
        self.assertEqual(len(runs), 9)
        self.assertEqual([run["loss"].steps.tolist() for run in runs.values() if "loss" in run], [[0, 1]] * 3)


class Processes(Case):
    def test_made_by_fork_log_nothing_and_say_so(self):
        code, said = self.program("""
writer = steptape.SummaryWriter(log_dir)
writer.add_scalar("loss", 0.5, 0)
child = os.fork()
if child == 0:
    for step in range(5):
        writer.add_scalar("loss", 0.5, 100 + step)
    writer.add_histogram("weights", [1, 2], 0)
    writer.flush()
    sys.exit(5)
print(os.waitpid(child, 0)[1] >> 8)
writer.add_scalar("loss", 0.5, 1)
""")
        self.assertEqual(code, 0, said)
        self.assertIn("5\n", said)
        self.assertEqual(said.count("made by fork()"), 1, said)
        self.assertEqual(self.steps(), [0, 1])

    def test_made_by_fork_have_writers_of_their_own(self):
        code, said = self.program("""
writer = steptape.SummaryWriter(log_dir + "/parent")
writer.add_scalar("loss", 0.5, 0)
child = os.fork()
if child == 0:
    with steptape.SummaryWriter(log_dir + "/child") as own:
        own.add_scalar("loss", 0.25, 7)
    os._exit(0)
os.waitpid(child, 0)
""")
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(self.steps(run="parent"), [0])
        self.assertEqual(self.steps(run="child"), [7])

    def test_of_a_data_loader_leave_the_writer_alone(self):
        code, said = self.program("""
import multiprocessing
def work(i):
    return i * i
if __name__ == "__main__":
    writer = steptape.SummaryWriter(log_dir)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for step, square in enumerate(pool.imap(work, range(20))):
            writer.add_scalar("square", square, step)
""")
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(self.steps("square"), list(range(20)))

    def test_get_no_writer_by_pickle(self):
        with steptape.SummaryWriter(self.log_dir) as writer, self.assertRaisesRegex(TypeError, "of its own"):
            pickle.dumps(writer)

    def test_do_not_share_a_run_by_mistake(self):
        with steptape.SummaryWriter(self.log_dir):
            code, said = self.program("steptape.SummaryWriter(log_dir)")
            self.assertEqual(code, 1)
            self.assertIn("RuntimeError", said)
            code, said = self.program("steptape.SummaryWriter(log_dir, shared=True).add_scalar('x', 1, 0)")
            self.assertEqual((code, said), (0, ""))
        self.assertEqual(self.steps("x"), [0])


class Ranks(Case):
    JOB = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}

    def test_write_as_they_are_asked_to(self):
        for ranks, runs in (("root", {"."}), ("each", {"rank_00000", "rank_00001"})):
            self.log_dir = os.path.join(self.folder, ranks)
            for rank in "01":
                code, said = self.program(
                    f"steptape.SummaryWriter(log_dir, ranks={ranks!r}).add_scalar('loss', {rank}, 0)",
                    RANK=rank, **self.JOB)
                self.assertEqual((code, said), (0, ""))
            self.assertEqual(set(steptape.read(self.log_dir)), runs)
            for run in runs:
                self.assertEqual(self.steps(run=run), [0])

    def test_average_over_torch_distributed(self):
        text = """
import torch.distributed as dist
dist.init_process_group("gloo")
with steptape.SummaryWriter(log_dir, reduce=True) as writer:
    for step in range(3):
        writer.add_reduced("loss", dist.get_rank() + step, step, max=True, argmax_rank=True)
        writer.reduce(step)
    try:
        writer.add_reduced(f"loss{dist.get_rank()}", 1, 3)
        writer.reduce(3)
    except RuntimeError as error:
        print(error)
dist.destroy_process_group()
"""
        program = os.path.join(self.folder, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                               program, self.log_dir], capture_output=True, text=True, env=self.environment,
                              timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("rank 1"), 2, done.stdout)
        run = steptape.read(self.log_dir)["."]
        self.assertEqual(run["loss"].values.tolist(), [0.5, 1.5, 2.5])
        self.assertEqual(run["loss/max"].values.tolist(), [1, 2, 3])
        self.assertEqual(run["loss/argmax_rank"].values.tolist(), [1, 1, 1])

    def test_need_a_job(self):
        with self.assertRaisesRegex(TypeError, "reduce: got int"):
            steptape.SummaryWriter(self.log_dir, reduce=3)
        with self.assertRaisesRegex(ValueError, "ranks: got 'some'"):
            steptape.SummaryWriter(self.log_dir, ranks="some")
        with steptape.SummaryWriter(self.log_dir) as writer, self.assertRaisesRegex(RuntimeError, "reduce"):
            writer.reduce(0)


class Disk(Case):
    def test_that_is_full_is_told_and_loses_nothing_that_fits_later(self):
        code, said = self.program("""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = steptape.SummaryWriter(log_dir)
writer.flush()
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
writer.add_scalar("loss", 0.5, 0)
try:
    writer.flush()
except OSError as error:
    print("told:", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
writer.add_scalar("loss", 0.25, 1)
writer.close()
""")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, "told: .*File too large")
        self.assertEqual(self.steps(), [0, 1])

    def test_where_nothing_can_be_created_raises(self):
        with self.assertRaisesRegex(OSError, "/proc/steptape"):
            steptape.SummaryWriter("/proc/steptape")
        with self.assertRaisesRegex(OSError, "/proc/\ufffd"):
            steptape.SummaryWriter(os.fsdecode(b"/proc/\xff"))

    def test_is_not_that_of_a_store(self):
        with self.assertRaisesRegex(ValueError, "got 's3://bucket/run'; expected a directory: mirror="):
            steptape.SummaryWriter("s3://bucket/run")

    def test_that_fails_at_the_end_is_told_as_a_warning(self):
        code, said = self.program("""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = steptape.SummaryWriter(log_dir)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
writer.add_scalar("loss", 0.5, 0)
""")
        self.assertEqual(code, 0, said)
        self.assertIn("WriterWarning", said)


class Warned(Case):
    def test_line_is_that_of_the_program(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            writer = steptape.SummaryWriter(self.log_dir)
            writer.add_scalar("loss", 0.5, 5)
            writer.add_scalar("loss", 0.5, 4)
            writer.close()
        self.assertTrue(seen)
        self.assertEqual({os.path.basename(warning.filename) for warning in seen}, {"writer_life_test.py"})

    def test_run_can_go_on_at_an_earlier_step(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with steptape.SummaryWriter(self.log_dir) as writer:
                writer.add_scalar("loss", 0.5, 5)
                writer.resume(3)
                writer.add_scalar("loss", 0.25, 3)
            with steptape.SummaryWriter(self.log_dir, purge_step=2) as writer:
                writer.add_scalar("loss", 0.125, 2)
        self.assertEqual(self.steps(), [2])


if __name__ == "__main__":
    unittest.main()
