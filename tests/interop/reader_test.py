#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RunReader reads the same tags, points and values as TensorBoard's own accumulators.

Runs of tensorboardX and torch.utils.tensorboard with every plugin, and such as TensorFlow leaves:
both forms, restarts, steps that go back, more points than are kept. Where the two differ, the
checks say how exactly; docs/event_file_format.md has the list.
"""

import contextlib
import json
import os
import tempfile
import unittest

import peer_logs
import peer_numbers
import reader_oracle
import reader_runs

RUN_GRAPH = "__run_graph__"
GRAPH_PLUGINS = ("graphs", "graph_tagged_run_metadata")


def normal(value):
    """With the numbers for which JSON has none."""
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, dict):
        return {key: normal(each) for key, each in value.items()}
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def comparable(got, wanted):
    """Returns a value of RunReader without the parts that TensorBoard lacks."""
    if isinstance(wanted, dict) and "rounded_rows" in wanted:
        return {"rounded_rows": reader_oracle.rounded(got)}
    if isinstance(wanted, dict) and isinstance(got, dict):
        return {key: got[key] for key in wanted}  # it discards values that it does not show
    return wanted if wanted == reader_oracle.UNREADABLE else got


def as_text(value):
    """Equal for equal values: NaN is NaN and -0.0 is not 0.0."""
    return json.dumps(value, sort_keys=True)


def places(points):
    """Step and wall time of each point."""
    return [point[:2] for point in points]


def without_graphs(run):
    return {tag: series for tag, series in run.items() if series["plugin"] not in GRAPH_PLUGINS}


class Runs:
    """The runs, and the base of the tests of both accumulators."""

    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.arrays = peer_numbers.make()
        with contextlib.redirect_stdout(None):  # they print which tags they rename
            for peer in (peer_logs.TensorboardX, peer_logs.Torch):
                peer(cls.path(peer.__name__), cls.arrays).log_all()
        for write in reader_runs.ALL:
            write(cls.log_dir)
        cls.runs = sorted(directory for directory, _, files in os.walk(cls.log_dir)
                          if any("tfevents" in file for file in files))
        reader_runs.oddities(cls.log_dir)

    @classmethod
    def path(cls, run):
        return os.path.join(cls.log_dir, run)

    def for_each_run(self, check, leave_out=None):
        self.assertGreater(len(self.runs), 60)
        for directory in self.runs:
            if directory == leave_out:
                continue
            with self.subTest(run=os.path.relpath(directory, self.log_dir)):
                check(directory)

    def assert_points(self, ours, theirs):
        self.assertEqual(places(ours), places(theirs))
        for (step, _, got), (_, _, wanted) in zip(normal(ours), theirs):
            self.assertEqual(as_text(comparable(got, wanted)), as_text(wanted), f"at step {step}")


class Server(Runs, unittest.TestCase):
    """Compares with TensorBoard's server and its Python loader."""

    def check(self, directory, purge, sampling, **options):
        ours = reader_oracle.dump(directory, purge, sampling)
        self.assertEqual(ours["damage"], [])
        self.assert_series(without_graphs(ours["tags"]),
                           without_graphs(reader_oracle.server(directory, **options)))

    def assert_series(self, ours, theirs):
        self.assertEqual(set(ours), set(theirs))
        for tag, series in theirs.items():
            with self.subTest(tag=tag):
                self.assert_points(ours[tag]["points"], series["points"])
                for key in ("plugin", "description"):
                    self.assertEqual(ours[tag][key], series[key])
                # It fills in the tag for compatible values.
                self.assertEqual(ours[tag]["display_name"] or tag, series["display_name"] or tag)

    def test_has_the_same_values(self):
        self.for_each_run(lambda run: self.check(run, "server", "all", **reader_oracle.ALL))

    def test_chooses_the_same_samples(self):
        self.for_each_run(lambda run: self.check(run, "server", "sampled",
                                                 **reader_oracle.SAMPLED))

    def test_has_the_same_values_without_purging(self):
        self.for_each_run(lambda run: self.check(
            run, "none", "all", purge_orphaned_data=False, **reader_oracle.ALL))

    def test_shows_the_same_graphs(self):
        """The server drops graphs at a restart, but only as values; here they stay."""
        with_graphs = []

        def check(directory):
            ours = reader_oracle.dump(directory, "server")["tags"]
            graph = reader_oracle.graph(directory)
            self.assertEqual(RUN_GRAPH in ours, graph is not None)
            if graph is not None:
                with_graphs.append(directory)
                self.assertEqual(ours[RUN_GRAPH]["points"][-1][2]["strings"], [graph.hex()])

        self.for_each_run(check)
        self.assertEqual(len(with_graphs), 3)

    def test_has_the_same_values_of_graphs(self):
        directory = self.path("graphs")
        purged = reader_oracle.server(directory, **reader_oracle.ALL)
        self.assertEqual(purged["step1"]["points"], [])
        theirs = reader_oracle.server(directory, purge_orphaned_data=False, **reader_oracle.ALL)
        self.assertEqual(set(theirs), {RUN_GRAPH, "step1"})
        ours = reader_oracle.dump(directory, "server")["tags"]
        self.assertEqual(set(ours), {RUN_GRAPH, "step1", "__meta_graph__"})
        for tag, series in theirs.items():
            self.assertEqual(ours[tag]["plugin"], series["plugin"])
            # One string, of rank 1 there and of rank 0 here.
            for (_, _, got), (_, _, wanted) in zip(ours[tag]["points"], series["points"],
                                                   strict=True):
                self.assertEqual(got["strings"], wanted["strings"])
                self.assertEqual((got["shape"], wanted["shape"]), ([], [1]))

    def test_rounds_compatible_histograms(self):
        """Counts up to 2^24 only are exact there."""
        directory = self.path("compatible")
        theirs = reader_oracle.server(directory, **reader_oracle.ALL)["histogram"]["points"]
        self.assertEqual(theirs[1][2]["rounded_rows"][0][2], 16777216)
        ours = reader_oracle.dump(directory, "server")["tags"]["histogram"]["points"]
        self.assertEqual(ours[1][2], [[0.1, 0.5, 16777217], [0.5, 16777217, 1]])

    def test_cannot_read_bytes_and_halves_of_torch(self):
        """torch puts bytes in another field, and bits of binary32 where those of halves belong."""
        directory = self.path("Torch/tensors")
        ours = reader_oracle.dump(directory, "server")["tags"]
        theirs = reader_oracle.server(directory, **reader_oracle.ALL)
        unreadable = {tag for tag, series in theirs.items()
                      if series["points"][0][2] == reader_oracle.UNREADABLE}
        self.assertEqual(unreadable, {"tensor_float16", "tensor_uint8"})
        for tag in unreadable:
            self.assertEqual(ours[tag]["points"][0][2]["content"], self.arrays[tag].tobytes().hex())

    def test_differs_for_events_that_no_writer_should_write(self):
        directory = self.path("oddities")
        ours = reader_oracle.dump(directory, "server")["tags"]
        theirs = reader_oracle.server(directory, **reader_oracle.ALL)
        # A value without a tag has the name of its node. There, one without data is none; one that has
        # nothing but a tag is none here either.
        self.assertEqual(set(theirs), {"integer", "plugin later", "node"})
        self.assertEqual(set(ours), {"integer", "plugin later", "node", "no data"})
        # Integers are numbers of a curve in both.
        self.assertEqual(theirs["integer"]["points"][0][2], 7.0)
        self.assertEqual(ours["integer"]["points"][0][2], 7.0)


class EventAccumulator(Runs, unittest.TestCase):
    """Against the class for users, which has the compatible form apart from tensors."""

    def check(self, directory):
        ours = without_graphs(reader_oracle.dump(directory, "restarts")["tags"])
        theirs = reader_oracle.accumulator(directory)
        # The class ignores records of hyperparameters without a tensor.
        self.assertEqual({tag for tags in theirs.values() for tag in tags},
                         {tag for tag, series in ours.items()
                          if series["plugin"] != "hparams" or tag in theirs["tensors"]})
        tensors = theirs.pop("tensors")
        for plugin, tags in theirs.items():
            for tag, points in tags.items():
                with self.subTest(tag=tag):
                    self.assertEqual(ours[tag]["plugin"], plugin)
                    self.assert_points(ours[tag]["points"], points)
        # The class drops no tensors, not even those of scalars.
        unpurged = reader_oracle.dump(directory, "none")["tags"]
        for tag, points in tensors.items():
            with self.subTest(tag=tag):
                self.assertEqual(places(unpurged[tag]["points"]), places(points))

    def test_has_the_same_values(self):
        self.for_each_run(self.check, leave_out=self.path("steps_back"))

    def test_compares_with_the_largest_step(self):
        """In files of version 1; the server compares with the step before, as we do always."""
        directory = self.path("steps_back")
        tag = "x/compatible"
        server = reader_oracle.server(directory, **reader_oracle.ALL)[tag]["points"]
        theirs = reader_oracle.accumulator(directory)["scalars"][tag]
        self.assertNotEqual(places(theirs), places(server))
        self.assert_points(reader_oracle.dump(directory, "restarts")["tags"][tag]["points"], server)


if __name__ == "__main__":
    unittest.main()
