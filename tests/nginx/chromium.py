# SPDX-License-Identifier: BSD-2-Clause
"""Chromium without a window, driven over a pipe by its own protocol: enough of it to look at a page."""
import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --disable-dev-shm-usage "
    "--disable-extensions --remote-debugging-pipe"
).split()


def program():
    return next((found for found in map(shutil.which, NAMES) if found), None)


def far(descriptor):
    """The same elsewhere: the browser looks at 3 and 4."""
    other = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return other


class Chromium:
    """One tab. `said` is what the console had to say, `asked` the addresses that were asked for."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        theirs_in, self.out, self.into, theirs_out = map(far, os.pipe() + os.pipe())

        def descriptors():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self.process = subprocess.Popen(
            [program(), *FLAGS, "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=descriptors, pass_fds=(3, 4), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer, self.number, self.session = b"", 0, None
        self.said, self.asked, self.answers = [], [], {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def take(self, message):
        method, params = message.get("method"), message.get("params", {})
        if "id" in message:
            self.answers[message["id"]] = message
        elif method == "Runtime.exceptionThrown":
            self.said.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.said.append(str([a.get("value", a.get("description")) for a in params["args"]]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.said.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(params["request"]["url"])

    def listen(self, seconds):
        ready, _, _ = select.select([self.into], [], [], max(seconds, 0))
        if not ready:
            return
        piece = os.read(self.into, 1 << 20)
        if not piece:
            raise RuntimeError("the browser has gone")
        *messages, self.buffer = (self.buffer + piece).split(b"\0")
        for message in messages:
            self.take(json.loads(message))

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while self.number not in self.answers:
            self.listen(end - time.monotonic())
            if time.monotonic() > end:
                raise RuntimeError(method + ": no answer")
        answer = self.answers.pop(self.number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.listen(end - time.monotonic())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression, seconds):
        """Seconds until it was so; None: it was not."""
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if self.evaluate(expression):
                return time.monotonic() - begin
            self.wait(0.02)
        return None

    def screen(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def go(self, address):
        self.call("Page.navigate", url=address)

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40}
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes[key], text=text if kind == "keyDown" else "")

    def picture(self, name):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(name, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
