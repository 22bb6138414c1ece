# SPDX-License-Identifier: Apache-2.0
"""The runs of a log directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from . import _core
from ._filters import Wants
from ._frames import Scalars
from ._series import Series, kind_of


@dataclass(frozen=True)
class Damage:
    """Bytes of a file that are not a whole event."""

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
    """The tags of one run: a mapping from tag to Series, ordered by tag."""

    def __init__(self, native: _core.Run, wants: Optional[Wants]):
        self._native = native
        self._series = {series.tag: series for series in native.series()
                        if wants is None or wants(series.tag)}

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
        for series in self._series.values():
            if series.plugin == "hparams" and (found := _core.session_hparams(series)) is not None:
                return found
        return {}

    def tags(self, kind: Optional[str] = None) -> list[str]:
        """The tags of one kind of Series, or all tags."""
        return [tag for tag, series in self._series.items() if kind in (None, kind_of(series))]

    def _scalars(self) -> list[_core.Series]:
        return [series for series in self._series.values() if series.is_scalar]

    def __getitem__(self, tag: str) -> Series:
        return Series(self._series[tag])

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

    def __init__(self, natives: list[_core.Run], wants_tag: Optional[Wants]):
        self._runs = {native.name: Run(native, wants_tag) for native in natives}

    @property
    def damage(self) -> list[Damage]:
        """What could not be read; empty if all files are intact."""
        return [damage for run in self._runs.values() for damage in run.damage]

    def series(self, kind: Optional[str] = None) -> Iterator[Series]:
        """Every Series of one kind, or every Series, run by run."""
        for run in self._runs.values():
            for tag in run.tags(kind):
                yield run[tag]

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
