#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: an image logged under a scalar's tag removes the scalar of the same step from the curve, without a word.
#
# Believed: a tag with values of two plugins shows those of the first one, and leaves the others out. Seen: in the data
# server, each value of the tag first removes the points at its step or later, and only then turns out to be no scalar. So the
# curve lacks each step that also has an image. The Python loader answers HTTP 500 for the whole tag instead.
#
# Versions: tensorboard 2.21.0, tensorboard-data-server 0.7.2 from PyPI. Needs python3 with venv, x86-64 Linux and network
# access. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet tensorboard==2.21.0 tensorboard-data-server==0.7.2 'setuptools<81'

cat >"$folder/curves.py" <<'PYTHON'
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

Summary = summary_pb2.Summary
log_dir = tempfile.mkdtemp(dir=os.path.dirname(__file__))
writer = EventFileWriter(log_dir)
for step in range(6):
    values = [Summary.Value(tag="loss", simple_value=step), Summary.Value(tag="alone", simple_value=step)]
    if step in (2, 4):
        picture = Summary.Image(height=1, width=1, colorspace=3, encoded_image_string=b"PNG")
        values.append(Summary.Value(tag="loss", image=picture))
    writer.add_event(event_pb2.Event(wall_time=step + 1, step=step, summary=Summary(value=values)))
writer.close()


def curves(load_fast, port):
    """Returns the steps that the page of scalars gets for each tag, or the status of a refusal."""
    address = f"http://localhost:{port}/data/plugin/scalars"
    board = subprocess.Popen(
        [sys.executable, "-m", "tensorboard.main", "--logdir", log_dir, "--port", str(port), "--load_fast", load_fast],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def steps(tag):
        try:
            with urllib.request.urlopen(f"{address}/scalars?run=.&tag={tag}") as answer:
                return [step for _, step, _ in json.load(answer)]
        except urllib.error.HTTPError as error:
            return error.code

    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{address}/tags") as answer:
                    if json.load(answer):
                        return {tag: steps(tag) for tag in ("alone", "loss")}
            except urllib.error.URLError:
                pass
            time.sleep(0.1)
        raise TimeoutError(f"no tags with --load_fast={load_fast}")
    finally:
        board.terminate()
        board.wait()


fast = curves("true", 16008)
slow = curves("false", 16009)
print("data server:  ", fast)
print("Python loader:", slow)
assert fast == {"alone": [0, 1, 2, 3, 4, 5], "loss": [0, 1, 3, 5]}, fast
assert slow == {"alone": [0, 1, 2, 3, 4, 5], "loss": 500}, slow
PYTHON
"$folder/venv/bin/python" "$folder/curves.py"
