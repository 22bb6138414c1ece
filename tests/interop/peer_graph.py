# SPDX-License-Identifier: Apache-2.0
"""Models whose graphs are compared: an ONNX file, and a module of PyTorch."""

import os

import torch
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Field = descriptor_pb2.FieldDescriptorProto
ONNX_FILE = os.path.join(os.path.dirname(__file__), "..", "golden", "resnet.onnx")

INPUT_SHAPE = (2, 3, 8, 8)


class Net(torch.nn.Module):
    """A module in a module, operators outside of modules, a value that two read."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.relu = torch.nn.ReLU()
        self.head = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(),
                                        torch.nn.Linear(6, 2))

    def forward(self, x):
        x = self.relu(self.conv(x))
        return self.head((x * (x + 1)).mean((2, 3)))


# The peers take the graph that the package onnx reads from a file. This module reads the parts that they use,
# without that package. Field numbers:
# https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
PACKAGE = "peer_onnx"
INTEGER, FLOAT = Field.TYPE_INT64, Field.TYPE_FLOAT
TEXT, BYTES = Field.TYPE_STRING, Field.TYPE_BYTES

# message: {field: (number, type or message, repeated)}
MESSAGES = {
    "Model": {"graph": (7, "Graph", False)},
    "Graph": {"node": (1, "Node", True), "initializer": (5, "Tensor", True),
              "input": (11, "Value", True), "output": (12, "Value", True)},
    "Node": {"input": (1, TEXT, True), "output": (2, TEXT, True), "name": (3, TEXT, False),
             "op_type": (4, TEXT, False), "attribute": (5, "Attribute", True)},
    "Attribute": {"name": (1, TEXT, False), "f": (2, FLOAT, False), "i": (3, INTEGER, False),
                  "s": (4, BYTES, False), "ints": (8, INTEGER, True)},
    "Tensor": {"dims": (1, INTEGER, True), "name": (8, TEXT, False)},
    "Value": {"name": (1, TEXT, False), "type": (2, "Type", False)},
    "Type": {"tensor_type": (1, "TensorType", False)},
    "TensorType": {"elem_type": (1, INTEGER, False), "shape": (2, "Shape", False)},
    "Shape": {"dim": (1, "Dimension", True)},
    "Dimension": {"dim_value": (1, INTEGER, False), "dim_param": (2, TEXT, False)},
}


def _model_class():
    file = descriptor_pb2.FileDescriptorProto(name="peer_onnx.proto", package=PACKAGE,
                                              syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            entry = message.field.add(
                name=field, number=number,
                label=Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL)
            if isinstance(kind, str):
                entry.type, entry.type_name = Field.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                entry.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.Model"))


def load_onnx():
    """The `graph` of ONNX_FILE, as `onnx.load(ONNX_FILE).graph`."""
    with open(ONNX_FILE, "rb") as file:
        return _model_class().FromString(file.read()).graph
