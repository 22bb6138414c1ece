#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# polars: `nan` among the first 100 rows of a CSV file makes its column one of strings; after them it is a number.
#
# Believed: read_csv either reads `nan` as a number, as pandas and DuckDB do, or as text. Seen: both. The types are guessed
# from the first 100 rows, and there only `NaN`, `inf` and `-inf` look like numbers; the parser of numbers knows `nan`,
# `NAN` and `Infinity` as well. So the same file has a column of numbers or of strings by where the first `nan` is, without
# a message, and `nan` is what Python's str(), C's printf() and numpy write.
#
# Versions: polars 2.1.0 from PyPI. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet polars==2.1.0

cat >"$folder/read.py" <<'PYTHON'
import io

import polars


def dtype(text, row, **options):
    """Returns the type of a column of 200 rows that has `text` in one of them."""
    rows = [text if i == row else "0.5" for i in range(200)]
    return polars.read_csv(io.BytesIO("\n".join(["loss", *rows]).encode()), **options)["loss"].dtype


for text, early in (("NaN", polars.Float64), ("inf", polars.Float64), ("-inf", polars.Float64),
                    ("nan", polars.String), ("NAN", polars.String), ("Infinity", polars.String)):
    seen = dtype(text, 50), dtype(text, 150)
    print(f"{text} in row 50: {seen[0]}; in row 150: {seen[1]}")
    assert seen == (early, polars.Float64)
assert dtype("nan", 150, infer_schema_length=None) == polars.String
assert dtype("nan", 50, schema_overrides={"loss": polars.Float64}) == polars.Float64
PYTHON
"$folder/venv/bin/python" "$folder/read.py"
