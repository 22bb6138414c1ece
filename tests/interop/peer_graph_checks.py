# SPDX-License-Identifier: Apache-2.0
"""The graph of an ONNX file, with the nodes and edges of the peers'."""

import peer_graph
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef


def graph(log, run):
    """The nodes that the graph page loads, and their order."""
    return text_format.Parse(log.get_bytes("graphs", "graph", run=run), GraphDef()).node


class OnnxChecks:
    def test_nodes_of_an_onnx_graph(self):
        model = peer_graph.load_onnx()

        def check():
            ours = {node.name: node for node in graph(self.steptape, "onnx")}
            self.assertEqual(len(ours), len(graph(self.steptape, "onnx")))
            self.assertEqual(len(ours), sum(map(len, (model.node, model.initializer, model.input,
                                                      model.output))))
            for peer in self.peers:
                theirs = graph(peer, "onnx")
                # The peers have no initializers, and the output's name twice.
                self.assertEqual(len(theirs), len(ours) - len(model.initializer))
                self.assertEqual([node.name for node in theirs].count("logits"), 2)

        self.eventually(check)

    def test_edges_of_an_onnx_graph(self):
        model = peer_graph.load_onnx()
        # Steptape names a node as the model does, the peers by its first output.
        names = {node.output[0]: node.name.lstrip("/") for node in model.node}
        names |= {value.name: f"input/{value.name}" for value in model.input}
        weights = {tensor.name for tensor in model.initializer}

        def check():
            ours = {node.name: node for node in graph(self.steptape, "onnx")}
            for peer in self.peers:
                operators = [node for node in graph(peer, "onnx") if node.op != "Variable"]
                self.assertEqual(len(operators), len(model.node))
                for theirs in operators:
                    node = ours[names[theirs.name]]
                    self.assertEqual(node.op, theirs.op)
                    self.assertEqual(len(node.input), len(theirs.input))
                    for source, value in zip(node.input, theirs.input):
                        if value in weights:
                            self.assertEqual(ours[source].op, "Initializer")
                        else:
                            self.assertEqual(source, names[value])

        self.eventually(check)
