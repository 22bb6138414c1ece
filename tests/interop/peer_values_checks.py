# SPDX-License-Identifier: Apache-2.0
"""Scalars, histograms and texts, as the peers' or better in the ways that the checks state."""

import json
import os

import numpy as np
import peer_logs
import tensorboardX
import torch.utils.tensorboard

VALUES = ("normal", "float32", "float16", "integers", "bytes", "truths", "equal", "zeros")


class ScalarChecks:
    def test_scalars(self):
        for tag, count in (("group/curve", 40), ("group/unusual", 7)):
            with self.subTest(tag=tag):
                def fetch(log):
                    points = log.get("scalars", "scalars", run="scalars", tag=tag)
                    self.assertEqual(len(points), count)
                    # As text: -0.0 is not 0.0.
                    return [repr(point) for point in points]

                self.assert_same(fetch)

    def test_scalar_tags(self):
        def check():
            ours, tensorboardx, torch = (
                log.get("scalars", "tags")["scalars"]
                for log in (self.steptape, self.tensorboardx, self.torch))
            same = {"group/curve", "group/unusual"}
            self.assertEqual(set(ours), same | {"a tag/ü?", "described", "doubles"})
            self.assertEqual(set(tensorboardx), same | {"a_tag/ü_", "described"})
            # A scalar in DT_DOUBLE is lost in the fast loader.
            doubles = set() if self.fast else {"doubles"}
            self.assertEqual(set(torch), same | {"a tag/ü?"} | doubles)
            described = {"displayName": "Loss", "description": "<p>of <em>one</em> batch</p>"}
            self.assertEqual(ours["described"], described)
            self.assertEqual(tensorboardx["described"],
                             {"displayName": "", "description": ""} if self.fast else described)

        self.eventually(check)

    def test_names_of_other_kinds(self):
        def check():
            for plugin in ("scalars", "histograms", "images", "audio", "pr_curves"):
                shown = self.steptape.get(plugin, "tags")["names"][plugin]
                self.assertEqual(shown["displayName"], "Name")
                self.assertEqual(shown["description"], "<p><em>text</em></p>")

        self.eventually(check)

    def test_groups_of_scalars(self):
        def check():
            for name in "ab":
                ours = self.group(self.steptape, f"both/curves/{name}")
                self.assertEqual(len(ours), 20)
                self.assertEqual(ours, self.group(self.tensorboardx, f"both/curves/{name}"))
                self.assertEqual(ours, self.group(self.torch, f"both_curves_{name}"))

        self.eventually(check)

    def group(self, log, name):
        return log.get("scalars", "scalars", run=f"scalar_groups/{name}", tag="both/curves")

    def test_resumed_runs(self):
        """Purged in the slow loader too, also at the first restart, and in sub-runs."""
        def check():
            for log, curves in ((self.steptape, "curves/a"), (self.tensorboardx, "curves/a"),
                                (self.torch, "curves_a")):
                purges = log is self.steptape
                # The fast loader discards overwritten and overtaken points in any file.
                again = list(range(9)) if self.fast or purges else [*range(10), 6, 7, 8]
                before = list(range(10)) if self.fast or not purges else list(range(6))
                self.assertEqual(self.steps(log, "resumed", "again"), again)
                self.assertEqual(self.steps(log, f"resumed/{curves}", "curves"), again)
                self.assertEqual(self.steps(log, "resumed", "before"), before)

        self.eventually(check)

    def steps(self, log, run, tag):
        return [step for _, step, _ in log.get("scalars", "scalars", run=run, tag=tag)]

    def test_exported_scalars(self):
        exports = []
        for log in (self.steptape, self.tensorboardx):
            path = os.path.join(log.directory, "scalars.json")
            with open(path, encoding="utf-8") as file:
                exports.append({os.path.relpath(key, log.directory): series
                                for key, series in json.load(file).items()})
        ours, theirs = exports
        self.assertEqual(set(ours), {f"scalar_groups/both/curves/{name}" for name in "ab"})
        self.assertEqual(set(ours), set(theirs))
        for key, series in theirs.items():
            # Steptape reads its event files, which hold binary32.
            self.assertEqual(ours[key], [[wall_time, step, float(np.float32(value))]
                                         for wall_time, step, value in series])


class TextChecks:
    def test_texts(self):
        def check():
            ours = self.texts(self.steptape, "note")
            self.assertEqual(len(ours), len(peer_logs.TEXTS))
            for peer in self.peers:
                theirs = self.texts(peer, "note/text_summary")
                # The peers write a table of one cell.
                self.assertEqual(theirs, [
                    (wall_time, step, f"<table>\n<tbody>\n<tr>\n<td>{text}</td>\n</tr>\n"
                     "</tbody>\n</table>") for wall_time, step, text in ours])

        self.eventually(check)

    def texts(self, log, tag):
        return [(entry["wall_time"], entry["step"], entry["text"])
                for entry in log.get("text", "text", run="texts", tag=tag)]


class HistogramChecks:
    def test_histograms(self):
        tags = [f"values/{name}" for name in VALUES]
        tags += [f"{kind}/{rule}" for rule in peer_logs.RULES for kind in ("bins", "integer_bins")]
        tags += ["bins/count", "bins/edges", "max_bins/64_of_16"]
        for tag in tags:
            with self.subTest(tag=tag):
                self.eventually(lambda: self.check_histograms(tag))

    def test_raw_histograms(self):
        self.assert_same(lambda log: log.get("histograms", "histograms",
                                             run="raw_histograms", tag="raw"))

    def histograms(self, log, tag):
        return log.get("histograms", "histograms", run="histograms", tag=tag)

    def check_histograms(self, tag):
        ours = self.histograms(self.steptape, tag)
        for peer in self.peers:
            theirs = self.histograms(peer, tag)
            self.assertEqual([(wall_time, step) for wall_time, step, _ in ours],
                             [(wall_time, step) for wall_time, step, _ in theirs])
            for (_, _, buckets), (_, _, peers_buckets) in zip(ours, theirs):
                self.check_buckets(buckets, peers_buckets)

    def check_buckets(self, ours, theirs):
        """The same, except the errors in the other writers' first bucket and edges."""
        if self.fast:
            left, right, count = theirs.pop(0)
            self.assertEqual(count, 0)
            self.assertGreaterEqual(left, right)  # it runs backwards
            self.assertLessEqual(theirs[0][0], ours[0][0])
            theirs[0][0] = ours[0][0]  # the least value, not the limit below it
        else:
            ours = np.float32(ours).tolist()
        self.assertEqual(ours, theirs)

    def test_histogram_edges_within_the_values(self):
        """Steptape counts values outside; the other writers drop them and show other edges."""
        values, edges = self.arrays["normal"][0], self.arrays["inner_edges"]
        counts = [float(np.sum((values >= left) & (values < right)))
                  for left, right in zip([-np.inf, *edges], [*edges, np.inf])]

        def check():
            ((_, _, ours),) = self.histograms(self.steptape, "inner_edges")
            # TensorBoard's Python loader reads the compatible form in binary32.
            expected = [[min(values), -1, counts[0]], [-1, 0, counts[1]],
                        [0, 1, counts[2]], [1, max(values), counts[3]]]
            self.assertEqual(np.float32(ours).tolist(), np.float32(expected).tolist())
            for peer in self.peers:
                ((_, _, theirs),) = self.histograms(peer, "inner_edges")
                self.assertEqual(sum(count for _, _, count in theirs), counts[1] + counts[2])
                self.assertEqual(np.float32(theirs[-1]).tolist(),
                                 np.float32([0, max(values), counts[2]]).tolist())

        self.eventually(check)

    def test_histogram_of_outliers(self):
        def check():
            ((_, _, ours),) = self.histograms(self.steptape, "far_out")
            self.assertEqual(sum(count for _, _, count in ours), 3)
            self.assertEqual(np.float32([ours[0][0], ours[-1][1]]).tolist(),
                             np.float32([-1e21, 1e21]).tolist())
            for peer in self.peers:
                ((_, _, theirs),) = self.histograms(peer, "far_out")
                self.assertEqual(sum(count for _, _, count in theirs), 1)

        self.eventually(check)

    def test_histogram_of_nonfinite_values(self):
        def check():
            ((_, _, ours),) = self.histograms(self.steptape, "not_finite")
            self.assertEqual((ours[0][0], ours[-1][1]), (1, 3))
            self.assertEqual(sum(count for _, _, count in ours), 3)
            for peer in self.peers:
                ((_, _, theirs),) = self.histograms(peer, "not_finite")
                self.assertEqual((theirs[0][0], theirs[-1][1]), ("NaN", "NaN"))

        self.eventually(check)

    def test_empty_histogram(self):
        self.eventually(lambda: self.assertEqual(self.histograms(self.steptape, "empty"),
                                                 [[peer_logs.time_at(0), 0, []]]))
        for peer in (tensorboardX, torch.utils.tensorboard):
            with self.assertRaises(ValueError):
                peer.summary.histogram("empty", self.arrays["empty"], [0, 1])

    def test_bins_that_do_not_divide(self):
        """At most 16 of 50: the peers join three, and have 17."""
        def check():
            ((_, _, ours),) = self.histograms(self.steptape, "max_bins/50_of_16")
            self.assertEqual(len(ours), 13)
            for peer in self.peers:
                ((_, _, theirs),) = self.histograms(peer, "max_bins/50_of_16")
                filled = [count for _, _, count in theirs if count]
                self.assertEqual(len(filled), 17)
                self.assertEqual(sum(filled), sum(count for _, _, count in ours))

        self.eventually(check)
