#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# safetensors: an entry may be a JSON list instead of an object, and a dtype an object instead of a string.
#
# Believed: the header of a file is as the format's description has it: {"w": {"dtype": "F32", "shape": […],
# "data_offsets": […]}}, and anything else is refused, as most mistakes are. Seen: the reader takes what Rust's serde
# derives for a struct and for an enum: ["F32", [2], [0, 8]] in the order of the fields, and {"F32": null}. Files with
# these load, also with both at once, though only this reader knows the order. Lists of another length, {"F32": []} and
# offsets as an object are refused.
#
# Versions: safetensors 0.8.0 and numpy 2.4.6 from PyPI. Needs python3 with venv and network access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet safetensors==0.8.0 numpy==2.4.6

cat >"$folder/load.py" <<'PYTHON'
import json
import struct

from safetensors import SafetensorError
from safetensors.numpy import load


def loaded(entry):
    header = json.dumps({"w": entry}).encode()
    try:
        values = load(struct.pack("<Q", len(header)) + header + struct.pack("<2f", 1, 2))["w"].tolist()
    except SafetensorError as error:
        values = None
        print(f"{json.dumps(entry)}: {str(error).split(': ')[-1]}")
    else:
        print(f"{json.dumps(entry)}: {values}")
    return values


def entry(dtype="F32", offsets=(0, 8)):
    return {"dtype": dtype, "shape": [2], "data_offsets": offsets}


assert loaded(entry()) == [1, 2]
assert loaded(["F32", [2], [0, 8]]) == [1, 2]
assert loaded(entry(dtype={"F32": None})) == [1, 2]
assert loaded([{"F32": None}, [2], [0, 8]]) == [1, 2]
assert loaded(["F32", [2]]) is None
assert loaded(entry(dtype={"F32": []})) is None
assert loaded(entry(offsets={"0": 0, "1": 8})) is None
PYTHON
"$folder/venv/bin/python" "$folder/load.py"
