# SPDX-License-Identifier: Apache-2.0
"""Writes low_bit.onnx with the package onnx 1.23.2: make_low_bit_onnx.py DIRECTORY

For each element type of ONNX, the model has an input, an initializer of five elements in the type's
own packing, a constant, and a Cast.
"""

import os
import sys

import onnx
from onnx import TensorProto, helper

# Bytes of five elements: types of 4, 2 and 6 bits are packed.
BITS = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6,
        "BOOL": 8, "INT8": 8, "UINT8": 8, "INT16": 16, "UINT16": 16, "FLOAT16": 16, "BFLOAT16": 16,
        "INT32": 32, "UINT32": 32, "FLOAT": 32, "INT64": 64, "UINT64": 64, "DOUBLE": 64,
        "COMPLEX64": 64, "COMPLEX128": 128}


def main():
    graph = onnx.GraphProto(name="types")
    for name, number in TensorProto.DataType.items():
        if name in ("UNDEFINED", "STRING"):
            continue
        stored = TensorProto(data_type=number, dims=[5], name=name + "/stored",
                             raw_data=bytes((5 * BITS.get(name, 8) + 7) // 8))
        constant = TensorProto(data_type=number, dims=[5], raw_data=stored.raw_data)
        graph.initializer.append(stored)
        graph.input.append(helper.make_tensor_value_info(name + "/in", number, ["batch", 3]))
        graph.output.append(helper.make_tensor_value_info(name + "/out", number, ["batch", 3]))
        graph.node.append(helper.make_node("Constant", [], [name + "/constant"], name=name + "/made",
                                           value=constant))
        graph.node.append(helper.make_node("Cast", [name + "/in"], [name + "/out"],
                                           name=name + "/cast", to=number))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)])
    model.producer_name, model.producer_version = "onnx", onnx.__version__
    onnx.checker.check_model(model)
    onnx.save(model, os.path.join(sys.argv[1], "low_bit.onnx"))


if __name__ == "__main__":
    main()
