# SPDX-License-Identifier: Apache-2.0
"""The runs of a log directory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _core
from ._filters import Wants
from ._frames import Scalars
from ._series import Series, kind_of


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that are not a whole event, or a directory that cannot be read."""

    path: str
    offset: int
    bytes: int
    """0 if the file could not be read after this offset."""
    kind: str
    """"corrupt"; "truncated": the file ends inside a record, because its writer was killed or is still
    writing; "unreadable": the operating system failed."""
    message: str


class Names:
    """The methods of a mapping from names. Not a collections.abc.Mapping, which polars would treat as a
    dict of columns instead of an Arrow stream."""

    def __getitem__(self, name: str) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __contains__(self, name: object) -> bool:
        raise NotImplementedError

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    def keys(self) -> list[str]:
        return list(self)

    def values(self) -> list[Any]:
        return [self[name] for name in self]

    def items(self) -> list[tuple[str, Any]]:
        return [(name, self[name]) for name in self]


class Run(Scalars, Names):
    """The tags of one run: a mapping from tag to Series, ordered by tag.

    A tag under which a program logged several kinds of values has a Series for each: run[tag] is that of
    its scalars, if there are any, and run[tag, "histograms"] that of its histograms.
    """

    def __init__(self, native: _core.Run, wants: Optional[Wants]):
        self._native = native
        self._series: dict[str, list[_core.Series]] = {}
        for series in native.series():
            if wants is None or wants(series.tag):
                self._series.setdefault(series.tag, []).append(series)

    @property
    def name(self) -> str:
        """The directory below the log directory, "." for the log directory itself."""
        return self._native.name

    @property
    def directory(self) -> str:
        return self._native.directory

    @property
    def files(self) -> list[str]:
        """The paths of the event files, in the order in which they were written."""
        return self._native.files

    @property
    def damage(self) -> list[Damage]:
        return [Damage(*each) for each in self._native.damage()]

    @property
    def hparams(self) -> dict[str, Any]:
        """The hyperparameters of the run; empty if it logged none."""
        for series in self._natives():
            if series.plugin == "hparams" and (found := _core.session_hparams(series)) is not None:
                return found
        return {}

    def tags(self, kind: Optional[str] = None) -> list[str]:
        """The tags that have one kind of Series, or all tags."""
        return [tag for tag, kinds in self._series.items()
                if kind is None or any(kind_of(series) == kind for series in kinds)]

    def mixed_tags(self) -> list[str]:
        """The tags that have several kinds of values."""
        return [tag for tag, kinds in self._series.items() if len(kinds) > 1]

    def kinds(self, tag: str) -> list[str]:
        """The kinds of values under a tag: one, unless a program logged several under it."""
        return [kind_of(series) for series in self._series[tag]]

    def series(self, kind: Optional[str] = None) -> Iterator[Series]:
        """Every Series of one kind, or every Series, ordered by tag."""
        return (Series(series) for series in self._natives() if kind in (None, kind_of(series)))

    def _natives(self) -> Iterator[_core.Series]:
        return itertools.chain.from_iterable(self._series.values())

    def _scalars(self) -> list[_core.Series]:
        return [series for series in self._natives() if series.is_scalar]

    def __getitem__(self, tag: Union[str, tuple[str, str]]) -> Series:
        """run[tag], or run[tag, kind] for one kind of several. Raises KeyError if there is none."""
        if not isinstance(tag, tuple):
            return Series(self._series[tag][0])
        name, kind = tag
        for series in self._series[name]:
            if kind_of(series) == kind:
                return Series(series)
        raise KeyError(f"{name!r}: got no values of the kind {kind!r}; expected one of {self.kinds(name)}")

    def __contains__(self, tag: object) -> bool:
        return tag in self._series

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __repr__(self) -> str:
        return f"<steptape.Run {self.name!r}: {len(self)} tags>"


class Runs(Scalars, Names):
    """The result of read(): a mapping from the name of a run to Run, ordered by name.

    It does not change when the files grow. It is thread-safe.
    """

    def __init__(self, natives: list[_core.Run], wants_tag: Optional[Wants],
                 unreadable: Sequence[tuple] = ()):
        self._runs = {native.name: Run(native, wants_tag) for native in natives}
        self._unreadable = [Damage(*each) for each in unreadable]

    @property
    def damage(self) -> list[Damage]:
        """What could not be read, of files and of directories; empty if everything was."""
        return self._unreadable + [damage for run in self._runs.values() for damage in run.damage]

    def series(self, kind: Optional[str] = None) -> Iterator[Series]:
        """Every Series of one kind, or every Series, run by run."""
        for run in self._runs.values():
            yield from run.series(kind)

    def _scalars(self) -> list[_core.Series]:
        return [series for run in self._runs.values() for series in run._scalars()]

    def __getitem__(self, name: str) -> Run:
        return self._runs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._runs

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __repr__(self) -> str:
        points = sum(len(series) for series in self.series())
        return f"<steptape.Runs: {len(self)} runs, {points} values>"
