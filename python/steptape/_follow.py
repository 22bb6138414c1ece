# SPDX-License-Identifier: Apache-2.0
"""Follows a running job."""

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
    """Returns the new content of a log directory; see follow()."""

    def __init__(self, path: Path, run: Optional[Pattern], tag: Optional[Pattern], interval: float,
                 purge: str):
        self._path = os.fspath(path)
        self._wants_tag = wants(tag)
        self._interval = interval
        self._log = _core.Log(os.fsencode(self._path), threads=default_threads(), purge=purge,
                              wants=wants(run))

    def update(self) -> list[Series]:
        """Reads what was written since the last call, and returns without waiting.

        Returns a Series for each tag that has new values, with these values only. They are copies,
        which later calls do not change. Empty if there is nothing new, or no directory yet.
        """
        if not os.path.exists(self._path):
            return []
        return [Series(native) for native in self._log.read_new()
                if self._wants_tag is None or self._wants_tag(native.tag)]

    def __iter__(self) -> Iterator[Series]:
        """Yields what update() returns, without end; sleeps `interval` seconds if nothing is new."""
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

    Starts with the existing values. After a restart, values that the new program writes again are
    returned again. The directory need not exist yet. Arguments as for read(); `interval` in seconds.
    """
    return Follower(path, run, tag, interval, purge)
