"""Chromium driven through its own protocol, over a pipe: no driver, no package, no port."""

import base64
import contextlib
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time

BROWSER = next(
    (b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), ""
)


class Chromium:
    """A headless browser; ``page()`` opens a page of its own."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()

        def place_pipes():  # the protocol speaks on 3 and 4
            read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, to_write))
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
                "--disable-extensions", "--disable-background-networking", "about:blank",
            ],
            preexec_fn=place_pipes, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._number, self._buffer = 0, b""
        self.events = []

    def call(self, method, session=None, **params):
        """Return the result of a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.events.append(found)

    def _read(self):
        while b"\0" not in self._buffer:
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._buffer += more
        first, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(first)

    def page(self, address, width=1200, height=1000, *, dark=False):
        """Open an address."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session, address, width, height, dark)

    def close(self):
        """End it."""
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        with contextlib.suppress(Exception):
            self.process.wait(30)
        if self.process.poll() is None:
            self.process.kill()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """One page, with what it asked for and what went wrong in it."""

    def __init__(self, browser, target, session, address, width, height, dark):
        self.browser, self.target, self.session = browser, target, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.do(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.do("Emulation.setEmulatedMedia", features=[scheme])
        self.go(address)

    def do(self, method, **params):
        """Return the result of a command of this page."""
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height):
        """Set the size of the window."""
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height,
                deviceScaleFactor=1, mobile=False)  # fmt: skip

    def go(self, address):
        """Open an address."""
        self.do("Page.navigate", url=address)

    def run(self, script):
        """Return the value of an expression."""
        found = self.do(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:600])
        return found["result"].get("value")

    def wait(self, condition, seconds=120):
        """Wait until an expression is true."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            with contextlib.suppress(RuntimeError):
                if self.run(f"Boolean({condition})"):
                    return
            time.sleep(0.02)
        raise AssertionError(
            f"{condition} did not come true; page: {self.run('document.body.innerText')[:500]}"
        )

    def give_file(self, selector, path):
        """Choose a file in a field."""
        root = self.do("DOM.getDocument")["root"]["nodeId"]
        node = self.do("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.do("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def unnamed(self):
        """Return the roles of what can be focused and has no name for a screen reader."""
        nodes = self.do("Accessibility.getFullAXTree")["nodes"]
        found = []
        for node in nodes:
            can = {p["name"] for p in node.get("properties", []) if p["value"].get("value")}
            named = node.get("name", {}).get("value", "").strip()
            if "focusable" in can and not named and not node.get("ignored"):
                found.append(node.get("role", {}).get("value"))
        return [role for role in found if role != "RootWebArea"]

    def press(self, key):
        """Press a key."""
        codes = {"End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "Tab": 9, " ": 32}  # fmt: skip
        for kind in ("keyDown", "keyUp"):
            self.do("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                    windowsVirtualKeyCode=codes[key])  # fmt: skip

    def picture(self, path):
        """Write a picture of the whole page."""
        found = self.do("Page.captureScreenshot", captureBeyondViewport=True,
                        clip={**self.size(), "x": 0, "y": 0, "scale": 1})  # fmt: skip
        with open(path, "wb") as file:
            file.write(base64.b64decode(found["data"]))

    def size(self):
        """Return the size of the whole page."""
        return self.run(
            "(({scrollWidth, scrollHeight}) => ({width: scrollWidth, height: scrollHeight}))"
            "(document.documentElement)"
        )

    def happened(self, method):
        """Return the events of a kind so far."""
        self.run("1")
        return [e["params"] for e in self.browser.events
                if e.get("method") == method and e.get("sessionId") == self.session]  # fmt: skip

    def faults(self):
        """Return what went wrong in the page."""
        thrown = [
            e["exceptionDetails"]["text"]
            + str(e["exceptionDetails"].get("exception", {}).get("description", ""))
            for e in self.happened("Runtime.exceptionThrown")
        ]
        logged = [
            e["entry"]["text"]
            for e in self.happened("Log.entryAdded")
            if e["entry"]["level"] == "error"
        ]
        said = [
            str(e["args"])
            for e in self.happened("Runtime.consoleAPICalled")
            if e["type"] in ("error", "warning")
        ]
        return thrown + logged + said

    def requests(self):
        """Return (address, what was sent) of all requests."""
        return [
            (e["request"]["url"], e["request"].get("postData"))
            for e in self.happened("Network.requestWillBeSent")
        ]

    def close(self):
        """Close it."""
        self.browser.call("Target.closeTarget", targetId=self.target)
