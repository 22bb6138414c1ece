# SPDX-License-Identifier: Apache-2.0
"""Compares the screens in the documents with the program's output.

A screen is a fenced block in which lines begin with "$ ": a command, and below it what it prints.
One shell runs each block in a new directory with the log directories that document_runs.cpp writes,
and with its output in a pipe: 80 columns, UTF-8, UTC. Blocks whose program is not built, such as an
example without LibTorch, are reported as skipped.

    python3 tests/docs/screens_test.py --update     # rewrites the documents

A block whose commands name a bucket finds an empty one, "bucket", of rclone's server.

Environment: STEPTAPE_TOOL and STEPTAPE_DOCUMENT_RUNS, the programs.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import documents

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "interop"))
import bucket_servers  # noqa: E402

# Output that documents show and this test does not compare, with the reason:
# - the progress bar in docs/tool.md: it shows a rate and a time; tests/tools/progress_test.cpp.

MARK = "--- end of a command ---"


def is_screen(block):
    return any(line.startswith("$ ") for line in block.lines)


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


def is_built(block):
    return shutil.which(commands_of(block)[0].split()[0], path=environment()["PATH"]) is not None


def environment():
    kept = {name: value for name, value in os.environ.items() if name in ("HOME", "PATH", "TMPDIR")}
    tool = str(pathlib.Path(os.environ["STEPTAPE_TOOL"]).parent)
    kept["PATH"] = tool + os.pathsep + kept["PATH"]
    return kept | {"LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80", "LINES": "24"}


def printed_by(commands):
    """Returns the output of each command."""
    with contextlib.ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        variables = environment()
        if any("s3://" in command for command in commands):
            variables |= stack.enter_context(bucket_servers.Rclone()).environment
        subprocess.run([os.environ["STEPTAPE_DOCUMENT_RUNS"], directory], check=True)
        result = subprocess.run(
            ["bash", "-c", script_of(commands)],
            cwd=directory,
            env=variables,
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
                if not is_built(block):
                    self.skipTest(commands_of(block)[0] + ": not built")
                self.assertEqual(block.lines, regenerated(block), "see --update in " + __file__)

    def test_documents_have_screens(self):
        """Else the others would have nothing to check."""
        self.assertGreater(len(screens()), 10)


def update():
    for document in documents.all_documents():
        for block in reversed([b for b in document.blocks if is_screen(b) and is_built(b)]):
            begin = block.line - 1
            document.lines[begin : begin + len(block.lines)] = regenerated(block)
        document.path.write_text("\n".join(document.lines), encoding="utf-8")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main()
