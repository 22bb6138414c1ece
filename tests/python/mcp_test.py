#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`steptape mcp` answers a client of the Model Context Protocol about runs, and about nothing outside its root.

The client is that of the package mcp, and speaks to the server over stdio.
"""

import asyncio
import concurrent.futures
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import steptape

if importlib.util.find_spec("mcp") is not None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.server.mcpserver.exceptions import ToolError

    from steptape import _mcp

TOOL = os.environ["STEPTAPE_TOOL"]
PYTHONPATH = os.pathsep.join(entry for entry in sys.path if entry)
SERVER = [sys.executable, "-m", "steptape", "mcp"]
STEPS = 400


def write_run(path, lr, bad_step=None):
    with steptape.SummaryWriter(path) as writer:
        writer.add_hparams({"lr": lr}, {})
        for step in range(STEPS):
            writer.add_scalar("loss", math.nan if step == bad_step else 1 / (step + 1), step)
            writer.add_scalar("accuracy", step / STEPS, step)


def write_trace(path):
    """A trace of one step with one operator, as PyTorch's profiler writes it."""
    common = {"ph": "X", "pid": 1, "tid": 1}
    events = [common | {"cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 1000},
              common | {"cat": "cpu_op", "name": "aten::mm", "ts": 100, "dur": 600}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "traceEvents": events}, file)


DIE = """
import os, signal, sys, steptape
writer = steptape.SummaryWriter(sys.argv[1])
writer.add_scalar("loss", 1, 7)
os.kill(os.getpid(), signal.SIGKILL)
"""


class Server:
    """A session with a server of a root directory; its client lives in a thread, where one task opens and closes it."""

    def __init__(self, command, root, cwd):
        environment = {**os.environ, "STEPTAPE_PYTHON": sys.executable, "PYTHONPATH": PYTHONPATH,
                       "PATH": os.path.dirname(TOOL) + os.pathsep + os.environ["PATH"]}
        self._server = StdioServerParameters(command=command[0], args=[*command[1:], "--root", root], cwd=cwd,
                                             env=environment)
        self._loop = asyncio.new_event_loop()
        self._closed = asyncio.Event()
        self._session = concurrent.futures.Future()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self._thread.start()
        self._session.result()

    async def _serve(self):
        try:
            async with stdio_client(self._server) as streams, ClientSession(*streams) as session:
                await session.initialize()
                self._session.set_result(session)
                await self._closed.wait()
        except BaseException as error:
            if not self._session.done():
                self._session.set_exception(error)
            raise

    def _wait_for(self, call):
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def tools(self):
        return self._wait_for(self._session.result().list_tools()).tools

    def call(self, name, arguments):
        return self._wait_for(self._session.result().call_tool(name, arguments))

    def close(self):
        self._loop.call_soon_threadsafe(self._closed.set)
        self._thread.join()
        self._loop.close()


@unittest.skipIf(importlib.util.find_spec("mcp") is None, "got no package mcp; this test needs it")
class Mcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.root = os.path.join(cls.folder, "root")
        write_run(os.path.join(cls.root, "runs/a"), 0.1)
        write_run(os.path.join(cls.root, "runs/b"), 0.01, bad_step=300)
        write_run(os.path.join(cls.folder, "secret"), 1)
        os.mkdir(os.path.join(cls.root, "traces"))
        write_trace(os.path.join(cls.root, "traces/node_1.pt.trace.json"))
        subprocess.run([sys.executable, "-c", DIE, os.path.join(cls.root, "dead")], check=False)
        cls.server = Server(SERVER, cls.root, cls.folder)
        cls.addClassCleanup(cls.server.close)

    def ask(self, name, **arguments):
        """The texts of an answer, which must not be an error."""
        answer = self.server.call(name, arguments)
        texts = [content.text for content in answer.content]
        self.assertFalse(answer.is_error, texts)
        return texts

    def ask_for_json(self, name, **arguments):
        return json.loads(self.ask(name, **arguments)[0])

    def refusal(self, name, **arguments):
        answer = self.server.call(name, arguments)
        self.assertTrue(answer.is_error, answer.content)
        return answer.content[0].text

    def test_lists_tools_that_only_read_and_are_described(self):
        tools = self.server.tools()
        self.assertEqual({tool.name for tool in tools},
                         {"inspect", "runs", "export", "diff", "profile", "autopsy", "check_values"})
        for tool in tools:
            self.assertTrue(tool.annotations.read_only_hint, tool.name)
            self.assertRegex(tool.description, "^[A-Z]", tool.name)
            self.assertEqual(tool.input_schema["type"], "object", tool.name)

    def test_is_a_command_of_the_tool(self):
        server = Server([TOOL, "mcp"], self.root, self.folder)
        self.addCleanup(server.close)
        self.assertIn("inspect", {tool.name for tool in server.tools()})

    def test_inspects(self):
        [run] = (self.ask_for_json("inspect", paths=["runs"], run="a$"))["runs"]
        self.assertEqual(run["run"], "runs/a")
        loss = next(tag for tag in run["tags"] if tag["tag"] == "loss")
        self.assertEqual((loss["points"], loss["last_step"], loss["first_value"]), (STEPS, STEPS - 1, 1))

    def test_compares_all_runs(self):
        answer = self.ask_for_json("runs", paths=["runs/*"], metrics=["loss:min"], sort="lr", reverse=True, top=1)
        [run] = answer["runs"]
        self.assertEqual((run["run"], run["hparams"], run["step"]), ("runs/a", {"lr": 0.1}, STEPS - 1))
        self.assertAlmostEqual(run["metrics"]["loss:min"]["value"], 1 / STEPS)

    def test_exports_as_text(self):
        [text] = self.ask("export", paths=["runs/a"], tag="^loss", from_step=1, to_step=2)
        self.assertEqual(text, "step,loss\n1,0.5\n2,0.3333333432674408")

    def test_cuts_long_answers_off_and_says_so(self):
        text, *_ = self.ask("export", paths=["runs"], format="jsonl")
        self.assertRegex(text, r"\n\[cut off at 40,000 bytes; ask for fewer runs, tags or steps\]$")
        self.assertLess(len(text), 41_000)

    def test_diffs(self):
        answer = self.ask_for_json("diff", first="runs/a", second="runs/b", tag="loss")
        [tag] = answer["differing_tags"]
        self.assertEqual((tag["tag"], tag["first_step"], tag["values_there"][1]), ("loss", 300, "NaN"))

    def test_profiles(self):
        answer = self.ask_for_json("profile", paths=["traces"], compare="traces")
        self.assertIn("aten::mm", json.dumps(answer))
        [text] = self.ask("profile", paths=["traces/*.json"])
        self.assertIn('"aten::mm"', text)

    def test_tells_what_a_job_died_of(self):
        self.assertIn("SIGKILL", json.dumps(self.ask_for_json("autopsy", path="dead")))

    def test_judges_curves(self):
        answer = self.ask_for_json("check_values", paths=["runs"])
        findings = {run["run"]: [(finding["rule"], finding["tag"], finding["step"]) for finding in run["findings"]]
                    for run in answer["runs"]}
        self.assertEqual(findings, {"runs/a": [], "runs/b": [("not-finite", "loss", 300)]})
        answer = self.ask_for_json("check_values", paths=["runs"], leave_out=["not-finite"])
        self.assertEqual([run["findings"] for run in answer["runs"]], [[], []])

    def test_returns_the_problems_of_damaged_files_beside_the_rest(self):
        damaged = os.path.join(self.root, "damaged")
        write_run(damaged, 1)
        for entry in os.scandir(damaged):
            with open(entry.path, "r+b") as file:
                file.seek(entry.stat().st_size // 2)
                file.write(bytes(8))
        answer, problems = self.ask("inspect", paths=["damaged"])
        self.assertEqual(len(json.loads(answer)["runs"]), 1)
        self.assertRegex(problems, "^problem: .*checksum")

    def test_passes_on_the_errors_of_the_tool(self):
        self.assertRegex(self.refusal("runs", paths=["runs"], metrics=["los"]),
                         r'--metric: got "los".*expected "loss"')
        self.assertRegex(self.refusal("inspect", paths=["runs"], tag="("),
                         r'--tag: got "\("; expected a regular expression')
        self.assertRegex(self.refusal("autopsy", path="traces"), "no state of a process is here")
        self.assertIn("paths", self.refusal("inspect"))

    def test_refuses_paths_that_are_not_in_the_root(self):
        for path in ("../secret", os.path.join(self.folder, "secret"), "runs/../../secret", "../*", "/etc/passwd"):
            self.assertRegex(self.refusal("inspect", paths=["runs", path]), "outside .*; expected one inside")
        for path in ("missing", "missing/*", r"\.\./secret", "--output=x", "a\0b"):
            self.assertRegex(self.refusal("inspect", paths=[path]), "expected a directory or a file in ")
        self.assertRegex(self.refusal("profile", paths=["traces"], compare="../secret"), "outside")

    def test_refuses_links_that_lead_out_of_the_root(self):
        secret = os.path.join(self.folder, "secret")
        folder = os.path.join(self.root, "linked")
        self.addCleanup(shutil.rmtree, folder)
        os.mkdir(folder)
        link = os.path.join(self.root, "link")
        os.symlink(secret, link)
        self.addCleanup(os.remove, link)
        self.assertRegex(self.refusal("inspect", paths=["link"]), "outside")
        self.assertRegex(self.refusal("inspect", paths=["."]), "got the link link, which leads out of ")
        os.symlink(os.path.join(self.root, "runs/a"), os.path.join(folder, "latest"))
        os.symlink(folder, os.path.join(folder, "loop"))
        self.assertEqual(len((self.ask_for_json("inspect", paths=["linked"]))["runs"]), 1)
        [file] = os.listdir(secret)
        os.symlink(os.path.join(secret, file), os.path.join(folder, file))
        self.assertRegex(self.refusal("inspect", paths=["linked"]), f"got the link linked/{file}")

    def test_stops_a_tool_that_does_not_answer(self):
        program = os.path.join(self.folder, "silent")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec tail -f /dev/null\n")
        os.chmod(program, 0o755)
        self.addCleanup(setattr, _mcp, "SECONDS", _mcp.SECONDS)
        _mcp.SECONDS = 0.5
        with self.assertRaisesRegex(ToolError, "no answer of 'steptape inspect' in 0.5 s"):
            asyncio.run(_mcp._Runs(self.root, program).ask("inspect", ["runs"]))

    def test_refuses_a_root_that_is_no_directory(self):
        done = subprocess.run([*SERVER, "--root", "missing"], cwd=self.folder, capture_output=True, text=True,
                              check=False, env={**os.environ, "PYTHONPATH": PYTHONPATH})
        self.assertEqual(done.returncode, 2)
        self.assertIn("--root: got missing; expected a directory", done.stderr)


if __name__ == "__main__":
    unittest.main()
