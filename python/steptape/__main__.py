# SPDX-License-Identifier: Apache-2.0
"""Starts the command-line tool that came with the package: `python -m steptape inspect runs`.

`python -m steptape --cmakedir` prints the directory for find_package(steptape) in CMake that is in this package.
"""

import os
import sys
import sysconfig

from ._tool import tool


def cmake_directory():
    """The directory of the CMake package in a wheel; None in a package without one."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cpp", "lib", "cmake", "steptape")
    return path if os.path.isdir(path) else None


def serve_assistants(arguments):
    """What `steptape mcp` becomes."""
    try:
        from . import _mcp
    except ImportError as error:
        sys.exit(f"steptape mcp: got {sys.executable} without the package mcp ({error}); expected version 2 or later. "
                 "Install it: pip install 'mcp>=2'")
    _mcp.main(arguments)


def main():
    if sys.argv[1:] == ["--cmakedir"] and (directory := cmake_directory()):
        print(directory)
        return
    if sys.argv[1:2] == ["mcp"]:
        # In this Python, which has the package; the tool would look for one.
        serve_assistants(sys.argv[2:])
        return
    path = tool()
    if path is None:
        sys.exit("python -m steptape: got no program 'steptape' in "
                 f"{sysconfig.get_path('scripts')} or on PATH; expected the one that comes with the package. "
                 "Install the wheel: pip install --force-reinstall steptape")
    os.execv(path, ["steptape", *sys.argv[1:]])


if __name__ == "__main__":
    main()
