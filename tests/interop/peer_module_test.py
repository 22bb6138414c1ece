#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorBoard shows the graph of a module with torch's operators, scopes and edges.

tensorboardX hands models to torch.
"""

import collections
import os
import re
import subprocess
import tempfile
import time
import unittest

import peer_graph
import torch
from patience import PATIENCE_SECONDS
from peer_comparison import Log
from peer_graph_checks import graph
from tensorboard_server import LOAD_SECONDS, eventually
from torch.utils.tensorboard import SummaryWriter


class ModuleGraph:
    """The checks; a subclass for each of TensorBoard's two loaders."""

    fast: bool

    @classmethod
    def setUpClass(cls):
        directory = cls.enterClassContext(tempfile.TemporaryDirectory())
        model, x = peer_graph.Net(), torch.zeros(peer_graph.INPUT_SHAPE)
        module = os.path.join(directory, "net.pt")
        torch.jit.trace(model, x).save(module)
        folders = [os.path.join(directory, name) for name in ("steptape", "torch")]
        subprocess.run([os.environ["STEPTAPE_PEER_GRAPH_WRITER"], module, folders[0]], check=True,
                       timeout=PATIENCE_SECONDS)
        with SummaryWriter(folders[1]) as writer:
            writer.add_graph(model, x)
        cls.logs = [Log(folder, cls.fast) for folder in folders]
        for log in cls.logs:
            cls.enterClassContext(log.server)
        loaded_by = time.monotonic() + LOAD_SECONDS
        cls.ours, cls.theirs = (cls.load(log, ".", loaded_by) for log in cls.logs)
        cls.eager = cls.load(cls.logs[0], "eager", loaded_by)

    @staticmethod
    def load(log, run, loaded_by):
        return {node.name: node for node in eventually(lambda: graph(log, run), loaded_by)}

    def operators(self, nodes):
        """The operators of LibTorch as (scope, kind), by their nodes' names.

        torch calls a scope "Conv2d[conv]" that is "conv[Conv2d]" here.
        """
        return {name: (re.sub(r"(\w+)\[(\w+)\]", r"\2[\1]", name.rpartition("/")[0])
                       if nodes is self.theirs else name.rpartition("/")[0], node.op)
                for name, node in nodes.items() if node.op.startswith("aten::")}

    def test_has_the_same_operators_in_the_same_scopes(self):
        ours, theirs = self.operators(self.ours), self.operators(self.theirs)
        self.assertEqual(len(ours), 8)
        self.assertEqual(collections.Counter(ours.values()), collections.Counter(theirs.values()))

    def test_has_the_same_edges(self):
        self.assertEqual(self.edges(self.ours), self.edges(self.theirs))

    def edges(self, nodes):
        """Returns an operator's inputs, model inputs included, and its output."""
        known = self.operators(nodes)
        known |= {name: "input" for name in nodes if name.startswith("input/")}
        known |= {name: "output" for name in nodes if name.startswith("output/")}
        self.assertEqual(len(known), 10)
        self.assertEqual(len(set(known.values())), 10)
        return {end: [known[source] for source in nodes[name].input if source in known]
                for name, end in known.items()}

    def test_has_the_same_shapes(self):
        ours, theirs = self.shapes(self.ours), self.shapes(self.theirs)
        self.assertEqual(len(ours), 8)
        self.assertEqual(ours, theirs)

    def shapes(self, nodes):
        return {end: [[dim.size for dim in shape.dim]
                      for shape in nodes[name].attr["_output_shapes"].list.shape]
                for name, end in self.operators(nodes).items()}

    def test_has_parameters_with_their_shapes(self):
        shapes = {name: list(parameter.shape)
                  for name, parameter in peer_graph.Net().named_parameters()}
        parameters = {name: node for name, node in self.ours.items() if node.op == "Parameter"}
        shown = {re.sub(r"^Net/|\[\w+\]", "", name).replace("/", "."):
                 [dim.size for dim in node.attr["_output_shapes"].list.shape[0].dim]
                 for name, node in parameters.items()}
        self.assertEqual(shown, shapes)
        # torch's have none, and read nodes that are not there.
        theirs = [node for node in self.theirs.values() if node.op == "prim::GetAttr"]
        self.assertEqual(len(theirs), len(shapes))
        for node in theirs:
            self.assertFalse(node.attr["_output_shapes"].list.shape)
            self.assertFalse(set(node.input) & set(self.theirs))

    def test_has_no_nodes_for_constants(self):
        self.assertFalse([name for name, node in self.ours.items() if node.op.startswith("prim::")])
        self.assertTrue([name for name, node in self.theirs.items()
                         if node.op == "prim::Constant"])

    def test_has_the_same_operators_of_an_eager_module(self):
        """LibTorch's C++ modules call t and addmm where torch's call linear.

        They do not tell when one without parameters, such as ReLU, runs: it has no scope.
        """
        eager, theirs = (collections.Counter(op for _, op in self.operators(nodes).values())
                         for nodes in (self.eager, self.theirs))
        linear = theirs.pop("aten::linear")
        self.assertEqual(eager, theirs + collections.Counter({"aten::t": linear,
                                                              "aten::addmm": linear}))
        self.assertEqual(len(self.eager), 18)

    def test_measures_the_operators(self):
        """torch writes an empty measurement."""
        for log, tag, measured in ((self.logs[0], "step1", True), (self.logs[1], "step1", False)):
            text = log.get_bytes("graphs", "run_metadata", run=".", tag=tag).decode()
            self.assertEqual("node_stats" in text, measured)


class FastLoader(ModuleGraph, unittest.TestCase):
    """TensorBoard's default, the data server in Rust."""

    fast = True


class PythonLoader(ModuleGraph, unittest.TestCase):
    """--load_fast=false, which TensorBoard also takes for some file systems."""

    fast = False


if __name__ == "__main__":
    unittest.main()
