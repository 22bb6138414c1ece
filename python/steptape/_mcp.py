# SPDX-License-Identifier: Apache-2.0
"""The server of `steptape mcp`: the tool's reading commands for assistants, by the Model Context Protocol.

Each function below is a tool of the protocol; the assistant reads its docstring and types. It starts the program
`steptape` below the root directory, and returns what that prints.
"""

import argparse
import asyncio
import contextlib
import glob
import inspect as introspection
import os
import re
import signal
import sys
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from ._tool import tool

ANSWER_BYTES = 40_000
NOTES_BYTES = 4_000
SECONDS = 120
HINT = "Run with --help for more information.\n"  # of no use to an assistant
READABLE = re.compile(r"tfevents|\.(json|gz|pb|pftrace|state)")  # in the names of files that the program opens

Paths = Annotated[list[str], Field(min_length=1, description=(
    "Log directories, run directories, event files, or patterns such as 'seed_*', relative to the root directory; "
    "'.' is all of it"))]
Path = Annotated[str, Field(description="A path relative to the root directory")]
Run = Annotated[str | None, Field(description="Only runs whose directory contains a match of this regular expression")]
Tag = Annotated[str | None, Field(description="Only tags that contain a match of this regular expression: '^loss/'")]
Rule = Literal["not-finite", "spike", "divergence", "no-change", "stopped", "parted", "steps-wrapped", "milliseconds"]


class _Runs:
    """The root directory and the program. Thread-compatible; a call of a tool starts one process."""

    def __init__(self, root, program):
        self._root = os.path.realpath(root)
        self._program = program

    def _is_inside(self, path):
        return os.path.commonpath([self._root, path]) == self._root

    def _refuse_links_out_of(self, path):
        """The program follows links in directories; none may lead out of the root directory."""
        folders = [path]
        seen = {path}
        for folder in folders:
            try:
                names = os.listdir(folder)
            except OSError:  # no directory, or one that the program cannot read either
                continue
            for entry in (os.path.join(folder, name) for name in names):
                target = os.path.realpath(entry) if os.path.islink(entry) else entry
                is_folder = os.path.isdir(target)
                if (is_folder or READABLE.search(os.path.basename(entry))) and not self._is_inside(target):
                    raise ToolError(f"got the link {os.path.relpath(entry, self._root)}, which leads out of "
                                    f"{self._root}; expected a path without such links")
                if is_folder and target not in seen:
                    seen.add(target)
                    folders.append(target)

    def resolved(self, paths):
        """The paths as the program gets them: existing ones inside the root directory, without links and patterns."""
        resolved = []
        for path in paths:
            there = os.path.lexists(os.path.join(self._root, path))
            names = [path] if there else sorted(glob.glob(path.replace("\0", ""), root_dir=self._root))
            for name in names or [path]:
                real = os.path.realpath(os.path.join(self._root, name.replace("\0", "")))
                if not self._is_inside(real):
                    raise ToolError(f"got the path {name!r}, which is outside {self._root}; expected one inside")
                if not names:  # The program must not see it: its patterns differ.
                    raise ToolError(f"got the path {path!r}; expected a directory or a file in {self._root}")
                self._refuse_links_out_of(real)
                short = os.path.relpath(real, self._root)
                # `autopsy` takes a number for a job of Slurm.
                resolved.append(os.path.join(".", short) if short.isdigit() else short)
        return resolved

    async def ask(self, command, paths, *flags, **options):
        """Returns what the program prints on standard output, and its notes if there are any.

        `flags` are options without a value. Those of `options` that are None are left out; one with a list is repeated.
        """
        words = [command, *flags]
        for name, value in options.items():
            for each in value if isinstance(value, list) else [value]:
                if each is not None:
                    words.append(f"--{name.strip('_').replace('_', '-')}={each}")
        words += ["--", *await asyncio.to_thread(self.resolved, paths)]
        process = await asyncio.create_subprocess_exec(
            self._program, *words, cwd=self._root, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True)

        def stop():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and its children

        try:
            (answer, is_cut), (notes, _) = await asyncio.wait_for(
                asyncio.gather(_read(process.stdout, ANSWER_BYTES, stop), _read(process.stderr, NOTES_BYTES)), SECONDS)
        except BaseException as error:
            stop()
            if isinstance(error, asyncio.TimeoutError):
                raise ToolError(f"got no answer of 'steptape {command}' in {SECONDS} s; expected one: ask for less"
                                ) from error
            raise
        finally:
            code = await process.wait()
        # 1: a problem in some file, a finding or a difference, or no answer at all
        if not is_cut and (code not in (0, 1) or (code == 1 and not answer)):
            raise ToolError(notes or f"'steptape {command}' ended with exit code {code}; expected 0 or 1")
        return [text for text in (answer, notes) if text]


async def _read(stream, most, at_limit=None):
    """The first `most` bytes as text, and whether there were more, of which the text tells at its end."""
    kept = b""
    while piece := await stream.read(1 << 16):
        kept += piece[:most + 1 - len(kept)]
        if len(kept) > most and at_limit:
            at_limit()
    text = kept[:most].decode("utf-8", errors="replace").replace(HINT, "").strip()
    if len(kept) <= most:
        return text, False
    return f"{text}\n[cut off at {most:,} bytes; ask for fewer runs, tags or steps]", True


def _make_server(root, program):
    runs_below = _Runs(root, program)
    ask = runs_below.ask
    server = MCPServer("steptape", log_level="WARNING", instructions=(
        "Reads TensorBoard event files, the state that dead training jobs left, and profiler traces. Nothing is "
        "changed. Begin with `runs`, which compares all runs; `inspect` shows what one holds, `check_values` what is "
        "wrong with its curves, `autopsy` why it died, and `profile` where its time goes."))

    def reads(function):
        server.add_tool(function, description=introspection.cleandoc(function.__doc__), structured_output=False,
                        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
        return function

    @reads
    async def inspect(paths: Paths, run: Run = None, tag: Tag = None) -> list[str]:
        """What runs hold: files, damage, and of every tag the kind, the steps, and the first, last, smallest and
        largest value.

        Returns JSON: {"runs": [{"run", "files", "points", "tags": [{"tag", "plugin", "points", "first_step",
        "last_step", "last_value", ...}]}]}. "contents" describes the last value of histograms, images and texts.
        Problems of damaged files follow as a second text.
        """
        return await ask("inspect", paths, "--json", run=run, tag=tag)

    @reads
    async def runs(
            paths: Paths, run: Run = None,
            metrics: Annotated[list[str], Field(description="Scalars to show: TAG, TAG:last, TAG:min or TAG:max")] = [],
            where: Annotated[list[str], Field(description="Conditions that all hold: 'lr>0.01', 'state=killed'")] = [],
            sort: Annotated[str | None, Field(description=(
                "run, state, step, trained, age, sessions, a hyperparameter or a metric. The smallest comes first; of "
                "TAG:max the largest"))] = None,
            reverse: bool = False,
            top: Annotated[int, Field(ge=0, description="Only the first this many runs; 0: all")] = 0) -> list[str]:
        """All runs, one entry each, to compare them: hyperparameters, metrics, state.

        Returns JSON: {"runs": [{"run", "state", "step", "trained_seconds", "sessions", "age_seconds", "hparams",
        "metrics": {NAME: {"step", "value"}}}]}. "state" is "running", "hanging", "killed", "failed", "ended", or null.
        An error names the columns that there are.
        """
        return await ask("runs", paths, "--json", *(["--reverse"] if reverse else []), run=run,
                         metric=metrics, where=where, sort=sort, top=top)

    @reads
    async def export(
            paths: Paths, run: Run = None, tag: Tag = None, from_step: int | None = None, to_step: int | None = None,
            format: Annotated[Literal["csv", "json", "jsonl"], Field(description=(
                "csv: a row for each step, a column for each curve; json: {'RUN/TAG': [[wall time, step, value]]}; "
                "jsonl: every value of every kind, an object a line"))] = "csv") -> list[str]:
        """The logged values themselves, as text; no file is written.

        Long curves are cut off: name the tag and the steps, or see `inspect` and `check_values` first.
        """
        return await ask("export", paths, run=run, tag=tag, from_=from_step, to=to_step, format=format)

    @reads
    async def diff(
            first: Path, second: Path, tag: Tag = None,
            tolerance: Annotated[float, Field(ge=0, description="Equal up to this share of the larger value")] = 0,
            ) -> list[str]:
        """Where two runs differ: tags that only one has, and for each other tag the first step with another value.

        Returns JSON: {"same", "common_tags", "only_in_first", "only_in_second", "differing_tags": [{"tag",
        "differing_points", "first_step", "values_there", "last_values"}]}. Wall times are not compared.
        """
        return await ask("diff", [first, second], "--json", tag=tag, tolerance=tolerance)

    @reads
    async def profile(
            paths: Paths, by: Annotated[Literal["name", "shape", "module", "stack"] | None, Field(description=(
                "What makes two calls one row; not given: name"))] = None,
            sort: Annotated[Literal["self", "total", "calls"] | None, Field(description="Not given: self")] = None,
            top: Annotated[int, Field(ge=1, description="How many operators")] = 30,
            compare: Annotated[str | None, Field(description=(
                "An older trace or directory to compare with; excludes `sort`"))] = None) -> list[str]:
        """Where a training step spends its time, from traces of Steptape or PyTorch, or XProf's profiles.

        Returns JSON with each trace's steps and its operators. Self time is without the operators that an operator
        calls. Several traces are the ranks of a job. With `compare`, what takes longer per step than before.
        """
        older = (await asyncio.to_thread(runs_below.resolved, [compare]))[0] if compare else None
        return await ask("profile", paths, "--json", by=by, sort=sort, top=top, compare=older)

    @reads
    async def autopsy(path: Path = ".", every_job: Annotated[bool, Field(description=(
            "Every job of the log directory, not only the last one"))] = False) -> list[str]:
        """Why a training job died, or what it hangs in: who died first and of what, and where each rank was.

        Returns JSON with the verdict and each rank's state, step, phase, signal, stack, collective and last scalars.
        An error tells that nothing is left: the processes ended normally, or ran on another machine.
        """
        return await ask("autopsy", [path], "--json", *(["--all"] if every_job else []))

    @reads
    async def check_values(
            paths: Paths, run: Run = None, tag: Tag = None,
            leave_out: Annotated[list[Rule], Field(description="Rules to leave out")] = []) -> list[str]:
        """What is wrong with curves: NaN, spikes, divergence, standstill, tags that stop, a validation that parts from
        its training.

        Returns JSON: {"runs": [{"run", "tags", "points", "findings": [{"rule", "tag", "step", "value", "message"}]}]}.
        The curves of a run without findings are healthy by these rules.
        """
        return await ask("check", paths, "--values", "--json", run=run, tag=tag, leave_out=leave_out)

    return server


def main(arguments):
    parser = argparse.ArgumentParser("steptape mcp", description="Answers an assistant's questions about runs.")
    parser.add_argument("--root", default=".",
                        help="the directory with the runs; paths that lead out of it are refused")
    parser.add_argument("--tool", default=tool(), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not os.path.isdir(options.root):
        parser.error(f"--root: got {options.root}; expected a directory")
    if not options.tool:
        parser.error("got no program 'steptape'; expected the one that comes with the package")
    with contextlib.suppress(KeyboardInterrupt):
        _make_server(options.root, os.path.abspath(options.tool)).run("stdio")
    sys.exit(0)
