#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what including each public header costs.

    python3 benchmarks/include_cost.py build/release [--rounds 5] [--markdown] [HEADER ...]

For each header, it compiles one file that includes the header, and one file that includes only the standard and
third-party headers that the header needs, directly or through other headers of Steptape. The difference is the cost
of Steptape's own declarations. Each figure is the minimum CPU time of the compiler process over several rounds, with
the flags of an optimized build, minus the time of an empty file. The build folder's compile_commands.json names the
compiler and the folders of other libraries.
"""

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<][^">]+[">])', re.MULTILINE)


def main():
    arguments = parse_arguments()
    folders = [os.path.join(ROOT, "include"), os.path.join(arguments.build, "include")]
    compiler, flags = compiler_of(arguments.build, folders)
    headers = arguments.headers or public_headers(folders[0])
    needed = {header: sorted(foreign_includes(header, folders)) for header in headers}

    with tempfile.TemporaryDirectory() as work:
        measured = {(): []}
        for header in headers:
            measured[(f"<{header}>",)] = []
            measured[tuple(needed[header])] = []
        for number in range(arguments.rounds):
            for includes, seconds in measured.items():
                seconds.append(compile_seconds(compiler, flags, includes, work))
            print(f"round {number + 1} of {arguments.rounds}", flush=True)
    least = {includes: min(seconds) for includes, seconds in measured.items()}
    report(headers, needed, least, arguments.markdown)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="a configured build folder")
    parser.add_argument("headers", nargs="*", metavar="HEADER", help="such as steptape/steptape.h; all where none is named")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_intermixed_args()


def compiler_of(build, folders):
    """The compiler, and the flags with which it finds every library's headers."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    searched = []
    for command in commands:
        words = shlex.split(command["command"])
        for i, word in enumerate(words):
            if word == "-isystem" and words[i + 1] not in searched:
                searched.append(words[i + 1])
    compiler = next(word for word in shlex.split(commands[0]["command"])
                    if re.search(r"(\+\+|cc)(-[0-9]+)?$", os.path.basename(word)) and "ccache" not in word)
    flags = ["-std=c++17", "-O2"]
    flags += [f"-I{folder}" for folder in folders]
    for folder in searched:
        flags += ["-isystem", folder]
    return compiler, flags


def public_headers(folder):
    found = []
    for path, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(path, name), folder) for name in names if name.endswith(".h")]
    return sorted(found)


def foreign_includes(header, folders, seen=None):
    """Returns the foreign headers that `header` includes, directly or through our own headers."""
    seen = seen if seen is not None else set()
    foreign = set()
    path = next(path for path in (os.path.join(folder, header) for folder in folders) if os.path.exists(path))
    with open(path, encoding="utf-8") as file:
        for include in INCLUDE.findall(file.read()):
            name = include[1:-1]
            if not name.startswith("steptape/"):
                foreign.add(include)
            elif name not in seen:
                seen.add(name)
                foreign |= foreign_includes(name, folders, seen)
    return foreign


def compile_seconds(compiler, flags, includes, work):
    source = os.path.join(work, "includes.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.writelines(f"#include {include}\n" for include in includes)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([compiler, *flags, "-c", source, "-o", os.path.join(work, "includes.o")], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(headers, needed, least, markdown):
    rows = []
    for header in headers:
        total = least[(f"<{header}>",)] - least[()]
        others = least[tuple(needed[header])] - least[()]
        rows.append((header, total, others, total - others))
    rows.sort(key=lambda row: -row[3])
    if markdown:
        print("| header | CPU seconds, total | headers of other libraries | its own declarations |\n|---|---|---|---|")
        for header, total, others, own in rows:
            print(f"| `{header}` | {total:.2f} | {others:.2f} | {own:.2f} |")
    else:
        print(f"{'header':52} {'total':>7} {'others':>7} {'own':>7}   (CPU seconds)")
        for header, total, others, own in rows:
            print(f"{header:52} {total:7.2f} {others:7.2f} {own:7.2f}")


if __name__ == "__main__":
    main()
