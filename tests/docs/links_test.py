#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the links of the repository's Markdown files, and the link checker itself."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import check_links


def broken_links(pages, check=check_links.check_markdown):
    """The lines that the checker prints for files, given as {name: text}."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        root = Path(folder).resolve()
        for name, text in pages.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        check(root)
    return out.getvalue().splitlines()


class Repository(unittest.TestCase):
    def test_has_no_broken_link(self):
        links, broken = check_links.check_markdown(check_links.ROOT)
        self.assertEqual(broken, 0)
        self.assertGreater(links, 100)


class Checker(unittest.TestCase):
    def test_accepts_files_and_headings(self):
        pages = {"a.md": "[b](docs/b.md#two-words-1)\n", "docs/b.md": "## Two `words`\n## Two words\n[a](../a.md)\n"}
        self.assertEqual(broken_links(pages), [])

    def test_names_the_line_of_a_missing_file(self):
        self.assertEqual(broken_links({"a.md": "\n![x](x.png)\n"}), ["a.md:2: x.png: no such file in the repository"])

    def test_names_a_missing_heading(self):
        self.assertEqual(broken_links({"a.md": "# A\n[x](#b)\n"}), ["a.md:2: #b: no heading #b"])

    def test_refuses_a_file_outside_of_the_repository(self):
        self.assertEqual(len(broken_links({"a.md": "[x](..)\n"})), 1)

    def test_checks_the_form_of_addresses(self):
        text = "[a](http://example.org) [b](https://example) [c](https://example.org/x) [d](mailto:a@example.org)\n"
        self.assertEqual(broken_links({"a.md": text}),
                         ["a.md:1: http://example.org: expected https", "a.md:1: https://example: no host name"])

    def test_ignores_code(self):
        self.assertEqual(broken_links({"a.md": "`[x](y)`\n\n```cpp\n[x](y)\n# no heading\n```\n"}), [])

    def test_finds_missing_pages_and_anchors_of_a_site(self):
        pages = {"a.html": '<a id="here"></a><a href="#here"></a>\n<a href="#gone"></a><img src="x.png">'}
        self.assertEqual(broken_links(pages, check_links.check_site),
                         ["a.html:2: #gone: no anchor #gone in a.html", "a.html:2: x.png: no such file in the site"])


if __name__ == "__main__":
    unittest.main()
