# SPDX-License-Identifier: Apache-2.0
"""Reading a log directory once."""

from __future__ import annotations

import errno
import os
import warnings
from typing import Optional, Union

from . import _core, _progress
from ._filters import Pattern, default_threads, wants
from ._runs import Runs

Path = Union[str, "os.PathLike[str]"]


class DamageWarning(UserWarning):
    """Parts of the files could not be read; Runs.damage lists them."""


class EmptyLogWarning(UserWarning):
    """There is no event file to read."""


def read(path: Path, *, run: Optional[Pattern] = None, tag: Optional[Pattern] = None,
         threads: Optional[int] = None, purge: str = "restarts",
         progress: _progress.Progress = None) -> Runs:
    """Reads every run in and below a log directory.

        runs = steptape.read("runs", run="^seed_", tag="loss|accuracy")
        runs["seed_1"]["loss"].values

    path: a log directory, a run's directory or one event file.
    run: a regular expression that some part of a run's name must match; other runs are not read.
    tag: the same for tags; others are read over, and left out of the result.
    threads: the most threads that read; as many as there are processors, eight at most, by default.
    purge: which values are left out because a restarted program has written them again. "restarts": as
        TensorBoard's EventAccumulator; "tensorboard": as its server; "none": no values.
    progress: None: a line in a terminal or a notebook if it takes longer than a second; True: always;
        False: never; or a function that is called with the bytes read and the bytes there are.

    Raises FileNotFoundError if there is no such path, OSError if it cannot be read, ValueError for a
    wrong argument. Ctrl-C ends a read. Warns by EmptyLogWarning if there is no event file, and by
    DamageWarning if files are damaged: all that is intact is read. A file that ends inside a record is
    not warned of, because its writer may be at work; Runs.damage names it.

    Other threads run meanwhile: the GIL is released. Scalars take 24 bytes of memory each, other values
    40, whatever their size.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, "steptape.read(): no such log directory or event file", name)
    log = _core.Log(os.fsencode(name), threads=default_threads() if threads is None else threads,
                    purge=purge, wants=wants(run))
    _progress.update(log, os.fsencode(name), progress)
    runs = Runs(log.runs(), wants(tag))
    warn(runs, name, run)
    return runs


def warn(runs: Runs, path: str, run: Optional[Pattern]) -> None:
    if not runs:
        which = "" if run is None else f" of a run that matches {run!r}"
        warnings.warn(f"steptape.read(): got no event file{which} in or below {path!r}, expected files "
                      "named *tfevents*", EmptyLogWarning, stacklevel=3)
    damage = [each for each in runs.damage if each.kind != "truncated"]
    if damage:
        warnings.warn(f"steptape.read(): {len(damage)} damaged places, all else was read; the first: "
                      f"{damage[0].message}. Runs.damage lists them", DamageWarning, stacklevel=3)
