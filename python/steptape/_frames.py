# SPDX-License-Identifier: Apache-2.0
"""Scalars as tables."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._optional import require
from ._series import to_datetime

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Scalars:
    """Base of classes whose scalars form one long table: run, tag, step, wall_time and value.

    Every consumer of the Arrow C stream interface accepts it directly: `polars.DataFrame(runs)`,
    `duckdb.sql("select * from runs")`, `pyarrow.table(runs)`.
    """

    def _scalars(self) -> Sequence[_core.Series]:
        raise NotImplementedError

    def to_pandas(self, pivot: bool = False, datetimes: bool = False) -> pandas.DataFrame:
        """The scalars as a pandas.DataFrame.

        Long form: a row for each point, with the columns run and tag (categories), step (int64),
        wall_time (float64, seconds since 1970 UTC) and value (float64), ordered by run and tag.

        pivot: return the wide form: a row for each run and step, a column for each tag, NaN where a tag
            has no value. Of several values at one step the last one counts, as in TensorBoard. The
            column of a tag `step` is named "step (2)", with a warning; likewise `run`.
        datetimes: return wall_time as datetime64[ns]; the wide form has no times.
        """
        pandas = require("pandas", "pandas", "to_pandas()")
        if pivot:
            return wide(pandas, self._scalars())
        return long(pandas, _core.Table(list(self._scalars())), datetimes)

    def to_arrow(self) -> pyarrow.Table:
        """The long form as a pyarrow.Table; run and tag are dictionaries."""
        return require("pyarrow", "pyarrow", "to_arrow()").table(self)

    def to_polars(self) -> polars.DataFrame:
        """The long form as a polars.DataFrame; run and tag are categories."""
        return require("polars", "polars", "to_polars()").DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A new capsule of the Arrow C stream interface, with the long form."""
        return _core.Table(list(self._scalars())).arrow_stream()


def index_of(pandas, names: Sequence[str]):
    """Names as pandas' own type of strings: `str` since pandas 3, like columns that come from Arrow."""
    dtype = pandas.Series(["name"]).dtype
    try:
        return pandas.Index(names, dtype=dtype)
    except UnicodeEncodeError:  # Arrow's strings are UTF-8, and names may be any bytes
        return pandas.Index(names, dtype=object)


def distinct(tags: Sequence[str], taken: Iterable[str], table: str, stacklevel: int = 4) -> list[str]:
    """A name for the column of each tag: the tag, or "tag (2)" if another column has it, with a warning."""
    used = set(taken)
    every = used.union(tags)
    names = []
    for tag in tags:
        name = tag
        if tag in used:
            name = next(name for number in itertools.count(2) if (name := f"{tag} ({number})") not in every)
            warnings.warn(f"{table}: got a tag {tag!r}, which is the name of another column; its values are "
                          f"in the column {name!r}", UserWarning, stacklevel=stacklevel)
        used.add(name)
        every.add(name)
        names.append(name)
    return names


def long(pandas, table: _core.Table, datetimes: bool):
    runs, tags, steps, wall_times, values = table.columns()

    def category(codes, names):
        return pandas.Categorical.from_codes(codes, index_of(pandas, names), validate=False)

    return pandas.DataFrame({
        "run": category(runs, table.run_names),
        "tag": category(tags, table.tag_names),
        "step": steps,
        "wall_time": to_datetime(wall_times) if datetimes else wall_times,
        "value": values,
    }, copy=False)


def wide(pandas, scalars: Sequence[_core.Series]):
    by_run: dict[str, list[_core.Series]] = {}
    for series in scalars:
        by_run.setdefault(series.run, []).append(series)
    steps = {run: np.unique(np.concatenate([each.steps for each in group]))
             for run, group in by_run.items()}
    ends = np.cumsum([len(each) for each in steps.values()], dtype=int)
    rows = int(ends[-1]) if len(ends) else 0
    tags = list(dict.fromkeys(series.tag for series in scalars))
    names = dict(zip(tags, distinct(tags, ("run", "step"), "to_pandas(pivot=True)")))
    columns = {name: np.full(rows, np.nan) for name in names.values()}
    for (run, group), end in zip(by_run.items(), ends):
        begin = end - len(steps[run])
        for series in group:
            rows_of_run = begin + np.searchsorted(steps[run], series.steps)
            columns[names[series.tag]][rows_of_run] = series.scalar_values
    codes = np.repeat(np.arange(len(steps)), [len(each) for each in steps.values()])
    return pandas.DataFrame({
        "run": pandas.Categorical.from_codes(codes, index_of(pandas, list(steps))),
        "step": np.concatenate(list(steps.values())) if steps else np.empty(0, np.int64),
        **columns,
    }, copy=False)
