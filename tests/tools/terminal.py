# SPDX-License-Identifier: Apache-2.0
"""A real terminal to run programs in and to look at: a tmux server of the test's own."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

DEADLINE_SECONDS = 300


class Terminal:
    """A context manager with a shell in a screen of a fixed size.

    What tmux shows is what a person would see: it obeys the program's escape sequences.
    """

    def __init__(self, columns=80, rows=24, directory=None, **environment):
        if shutil.which("tmux") is None:
            raise RuntimeError("there is no tmux, which this test asks. Install it: tools/setup.sh --tests")
        # A shell may still write its history while it ends.
        self._state = tempfile.TemporaryDirectory(prefix="terminal", ignore_cleanup_errors=True)
        # Only these: NO_COLOR or COLUMNS of the user who runs the tests must not change the output.
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": self._state.name,
            "TMUX_TMPDIR": self._state.name,
            "LC_ALL": "C.UTF-8",
            **environment,
        }
        self._size = ["-x", str(columns), "-y", str(rows)]
        self._directory = directory or self._state.name

    def __enter__(self):
        try:
            self._tmux("-f", "/dev/null", "new-session", "-d", *self._size, "-c", self._directory, "sh")
            # Neither input nor prompts are echoed: the screen shows only the program's output.
            self._type("stty -echo; PS1=; echo quiet")
            # After the prompt, if that was faster than the input.
            self.wait_for(r"^\S* ?quiet$")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._tmux("kill-server", check=False)
        self._state.cleanup()

    def run(self, command):
        """Runs `command` on an empty screen, without waiting for its end."""
        self._tmux("send-keys", "-R", ";", "clear-history")
        self._type(command)

    def finish(self, command):
        """Runs `command` to its end; returns its exit code and the lines that the screen shows."""
        self.run(f"{command}; echo exit code $?")
        *lines, last = self.wait_for(r"^exit code \d+$")
        return int(last.split()[-1]), lines

    def record(self, file):
        """Copies all later output to `file`, including text that leaves the screen."""
        self._tmux("pipe-pane", f"cat >{shlex.quote(str(file))}")

    def press(self, *keys):
        """Presses keys by tmux's names, such as "Enter" and "C-c"."""
        self._tmux("send-keys", *keys)

    def screen(self, colors=False):
        """The lines now shown, without trailing blanks; with escape sequences if `colors`."""
        shown = self._tmux("capture-pane", "-p", *(["-e"] if colors else []))
        return [line.rstrip() for line in shown.rstrip("\n").split("\n")]

    def wait_for(self, pattern):
        """Waits until a line matches the regular expression `pattern`, and returns the screen."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            lines = self.screen()
            if any(re.search(pattern, line) for line in lines):
                return lines
            if time.monotonic() > deadline:
                raise TimeoutError(f"no line matches {pattern!r} on the screen:\n" + "\n".join(lines))
            time.sleep(0.05)

    def _type(self, line):
        self._tmux("send-keys", "-l", line)
        self.press("Enter")

    def _tmux(self, *arguments, check=True):
        # -u: the screen holds UTF-8 whatever the locale of the programs in it.
        result = subprocess.run(["tmux", "-u", *arguments], env=self._environment, capture_output=True,
                                encoding="utf-8", timeout=DEADLINE_SECONDS)
        if check and result.returncode != 0:
            raise RuntimeError(f"tmux {' '.join(arguments)}: {result.stderr.strip()}")
        return result.stdout
