#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Steptape's data server for TensorBoard, side by side with tensorboard_data_server 0.7.2.

    benchmarks/data_server.py build/release/bin/steptape-data-server build/release/bin/interop_writer --directory /data

- load: processor time, wall time and peak memory until every point of 500 runs with 20 tags of 1000 points, in the form
  of torch.utils.tensorboard, can be requested. 0.7.2 is measured with its default, which keeps 1000 points of a tag,
  and with all points. Steptape's server keeps all points in both cases.
- requests: the list of all scalars of these runs, and one tag of all runs, without the client's decoding.
- descriptors: how many of 10,000 runs a server lists under `ulimit -n 256`.
- idle: processor time of a server with 3,000 runs that do not change, at TensorBoard's default interval.
- start: the time from the start of the process to the port in its file.
- live: the age of the newest point on TensorBoard's page, of a Steptape writer that never flushes.

The variants take turns. Run it on an idle machine: both servers use all processors while they load. To try this program
out, use --shrink, which divides the numbers of runs.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import grpc
import numpy as np
import tensorboard_data_server
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.data.proto import data_provider_pb2 as protocol
from tensorboard.data.proto import data_provider_pb2_grpc

from rounds import print_medians, report, take_turns

RUNS, TAGS, POINTS = 500, 20, 1000
MANY_RUNS, DESCRIPTORS = 10_000, 256
IDLE_RUNS, IDLE_TAGS, IDLE_POINTS = 3000, 10, 20
IDLE_SECONDS = 30
STARTS = 30
LIVE_POINTS_APART_MS = 100
LIVE_LOOKS = 50

ALL_POINTS = "--samples-per-plugin=scalars=all"
DISTINCT_FILES = 10  # the other runs are copies
MAX_SECONDS = 600
LOAD_POLL_SECONDS = 0.025
SERVICE = "/tensorboard.data.TensorBoardDataProvider/"

LOAD_PARTS = ("load", "requests")
PARTS = (*LOAD_PARTS, "descriptors", "idle", "start", "live")


def tag_name(number):
    return f"group/curve_{number:03}"


def write_runs(directory, runs, tags, points):
    """Writes the runs, unless an earlier call of this program has."""
    done = os.path.join(directory, "complete")
    if os.path.exists(done):
        return os.path.join(directory, "logs")
    shutil.rmtree(directory, ignore_errors=True)
    files = [b"".join(_records(seed, tags, points)) for seed in range(min(runs, DISTINCT_FILES))]
    for number in range(runs):
        run = os.path.join(directory, "logs", f"run_{number:05}")
        os.makedirs(run)
        with open(os.path.join(run, f"events.out.tfevents.17000{number:05}.host.1.0"), "wb") as file:
            file.write(files[number % len(files)])
    open(done, "wb").close()
    return os.path.join(directory, "logs")


def _records(seed, tags, points):
    numbers = np.random.default_rng(seed).standard_normal((points, tags)).cumsum(axis=0)
    began = 1.7e9 + seed
    yield _record(event_pb2.Event(wall_time=began, file_version="brain.Event:2"))
    for step in range(points):
        for tag in range(tags):
            value = summary_pb2.Summary.Value(tag=tag_name(tag), simple_value=numbers[step, tag])
            summary = summary_pb2.Summary(value=[value])
            yield _record(event_pb2.Event(wall_time=began + step, step=step, summary=summary))


def _record(event):
    payload = event.SerializeToString()
    length = struct.pack("<Q", len(payload))
    return (length + struct.pack("<I", masked_crc32c(length)) + payload + struct.pack("<I", masked_crc32c(payload)))


class Server:
    """A running data server; a context manager that ends it."""

    def __init__(self, program, directory, *options, descriptors=None):
        def limit():
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self._folder = tempfile.TemporaryDirectory()
        self._port_file = os.path.join(self._folder.name, "port")
        self._channel = None
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [program, f"--logdir={directory}", "--port=0", f"--port-file={self._port_file}", "--die-after-stdin",
             *options], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limit if descriptors else None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._channel:
            self._channel.close()
        self.process.kill()
        self.process.communicate()
        self._folder.cleanup()

    def port(self):
        while True:
            with contextlib.suppress(FileNotFoundError), open(self._port_file, encoding="ascii") as file:
                text = file.read()
                if text.endswith("\n"):
                    return text.strip()
            self.wait(0.0001)

    def connect(self):
        self._channel = grpc.insecure_channel(f"localhost:{self.port()}",
                                              options=[("grpc.max_receive_message_length", 256 << 20)])
        self.stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(self._channel)
        return self

    def wait(self, seconds):
        if self.process.poll() is not None or time.perf_counter() - self.began > MAX_SECONDS:
            raise RuntimeError("the data server ended, or has not answered in time")
        time.sleep(seconds)

    def steps(self, runs, tag, points):
        """{run: steps} of a tag, as far as loaded: at most `points` of them, the last always. None: of all runs."""
        request = read_request(tag, points)
        if runs is not None:
            request.run_tag_filter.runs.names.extend(runs)
        answer = self.stub.ReadScalars(request, wait_for_ready=True, timeout=MAX_SECONDS)
        return {run.run_name: run.tags[0].data.step for run in answer.runs}

    def number_of_runs(self):
        return len(self.stub.ListRuns(protocol.ListRunsRequest(), wait_for_ready=True, timeout=10).runs)

    def wait_until_loaded(self, runs, tags, points):
        """Every file ends with the last point of the last tag."""
        pending = {f"run_{number:05}" for number in range(runs)}
        while pending:
            found = self.steps(pending, tag_name(tags - 1), 1)
            pending -= {run for run, steps in found.items() if steps[-1:] == [points - 1]}
            if pending:
                self.wait(LOAD_POLL_SECONDS)

    def seconds_of(self, method, request):
        """Wall time of a call whose answer is not decoded."""
        call = self._channel.unary_unary(SERVICE + method)
        began = time.perf_counter()
        call(request.SerializeToString(), timeout=MAX_SECONDS)
        return time.perf_counter() - began

    def processor_seconds(self):
        # The clock of another process: see clock_getcpuclockid().
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def read_request(tag, points):
    request = protocol.ReadScalarsRequest()
    request.plugin_filter.plugin_name = "scalars"
    request.run_tag_filter.tags.names.append(tag)
    request.downsample.num_points = points
    return request


def list_request():
    return protocol.ListScalarsRequest(plugin_filter={"plugin_name": "scalars"})


class Costs:
    """Several costs of one call of a variant, of which take_turns() sees the first."""

    def __init__(self):
        self.by_name = {}

    def noted(self, name, measure):
        def call():
            costs = measure()
            self.by_name.setdefault(name, []).append(costs)
            return next(iter(costs.values()))

        return call

    def of(self, kind):
        """{variant: costs}, without those of the warm-up."""
        return {name: [costs[kind] for costs in each[1:]] for name, each in self.by_name.items()}


def load_costs(program, log_dir, size, *options):
    """Of one load: processor and wall seconds, peak memory."""
    runs, tags, points = size
    with Server(program, log_dir, "--reload=once", *options) as server:
        server.connect().wait_until_loaded(*size)
        wall = time.perf_counter() - server.began
        costs = {"processor": server.processor_seconds(), "wall": wall, "memory": server.peak_bytes()}
        kept = server.steps(None, tag_name(0), 1 << 40)
        assert len(kept) == runs and all(len(steps) == points for steps in kept.values()), "points are missing"
        return costs


def measure_load(ours, theirs, log_dir, size, rounds):
    costs = Costs()
    take_turns({name: costs.noted(name, measure) for name, measure in {
        "0.7.2": lambda: load_costs(theirs, log_dir, size),
        "0.7.2, again (A/A)": lambda: load_costs(theirs, log_dir, size),
        "0.7.2, all points": lambda: load_costs(theirs, log_dir, size, ALL_POINTS),
        "ours": lambda: load_costs(ours, log_dir, size),
    }.items()}, rounds)
    for kind, scale, unit, most in (("processor", 1, "s", 0.10), ("wall", 1, "s", 0.15), ("memory", 1e-6, "MB", 0.25)):
        found = costs.of(kind)
        print_medians(f"Until all points are loaded: {kind}, {unit}", found, scale)
        report("0.7.2 / again", found["0.7.2"], found["0.7.2, again (A/A)"], control=(0.9, 1.1))
        for name in "0.7.2", "0.7.2, all points":
            report(f"ours / {name}", found["ours"], found[name], at_most=most)
    bytes_per_point = statistics.median(costs.of("memory")["ours"]) / (size[0] * size[1] * size[2])
    print(f"  ours: {bytes_per_point:.1f} bytes of memory for each point")


def measure_requests(ours, theirs, log_dir, size, rounds):
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(program, log_dir, "--reload=once")).connect()
                   for name, program in {"0.7.2": theirs, "0.7.2, again (A/A)": theirs, "ours": ours}.items()}
        for server in servers.values():
            server.wait_until_loaded(*size)
        for title, method, request in (
                ("List of all scalars", "ListScalars", list_request()),
                ("One tag of all runs", "ReadScalars", read_request(tag_name(size[1] // 2), POINTS))):
            seconds = take_turns({
                name: lambda server=server: statistics.median(server.seconds_of(method, request) for _ in range(5))
                for name, server in servers.items()}, rounds)
            print_medians(f"{title}, ms", seconds, 1e3)
            report("0.7.2 / again", seconds["0.7.2"], seconds["0.7.2, again (A/A)"], control=(0.9, 1.1))
            report("ours / 0.7.2", seconds["ours"], seconds["0.7.2"], at_most=0.33)


def runs_with_few_descriptors(program, log_dir, runs):
    """How many runs the server lists in the end, and what became of it."""
    with Server(program, log_dir, "--reload=1", descriptors=DESCRIPTORS) as server:
        try:
            server.connect()
            deadline = time.perf_counter() + 60
            while (found := server.number_of_runs()) < runs and time.perf_counter() < deadline:
                server.wait(0.2)
            return found, "answers"
        except (RuntimeError, grpc.RpcError) as error:
            return 0, error.code().name if isinstance(error, grpc.RpcError) else "has ended"


def measure_descriptors(ours, theirs, log_dir, runs):
    print(f"\nRuns listed of {runs} under ulimit -n {DESCRIPTORS}")
    for name, program in (("0.7.2", theirs), ("ours", ours)):
        found, state = runs_with_few_descriptors(program, log_dir, runs)
        print(f"  {name:52} {found:10}  {state}")


def measure_idle(ours, theirs, log_dir, size, rounds, idle_seconds):
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(Server(program, log_dir, "--reload=5")).connect()
                   for name, program in {"0.7.2": theirs, "0.7.2, again (A/A)": theirs, "ours": ours}.items()}
        for server in servers.values():
            server.wait_until_loaded(*size)
        shares = {name: [] for name in servers}
        for _ in range(rounds + 1):
            before = {name: server.processor_seconds() for name, server in servers.items()}
            time.sleep(idle_seconds)
            for name, server in servers.items():
                shares[name].append((server.processor_seconds() - before[name]) / idle_seconds)
    shares = {name: each[1:] for name, each in shares.items()}
    print_medians(f"Idle with {size[0]} runs, percent of a core", shares, 100)
    report("0.7.2 / again", shares["0.7.2"], shares["0.7.2, again (A/A)"], control=(0.9, 1.1))
    report("ours / 0.7.2", shares["ours"], shares["0.7.2"], at_most=0.05)


def start_seconds(program, log_dir):
    with Server(program, log_dir, "--reload=once") as server:
        server.port()
        return time.perf_counter() - server.began


def measure_start(ours, theirs, log_dir):
    seconds = take_turns({
        "0.7.2": lambda: start_seconds(theirs, log_dir), "0.7.2, again (A/A)": lambda: start_seconds(theirs, log_dir),
        "ours": lambda: start_seconds(ours, log_dir)}, STARTS)
    print_medians("From the start of the process to the port in its file, ms", seconds, 1e3)
    report("0.7.2 / again", seconds["0.7.2"], seconds["0.7.2, again (A/A)"], control=(0.8, 1.25))
    median = statistics.median(seconds["ours"])
    verdict = "within" if median <= 0.008 else "MISSES"
    print(f"  ours: {1e3 * median:.1f} ms, {verdict} 8 ms; TensorBoard looks after 10 ms")


@contextlib.contextmanager
def tensorboard(program, log_dir):
    """The URL of a running TensorBoard with this data server."""
    environment = {**os.environ, "TENSORBOARD_DATA_SERVER_BINARY": program}
    with tempfile.TemporaryFile() as log, subprocess.Popen(
            [sys.executable, "-m", "tensorboard.main", "--logdir", log_dir, "--host", "127.0.0.1", "--port", "0", "--load_fast", "true"],
            stdout=log, stderr=subprocess.STDOUT, env=environment) as board:
        try:
            while b"http://" not in (text := os.pread(log.fileno(), 1 << 16, 0)):
                if board.poll() is not None:
                    raise RuntimeError(text.decode())
                time.sleep(0.05)
            yield text[text.index(b"http://"):].split()[0].decode().rstrip("/")
        finally:
            board.kill()


def ages_on_the_page(writer, program):
    """Seconds since the newest point that the page shows was logged, at moments that do not depend on the writer."""
    with tempfile.TemporaryDirectory() as log_dir, subprocess.Popen(
            [writer, "live", log_dir, str(LIVE_POINTS_APART_MS)]) as process:
        try:
            with tensorboard(program, log_dir) as url:
                query = urllib.parse.urlencode({"tag": "loss", "run": "."})
                ages = []
                deadline = time.time() + MAX_SECONDS
                while len(ages) < LIVE_LOOKS and time.time() < deadline:
                    time.sleep(0.173)
                    with contextlib.suppress(urllib.error.HTTPError):
                        with urllib.request.urlopen(f"{url}/data/plugin/scalars/scalars?{query}") as answer:
                            ages.append(time.time() - json.load(answer)[-1][0])
                return ages
        finally:
            process.kill()


def measure_live(ours, theirs, writer):
    print("\nSeconds since the newest point on TensorBoard's page was logged, of a point every "
          f"{LIVE_POINTS_APART_MS} ms")
    for name, program in (("0.7.2", theirs), ("ours", ours)):
        ages = sorted(ages_on_the_page(writer, program))
        print(f"  {name:52} median {statistics.median(ages):8.3f}  largest {ages[-1]:8.3f}")
    late = ages[int(0.95 * len(ages))]
    most = 0.3 + LIVE_POINTS_APART_MS / 1000
    verdict = "within" if late <= most else "MISSES"
    print(f"  ours: 95 % are at most {late:.3f} s old, {verdict} {most:.1f} s: 0.3 s and the time between two points")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("server", help="steptape-data-server")
    parser.add_argument("interop_writer", help="the program that logs without flush")
    parser.add_argument("--directory", help="keeps the written runs here for later calls")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--shrink", type=int, default=1, help="divides the numbers of runs, to try this program out")
    arguments = parser.parse_args()
    ours, theirs = os.path.abspath(arguments.server), tensorboard_data_server.server_binary()
    with contextlib.ExitStack() as stack:
        folder = arguments.directory or stack.enter_context(tempfile.TemporaryDirectory())

        def runs(count, tags, points):
            size = max(1, count // arguments.shrink), tags, points
            return write_runs(os.path.join(folder, "x".join(map(str, size))), *size), size

        if set(arguments.parts) & set(LOAD_PARTS):
            log_dir, size = runs(RUNS, TAGS, POINTS)
            if "load" in arguments.parts:
                measure_load(ours, theirs, log_dir, size, arguments.rounds)
            if "requests" in arguments.parts:
                measure_requests(ours, theirs, log_dir, size, arguments.rounds)
        if "descriptors" in arguments.parts:
            log_dir, size = runs(MANY_RUNS, 2, 3)
            measure_descriptors(ours, theirs, log_dir, size[0])
        if "idle" in arguments.parts:
            log_dir, size = runs(IDLE_RUNS, IDLE_TAGS, IDLE_POINTS)
            measure_idle(ours, theirs, log_dir, size, min(3, arguments.rounds), IDLE_SECONDS / min(6, arguments.shrink))
        if "start" in arguments.parts:
            measure_start(ours, theirs, stack.enter_context(tempfile.TemporaryDirectory()))
        if "live" in arguments.parts:
            measure_live(ours, theirs, os.path.abspath(arguments.interop_writer))


if __name__ == "__main__":
    main()
