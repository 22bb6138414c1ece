#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: its data server drops the display name and the description of a simple value, its Python loader shows both.
#
# Believed: the metadata of a tag's first value is what every loader hands to the page. Seen: tensorboard-data-server keeps
# the metadata of a `simple_value` only if it names a class of data, and writes metadata of its own otherwise. Which title
# the page shows therefore depends on whether the fast loader is available: on AArch64 the chart has its display name, on
# x86-64 the bare tag.
#
# Versions: tensorboard 2.21.0, tensorboard-data-server 0.7.2 from PyPI. Needs python3 with venv, x86-64 Linux and network
# access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0 tensorboard-data-server==0.7.2 'setuptools<81'

cat >"$folder/titles.py" <<'PYTHON'
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

log_dir = tempfile.mkdtemp(dir=os.path.dirname(__file__))
named = summary_pb2.SummaryMetadata(display_name="Loss", summary_description="of a batch")
classed = summary_pb2.SummaryMetadata(display_name="Loss", summary_description="of a batch",
                                      data_class=summary_pb2.DATA_CLASS_SCALAR)
classed.plugin_data.plugin_name = "scalars"
writer = EventFileWriter(log_dir)
values = [summary_pb2.Summary.Value(tag="named", simple_value=1, metadata=named),
          summary_pb2.Summary.Value(tag="classed", simple_value=1, metadata=classed)]
writer.add_event(event_pb2.Event(wall_time=1, step=0, summary=summary_pb2.Summary(value=values)))
writer.close()


def titles(load_fast, port):
    """Returns what the page of scalars gets for each tag."""
    board = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", log_dir, "--port", str(port), "--load_fast", load_fast],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://localhost:{port}/data/plugin/scalars/tags") as answer:
                    if tags := json.load(answer):
                        return tags["."]
            except urllib.error.URLError:
                pass
            time.sleep(0.1)
        raise TimeoutError(f"no tags with --load_fast={load_fast}")
    finally:
        board.terminate()
        board.wait()


fast = titles("true", 16006)
slow = titles("false", 16007)
print("data server:  ", {tag: info["displayName"] for tag, info in sorted(fast.items())})
print("Python loader:", {tag: info["displayName"] for tag, info in sorted(slow.items())})
assert fast["named"] == {"displayName": "", "description": ""}, fast
assert fast["classed"]["displayName"] == "Loss", fast
assert slow["named"]["displayName"] == slow["classed"]["displayName"] == "Loss", slow
assert "of a batch" in slow["named"]["description"], slow
PYTHON
"$folder/venv/bin/python" "$folder/titles.py"
