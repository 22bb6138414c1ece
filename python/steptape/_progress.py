# SPDX-License-Identifier: Apache-2.0
"""The progress of a long read, in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, Union

from . import _core

Progress = Union[None, bool, Callable[[int, int], object]]

# Shorter reads show nothing.
QUIET_SECONDS = 1.0


def is_watched(stream) -> bool:
    """Returns whether `stream` is a terminal or a notebook."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


class Line:
    """A line that is overwritten: `steptape: 120 of 480 MiB`."""

    def __init__(self, stream):
        self._stream = stream
        self._begin = time.monotonic()
        self._width = 0

    def show(self, read: int, total: int) -> None:
        if time.monotonic() - self._begin < QUIET_SECONDS:
            return
        text = f"steptape: {read >> 20} of {total >> 20} MiB"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()


class Reporter:
    """Calls `show` with the number of bytes read and of all bytes."""

    def __init__(self, path: bytes, show: Callable[[int, int], object]):
        self._path = path
        self._show = show
        self._total: Optional[int] = None

    def __call__(self, read: int) -> None:
        if self._total is None:
            self._total = _core.total_bytes(self._path)
        self._show(read, max(read, self._total))


def update(log: _core.Log, path: bytes, progress: Progress) -> None:
    """Reads `log` and shows progress as read() describes."""
    if callable(progress):
        log.update(Reporter(path, progress))
    elif progress or (progress is None and is_watched(sys.stderr)):
        line = Line(sys.stderr)
        try:
            log.update(Reporter(path, line.show))
        finally:
            line.clear()
    else:
        log.update()
