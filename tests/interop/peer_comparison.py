# SPDX-License-Identifier: Apache-2.0
"""Three logs of the same numbers, Steptape's and two peers', each shown by a TensorBoard."""

import contextlib
import os
import subprocess
import tempfile
import time

import peer_graph
import peer_logs
import peer_numbers
from patience import PATIENCE_SECONDS
from tensorboard_server import LOAD_SECONDS, TensorBoard, eventually


class Log:
    """A log directory and the TensorBoard that shows it."""

    def __init__(self, directory, fast):
        self.directory = directory
        self.server = TensorBoard(directory, fast=fast)

    def get(self, plugin, route, **query):
        return self.server.get(f"plugin/{plugin}/{route}", **query)

    def get_bytes(self, plugin, route, **query):
        return self.server.get_bytes(f"plugin/{plugin}/{route}", **query)

    def blobs(self, plugin, route, individual, run, tag, sample=0):
        """The files that a page of images or sounds loads for a tag, one for each step."""
        shown = self.get(plugin, route, run=run, tag=tag, sample=sample)
        return [self.get_bytes(plugin, individual + "?" + entry["query"]) for entry in shown]


class PeerComparison:
    """The base of the tests of each kind of value. `fast` selects TensorBoard's loader.

    self.steptape, self.tensorboardx and self.torch are Logs with the same runs and tags.
    """

    fast: bool

    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.arrays = peer_numbers.make()
        folders = {name: os.path.join(directory, name)
                   for name in ("numbers", "steptape", "tensorboardX", "torch")}
        peer_numbers.save(cls.arrays, folders["numbers"])
        subprocess.run([os.environ["STEPTAPE_PEER_WRITER"], folders["numbers"],
                        folders["steptape"], peer_graph.ONNX_FILE],
                       check=True, timeout=PATIENCE_SECONDS)
        with contextlib.redirect_stdout(None):  # they print which tags they rename
            peer_logs.TensorboardX(folders["tensorboardX"], cls.arrays).log_all()
            peer_logs.Torch(folders["torch"], cls.arrays).log_all()
        cls.steptape, cls.tensorboardx, cls.torch = (
            Log(folders[name], cls.fast) for name in ("steptape", "tensorboardX", "torch"))
        cls.peers = (cls.tensorboardx, cls.torch)
        for log in (cls.steptape, *cls.peers):
            cls.enterClassContext(log.server)
        cls._loaded_by = time.monotonic() + LOAD_SECONDS

    def eventually(self, check):
        """Calls check() until it passes, because TensorBoard loads in the background."""
        return eventually(check, self._loaded_by)

    def assert_same(self, fetch, peers=None):
        """fetch(log) returns the same nonempty result for Steptape and for each other writer."""
        def check():
            ours = fetch(self.steptape)
            self.assertTrue(ours)
            for peer in peers or self.peers:
                self.assertEqual(ours, fetch(peer), peer.directory)

        self.eventually(check)
