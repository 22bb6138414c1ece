#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/profiling.md: TensorBoard and XProf showing a profile of two ranks.

    mpiexec -n 2 build/release/bin/fashion_mnist --max-steps 100 --log-dir runs/fashion_mnist
    tests/interop/profile_pictures.py runs docs/images
"""

import gzip
import json
import urllib.parse
import urllib.request

from camera import Camera, take_pictures

SIZES = {"operators": (1600, 1000), "figures": (1200, 1800), "trace_viewer": (1400, 720)}


class ProfileCamera(Camera):
    """Takes the pictures, one method for each."""

    def about(self):
        return self._cards("text", "tf-text-loader", "profile/about", 1)

    def operators(self):
        return self._cards("text", "tf-text-loader", "profile/operators$", 1)

    def figures(self):
        self._show("images", "profile/")
        self._page.click("paper-checkbox", "Show actual image size")
        return self._crop("tf-image-loader", 3)

    def trace_viewer(self):
        run = self._get("runs")[0]
        hosts = [host["hostname"] for host in self._get("hosts", run=run, tag="trace_viewer@")]
        query = {"run": run, "tag": "trace_viewer@", "host": hosts[0], "hosts": ",".join(hosts)}
        self._page.open(f"{self._url}/?{urllib.parse.urlencode(query)}#profile")
        for host in hosts:
            self._page.wait_for_text(f"{host} /host:CPU")
        self._page.evaluate(
            "findAll('tr-ui-b-mouse-mode-selector').forEach(e => e.style.display = 'none')")
        return self._crop("canvas.drawing-container-canvas, #heading_content", 1000, margin=0)

    def _get(self, what, **query):
        """Returns XProf's sessions."""
        url = f"{self._url}/data/plugin/profile/{what}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url) as response:
            return json.loads(gzip.decompress(response.read()))


if __name__ == "__main__":
    take_pictures(ProfileCamera, "profile", SIZES)
