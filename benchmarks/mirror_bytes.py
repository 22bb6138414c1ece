#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the bytes that an hour of training sends to a bucket, with a mirror and with tensorboardX.

    PYTHONPATH=build/release/python:tests/interop benchmarks/mirror_bytes.py [--tags 20] [--seconds 60]

Both log 20 scalars a second of an hour into a bucket of moto's server, and bring new data there every 30 s; tensorboardX
also every 120 s, its default. The hour passes in --seconds: all periods are as much shorter. What is counted passes a
proxy: requests with their headers, and without the answers. Then both runs are read from the bucket.
"""

import argparse
import os
import socket
import tempfile
import threading
import time

import boto3
import tensorboardX
from tbparse import SummaryReader

import bucket_servers
import steptape

HOUR = 3600


class CountingProxy:
    """Passes connections on to a server, and counts what clients send."""

    def __init__(self, port):
        self.sent = 0
        self._server = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(self._server)
            threading.Thread(target=self._pass_on, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, False), daemon=True).start()

    def _pass_on(self, source, target, is_counted):
        try:
            while data := source.recv(1 << 16):
                self.sent += len(data) if is_counted else 0
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def train(writer, tags, seconds):
    """An hour of a loop that logs `tags` scalars a second."""
    began = time.monotonic()
    for second in range(HOUR):
        for tag in range(tags):
            writer.add_scalar(f"loss/part_{tag}", 1 / (second + tag + 1), second)
        time.sleep(max(0.0, began + (second + 1) * seconds / HOUR - time.monotonic()))
    writer.close()


def points_in(client, prefix):
    """The number of scalars that the bucket holds below a prefix."""
    with tempfile.TemporaryDirectory() as directory:
        for entry in client.list_objects_v2(Bucket="bucket", Prefix=prefix)["Contents"]:
            if "tfevents" in entry["Key"]:
                client.download_file("bucket", entry["Key"], os.path.join(directory, entry["Key"].rsplit("/", 1)[1]))
        return len(SummaryReader(directory).scalars)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tags", type=int, default=20)
    arguments.add_argument("--seconds", type=float, default=60)
    options = arguments.parse_args()
    scale = options.seconds / HOUR
    with bucket_servers.moto() as server, tempfile.TemporaryDirectory() as directory:
        proxy = CountingProxy(server.port)
        os.environ["AWS_ENDPOINT_URL"] = os.environ["S3_ENDPOINT"] = f"http://127.0.0.1:{proxy.port}"
        client = boto3.client("s3")
        writers = {
            "mirror": lambda: steptape.SummaryWriter(f"{directory}/run", mirror="s3://bucket/mirror",
                                                     mirror_secs=30 * scale),
            "tensorboardX, 30 s": lambda: tensorboardX.SummaryWriter("s3://bucket/every_30", flush_secs=30 * scale),
            "tensorboardX, 120 s": lambda: tensorboardX.SummaryWriter("s3://bucket/every_120", flush_secs=120 * scale),
        }
        prefixes = dict(zip(writers, ("mirror/", "every_30/", "every_120/")))
        sent = {}
        for name, make in writers.items():
            before = proxy.sent
            train(make(), options.tags, options.seconds)
            sent[name] = proxy.sent - before
            points = points_in(client, prefixes[name])
            objects = client.list_objects_v2(Bucket="bucket", Prefix=prefixes[name])["KeyCount"]
            print(f"{name:24} {sent[name] / 1e6:8.1f} MB sent, {points} points in {objects} objects", flush=True)
            assert points == HOUR * options.tags, points
    for name in list(writers)[1:]:
        print(f"{name} / mirror: {sent[name] / sent['mirror']:.1f}")


if __name__ == "__main__":
    main()
