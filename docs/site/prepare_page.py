#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's input filter for Markdown: prints a page as the site needs it.

    STEPTAPE_SOURCE_URL=https://example.org/steptape/tree/main prepare_page.py docs/distributed.md

Every page gets a short name, which becomes its address: distributed.html. A link to a file that is
no page of the site leads to that file below STEPTAPE_SOURCE_URL. All else stays as GitHub reads it.
"""

import html
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Name and title of the pages whose file name gives none; Doxygen has a page `examples` of its own.
NAMED = {
    "README.md": ("overview", "Overview"),
    "examples/README.md": ("example_programs", "Examples"),
    "CONTRIBUTING.md": ("contributing", "Contributing"),
}
MAIN_PAGE = "docs/index.md"
PICTURES = (".png", ".svg")
# A code span, which stays as it is, or a link: its text, which may hold code spans, and its target.
SPAN = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^()\s]+)\)|`[^`]*`")


def is_shown(path):
    """Whether the site has this file: a page or a picture."""
    return (path.suffix in PICTURES or path.match("docs/*.md") or str(path) in NAMED)


def site_target(folder, target):
    path = os.path.normpath(folder / target.partition("#")[0])
    if re.match("[a-z]+:|#", target) or is_shown(Path(path)):
        return target
    return f"{os.environ['STEPTAPE_SOURCE_URL']}/{path}"


def site_span(folder, span):
    """Doxygen shows the backticks of a code span in a link's text, but knows <tt>."""
    if span[1] is None:
        return span[0]
    text = re.sub("`([^`]*)`", lambda code: f"<tt>{html.escape(code[1])}</tt>", span[1])
    return f"[{text}]({site_target(folder, span[2])})"


def prepare(page):
    name, title = NAMED.get(str(page), (page.stem.lower(), None))
    is_code = False
    is_named = str(page) == MAIN_PAGE
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and not is_named and line.startswith("# "):
            is_named = True
            line = f"# {title or line[2:].rstrip()} {{#{name}}}\n"
        elif not is_code:
            line = SPAN.sub(lambda span: site_span(page.parent, span), line)
        yield line


if __name__ == "__main__":
    sys.stdout.writelines(prepare(Path(sys.argv[1]).resolve().relative_to(ROOT)))
