# SPDX-License-Identifier: Apache-2.0
"""Configures and builds as users do, on machines that are not like ours: compilers that warn or are too old, and a
launcher of another MPI. Usage: user_builds_test.py C++_COMPILER MPI_FAMILY, of which the latter is "Open MPI", MPICH or
none."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER, MPI_FAMILY = sys.argv.pop(1), sys.argv.pop(1)
# What `mpiexec --version` prints first.
VERSIONS = {"Open MPI": "mpiexec (OpenRTE) 4.1.4", "MPICH": "HYDRA build details:"}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def configure_presets():
    return {preset["name"]: preset for preset in json.loads(read("CMakePresets.json"))["configurePresets"]}


def cache_variable(preset, name):
    """The value that a preset gives a variable, itself or by the first that it inherits from."""
    presets = configure_presets()
    if name in presets[preset].get("cacheVariables", {}):
        return presets[preset]["cacheVariables"][name]
    inherited = presets[preset].get("inherits", [])
    for parent in [inherited] if isinstance(inherited, str) else inherited:
        value = cache_variable(parent, name)
        if value is not None:
            return value
    return None


def presets_of_users():
    """Those that documents tell users to build, and the scripts that install or package."""
    texts = [read(path) for path in ("README.md", "tools/quickstart.sh", "tools/package.sh")]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.md")]
    named = set()
    for text in texts:
        named.update(re.findall(r"cmake (?:--fresh )?--preset ([a-z][\w-]*)", text))
        named.update(re.findall(r"^ *(?:configure|build) ([a-z][\w-]*)", text, re.MULTILINE))
    return named & set(configure_presets())


def program(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text("#!/bin/sh\n" + text + "\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class UserBuilds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_cmake(self, *arguments, **environment):
        result = subprocess.run(
            ["cmake", *arguments], cwd=ROOT, capture_output=True, text=True,
            env=dict({"CXX": COMPILER}, **{**os.environ, **environment}))
        # A message of CMake may be broken into lines.
        return result.returncode, " ".join((result.stdout + result.stderr).split())

    def configure(self, preset, *arguments, **environment):
        return self.run_cmake(
            "--preset", preset, "-B", f"{self.folder}/build", "-DSTEPTAPE_BUILD_TESTS=OFF", *arguments, **environment)

    def build_with_a_warning(self, preset):
        # Each layer has a struct with padding.
        status, output = self.configure(preset, "-DCMAKE_CXX_COMPILER_LAUNCHER=env", CXXFLAGS="-Wpadded")
        self.assertEqual(status, 0, output)
        return self.run_cmake("--build", f"{self.folder}/build", "--target", "steptape_base")

    def test_a_compiler_that_warns_does_not_fail_the_build_of_a_user(self):
        status, output = self.build_with_a_warning("core-only")
        self.assertIn("[-Wpadded]", output)
        self.assertEqual(status, 0, output)

    def test_a_compiler_that_warns_fails_the_builds_of_ci(self):
        status, output = self.build_with_a_warning("core-shared")
        self.assertIn("-Werror", output)
        self.assertNotEqual(status, 0, output)

    def test_only_presets_of_developers_and_ci_treat_warnings_as_errors(self):
        self.assertGreaterEqual(presets_of_users(), {"core-only", "release", "deb", "static-tool"})
        for preset in presets_of_users():
            with self.subTest(preset):
                self.assertIsNone(cache_variable(preset, "STEPTAPE_WARNINGS_AS_ERRORS"))
        for preset in ("ci", "core-shared", "asan", "tsan", "dev", "clang"):
            with self.subTest(preset):
                self.assertEqual(cache_variable(preset, "STEPTAPE_WARNINGS_AS_ERRORS"), "ON")
        for path in ("pyproject.toml", "packaging/spack/packages/steptape/package.py", "packaging/conan/conanfile.py",
                     "packaging/vcpkg/steptape/portfile.cmake", "tools/gpu.sh"):
            with self.subTest(path):
                self.assertNotIn("WARNINGS_AS_ERRORS", read(path))

    def test_an_old_compiler_is_refused_by_one_sentence(self):
        # As GCC 9 and Clang 11 name themselves.
        old = "9" if "Free Software Foundation" in subprocess.run(
            [COMPILER, "--version"], capture_output=True, text=True).stdout else "11"
        macro = "__GNUC__" if old == "9" else "__clang_major__"
        compiler = program(self.folder, "old-c++", f'exec {COMPILER} -U{macro} -D{macro}={old} "$@"')
        status, output = self.configure("core-only", CXX=str(compiler))
        self.assertNotEqual(status, 0)
        self.assertRegex(output, rf"compiler \S*old-c\+\+: got \w+ {old}\.[\d.]+; expected GCC 10, Clang 12, or newer\.")

    def test_a_libtorch_that_needs_a_later_standard_than_the_compiler_has_is_refused_by_one_sentence(self):
        # As much of a LibTorch as is read before its headers are compiled.
        torch = pathlib.Path(self.folder, "torch")
        header = torch / "include/torch/csrc/api/include/torch"
        header.mkdir(parents=True)
        (torch / "lib").mkdir()
        (header / "torch.h").touch()
        (header / "all.h").write_text("#if __cplusplus < 202002L\n#error\n#endif\n", encoding="utf-8")
        (header / "version.h").write_text(
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 15\n#define TORCH_VERSION_PATCH 0\n", encoding="utf-8")
        for name in ("torch_cpu", "c10"):
            subprocess.run([COMPILER, "-shared", "-x", "c++", "/dev/null", "-o", torch / f"lib/lib{name}.so"], check=True)
        compiler = program(self.folder, "c++17", f'exec {COMPILER} "$@" -std=c++17')
        status, output = self.configure(
            "core-only", "-DSTEPTAPE_WITH_TORCH=ON", f"-DTorch_DIR={torch}", CXX=str(compiler))
        self.assertNotEqual(status, 0)
        self.assertRegex(output, r"the LibTorch 2\.15\.0 in \S+ needs C\+\+20, which \S*c\+\+17 \(\w+ [\d.]+\) does not support\. "
                         "Use a newer compiler, such as GCC 11 or Clang 12, or an older LibTorch")

    @unittest.skipUnless(MPI_FAMILY in VERSIONS, "this build has no MPI")
    def test_a_launcher_of_another_mpi_is_replaced_or_named(self):
        other = next(family for family in VERSIONS if family != MPI_FAMILY)
        foreign = program(self.folder, "mpiexec", f"echo '{VERSIONS[other]}'")
        mpi = ("-DSTEPTAPE_WITH_MPI=ON", f"-DMPIEXEC_EXECUTABLE={foreign}", "-DCMAKE_CXX_COMPILER_LAUNCHER=env")
        status, output = self.configure("core-only", *mpi)
        self.assertEqual(status, 0, output)
        self.assertIn(f"{foreign} is of {other}, and the MPI that was found is {MPI_FAMILY}: using ", output)
        cache = pathlib.Path(self.folder, "build", "CMakeCache.txt").read_text(encoding="utf-8")
        self.assertNotIn(f"={foreign}\n", cache)

        # The launchers that could replace it are of the other MPI, too.
        pathlib.Path(self.folder, "build", "CMakeCache.txt").unlink()
        compiler = re.search(r"^MPI_CXX_COMPILER:[^=]*=(.*)$", cache, re.MULTILINE).group(1)
        wrapper = program(self.folder, "mpicxx", f'exec {compiler} "$@"')
        for name in ("mpiexec.openmpi", "mpiexec.mpich", "mpiexec.hydra"):
            program(self.folder, name, f"echo '{VERSIONS[other]}'")
        status, output = self.configure("core-only", *mpi, f"-DMPI_CXX_COMPILER={wrapper}")
        self.assertEqual(status, 0, output)
        self.assertIn(f"MPIEXEC_EXECUTABLE: got {foreign}, which is of {other}; expected one of {MPI_FAMILY}", output)


if __name__ == "__main__":
    unittest.main()
