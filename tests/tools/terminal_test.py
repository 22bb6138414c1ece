# SPDX-License-Identifier: Apache-2.0
"""Tests plot, tail and the progress bar in a real terminal. STEPTAPE_TOOL is the program."""

import math
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import time
import unittest

import event_file
from terminal import Terminal

TOOL = shlex.quote(os.environ["STEPTAPE_TOOL"])
BRAILLE = re.compile("[\u2801-\u28ff]")
COLOR = re.compile("\x1b\\[[0-9;]*38;5;33m")


class RealTerminal(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory(prefix="terminal_test")
        self.addCleanup(self._directory.cleanup)
        self.append("runs/demo", event_file.curve("loss", [math.exp(-step / 200) for step in range(1000)]))

    def append(self, run, records):
        file = pathlib.Path(self._directory.name, run, "events.out.tfevents.1")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as out:
            out.write(records)

    def terminal(self, columns=80, rows=24, **environment):
        return Terminal(columns, rows, self._directory.name, **environment)


class Plot(RealTerminal):
    def plot(self, arguments="", **options):
        """The lines of the chart of "loss" with the shell waiting below, and the same with colors."""
        with self.terminal(**options) as terminal:
            terminal.run(f"{TOOL} plot runs --tag loss {arguments}")
            lines = terminal.wait_for(r"at step 999$")
            return lines, "\n".join(terminal.screen(colors=True))

    def assert_curve_falls(self, lines, dot):
        """It starts at the top left and ends at the bottom right."""
        rows = [i for i, line in enumerate(lines) if dot.search(line)]
        self.assertLess(lines[rows[0]].index(dot.search(lines[rows[0]])[0]), 10)
        self.assertGreater(len(lines[rows[-1]]), len(lines[1]))

    def test_fits_an_ordinary_terminal(self):
        lines, _ = self.plot()
        self.assertEqual(lines[0].strip(), "loss")
        # The prompt is on the 24th: nothing has scrolled away.
        self.assertEqual(len(lines), 23)
        self.assertRegex(lines[1], "^1.0 ┤")
        self.assertRegex("\n".join(lines), r"\n  0 ┤")
        self.assertRegex(lines[-4], "^    └┬─+")
        self.assertEqual(lines[-3].split(), ["0", "200", "400", "600", "800", "1000"])
        self.assertEqual(lines[-2].strip(), "step")
        self.assertEqual(lines[-1], "  ━━ runs/demo  0.00677172 at step 999")
        self.assert_curve_falls(lines[:-4], BRAILLE)

    def test_fills_a_large_terminal(self):
        lines, _ = self.plot(columns=200, rows=50)
        self.assertEqual(len(lines), 49)
        self.assertEqual(max(len(line) for line in lines), 200)
        self.assert_curve_falls(lines[:-4], BRAILLE)

    def test_has_color(self):
        _, screen = self.plot()
        self.assertRegex(screen, COLOR)

    def test_has_no_color_where_it_is_not_wanted(self):
        _, screen = self.plot(NO_COLOR="1")
        self.assertNotRegex(screen, COLOR)
        self.assertRegex(screen, BRAILLE)

    def test_is_ascii_in_the_c_locale(self):
        lines, _ = self.plot(LC_ALL="C")
        self.assertTrue(all(line.isascii() for line in lines), lines)
        self.assertEqual(len(lines), 23)
        self.assertRegex(lines[1], r"^1\.0 \+\*")
        self.assertRegex(lines[-4], r"^    \+\+-+\+")
        self.assert_curve_falls(lines[:-4], re.compile(r"\*"))

    def test_follows_a_name_that_says_utf8_although_the_locale_is_not_installed(self):
        lines, _ = self.plot(LC_ALL="xx_XX.UTF-8")
        self.assertRegex("\n".join(lines), BRAILLE)


    def test_says_how_to_choose_among_charts_that_scroll_away(self):
        self.append("runs/demo", b"".join(event_file.curve(f"layer/{i}", range(2)) for i in range(4)))
        with self.terminal() as terminal:
            _, lines = terminal.finish(f"{TOOL} plot runs")
            self.assertEqual(lines[-1], "note: got 5 charts; --tag selects some of them")
            _, lines = terminal.finish(f"{TOOL} plot runs --tag layer")
            self.assertRegex(lines[-1], "at step 1$")


class Diff(RealTerminal):
    def test_leaves_out_columns_of_a_narrow_terminal(self):
        self.append("runs/other", event_file.curve("loss", [1 / (1 + step) for step in range(1000)]))
        self.append("runs/other", event_file.curve("only/" + "here/" * 20, [1]))
        first_lines = ["- runs/demo", "+ runs/other", "1 tag in both, 1 of them differ"]
        with self.terminal(80) as terminal:
            code, lines = terminal.finish(f"{TOOL} diff runs/demo runs/other")
            self.assertEqual((code, lines[:3]), (1, first_lines))
            self.assertEqual(lines[5], "  scalar  points  first step  - there  + there    - last  + last    change")
        with self.terminal(40) as terminal:
            _, lines = terminal.finish(f"{TOOL} diff runs/demo runs/other")
            self.assertEqual(lines, [
                *first_lines,
                "  only in runs/other…ere/here/here/here/",
                "",
                "  scalar  first step    - last  + last",
                "  loss             1  0.006772   0.001",
            ])


class Tail(RealTerminal):
    def test_shows_points_while_they_are_written(self):
        with self.terminal(TZ="UTC") as terminal:
            terminal.run(f"{TOOL} tail runs --lines 2 --interval 0.1; echo exit code $?")
            lines = terminal.wait_for("loss +999 ")
            self.assertEqual(lines, [
                "1970-01-01 00:33:18.000  runs/demo  loss       998  0.00680566",
                "1970-01-01 00:33:19.000  runs/demo  loss       999  0.00677172",
            ])
            record = event_file.scalar("loss", 0.25, 1000, 2000)
            self.append("runs/demo", record[:-4])
            self.append("runs/new", event_file.scalar("accuracy", 0.5, 7, 2001))
            lines = terminal.wait_for("accuracy")
            self.assertEqual(lines[2:], ["1970-01-01 00:33:21.000  runs/new   accuracy         7  0.5"])
            self.append("runs/demo", record[-4:])
            lines = terminal.wait_for(" 1000 ")
            self.assertEqual(lines[3:], ["1970-01-01 00:33:20.000  runs/demo  loss          1000  0.25"])
            terminal.press("C-c")
            self.assertEqual(terminal.wait_for("^exit code")[-1], "exit code 0")


class Progress(RealTerminal):
    """The bar, in work that takes more than the half second before it appears."""

    COMMAND = f"{TOOL} export runs/long --format csv --layout long --output /dev/null"
    ENOUGH_SECONDS = 1.5

    def setUp(self):
        super().setUp()
        size = 32
        megabyte = event_file.scalar("loss", 0.5, 1, 1000) * 25_000
        while self.seconds_of_export() < self.ENOUGH_SECONDS:
            self.assertLess(size, 10_000, "megabytes are exported in no time")
            self.append("runs/long", megabyte * size)
            size *= 2

    def seconds_of_export(self):
        if not pathlib.Path(self._directory.name, "runs/long").exists():
            return 0
        begin = time.monotonic()
        outcome = subprocess.run(self.COMMAND, shell=True, cwd=self._directory.name, timeout=300,
                                 capture_output=True)
        # No bar in a pipe, however long it takes.
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, b"", b""))
        return time.monotonic() - begin

    def test_shows_a_bar_and_leaves_nothing_behind(self):
        for columns in 80, 40:
            with self.subTest(columns=columns), self.terminal(columns) as terminal:
                log = pathlib.Path(self._directory.name, f"drawn_{columns}")
                terminal.record(log)
                # If a bar did not fit its line, the first of its two lines would stay.
                self.assertEqual(terminal.finish(self.COMMAND), (0, []))
                bars = re.findall("\r\x1b\\[K(exporting [^\r]+)", log.read_bytes().decode())
                self.assertGreater(len(bars), 1)
                for bar in bars:
                    self.assertRegex(bar, r"^exporting \[=*>? *\] +\d+ % .* left$")
                    self.assertLess(len(bar), columns)


if __name__ == "__main__":
    unittest.main()
