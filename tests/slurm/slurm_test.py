# SPDX-License-Identifier: Apache-2.0
"""What Steptape does in jobs of a real Slurm. tools/slurm.sh runs it; `tools/test.sh --slurm` does both.

Environment: STEPTAPE_BIN, the folder with `steptape` and the examples. Without fashion_mnist, which needs LibTorch, its
cases are skipped. STEPTAPE_LONG_TESTS=1 adds a job that is suspended for longer than the time limit of a collective.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["STEPTAPE_BIN"])
TOOL = BIN / "steptape"
METRICS = BIN / "metric_averaging"
STAGED_DEATH = BIN / "staged_death_program"
MNIST = BIN / "fashion_mnist"
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
SECONDS = 120
SUSPENDED_SECONDS = 620  # more than the ten minutes that a collective waits


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Jobs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def submit(self, script, *options, **environment):
        """Submits a script of bash; returns the number of the job."""
        path = self.folder / "job.sh"
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
        exported = ",".join(["ALL", *(f"{name}={value}" for name, value in environment.items())])
        return run("sbatch", "--parsable", f"--output={self.folder}/%A_%a.out", f"--export={exported}", *options,
                   str(path)).strip()

    def wait(self, *jobs, seconds=SECONDS):
        end = time.monotonic() + seconds
        while any(state in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING") for job in jobs
                  for state in run("squeue", "-h", "-j", job, "-t", "all", "-o", "%T").split()):
            self.assertLess(time.monotonic(), end, f"jobs {jobs} have not ended: {run('squeue')}")
            time.sleep(0.2)

    def output(self, job):
        """What the job has printed, or the elements of an array, in their order."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob(f"{job}_*.out")))

    def result(self, script, *options, **environment):
        job = self.submit(script, *options, **environment)
        self.wait(job)
        return self.output(job)

    def script(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)
        return path

    def until(self, what, holds):
        end = time.monotonic() + SECONDS
        while not holds():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.1)


class Restarts(Jobs):
    def restarted(self, death):
        task = self.script(
            "task", f'[ "$STEPTAPE_RESTART_COUNT" = 1 ] && exit 0\n'
            f'if [ $SLURM_PROCID = 1 ]; then sleep 1; {death}; fi\nexec sleep 60')
        return self.result(f'"{TOOL}" run -- "{task}"; echo "ends with $?"', "-n3", "-N1")

    def test_job_starts_again_after_each_death_of_a_rank(self):
        for death in ("kill -9 $$", "kill -SEGV $$", "exit 1", "exit 3"):
            with self.subTest(death=death):
                output = self.restarted(death)
                self.assertIn("the job is done after 1 restart", output)
                self.assertIn("ends with 0", output)

    def test_program_that_is_missing_or_no_program_is_not_started_again(self):
        (self.folder / "text").write_text("")
        for name, code in (("missing", 127), ("text", 126)):
            with self.subTest(name=name):
                output = self.result(f'"{TOOL}" run -- "{self.folder}/{name}"; echo "ends with $?"', "-n2", "-N1")
                self.assertIn(f"not started again: exit code {code} means", output)
                self.assertIn(f"ends with {code}", output)

    def test_ranks_start_inside_another_step(self):
        output = self.result(f"srun --mpi=none -n1 \"{TOOL}\" run -n 2 -- bash -c 'echo rank $SLURM_PROCID'", "-n2", "-N1")
        self.assertIn("rank 0", output)
        self.assertIn("rank 1", output)

    def test_ranks_have_the_variables_of_a_script_that_got_none(self):
        job = self.submit(f'export WORD=passed\n"{TOOL}" run -- bash -c "echo \\$WORD on"', "-n2", "-N1",
                          "--export=NONE")
        self.wait(job)
        self.assertEqual(self.output(job).count("passed on"), 2)

    def test_stopped_job_ends_with_a_code_of_its_own(self):
        task = self.script("task", f"trap 'exit 0' TERM USR1\ntouch {self.folder}/ready$SLURM_PROCID\n"
                           "for i in $(seq 600); do sleep 0.1; done")
        job = self.submit(f'exec "{TOOL}" run -- "{task}"', "-n2", "-N1")
        self.until("the ranks", lambda: all((self.folder / f"ready{rank}").exists() for rank in (0, 1)))
        run("scancel", "--full", "--signal=USR1", job)
        self.wait(job)
        self.assertIn("exit code 75 says that it can go on", self.output(job))
        self.assertIn("ExitCode=75:0", run("scontrol", "show", "job", job))


@unittest.skipUnless(STAGED_DEATH.exists(), "staged_death_program was not built")
@unittest.skipUnless(os.environ.get("SLURM_LIMITS_MEMORY") == "1", "this Slurm does not limit memory")
class OutOfMemory(Jobs):
    def test_is_named_and_not_repeated_without_progress(self):
        """Slurm removes the groups of a step, with their counters, before anybody can look."""
        run_directory = self.folder / "run"
        run_directory.mkdir()
        output = self.result(
            f'export STAGED_RUN="{run_directory}"\n"{TOOL}" run --launcher "srun --mpi=pmix" --logdir "{run_directory}" '
            f'-- "{STAGED_DEATH}" out_of_memory "{run_directory}"', "-n3", "-N1", "--mem=300")
        # The first start has made progress: it came to a step.
        deaths = re.findall(r"^Rank 1 on \w+ was (?:probably )?killed by the kernel because memory ran out", output,
                            re.MULTILINE)
        self.assertEqual(len(deaths), output.count("the job died after"), output)
        self.assertIn("not started again: it ran out of memory before it made progress", output)


class FailedNode(Jobs):
    def test_leaves_the_job_to_the_others(self):
        task = self.script("task", f'[ "$STEPTAPE_RESTART_COUNT" = 1 ] && {{ echo rank $SLURM_PROCID of $SLURM_NTASKS; exit 0; }}\n'
                           f'touch "{self.folder}/ready$SLURM_PROCID"; exec sleep 100')
        job = self.submit(f'echo $SLURMD_NODENAME >"{self.folder}/script"\nexec "{TOOL}" run -n 4 --min-ranks 2 -- "{task}"', "-n4", "-N2", "--ntasks-per-node=2",
                          "--no-kill", "-w" + os.uname().nodename.split(".")[0])
        self.until("the ranks", lambda: all((self.folder / f"ready{rank}").exists() for rank in range(4)))
        here = os.uname().nodename.split(".")[0]
        other = here if (self.folder / "script").read_text().strip() == "second" else "second"
        run("scontrol", "update", f"nodename={other}", "state=down", "reason=test")
        self.addCleanup(run, "scontrol", "update", f"nodename={other}", "state=resume")
        self.wait(job)
        self.assertIn("rank 1 of 2", self.output(job))
        self.assertIn("the job is done after 1 restart", self.output(job))


class OneDirectory(Jobs):
    def test_is_written_by_one_element_of_an_array(self):
        if not METRICS.exists():
            self.skipTest("metric_averaging was not built")
        output = self.result(
            f'srun --mpi=pmix "{METRICS}" --iterations 1000 --log-dir "{self.folder}/run" && echo one is done',
            "-n2", "-N1", "--array=1-3")
        self.assertEqual(output.count("one is done"), 1, output)
        self.assertRegex(output, r"got the run \S+, which process \d+ on \S+ of step 0 of job \d+ of Slurm, user 0 writes")
        self.assertEqual(len(list((self.folder / "run").glob("events.out.tfevents.*"))), 1)

    def test_is_refused_while_its_job_is_suspended(self):
        if not METRICS.exists():
            self.skipTest("metric_averaging was not built")
        job = self.start_endless()
        run("scontrol", "suspend", job)
        output = self.result(f'srun --mpi=pmix "{METRICS}" --iterations 10 --log-dir "{self.folder}/run"', "-n2", "-N1",
                             "-wsecond")
        self.assertIn(f"of step 0 of job {job} of Slurm", output)
        self.continue_for(job, 3)

    def test_goes_on_after_a_suspension_longer_than_the_time_limit(self):
        if os.environ.get("STEPTAPE_LONG_TESTS") != "1" or not METRICS.exists():
            self.skipTest("STEPTAPE_LONG_TESTS is not 1, or metric_averaging was not built")
        job = self.start_endless()
        run("scontrol", "suspend", job)
        time.sleep(SUSPENDED_SECONDS)
        self.continue_for(job, 20)

    def start_endless(self):
        job = self.submit(f'srun --mpi=pmix "{METRICS}" --iterations 100000000 --tolerance 0 --log-dir "{self.folder}/run"',
                          "-n2", "-N1", "-w" + os.uname().nodename.split(".")[0])
        self.until("the first points", lambda: self.bytes() > 1000)
        return job

    def bytes(self):
        return sum(path.stat().st_size for path in (self.folder / "run").glob("events.out.tfevents.*"))

    def continue_for(self, job, seconds):
        run("scontrol", "resume", job)
        before = self.bytes()
        time.sleep(seconds)
        self.assertGreater(self.bytes(), before)
        self.assertEqual(run("squeue", "-h", "-j", job, "-o", "%T").strip(), "RUNNING", self.output(job))
        run("scancel", job)
        self.wait(job)


@unittest.skipUnless(METRICS.exists(), "metric_averaging was not built")
class SeveralNodes(Jobs):
    """Four ranks, two on each node, which share no memory."""

    def start(self, command, *options, rank_0=""):
        here = os.uname().nodename.split(".")[0]
        task = self.script(
            "task", f'if [ $SLURM_PROCID = 0 ]; then echo $SLURMD_NODENAME > "{self.folder}/first"; {rank_0} fi\n'
            f'exec "{METRICS}" --iterations 100000000 --tolerance 0 --log-dir "{self.folder}/run"')
        job = self.submit(f'export OMPI_MCA_btl_tcp_if_include=lo\n{command.format(task=task)}', "-n4", "-N2",
                          "--ntasks-per-node=2", "-wsecond," + here, *options)
        self.addCleanup(subprocess.run, ["scancel", job], check=False)
        return job

    def tool(self, *words):
        return subprocess.run([TOOL, *words], capture_output=True, text=True, check=False)

    def test_are_one_job_to_the_tool(self):
        job = self.start('srun --mpi=pmix "{task}"')
        self.until("the ranks", lambda: "4 processes" in self.tool("top", job, "--once").stdout)
        table = self.tool("top", job, "--once").stdout
        self.assertEqual(len(re.findall(r"^ +[0-3] .* second ", table, re.MULTILINE)), 2, table)
        for command in ("dump", "autopsy"):
            report = self.tool(command, job)
            self.assertEqual(report.returncode, 0, report.stderr)
            self.assertIn(f"Job {job}, 4 ranks", report.stdout)
            self.assertNotIn("nothing is left", report.stdout)

    def test_tell_that_slurm_has_ended_them(self):
        self.expect_end("was canceled", lambda job: run("scancel", job))

    def test_tell_their_time_limit(self):
        if os.environ.get("STEPTAPE_LONG_TESTS") != "1":
            self.skipTest("STEPTAPE_LONG_TESTS is not 1")
        self.expect_end("reached its time limit of 00:01:00", lambda job: None, "--time=1")

    def expect_end(self, why, end, *options):
        job = self.start('srun --mpi=pmix "{task}"', *options)
        self.until("the ranks", lambda: "4 processes" in self.tool("top", job, "--once").stdout)
        end(job)
        self.wait(job)
        report = self.tool("autopsy", job).stdout
        self.assertTrue(report.startswith(f"Slurm says that job {job} {why}.\n"), report)
        self.assertRegex(report, r"ended after SIGTERM, which process \d+ \(slurmstepd\) of user 0 sent")

    def test_report_a_death_on_any_of_them_as_one(self):
        job = self.start(f'"{TOOL}" run --launcher "srun --mpi=pmix" --max-restarts 0 --logdir "{self.folder}/run" '
                         '-- "{task}"', rank_0="(sleep 5; kill -SEGV $$) &")
        self.wait(job)
        first = (self.folder / "first").read_text().strip()
        self.assertIn(f"Rank 0 on {first} was ended by SIGSEGV", self.output(job))
        self.assertIn("It was the first to die. Ranks 1-3 died after it", self.output(job))
        copies = sorted(path.name.split("-")[0] for path in (self.folder / "run" / "black_box").glob("*.state"))
        self.assertEqual(len(copies), 4)
        self.assertEqual(copies.count("second"), 2)
        # After the end of the allocation, on the login node.
        self.assertIn("was ended by SIGSEGV", self.tool("autopsy", str(self.folder / "run")).stdout)


@unittest.skipUnless(MNIST.exists() and DATA.exists(), "fashion_mnist or its data is not there")
class OnePort(Jobs):
    TRAIN = f'"{MNIST}" --data {DATA} --model mlp --max-steps 60 --epochs 1'

    def test_keeps_two_jobs_apart(self):
        script = (f"export MASTER_ADDR=$(hostname) MASTER_PORT=29533\nsrun --mpi=none bash -c '"
                  f"[ $SLURM_PROCID = 1 ] && sleep $DELAY; exec {self.TRAIN} --log-dir {self.folder}/$SLURM_JOB_ID'")
        here = "-w" + os.uname().nodename.split(".")[0]
        first = self.submit(script, "-n2", "-N1", here, DELAY=12)
        self.until("its start", lambda: run("squeue", "-h", "-j", first, "-o", "%T").strip() == "RUNNING")
        time.sleep(4)
        second = self.submit(script, "-n2", "-N1", here, DELAY=0)
        self.wait(first, second)
        self.assertRegex(self.output(first), r"refuses rank 1, process \d+ on \S+ of step 0 of job " + second)
        self.assertIn("test accuracy", self.output(first))
        self.assertIn(f"of step 0 of job {first} of Slurm, user 0, whose job is another one", self.output(second))
        self.assertNotIn("test accuracy", self.output(second))

    def test_that_nobody_chose_is_another_one_if_a_neighboring_step_has_it(self):
        script = (f"for i in $(seq $STEPS); do srun --mpi=none -n1 true; done\nsrun --mpi=none {self.TRAIN} "
                  f"--log-dir {self.folder}/$SLURM_JOB_ID")
        here = "-w" + os.uname().nodename.split(".")[0]
        jobs = [self.submit(script, "-n2", "-N1", here, STEPS=steps) for steps in (7, 0)]
        self.wait(*jobs)
        for job in jobs:
            self.assertIn("test accuracy", self.output(job))
            self.assertTrue(re.search(r"store at \S+:2\d{4}", self.output(job)), self.output(job))


if __name__ == "__main__":
    unittest.main(verbosity=2)
