#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A generated family of headers is read or refused exactly as by the format's own library."""

import json
import os
import random
import struct
import subprocess
import tempfile
import unittest

import safetensors

DATA = bytes(range(8))
TENSOR = '{"dtype":"F32","shape":[1],"data_offsets":[0,4]}'
FIELDS = TENSOR[1:]
SECOND = '"b":{"dtype":"U8","shape":[2,2],"data_offsets":[4,8]}'
TYPES = ["BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0",
         "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64",
         "I64", "U64", "f32", "C128", "I4", ""]
# Values for the place of any other one.
VALUES = ["null", "true", "0", "-0", "-1", "4", "4.0", "4e0", "1e999", "1e-999", "01",
          "123456789012345678901234567890", "18446744073709551616", '""', '"F32"', '"\\ud800"',
          '"\\u0046"', '"\x01"', "{}", "[]", "[[]]", "[0,4]", "[4,8]", "[8,8]", "[0,4,4]", "[1,0]",
          '{"F32":null}', '{"F32":{}}', '{"F32":null,"F32":null}', '["F32",[1],[0,4]]',
          '["F32",[1],[0,4],1]', '["F32",[1]]', TENSOR, "NaN", "'x'"]
# Text for between any two tokens, or in place of one.
INSERTIONS = [" ", "\n", "\t", "\r", "\x0b", "\0", ",", ":", "{", "}", "[", "]", "1", '"', '"foo":1,',
              '"foo":1e999,', '"foo":[{"foo":null}],', '"dtype":"U8",', '"shape":[1],', "/**/",
              '"__metadata__":null,', '"__metadata__":{},', '"__metadata__":{"a":"1","a":"2"},',
              '"__metadata__":{"a":1},', '"__metadata__":[],', '"\\u005f_metadata__":{"a":"b"},',
              '"a":' + TENSOR + ",", SECOND + ",", "\ufeff", "\xa0"]


def of_types():
    for name in TYPES:
        for shape, size in (("[]", 1), ("[8]", 8), ("[2,4]", 8), ("[1]", 4), ("[8,0]", 0), ("[3]", 2)):
            for bits in (4, 6, 8, 16, 32, 64):
                end = size * bits // 8
                yield (f'{{"a":{{"dtype":"{name}","shape":{shape},"data_offsets":[0,{end}]}}}}',
                       bytes(end))


def of_shapes():
    for shape in ("[0,1099511627776,1099511627776]", "[1099511627776,1099511627776,0]",
                  "[9223372036854775807,2,0]", "[9223372036854775807,3,0]", "[0,-1]", "[1.0]", "[-0]"):
        yield (f'{{"a":{TENSOR},"z":{{"dtype":"F64","shape":{shape},"data_offsets":[4,4]}}}}',
               DATA[:4])


def of_places():
    """Two or three tensors anywhere, also of one name."""
    places = ("[0,4]", "[4,8]", "[0,8]", "[4,4]", "[2,6]", "[8,12]", "[8,4]", "[0,0]", "[8,8]")
    sizes = {"[0,4]": 4, "[4,8]": 4, "[0,8]": 8, "[2,6]": 4, "[8,12]": 4}
    for first in places:
        for second in places:
            for names in ("ab", "aa", "aab"):
                tensors = [f'"{name}":{{"dtype":"U8","shape":[{sizes.get(place, 0)}],'
                           f'"data_offsets":{place}}}'
                           for name, place in zip(names, (first, second, "[4,8]"))]
                yield "{" + ",".join(tensors) + "}", DATA


def of_depths():
    for depth in (1, 124, 125, 126, 127, 128, 1000):
        for begin, end in (("[", "]"), ('{"k":', "}")):
            yield f'{{"a":{{"foo":{begin * depth}1{end * depth},{FIELDS}}}', DATA[:4]


def tokens_of(header):
    """Splits a header without escapes into strings, numbers and single characters."""
    tokens, begin = [], 0
    while begin < len(header):
        end = begin + 1
        if header[begin] == '"':
            end = header.index('"', end) + 1
        elif header[begin].isdigit():
            while header[end].isdigit():
                end += 1
        tokens.append(header[begin:end])
        begin = end
    return tokens


def of_edits():
    """Every text between any two tokens, every value for any token, and random pairs of edits."""
    header = f'{{"__metadata__":{{"k":"v"}},"a":{TENSOR},{SECOND}}}'
    tokens = tokens_of(header)
    for i in range(len(tokens) + 1):
        for text in INSERTIONS:
            yield "".join(tokens[:i]) + text + "".join(tokens[i:]), DATA
    for i in range(len(tokens)):
        for text in VALUES + [""]:
            yield "".join(tokens[:i]) + text + "".join(tokens[i + 1:]), DATA
    generator = random.Random(1)
    for _ in range(1500):
        edited = list(tokens)
        for _ in range(generator.choice((2, 2, 3))):
            i = generator.randrange(len(edited))
            edited[i] = generator.choice((generator.choice(VALUES), "", edited[i] * 2,
                                          generator.choice(INSERTIONS) + edited[i]))
        yield "".join(edited), DATA


def of_bytes():
    """What is no text."""
    for header in (b"", b"{}", b"{}\0\0\0\0\0\0", b"\xef\xbb\xbf{}", b'{"\xff":{}}', b"[]", b"null", b"  ",
                   b'{"a":{"foo":"\xed\xa0\x80",' + FIELDS.encode() + b"}", b"{}{}", b"\0{}"):
        yield header, b""
        yield header, DATA[:4]


class Headers(unittest.TestCase):
    def setUp(self):
        self.directory = self.enterContext(tempfile.TemporaryDirectory())

    def contents(self, files):
        """Returns what our library says of each file."""
        paths = []
        for i, content in enumerate(files):
            paths.append(os.path.join(self.directory, str(i)))
            with open(paths[-1], "wb") as file:
                file.write(content)
        run = subprocess.run([os.environ["STEPTAPE_SAFETENSORS_HEADERS"]], input="\n".join(paths),
                             capture_output=True, text=True, check=True)
        return list(zip(paths, map(json.loads, run.stdout.splitlines()), strict=True))

    @staticmethod
    def expected(path, content):
        """Returns what the format's own library says, None if it refuses the file."""
        try:
            tensors = safetensors.deserialize(content)
            with safetensors.safe_open(path, "np") as file:
                metadata = file.metadata()
        except safetensors.SafetensorError:
            return None
        signed = [[name, [tensor["dtype"], tensor["shape"],
                          [byte - 256 if byte > 127 else byte for byte in tensor["data"]]]]
                  for name, tensor in tensors]
        return {"tensors": dict(signed), "metadata": metadata or {}}

    def test_are_read_or_refused_as_by_the_formats_own_library(self):
        self.assertEqual(safetensors.__version__, "0.8.0")
        files = []
        for family in (of_types, of_shapes, of_places, of_depths, of_edits, of_bytes):
            for header, data in family():
                header = header if isinstance(header, bytes) else header.encode()
                files.append(struct.pack("<Q", len(header)) + header + data)
        read = 0
        for content, (path, ours) in zip(files, self.contents(files), strict=True):
            expected = self.expected(path, content)
            with self.subTest(file=content):
                if expected is None:
                    self.assertIn("; expected ", ours.get("refused", "it is read"))
                else:
                    read += 1
                    self.assertEqual(ours, expected)
        self.assertGreater(read, 500)
        self.assertGreater(len(files) - read, 500)


if __name__ == "__main__":
    unittest.main()
