# SPDX-License-Identifier: Apache-2.0
"""The rows of one kind of tbparse's values, and the DataFrame of them, long or with a column for each tag."""

from __future__ import annotations

import itertools
from typing import Optional

import numpy as np

from .. import _core, _values
from .._frames import distinct, index_of

TORCH_TEXT = "/text_summary"


def name_of(series: _core.Series) -> str:
    return series.tag.removesuffix(TORCH_TEXT) if series.plugin == "text" else series.tag


class Rows:
    """Columns of equal length, a row for each value. `tags` and `files` are indices into the names.
    steps and wall_times are None for kinds without them."""

    def __init__(self, pairs, names: list[str], tags: np.ndarray, files: np.ndarray,
                 steps: Optional[np.ndarray], wall_times: Optional[np.ndarray], values: dict):
        self.files_by_number = [file for file, _ in pairs]
        self.names = names
        self.tags = tags
        self.files = files
        self.steps = steps
        self.wall_times = wall_times
        self.values = values

    def place(self, column: str) -> tuple[np.ndarray, list[str]]:
        """The number of each row's dir_name or file_name, and the names."""
        return numbered([getattr(file, column) for file in self.files_by_number], self.files)

    def sort(self, places: list[str], by_tag: bool) -> None:
        """Sorts stably by places, tag if `by_tag`, and step."""
        keys = [self.place(place)[0] for place in places]
        keys += [self.tags] if by_tag else []
        keys += [self.steps] if self.steps is not None else []
        if not keys or is_sorted(keys):
            return
        order = np.lexsort(keys[::-1])
        self.tags, self.files = self.tags[order], self.files[order]
        if self.steps is not None:
            self.steps, self.wall_times = self.steps[order], self.wall_times[order]
        self.values = {name: column[order] for name, column in self.values.items()}


def numbered(names: list[str], rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Numbers names by their order; `rows` has an index into `names` for each row."""
    distinct = sorted(set(names))
    numbers = {name: i for i, name in enumerate(distinct)}
    return np.array([numbers[name] for name in names], dtype=rows.dtype)[rows], distinct


def is_sorted(keys: list[np.ndarray]) -> bool:
    """Returns whether rows ascend by the keys, the first one being the most significant."""
    equal = np.ones(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in keys:
        before, after = key[:-1], key[1:]
        if np.any(equal & (before > after)):
            return False
        equal &= before == after
    return True


def scalar_rows(pairs) -> Rows:
    table = _core.Table([series for _, series in pairs])
    _, tags, steps, wall_times, values = table.columns()
    tags, names = numbered(table.tag_names, tags)
    files = np.repeat(np.arange(len(pairs)), [len(series) for _, series in pairs])
    return Rows(pairs, names, tags, files, steps, wall_times, {"value": values})


def value_rows(pairs, columns_of) -> Rows:
    counts = [len(series) for _, series in pairs]
    files = np.repeat(np.arange(len(pairs)), counts)
    tags, names = numbered([name_of(series) for _, series in pairs], files)
    cells = [columns_of(series, i) for _, series in pairs for i in range(len(series))]
    empty = [np.empty(0, np.int64)]
    return Rows(pairs, names, tags, files,
                np.concatenate([series.steps for _, series in pairs] or empty),
                np.concatenate([series.wall_times for _, series in pairs] or empty),
                {name: column([each[name] for each in cells]) for name in (cells[0] if cells else ())})


def hparam_rows(pairs) -> Rows:
    found = [(i, name, value) for i, (_, series) in enumerate(pairs)
             for name, value in (_core.session_hparams(series) or {}).items()]
    tags, names = numbered([name for _, name, _ in found], np.arange(len(found)))
    files = np.array([i for i, _, _ in found], dtype=np.int64)
    return Rows(pairs, names, tags, files, None, None, {"value": column([value for *_, value in found])})


def column(cells: list) -> np.ndarray:
    """Numbers as numbers, everything else as objects."""
    if all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in cells):
        return np.array(cells)
    return _values.object_array(cells, (len(cells),))


def tensor_columns(series: _core.Series, index: int) -> dict:
    array = _values.tensor(series, index)
    return {"value": array.item() if array.shape == () else array}


def histogram_columns(series: _core.Series, index: int) -> dict:
    fields = _core.histogram_fields(series, index)
    if fields is None:
        return histogram_dict(*_core.histogram(series, index))
    low, high, num, total, squares, limits, counts = fields
    return {"counts": counts, "limits": limits, "max": high, "min": low, "num": num, "sum": total,
            "sum_squares": squares}


def histogram_dict(left: np.ndarray, right: np.ndarray, counts: np.ndarray) -> dict:
    limits, counts = np.append(left[:1], right), np.insert(counts, 0, 0.0)
    low, high = (limits[0], limits[-1]) if len(limits) else (np.nan, np.nan)
    return {"counts": counts, "limits": limits, "max": high, "min": low, "num": counts.sum(), "sum": np.nan,
            "sum_squares": np.nan}


def image_columns(series: _core.Series, index: int) -> dict:
    image = _values.image(series, index)
    return {"value": pixels_of(image), "height": image.height, "width": image.width}


def pixels_of(image: _values.Image) -> np.ndarray:
    """The pixels of one image, or of several in one array."""
    pixels = [image.decode(i) for i in range(len(image.encoded))]
    pixels = [each[..., np.newaxis] if each.ndim == 2 else each for each in pixels]
    return pixels[0] if len(pixels) == 1 else np.stack(pixels)


def audio_columns(series: _core.Series, index: int) -> dict:
    audio = _values.audio(series, index)
    sounds = [audio.decode(i) for i in range(len(audio.encoded))]
    samples = [each for each, _ in sounds]
    return {"value": samples[0] if len(samples) == 1 else np.stack(samples),
            "content_type": audio.content_type, "length_frames": len(samples[0]),
            "sample_rate": sounds[0][1]}


def text_columns(series: _core.Series, index: int) -> dict:
    return {"value": _values.text(series, index)}


COLUMNS_OF = {"tensors": tensor_columns, "histograms": histogram_columns, "images": image_columns,
              "audio": audio_columns, "text": text_columns}


def category(pandas, codes: np.ndarray, names: list[str]):
    return pandas.Categorical.from_codes(codes, index_of(pandas, names), validate=False)


def ends(pandas, rows: Rows, extra: list[str]) -> dict:
    """The columns that come last."""
    return {name: rows.wall_times if name == "wall_time" else category(pandas, *rows.place(name))
            for name in extra if name != "wall_time" or rows.wall_times is not None}


def long(pandas, rows: Rows, extra: list[str]):
    steps = {} if rows.steps is None else {"step": rows.steps}
    return pandas.DataFrame({**steps, "tag": category(pandas, rows.tags, rows.names), **rows.values,
                             **ends(pandas, rows, extra)}, copy=False)


def wide(pandas, rows: Rows, extra: list[str]):
    """REQUIRES: rows are sorted by the keys of the result."""
    places = {name: rows.place(name) for name in extra if name != "wall_time"}
    keys = [codes for codes, _ in places.values()]
    keys += [rows.steps] if rows.steps is not None else []
    is_first = np.ones(len(rows.tags), dtype=bool)
    if keys:
        is_first[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    else:
        is_first[1:] = False
    row = np.cumsum(is_first) - 1
    steps = {} if rows.steps is None else {"step": rows.steps[is_first]}
    tags = sorted(enumerate(rows.names), key=lambda each: each[1])
    keys = [(tag if name == "value" else f"{tag}/{name}", number, cells)
            for number, tag in tags for name, cells in rows.values.items()]
    names = distinct([key for key, *_ in keys], (*steps, *extra), "SummaryReader(pivot=True)")
    columns = {}
    for name, (_, number, cells) in zip(names, keys):
        of_tag = rows.tags == number
        columns[name] = merged(row[of_tag], cells[of_tag], row[-1] + 1)
    if "wall_time" in extra and rows.wall_times is not None:
        columns["wall_time"] = merged(row, rows.wall_times, row[-1] + 1)
    columns.update((name, category(pandas, codes[is_first], names))
                   for name, (codes, names) in places.items())
    return pandas.DataFrame({**steps, **columns})


def merged(row: np.ndarray, cells: np.ndarray, rows: int) -> np.ndarray:
    """A cell for each row: NaN for no value, a list for several; NaN counts as no value."""
    if cells.dtype != object:
        is_number = ~np.isnan(cells)
        row, cells = row[is_number], cells[is_number]
    if len(np.unique(row)) == len(row):
        target = np.full(rows, np.nan, dtype=cells.dtype if cells.dtype == object else np.float64)
        target[row] = cells
        return target
    target = np.full(rows, np.nan, dtype=object)
    for number, group in itertools.groupby(zip(row.tolist(), cells.tolist()), key=lambda each: each[0]):
        values = [cell for _, cell in group]
        target[number] = values[0] if len(values) == 1 else values
    return target
