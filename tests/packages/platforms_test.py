# SPDX-License-Identifier: Apache-2.0
"""The table of tested platforms is made from what ran. Usage: platforms_test.py BUILD_FOLDER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = sys.argv.pop(1)


class Platforms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("tools/platforms.py", "docs/platforms.md"):
            (self.root / name).parent.mkdir()
            shutil.copy(ROOT / name, self.root / name)
        self.page = self.root / "docs/platforms.md"
        self.records = self.root / "build/platforms.jsonl"

    def run_script(self, *arguments):
        result = subprocess.run(
            [sys.executable, "-B", self.root / "tools/platforms.py", *arguments], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)

    def record(self, result):
        self.run_script("record", "tools/probe.sh", BUILD, result, "90")
        return json.loads(self.records.read_text(encoding="utf-8").splitlines()[-1])

    def rows(self):
        return [line for line in self.page.read_text(encoding="utf-8").splitlines() if line.startswith("| `tools/probe.sh`")]

    def test_a_run_is_recorded_with_what_it_ran_on(self):
        run = self.record("7 of 7 tests passed")
        self.assertEqual((run["result"], run["minutes"]), ("7 of 7 tests passed", "1.5"))
        self.assertRegex(run["compiler"], r"^(GCC|Clang) \d+\.\d+")
        self.assertRegex(run["processor"], r"^(x86-64|aarch64)")
        self.assertRegex(run["date"], r"^20\d\d-\d\d-\d\d$")
        for name in ("Python", "Protocol Buffers", "CMake"):
            self.assertRegex(run[name], r"^\d+\.\d+", name)

    def test_a_later_run_on_the_same_platform_replaces_the_row_and_leaves_the_others(self):
        before = self.page.read_text(encoding="utf-8")
        self.record("6 of 7 tests passed")
        self.run_script("update", self.records)
        self.assertEqual([row.count("6 of 7 tests passed") for row in self.rows()], [1])
        self.record("7 of 7 tests passed")
        self.run_script("update", self.records)
        self.assertEqual([row.count("7 of 7 tests passed") for row in self.rows()], [1])
        after = self.page.read_text(encoding="utf-8")
        self.assertEqual([line for line in after.splitlines() if line not in self.rows()], before.splitlines())

    def test_runs_on_two_platforms_are_two_rows(self):
        run = self.record("7 of 7 tests passed")
        other = dict(run, system="Debian 99")
        self.records.write_text(json.dumps(run) + "\n" + json.dumps(other) + "\n", encoding="utf-8")
        self.run_script("update", self.records)
        self.assertEqual(len(self.rows()), 2)


if __name__ == "__main__":
    unittest.main()
