#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures loading a log directory into memory with Steptape, compared with TensorBoard's data server.

    benchmarks/server_load.py build/release/bin/reading_benchmark

The directory holds a run of 4,000,000 scalars and 20 runs of 100,000, in the form of torch.utils.tensorboard, on
10 tags. Both programs are timed from the start of their process: Steptape until it reports that every point of every
run is in memory, the server in Rust (tensorboard_data_server) until it has served the last point of every run, which
the script requests every 25 ms. The programs differ:

- By default the server keeps 1000 random points of a tag. Steptape keeps all points.
- By default the server checks no checksums. Steptape checks all.
- The server reads runs in parallel, on one thread per core, but each run on one thread. Steptape is timed on one
  thread and on two.

The server is therefore timed three times: with the options that TensorBoard passes, with all points, and with all
points and checksums. Only the last does the same work as Steptape. The time in which the server starts and answers is
measured on an empty directory. The variants take turns.
"""

import argparse
import os
import subprocess
import tempfile
import time

import grpc
import tensorboard_data_server
from tensorboard.data.proto import data_provider_pb2, data_provider_pb2_grpc

from rounds import print_medians, report, take_turns

SCALARS = {"long": 4_000_000, **{f"short{i:02}": 100_000 for i in range(20)}}
TAGS = 10
LAST_TAG = f"curve/{100 + TAGS - 1}"  # of the last point of every run
POINTS_BY_DEFAULT = 1000

ALL_POINTS = "--samples-per-plugin=scalars=all"
CHECKSUMS = "--checksum"

START_POLL_SECONDS = 0.001
LOAD_POLL_SECONDS = 0.025  # a hundredth of the loading time; a response takes 1 ms
MAX_SECONDS = 600


def write_runs(program, directory, scalars):
    for run, count in scalars.items():
        os.mkdir(os.path.join(directory, run))
        path = os.path.join(directory, run, "events.out.tfevents.1")
        subprocess.run([program, "--write", path, str(count)], check=True)


class DataServer:
    """A running data server; a context manager that ends it."""

    def __init__(self, directory, options):
        self._channel = None
        self._folder = tempfile.TemporaryDirectory()
        self._port_file = os.path.join(self._folder.name, "port")
        self._deadline = time.perf_counter() + MAX_SECONDS
        self._process = subprocess.Popen(
            [tensorboard_data_server.server_binary(), f"--logdir={directory}", "--reload=once",
             "--port=0", f"--port-file={self._port_file}", "--die-after-stdin", *options],
            stdin=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._channel:
            self._channel.close()
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def connect(self):
        while not (port := self._read_port()).endswith("\n"):
            self.wait(START_POLL_SECONDS)
        self._channel = grpc.insecure_channel(
            f"localhost:{port.strip()}",
            options=[("grpc.max_receive_message_length", 256 << 20)])
        self._stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(self._channel)

    def _read_port(self):
        try:
            with open(self._port_file) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def wait(self, seconds):
        if self._process.poll() is not None or time.perf_counter() > self._deadline:
            raise RuntimeError("the data server ended, or has not loaded the directory in time")
        time.sleep(seconds)

    def steps(self, runs, points):
        """LAST_TAG's steps by run, as far as loaded: at most `points` of them, the last always."""
        request = data_provider_pb2.ReadScalarsRequest()
        request.plugin_filter.plugin_name = "scalars"
        request.run_tag_filter.runs.names.extend(runs)
        request.run_tag_filter.tags.names.append(LAST_TAG)
        request.downsample.num_points = points
        response = self._stub.ReadScalars(request, wait_for_ready=True, timeout=MAX_SECONDS)
        return {run.run_name: run.tags[0].data.step for run in response.runs}


def server_seconds(directory, scalars, *options):
    written = {run: count // TAGS for run, count in scalars.items()}
    began = time.perf_counter()
    with DataServer(directory, options) as server:
        server.connect()
        pending = set(written)
        while True:
            steps = server.steps(pending, 1)
            pending -= {run for run in steps if steps[run][-1] == written[run] - 1}
            if not pending:
                break
            server.wait(LOAD_POLL_SECONDS)
        seconds = time.perf_counter() - began
        kept = {run: len(steps) for run, steps in server.steps(written, 1 << 30).items()}
    if ALL_POINTS not in options:
        written = {run: min(points, POINTS_BY_DEFAULT) for run, points in written.items()}
    assert kept == written, f"the server has {kept}"
    return seconds


def our_seconds(program, directory, scalars, threads):
    began = time.perf_counter()
    with subprocess.Popen([program, directory, str(threads)], stdout=subprocess.PIPE,
                          text=True) as process:
        line = process.stdout.readline()
        seconds = time.perf_counter() - began
    _, points = line.split()
    assert process.returncode == 0 and int(points) == sum(scalars.values()), line
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reading_benchmark", help="the program that reads")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--shrink", type=int, default=1,
                        help="divides the numbers of scalars, to try this program out")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.reading_benchmark)
    scalars = {run: count // arguments.shrink for run, count in SCALARS.items()}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as empty_folder:
        write_runs(program, folder, scalars)
        seconds = take_turns({
            "ours, one thread": lambda: our_seconds(program, folder, scalars, 1),
            "ours, one thread, again (A/A)": lambda: our_seconds(program, folder, scalars, 1),
            "ours, two threads": lambda: our_seconds(program, folder, scalars, 2),
            "server, nothing to load": lambda: server_seconds(empty_folder, {}),
            "server": lambda: server_seconds(folder, scalars),
            "server, again (A/A)": lambda: server_seconds(folder, scalars),
            "server, all points": lambda: server_seconds(folder, scalars, ALL_POINTS),
            "server, all points, checksums":
                lambda: server_seconds(folder, scalars, ALL_POINTS, CHECKSUMS),
        }, arguments.rounds)

    print_medians("Milliseconds until all points are loaded", seconds, scale=1e3)
    for name in "ours, one thread", "server":
        report(f"{name} / again", seconds[name], seconds[f"{name}, again (A/A)"],
               control=(0.9, 1.1))
    for ours in "ours, one thread", "ours, two threads":
        for theirs in "server", "server, all points", "server, all points, checksums":
            report(f"{theirs} / {ours}", seconds[theirs], seconds[ours], at_least=5)


if __name__ == "__main__":
    main()
