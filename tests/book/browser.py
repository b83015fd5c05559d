"""A headless Chromium, driven through a pipe in the Chrome DevTools Protocol: no port, no driver to install.

    with Browser() as browser:
        page = browser.open("file:///.../index.html", width=390, dark=True)
        page.evaluate("document.title")
        page.requests, page.failures, page.errors

Reference: https://chromedevtools.github.io/devtools-protocol/ (domains Target, Page, Network, Runtime, Log, Emulation).
"""

import base64
import contextlib
import json
import os
import select
import shutil
import tempfile
import time
import warnings

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = (
    "The tests of the built book look at it in a browser, and found none of "
    f"{', '.join(NAMES)}. Install one (Debian, Ubuntu: sudo apt install chromium), "
    "or name it in the environment variable CHROMIUM."
)


def find():
    """The browser's path, or FileNotFoundError with a sentence that says what to install."""
    named = os.environ.get("CHROMIUM")
    path = shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError(f"CHROMIUM is {named!r}, which is no program." if named else MISSING)
    return path


PATIENCE = 120  # seconds that a busy machine may take


class Browser:
    """One process for all pages. Each opened page is loaded in the same tab, which starts afresh.

    A process that ended since the last page (Chromium may, and a machine short of memory ends it) is started again,
    with a warning that says how it ended. One that ends while a page is open fails that page's test.
    """

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):  # it may have crashed: then there is nothing to close
            self.call("Browser.close")
        self._end()

    def _start(self):
        self.profile = tempfile.mkdtemp(prefix="book-chromium-")
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        options = [
            "--headless=new",
            "--remote-debugging-pipe",
            "--no-sandbox",  # CI runs as root; only our own pages are opened
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # what a page asks of the network fails
            f"--user-data-dir={self.profile}",
        ]
        # Chromium reads commands from file descriptor 3 and answers on 4. High numbers first, so that
        # putting one end in its place cannot overwrite the other.
        moved = [os.dup2(read_commands, 103), os.dup2(write_answers, 104)]
        quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
        pipes = [(os.POSIX_SPAWN_DUP2, 103, 3), (os.POSIX_SPAWN_DUP2, 104, 4)]
        program = find()
        self.process = os.posix_spawn(program, [program, *options], os.environ, file_actions=quiet + pipes)
        for end in (read_commands, write_answers, *moved):
            os.close(end)
        self.buffer, self.events, self.last = b"", [], 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable", self.session)

    def _end(self):
        """Let go of the process, which has ended or was asked to; the status it ended with, as `waitpid` gives it."""
        os.close(self.commands)
        os.close(self.answers)
        _, status = os.waitpid(self.process, 0)
        shutil.rmtree(self.profile, ignore_errors=True)
        return status

    def _alive(self):
        # WNOWAIT: the status stays for _end to take
        return os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def call(self, method, session=None, **params):
        """Send one command and wait for its result; events that come first are kept."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read(time.monotonic() + PATIENCE)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        """Wait for an event; the events seen on the way are kept."""
        deadline = time.monotonic() + PATIENCE
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._read(deadline))

    def _read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self.answers, 1 << 20) if ready else None
            if not data:
                raise TimeoutError("Chromium " + ("ended" if ready else "did not answer in time"))
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url, width=1280, height=900, dark=False):
        """Load `url` in a window `width` pixels wide, in the reader's dark mode or not, until it stands still."""
        if not self._alive():
            code = os.waitstatus_to_exitcode(self._end())  # below zero: the signal that ended it
            warnings.warn(f"Chromium had ended with {code} since the page before; it was started again.", stacklevel=2)
            self._start()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            self.session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", self.session, features=[theme])
        for address in ("about:blank", url):  # the blank page ends whatever the page before was still doing
            self.events.clear()
            self.call("Page.navigate", self.session, url=address)
            self.wait("Page.loadEventFired")
        page = Page(self)
        page.evaluate("window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => 1) : 1")
        page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        return page


class Page:
    """The page just loaded, and what happened while it loaded."""

    def __init__(self, browser):
        self.browser = browser

    def evaluate(self, expression):
        """The JSON value of a JavaScript expression; promises are awaited."""
        answer = self.browser.call(
            "Runtime.evaluate", self.browser.session, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wait_for(self, condition):
        """Wait until a JavaScript expression is true; a page that is just loading itself again has no answer."""
        deadline, wrong = time.monotonic() + PATIENCE, None
        while time.monotonic() < deadline:
            try:
                if self.evaluate(condition):
                    return
            except RuntimeError as error:
                wrong = error
            time.sleep(0.05)
        raise TimeoutError(f"after {PATIENCE} s it is still not true that {condition}") from wrong

    def pdf(self, **options):
        """The page as it is printed, as bytes; options of Page.printToPDF."""
        return base64.b64decode(self.browser.call("Page.printToPDF", self.browser.session, **options)["data"])

    def _events(self, method):
        return [event["params"] for event in self.browser.events if event.get("method") == method]

    @property
    def requests(self):
        return [event["request"]["url"] for event in self._events("Network.requestWillBeSent")]

    @property
    def failures(self):
        """Requests that failed, as (reason, url)."""
        urls = {e["requestId"]: e["request"]["url"] for e in self._events("Network.requestWillBeSent")}
        failed = [(e["errorText"], urls.get(e["requestId"])) for e in self._events("Network.loadingFailed")]
        status = [e["response"] for e in self._events("Network.responseReceived")]
        return failed + [(str(r["status"]), r["url"]) for r in status if r["status"] >= 400]

    @property
    def errors(self):
        """Messages of level "error" in the console, and exceptions nobody caught."""
        said = [
            " ".join(str(part.get("value", part.get("description"))) for part in event["args"])
            for event in self._events("Runtime.consoleAPICalled")
            if event["type"] in ("error", "assert")
        ]
        thrown = [
            event["exceptionDetails"].get("exception", {}).get("description", "exception")
            for event in self._events("Runtime.exceptionThrown")
        ]
        logged = [e["entry"]["text"] for e in self._events("Log.entryAdded") if e["entry"]["level"] == "error"]
        return said + thrown + logged
