# SPDX-License-Identifier: Apache-2.0
"""Starts the real TensorBoard on a log directory and queries it over HTTP."""

import ctypes
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from owned_process import OwnedProcess
from patience import PATIENCE_SECONDS

LOAD_SECONDS = 120


PR_SET_PDEATHSIG = 1


def _die_with_parent():
    """Ends the process when the test is killed, which then ends nothing itself."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TensorBoard(OwnedProcess):
    """A running TensorBoard; a context manager that always ends it, with all its processes.

    fast=True is what users get: the data server in Rust. False is the loader in Python. data_server names another
    program as the data server. samples is the value of --samples_per_plugin; None: TensorBoard's own. verbose makes the
    data server tell what it does, which log() returns.
    """

    SAMPLES = "scalars=100000000,images=1000,histograms=1000,text=1000"

    def __init__(self, log_dir, fast=True, data_server=None, samples=SAMPLES, verbose=False):
        self.log_dir = log_dir
        self._log = tempfile.TemporaryFile("w+")
        # It leaves files named by process numbers here, which another user's TensorBoard may have had.
        self._scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", log_dir,
                   "--host", "127.0.0.1", "--port", str(port),
                   "--load_fast", "true" if fast else "false", "--reload_interval", "1",
                   *(["--samples_per_plugin", samples] if samples else []),
                   *(["--extra_data_server_flags=--verbose"] if verbose else [])]
        environment = {**os.environ, "TMPDIR": self._scratch.name}
        environment.pop("RUST_LOG", None)
        environment.pop("TENSORBOARD_DATA_SERVER_BINARY", None)
        if data_server:
            environment["TENSORBOARD_DATA_SERVER_BINARY"] = data_server
        # Its own session, so that the data server that it starts ends with it.
        self._process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT,
                                         env=environment,
                                         start_new_session=True, preexec_fn=_die_with_parent)

    def _release(self):
        self._log.close()
        self._scratch.cleanup()

    def _begin(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                self.get("environment")
                self._loads_until = time.monotonic() + LOAD_SECONDS
                return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise RuntimeError(f"TensorBoard did not start:\n{self.log()}")

    def log(self):
        """What TensorBoard and its data server have printed."""
        # Not seek(): the processes write at the same offset.
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode(errors="replace")

    def get_bytes(self, path, **query):
        with self._open(path, query, None) as response:
            return _body(response)

    def fetch(self, path, query=None, form=None):
        """Returns status, content type and body, also of an answer that is an error. `form` is sent by POST.

        A path that begins with a slash is not one below data/.
        """
        try:
            with self._open(path, query, form) as response:
                return response.status, response.headers.get("Content-Type", ""), _body(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers.get("Content-Type", ""), _body(error)

    def _open(self, path, query, form):
        url = self.url + (path if path.startswith("/") else f"/data/{path}")
        if query:
            url += "?" + urllib.parse.urlencode(query)
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        return urllib.request.urlopen(url, data, timeout=PATIENCE_SECONDS)

    def get(self, path, **query):
        return json.loads(self.get_bytes(path, **query))

    def eventually(self, check):
        """As the function, because TensorBoard loads in the background for a while."""
        return eventually(check, self._loads_until)


def _body(response):
    data = response.read()
    # Plugins compress even if the request does not allow it.
    return gzip.decompress(data) if response.headers.get("Content-Encoding") == "gzip" else data


def eventually(check, deadline):
    """Calls check() until it raises no AssertionError, and returns its result.

    Raises the last AssertionError when check() still fails at the deadline, in time.monotonic().
    """
    while True:
        try:
            return check()
        except (AssertionError, urllib.error.HTTPError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.25)
