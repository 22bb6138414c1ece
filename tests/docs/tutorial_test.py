#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/tutorial.md to the letter, in an empty folder.

    tutorial_test.py FOLDER

Before a code block, "Write `NAME`:" and "Add to `NAME`:" make it that file's content; `sh` blocks run in
order in one shell; each line of a `text` block is one that the block before it printed. After a comment
<!-- test: ... --> a block is left out: it installs packages, or opens a viewer. The environment stands in
for it.
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TUTORIAL = Path(__file__).resolve().parents[2] / "docs/tutorial.md"
BLOCK = re.compile(r"(?P<before>[^\n]*)\n\n?(?:(?P<comment><!-- test: [^\n]*-->)\n)?"
                   r"```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(Write|Add to) `([\w.]+)`[.:]")
PRINTED = "---printed---"


def lines(text):
    return {line for line in text.splitlines() if line.strip()}


def script_of(blocks):
    """One shell script, in which the output of every `sh` block begins with a line PRINTED."""
    script = ["set -euo pipefail"]
    for block in blocks:
        file = FILE.search(block["before"])
        if block["comment"]:
            continue
        if block["language"] == "sh":
            script += [f"echo {PRINTED}", block["code"]]
        elif file:
            redirect = ">" if file[1] == "Write" else ">>"
            script.append(f"cat {redirect}{file[2]} <<'END_OF_FILE'\n{block['code']}END_OF_FILE")
    return "\n".join(script)


class Tutorial(unittest.TestCase):
    folder = None

    def test_does_what_its_text_says(self):
        blocks = list(BLOCK.finditer(TUTORIAL.read_text(encoding="utf-8")))
        for block in blocks:
            if block["language"] in ("cpp", "cmake"):
                self.assertRegex(block["before"], FILE, "a block without a file")
        done = subprocess.run(["bash", "-c", script_of(blocks)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        outputs = iter(done.stdout.split(PRINTED)[1:])
        output = None
        compared = 0
        for block in blocks:
            if block["language"] == "sh" and not block["comment"]:
                output = next(outputs)
            elif block["language"] == "text":
                self.assertEqual(lines(block["code"]) - lines(output), set(), output)
                compared += 1
        self.assertGreater(compared, 1)
        self.check_runs()

    def check_runs(self):
        read = subprocess.run(["steptape", "export", "runs"], cwd=Path(self.folder) / "tutorial",
                              text=True, check=True, stdout=subprocess.PIPE).stdout
        for run in ("one_rank", "two_ranks"):
            self.assertIn(f"{run}/accuracy/test", read)


if __name__ == "__main__":
    Tutorial.folder = sys.argv.pop(1)
    shutil.rmtree(Tutorial.folder, ignore_errors=True)
    Path(Tutorial.folder).mkdir(parents=True)
    unittest.main()
