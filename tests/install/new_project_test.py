#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape new`, with the CMake package of an installation.

    new_project_test.py PREFIX KIND [CMAKE_OPTION ...] [-- LAUNCHER ...]
"""

import os
import sys
import unittest

from new_project import Installation


class NewProject(unittest.TestCase):
    prefix, kind, options, launcher = "", "", [], []

    def test_builds_runs_and_shows_a_curve(self):
        programs = os.path.join(self.prefix, "bin")
        Installation(self, programs).expect_a_curve(self.kind, *self.options, launcher=self.launcher)


if __name__ == "__main__":
    NewProject.prefix, NewProject.kind, *words = sys.argv[1:]
    middle = words.index("--") if "--" in words else len(words)
    NewProject.options, NewProject.launcher = words[:middle], words[middle + 1:]
    unittest.main(argv=sys.argv[:1])
