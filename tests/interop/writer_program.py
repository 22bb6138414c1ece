# SPDX-License-Identifier: Apache-2.0
"""Runs interop_writer, the C++ program under test, and reads its list of logged values."""

import collections
import io
import json
import os
import struct
import subprocess
import wave

from patience import PATIENCE_SECONDS


def path():
    return os.environ["STEPTAPE_INTEROP_WRITER"]


def run(*arguments):
    subprocess.run([path(), *map(str, arguments)], check=True, timeout=PATIENCE_SECONDS)


def floats(values):
    """Numbers from JSON, in which "NaN" and "Infinity" are strings."""
    return [float(value) for value in values]


def check_wav(case, data, line):
    """A WAV file holds the sound that a line of the expectations notes."""
    with wave.open(io.BytesIO(data)) as sound:
        case.assertEqual(sound.getnchannels(), line["channels"])
        case.assertEqual(sound.getframerate(), line["rate"])
        case.assertEqual(sound.readframes(sound.getnframes()),
                         struct.pack(f"<{len(line['samples'])}h", *map(int, line["samples"])))


class Expectations:
    """The logged values: for each kind, a dict from (run, tag) to its lines, by step."""

    def __init__(self, file_name):
        self._kinds = collections.defaultdict(lambda: collections.defaultdict(dict))
        with open(file_name, encoding="utf-8") as lines:
            for text in lines:
                line = json.loads(text)
                series = self._kinds[line["kind"]][line["run"], line["tag"]]
                # Of several values at one step, readers show the last.
                series[line.get("step", 0)] = line

    def of(self, kind):
        return self._kinds[kind]

    def runs(self):
        return {run for kind in self._kinds.values() for run, _ in kind}
