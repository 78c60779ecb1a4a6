"""A headless Chromium, driven over its debugging pipe: nothing but the browser itself is needed."""

import base64
import json
import os
import shutil
import subprocess

BROWSER = next((p for n in ("chromium", "chromium-browser", "google-chrome", "chrome") if (p := shutil.which(n))), None)


class Page:
    """One page; a context manager.  Messages are JSON between NUL bytes on file descriptors 3 (in) and 4 (out)."""

    def __init__(self, url, folder, width=1200, height=1600):
        read_in, self._to = os.pipe()
        self._from, write_out = os.pipe()
        for fd in (read_in, write_out):
            os.set_inheritable(fd, True)

        def arrange():  # in the child: the pipe's ends become 3 and 4
            spare_in, spare_out = os.dup(read_in), os.dup(write_out)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        self._process = subprocess.Popen(
            [BROWSER, *flags, f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"],
            close_fds=False, preexec_fn=arrange, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read_in)
        os.close(write_out)
        self._buffer, self._number, self._session = b"", 0, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Page.enable")
        self.send("Page.navigate", url=url)
        self.run("new Promise(done => document.readyState === 'complete' ? done(1) : addEventListener('load', done))")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def send(self, method, **params):
        """The result of one command; events that come meanwhile are dropped."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._receive())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self):
        while b"\0" not in self._buffer:
            chunk = os.read(self._from, 1 << 16)
            if not chunk:
                raise RuntimeError("the browser has ended")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return message

    def run(self, expression):
        """The value of a JavaScript expression; promises are awaited."""
        found = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def screenshot(self):
        """The page as PNG bytes."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
