#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steptape.compat has every public name of the packages that it replaces, or a list says why not."""

import inspect
import types
import unittest

import tbparse.summary_reader
import tensorboardX
import torch.utils.tensorboard
from tensorboard.backend.event_processing import event_accumulator, event_multiplexer
from tensorboard.version import VERSION

import steptape.compat.event_accumulator
import steptape.compat.event_multiplexer
import steptape.compat.tbparse
import steptape.compat.tensorboard
import steptape.compat.tensorboardX

# Names of the originals that no user needs, each with the reason. A name of a later version that is in no
# list here fails the test: give steptape.compat the name, or add it with its reason.
LEFT_OUT = {
    "event_accumulator": {
        "CompressedHistogramEvent": "CompressedHistograms() is not available",
        "SUMMARY_TYPES": "names private methods",
        "logger": "of the module itself",
    },
    "event_multiplexer": {"logger": "of the module itself"},
    "summary_reader": {
        **dict.fromkeys(("HPARAMS", "TEXT", "PLUGIN_TAGS", "PLUGIN_RAW_TAGS", "MINIMUM_SIZE_GUIDANCE",
                         "REDUCED_EVENT_TYPES"), "names inside of the module"),
        **dict.fromkeys(("AUDIO", "COMPRESSED_HISTOGRAMS", "HISTOGRAMS", "IMAGES", "SCALARS", "TENSORS",
                         "tensorflow"), "imports"),
    },
}


def of_module(module):
    """The names that a module defines or keeps as constants, without its imports."""
    return {name for name, value in vars(module).items()
            if not name.startswith("_") and not isinstance(value, types.ModuleType)
            and getattr(value, "__module__", module.__name__) == module.__name__}


def of_object(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


class Names(unittest.TestCase):
    def check(self, original, ours):
        left_out = LEFT_OUT[original.__name__.rpartition(".")[2]]
        missing = of_module(original) - of_module(ours) - set(dir(ours)) - left_out.keys()
        self.assertEqual(missing, set(), f"of {original.__name__}, TensorBoard {VERSION}")
        self.assertLessEqual(left_out.keys(), set(vars(original)), "a name that is no longer there")

    def check_class(self, original, ours):
        """Compares attributes of objects as well."""
        self.assertEqual(of_object(original) - of_object(ours), set(),
                         f"of {type(original).__name__}, TensorBoard {VERSION}")

    def check_parameters(self, original, ours):
        for name, method in inspect.getmembers(type(original), inspect.isfunction):
            if not name.startswith("_"):
                with self.subTest(method=name):
                    expected = list(inspect.signature(method).parameters)
                    got = list(inspect.signature(getattr(type(ours), name)).parameters)
                    self.assertEqual(got, expected)

    def test_of_the_event_accumulator(self):
        theirs, ours = event_accumulator, steptape.compat.event_accumulator
        self.check(theirs, ours)
        pair = theirs.EventAccumulator("."), ours.EventAccumulator(".")
        self.check_class(*pair)
        self.check_parameters(*pair)

    def test_of_the_event_multiplexer(self):
        theirs, ours = event_multiplexer, steptape.compat.event_multiplexer
        self.check(theirs, ours)
        pair = theirs.EventMultiplexer(), ours.EventMultiplexer()
        self.check_class(*pair)
        self.check_parameters(*pair)

    def test_of_tbparse(self):
        theirs, ours = tbparse.summary_reader, steptape.compat.tbparse
        self.check(theirs, ours)
        directory = __file__.rpartition("/")[0] + "/packing"
        self.check_class(tbparse.SummaryReader.__new__(tbparse.SummaryReader),
                         ours.SummaryReader(directory))

    def check_writer(self, original, ours, left_out, differing):
        """Compares methods and their parameters: names, order and defaults. Ours may have more at the end."""
        methods = {name: method for name, method in inspect.getmembers(original, inspect.isfunction)
                   if not name.startswith("_") or name == "__init__"}
        self.assertLessEqual(left_out.keys() | differing, methods.keys(), "a name that is no longer there")
        for name, method in methods.items():
            if name in left_out:
                continue
            with self.subTest(method=name):
                expected, got = ([(parameter.name, parameter.default) for parameter in signature.parameters.values()
                                  if parameter.kind not in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY)]
                                 for signature in map(inspect.signature, (method, getattr(ours, name))))
                if name in differing:
                    expected, got = ([parameter for parameter, _ in all_] for all_ in (expected, got))
                self.assertEqual(got[:len(expected)], expected)

    def test_of_the_writer_of_torch(self):
        for ours in (steptape.compat.tensorboard.SummaryWriter, steptape.SummaryWriter):
            # None has the meaning of the empty text there.
            self.check_writer(torch.utils.tensorboard.SummaryWriter, ours, {}, set())
        self.check_writer(torch.utils.tensorboard.FileWriter, steptape.compat.tensorboard.FileWriter,
                          {"__init__": "is made by SummaryWriter", "add_graph": "the graph of a trace",
                           "add_onnx_graph": "the graph of a trace"}, set())

    def test_of_the_writer_of_tensorboard_x(self):
        left_out = {"add_openvino_graph": "of another package", "use_metadata": "for graphs with measurements"}
        # The parameters are theirs, and their defaults but for configurations of other services.
        self.check_writer(tensorboardX.SummaryWriter, steptape.compat.tensorboardX.SummaryWriter, left_out,
                          {"__init__"})


if __name__ == "__main__":
    unittest.main()
