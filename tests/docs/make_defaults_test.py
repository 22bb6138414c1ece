# SPDX-License-Identifier: Apache-2.0
"""Writes a test that compares documented defaults with those that the headers initialize.

    make_defaults_test.py core|torch OUTPUT.cpp

Documents state a default in two ways:

- in a table of a struct: the first header is its name in backquotes, the second is "default". A row
  names one field, or several with a value for each or one for all;
- in text, as `WriterOptions::flushPeriod` (default 1 s).

A value is a number with or without a unit, true, false, a name in backquotes such as `kNone`, or
"none" or "–": 0, unset, or empty. What follows a ":" or a ";" is a remark. An empty cell states no default,
as for fields that are structs; that the struct has the field is checked anyway, also in tables
without that column.

"core" are the structs of headers of districts without LibTorch, "torch" the others.
"""

import pathlib
import re
import sys

import documents

TORCH_DISTRICTS = ("libtorch", "train")
BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SECONDS = {"ms": 1e-3, "s": 1, "min": 60}
COUNTS = {"epochs", "pass", "spans", "steps", "batches"}
STATED = re.compile(r"`(\w+)::([\w.]+)` \(default ([^)]+)\)")


def headers_of_structs():
    """Public structs with the header that each is in."""
    include = documents.ROOT / "include"
    headers = {}
    for path in sorted(include.rglob("*.h")):
        for name in re.findall(r"^struct (?:STEPTAPE_EXPORT )?(\w+) {", path.read_text(), re.M):
            headers[name] = path.relative_to(include)
    return headers


def is_of_torch(header):
    return header.parts[1] in TORCH_DISTRICTS


def expected(text, field, place):
    """The C++ expression that is true for a field with the default in `text`."""
    text = re.split("[:;]", text)[0].strip()
    if text in ("–", "none", "no limit"):
        return f"isNone({field})"
    if text == "on":
        return f"!isNone({field})"
    if text in ("true", "false"):
        return f"{field} == {text}"
    if string := re.fullmatch(r'`("[^"`]*")`', text):
        return f"{field} == {string[1]}"
    if names := re.findall(r"`(\w+)`", text):
        if len(names) == 1 and names[0].startswith("k"):
            return f"{field} == std::decay_t<decltype({field})>::{names[0]}"
        return f"({field} == std::decay_t<decltype({field})>{{{', '.join(names)}}})"
    number, _, unit = text.partition(" ")
    if unit in BYTES:
        return f"{field} == {int(number) * BYTES[unit]}"
    if unit in SECONDS:
        return f"isDuration({field}, {float(number) * SECONDS[unit]})"
    if unit not in COUNTS | {""} or not re.fullmatch(r"-?[\d.]+(e-?\d+)?", number):
        sys.exit(f"{place}: cannot read the default '{text}'; see {pathlib.Path(__file__).name}")
    return f"{field} == {number}"


class Statement:
    """A sentence or a row that states a field of a struct, optionally with its default."""

    def __init__(self, place, struct, field, default):
        self.place, self.struct, self.field, self.default = place, struct, field, default

    def code(self):
        field = f"options.{self.field}"
        check = f"::testing::AssertionSuccess() << sizeof({field})"
        if self.default:
            check = expected(self.default, field, self.place)
        return (
            f"  {{\n    const {self.struct} options{{}};\n"
            f'    EXPECT_TRUE({check}) << "{self.place}: {self.struct}::{self.field}: got "\n'
            f"        << ::testing::PrintToString({field});\n  }}\n"
        )


def of_row(document, row):
    struct = row.header[0].strip("`")
    fields = [span.split(" ")[0] for span in documents.code_spans(row.cells[0])]
    defaults = [""] * len(fields)
    if row.header[1].lower() == "default" and row.cells[1]:
        value = row.cells[1]
        defaults = value.split(",") if "," in value and len(fields) > 1 else [value] * len(fields)
        if len(defaults) != len(fields):
            sys.exit(f"{document.at(row.line)}: got {len(defaults)} defaults, expected {len(fields)}")
    return [Statement(document.at(row.line), struct, *pair) for pair in zip(fields, defaults)]


def all_statements(structs):
    for document in documents.all_documents():
        for row in document.rows:
            if re.fullmatch(r"`\w+`", row.header[0]) and row.header[0].strip("`") in structs:
                yield from of_row(document, row)
        texts = [(number, text) for number, _, text in document.prose]
        texts += [(row.line, " | ".join(row.cells)) for row in document.rows]
        for number, text in texts:
            found = [m for m in STATED.finditer(text) if m.group(1) in structs]
            yield from (Statement(document.at(number), *match.groups()) for match in found)
            mentions = any(struct in structs for struct in re.findall(r"`(\w+)::\w+", text))
            if mentions and re.search(r"\bdefault\b", text) and not found:
                sys.exit(
                    f"{document.at(number)}: got a default that is not checked; expected the form "
                    "`WriterOptions::flushPeriod` (default 1 s)"
                )


def main(kind, output):
    structs = {
        name: header
        for name, header in headers_of_structs().items()
        if is_of_torch(header) == (kind == "torch") and not header.name.startswith("mpi_")
    }
    statements = [s for s in all_statements(headers_of_structs()) if s.struct in structs]
    if not any(statement.default for statement in statements):
        sys.exit(f"the documents state no default of a struct of {kind}")
    used = sorted({str(structs[statement.struct]) for statement in statements})
    code = "// SPDX-License-Identifier: Apache-2.0\n// Written by make_defaults_test.py.\n"
    code += "#include <csignal>\n" + "".join(f"#include <{header}>\n" for header in used)
    code += '\n#include "docs/documented_default.h"\n\n#include <gtest/gtest.h>\n\n'
    code += "namespace steptape {\nnamespace {\n\nTEST(DocumentedDefaults, AreThoseOfTheHeaders) {\n"
    code += "".join(statement.code() for statement in statements)
    code += "}\n\n}  // namespace\n}  // namespace steptape\n"
    pathlib.Path(output).write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
