# SPDX-License-Identifier: Apache-2.0
"""Runs a data server for TensorBoard without TensorBoard, and calls it through gRPC."""

import os
import subprocess
import tempfile
import time

import grpc
from tensorboard.data.proto import data_provider_pb2_grpc

from owned_process import OwnedProcess
from patience import PATIENCE_SECONDS

SERVICE = "/tensorboard.data.TensorBoardDataProvider/"
MESSAGE_BYTES = 256 << 20  # what TensorBoard accepts


class DataServer(OwnedProcess):
    """A running data server; a context manager that always ends it. Options are as on the command line."""

    def __init__(self, program, log_dir, *options):
        self._scratch = tempfile.TemporaryDirectory()
        self._port_file = os.path.join(self._scratch.name, "port")
        self._log = tempfile.TemporaryFile()
        self._channel = None
        self._process = subprocess.Popen(
            [program, f"--logdir={log_dir}", "--reload=1", "--port=0", f"--port-file={self._port_file}",
             "--die-after-stdin", "--verbose", *options],
            stdin=subprocess.PIPE, stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True,
            env={name: value for name, value in os.environ.items() if name != "RUST_LOG"})

    def _begin(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (port := self._read_port()).endswith("\n"):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the data server did not start:\n{self.log()}")
            time.sleep(0.005)
        self._channel = grpc.insecure_channel(f"localhost:{port.strip()}",
                                              options=[("grpc.max_receive_message_length", MESSAGE_BYTES)])
        self.stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(self._channel)

    def _read_port(self):
        try:
            with open(self._port_file, encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def _release(self):
        if self._channel:
            self._channel.close()
        self._process.stdin.close()
        self._log.close()
        self._scratch.cleanup()

    def log(self):
        """What the data server has printed."""
        return os.pread(self._log.fileno(), os.fstat(self._log.fileno()).st_size, 0).decode(errors="replace")

    def call(self, method, request, patience=PATIENCE_SECONDS):
        """Returns the answer's message; of ReadBlob, a list of them."""
        answer = getattr(self.stub, method)(request, wait_for_ready=True, timeout=patience)
        return list(answer) if method == "ReadBlob" else answer

    def call_with_bytes(self, method, request):
        """Sends bytes as the request and returns those of the answer."""
        return self._channel.unary_unary(method if method.startswith("/") else SERVICE + method)(
            request, wait_for_ready=True, timeout=PATIENCE_SECONDS)
