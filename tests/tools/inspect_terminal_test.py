# SPDX-License-Identifier: Apache-2.0
"""What `steptape inspect` shows on a real terminal; STEPTAPE_TOOL is the program."""

import os
import pathlib
import shlex
import tempfile
import unittest

import event_file
from terminal import Terminal

STEPTAPE = shlex.quote(os.environ["STEPTAPE_TOOL"])
LONG_TAG = "validation/" + "scope/" * 20 + "top5_error"


class InspectOnATerminal(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.write("runs/demo/events.out.tfevents.1",
                   event_file.curve("loss", [1 / (1 + step) for step in range(64)]))

    def write(self, name, content):
        path = pathlib.Path(self.directory.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def inspect(self, columns, command="inspect runs", **environment):
        with Terminal(columns, 30, self.directory.name, TZ="UTC", **environment) as terminal:
            exit_code, lines = terminal.finish(f"{STEPTAPE} {command}")
            self.assertEqual(exit_code, 0)
            return lines

    def test_fills_the_line_with_the_curve(self):
        self.assertEqual(self.inspect(80), [
            "runs/demo: 1 file, 2.62 KiB, 1 tag, 64 points",
            "  1970-01-01 00:16:40 to 00:17:43, 1:03",
            "  events.out.tfevents.1  2.62 KiB",
            "",
            "  scalar  points  steps  first     last      min  max  curve",
            "  loss        64  0..63      1  0.01562  0.01562    1  █▂▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁",
        ])

    def test_leaves_out_columns_of_a_narrow_terminal(self):
        self.assertEqual(self.inspect(50)[4:], [
            "  scalar  points  steps     last  max  curve",
            "  loss        64  0..63  0.01562    1  █▁▁▁▁▁▁▁▁▁▁",
        ])

    def test_shortens_long_tags_in_their_middle(self):
        self.write("runs/demo/events.out.tfevents.1", event_file.curve(LONG_TAG, range(8)))
        for columns in 80, 120:
            lines = self.inspect(columns)
            self.assertLessEqual(max(map(len, lines)), columns)
            self.assertRegex(lines[-1], r"^  validation.*….*/top5_error +8 .* ▁▂▃▄▅▆▇█$")

    def test_draws_in_ascii_where_the_terminal_has_no_other_characters(self):
        self.write("runs/demo/events.out.tfevents.1", event_file.curve("größe", range(7)))
        self.assertRegex(self.inspect(80, LC_ALL="C")[-1], r"^  gr\?\?e .* \.:-=\+\*#$")

    def test_prints_names_of_runs_in_bold(self):
        with Terminal(80, 30, self.directory.name, TERM="xterm") as terminal:
            terminal.finish(f"{STEPTAPE} inspect runs")
            self.assertRegex(terminal.screen(colors=True)[0], "^\033\\[1mruns/demo\033\\[0m.*: 1 file")

    def test_completes_in_bash(self):
        with Terminal(80, 30, self.directory.name, PATH_OF_TOOL=os.path.dirname(os.environ["STEPTAPE_TOOL"])) as terminal:
            terminal.run("PATH=$PATH_OF_TOOL:$PATH exec bash --norc -i")
            terminal.run("PS1='> '; source <(steptape completion bash); stty echo; echo ready")
            terminal.wait_for("^.*ready$")
            terminal.press("steptape insp", "Tab", "ru", "Tab", "Tab", "Enter")
            terminal.wait_for("^> steptape inspect runs/demo/$")
            terminal.wait_for("^  loss ")


if __name__ == "__main__":
    unittest.main()
