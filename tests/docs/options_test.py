# SPDX-License-Identifier: Apache-2.0
"""The documents and --help name the same options, with the same defaults.

docs/tool.md has a section for each command of `steptape`; "All commands" holds what they share. A
row of a table whose first cell is an option says its default in the column "default", where "–" is
none, or in the text, as `json` (default). examples/README.md shows the --help of each example,
which screens_test.py compares. Every command line in a document that runs one of these programs
has options that it knows. docs/python.md has the signature of steptape.read().

Environment: STEPTAPE_TOOL, the program; STEPTAPE_EXAMPLES, the examples, joined by
":". Those that were not built are not checked, as in tools/test.sh --quick.
"""

import ast
import functools
import os
import pathlib
import re
import shlex
import subprocess
import unittest
from dataclasses import dataclass

import documents

TOOL = os.environ["STEPTAPE_TOOL"]
EXAMPLES = {
    pathlib.Path(path).name: path
    for path in os.environ.get("STEPTAPE_EXAMPLES", "").split(":")
    if os.access(path, os.X_OK)
}
SHARED_SECTION = "All commands"
# Options in docs/tool.md that belong to other programs.
FOREIGN = {
    "--load_fast",
    "--grpc_data_provider",
    "--install",
    "--build",
    # of launchers and of a job's program
    "--bind-to",
    "--kill-on-bad-exit",
    "--quit-on-interrupt",
    "--overlap",
    "--mem",
    "--cpus-per-task",
    "--export",
    "--pty",
    "--no-kill",
    "--resume",
}

OPTION = re.compile(r"--[a-z][a-z_-]*")
NO_DEFAULT = "–"


@dataclass
class Option:
    default: str  # empty: none


@functools.cache
def help_of(*command):
    environment = os.environ | {"LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    result = subprocess.run([*command, "--help"], env=environment, capture_output=True, check=True)
    return result.stdout.decode("utf-8")


def tool_commands():
    commands = help_of(TOOL).split("\nCommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)", commands, re.MULTILINE)


def tool_options(*command):
    """The options by name, of the program or of one of its commands."""
    section = help_of(TOOL, *command).split("\nOptions:\n")[1].split("\n\n")[0]
    options = {}
    for entry in re.split(r"\n  (?=-)", "\n" + section)[1:]:
        text = " ".join(entry.split())
        default = re.search(r"\(default: (.*)\)$", text)
        options[OPTION.search(text).group()] = Option(default.group(1) if default else "")
    return options


def example_options(path):
    return set(OPTION.findall(help_of(path)))


class Section:
    """The description of a command in docs/tool.md."""

    def __init__(self, title):
        document = documents.read(documents.ROOT / "docs/tool.md")
        self.title = title
        self.rows = [row for row in document.rows if row.section == title]
        texts = [text for _, section, text in document.prose if section == title]
        texts += [" | ".join(row.cells) for row in self.rows]
        texts += [line for b in document.blocks if b.section == title for line in b.lines]
        self.text = "\n".join(texts)

    def names(self):
        return set(OPTION.findall(self.text))

    def defaults(self):
        """Returns the default of each option in the rows, or "" for none."""
        defaults = {}
        for row in self.rows:
            options = [OPTION.match(span) for span in documents.code_spans(row.cells[0])]
            if not options or not options[0]:
                continue
            if "default" in row.header:
                stated = row.cells[row.header.index("default")]
                defaults[options[0].group()] = "" if stated == NO_DEFAULT else stated
            elif stated := re.search(r"`([^`]+)` \(default\)", " ".join(row.cells)):
                defaults[options[0].group()] = stated.group(1)
        return defaults


def sections_of(command):
    """Sections with a title such as "inspect", or "completion and man"."""
    document = documents.read(documents.ROOT / "docs/tool.md")
    titles = {section for _, section, _ in document.prose}
    return [Section(title) for title in titles if command in title.split(" and ")]


class ToolOptions(unittest.TestCase):
    def setUp(self):
        self.shared = Section(SHARED_SECTION).names()

    def test_every_command_has_a_section(self):
        for command in tool_commands():
            self.assertEqual(len(sections_of(command)), 1, f"docs/tool.md: ## {command}")

    def test_every_option_is_documented(self):
        self.assertLessEqual(set(tool_options()), self.shared)
        for command in tool_commands():
            documented = self.shared | sections_of(command)[0].names()
            missing = set(tool_options(command)) - documented
            self.assertFalse(missing, f"docs/tool.md, section {command}: lacks these options")

    def test_every_documented_option_exists(self):
        every = {name for command in tool_commands() for name in tool_options(command)}
        unknown = self.shared - every - set(tool_options()) - FOREIGN
        self.assertFalse(unknown, f"docs/tool.md, section {SHARED_SECTION}: no such option")
        for title in {section.title for c in tool_commands() for section in sections_of(c)}:
            commands = title.split(" and ")
            known = {name for command in commands for name in tool_options(command)}
            unknown = Section(title).names() - known - FOREIGN
            self.assertFalse(unknown, f"docs/tool.md, section {title}: no such option")

    def test_every_default_is_documented(self):
        for command in tool_commands():
            stated = sections_of(command)[0].defaults()
            for name, option in tool_options(command).items():
                with self.subTest(command=command, option=name):
                    if option.default or name in stated:
                        self.assertEqual(stated.get(name, "not documented"), option.default)


def programs_in(line):
    """The commands of a shell line that run one of our programs: name, arguments."""
    for part in re.split(r"\|\|?|&&|;|<\(|\$\(", line):
        try:
            words = shlex.split(part.replace("[", "").replace("]", ""), comments=True)
        except ValueError:  # a quotation that continues in another part: text for another program
            words = part.split()
        for index, word in enumerate(words):
            name = word.rsplit("/", 1)[-1]
            if name == "steptape" or name in EXAMPLES:
                yield name, words[index + 1 :]
                break


def options_known_to(name, arguments):
    if name in EXAMPLES:
        return example_options(EXAMPLES[name])
    command = next((word for word in arguments if not word.startswith("-")), "")
    own = set(tool_options())
    return own | set(tool_options(command)) if command in tool_commands() else own


def command_lines(document):
    for block in document.blocks:
        if block.language in ("", "sh", "text", "console"):
            for number, line in enumerate(block.lines, block.line):
                if block.language == "sh" or line.startswith("$ "):
                    yield number, line.removeprefix("$ ")
    for number, _, text in document.prose:
        if text.startswith("    "):
            yield number, text
        for span in documents.code_spans(text):
            yield number, span
    for row in document.rows:
        for cell in row.cells:
            for span in documents.code_spans(cell):
                yield row.line, span


class CommandLines(unittest.TestCase):
    def test_they_have_options_that_the_program_knows(self):
        checked = 0
        for document in documents.all_documents():
            for number, line in command_lines(document):
                for name, arguments in programs_in(line):
                    if arguments[:1] == ["tensorboard"]:
                        continue  # the rest is for another program
                    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
                    names = {match.group() for word in own if (match := OPTION.match(word))}
                    checked += len(names)
                    with self.subTest(place=document.at(number), line=line):
                        self.assertFalse(names - options_known_to(name, arguments))
        self.assertGreater(checked, 20)

    def test_every_example_shows_its_help(self):
        document = documents.read(documents.ROOT / "examples/README.md")
        screens = [line for block in document.blocks for line in block.lines]
        for name in EXAMPLES:
            self.assertIn(f"$ {name} --help", screens)


def signature_of(path, name):
    """`read(path, run=None)` of a function in a Python file, without its types."""
    functions = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
    arguments = next(node.args for node in functions if node.name == name)
    parameters = [argument.arg for argument in arguments.args]
    if arguments.kwonlyargs:
        parameters.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        value = ast.literal_eval(default)
        text = f'"{value}"' if isinstance(value, str) else str(value)
        parameters.append(f"{argument.arg}={text}")
    return f"{name}({', '.join(parameters)})"


class PythonPackage(unittest.TestCase):
    def test_read_has_the_documented_arguments_and_defaults(self):
        document = documents.read(documents.ROOT / "docs/python.md")
        spans = [span for _, _, text in document.prose for span in documents.code_spans(text)]
        expected = signature_of(documents.ROOT / "python/steptape/_read.py", "read")
        self.assertIn("steptape." + expected, spans)


if __name__ == "__main__":
    unittest.main()
