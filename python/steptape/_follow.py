# SPDX-License-Identifier: Apache-2.0
"""Follows a running job."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from typing import Optional

from . import _core
from ._filters import Pattern, default_threads, wants
from ._read import DamageWarning, Path
from ._series import Series


class ReplacedFileWarning(UserWarning):
    """A followed file was truncated or replaced, and is read from its start again."""


class Follower:
    """Returns the new content of a log directory; see follow()."""

    def __init__(self, path: Path, run: Optional[Pattern], tag: Optional[Pattern], interval: float,
                 purge: str):
        self._path = os.fspath(path)
        self._wants_tag = wants(tag)
        self._interval = interval
        self._log = _core.Log(os.fsencode(self._path), threads=default_threads(), purge=purge,
                              wants=wants(run))
        self._known_damage: set[tuple[str, int]] = set()  # path and offset

    def update(self) -> list[Series]:
        """Reads what was written since the last call, and returns without waiting.

        Returns a Series for each tag that has new values, with these values only. They are copies,
        which later calls do not change. Empty if there is nothing new, or no directory yet.

        Warns with ReplacedFileWarning if a file was truncated or replaced: the values that it has now
        are returned from its start, and those of later files of its run again. Warns with DamageWarning
        once for each damaged place; every intact record is returned.
        """
        return self._update(stacklevel=3)

    def _update(self, stacklevel: int) -> list[Series]:
        if not os.path.exists(self._path):
            return []
        new = [Series(native) for native in self._log.read_new()
               if self._wants_tag is None or self._wants_tag(native.tag)]
        self._warn(stacklevel + 1)
        return new

    def _warn(self, stacklevel: int) -> None:
        replaced = self._log.replaced_files()
        self._known_damage = {known for known in self._known_damage if known[0] not in replaced}
        for file in replaced:
            warnings.warn(f"steptape.follow(): {file} was truncated or replaced; read from its start again",
                          ReplacedFileWarning, stacklevel=stacklevel)
        damage = [*self._log.unreadable(), *(each for run in self._log.runs() for each in run.damage())]
        for path, offset, _, kind, message in damage:
            if kind != "truncated" and (path, offset) not in self._known_damage:
                self._known_damage.add((path, offset))
                warnings.warn(f"steptape.follow(): {message}; the rest is read", DamageWarning,
                              stacklevel=stacklevel)

    def __iter__(self) -> Iterator[Series]:
        """Yields what update() returns, without end; sleeps `interval` seconds if nothing is new."""
        while True:
            new = self._update(stacklevel=3)
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
    Warns as Follower.update() does.
    """
    return Follower(path, run, tag, interval, purge)
