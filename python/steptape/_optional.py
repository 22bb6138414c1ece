# SPDX-License-Identifier: Apache-2.0
"""Packages that only some calls need."""

import importlib


def require(module, package, call):
    """Imports `module`, or says which package `call` needs and how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{call} needs {package}, which is not installed here. "
                          f"Install it: pip install {package}", name=module) from error
