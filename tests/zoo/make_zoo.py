#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the writers of the zoo: make_zoo.py DIRECTORY [SCRIPT ...]

Each writes into DIRECTORY/files/SCRIPT, in an environment of its own in DIRECTORY/environments with the
packages that tools/requirements/zoo.txt names. All of them take 10 GB and a quarter of an hour.
STEPTAPE_ZOO=DIRECTORY/files makes zoo_test.py read them.
"""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE.parents[1] / "tools" / "requirements" / "zoo.txt"


def writers():
    """Returns the variables and the packages of each script."""
    lines = [line for line in REQUIREMENTS.read_text().splitlines() if line and line[0] != "#"]
    parsed = {}
    for line in lines:
        script, words = line.split(": ", 1)
        variables = [word for word in words.split() if "=" in word and "==" not in word and "<" not in word]
        parsed[script] = (dict(word.split("=") for word in variables),
                          [word for word in words.split() if word not in variables])
    return parsed


def python_with(packages, directory):
    python = directory / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-input", *packages], check=True)
    return python


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    known = writers()
    for script in sys.argv[2:] or known:
        variables, packages = known[script]
        print(script, flush=True)
        python = python_with(packages, directory / "environments" / script)
        files = directory / "files" / script
        shutil.rmtree(files, ignore_errors=True)
        files.mkdir(parents=True)
        subprocess.run([python, HERE / "writers" / f"{script}.py", files], check=True, cwd=files.parent,
                       env={**os.environ, **variables}, stdout=subprocess.DEVNULL)


main()
