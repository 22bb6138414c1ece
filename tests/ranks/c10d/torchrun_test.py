# SPDX-License-Identifier: Apache-2.0
"""Trains one example under every launcher, and under torchrun with ranks and agents that die.

Environment: STEPTAPE_EXAMPLE, the program of examples/fashion_mnist; STEPTAPE_START_RANKS;
STEPTAPE_PRELOADED_DISK, of tests/train/checkpoint; and STEPTAPE_MPIEXEC, empty without MPI.
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

PROGRAM = os.environ["STEPTAPE_EXAMPLE"]
TRAINING = ["--model", "mlp", "--batch-size", "32", "--evaluate-steps", "0", "--progress", "none",
            "--threads", "1", "--json"]
NO_LOG = ["--no-log"]
SECONDS = 240


def torchrun(*options, program=(PROGRAM,)):
    return [sys.executable, "-m", "torch.distributed.run", "--no-python", *options, *program]


def free_port():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


def result_in(output):
    """What the root printed at the end of a training."""
    lines = [line for line in output.splitlines() if line.startswith('{"ranks"')]
    if not lines:
        raise AssertionError(f"no result in:\n{output}")
    return json.loads(lines[-1])


def train(command, arguments, **variables):
    done = subprocess.run([*command, *TRAINING, *arguments], env={**os.environ, **variables},
                          timeout=SECONDS, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return result_in(done.stdout)


def train_by_srun_variables(ranks, arguments):
    """Starts the ranks with what srun tells them, and nothing else."""
    variables = {"SLURM_STEP_NUM_TASKS": str(ranks), "SLURM_JOB_ID": str(os.getpid()),
                 "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost"}
    started = [subprocess.Popen([PROGRAM, *TRAINING, *arguments], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                env={**os.environ, **variables, "SLURM_PROCID": str(rank)})
               for rank in range(ranks)]
    outputs = [rank.communicate(timeout=SECONDS)[0] for rank in started]
    if any(rank.returncode for rank in started):
        raise AssertionError("\n".join(outputs))
    return result_in(outputs[0])


def workers_below(process):
    """The ranks that a launcher has started, by number of the process."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            status = (folder / "stat").read_text()
            parent = int(status.rpartition(")")[2].split()[1])
            if parent == process and os.readlink(folder / "exe") == os.path.realpath(PROGRAM):
                found.append(int(folder.name))
    return found


def kill_node(agent):
    """Kills an agent of torchrun, and its ranks, which would go on without it."""
    agent.send_signal(signal.SIGSTOP)  # it starts no others meanwhile
    for worker in workers_below(agent.pid):
        os.kill(worker, signal.SIGKILL)
    agent.kill()


def newest_step(folder):
    steps = [int(file.stem.partition("_")[2]) for file in folder.glob("checkpoint_*.pt")
             if file.stem.partition("_")[2].isdigit()]
    return max(steps, default=0)


def losses_in(folder):
    """The curve that TensorBoard shows, by step."""
    log = EventAccumulator(str(folder))
    log.Reload()
    return [(point.step, point.value) for point in log.Scalars("loss/train")]


def wait_until(condition, what):
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {SECONDS} s: {what}")
        time.sleep(0.01)


class Launchers(unittest.TestCase):
    def test_give_the_same_parameters_to_the_bit(self):
        arguments = ["--max-steps", "20", *NO_LOG]
        alone = train([PROGRAM], arguments)
        self.assertEqual(alone["ranks"], 1)
        self.assertEqual(train(torchrun("--standalone", "--nproc-per-node=1"), arguments)["parameters"],
                         alone["parameters"])
        ranks = 3
        by_torchrun = train(torchrun("--standalone", f"--nproc-per-node={ranks}"), arguments)
        self.assertEqual(by_torchrun["ranks"], ranks)
        self.assertNotEqual(by_torchrun["parameters"], alone["parameters"])
        others = {"srun": train_by_srun_variables(ranks, arguments),
                  "variables": train([os.environ["STEPTAPE_START_RANKS"], str(ranks), PROGRAM],
                                     arguments)}
        if os.environ["STEPTAPE_MPIEXEC"]:
            others["mpiexec"] = train([os.environ["STEPTAPE_MPIEXEC"], "-n", str(ranks), PROGRAM],
                                      arguments)
        for launcher, result in others.items():
            self.assertEqual(result["ranks"], ranks, launcher)
            self.assertEqual(result["parameters"], by_torchrun["parameters"], launcher)


class Restarts(unittest.TestCase):
    def test_of_ranks_killed_at_random_end_with_the_parameters_of_an_undisturbed_training(self):
        steps = 120
        arguments = ["--max-steps", str(steps), *NO_LOG]
        undisturbed = train([os.environ["STEPTAPE_START_RANKS"], "2", PROGRAM], arguments)
        choice = random.Random(os.environ.get("STEPTAPE_SEED", "1"))
        with tempfile.TemporaryDirectory() as folder:
            checkpoints = pathlib.Path(folder) / "checkpoints"
            job = subprocess.Popen(
                [*torchrun("--standalone", "--nproc-per-node=2", "--max-restarts=10"), *TRAINING,
                 *arguments, "--checkpoint-dir", str(checkpoints), "--checkpoint-steps", "5",
                 "--resume"],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            killed = 0
            for step in (10, 40, 70, 100):
                wait_until(lambda: newest_step(checkpoints) >= step or job.poll() is not None,
                           f"a checkpoint after step {step}")
                workers = workers_below(job.pid)
                if job.poll() is None and workers:
                    time.sleep(choice.random() * 0.05)
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(choice.choice(workers), signal.SIGKILL)
                        killed += 1
            output = job.communicate(timeout=SECONDS)[0]
        self.assertEqual(job.returncode, 0, output)
        self.assertGreaterEqual(killed, 2, output)
        result = result_in(output)
        self.assertEqual(result["step"], steps)
        self.assertEqual(result["parameters"], undisturbed["parameters"])

    def test_in_the_middle_of_a_checkpoint_lose_nothing(self):
        """The root dies in the first operation of the thread that writes its checkpoint, after the
        restart in the second one, and so on, past the last one of a checkpoint."""
        arguments = ["--max-steps", "40"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            undisturbed = train([os.environ["STEPTAPE_START_RANKS"], "2", PROGRAM],
                                [*arguments, "--log-dir", str(folder / "undisturbed")])
            kills = folder / "kills"
            kills.write_text("0 20", encoding="utf-8")
            as_root = "test $RANK != 0 || export LD_PRELOAD=$STEPTAPE_PRELOADED_DISK; exec \"$@\""
            result = train(
                torchrun("--standalone", "--nproc-per-node=2", "--max-restarts=20",
                         "--monitor-interval=0.05", program=("sh", "-c", as_root, "sh", PROGRAM)),
                [*arguments, "--log-dir", str(folder / "killed"), "--checkpoint-dir",
                 str(folder / "checkpoints"), "--checkpoint-steps", "5", "--resume"],
                STEPTAPE_KILLS=str(kills))
            # The last process lives, as it has fewer operations to do.
            self.assertGreaterEqual(int(kills.read_text(encoding="utf-8").split()[0]), 11)
            self.assertEqual(result["parameters"], undisturbed["parameters"])
            points = losses_in(folder / "killed")
            self.assertEqual([step for step, _ in points], list(range(1, 41)))
            self.assertEqual(points, losses_in(folder / "undisturbed"))

    def test_continue_on_more_and_on_fewer_nodes(self):
        port = free_port()
        steps = 1000000  # out of reach: the test ends the job
        with tempfile.TemporaryDirectory() as folder:
            checkpoints = pathlib.Path(folder) / "checkpoints"
            log = pathlib.Path(folder) / "log"

            def start_agent(name):
                command = torchrun("--nnodes=1:2", "--nproc-per-node=1", "--max-restarts=10",
                                   "--rdzv-backend=c10d", f"--rdzv-endpoint=localhost:{port}",
                                   "--rdzv-id=job", "--rdzv-conf=last_call_timeout=1")
                with open(log.with_suffix("." + name), "w", encoding="utf-8") as output:
                    return subprocess.Popen(
                        [*command, *TRAINING, *NO_LOG, "--max-steps", str(steps), "--epochs", "1000",
                         "--checkpoint-dir", str(checkpoints), "--checkpoint-steps", "20",
                         "--resume", "--verbose"],
                        stdout=output, stderr=subprocess.STDOUT,
                        env={**os.environ, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"})

            def worlds():
                """The sizes of the job that rank 0 has told so far."""
                text = log.with_suffix(".first").read_text(encoding="utf-8")
                sizes = [line.split("/")[1].split(" ")[0] for line in text.splitlines()
                         if line.startswith("[rank ")]
                return [size for i, size in enumerate(sizes) if i == 0 or size != sizes[i - 1]]

            first = start_agent("first")
            second = None
            try:
                wait_until(lambda: newest_step(checkpoints) >= 20, "a checkpoint of one node")
                second = start_agent("second")
                wait_until(lambda: worlds()[-1:] == ["2"], "a job of two nodes")
                at = newest_step(checkpoints)
                wait_until(lambda: newest_step(checkpoints) > at, "a checkpoint of two nodes")
                kill_node(second)
                wait_until(lambda: worlds()[-1:] == ["1"], "a job of one node again")
                at = newest_step(checkpoints)
                wait_until(lambda: newest_step(checkpoints) > at, "a checkpoint of one node again")
            finally:
                text = log.with_suffix(".first").read_text(encoding="utf-8")
                for agent in filter(None, (first, second)):
                    kill_node(agent)
                    agent.wait()
            self.assertEqual(worlds(), ["1", "2", "1"], text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
