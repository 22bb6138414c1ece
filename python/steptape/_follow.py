# SPDX-License-Identifier: Apache-2.0
"""Reading what a running job adds."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Optional

from . import _core
from ._filters import Pattern, default_threads, wants
from ._read import Path
from ._series import Series


class Follower:
    """Gives what is new in a log directory; see follow()."""

    def __init__(self, path: Path, run: Optional[Pattern], tag: Optional[Pattern], interval: float,
                 purge: str):
        self._path = os.fspath(path)
        self._wants_tag = wants(tag)
        self._interval = interval
        self._log = _core.Log(os.fsencode(self._path), threads=default_threads(), purge=purge,
                              wants=wants(run))

    def update(self) -> list[Series]:
        """Reads what was written since the last call, and returns at once.

        A Series for each tag that has new values, with these values only: copies, which stay as they
        are in later calls. Empty if there is nothing new, or no directory yet.
        """
        if not os.path.exists(self._path):
            return []
        return [Series(native) for native in self._log.read_new()
                if self._wants_tag is None or self._wants_tag(native.tag)]

    def __iter__(self) -> Iterator[Series]:
        """What update() returns, for ever: sleeps for `interval` seconds when there is nothing new."""
        while True:
            new = self.update()
            yield from new
            if not new:
                time.sleep(self._interval)


def follow(path: Path, *, run: Optional[Pattern] = None, tag: Optional[Pattern] = None,
           interval: float = 1.0, purge: str = "restarts") -> Follower:
    """Follows a log directory while programs write to it: new values, files and runs.

        for series in steptape.follow("runs", tag="loss"):   # until Ctrl-C
            print(series.run, series.steps[-1], series.values[-1])

    Begins with what is there. After a restart, values that the new program writes again come again.
    The directory need not exist yet. Arguments as for read(); `interval` in seconds.
    """
    return Follower(path, run, tag, interval, purge)
