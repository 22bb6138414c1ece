# SPDX-License-Identifier: Apache-2.0
"""Checks the recipes of packaging/: everything they name exists, and their version is the project's."""
import json
import pathlib
import re
import sys
import types
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
VCPKG = PACKAGING / "vcpkg" / "steptape"
SPACK = PACKAGING / "spack" / "packages" / "steptape" / "package.py"


def read(path):
    return path.read_text(encoding="utf-8")


def project_version():
    return re.search(r"^  VERSION ([0-9.]+)$", read(ROOT / "CMakeLists.txt"), re.MULTILINE).group(1)


def project_options():
    text = read(ROOT / "cmake" / "SteptapeOptions.cmake")
    return set(re.findall(r"^(?:option|set)\((STEPTAPE_\w+)", text, re.MULTILINE))


def recipes():
    return sorted(path for path in PACKAGING.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def spack_package():
    """The class of package.py, run on a stand-in for the names of Spack that it uses."""
    directives = []
    spack = types.ModuleType("spack.package")

    def directive(name):
        return lambda *arguments, **options: directives.append((name, arguments, options))

    for name in ("license", "version", "variant", "depends_on", "generator"):
        setattr(spack, name, directive(name))

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            return f"-D{name}=<{variant}>"

    spack.CMakePackage = CMakePackage
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = spack
    names = {}
    exec(compile(read(SPACK), str(SPACK), "exec"), names)
    return names["Steptape"], directives


class Recipes(unittest.TestCase):
    def test_each_named_option_exists(self):
        named = {}
        for path in recipes() + [ROOT / "CMakePresets.json"]:
            # Environment variables are not CMake options; our scripts read them.
            text = re.sub(r"STEPTAPE_TORCH\b", "", read(path))
            for option in re.findall(r"\bSTEPTAPE_[A-Z_]+", text):
                named.setdefault(option, path)
        self.assertGreater(len(named), 8)
        own = {"STEPTAPE_SOURCE_DIR", "STEPTAPE_VERSION"}
        self.assertEqual({name: path for name, path in named.items() if name not in project_options() | own}, {})

    def test_commands_name_the_project_s_version(self):
        texts = [read(path) for path in recipes() + [ROOT / "docs" / "packages.md"]]
        named = [version for text in texts for version in re.findall(r"\bsteptape@([0-9.]+)", text)]
        self.assertEqual(named, [project_version()] * 2)

    def test_each_named_script_exists(self):
        named = {script for path in recipes() for script in re.findall(r"\b(?:tools|tests)/[\w/]+\.(?:sh|py)", read(path))}
        self.assertGreater(len(named), 3)
        self.assertEqual([name for name in sorted(named) if not (ROOT / name).is_file()], [])

    def test_recipes_that_were_never_run_say_so_at_the_top(self):
        for path in (VCPKG / "portfile.cmake", SPACK, *(PACKAGING / "container").iterdir()):
            with self.subTest(path.name):
                self.assertIn("Not run so far", "".join(read(path).splitlines(keepends=True)[:3]))


class Vcpkg(unittest.TestCase):
    def test_the_manifest_has_the_project_s_version(self):
        self.assertEqual(json.loads(read(VCPKG / "vcpkg.json"))["version-semver"], project_version())

    def test_each_feature_of_the_manifest_sets_an_option(self):
        features = set(json.loads(read(VCPKG / "vcpkg.json"))["features"])
        set_options = set(re.findall(r"^    (\w+) STEPTAPE_\w+", read(VCPKG / "portfile.cmake"), re.MULTILINE))
        self.assertEqual(features, set_options)


class Spack(unittest.TestCase):
    def test_it_has_the_project_s_version(self):
        _, directives = spack_package()
        versions = [arguments for name, arguments, _ in directives if name == "version"]
        self.assertEqual(versions, [(project_version(),)])

    def test_each_variant_sets_an_option(self):
        package, directives = spack_package()
        variants = {arguments[0] for name, arguments, _ in directives if name == "variant"}
        values = dict(argument[2:].split("=", 1) for argument in package().cmake_args())
        self.assertEqual({f"<{variant}>" for variant in variants}, {v for v in values.values() if v.startswith("<")})
        self.assertEqual(set(values) - project_options(), {"BUILD_SHARED_LIBS"})

    def test_conditions_name_variants(self):
        _, directives = spack_package()
        variants = {arguments[0] for name, arguments, _ in directives if name == "variant"}
        conditions = {options["when"] for _, _, options in directives if "when" in options}
        self.assertGreater(len(conditions), 2)
        self.assertEqual({condition.lstrip("+") for condition in conditions} - variants, set())


class Citation(unittest.TestCase):
    def test_it_has_the_fields_that_the_format_requires(self):
        citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
        self.assertEqual(citation["cff-version"], "1.2.0")
        self.assertGreaterEqual(set(citation), {"authors", "message", "title"})
        self.assertEqual(citation.get("version", project_version()), project_version())


if __name__ == "__main__":
    unittest.main()
