#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links of the repository's Markdown files, or of the built site, without network.

    check_links.py
    check_links.py --site build/docs

A link to a file needs the file, an anchor needs the heading or element. Of an address only the form
is checked. Prints every broken link with its file and line; the exit code is 1 if there is one.
"""

import argparse
import re
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^()\s]+)(?: \"[^\"]*\")?\)|\b(?:href|src|srcset)=\"([^\"]*)\"")
HEADING = re.compile(r"#+ +(.*?)[ #]*$")
CODE_SPAN = re.compile(r"`[^`]*`")
# In headings a link counts as its text.
LINK_TEXT = re.compile(r"\[([^\]]*)\]\([^()]*\)")


def prose_lines(text):
    """The numbered lines outside of fenced and indented code."""
    fence = None
    after_blank = True
    for number, line in enumerate(text.splitlines(), 1):
        marker = re.match(r" {0,3}(```+|~~~+)", line)
        if fence:
            if marker and marker[1].startswith(fence):
                fence = None
        elif marker:
            fence = marker[1]
        elif not (after_blank and line.startswith("    ")):
            yield number, line
        after_blank = not line.strip() or (after_blank and line.startswith("    "))


def github_anchor(heading):
    """Returns GitHub's anchor of a heading."""
    text = LINK_TEXT.sub(r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_of(text):
    anchors = set(re.findall(r"\b(?:id|name)=\"([^\"]+)\"", text))
    counts = {}
    for _, line in prose_lines(text):
        heading = HEADING.match(line)
        if heading:
            anchor = github_anchor(heading[1])
            count = counts[anchor] = counts.get(anchor, -1) + 1
            anchors.add(f"{anchor}-{count}" if count else anchor)
    return anchors


def address_problem(address):
    parts = urllib.parse.urlsplit(address)
    if parts.scheme == "mailto":
        return None if re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]+", parts.path) else "no mail address"
    if parts.scheme != "https":
        return "expected https"
    return None if re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.netloc) else "no host name"


def markdown_problem(root, page, link):
    """Returns the problem of a page's link; None if there is none."""
    if re.match(r"[a-z]+:", link):
        return address_problem(link)
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(root):
        return "no such file in the repository"
    if anchor and target.suffix != ".md":
        return "an anchor in a file without headings"
    if anchor and anchor not in anchors_of(target.read_text(encoding="utf-8")):
        return f"no heading #{anchor}"
    return None


def markdown_files(root):
    """Returns pages of the repository only: no build folder, no third-party packages."""
    for path in sorted(root.rglob("*.md")):
        folders = path.relative_to(root).parts[:-1]
        if not any(name.startswith(("build", ".")) and name != ".github" for name in folders):
            yield path


def check_markdown(root):
    """Prints the broken links; returns (links, broken)."""
    links = broken = 0
    for page in markdown_files(root):
        for number, line in prose_lines(page.read_text(encoding="utf-8")):
            for match in LINK.finditer(CODE_SPAN.sub("code", line)):
                link = match[1] or match[2]
                links += 1
                problem = markdown_problem(root, page, link)
                if problem:
                    broken += 1
                    print(f"{page.relative_to(root)}:{number}: {link}: {problem}")
    return links, broken


class SitePage(HTMLParser):
    """Anchors of a page of the site, and its links with their lines."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif name in ("href", "src") and value and not re.match(r"[a-z]+:", value):
                self.links.append((self.getpos()[0], value))


def site_problem(folder, pages, page, link):
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return "no such file in the site"
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"no anchor #{anchor} in {target.relative_to(folder)}"
    return None


def check_site(folder):
    """Prints the broken links; returns (links, broken)."""
    pages = {path: SitePage(path) for path in sorted(folder.rglob("*.html"))}
    links = broken = 0
    for path, page in pages.items():
        for line, link in page.links:
            links += 1
            problem = site_problem(folder, pages, path, link)
            if problem:
                broken += 1
                print(f"{path.relative_to(folder)}:{line}: {link}: {problem}")
    return links, broken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, metavar="FOLDER", help="the built site instead")
    arguments = parser.parse_args()
    links, broken = check_site(arguments.site.resolve()) if arguments.site else check_markdown(ROOT)
    print(f"{links} links, {broken} broken")
    return 1 if broken or not links else 0


if __name__ == "__main__":
    sys.exit(main())
