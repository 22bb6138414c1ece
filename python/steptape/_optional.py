# SPDX-License-Identifier: Apache-2.0
"""Optional packages."""

import importlib


def require(module, package, call):
    """Imports `module`, or raises an ImportError that names the package and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{call} needs {package}, which is not installed here. "
                          f"Install it: pip install {package}", name=module) from error
