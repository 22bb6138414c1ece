# SPDX-License-Identifier: Apache-2.0
"""Compares what `steptape autopsy` says about a job of three ranks that dies in seven ways.

The reports are in tests/ranks/mpi/staged_deaths. What differs from one run or machine to the next is
replaced: hosts, process numbers, times, memory, and the frames of stacks. The ranks that the
launcher ends together are sorted. A launcher that kills them at once has reports of its own where
it matters, NAME_at_once.txt: the others could not find out who was dead.

    python3 tests/ranks/mpi/staged_deaths_test.py --update     # rewrites the reports

Environment: STEPTAPE_TOOL, STEPTAPE_STAGED_DEATH and STEPTAPE_MPIEXEC, the programs, and
STEPTAPE_LAUNCHER_WARNS; see tests/support/MpiLauncher.cmake.
"""

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

REPORTS = pathlib.Path(__file__).parent / "staged_deaths"
MEMORY_LIMIT = 512 << 20
DISK_BYTES = 256 << 10
SECONDS = 100


def shows_control_groups():
    """Whether the file system of control groups is here; containers and bare systems may lack it."""
    return any(pathlib.Path("/sys/fs/cgroup").glob("*"))


def control_group():
    """A new control group with a limit of its memory; None without the right to make one."""
    name = f"steptape_staged_{os.getpid()}"
    for limit in ("memory/{}/memory.limit_in_bytes", "{}/memory.max"):
        path = pathlib.Path("/sys/fs/cgroup") / limit.format(name)
        group = path.parent
        try:
            group.mkdir()
            path.write_text(str(MEMORY_LIMIT))
            return group
        except OSError:
            with contextlib.suppress(OSError):
                group.rmdir()
    return None


class Job:
    """A log directory and a folder for black boxes."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.run = self.folder / "run"
        self.run.mkdir()
        (self.folder / "boxes").mkdir()
        self.environment = dict(os.environ, STEPTAPE_BLACK_BOX=str(self.folder / "boxes"),
                                STAGED_RUN=str(self.run))

    def die(self, kind, before="", namespace=()):
        """Runs the job, after the command `before` of the shell; `namespace` starts the shell."""
        program = [os.environ["STEPTAPE_STAGED_DEATH"], kind, str(self.run)]
        # mpiexec of MPICH and Intel MPI reports the death to its standard output.
        script = f'{before}"$@" >&2; code=$?; "$STEPTAPE_TOOL" autopsy "{self.run}"; exit $code'
        shell = [*namespace, "sh", "-c", script, "sh", "timeout", str(SECONDS)]
        command = [*shell, os.environ["STEPTAPE_MPIEXEC"], "-n", "3", *program]
        job = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False)
        if job.returncode in (0, 124):
            raise AssertionError(f"got exit code {job.returncode}; expected a death\n{job.stderr}")
        return job.stdout


RULES = [
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+", "TIME"),
    (r"\bevents\.out\.tfevents\.\S+?(?=:|$)", "EVENT FILE"),
    (r"\b(process|thread) \d+", r"\1 N"),
    (r"\bwithin [\d.]+ (ms|s)\b", "within T"),
    (r"\bfor [\d.]+ (ms|s)\b", "for T"),
    (r"#\d+", "#N"),
    (r"[\d.]+ [KMG]iB(?=[.;,]| of|, without|$)", "SIZE"),
    (r"of user \d+", "of user N"),
    (r"(which leaves none\.) The limit of its cgroup is SIZE\.", r"\1"),
    ("was probably killed", "was killed"),  # "probably" if memory was last measured long before
    (r"\d+ times? since", "N times since"),
    (r"rank \d has most", "one rank has most"),
    (r"; cgroup SIZE, .*", "; cgroup SIZE"),
]


def normalized(report, folder):
    host = re.escape(socket.gethostname().split(".")[0])
    text = re.sub(rf"\b{host}\b", "HOST", report.replace(str(folder), "FOLDER"))
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text, flags=re.M)
    lines = [line for line in text.split("\n") if not re.search(r"\(\+0x[0-9a-f]+\)$", line)]
    dead = lines.index("Dead:") + 3  # after the first one, who is always the same
    end = lines.index("", dead)
    # The launcher sends SIGTERM and then SIGKILL; how long is between them is its matter.
    by_launcher = re.compile(
        r"(was killed by the kernel|ended after SIGTERM|ended without a trace).*")
    ended = [by_launcher.sub("was ended by the launcher", line) for line in lines[dead:end]]
    others = ["\n".join(pair) for pair in zip(ended[::2], ended[1::2])]
    return "\n".join(lines[:dead] + sorted(others) + lines[end:])


class StagedDeaths(unittest.TestCase):
    maxDiff = None

    def compare(self, kind, **how):
        with tempfile.TemporaryDirectory() as folder:
            report = normalized(Job(folder).die(kind, **how), folder)
        path = REPORTS / f"{kind}.txt"
        at_once = REPORTS / f"{kind}_at_once.txt"
        if os.environ["STEPTAPE_LAUNCHER_WARNS"] == "0" and at_once.exists():
            path = at_once
        if UPDATE:
            path.write_text(report)
        expected = path.read_text()
        if not shows_control_groups():
            expected = expected.replace("; cgroup SIZE", "")
        self.assertEqual(report, expected)

    def test_killed(self):
        self.compare("killed")

    def test_segmentation_fault(self):
        self.compare("segmentation_fault")

    def test_exception(self):
        self.compare("exception")

    def test_rank_that_never_comes(self):
        self.compare("rank_that_never_comes")

    def test_mismatched_collectives(self):
        self.compare("mismatched_collectives")

    def test_full_disk(self):
        may_mount = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
        if may_mount.returncode:
            self.skipTest("no right to mount a small disk")
        mount = f'mount -t tmpfs -o size={DISK_BYTES} none "$STAGED_RUN" && '
        self.compare("full_disk", before=mount, namespace=("unshare", "-m"))

    def test_out_of_memory(self):
        group = control_group()
        if group is None:
            self.skipTest("no right to limit the memory of a process")
        try:
            self.compare("out_of_memory", before=f"echo $$ >{group}/cgroup.procs && ")
        finally:
            group.rmdir()


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--update"]
    unittest.main()
