#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.compat.event_accumulator returns the same as TensorBoard's EventAccumulator."""

import functools
import glob
import tempfile
import unittest

import numpy as np
from tensorboard.backend.event_processing import event_accumulator as theirs
from tensorboard.backend.event_processing import event_multiplexer
from tensorboard.util import tensor_util

import logs
from steptape.compat import event_accumulator as ours
from steptape.compat import event_multiplexer as our_multiplexer

ALL = theirs.STORE_EVERYTHING_SIZE_GUIDANCE
# Of two forms: over there the values of one form are among the tensors.
TWO_FORMS = [f"cpp/{form}/{run}" for form in ("compatible", "tensor")
             for run in ("mixed", "resumed_in_the_other_form")]
KINDS = {"scalars": "Scalars", "images": "Images", "audio": "Audio", "histograms": "Histograms"}


def fields(event):
    """All fields of an event, those of a histogram too; NaN equals NaN."""
    values = {name: getattr(event, name) for name in
              getattr(event, "_fields", None) or event.__dataclass_fields__}
    if "histogram_value" in values:
        values["histogram_value"] = fields(values["histogram_value"])
    return {name: "nan" if value != value else value for name, value in values.items()}


class SameAsTensorBoard(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.log_dir = cls.enterClassContext(tempfile.TemporaryDirectory())
        logs.write_all(cls.log_dir)
        cls.runs = logs.run_directories(cls.log_dir)

    def for_each_run(self, check, leave_out=()):
        self.assertGreater(len(self.runs), 60)
        for directory in self.runs:
            name = logs.run_name(directory, self.log_dir)
            if name not in leave_out:
                with self.subTest(run=name):
                    check(directory)

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def pair(directory, all_values=True, **options):
        """One of each, kept because TensorBoard's takes long."""
        if all_values:
            options["size_guidance"] = ALL
        return (ours.EventAccumulator(directory, **options).Reload(),
                theirs.EventAccumulator(directory, **options).Reload())

    def check_events(self, directory, **options):
        got, expected = self.pair(directory, **options)
        for kind, call in KINDS.items():
            for tag in expected.Tags()[kind]:
                with self.subTest(tag=tag):
                    self.assertEqual([fields(each) for each in getattr(got, call)(tag)],
                                     [fields(each) for each in getattr(expected, call)(tag)])

    def test_gives_the_same_events(self):
        # There a step that goes back is compared with the largest one; here with the one before.
        self.for_each_run(lambda run: self.check_events(run), leave_out=["steps_back", *TWO_FORMS])

    def test_gives_the_same_events_without_purging(self):
        self.for_each_run(lambda run: self.check_events(run, purge_orphaned_data=False),
                          leave_out=TWO_FORMS)

    def test_chooses_the_same_samples(self):
        self.for_each_run(lambda run: self.check_events(run, all_values=False), leave_out=["steps_back", *TWO_FORMS])

    def test_lists_the_same_tags(self):
        def check(directory):
            got, expected = (each.Tags() for each in self.pair(directory))
            # Here, values written as tensors are listed by their kind.
            found = {tag for kind in (*KINDS, "tensors") for tag in got[kind]}
            self.assertEqual(found, {tag for kind in (*KINDS, "tensors") for tag in expected[kind]})
            for kind in KINDS:
                self.assertLessEqual(set(expected[kind]), set(got[kind]))
            for kind in ("graph", "meta_graph"):
                self.assertEqual(got[kind], expected[kind])
            self.assertEqual(set(got["run_metadata"]), set(expected["run_metadata"]))
            self.assertEqual(got.keys(), expected.keys())

        self.for_each_run(check)

    def test_gives_the_same_tensors(self):
        compared = 0
        for directory in self.runs:
            # The class over there drops no tensors at restarts.
            got, expected = self.pair(directory, purge_orphaned_data=False)
            for tag in set(expected.Tags()["tensors"]) & set(got.Tags()["tensors"]):
                for mine, other in zip(got.Tensors(tag), expected.Tensors(tag), strict=True):
                    try:
                        array = tensor_util.make_ndarray(other.tensor_proto)
                    except (OverflowError, ValueError):
                        continue  # it cannot read bytes and halves of torch
                    np.testing.assert_array_equal(tensor_util.make_ndarray(mine.tensor_proto), array)
                    self.assertEqual((mine.step, mine.wall_time), (other.step, other.wall_time))
                    compared += 1
        self.assertGreater(compared, 100)

    def test_gives_scalars_of_tensors_as_scalars_and_as_tensors(self):
        got, expected = self.pair(f"{self.log_dir}/new_style")
        values = [float(tensor_util.make_ndarray(each.tensor_proto)) for each in expected.Tensors("scalar")]
        self.assertEqual([each.value for each in got.Scalars("scalar")], values)
        self.assertEqual([float(tensor_util.make_ndarray(each.tensor_proto))
                          for each in got.Tensors("scalar")], values)

    def test_names_the_first_event(self):
        def check(directory):
            got, expected = (each(directory) for each in (ours.EventAccumulator, theirs.EventAccumulator))
            self.assertEqual(got.FirstEventTimestamp(), expected.FirstEventTimestamp())
            self.assertEqual(got.GetSourceWriter(), expected.GetSourceWriter())

        self.for_each_run(check)

    def test_gives_the_same_metadata(self):
        def check(directory):
            got, expected = self.pair(directory)
            for tag, metadata in expected.summary_metadata.items():
                if not metadata.plugin_data.plugin_name:
                    continue  # here it is that of a later value, which names one
                with self.subTest(tag=tag):
                    mine = got.SummaryMetadata(tag)
                    for name in ("display_name", "summary_description", "data_class"):
                        self.assertEqual(getattr(mine, name), getattr(metadata, name))
                    for name in ("plugin_name", "content"):
                        self.assertEqual(getattr(mine.plugin_data, name), getattr(metadata.plugin_data, name))

        self.for_each_run(check, leave_out=TWO_FORMS)

    def test_gives_the_same_version_and_most_recent_step(self):
        def check(directory):
            got, expected = self.pair(directory)
            for name in ("file_version", "most_recent_step", "most_recent_wall_time"):
                self.assertEqual(getattr(got, name), getattr(expected, name), name)

        self.for_each_run(check)

    def test_gives_the_same_graphs(self):
        def check(directory):
            got, expected = self.pair(directory)
            if expected.Tags()["graph"]:
                self.assertEqual(got.Graph(), expected.Graph())
            for tag in expected.Tags()["run_metadata"]:
                self.assertEqual(got.RunMetadata(tag), expected.RunMetadata(tag))

        self.for_each_run(check)

    def test_gives_the_same_through_a_multiplexer(self):
        got, expected = (module.EventMultiplexer(size_guidance=ALL).AddRunsFromDirectory(
            f"{self.log_dir}/cpp/compatible").Reload() for module in (our_multiplexer, event_multiplexer))
        self.assertEqual(got.RunPaths(), expected.RunPaths())
        self.assertGreater(len(got.Runs()), 5)
        for run, tags in expected.Runs().items():
            if f"cpp/compatible/{run}" in TWO_FORMS:
                continue
            for tag in tags["scalars"]:
                self.assertEqual([fields(each) for each in got.Scalars(run, tag)],
                                 [fields(each) for each in expected.Scalars(run, tag)])

    def test_gives_what_plugins_keep(self):
        got, expected = self.pair(f"{self.log_dir}/new_style")
        for plugin in ("pr_curves", "mesh", "images", "audio"):
            self.assertEqual(got.PluginTagToContent(plugin), expected.PluginTagToContent(plugin))

    def test_raises_the_same_errors(self):
        for accumulator in self.pair(f"{self.log_dir}/new_style"):
            for call in (*KINDS.values(), "Tensors", "PluginTagToContent"):
                with self.assertRaises(KeyError):
                    getattr(accumulator, call)("no such tag")

    def test_reads_one_file(self):
        (path,) = glob.glob(f"{self.log_dir}/new_style/*")
        got, expected = self.pair(path)
        self.assertEqual(got.Tags()["scalars"], ["double", "scalar"])
        self.assertEqual([each.step for each in got.Scalars("double")],
                         [each.step for each in expected.Tensors("double")])


if __name__ == "__main__":
    unittest.main()
