#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C++, C and Fortran from the wheel: projects that use the package for CMake in it.

    wheel_cpp_test.py [WHEEL]

Without WHEEL it packs what the build has made, as wheel_test.py does. Kinds of projects whose compiler, MPI or LibTorch is
not there are skipped. STEPTAPE_LONG_TESTS=1 compiles the components over LibTorch; otherwise CMake configures them.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import wheel_test

sys.path.insert(0, os.path.join(wheel_test.ROOT, "tests", "install"))
from new_project import Installation  # noqa: E402  # pylint: disable=wrong-import-position

TORCH = os.environ.get("STEPTAPE_TORCH_ROOT", "")


class WheelForCpp(unittest.TestCase):
    wheel = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()  # Python 3.10 has no enterClassContext().
        cls.addClassCleanup(folder.cleanup)
        cls.is_packed = cls.wheel is None
        if cls.is_packed:
            cls.wheel = wheel_test.pack(folder.name, STEPTAPE_BUILD_DIR=os.environ["STEPTAPE_BUILD_DIR"])
        environment = os.path.join(folder.name, "environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        cls.programs = os.path.join(environment, "bin")
        done = wheel_test.pip("--python", f"{cls.programs}/python", "install", "--no-deps", "--no-index", cls.wheel)
        if done.returncode != 0:
            raise RuntimeError(f"pip install failed:\n{done.stdout}{done.stderr}")
        (cls.packages,) = glob.glob(f"{environment}/lib/python3*/site-packages")
        wheel_test.link_package("numpy", cls.packages)
        cls.package = os.path.join(cls.packages, "steptape", "cpp", "lib", "cmake", "steptape")

    def setUp(self):
        self.here = Installation(self, self.programs)

    def test_says_where_the_package_for_cmake_is(self):
        self.assertEqual(self.here.run("steptape", "--cmakedir"), f"{self.package}\n")
        self.assertEqual(self.here.run("python", "-m", "steptape", "--cmakedir"), f"{self.package}\n")

    def test_a_program_in_cpp_needs_no_header_of_zlib(self):
        project = self.here.expect_a_curve("core", "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON")
        needed = subprocess.run(["readelf", "-d", f"{project}/build/demo"], check=True, **wheel_test.QUIET).stdout
        self.assertIn("[libz.so.1]", needed)
        if not self.is_packed:
            self.assertNotIn("protobuf", needed)

    def test_a_machine_without_zlib_is_told_so(self):
        self.here.new("core")
        said = self.here.configure("-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON", "-DSTEPTAPE_ZLIB_LIBRARY=OFF", code=1)
        self.assertIn("component 'core' cannot be used: it needs zlib", " ".join(said.split()))

    def test_a_program_in_c(self):
        self.skip_unless_packed("c")
        self.here.expect_a_curve("c")

    def test_a_program_in_fortran(self):
        self.skip_unless_packed("c")
        self.skip_without("gfortran")
        self.here.expect_a_curve("fortran")

    def test_mpi_is_compiled_in_the_project_for_the_mpi_of_the_machine(self):
        self.skip_without("mpicxx", "mpiexec")
        project = self.here.expect_a_curve("mpi", launcher=("mpiexec", "-n", "2"))
        self.assertTrue(glob.glob(f"{project}/build/steptape/mpi/**/libsteptape_mpi.a", recursive=True))

    def test_libtorch_beside_the_wheel_is_found(self):
        if not TORCH:
            self.skipTest("the build has no LibTorch")
        os.symlink(TORCH, os.path.join(self.packages, "torch"))
        if os.environ.get("STEPTAPE_LONG_TESTS") == "1":
            self.here.expect_a_curve("torch")
        else:
            self.here.new("torch")
            self.here.configure()

    def test_libtorch_that_is_not_there_is_named(self):
        self.here.new("torch")
        said = self.here.configure("-DTorch_DIR=/nowhere", code=1)
        self.assertRegex(" ".join(said.split()),
                         r"component 'torch' cannot be used: it needs LibTorch( [0-9.]+)?, and LibTorch was not found: Torch_DIR: got /nowhere")

    def test_protocol_buffers_are_in_a_namespace_of_their_own(self):
        if self.is_packed:
            self.skipTest("the build links the system's Protocol Buffers")
        archives = glob.glob(f"{self.packages}/steptape/cpp/lib/*.a")
        self.assertGreater(len(archives), 10)
        symbols = subprocess.run(["nm", *archives], check=True, **wheel_test.QUIET).stdout
        self.assertIn("N15steptape_google8protobuf", symbols)
        self.assertNotIn("N6google8protobuf", symbols)

    def test_no_file_names_a_folder_of_the_machine_that_built_it(self):
        for file in glob.glob(f"{self.packages}/steptape/cpp/lib/**/*.cmake", recursive=True):
            with open(file, encoding="utf-8") as text, self.subTest(file=file):
                self.assertNotIn(wheel_test.ROOT, text.read())

    def skip_without(self, *programs):
        for program in programs:
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed")

    def skip_unless_packed(self, component):
        if not os.path.exists(f"{self.package}/steptape-{component}-targets.cmake"):
            self.skipTest(f"the build has no component {component}")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        WheelForCpp.wheel = os.path.abspath(sys.argv.pop())
    unittest.main()
