#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the table of docs/platforms.md, which says what was run with what. No row is written by hand.

    tools/platforms.py record COMMAND BUILD_FOLDER RESULT SECONDS     one run on this machine, into build/platforms.jsonl;
                                                                      0 seconds if the build was not a new one
    tools/platforms.py update FILE...                                 brings the runs of such files into the table

The scripts that build and test make the records. A run replaces an earlier one of the same command on the same platform.
"""
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORDS = ROOT / "build" / "platforms.jsonl"
PAGE = ROOT / "docs" / "platforms.md"
# The columns that make a platform, then those of its latest run.
PLATFORM = ("command", "system", "processor", "compiler", "MPI", "LibTorch", "Python", "Protocol Buffers", "CMake")
RUN = ("result", "minutes", "date")
NONE = "-"


def output_of(*command):
    """The first line that a program prints, or nothing where it does not run."""
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except OSError:
        return ""
    return result.stdout.partition("\n")[0] if result.returncode == 0 else ""


def version_in(text):
    found = re.search(r"\d+(\.\d+)+", text)
    return found.group() if found else NONE


def cache_of(folder):
    """The entries of a CMake cache."""
    path = folder / "CMakeCache.txt"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return dict(re.findall(r"^([\w.-]+):[A-Z]+=(.*)$", text, re.MULTILINE))


def system():
    release = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    names = dict(re.findall(r'^(\w+)="?([^"\n]*)', release, re.MULTILINE))
    # Debian's testing release has no number.
    version = names.get("VERSION_ID") or names.get("VERSION_CODENAME") or names["PRETTY_NAME"].split()[-1]
    return f'{names["NAME"].removesuffix(" GNU/Linux")} {version}'


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    machine = platform.machine().replace("x86_64", "x86-64")
    if not model:
        return machine
    name = re.sub(r"\((R|TM)\)| CPU| Processor|@.*", "", model.group(1))
    return f'{machine} ({" ".join(name.split())})'


def compiler(folder):
    for path in folder.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"):
        names = dict(re.findall(r'^set\((\w+) "([^"]*)"\)$', path.read_text(encoding="utf-8"), re.MULTILINE))
        name = {"GNU": "GCC"}.get(names["CMAKE_CXX_COMPILER_ID"], names["CMAKE_CXX_COMPILER_ID"])
        return f'{name} {names["CMAKE_CXX_COMPILER_VERSION"]}'
    return NONE


def mpi(cache):
    mpiexec = cache.get("MPIEXEC_EXECUTABLE")
    if cache.get("STEPTAPE_WITH_MPI") == "OFF" or not mpiexec or mpiexec.endswith("NOTFOUND"):
        return NONE
    text = subprocess.run([mpiexec, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    name = "Open MPI" if re.search("Open ?MPI|OpenRTE|PRRTE", text) else "Intel MPI" if "Intel" in text else "MPICH"
    return f"{name} {version_in(text)}"


def libtorch(cache):
    folder = cache.get("Torch_DIR", "")
    if cache.get("STEPTAPE_WITH_TORCH") == "OFF" or not folder or folder.endswith("NOTFOUND"):
        return NONE
    for up in ("../../..", "../../../.."):
        for header in ("torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"):
            path = pathlib.Path(folder, up, "include", header)
            if path.is_file():
                parts = re.findall(r"TORCH_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", path.read_text(encoding="utf-8"))
                return ".".join(parts[:3])
    return NONE


def record(command, build_folder, result, seconds):
    folder = pathlib.Path(build_folder)
    cache = cache_of(folder)
    python = os.environ.get("STEPTAPE_PYTHON") or "python3"
    run = {
        "command": command,
        "system": system(),
        "processor": processor(),
        "compiler": compiler(folder),
        "MPI": mpi(cache),
        "LibTorch": libtorch(cache),
        "Python": version_in(output_of(python, "--version")),
        "Protocol Buffers": version_in(output_of(cache.get("Protobuf_PROTOC_EXECUTABLE", "protoc"), "--version")),
        "CMake": version_in(output_of(cache.get("CMAKE_COMMAND", "cmake"), "--version")),
        "result": result,
        "minutes": f"{int(seconds) / 60:.1f}" if int(seconds) else NONE,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }
    RECORDS.parent.mkdir(exist_ok=True)
    with RECORDS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def rows_of(page):
    """The runs in the table, and the text before and after it."""
    header = "| " + " | ".join(PLATFORM + RUN) + " |\n"
    before, found, rest = page.partition(header)
    if not found:
        sys.exit(f"{PAGE}: got no table with the header {header}")
    lines = rest.splitlines(keepends=True)
    end = next((i for i, line in enumerate(lines) if not line.startswith("|")), len(lines))
    runs = [dict(zip(PLATFORM + RUN, (cell.strip(" `") for cell in line.strip("|\n").split("|")))) for line in lines[1:end]]
    return before + header + lines[0], runs, "".join(lines[end:])


def row(run):
    return "| " + " | ".join([f'`{run["command"]}`'] + [run[name] for name in (PLATFORM + RUN)[1:]]) + " |\n"


def update(files):
    before, runs, after = rows_of(PAGE.read_text(encoding="utf-8"))
    for name in files:
        with open(name, encoding="utf-8") as file:
            runs += [json.loads(line) for line in file]
    latest = {}
    for run in sorted(runs, key=lambda run: run["date"]):
        latest[tuple(run[name] for name in PLATFORM)] = run
    PAGE.write_text(before + "".join(row(latest[key]) for key in sorted(latest)) + after, encoding="utf-8")


def main():
    if sys.argv[1:2] == ["record"] and len(sys.argv) == 6:
        record(*sys.argv[2:])
    elif sys.argv[1:2] == ["update"] and len(sys.argv) > 2:
        update(sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
