# SPDX-License-Identifier: Apache-2.0
"""What TensorBoard's two loaders show of a log directory, without a browser and without a port.

The real data server, the real Python loader and the real handlers of the pages, called in this process: a small log
directory takes some 20 ms, so that hundreds of them can be compared.
"""

import contextlib
import json
import logging
import os
import subprocess
import tempfile
from typing import NamedTuple, Optional

import tensorboard_data_server
import werkzeug.test
from tensorboard import default, program
from tensorboard.backend import application
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.data import server_ingester
from tensorboard.util import grpc_util

PAGES = ("scalars", "histograms", "text", "images", "audio", "pr_curves")
_MANY = 100_000


class Answer(NamedTuple):
    """A page's answer for a tag: its HTTP status and points, each (step, wall time, value); None if it fails."""
    status: int
    points: Optional[list]


class Page(NamedTuple):
    """A page's list of tags: its HTTP status, and the answer for each (run, tag)."""
    status: int
    tags: dict


def _tensorboard():
    for name in ("tensorboard", "werkzeug"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    tensorboard = program.TensorBoard(plugins=default.get_static_plugins())
    samples = ",".join(f"{page}={_MANY}" for page in PAGES)
    tensorboard.configure(argv=["tensorboard", "--logdir", "none", "--samples_per_plugin", samples])
    return tensorboard


_TENSORBOARD = _tensorboard()
# Other plugins take ten times as long to start as a small log directory takes to read.
_PLUGINS = [application.make_plugin_loader(plugin) for plugin in default.get_static_plugins()
            if getattr(plugin, "plugin_name", None) in (*PAGES, "distributions")]


def pages(log_dir, fast):
    """Returns {name: Page} for PAGES, as a user of TensorBoard gets them with --load_fast=true or false.

    A loader that ends with an error shows nothing of any run: all pages are then Page(500, {}).
    """
    with _data_server(log_dir) if fast else _python_loader(log_dir) as provider:
        if provider is None:
            return {page: Page(500, {}) for page in PAGES}
        client = _Client(provider)
        return {page: client.page(page) for page in PAGES}


@contextlib.contextmanager
def _data_server(log_dir):
    with tempfile.TemporaryDirectory() as scratch:
        port_file = os.path.join(scratch, "port")
        samples = ",".join(f"{page}=all" for page in PAGES)
        command = [tensorboard_data_server.server_binary(), f"--logdir={log_dir}", "--reload=once",
                   f"--samples-per-plugin={samples}", "--port=0", f"--port-file={port_file}",
                   "--die-after-stdin", "--verbose"]
        environment = {name: value for name, value in os.environ.items() if name != "RUST_LOG"}
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment) as server:
            try:
                if not any("Finished load cycle" in line for line in server.stderr):
                    raise RuntimeError("the data server ended")
                with open(port_file, encoding="ascii") as file:
                    address = f"localhost:{int(file.read())}"
                ingester = server_ingester.ExistingServerDataIngester(
                    address, channel_creds_type=grpc_util.ChannelCredsType.LOCAL)
                ingester.start()
                yield ingester.data_provider
            finally:
                server.kill()


@contextlib.contextmanager
def _python_loader(log_dir):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(size_guidance={"tensors": 0})
    multiplexer.AddRunsFromDirectory(log_dir)
    try:
        multiplexer.Reload()
    except Exception:  # whatever it is, TensorBoard's thread that loads all runs ends with it
        yield None
    else:
        yield data_provider.MultiplexerDataProvider(multiplexer, log_dir)


class _Client:
    def __init__(self, provider):
        self._client = werkzeug.test.Client(application.TensorBoardWSGIApp(
            _TENSORBOARD.flags, _PLUGINS, provider,
            _TENSORBOARD.assets_zip_provider, None))

    def page(self, name):
        status, runs = self._get(f"{name}/tags")
        if status != 200:
            return Page(status, {})
        answer = getattr(self, f"_{name}")
        return Page(status, {(run, tag): answer(run, tag, tags[tag] if isinstance(tags, dict) else {})
                             for run, tags in runs.items() for tag in tags})

    def _get(self, path, **query):
        status, content = self._bytes(path, **query)
        return status, json.loads(content) if status == 200 else None

    def _bytes(self, path, query_string=None, **query):
        try:
            response = self._client.get(f"/data/plugin/{path}", query_string=query_string or query)
        except Exception:  # the server answers 500
            return 500, b""
        return response.status_code, response.data

    def _scalars(self, run, tag, _):
        # The page asks for all runs at once.
        try:
            response = self._client.post("/data/plugin/scalars/scalars_multirun",
                                         data={"tag": tag, "runs": [run]})
        except Exception:
            return Answer(500, None)
        if response.status_code != 200:
            return Answer(response.status_code, None)
        return Answer(200, [(step, _number(time), _number(value))
                            for time, step, value in json.loads(response.data)[run]])

    def _histograms(self, run, tag, _):
        for path in ("distributions/distributions", "histograms/histograms"):
            status, found = self._get(path, run=run, tag=tag)
            if status != 200:
                break
        return Answer(status, found and [(step, _number(time), _number(rows))
                                         for time, step, rows in found] or found)

    def _text(self, run, tag, _):
        status, found = self._get("text/text", run=run, tag=tag)
        return Answer(status, found and [(text["step"], _number(text["wall_time"]), text["text"])
                                         for text in found] or found)

    def _pr_curves(self, run, tag, _):
        status, found = self._get("pr_curves/pr_curves", run=run, tag=tag)
        return Answer(status, found and [(curve["step"], _number(curve["wall_time"]), curve["recall"])
                                         for curve in found[run]])

    def _images(self, run, tag, info):
        return self._blobs("images/images", "images/individualImage", run, tag, info)

    def _audio(self, run, tag, info):
        return self._blobs("audio/audio", "audio/individualAudio", run, tag, info)

    def _blobs(self, path, blob_path, run, tag, info):
        """Values are (sample, content); the page asks for each sample of a tag."""
        points = []
        for sample in range(info["samples"] or 0):  # None: a restart has discarded all
            status, found = self._get(path, run=run, tag=tag, sample=sample)
            if status != 200:
                return Answer(status, None)
            for each in found:
                status, content = self._bytes(blob_path, query_string=each["query"])
                if status != 200:
                    return Answer(status, None)
                points.append((each["step"], _number(each["wall_time"]), (sample, content)))
        return Answer(200, points)


def _number(value):
    """JSON holds numbers that are not finite as text."""
    if isinstance(value, list):
        return [_number(each) for each in value]
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value
