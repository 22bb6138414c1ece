# SPDX-License-Identifier: Apache-2.0
"""Where the command-line tool of the package is."""

import os
import shutil
import sysconfig


def tool():
    """The path of the tool: first in the environment of this Python, then on PATH; None if missing."""
    for scheme in (None, f"{os.name}_user"):
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = os.path.join(folder, "steptape")
        if os.access(path, os.X_OK):
            return path
    return shutil.which("steptape")
