# SPDX-License-Identifier: Apache-2.0
"""The records of event files, written and read byte by byte, also those of damaged files."""

import struct

from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

HEADER_SIZE = 12
FOOTER_SIZE = 4


def record(payload):
    length = struct.pack("<Q", len(payload))
    return length + _checksum(length) + payload + _checksum(payload)


def intact_payloads(data):
    """The payloads of all records whose two checksums are correct, wherever they begin."""
    payloads = []
    offset = 0
    while offset + HEADER_SIZE + FOOTER_SIZE <= len(data):
        payload = _payload_at(data, offset)
        if payload is None:
            offset += 1
        else:
            payloads.append(payload)
            offset += HEADER_SIZE + len(payload) + FOOTER_SIZE
    return payloads


def _payload_at(data, offset):
    (length,) = struct.unpack_from("<Q", data, offset)
    end = offset + HEADER_SIZE + length
    if end + FOOTER_SIZE > len(data) or data[offset + 8:offset + HEADER_SIZE] != _checksum(data[offset:offset + 8]):
        return None
    payload = data[offset + HEADER_SIZE:end]
    return payload if data[end:end + FOOTER_SIZE] == _checksum(payload) else None


def _checksum(data):
    return struct.pack("<I", masked_crc32c(data))
