# SPDX-License-Identifier: Apache-2.0
"""The graph of a model of torch, by way of ONNX."""

from __future__ import annotations

import importlib.util
import inspect
import os
import tempfile
from typing import Any

from . import _arguments
from ._optional import require


def export(model: Any, inputs: Any, verbose: bool, write: Any) -> None:
    """Exports the model to a temporary file and calls `write` with its path."""
    torch = require("torch", "torch", "add_graph")
    if not isinstance(model, torch.nn.Module):
        raise _arguments.wrong("add_graph: model", model, "a module of torch")
    if inputs is None:
        raise TypeError("add_graph: input_to_model: got None; expected a tensor or a tuple of them")
    arguments = inputs if isinstance(inputs, tuple) else (inputs,)
    # The exporter by tracing needs no other package, and that of torch.export onnxscript as well.
    require("onnx", "onnx", "add_graph")
    known = inspect.signature(torch.onnx.export).parameters
    options = {"dynamo": importlib.util.find_spec("onnxscript") is not None} if "dynamo" in known else {}
    training = getattr(model, "training", False)
    with tempfile.TemporaryDirectory(prefix="steptape-graph-") as folder, torch.no_grad():
        path = os.path.join(folder, "model.onnx")
        try:
            torch.onnx.export(model, arguments, path, verbose=verbose, **options)
        finally:
            if hasattr(model, "train"):
                model.train(training)
        write(path)
