#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# DuckDB: in a Parquet file that Arrow has written, a query for NaN finds none, and the maximum of a column with NaN is a
# number.
#
# Believed: a query of a file gives what the same query of a table with its rows gives; isnan(), and an order in which NaN
# is the largest number, are documented. Seen: Parquet's statistics leave NaN out, and DuckDB takes their maximum for that
# of the column. So it skips every row group in which no number fits, and answers max() without a look at the rows: `where
# isnan(loss)` and `where loss > 100` have 0 rows of 5, and max(loss) is 1. Who looks for the steps at which a run diverged
# finds that it did not. read_parquet(…, can_have_nan=true) finds them, and so does a file that DuckDB has written itself.
#
# Versions: duckdb 2.0.1, pyarrow 26.0.1 from PyPI. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1 pyarrow==26.0.1

cat >"$folder/query.py" <<'PYTHON'
import math
import sys

import duckdb
import pyarrow
import pyarrow.parquet

path = f"{sys.argv[1]}/arrow.parquet"
steps = list(range(1000))
loss = [math.nan if 900 <= step < 905 else 1 / (1 + step) for step in steps]
pyarrow.parquet.write_table(pyarrow.table({"step": steps, "loss": loss}), path, row_group_size=100)
duckdb.sql(f"create table own as select * from '{path}'")
duckdb.sql(f"copy own to '{sys.argv[1]}/own.parquet' (row_group_size 2048)")


def answers(source):
    """Returns how many rows are NaN, how many are above 100, and the largest value."""
    found = [duckdb.sql(f"select {what} from {source} {where}").fetchall()[0][0] for what, where in (
        ("count(*)", "where isnan(loss)"), ("count(*)", "where loss > 100"), ("max(loss)", ""))]
    print(f"{source}: {found}".replace(sys.argv[1], "…"))
    return found


print(f"duckdb {duckdb.__version__}, pyarrow {pyarrow.__version__}; rows with NaN, rows above 100, maximum:")
assert answers(f"'{path}'") == [0, 0, 1.0]
for source in ("own", f"'{sys.argv[1]}/own.parquet'", f"read_parquet('{path}', can_have_nan=true)"):
    nans, above, largest = answers(source)
    assert (nans, above) == (5, 5) and math.isnan(largest)
PYTHON
"$folder/venv/bin/python" "$folder/query.py" "$folder"
