#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a real browser, each page of TensorBoard shows the gallery's values.

STEPTAPE_DATA_SERVER names the data server that TensorBoard starts instead of its own.
"""

import collections
import os
import subprocess
import tempfile
import unittest
import urllib.parse
import urllib.request

import screenshot
from browser import Page
from google.protobuf import text_format
from page_case import PageCase
from patience import PATIENCE_SECONDS
from tensorboard.compat.proto import config_pb2
from tensorboard_server import TensorBoard

ONNX_MODEL = os.path.join(os.path.dirname(__file__), os.pardir, "golden", "resnet.onnx")

url = None
page = None

# TensorBoard 2.21's projector shows how much its components explain before it has computed them, where
# the machine is slow; the number appears a moment later.
VIEWER_DEFECT = "updateTotalVarianceMessage"


def setUpModule():
    global url, page
    runs = unittest.enterModuleContext(tempfile.TemporaryDirectory())
    subprocess.run([os.environ["STEPTAPE_GALLERY"], os.path.join(runs, "gallery"),
                    "--onnx", ONNX_MODEL], check=True, timeout=PATIENCE_SECONDS)
    url = unittest.enterModuleContext(
        TensorBoard(runs, data_server=os.environ.get("STEPTAPE_DATA_SERVER"))).url
    page = unittest.enterModuleContext(Page(1400, 1000))


class GalleryCase(PageCase):
    def setUp(self):
        self.page = page

    def tearDown(self):
        errors = [error for error in self.page.errors() if VIEWER_DEFECT not in error]
        self.assertEqual(errors, [], "the browser's console")

    def show(self, name, *texts, tags="."):
        """Opens a page with the tags that match, and waits for texts on it.

        The older pages show these tags first, and then the others.
        """
        screenshot.show(self.page, url, name, tags)
        for text in texts:
            self.page.wait_for_text(text)

    def show_graph(self, run):
        self.page.open(f"{url}/#graphs")
        self.page.click("tf-graph-controls >> paper-item", run)

    def assert_all_colored(self, path, number, least):
        """There are enough such elements, and something is drawn in each."""
        for index in range(number):
            self.eventually(lambda: self.assert_colored(path, least, index))

    def assert_image_sizes(self, path, *expected):
        """The browser has decoded images of these widths and heights."""
        def check():
            sizes = self.page.all(path, "`${e.naturalWidth}x${e.naturalHeight}`")
            self.assertEqual(collections.Counter(expected) - collections.Counter(sizes), {})

        self.eventually(check)

    def shown_nodes(self):
        """Names of the graph's nodes that are drawn, with their scopes."""
        return set(self.page.all("g.node", "e.getAttribute('data-name')"))


class Pages(GalleryCase):
    def test_time_series_shows_curves_histograms_and_images(self):
        self.show("timeseries", "accuracy/test", "julia", "two dice",
                  tags="accuracy/test|loss/test|julia|dice")
        self.assert_all_colored("line-chart", 2, 300)
        self.assert_all_colored("tb-histogram", 1, 1000)
        self.assert_image_sizes("image-card img", "256x256")

    def test_scalars_shows_curves_with_their_names(self):
        self.show("scalars", "Training loss", "loss/test", tags="loss")
        self.assert_all_colored("vz-line-chart2", 2, 200)

    def test_scalars_shows_curves_of_sub_runs_in_one_chart(self):
        self.show("scalars", "gallery/waves/damped", "gallery/waves/sin", tags="waves")
        self.assert_all_colored("vz-line-chart2", 1, 400)

    def test_custom_scalars_shows_bands_and_lines(self):
        self.show("custom_scalars", "Training", "Return", "Both losses", "Accuracy")
        self.assert_all_colored("vz-line-chart2", 3, 200)

    def test_images_shows_images_grids_boxes_and_videos(self):
        self.show("images", tags="julia|batch|sizes|boxes|rings")
        self.assert_image_sizes("tf-image-loader >> img", "256x256", "512x192", "64x64",
                                "160x160", "320x200", "96x96")

    def test_audio_plays(self):
        self.show("audio", "chirp", "fifth")

        def check():
            self.assertEqual(self.page.all("audio", "[e.duration, e.error]"),
                             [[2, None], [2, None]])

        self.eventually(check)

    def test_distributions_shows_bands(self):
        self.show("distributions", "weights/drifting", "weights/narrowing", tags="weights")
        self.assert_all_colored("vz-distribution-chart", 2, 5000)

    def test_histograms_shows_slices(self):
        self.show("histograms", "activations", "two dice", tags="activations|dice")
        self.assert_all_colored("vz-histogram-timeseries", 2, 2000)

    def test_text_shows_markdown_and_tables(self):
        self.show("text", tags="notes|samples")

        def check():
            self.assertIn("What changed", self.page.all("tf-markdown-view >> h2"))
            self.assertIn("95.3 %", self.page.all("tf-markdown-view >> td"))
            self.assertIn("I think it lacks of twelve.", self.page.all("tf-markdown-view >> td"))

        self.eventually(check)

    def test_pr_curves_shows_curves(self):
        self.show("pr_curves", "cats", "dogs", "counted")
        self.assert_all_colored("vz-line-chart2", 3, 200)

    def test_hparams_compares_trials(self):
        self.show("hparams")

        def check():
            cells = self.page.all("vaadin-grid-cell-content")
            for text in ("learning rate", "gallery/trials/8", "0.030000", "sgd", "true"):
                self.assertIn(text, cells)

        self.eventually(check)

    def test_mesh_draws_a_mesh_and_a_point_cloud(self):
        self.show("mesh", "knot", "lorenz")
        self.assert_all_colored("tf-mesh-loader >> canvas", 2, 5000)

    def test_projector_shows_points_as_thumbnails(self):
        self.show("projector")
        self.page.click("paper-item", "colors:00000 343x3")
        for text in ("Points: 343", "Dimension: 3"):
            self.page.wait_for_text(text)
        self.assert_all_colored("#scatter >> canvas", 1, 5000)

    def test_graphs_shows_scopes_of_a_graph_put_together_by_hand(self):
        self.show_graph("gallery/graph_by_hand")
        self.eventually(lambda: self.assertEqual(
            self.shown_nodes(), {"tokens", "attention", "residual", "output"}))

    def test_graphs_shows_modules_of_an_onnx_model(self):
        self.show_graph("gallery/graph_of_onnx")
        self.eventually(lambda: self.assertLessEqual(
            {"input", "conv1", "layer1", "layer2", "fc", "output"}, self.shown_nodes()))


class FigurePages(GalleryCase):
    def test_images_shows_figures(self):
        self.show("images", tags="confusion|curves|overview")
        self.assert_image_sizes("tf-image-loader >> img", "640x560", "640x480", "1200x380")


class TorchPages(GalleryCase):
    def expand(self, node):
        self.page.double_click(f'g.node[data-name="{node}"] > .nodeshape')

    def test_graphs_shows_the_module_tree(self):
        self.show_graph("gallery")
        self.eventually(lambda: self.assertIn("ResNet", self.shown_nodes()))
        self.expand("ResNet")
        self.eventually(lambda: self.assertLessEqual(
            {"ResNet/conv1[Conv2d]", "ResNet/layer1[Sequential]", "ResNet/layer2[Sequential]",
             "ResNet/fc[Linear]"}, self.shown_nodes()))
        self.expand("ResNet/layer1[Sequential]")
        self.eventually(lambda: self.assertLessEqual(
            {"ResNet/layer1[Sequential]/0[Block]", "ResNet/layer1[Sequential]/1[Block]"},
            self.shown_nodes()))

    def choose_color(self, name):
        button = f"findAll('paper-radio-button').find(e => textOf(e).includes('{name}'))"
        self.page.wait_for(f"{button} && !{button}.disabled", name)
        self.page.evaluate(f"{button}.click()")

    def fill(self, node):
        """The color of a node, as three numbers."""
        path = f'g.node[data-name="{node}"] > .nodeshape > rect'
        return self.page.all(path, "getComputedStyle(e).fill.match(/\\d+/g).map(Number)")[0]

    def assert_reddish(self, node):
        """It is gray where TensorBoard knows of no times."""
        def check():
            red, green, _ = self.fill(node)
            self.assertGreater(red, green)

        self.eventually(check)

    def test_graphs_colors_modules_by_measured_time(self):
        self.show_graph("gallery")
        self.page.click("tf-graph-controls >> paper-item", "step1")
        self.choose_color("Compute time")
        self.assert_reddish("ResNet")

    def test_graphs_colors_modules_by_a_profile_of_training(self):
        for session, color in (("profile step 4", "Compute time"), ("profile step 4", "Memory"),
                                ("profile step 4 backward", "Compute time")):
            with self.subTest(session=session, color=color):
                self.show_graph("gallery")
                self.page.click("tf-graph-controls >> paper-item", session)
                self.choose_color(color)
                self.assert_reddish("ResNet")
                self.expand("ResNet")
                self.eventually(lambda: self.assertIn("ResNet/layer1[Sequential]",
                                                      self.shown_nodes()))
                # The stages differ, and so do their colors.
                self.eventually(lambda: self.assertNotEqual(
                    self.fill("ResNet/layer1[Sequential]"), self.fill("ResNet/fc[Linear]")))

    def test_graphs_serves_a_profile_of_training_by_node(self):
        for session in ("profile step 4", "profile step 4 backward"):
            query = urllib.parse.urlencode({"run": "gallery", "tag": session})
            with urllib.request.urlopen(f"{url}/data/plugin/graphs/run_metadata?{query}") as reply:
                metadata = text_format.Parse(reply.read().decode(), config_pb2.RunMetadata())
            nodes = {node.node_name: node for device in metadata.step_stats.dev_stats
                     for node in device.node_stats}
            for block in ("layer1[Sequential]/0[Block]", "layer2[Sequential]/1[Block]"):
                for convolution in ("conv1[Conv2d]", "conv2[Conv2d]"):
                    name = f"ResNet/{block}/residual/{convolution}/convolution"
                    self.assertGreater(nodes[name].all_end_rel_micros, 0, session)


if __name__ == "__main__":
    unittest.main()
