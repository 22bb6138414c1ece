#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: of several graphs in one run its two loaders show different ones; the Python loader logs that it shows the
# newest, and shows the oldest.
#
# Believed: a second graph replaces the first, as the Python loader says: "Overwriting the graph with the newest event".
# Seen: the data server shows the graph that was written last, at whatever step. The Python loader shows the one with the
# largest step, and of those with the same step the first. Programs log graphs without a step, so all have step 0: which
# one the page Graphs shows depends on --load_fast.
#
# Versions: tensorboard 2.21.0 and tensorboard-data-server 0.7.2 from PyPI. Needs python3 with venv and network access.
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0 tensorboard-data-server==0.7.2

cat >"$folder/show.py" <<'PYTHON'
import os
import sys
import time
import urllib.error
import urllib.request

from tensorboard import program
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.summary.writer.event_file_writer import EventFileWriter


def shown(folder, fast):
    """Returns which of the two graphs TensorBoard serves."""
    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", folder, "--port", "0", "--load_fast", fast])
    url = board.launch() + "data/plugin/graphs/graph?run=."
    for _ in range(300):  # until the run is loaded
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                text = response.read().decode()
            return [name for name in ("first", "second") if f'"{name}"' in text]
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise AssertionError("TensorBoard serves no graph")


def compare(name, steps, fast, slow):
    folder = os.path.join(sys.argv[1], name)
    writer = EventFileWriter(folder)
    for step, node in zip(steps, ("first", "second")):
        graph = GraphDef()
        graph.node.add(name=node, op="Placeholder")
        writer.add_event(Event(wall_time=1.0, step=step, graph_def=graph.SerializeToString()))
    writer.close()
    seen = shown(folder, "true"), shown(folder, "false")
    print(f"graphs of steps {steps}: the data server shows the {seen[0]}, the Python loader the {seen[1]}")
    assert seen == ([fast], [slow])


compare("same", (0, 0), fast="second", slow="first")
compare("up", (1, 2), fast="second", slow="second")
compare("down", (2, 1), fast="second", slow="first")
PYTHON
"$folder/venv/bin/python" "$folder/show.py" "$folder" 2>"$folder/log" || { tail -5 "$folder/log"; exit 1; }
grep --max-count=1 --only-matching "Overwriting the graph with the newest event" "$folder/log"
