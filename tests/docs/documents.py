# SPDX-License-Identifier: Apache-2.0
"""The Markdown of this repository as the tests of this folder read it."""

import pathlib
import re
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^ *```")


@dataclass
class Block:
    """A fenced block of code."""

    line: int  # of its first line
    language: str
    section: str  # the heading of second level that it is under
    lines: list[str] = field(default_factory=list)


@dataclass
class Row:
    line: int
    section: str
    cells: list[str]
    header: list[str]  # of its table


@dataclass
class Document:
    path: pathlib.Path
    lines: list[str]
    blocks: list[Block] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    prose: list[tuple[int, str, str]] = field(default_factory=list)  # line, section, text; no rows

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    def at(self, line: int) -> str:
        return f"{self.name}:{line}"


def cells_of(line: str) -> list[str]:
    """`a \\| b` in a cell is one cell."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def read(path: pathlib.Path) -> Document:
    document = Document(path, path.read_text(encoding="utf-8").split("\n"))
    section, block, header = "", None, None
    for number, line in enumerate(document.lines, 1):
        if FENCE.match(line):
            if block is None:
                block = Block(number + 1, line.strip()[3:], section)
                document.blocks.append(block)
            else:
                block = None
        elif block is not None:
            block.lines.append(line)
        elif line.startswith("|"):
            cells = cells_of(line)
            if header is None:
                header = cells
            elif not re.fullmatch(r"[-:| ]+", line):
                document.rows.append(Row(number, section, cells, header))
            continue
        elif line.startswith("## "):
            section = line[3:]
        else:
            document.prose.append((number, section, line))
        header = None
    return document


def all_documents() -> list[Document]:
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples/README.md"]
    return [read(path) for path in paths + sorted((ROOT / "docs").glob("*.md"))]


def code_spans(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)
