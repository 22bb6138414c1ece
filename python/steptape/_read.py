# SPDX-License-Identifier: Apache-2.0
"""Reads a log directory once."""

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


class MixedTagWarning(UserWarning):
    """A program logged several kinds of values under one tag; see Run."""


class RoundedWarning(UserWarning):
    """Scalars were integers that no double equals; the nearest doubles were read."""


def read(path: Path, *, run: Optional[Pattern] = None, tag: Optional[Pattern] = None,
         threads: Optional[int] = None, purge: str = "restarts",
         progress: _progress.Progress = None) -> Runs:
    """Reads every run in and below a log directory.

        runs = steptape.read("runs", run="^seed_", tag="loss|accuracy")
        runs["seed_1"]["loss"].values

    path: a log directory, a run directory or one event file.
    run: a regular expression that any part of the name of a run must match; other runs are not read.
    tag: the same for tags; other tags are read and left out of the result.
    threads: the maximum number of threads; default: the number of processors, at most eight.
    purge: which values that a restarted program wrote again are discarded. "restarts": as TensorBoard's
        EventAccumulator does; "tensorboard": as its server does; "none": none.
    progress: None: shows a line in a terminal or a notebook after one second; True: always shows it;
        False: never; or a function that is called with the number of bytes read and of all bytes.

    Raises FileNotFoundError if the path does not exist, OSError if it cannot be read, ValueError for a
    wrong argument. Ctrl-C ends a read. Warns with EmptyLogWarning if there is no event file, and with
    DamageWarning if files are damaged or directories cannot be read; every intact record is read. There
    is no warning about a file that ends inside a record, because its writer may still be running;
    Runs.damage lists it. Warns with MixedTagWarning of a tag with several kinds of values, which are
    all read, and with RoundedWarning of integers beyond 2^53 that become doubles.

    The GIL is released, so other threads run meanwhile. Scalars take 24 bytes of memory each, other
    values 40, whatever their size.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, "steptape.read(): no such log directory or event file", name)
    log = _core.Log(os.fsencode(name), threads=default_threads() if threads is None else threads,
                    purge=purge, wants=wants(run))
    _progress.update(log, os.fsencode(name), progress)
    runs = Runs(log.runs(), wants(tag), log.unreadable())
    warn(runs, name, run)
    return runs


def warn(runs: Runs, path: str, run: Optional[Pattern]) -> None:
    if not runs:
        which = "" if run is None else f" of a run that matches {run!r}"
        warnings.warn(f"steptape.read(): got no event file{which} in or below {path!r}; expected files "
                      "named *tfevents*", EmptyLogWarning, stacklevel=3)
    damage = [each for each in runs.damage if each.kind != "truncated"]
    if damage:
        warnings.warn(f"steptape.read(): got {len(damage)} damaged places and read the rest; the first: "
                      f"{damage[0].message}. Runs.damage lists all", DamageWarning, stacklevel=3)
    mixed = [(each, tag) for each in runs.values() for tag in each.mixed_tags()]
    if mixed:
        first, tag = mixed[0]
        kinds = first.kinds(tag)
        got = " and ".join(f"{len(first[tag, kind])} {kind}" for kind in dict.fromkeys(kinds))
        warnings.warn(f"steptape.read(): got {got} under the tag {tag!r} of run {first.name!r}; expected one "
                      f"kind{more(mixed)}. run[tag] has the {kinds[0]}, run[tag, {kinds[1]!r}] the "
                      f"{kinds[1]}. TensorBoard shows one of them at most", MixedTagWarning, stacklevel=3)
    rounded = [series for series in runs._scalars() if series.is_rounded]
    if rounded:
        warnings.warn(f"steptape.read(): got integers that no double equals under the tag "
                      f"{rounded[0].tag!r} of run {rounded[0].run!r}{more(rounded)}; they are rounded",
                      RoundedWarning, stacklevel=3)


def more(found: list) -> str:
    """Tells that the first of several is named."""
    return "" if len(found) == 1 else f", and in {len(found) - 1} more"
