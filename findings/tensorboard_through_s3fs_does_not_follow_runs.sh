#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TensorBoard: with s3fs and without boto3, a run in a bucket stays as it was at the first look, and later runs do not
# appear.
#
# Believed: TensorBoard reads s3:// by boto3 or, without it, by fsspec and s3fs, and follows a run either way. Seen: s3fs
# keeps the listing of a folder as long as the process lives, and takes the sizes of objects from it. TensorBoard uses one
# file system for all reloads, and does not clear it. So each reload finds the points of the first one and no other run,
# without a message. A second reader in that process finds no run at all: s3fs refuses an object that is not the one it once
# listed. With boto3 installed TensorBoard does not use s3fs, and shows all.
#
# Versions: tensorboard 2.21.0, s3fs 2026.9.0, boto3 1.43.117, moto 5.2.5 as the server, from PyPI. Needs python3 with venv
# and network access. Fails if that changes.
set -euo pipefail
export AWS_EC2_METADATA_DISABLED=true AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret AWS_DEFAULT_REGION=us-east-1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile tensorboard==2.21.0 s3fs==2026.9.0 aiobotocore==3.10.0 boto3==1.43.117 \
    botocore==1.43.117 'moto[s3]==5.2.5' flask flask-cors 'setuptools<81'

cat >"$folder/follow.py" <<'PYTHON'
import io
import os
import subprocess
import sys

import botocore.session
if sys.argv[1] == "s3fs":
    sys.modules["boto3"] = None  # as where it is not installed
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def put(run, points):
    """Replaces the event file of a run by one with this many points, as a writer to S3 does."""
    file = io.BytesIO()
    writer = RecordWriter(file)
    writer.write(event_pb2.Event(wall_time=1, file_version="brain.Event:2").SerializeToString())
    for step in range(points):
        summary = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="loss", simple_value=step)])
        writer.write(event_pb2.Event(wall_time=2 + step, step=step, summary=summary).SerializeToString())
    client.put_object(Bucket="bucket", Key=f"runs/{run}/events.out.tfevents.1.host", Body=file.getvalue())


def points(multiplexer):
    multiplexer.AddRunsFromDirectory("s3://bucket/runs")
    multiplexer.Reload()
    return {run: len(multiplexer.Tensors(run, "loss")) for run, tags in multiplexer.Runs().items() if tags["tensors"]}


if sys.argv[1] == "serve":
    from moto.server import ThreadedMotoServer
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    os.environ["AWS_ENDPOINT_URL"] = os.environ["S3_ENDPOINT"] = "http://%s:%d" % server.get_host_and_port()
    for reader in ("boto3", "s3fs"):
        subprocess.run([sys.executable, __file__, reader], check=True)
    server.stop()
    sys.exit()
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
client = botocore.session.get_session().create_client("s3")
client.create_bucket(Bucket="bucket")
followed = EventMultiplexer()
seen = []
for run, count in (("a", 2), ("a", 5), ("b", 3)):
    put(run, count)
    seen.append(points(followed))
anew = points(EventMultiplexer())
client.delete_objects(Bucket="bucket", Delete={"Objects": [{"Key": f"runs/{run}/events.out.tfevents.1.host"} for run in "ab"]})
client.delete_bucket(Bucket="bucket")
print(f"{sys.argv[1]}: after 2 points of a: {seen[0]}, after 5: {seen[1]}, after 3 of b: {seen[2]}; opened anew: {anew}")
if sys.argv[1] == "s3fs":
    assert seen == [{"a": 2}] * 3 and anew == {}
else:
    assert seen == [{"a": 2}, {"a": 5}, {"a": 5, "b": 3}] and anew == seen[-1]
PYTHON
"$folder/venv/bin/python" "$folder/follow.py" serve 2>"$folder/log" || { tail -20 "$folder/log"; exit 1; }
