#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets jobs of three ranks die in eight ways under a launcher, and counts whom `steptape autopsy` names.

    tests/ranks/mpi/many_deaths.py --launcher 'mpiexec -n 3' --program build/release/bin/rank_failure_program
    tools/slurm.sh salloc -N2 -n3 tests/ranks/mpi/many_deaths.py --launcher 'srun --mpi=pmix -K' --program ...

The last rank dies. A row of the table, for each way: how often the report named that rank, said that it cannot be told
who was the first, or named another one, which is a fault: the exit code is then 1. Without the right to make control
groups, no job runs out of memory.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CULPRIT = 2
WAYS = {
    "SIGKILL": ("killed", "patient"),
    "SIGSEGV": ("faults", "patient"),
    "abort()": ("calls abort()", "patient"),
    "exception": ("throws", "patient"),
    # srun lets the others of such a rank go on, up to their time limit.
    "exit(0)": ("exit(0)", "asynchronous"),
    "exit(3)": ("exit(3)", "asynchronous"),
    "out of memory": ("takes all memory", "patient"),
    "SIGSTOP": ("stops", "asynchronous"),
}
SECONDS = 90
MEMORY_LIMIT = 256 << 20


class MemoryLimit:
    """A control group for one job, or none."""

    def __init__(self, is_used):
        self.group = None
        if not is_used:
            return
        for limit in ("memory/{}/memory.limit_in_bytes", "{}/memory.max"):
            path = pathlib.Path("/sys/fs/cgroup") / limit.format(f"steptape_deaths_{os.getpid()}")
            try:
                path.parent.mkdir()
                path.write_text(str(MEMORY_LIMIT))
                self.group = path.parent
                return
            except OSError:
                continue

    def words(self):
        return ["sh", "-c", f'echo $$ >{self.group}/cgroup.procs; exec "$@"', "sh"] if self.group else []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.group:
            self.group.rmdir()


def report_of(arguments, way):
    """Returns the first lines of the report, and why the job ended otherwise than expected."""
    kind, place = WAYS[way]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, MemoryLimit(way == "out of memory") as limit:
        if way == "out of memory" and not limit.group:
            return None
        run = pathlib.Path(folder) / "run"
        environment = dict(os.environ)
        if not arguments.real_boxes:
            boxes = pathlib.Path(folder) / "boxes"
            boxes.mkdir()
            environment["STEPTAPE_BLACK_BOX"] = str(boxes)
        command = [*limit.words(), "timeout", str(SECONDS), *arguments.launcher.split(), arguments.program, kind,
                   str(run), place]
        job = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if job.returncode == 124:
            return ["the job did not end"]
        if not run.exists():
            sys.exit(f"many_deaths.py: the job did not start: {job.stderr.strip()[:500]}")
        report = subprocess.run([arguments.tool, "autopsy", str(run), "--json"], env=environment, capture_output=True,
                                text=True, check=False)
        if not report.stdout:
            return [report.stderr.strip()]
        return json.loads(report.stdout)["jobs"][0]["summary"]


def verdict_of(summary):
    first = summary[0]
    if "cannot be told" in first:
        return "cannot be told"
    named = re.match(r"Ranks? ([0-9, -]+) ", first)
    if named and named[1] == str(CULPRIT):
        return "named"
    # A rank that stands still does not die first; who dies of that says for whom it has waited.
    if re.search(rf"rank {CULPRIT} \([^)]*\) did not arrive", first):
        return "named"
    if re.search(rf"waited for ranks? {CULPRIT}\b", " ".join(summary)) and not named:
        return "named"
    return "another" if named else "nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", required=True, help="the command that starts three ranks")
    parser.add_argument("--program", required=True, help="rank_failure_program, or c10d_failure_program")
    parser.add_argument("--tool", default=None, help="steptape; beside the program if not given")
    parser.add_argument("--times", type=int, default=4)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--folder", default=None, help="of the log directories; shared by the nodes")
    parser.add_argument("--real-boxes", action="store_true", help="in /dev/shm, of which each node has its own")
    arguments = parser.parse_args()
    arguments.tool = arguments.tool or str(pathlib.Path(arguments.program).parent / "steptape")
    print(f"{'':14}  named  cannot be told  another  nothing")
    isright = True
    for way in arguments.ways.split(","):
        counts = dict.fromkeys(("named", "cannot be told", "another", "nothing"), 0)
        for _ in range(arguments.times):
            summary = report_of(arguments, way)
            if summary is None:
                break
            verdict = verdict_of(summary)
            counts[verdict] += 1
            if verdict in ("another", "nothing"):
                print(f"  {way}: {' '.join(summary)[:300]}", file=sys.stderr)
        isright = isright and counts["another"] == 0
        print(f"{way:14}  {counts['named']:5}  {counts['cannot be told']:14}  {counts['another']:7}  {counts['nothing']:7}",
              flush=True)
    return 0 if isright else 1


if __name__ == "__main__":
    sys.exit(main())
