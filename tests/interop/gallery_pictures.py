#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the pictures of docs/gallery.md: TensorBoard's pages with the values of the gallery.

    build/release/bin/gallery runs/gallery    # with LibTorch, the component figure and Fashion-MNIST
    tests/interop/gallery_pictures.py runs docs/images
"""

import screenshot
from camera import Camera, take_pictures

SIZES = {"text": (1000, 1000), "custom_scalars": (1600, 1000), "figures": (1800, 1300),
         "graph": (1100, 1400), "projector": (1440, 860)}  # Of the window.
TRUE_COLOR = ("images", "meshes", "projector")  # Shades that 256 colors would break into bands.


class GalleryCamera(Camera):
    """Takes the pictures, one method for each."""

    def scalars(self):
        return self._cards("timeseries", "card-view", "loss/|waves", 3)

    def custom_scalars(self):
        return self._cards("custom_scalars", "tf-custom-scalar-multi-line-chart-card, "
                           "tf-custom-scalar-margin-chart-card", ".", 3)

    def histograms(self):
        return self._cards("histograms", "tf-histogram-loader", "weights|activations", 3)

    def distributions(self):
        return self._cards("distributions", "tf-distribution-loader", "weights|activations", 3)

    def images(self):
        self._show("images", "batch|boxes|julia|^rings$")
        return self._crop("tf-image-loader", 4, moving=True)

    def figures(self):
        self._show("images", "confusion|curves|overview")
        self._page.click("paper-checkbox", "Show actual image size")
        return self._crop("tf-image-loader", 3)

    def audio(self):
        return self._cards("audio", "tf-audio-loader", "chirp|fifth", 2)

    def text(self):
        return self._cards("text", "tf-text-loader", "notes|samples", 2)

    def meshes(self):
        return self._cards("mesh", "tf-mesh-loader", ".", 2)

    def pr_curves(self):
        return self._cards("pr_curves", "tf-pr-curve-card", "cats|dogs", 2)

    def projector(self):
        self._show("projector", ".")
        self._page.click("paper-item", "fashion:00000 1000x784")
        self._page.wait_for_text("Points: 1000")
        self._page.evaluate(
            "findAll('#main >> paper-icon-button').forEach(e => e.style.display = 'none')")
        return self._crop("#scatter", 1, moving=True, margin=-10)  # It turns.

    def hparams(self):
        self._show("hparams", ".")
        self._page.click("paper-tab", "PARALLEL COORDINATES VIEW")
        return self._crop("tf-hparams-parallel-coords-plot >> svg", 1)

    def graph(self):
        self._page.open(f"{self._url}/#graphs")
        self._page.click("tf-graph-controls >> paper-item", "gallery")
        scope = ""
        for level in ("ResNet", "/layer1[Sequential]", "/0[Block]", "/residual"):
            scope += level
            self._page.double_click(f'g.node[data-name="{scope}"] > .nodeshape')
        screenshot.wait_until_drawn(self._page)
        # Removes the red frame of the selected node, and the overview.
        self._page.evaluate("findAll('#svg')[0].dispatchEvent(new MouseEvent('click'))")
        self._page.evaluate("findAll('tf-graph-minimap')[0].style.display = 'none'")
        self._page.evaluate("findAll('tf-graph-scene')[0].fit()")
        return self._crop("g#root", 1)


if __name__ == "__main__":
    take_pictures(GalleryCamera, "gallery", SIZES, TRUE_COLOR)
