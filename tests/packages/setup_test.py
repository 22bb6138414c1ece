# SPDX-License-Identifier: Apache-2.0
"""How the scripts install packages on machines in trouble: with the real apt-get and dpkg, on folders of their own."""
import collections
import http.server
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class UnreliableMirror(http.server.BaseHTTPRequestHandler):
    """A mirror with an empty list of packages. It is overloaded when it is first asked for the list."""
    requests = collections.Counter()

    def do_GET(self):
        self.requests[self.path] += 1
        if not self.path.endswith("/Packages"):
            self.send_error(404)
        elif self.requests[self.path] == 1:
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def log_message(self, *arguments):
        pass


@unittest.skipUnless(shutil.which("apt-get") and shutil.which("dpkg"), "this system has no apt")
class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("lists/partial", "cache/archives/partial", "dpkg/updates", "dpkg/info", "dpkg/triggers", "empty", "bin"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "dpkg/status").touch()
        (self.folder / "dpkg/available").touch()
        self.set_apt('Dir::Etc::sourcelist "/dev/null";\n')
        self.environment = dict(os.environ, APT_CONFIG=str(self.folder / "apt.conf"), DPKG_ADMINDIR=str(self.folder / "dpkg"))

    def set_apt(self, more):
        (self.folder / "apt.conf").write_text(
            f'Dir::State "{self.folder}";\nDir::State::lists "{self.folder}/lists";\n'
            f'Dir::State::status "{self.folder}/dpkg/status";\nDir::Cache "{self.folder}/cache";\n'
            f'Dir::Etc::sourceparts "{self.folder}/empty";\n'
            # As a user who is not root, apt's own check would ask for its lock as well.
            f'APT::Update::Post-Invoke-Success "";\nAPT::Sandbox::User "";\n{more}', encoding="utf-8")

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.write_text("#!/bin/bash\n" + text + "\n", encoding="utf-8")
        path.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}/bin:{os.environ['PATH']}"

    def run_bash(self, command, **environment):
        result = subprocess.run(
            ["bash", "-c", f"set -euo pipefail; source tools/common.sh; {command}"], cwd=ROOT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**self.environment, **environment})
        return result.returncode, result.stdout

    def apt_get(self, arguments, **environment):
        # The folders belong to this user, so that root is not needed.
        self.program("sudo", 'exec "$@"')
        return self.run_bash(f"with_progress 'asking apt' apt_get {arguments}", **environment)

    def hold_lock(self):
        """Holds the lock of apt's lists, as another apt-get does. Returns a function that releases it."""
        # A process of its own: locks of fcntl do not exclude the process that holds them.
        holder = subprocess.Popen(
            ["python3", "-c", "import fcntl, sys\nlock = open(sys.argv[1], 'w')\nfcntl.lockf(lock, fcntl.LOCK_EX)\n"
             "print('held', flush=True)\nsys.stdin.read()", str(self.folder / "lists/lock")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(holder.stdout.readline(), "held\n")

        def release():
            holder.stdin.close()
            holder.wait()
            holder.stdout.close()

        return release

    def test_a_lock_that_another_program_holds_for_a_moment_is_waited_for(self):
        release = self.hold_lock()
        seen = []
        # Released once the message has been printed, so that it does not matter how fast this machine is.
        self.program("sudo", 'exec "$@"')
        process = subprocess.Popen(
            ["bash", "-c", "set -euo pipefail; source tools/common.sh; with_progress 'asking apt' apt_get update"],
            cwd=ROOT, text=True, stderr=subprocess.PIPE, env=self.environment)
        for line in process.stderr:
            seen.append(line)
            if "holds apt's lock" in line:
                release()
        self.assertEqual(process.wait(), 0, "".join(seen))
        process.stderr.close()
        self.assertEqual(sum("holds apt's lock; waiting for up to 300 s" in line for line in seen), 1, "".join(seen))

    def test_a_lock_that_stays_is_an_error_that_names_it(self):
        release = self.hold_lock()
        self.addCleanup(release)
        status, output = self.apt_get("update", STEPTAPE_APT_LOCK_SECONDS="0")
        self.assertNotEqual(status, 0)
        self.assertIn(f"Could not get lock {self.folder}/lists/lock", output)

    def test_an_interrupted_installation_is_finished_first(self):
        # What dpkg leaves when it is killed: a change that is not yet in its list of packages.
        (self.folder / "dpkg/updates/0000").write_text(
            "Package: steptape-probe\nStatus: deinstall ok config-files\nMaintainer: a\nArchitecture: all\n"
            "Version: 1\nDescription: a\n\n", encoding="utf-8")
        dpkg = shutil.which("dpkg")
        # In a folder of its own, dpkg is not asked for its logs and needs no rights.
        self.program("dpkg", f'exec {dpkg} --force-not-root --log=/dev/null "$@"')
        status, output = self.apt_get("install -y --no-install-recommends")
        self.assertEqual(status, 0, output)
        self.assertIn("an earlier installation was interrupted; finishing it: dpkg --configure -a", output)
        self.assertEqual(list((self.folder / "dpkg/updates").glob("[0-9]*")), [])

    def test_a_mirror_that_fails_once_is_asked_again(self):
        UnreliableMirror.requests.clear()
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), UnreliableMirror) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            (self.folder / "sources.list").write_text(
                f"deb [trusted=yes] http://127.0.0.1:{server.server_port} ./\n", encoding="utf-8")
            self.set_apt(f'Dir::Etc::sourcelist "{self.folder}/sources.list";\nAcquire::http::Proxy "DIRECT";\n')
            status, output = self.apt_get("update -o APT::Update::Error-Mode=any")
            server.shutdown()
        self.assertEqual(status, 0, output)
        self.assertEqual(UnreliableMirror.requests["/./Packages"], 2, UnreliableMirror.requests)

    def test_other_errors_of_apt_are_shown_and_not_repeated(self):
        status, output = self.apt_get("install -y steptape-no-such-package")
        self.assertNotEqual(status, 0)
        self.assertEqual(output.count("Unable to locate package steptape-no-such-package"), 1, output)

    def test_without_rights_one_line_says_what_to_install_and_how(self):
        self.program("sudo", "exit 1")
        cases = {"STEPTAPE_NO_INSTALL=1 ": "missing packages; install them as root"}
        if os.geteuid() != 0:
            cases[""] = "sudo refused; install these as root and run again"
        for setting, message in cases.items():
            with self.subTest(message):
                status, output = self.run_bash(f"{setting}install_packages ninja-build ccache")
                self.assertNotEqual(status, 0)
                self.assertEqual(
                    output, f"[steptape] {message}: apt-get install --no-install-recommends ninja-build ccache\n")

    @unittest.skipUnless((ROOT / ".venv/bin/python3").exists(), "tools/setup.sh has not run")
    def test_another_run_finds_the_python_packages_that_the_first_has_installed(self):
        result = subprocess.run(
            ["tools/setup.sh", "--tests"], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, STEPTAPE_NO_INSTALL="1"))
        self.assertNotIn("missing: Python packages", result.stdout)


if __name__ == "__main__":
    unittest.main()
