# SPDX-License-Identifier: Apache-2.0
"""The messages that documents quote are in the sources.

A message is quoted in double quotes, "cannot start a profiler while another one runs", as code that
has the form of an error, `…: got …; expected …`, or in a block without commands, as a line of that
form. Messages on screens are checked by screens_test.py, which makes the program print them.

The words of a message must come from string literals of the sources, each piece between two values
as a whole. Values, such as numbers, names of files and of hosts, may be anything.
"""

import functools
import pathlib
import re
import unittest

import documents

# Quotations that are not our messages, with their sources.
FOREIGN = {
    "is not a supported wheel on this platform": "pip",
    "memory block of unknown size was allocated before the profiling started": "LibTorch",
}
SOURCES = ("include", "src", "tools/steptape", "python/src", "python/steptape", "benchmarks")

LITERAL = r'(?:"(?:[^"\\\n]|\\.)*")'
QUOTED = re.compile(r'"([^"]+)"')
ERROR = re.compile(r"\bgot\b.*\bexpected\b")
# A replacement field of a format string or an f-string, or an escape.
VALUE = re.compile(r"\{[^{}]*\}|\\.")


@functools.cache
def pieces():
    """Returns the texts between two values in any message of the sources."""
    found = set()
    for folder in SOURCES:
        for path in sorted((documents.ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".py"):
                found |= set(pieces_of(path))
    return found


def pieces_of(path: pathlib.Path):
    text = path.read_text(encoding="utf-8")
    for literals in re.findall(rf"{LITERAL}(?:\s+f?{LITERAL})*", text):
        joined = "".join(part[1:-1] for part in re.findall(LITERAL, literals))
        yield from (piece for piece in VALUE.split(joined) if has_words(piece))


def has_words(piece):
    return len(re.findall("[a-z]", piece)) > 2


def words_not_in_sources(message):
    """The words of `message` that no literal has, without its values."""
    if any(message in piece for piece in pieces()):
        return []
    covered = [False] * len(message)
    for piece in pieces():
        for begin, end in places_of(piece, message):
            covered[begin:end] = [True] * (end - begin)
    rest = "".join(" " if done else c for c, done in zip(message, covered))
    return [word for word in rest.split() if not is_value(word)]


def places_of(piece, message):
    """Where the message has the piece: begins and ends."""
    for form in {piece, piece.lstrip(), piece.rstrip()}:
        for match in re.finditer(re.escape(form), message):
            if is_whole(message, *match.span()):
                yield match.span()
    # A quotation may begin and end within a piece, at a word.
    words = [match.start() for match in re.finditer(r"\b\w", piece)]
    for begin in words:
        if message.startswith(piece[begin:].rstrip()):
            yield 0, len(piece[begin:].rstrip())
            break
    for end in reversed(words):
        if message.endswith(piece[:end].strip(" ;,.:")) and piece[:end].strip(" ;,.:"):
            yield len(message) - len(piece[:end].strip(" ;,.:")), len(message)
            break


def is_whole(message, begin, end):
    """Not a part of a longer word."""
    starts = begin == 0 or not (message[begin - 1].isalnum() and message[begin].isalnum())
    ends = end == len(message) or not (message[end - 1].isalnum() and message[end].isalnum())
    return starts and ends


def is_value(word):
    return not re.search("[A-Za-z]{2}", word) or re.search(r"[\d/._<>…]", word.strip(".,:;"))


def quotations(document):
    lines = [(number, text) for number, _, text in document.prose if not text.startswith("    ")]
    lines += [(row.line, " | ".join(row.cells)) for row in document.rows]
    for number, text in lines:
        for quotation in QUOTED.findall(re.sub("`[^`]*`", "", text)):
            if len(quotation.split()) > 2:
                yield number, quotation
        for span in documents.code_spans(text):
            if ERROR.search(span) or span.startswith("cannot "):
                yield number, span
    for block in document.blocks:
        if block.language in ("", "text") and not any(line.startswith("$ ") for line in block.lines):
            for number, line in enumerate(block.lines, block.line):
                if ERROR.search(line):
                    yield number, line


class Messages(unittest.TestCase):
    def test_are_those_of_the_program(self):
        checked = 0
        for document in documents.all_documents():
            for number, message in quotations(document):
                if message in FOREIGN:
                    continue
                checked += 1
                with self.subTest(place=document.at(number), message=message):
                    self.assertFalse(words_not_in_sources(message), "not in any source")
        self.assertGreater(checked, 3)

    def test_of_others_are_quoted(self):
        """Otherwise FOREIGN would list quotations that no longer exist."""
        every = {m for document in documents.all_documents() for _, m in quotations(document)}
        self.assertLessEqual(set(FOREIGN), every)


class Coverage(unittest.TestCase):
    """That the test would see a wrong word."""

    def test_takes_values_for_values(self):
        self.assertFalse(words_not_in_sources("cannot read runs/a.txt: got 3; expected 4"))

    def test_finds_words_that_no_source_has(self):
        message = "cannot zap a profiler while another one runs"
        self.assertIn("zap", words_not_in_sources(message))


if __name__ == "__main__":
    unittest.main()
