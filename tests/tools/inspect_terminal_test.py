# SPDX-License-Identifier: Apache-2.0
"""Tests `steptape inspect` on a real terminal; STEPTAPE_TOOL is the program."""

import os
import pathlib
import shlex
import shutil
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

    def inspect(self, columns, command="inspect runs", exit_code=0, **environment):
        with Terminal(columns, 30, self.directory.name, TZ="UTC", **environment) as terminal:
            got, lines = terminal.finish(f"{STEPTAPE} {command}")
            self.assertEqual(got, exit_code)
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

    def test_keeps_to_the_lines_of_a_narrow_terminal(self):
        run = "runs/directory_with_a_long_name"
        damaged = bytearray(event_file.curve(LONG_TAG, [float("nan"), *range(9)]))
        damaged[500] ^= 1
        self.write(run + "/events.out.tfevents.1.of_a_host_with_a_long_name", damaged)
        self.assertEqual(self.inspect(40, f"inspect {run} 2>/dev/null", exit_code=1), [
            "runs/directory_with_a_long_name:",
            "  1 file, 1.78 KiB, 1 tag, 9 points",
            "  1970-01-01 00:16:40 to 00:16:49, 9.0 s",
            "  events.…ong_name  1.78 KiB  damaged: …",
            "",
            "  scalar                  last  curve",
            "  validation…/top5_error     8   ▁▃▄▅▆▇█",
        ])

    def test_aligns_characters_that_take_two_columns(self):
        tags = "loss", "損失", "⚡ 🚀", "한글"
        self.write("runs/demo/events.out.tfevents.1",
                   b"".join(event_file.curve(tag, range(2)) for tag in tags))
        self.assertEqual(self.inspect(60)[-4:], [
            "  loss         2   0..1      0     1    0    1  ▁█",
            "  ⚡ 🚀        2   0..1      0     1    0    1  ▁█",
            "  損失         2   0..1      0     1    0    1  ▁█",
            "  한글         2   0..1      0     1    0    1  ▁█",
        ])

    def test_completes_in_the_shells_that_are_here(self):
        shells = {
            "bash": ("bash --norc -i", "PS1='> '; source <(steptape completion bash)"),
            "fish": ("fish --no-config -i",
                     "function fish_prompt; echo -n '> '; end; steptape completion fish | source"),
            "zsh": ("zsh -f -i",
                    "PS1='> '; autoload -U compinit; compinit -D -u; source <(steptape completion zsh)"),
        }
        for shell, (command, setup) in shells.items():
            # The tests need bash; the others are tried where they are.
            if shell != "bash" and shutil.which(shell) is None:
                continue
            environment = {"TOOL": os.environ["STEPTAPE_TOOL"]}
            with self.subTest(shell=shell), Terminal(80, 30, self.directory.name, **environment) as terminal:
                terminal.run(f'PATH="$(dirname "$TOOL"):$PATH" exec {command}')
                terminal.run(f"{setup}; stty echo; echo rea''dy")
                terminal.wait_for("^ready$")
                terminal.press("steptape insp", "Tab", "ru", "Tab", "Tab", "Enter")
                terminal.wait_for("^> steptape inspect runs/demo/?$")
                terminal.wait_for("^  loss ")


if __name__ == "__main__":
    unittest.main()
