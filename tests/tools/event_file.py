# SPDX-License-Identifier: Apache-2.0
"""Event files for tests of the tool, with nothing but Python: docs/event_file_format.md."""

import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked_crc(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(payload):
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc(length)) + payload + struct.pack("<I", masked_crc(payload))


def varint(number):
    encoded = b""
    while number >= 0x80:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def field(number, content):
    """A field with a length: a string or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def scalar(tag, value, step, wall_time):
    """A record with one scalar."""
    summary = field(1, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
    return record(b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + field(5, summary))


def curve(tag, values, first_wall_time=1000):
    """The records of a scalar series, one step and one second apart."""
    return b"".join(scalar(tag, value, step, first_wall_time + step) for step, value in enumerate(values))
