# SPDX-License-Identifier: Apache-2.0
"""Projects that `steptape new` writes: makes, builds and runs them as a user does."""

import os
import subprocess
import tempfile

# The tag whose curve each kind of project draws.
CURVES = {"core": "loss", "torch": "loss", "mpi": "loss", "c": "change", "fortran": "change"}


class Installation:
    """Commands with the program `steptape` of a folder on PATH, in a temporary directory of their own."""

    def __init__(self, test, programs, **variables):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.test = test
        self.folder = folder.name
        self.environment = os.environ | variables
        self.environment["PATH"] = os.pathsep.join([programs, os.environ["PATH"]])
        for name in ("CMAKE_PREFIX_PATH", "steptape_DIR"):
            self.environment.pop(name, None)

    def run(self, *command, folder="", code=0):
        """Returns what a command prints, which ends with the exit code."""
        done = subprocess.run(command, cwd=os.path.join(self.folder, folder), env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.test.assertEqual(done.returncode, code, f"{' '.join(command)}:\n{done.stdout}")
        return done.stdout

    def new(self, kind, name="demo"):
        self.run("steptape", "new", name, *([] if kind == "core" else [f"--{kind}"]))
        return os.path.join(self.folder, name)

    def configure(self, *options, name="demo", code=0):
        return self.run("cmake", "-B", "build", *options, folder=name, code=code)

    def expect_a_curve(self, kind, *options, launcher=()):
        """A new project of the kind builds, runs and shows a curve."""
        project = self.new(kind)
        self.configure(*options)
        self.run("cmake", "--build", "build", "--parallel", "2", folder="demo")
        self.run(*launcher, "build/demo", folder="demo")
        self.test.assertRegex(self.run("steptape", "inspect", "runs", folder="demo"), rf"\n  {CURVES[kind]} +\d+ ")
        return project
