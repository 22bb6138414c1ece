# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium through its DevTools pipe, with the standard library only."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from owned_process import OwnedProcess
from patience import PATIENCE_SECONDS


# TensorBoard's pages are web components and frames, which querySelector() does not search. Every script can use
# these functions.
FUNCTIONS = """
function childrenOf(node) {
  const frame = node.contentDocument ? [node.contentDocument] : [];
  return [...frame, ...(node.shadowRoot ? node.shadowRoot.childNodes : []), ...node.childNodes];
}
function textOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent;
  const hidden = ['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(node.nodeName);
  return hidden ? '' : childrenOf(node).map(textOf).join(' ');
}
function findBelow(node, selector) {
  const found = node.matches && node.matches(selector) ? [node] : [];
  return found.concat(...childrenOf(node).map(child => findBelow(child, selector)));
}
function findAll(path) {
  return path.split('>>').reduce(
      (nodes, selector) => nodes.flatMap(node => findBelow(node, selector)), [document]);
}
function boxOf(element) {
  let {x, y, width, height} = element.getBoundingClientRect();
  for (let frame = element.ownerDocument.defaultView.frameElement; frame;
       frame = frame.ownerDocument.defaultView.frameElement) {
    const outer = frame.getBoundingClientRect();
    x += outer.x;
    y += outer.y;
  }
  return [x, y, width, height];
}
"""


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    raise FileNotFoundError("Chromium is missing. Install it: tools/setup.sh --tests")


class Page(OwnedProcess):
    """One page in a separate browser; a context manager that always ends the browser."""

    def __init__(self, width=1400, height=900):
        self._width, self._height = width, height
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands_in, self._commands = os.pipe()
        self._answers, answers_out = os.pipe()
        # Chromium takes commands from descriptor 3 and answers on 4.
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{commands_in} 4>&{answers_out}', "bash",
             find_chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             # Only WebGL needs SwiftShader, which takes a third longer to draw the rest.
             "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
             "--disable-gpu-compositing", "--disable-gpu-rasterization",
             f"--user-data-dir={self._profile.name}", f"--window-size={width},{height}"],
            pass_fds=(commands_in, answers_out), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(commands_in)
        os.close(answers_out)
        self._buffer = b""
        self._last_id = 0
        self._session = None
        self._errors = []

    def _begin(self):
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target,
                                   flatten=True)["sessionId"]
        self._call("Emulation.setDeviceMetricsOverride", width=self._width,
                   height=self._height, deviceScaleFactor=1, mobile=False)
        self._call("Runtime.enable")
        self._call("Log.enable")

    def _release(self):
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()

    def open(self, url):
        # An address that differs only after '#' would not reload the page.
        self._call("Page.navigate", url="about:blank")
        self._errors.clear()
        self._call("Page.navigate", url=url)

    def evaluate(self, script):
        answer = self._call("Runtime.evaluate", expression=FUNCTIONS + script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{answer['exceptionDetails']} in {script}")
        return answer["result"].get("value")

    def wait_for(self, script, what):
        """Waits until a script returns a true value, and returns it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            result = self.evaluate(script)
            if result:
                return result
            time.sleep(0.25)
        raise TimeoutError(f"{what}: not on the page, which says: {self.text()[:2000]}")

    def wait_for_text(self, text):
        """Waits for text; white space does not count, as TensorBoard cuts tags into elements."""
        wanted = json.dumps("".join(text.split()))
        self.wait_for(f"textOf(document).replace(/\\s/g, '').includes({wanted})", text)

    def text(self):
        return " ".join(self.evaluate("textOf(document)").split())

    # A path is a CSS selector, which is searched everywhere, components included, or several selectors
    # joined by '>>', each of which is searched below the match of the previous one.

    def all(self, path, expression="textOf(e).trim()"):
        """Returns an expression's value for each element `e` at a path."""
        return self.evaluate(f"findAll({json.dumps(path)}).map(e => {expression})")

    def box(self, path, index=0):
        """Scrolls to an element, and returns its (x, y, width, height) in the window."""
        return self.wait_for(
            "(e => e && (e.scrollIntoView({block: 'center', behavior: 'instant'}), boxOf(e)))"
            f"(findAll({json.dumps(path)})[{index}])", path)

    def click(self, path, text):
        """Clicks the element at a path that has this text, its white space as in `text`."""
        self.wait_for(f"(e => e && (e.click(), true))(findAll({json.dumps(path)}).find("
                      f"e => textOf(e).trim().replace(/\\s+/g, ' ') === {json.dumps(text)}))", text)

    def double_click(self, path):
        """Double-clicks the first element at a path, also while it moves."""
        self.wait_for("(e => e && (e.dispatchEvent(new MouseEvent('dblclick', {bubbles: true})), true))"
                      f"(findAll({json.dumps(path)})[0])", path)

    def screenshot(self, box=None):
        """The page as it looks, or a box (x, y, width, height) of it, as a PNG file's bytes."""
        clip = {"clip": dict(zip(("x", "y", "width", "height"), box), scale=1)} if box else {}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return base64.b64decode(
                    self._call("Page.captureScreenshot", format="png", **clip)["data"])
            except RuntimeError as error:
                # While an address is being opened there may be no page to take a picture of.
                if "Not attached to an active page" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.25)

    def errors(self):
        """Returns the errors in the browser's console, each with its source."""
        self.evaluate("0")  # Whatever was reported before has then arrived.
        return list(self._errors)

    def _call(self, method, **parameters):
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self._receive(deadline)
            if answer.get("id") != self._last_id:
                self._note(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def _note(self, event):
        parameters = event.get("params", {})
        method = event.get("method")
        if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            self._errors.append(f"{entry['text']} ({entry.get('url', '')})")
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            exception = details.get("exception", {}).get("description", "")
            self._errors.append(f"{details['text']} {exception}")
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            words = [str(argument.get("value", argument.get("description", "")))
                     for argument in parameters["args"]]
            self._errors.append(" ".join(words))

    def _receive(self, deadline):
        while b"\0" not in self._buffer:
            left = max(0, deadline - time.monotonic())
            if not select.select([self._answers], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise ConnectionError("Chromium has ended")
            self._buffer += data
        answer, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(answer)
