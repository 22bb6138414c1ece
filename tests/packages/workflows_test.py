# SPDX-License-Identifier: Apache-2.0
"""Checks GitHub's workflows and forms: they cannot run here, but everything they name must exist."""
import json
import pathlib
import re
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
# An action of GitHub's or of others: its commit, and as a comment the version that it is.
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+(\.\d+)*")


def parse(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def workflows():
    return sorted((GITHUB / "workflows").glob("*.yml"))


def triggers(workflow):
    # YAML 1.1 reads the key `on` as a Boolean.
    return workflow[True]


def commands(value):
    """All that jobs run, which `run` holds, or a matrix as `command`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("run", "command"):
                yield inner
            else:
                yield from commands(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from commands(inner)


def all_commands():
    return [(path.name, command) for path in workflows() for command in commands(parse(path))]


class Workflows(unittest.TestCase):
    def test_workflows_exist(self):
        self.assertGreater(len(workflows()), 4)

    def test_permissions_are_read_only_by_default(self):
        for path in workflows():
            with self.subTest(path.name):
                self.assertEqual(parse(path)["permissions"], {"contents": "read"})

    def test_only_jobs_for_a_tag_may_write(self):
        for path in workflows():
            workflow = parse(path)
            for name, job in workflow["jobs"].items():
                if job.get("permissions", {"contents": "read"}) != {"contents": "read"}:
                    with self.subTest(f"{path.name}, {name}"):
                        self.assertEqual(triggers(workflow), {"push": {"tags": ["v*"]}})

    def test_each_job_has_a_time_limit(self):
        for path in workflows():
            for name, job in parse(path)["jobs"].items():
                with self.subTest(f"{path.name}, {name}"):
                    self.assertTrue("timeout-minutes" in job or "uses" in job)

    def test_a_newer_run_replaces_or_follows_an_older_one(self):
        for path in workflows():
            with self.subTest(path.name):
                self.assertEqual(set(parse(path)["concurrency"]), {"group", "cancel-in-progress"})

    def test_actions_are_pinned_by_commit(self):
        uses = re.compile(r"^ *(?:- )?uses: (.*)$", re.MULTILINE)
        for path in workflows():
            for used in uses.findall(path.read_text(encoding="utf-8")):
                with self.subTest(f"{path.name}: {used}"):
                    if used.startswith("./"):
                        self.assertTrue((ROOT / used).is_file(), used)
                        self.assertIn("workflow_call", triggers(parse(ROOT / used)))
                    else:
                        self.assertRegex(used, rf"\A{PINNED.pattern}\Z")

    def test_one_action_has_one_version(self):
        versions = {}
        for path in workflows():
            for action, commit in re.findall(r"uses: ([^@\s]+)@(\w+)", path.read_text(encoding="utf-8")):
                self.assertEqual(versions.setdefault(action, commit), commit, action)

    def test_each_named_script_exists_and_accepts_the_option(self):
        named = []
        for workflow, command in all_commands():
            for script, option in re.findall(r"(?<!\S)((?:tools|tests)/[\w/.-]+)(?: (--[\w-]+))?", command):
                named.append(script)
                with self.subTest(f"{workflow}: {command}"):
                    self.assertTrue((ROOT / script).is_file(), script)
                    self.assertTrue((ROOT / script).stat().st_mode & 0o111, f"{script} is not executable")
                    self.assertIn(f"{option or ''}", (ROOT / script).read_text(encoding="utf-8"))
        expected = ("quickstart", "test", "lint", "cross", "fuzz", "package", "release", "docs")
        self.assertEqual({f"tools/{name}.sh" for name in expected} - set(named), set())

    def test_each_preset_that_a_script_or_workflow_names_exists(self):
        presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        texts = [command for _, command in all_commands()]
        texts += [path.read_text(encoding="utf-8") for path in (ROOT / "tools").glob("*.sh")]
        named = set()
        for text in texts:
            named.update(re.findall(r"--preset ([a-z][\w-]*)", text))
            named.update(re.findall(r"^(?:.*&& )?(?:CXX=\S+ )?configure ([a-z][\w-]*)$", text, re.MULTILINE))
        self.assertGreaterEqual(named, {"release", "fuzz", "aarch64", "deb", "static-tool"})
        self.assertEqual(named - presets, set())


class Forms(unittest.TestCase):
    def test_issue_forms_have_the_fields_that_github_requires(self):
        forms = [path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
        self.assertGreater(len(forms), 1)
        for path in forms:
            with self.subTest(path.name):
                form = parse(path)
                self.assertGreaterEqual(set(form), {"name", "description", "body"})
                identifiers = [field["id"] for field in form["body"] if field["type"] != "markdown"]
                self.assertEqual(len(identifiers), len(set(identifiers)))
                for field in form["body"]:
                    self.assertIn(field["type"], ("markdown", "input", "textarea", "dropdown", "checkboxes"))

    def test_dependabot_updates_the_actions(self):
        settings = parse(GITHUB / "dependabot.yml")
        self.assertEqual(settings["version"], 2)
        self.assertIn("github-actions", [update["package-ecosystem"] for update in settings["updates"]])


if __name__ == "__main__":
    unittest.main()
