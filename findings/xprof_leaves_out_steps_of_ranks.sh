#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# XProf: of two files with the steps 10, 11 and 12, the overview shows 11 and 12; and what it shows depends on which
# host was looked at first.
#
# Believed: a step that is in every file is shown. Seen: XProf pairs the steps of hosts by time, not by number: it takes
# the shift by which they overlap longest. If one host was held up for longer than a step takes (steps of 1, 11 and
# 1 ms on one, of 11, 1 and 1 ms on the other), step 11 of the first is paired with step 10 of the second, and the steps
# without a partner are left out. Also seen: the statistics of the first request are saved as those of all hosts, and
# answer later requests for another host, unless these say use_saved_result=false.
#
# Versions: xprof 2.24.2 from PyPI. Needs python3 with venv and network access. Fails if either changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet xprof==2.24.2

cat >"$folder/show.py" <<'PYTHON'
import json
import os
import sys

from xprof.convert import raw_to_tool_data

MILLISECOND = 10**9  # picoseconds


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def integer(field, number):
    return varint(field << 3) + varint(number)


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def profile(durations):
    """An XSpace of one host: a line of steps, and one of an operator in each step."""
    def named(field, number, name):
        return message(field, integer(1, number) + message(2, integer(1, number) + message(2, name)))

    steps, operators, names, start = b"", b"", named(4, 100, "aten.mm:mm"), 0
    for i, duration in enumerate(durations):
        group = message(4, integer(1, 1) + integer(4, 10 + i))
        time = integer(2, start * MILLISECOND) + integer(3, duration * MILLISECOND)
        half = integer(2, start * MILLISECOND) + integer(3, duration * MILLISECOND // 2)
        label = message(4, integer(1, 2) + message(5, str(10 + i)))
        steps += message(4, integer(1, i + 1) + time + group + label)
        operators += message(4, integer(1, 100) + half + group)
        names += named(4, i + 1, f"step {10 + i}")
        start += duration
    lines = message(3, integer(1, 1) + message(2, "Steps") + steps) + message(
        3, integer(1, 2) + message(2, "main") + operators)
    return message(1, message(2, "/host:CPU") + lines + names + named(5, 1, "group_id")
                   + named(5, 2, "step_name"))


def written(name, durations):
    path = os.path.join(sys.argv[1], f"{name}.xplane.pb")
    with open(path, "wb") as file:
        file.write(profile(durations))
    return path


def steps(paths, saved=False):
    data, _ = raw_to_tool_data.xspace_to_tool_data(paths, "overview_page", {"use_saved_result": saved})
    for table in json.loads(data):
        if table and any(column["id"] == "stepTimeMs" for column in table["cols"]):
            at = [column["id"] for column in table["cols"]].index("stepnum")
            return [row["c"][at]["v"] for row in table["rows"]]


a, b = written("a", (1, 11, 1)), written("b", (11, 1, 1))
print("host a:", steps([a]), "  host b:", steps([b]), "  both:", steps([a, b]))
assert steps([a]) == steps([b]) == ["10", "11", "12"]
assert steps([a, b]) == ["11", "12"]
print("host b after both, from what was saved:", steps([b], saved=True))
assert steps([b], saved=True) == ["11", "12"]
steps([b])
print("both after host b, from what was saved:", steps([a, b], saved=True))
assert steps([a, b], saved=True) == ["10", "11", "12"]
PYTHON
"$folder/venv/bin/python" "$folder/show.py" "$folder" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
