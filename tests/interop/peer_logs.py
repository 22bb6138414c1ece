# SPDX-License-Identifier: Apache-2.0
"""Logs the values of peer_writer.cpp with tensorboardX or torch.utils.tensorboard."""

import os

import peer_graph
import peer_numbers
import tensorboardX
import tensorboardX.onnx_graph
import torch.utils.tensorboard
import torch.utils.tensorboard._onnx_graph

WALL_TIME = 1.7e9 + 0.25  # of the value at step 0; a second later at each step
RULES = ("auto", "fd", "sturges", "doane", "scott", "rice", "sqrt")
MESH_CONFIG = {"camera": {"cls": "PerspectiveCamera", "fov": 75}}
METADATA = [f"point {i}" for i in range(peer_numbers.POINTS)]
METADATA_ROWS = [[f"point {i}", "odd" if i % 2 else "even"] for i in range(peer_numbers.POINTS)]
TEXTS = ("*markdown* and `code`", "# A heading\n\n- a list\n- ü <b>&</b>",
         "| a | b |\n|---|---|\n| 1 | 2 |")
LAYOUT = {"losses": {"both": ["Multiline", ["loss/train", "loss/test"]],
                     "test": ["Margin", ["loss/test", "loss/lower", "loss/upper"]]},
          "rates": {"rate": ["Multiline", ["rate"]]}}
TRIALS = ({"lr": 0.1, "layers": 3, "optimizer": "sgd", "amp": True},
          {"lr": 0.01, "layers": 5, "optimizer": "adam", "amp": False})
DOMAINS = {"lr": [0.1, 0.01], "optimizer": ["sgd", "adam"]}
METRICS = ({"result/accuracy": 0.75, "result/loss": 0.5},
           {"result/accuracy": 0.875, "result/loss": 0.25})


def time_at(step):
    return WALL_TIME + step


class Peer:
    """Logs each kind in a separate run, named after the kind."""

    def __init__(self, log_dir, arrays):
        self._log_dir = log_dir
        self._arrays = arrays

    def log_all(self):
        for log in (self.scalars, self.scalar_groups, self.histograms, self.raw_histograms,
                    self.images, self.image_batches, self.boxes, self.figures, self.sounds,
                    self.texts, self.pr_curves, self.meshes, self.embeddings, self.layouts,
                    self.onnx):
            with self.open(log.__name__) as writer:
                log(writer)
        self.resumed()
        self.trials()

    def open(self, run, **options):
        return self.package.SummaryWriter(os.path.join(self._log_dir, run), **options)

    def scalars(self, writer):
        for tag in ("curve", "unusual"):
            for step, value in enumerate(self._arrays[tag]):
                writer.add_scalar(f"group/{tag}", value, step, time_at(step))
        writer.add_scalar("a tag/ü?", 1, 0, time_at(0))

    def scalar_groups(self, writer):
        for step, (a, b) in enumerate(self._arrays["curves"].T):
            writer.add_scalars("both/curves", {"a": a, "b": b}, step, time_at(step))

    def histograms(self, writer):
        def add(tag, values, step=0, **options):
            writer.add_histogram(tag, values, step, walltime=time_at(step), **options)

        arrays = self._arrays
        for name in ("normal", "float32", "float16", "integers", "bytes", "truths", "equal",
                     "zeros"):
            for step, values in enumerate(arrays[name]):
                add(f"values/{name}", values, step)
        normal = arrays["normal"][0]
        for rule in RULES:
            add(f"bins/{rule}", normal, bins=rule)
            add(f"integer_bins/{rule}", arrays["integers"][0], bins=rule)
        add("bins/count", normal, bins=20)
        add("bins/edges", normal, bins=arrays["edges"])
        add("max_bins/64_of_16", normal, bins=64, max_bins=16)
        add("max_bins/50_of_16", normal, bins=50, max_bins=16)
        add("inner_edges", normal, bins=arrays["inner_edges"])
        add("far_out", arrays["far_out"])
        add("not_finite", arrays["not_finite"][:3])  # they raise where all limits become NaN

    def raw_histograms(self, writer):
        limits, counts = self._arrays["raw_limits"], self._arrays["raw_counts"]
        writer.add_histogram_raw("raw", -2, 1.5, 10, 1.25, 8.5, limits.tolist(), counts.tolist(), 3,
                                 time_at(3))

    def images(self, writer):
        def add(tag, name, data_format="CHW"):
            writer.add_image(tag, self._arrays[name], 2, time_at(2), data_format)

        for layout in ("CHW", "HWC", "CWH", "HW", "WH"):
            add(f"layout/{layout}", layout.lower(), layout)
        for name in ("gray", "rgba", "levels", "too_bright", "all_levels"):
            add(name, name)

    def image_batches(self, writer):
        writer.add_images("grid/NCHW", self._arrays["nchw"], 0, time_at(0))
        writer.add_images("grid/NHWC", self._arrays["nhwc"], 0, time_at(0), "NHWC")

    def boxes(self, writer):
        scene, boxes = self._arrays["scene"], self._arrays["boxes"]
        for tag, options in (("plain", {}), ("half", {"rescale": 0.5}), ("twice", {"rescale": 2}),
                             ("labels", {"labels": ["cat", "dog", "cat"]})):
            writer.add_image_with_boxes(tag, scene, boxes, 0, time_at(0), **options)

    def figures(self, writer):
        """Does what add_figure() does with the pixels that matplotlib has drawn."""
        writer.add_image("plot", self._arrays["plot"], 0, time_at(0))

    def sounds(self, writer):
        """tensorboardX needs the package soundfile."""

    def texts(self, writer):
        for step, text in enumerate(TEXTS):
            writer.add_text("note", text, step, time_at(step))

    def pr_curves(self, writer):
        labels, predictions = self._arrays["labels"], self._arrays["predictions"]
        for tag, options in (("default", {}), ("eleven", {"num_thresholds": 11}),
                             ("many", {"num_thresholds": 1000}),
                             ("weights", {"weights": self._arrays["example_weights"]})):
            writer.add_pr_curve(tag, labels, predictions, 1, walltime=time_at(1), **options)
        writer.add_pr_curve_raw("raw", *self._arrays["counts"], 1, 5, walltime=time_at(1))

    def meshes(self, writer):
        def add(tag, **options):
            writer.add_mesh(tag, self._arrays["vertices"], global_step=4, walltime=time_at(4),
                            **options)

        add("cloud")
        add("colored", colors=self._arrays["colors"])
        add("fractions", colors=self._arrays["color_fractions"])
        add("whole", colors=self._arrays["colors"], faces=self._arrays["faces"],
            config_dict=MESH_CONFIG)

    def embeddings(self, writer):
        arrays = self._arrays
        thumbnails = torch.from_numpy(arrays["thumbnails"])
        writer.add_embedding(arrays["matrix"], METADATA, thumbnails, 3, "with/images")
        writer.add_embedding(arrays["matrix_float64"], METADATA_ROWS, tag="table",
                             metadata_header=["name", "class"])
        writer.add_embedding(arrays["matrix"], global_step=100000, tag="table")

    def layouts(self, writer):
        writer.add_custom_scalars_multilinechart(["rate"], "quick", "lines")
        writer.add_custom_scalars_marginchart(["rate", "lower", "upper"], "quick", "band")
        writer.add_custom_scalars(LAYOUT)
        writer.add_scalar("rate", 1, 0, time_at(0))

    def onnx(self, writer):
        graph = self.onnx_graph.parse(peer_graph.load_onnx())
        writer.file_writer.add_onnx_graph(graph, time_at(0))

    def resumed(self):
        """Ten steps, then again from the seventh; in a file whose name is another in any case."""
        for steps, options in ((range(10), {}),
                               (range(6, 9), {"purge_step": 6, "filename_suffix": ".resumed"})):
            with self.open("resumed", **options) as writer:
                for step in steps:
                    writer.add_scalar("again", step, step)
                    writer.add_scalars("curves", {"a": step}, step)
                    if not options:
                        writer.add_scalar("before", step, step)

    def trials(self):
        for i, (values, metrics) in enumerate(zip(TRIALS, METRICS)):
            with self.open("trials") as writer:
                writer.add_hparams(values, metrics, **{self.trial_name: f"trial_{i}"})


    def study(self, **options):
        """Trials with an experiment record, in another log directory, to whose runs it applies."""
        with self.package.SummaryWriter(f"{self._log_dir}_study") as writer:
            for i, (values, metrics) in enumerate(zip(TRIALS, METRICS)):
                writer.add_hparams(values, metrics, **{self.trial_name: f"trial_{i}"}, **options)


class TensorboardX(Peer):
    package = tensorboardX
    onnx_graph = tensorboardX.onnx_graph
    trial_name = "name"

    def scalars(self, writer):
        super().scalars(writer)
        writer.add_scalar("described", 1, 0, time_at(0), "Loss", "of *one* batch")

    def scalar_groups(self, writer):
        super().scalar_groups(writer)
        writer.export_scalars_to_json(os.path.join(self._log_dir, "scalars.json"))

    def image_batches(self, writer):
        super().image_batches(writer)
        writer.add_images("grid/RGBA", self._arrays["nchw_rgba"], 0, time_at(0))
        writer.add_images("list", list(self._arrays["nchw"][:3]), 0, time_at(0), "CHW")


class Torch(Peer):
    package = torch.utils.tensorboard
    onnx_graph = torch.utils.tensorboard._onnx_graph
    trial_name = "run_name"

    def log_all(self):
        super().log_all()
        with self.open("tensors") as writer:
            self.tensors(writer)
        self.study(hparam_domain_discrete=DOMAINS)

    def scalars(self, writer):
        super().scalars(writer)
        writer.add_scalar("doubles", 1, 0, time_at(0), new_style=True, double_precision=True)

    def sounds(self, writer):
        for tag in ("mono", "loud"):
            writer.add_audio(tag, self._arrays[tag], 0, 8000, time_at(0))

    def tensors(self, writer):
        for name, array in self._arrays.items():
            if name.startswith("tensor_"):
                writer.add_tensor(name, torch.as_tensor(array), 7, time_at(7))
