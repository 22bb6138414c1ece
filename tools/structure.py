#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the structure of the sources: how many districts, edges, headers and lines there are, and where the
longest file and the class with the most members are.

    tools/structure.py
"""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAMESPACE = re.compile(r"^namespace ?([\w:]*) \{")
TYPE = re.compile(r"^(?:struct|class|union|enum|enum class) (?:\S+\(\S*\) |STEPTAPE_EXPORT )*(\w+)[^;(]*\{")
CLASS = re.compile(r"^( *)(?:struct|class|union) (?:\S+\(\S*\) |STEPTAPE_EXPORT )*([\w:]+)[^;(]*\{$")
MEMBER = re.compile(r"^ +[\w:<>,*&\[\] ().-]+ (?:\w+_)(?: [A-Z_]+\([^)]*\))?(?:\{.*\}| = .*|\[.*\])?;")


def tracked(*folders):
    """Paths of the C++ files in `folders`, relative to the project."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    return [pathlib.Path(path) for path in listed if path.endswith((".h", ".cpp"))]


def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def district_of(path):
    """The district of a path or of an include; None if it is in none."""
    match = re.match(r"(?:src/|include/steptape/|steptape/)?(\w+)/", str(path))
    return match.group(1) if match and (ROOT / "src" / match.group(1)).is_dir() else None


def edges():
    """The pairs of districts of which the first one includes headers of the second one."""
    found = set()
    for path in tracked("src", "include"):
        own = district_of(path)
        for line in lines_of(path):
            include = re.match(r'#include "([^"]+)"', line)
            other = district_of(include.group(1)) if include else None
            if own and other and own != other:
                found.add((own, other))
    return found


def types():
    """Each type that a file defines, with its namespaces and the file."""
    for path in tracked("src", "include"):
        namespaces = []
        for line in lines_of(path):
            if match := NAMESPACE.match(line):
                namespaces.append(match.group(1))
            elif line.startswith("}  // namespace") and namespaces:
                namespaces.pop()
            elif (match := TYPE.match(line)) and "" not in namespaces:
                yield "::".join(namespaces), match.group(1), path


def fattest_class():
    """The greatest number of data members of a class, without those of nested classes; the class."""
    most = (0, "")
    for path in tracked("src", "include", "tools"):
        open_classes = []  # the indentation of each, its name and its members so far
        for line in lines_of(path):
            indentation = len(line) - len(line.lstrip(" "))
            if match := CLASS.match(line):
                open_classes.append([indentation, match.group(2), 0])
            elif open_classes and line.startswith(" " * open_classes[-1][0] + "}"):
                _, name, members = open_classes.pop()
                most = max(most, (members, f"{name} in {path}"))
            elif open_classes and indentation == open_classes[-1][0] + 2 and MEMBER.match(line):
                open_classes[-1][2] += not re.match(r" +(?:return|static|using) ", line)
    return most


def count_lines(*folders):
    return sum(len(lines_of(path)) for path in tracked(*folders))


def main():
    headers = [path for path in tracked("include") if len(path.parts) > 3]
    folders = sorted({path.parent for path in headers})
    alone = [folder for folder in folders if sum(path.parent == folder for path in headers) == 1]
    longest = max(
        (len(lines_of(path)), str(path)) for path in tracked("src", "include", "tools", "python")
    )
    internal = [
        file
        for space, _, file in types()
        if space == "steptape" and file.suffix == ".h" and file.parts[0] == "src"
    ]
    flat = [name for space, name, _ in types() if space == "steptape::detail"]
    districts = {path.parts[1] for path in tracked("src")}
    members, fattest = fattest_class()
    readme = max(len(lines_of(path)) for path in (ROOT / "src").glob("*/README.md"))
    rows = {
        "folders directly under src; edges between them": f"{len(districts)}; {len(edges())}",
        "public headers; folders of them; folders with one header": (
            f"{len(headers)}; {len(folders)}; {len(alone)}"
        ),
        "longest file": f"{longest[0]} lines, {longest[1]}",
        "class with the most data members": f"{members}, {fattest}",
        "internal types in steptape; in one flat detail": f"{len(internal)}; {len(flat)}",
        "lines of C++ in src, include, tools, python, benchmarks": (
            count_lines("src", "include", "tools", "python", "benchmarks")
        ),
        "lines of C++ in tests": count_lines("tests"),
        "lines of docs/architecture.md; of the longest README of a district": (
            f"{len(lines_of('docs/architecture.md'))}; {readme}"
        ),
    }
    for name, value in rows.items():
        print(f"{name:68} {value}")


if __name__ == "__main__":
    main()
