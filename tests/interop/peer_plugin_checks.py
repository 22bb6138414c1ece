# SPDX-License-Identifier: Apache-2.0
"""PR curves, meshes, layouts, trials and embeddings: equal to the peers', or better as the checks state."""

import io
import json
import os

import numpy as np
import peer_logs
from event_files import values_by_tag
from PIL import Image
from tensorboard.plugins.hparams import metadata

ALL_STATUSES = ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]


class PrCurveChecks:
    def curve(self, log, tag):
        (curve,) = log.get("pr_curves", "pr_curves", run="pr_curves", tag=tag)["pr_curves"]
        return curve

    def test_pr_curves(self):
        for tag in ("default", "eleven", "weights", "raw"):
            with self.subTest(tag=tag):
                self.assert_same(lambda log: self.curve(log, tag))

    def test_pr_curves_of_many_thresholds(self):
        """The peers stop at 127 thresholds."""
        def check():
            ours = self.curve(self.steptape, "many")
            # Of 1000, those up to the largest prediction.
            last = int(np.float32(999) * self.arrays["predictions"].max())
            self.assertEqual(ours["thresholds"], np.linspace(0, 1, 1000)[:last + 1].tolist())
            default = self.curve(self.steptape, "default")
            for peer in self.peers:
                self.assertEqual(self.curve(peer, "many"), default)

        self.eventually(check)


class MeshChecks:
    TAGS = ("cloud", "colored", "fractions", "whole")

    def parts(self, log, tag):
        """Returns the page's data of each part, by its type: 1 vertices, 2 faces, 3 colors."""
        parts = log.get("mesh", "meshes", run="meshes", tag=tag, sample=0)
        return {part.pop("content_type"): part for part in parts}

    def data(self, log, tag, kind, sample):
        return log.get_bytes("mesh", "data", run="meshes", tag=tag, sample=sample,
                             content_type=kind, step=4)

    def test_meshes(self):
        kinds = {"cloud": ["VERTEX"], "colored": ["VERTEX", "COLOR"],
                 "whole": ["VERTEX", "FACE", "COLOR"], "fractions": ["VERTEX"]}
        for tag, parts in kinds.items():
            for kind in parts:
                for sample in range(2):
                    with self.subTest(tag=tag, kind=kind, sample=sample):
                        self.assert_same(lambda log: self.data(log, tag, kind, sample))

    def test_mesh_tags(self):
        self.assert_same(lambda log: log.get("mesh", "tags"))

    def test_parts_of_meshes(self):
        def check():
            for tag in self.TAGS:
                self.check_parts(tag)

        self.eventually(check)

    def check_parts(self, tag):
        ours, tensorboardx, torch = (self.parts(log, tag) for log in
                                     (self.steptape, self.tensorboardx, self.torch))
        configs = [json.loads(part.pop("config") or "{}") for part in ours.values()]
        for part in torch.values():
            self.assertEqual(json.loads(part.pop("config")), configs[0])
        self.assertEqual(ours, torch)
        self.assertEqual(configs, configs[:1] * len(configs))
        # tensorboardX claims all parts, and has "null" for no settings.
        for kind, part in tensorboardx.items():
            self.assertEqual(json.loads(part.pop("config")), configs[0] or None)
            self.assertEqual(part.pop("components"), 14)
            self.assertEqual({**part, "components": ours[kind]["components"]}, ours[kind])
        self.assertEqual(set(tensorboardx), set(ours))

    def test_mesh_colors_as_fractions(self):
        """Scaled to bytes; the peers' become black."""
        def check():
            colors = self.arrays["color_fractions"][1]
            self.assertEqual(self.data(self.steptape, "fractions", "COLOR", 1),
                             (colors * np.float32(255)).astype(np.uint8).tobytes())
            for peer in self.peers:
                self.assertEqual(self.data(peer, "fractions", "COLOR", 1), bytes(colors.size))

        self.eventually(check)


class LayoutChecks:
    def test_layout_of_custom_scalars(self):
        """Steptape adds up the calls, the peers keep the last."""
        def check():
            ours = self.categories(self.steptape)
            self.assertEqual(ours.pop(0), {"title": "quick", "closed": False, "chart": [
                {"title": "lines", "multiline": {"tag": ["rate"]}},
                {"title": "band", "margin": {"series": [
                    {"value": "rate", "lower": "lower", "upper": "upper"}]}}]})
            self.assertEqual(len(ours), len(peer_logs.LAYOUT))
            for peer in self.peers:
                self.assertEqual(ours, self.categories(peer))

        self.eventually(check)

    def categories(self, log):
        return log.get("custom_scalars", "layout")["category"]


class TrialChecks:
    def groups(self, log):
        request = json.dumps({"startIndex": 0, "sliceSize": 10, "colParams": [],
                              "allowedStatuses": ALL_STATUSES})
        return log.get("hparams", "session_groups", request=request)["sessionGroups"]

    def table(self, log):
        """Returns the name, values, metrics with their steps, and status of each row."""
        rows = []
        for group in self.groups(log):
            (session,) = group["sessions"]
            metrics = {metric["name"]["tag"]: (metric["value"], metric["trainingStep"])
                       for metric in group["metricValues"]}
            rows.append((group["name"], group["hparams"], metrics, session["status"]))
        return sorted(rows, key=lambda row: row[0])

    def test_trials(self):
        """A bool stays one, but for torch."""
        expected = [(f"trials/trial_{i}", values,
                     {tag: (value, 0) for tag, value in metrics.items()}, "STATUS_SUCCESS")
                    for i, (values, metrics) in enumerate(zip(peer_logs.TRIALS, peer_logs.METRICS))]

        def check():
            for log, amp in ((self.steptape, "True"), (self.tensorboardx, "True"),
                             (self.torch, "1.0")):
                rows = self.table(log)
                self.assertEqual(rows, expected)
                self.assertEqual(repr(rows[0][1]["amp"]), amp)  # for Python they are equal

        self.eventually(check)

    def test_columns_of_trials(self):
        """torch and tensorboardX fix them in a record; without, TensorBoard finds them itself."""
        def check():
            ours = self.columns(self.steptape)
            self.assertEqual(set(ours), set(peer_logs.TRIALS[0]))
            self.assertEqual(ours, self.columns(self.tensorboardx))
            self.assertEqual(self.columns(self.torch), {**ours, "amp": "DATA_TYPE_FLOAT64"})

        self.eventually(check)
        self.assert_same(lambda log: self.experiment(log)["metricInfos"])

    def experiment(self, log):
        return log.get("hparams", "experiment", request="{}")

    def columns(self, log):
        return {info["name"]: info["type"] for info in self.experiment(log)["hparamInfos"]}

    def test_domains_of_trials(self):
        """An experiment record describes columns as torch's does."""
        for trial in ("trial_0", "trial_1"):
            ours, theirs = (self.record(log, trial) for log in (self.steptape, self.torch))
            self.assertEqual(ours.metric_infos, theirs.metric_infos)
            self.assertEqual({info.name for info in ours.hparam_infos}, set(peer_logs.DOMAINS))
            for info in ours.hparam_infos:
                (same,) = [other for other in theirs.hparam_infos if other.name == info.name]
                same.differs = True  # torch sets this for no column
                self.assertEqual(info, same)

    def record(self, log, trial):
        values = values_by_tag(os.path.join(f"{log.directory}_study", trial))
        _, value = values[metadata.EXPERIMENT_TAG]
        return metadata.parse_experiment_plugin_data(value.metadata.plugin_data.content)


class EmbeddingChecks:
    NAMES = ("with/images:00003", "table:00000", "table:100000")

    def test_projector(self):
        self.assert_same(lambda log: log.get("projector", "runs"))
        self.assert_same(lambda log: log.get("projector", "info", run="embeddings"))

    def test_points_of_embeddings(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                self.assert_same(lambda log: log.get_bytes("projector", "tensor",
                                                           run="embeddings", name=name))

    def test_metadata_of_embeddings(self):
        for name in self.NAMES[:2]:
            with self.subTest(name=name):
                self.assert_same(lambda log: log.get_bytes("projector", "metadata",
                                                           run="embeddings", name=name))

    def test_thumbnails_of_embeddings(self):
        """tensorboardX leaves the rest of the square as the memory was."""
        def sprite(log):
            data = log.get_bytes("projector", "sprite_image", run="embeddings", name=self.NAMES[0])
            with Image.open(io.BytesIO(data)) as image:
                return np.array(image)

        self.assert_same(lambda log: sprite(log).tolist(), [self.torch])
        ours, theirs = sprite(self.steptape), sprite(self.tensorboardx)
        self.assertEqual(ours.shape, theirs.shape)
        rows = 8 * -(-len(self.arrays["thumbnails"]) // 4)  # four thumbnails of eight pixels
        np.testing.assert_array_equal(ours[:rows], theirs[:rows])
