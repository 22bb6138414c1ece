#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed into a separate environment without a compiler.

    wheel_test.py [WHEEL]

Without WHEEL it packs what the build has made: STEPTAPE_PYTHON_PACKAGE, STEPTAPE_TOOL and STEPTAPE_DATA_SERVER.
"""

import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from importlib import util

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"capture_output": True, "text": True}


def pip(*arguments):
    return subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], **QUIET)


def pack(folder, **defines):
    """Makes a wheel by the project's pyproject.toml from the existing build."""
    settings = [f"cmake.source-dir={ROOT}/tests/python/packing", f"build-dir={folder}/build",
                f"cmake.define.STEPTAPE_PYTHON_PACKAGE={os.environ['STEPTAPE_PYTHON_PACKAGE']}",
                f"cmake.define.STEPTAPE_TOOL={os.environ['STEPTAPE_TOOL']}",
                f"cmake.define.STEPTAPE_DATA_SERVER={os.environ.get('STEPTAPE_DATA_SERVER', '')}",
                *(f"cmake.define.{name}={value}" for name, value in defines.items())]
    done = pip("wheel", ROOT, "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder,
               # Not -C, which the pip of Debian 12 does not know.
               *(each for setting in settings for each in ("--config-settings", setting)))
    if done.returncode != 0:
        raise RuntimeError(f"pip wheel failed:\n{done.stdout}{done.stderr}")
    (wheel,) = glob.glob(f"{folder}/steptape-*.whl")
    return wheel


def link_package(name, into):
    """Installs a package of this environment into another one of the same Python, for no download."""
    origin = os.path.dirname(util.find_spec(name).origin)
    for path in (origin, f"{origin}.libs"):
        if os.path.exists(path):
            os.symlink(path, os.path.join(into, os.path.basename(path)))


class Wheel(unittest.TestCase):
    wheel = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()  # Python 3.10 has no enterClassContext().
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        if cls.wheel is None:
            cls.wheel = pack(cls.folder)
        cls.environment = os.path.join(cls.folder, "environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.environment], check=True)
        cls.python = os.path.join(cls.environment, "bin", "python")
        done = pip("--python", cls.python, "install", "--no-deps", "--no-index", cls.wheel)
        if done.returncode != 0:
            raise RuntimeError(f"pip install failed:\n{done.stdout}{done.stderr}")
        (cls.packages,) = glob.glob(f"{cls.environment}/lib/python3*/site-packages")
        link_package("numpy", cls.packages)
        os.makedirs(os.path.join(cls.folder, "runs", "exp"))
        shutil.copy(os.path.join(ROOT, "tests", "golden", "torch.tfevents"),
                    os.path.join(cls.folder, "runs", "exp", "events.out.tfevents.1700000000.torch"))

    def run_here(self, *command, **options):
        """Runs a program of the environment. PATH has nothing else."""
        environment = {"PATH": os.path.join(self.environment, "bin"), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(command, env=environment, cwd=self.folder, **QUIET, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_brings_the_tool(self):
        tool = os.path.join(self.environment, "bin", "steptape")
        version = self.run_here(tool, "--version")
        self.assertRegex(version, r"\d+\.\d+\.\d+")
        self.assertEqual(self.run_here(self.python, "-m", "steptape", "--version"), version)
        self.assertIn(self.run_here(self.python, "-c", "import steptape; print(steptape.__version__)"),
                      version)
        self.assertRegex(self.run_here(tool, "inspect", "runs"), r"loss/train +3 +0\.\.2")

    def test_brings_the_data_server_beside_the_tool(self):
        server = os.path.join(self.environment, "bin", "steptape-data-server")
        if os.environ.get("STEPTAPE_TOOL") and not os.environ.get("STEPTAPE_DATA_SERVER"):
            self.skipTest("the build has no data server: nghttp2 was not found")
        self.assertRegex(self.run_here(server, "--version"), r"^steptape-data-server \d+\.\d+\.\d+")
        board = os.path.join(self.environment, "bin", "tensorboard")
        with open(board, "w", encoding="utf-8") as script:
            script.write('#!/bin/sh\necho "$TENSORBOARD_DATA_SERVER_BINARY $*"\n')
        os.chmod(board, 0o755)
        said = self.run_here(os.path.join(self.environment, "bin", "steptape"), "tensorboard", "--logdir", "runs")
        self.assertEqual(said, f"{os.path.realpath(server)} --logdir runs\n")

    def test_reads_with_numpy_alone(self):
        printed = self.run_here(self.python, "-c", """
import steptape
runs = steptape.read("runs")
print(runs["exp"]["loss/train"].steps, runs["exp"]["loss/train"].values[0])
try:
    runs.to_pandas()
except ImportError as error:
    print(error)
""")
        self.assertEqual(printed, "[0 1 2] 1.0\nto_pandas() needs pandas, which is not installed here. "
                                  "Install it: pip install pandas\n")

    def test_runs_the_lines_of_its_documentation(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as document:
            text = document.read()
        written, lines = (re.search(rf"^## {heading}$.*?```python\n(.*?)```", text, re.DOTALL | re.MULTILINE)[1]
                          for heading in ("Writing", "Reading in ten lines"))
        with self.pandas():
            printed = self.run_here(self.python, "-W", "error", "-c", lines)
        self.assertIn("<steptape.Runs: 1 runs, 10 values> ['exp']", printed)
        self.assertIn("2 0.333333", printed)
        points = 'import steptape; print(len(steptape.read("written")["."]["loss/train"].values))'
        self.run_here(self.python, "-W", "error", "-c", written.replace("runs/demo", "written"))
        self.assertEqual(self.run_here(self.python, "-c", points), "1000\n")

    @contextlib.contextmanager
    def pandas(self):
        """All packages of this environment, pandas included, after those of the wheel's."""
        path = os.path.join(self.packages, "others.pth")
        with open(path, "w", encoding="utf-8") as others:
            others.write(os.path.dirname(os.path.dirname(util.find_spec("pandas").origin)) + "\n")
        yield
        os.remove(path)

    def test_an_older_python_is_refused_with_the_reason(self):
        done = pip("install", "--dry-run", "--no-deps", "--no-index", "--target", self.folder,
                   "--python-version", "3.9", "--only-binary=:all:", self.wheel)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not a supported wheel on this platform", done.stderr)
        with zipfile.ZipFile(self.wheel) as archive:
            (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
            self.assertIn("\nRequires-Python: >=3.10\n", archive.read(metadata).decode())

    def test_is_typed(self):
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertLessEqual({"steptape/py.typed", "steptape/_core.pyi"}, set(archive.namelist()))

    def test_shows_other_libraries_nothing_but_its_entry(self):
        (module,) = glob.glob(f"{self.packages}/steptape/_core*.so")
        symbols = subprocess.run(["nm", "-D", "--defined-only", module], check=True, **QUIET).stdout
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["PyInit__core"])


if __name__ == "__main__":
    if len(sys.argv) == 2:
        Wheel.wheel = os.path.abspath(sys.argv.pop())
    unittest.main()
