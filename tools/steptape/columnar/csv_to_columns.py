# SPDX-License-Identifier: Apache-2.0
"""Turns CSV, on standard input, into a Parquet or an Arrow file, on standard output.

    python3 csv_to_columns.py parquet|arrow TYPES

TYPES: a letter for each column: t is text, i an integer, n a number, b a Boolean. Empty: those of `steptape export`.

Memory: a few blocks of the input, whatever its size. The program `steptape` has this script in it.
"""

import csv
import io
import os
import sys

# The folder that `python3 -c` puts first: a csv.py of the user is not Python's.
sys.path[:] = [folder for folder in sys.path if folder]

NO_PYARROW = 69  # EX_UNAVAILABLE of sysexits.h
NOT_WRITTEN = 74  # EX_IOERR
try:
    import pyarrow
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    sys.exit(NO_PYARROW)

LONG = ["run", "tag", "step", "wall_time", "value"]
HISTOGRAMS = ["run", "tag", "step", "wall_time", "left", "right", "count"]
TEXT_COLUMNS = 2  # of these
BLOCK_BYTES = 8 << 20
LONGEST_NUMBER = 26  # characters of a double, and the comma


class Sink(io.RawIOBase):
    """Standard output that knows how far it has come, as a pipe does not."""

    def __init__(self):
        super().__init__()
        self._bytes = 0

    def writable(self):
        return True

    def write(self, data):
        sys.stdout.buffer.write(data)
        self._bytes += len(data)
        return len(data)

    def tell(self):
        return self._bytes

    def flush(self):
        sys.stdout.buffer.flush()


def titles(lines):
    """Those of the columns; reads no further than the line of titles."""
    csv.field_size_limit(sys.maxsize)
    return next(csv.reader(iter(lambda: lines.readline().decode(), "")))


def schema_of(names, letters):
    known = {"t": pyarrow.string(), "i": pyarrow.int64(), "n": pyarrow.float64(), "b": pyarrow.bool_()}
    if letters:
        return pyarrow.schema(list(zip(names, [known[letter] for letter in letters])))
    types = [pyarrow.float64()] * len(names)
    types[names.index("step")] = pyarrow.int64()
    if names in (LONG, HISTOGRAMS):
        types[:TEXT_COLUMNS] = [pyarrow.string()] * TEXT_COLUMNS
    return pyarrow.schema(list(zip(names, types)))


def batches(lines, schema, has_gaps):
    """The rows, block by block."""
    if not lines.peek(1):
        return
    yield from pyarrow.csv.open_csv(
        lines,
        pyarrow.csv.ReadOptions(column_names=schema.names,
                                block_size=BLOCK_BYTES + LONGEST_NUMBER * len(schema)),
        pyarrow.csv.ParseOptions(newlines_in_values=True),
        pyarrow.csv.ConvertOptions(column_types=dict(zip(schema.names, schema.types)), null_values=[""],
                                   strings_can_be_null=has_gaps, quoted_strings_can_be_null=False))


def writer_of(file_format, schema):
    if file_format == "parquet":
        # Parquet's statistics leave NaN out, and readers such as DuckDB take their maximum for that of the column: they
        # would find no row with NaN.
        exact = [field.name for field in schema if not pyarrow.types.is_floating(field.type)]
        return pyarrow.parquet.ParquetWriter(Sink(), schema, compression="zstd", write_statistics=exact)
    return pyarrow.ipc.new_file(Sink(), schema, options=pyarrow.ipc.IpcWriteOptions(compression="lz4"))


def main(file_format, letters):
    lines = sys.stdin.buffer
    schema = schema_of(titles(lines), letters)
    with writer_of(file_format, schema) as writer:
        for batch in batches(lines, schema, has_gaps=letters != ""):
            writer.write_batch(batch)
    sys.stdout.buffer.flush()


try:
    main(*sys.argv[1:])
except BrokenPipeError:
    os._exit(NOT_WRITTEN)  # The program knows why it reads no more.
# All is written. Arrow's threads now and then abort a Python that ends in the usual way:
# https://github.com/apache/arrow/issues/34314
os._exit(0)
