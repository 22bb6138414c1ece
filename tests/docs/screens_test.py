# SPDX-License-Identifier: Apache-2.0
"""The screens in the documents are what the program prints.

A screen is a fenced block in which lines begin with "$ ": a command, and below it what it prints.
Each block is run in a directory of its own with the log directories that document_runs.cpp writes,
by one shell and in a pipe: 80 columns, UTF-8, UTC.

    python3 tests/docs/screens_test.py --update     # rewrites the documents

Environment: STEPTAPE_TOOL and STEPTAPE_DOCUMENT_RUNS, the programs.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import documents

# Blocks that look like screens and are not run, by a part of their first command: why.
NOT_CHECKED: dict[str, str] = {}

MARK = "--- end of a command ---"


def is_screen(block):
    return any(line.startswith("$ ") for line in block.lines) and not any(
        part in block.lines[0] for part in NOT_CHECKED
    )


def screens():
    return [
        (document, block)
        for document in documents.all_documents()
        for block in document.blocks
        if is_screen(block)
    ]


def commands_of(block):
    return [line[2:] for line in block.lines if line.startswith("$ ")]


def script_of(commands):
    """Runs the commands one after another; each one finds the exit code of the one before in $?."""
    lines = ["exec 2>&1 </dev/null"]
    for command in commands:
        lines += [command, f"last=$?; echo '{MARK}'; (exit $last)"]
    return "\n".join(lines) + "\n"


def environment():
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "TMPDIR")}
    tool = str(pathlib.Path(os.environ["STEPTAPE_TOOL"]).parent)
    kept["PATH"] = tool + os.pathsep + kept["PATH"]
    return kept | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80", "LINES": "24"}


def printed_by(commands):
    """What each of the commands prints."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([os.environ["STEPTAPE_DOCUMENT_RUNS"], directory], check=True)
        result = subprocess.run(
            ["bash", "-c", script_of(commands)],
            cwd=directory,
            env=environment(),
            stdout=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    text = result.stdout.decode("utf-8").replace(directory, "/data")
    return text.split(MARK + "\n")[: len(commands)]


def regenerated(block):
    commands = commands_of(block)
    lines = []
    for command, output in zip(commands, printed_by(commands)):
        lines.append("$ " + command)
        lines += output.rstrip("\n").split("\n") if output else []
    return lines


class Screens(unittest.TestCase):
    maxDiff = None

    def test_every_screen_is_what_the_program_prints(self):
        for document, block in screens():
            with self.subTest(screen=document.at(block.line)):
                self.assertEqual(block.lines, regenerated(block), "see --update in " + __file__)

    def test_documents_have_screens(self):
        """Else the others would have nothing to check."""
        self.assertGreater(len(screens()), 10)


def update():
    for document in documents.all_documents():
        for block in reversed([block for block in document.blocks if is_screen(block)]):
            begin = block.line - 1
            document.lines[begin : begin + len(block.lines)] = regenerated(block)
        document.path.write_text("\n".join(document.lines), encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
