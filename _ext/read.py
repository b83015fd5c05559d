"""`make read`: the whole book at once, as text; then page after page with what it computes on this machine.
`make html` runs the pages by it, too (--results), and then writes the book from what was kept.

Every page is written without running it, but for those whose results are kept from a build before
(`_build/.jupyter_cache`). Then the others are run: first the page that somebody looks at, else in the book's order. A
page that waits says so and loads itself again when it is ready; one that fails shows its error. Stop at any time: what
was run is kept.

Most of a page's time goes into compiling, so while one page runs, another is run ahead. No page disturbs what another
measures: while one does, by the functions of cpulab.measure or in a cell that looks at the clock, the other's process
is stopped (turns.py). While the text is being written, which takes one core, pages that measure nothing are run ahead.
With CPULAB_HURRY in the environment, as in `make test`, measurements are short, and nobody stands still for them.

Sphinx runs in a thread, the pages ahead in another and the web server in a third, in one process; each page's code runs
in a process of its own.
"""

import argparse
import errno
import functools
import html
import http.server
import json
import logging
import os
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qs, urlsplit

from turns import Together, Turns, look_at_the_clock, measures_nothing

ROOT = Path(__file__).resolve().parent.parent
BEGUN = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="1">'
    "<title>One moment</title><p>The book is being written: a few seconds more.</p></html>"
)
WAITING = """<aside class="admonition note live-note" role="status">
<p class="admonition-title">Without its results yet</p>
<p>The code of this page has not been run on this machine yet. When it has been, the page shows the results by itself.
<span id="live-state"></span></p>
</aside>
"""
FAILED = """<aside class="admonition danger live-note" role="status">
<p class="admonition-title">A cell of this page failed on this machine</p>
<p>The results of the cells before it stand below. <span id="live-state"></span></p>
<pre tabindex="0">%s</pre>
</aside>
"""
# The lists in which Sphinx's registry and builder keep the scripts and styles of pages.
FILES = ("js_files", "css_files", "_js_files", "_css_files")
SCRIPT = """<script>
(() => {
  const said = document.getElementById("live-state"), page = %s, shown = %s;
  const words = {running: "It is being run now.", waiting: "It comes next.",
    failed: "Start `make read` again to try again."};
  async function ask() {
    try {
      const { state } = await (await fetch("/.state?page=" + encodeURIComponent(page))).json();
      if (state === "live" || (state !== shown && state === "failed")) return location.reload();
      said.textContent = words[state];
      if (state === "failed") return;
    } catch { said.textContent = "Nothing runs it now: start `make read`, and load the page again."; }
    setTimeout(ask, 2000);
  }
  ask();
})();
</script>
"""


class Stopped(Exception):
    """Nobody reads any more: the page at hand is not begun."""


class Pages:
    """Which page is in which state, which one somebody looks at, and which one is run ahead.

    "waiting", "running", "live" or "failed".
    """

    def __init__(self):
        self.states, self.order, self.wanted, self.changed = {}, [], None, threading.Condition()
        self.ahead, self.tried_ahead, self.ready = None, set(), set()
        self.steady = []  # pages that wait and measure nothing, while the text is being written
        self.stopping = False

    def set(self, page, state):
        with self.changed:
            self.states[page] = state
            self.changed.notify_all()

    def named(self, state):
        with self.changed:
            return [page for page in self.order if self.states.get(page) == state]

    def asked(self, page):
        """What the note on a page wants to know; asking is looking at it."""
        with self.changed:
            state = self.states.get(page, "waiting") if self.order else "waiting"  # no order: still being written
            if page == self.ahead:
                return {"state": "running"}
            if state == "waiting":
                self.wanted = page
            return {"state": state}

    def next(self):
        """The page to run next, or None; waits for the page that is run ahead where nothing else may run beside it."""
        with self.changed:
            while True:
                waiting = self.named("waiting")
                free = [page for page in waiting if page != self.ahead]
                free.sort(key=lambda page: (page not in self.ready, page != self.wanted))
                if free:
                    return free[0]
                if not waiting:
                    return None
                self.changed.wait()

    def next_ahead(self):
        """A page to run beside the one that runs now, or beside the writing of the text; waits until there may be
        one."""
        with self.changed:
            while not self.stopping:
                if not self.order and self.steady:
                    self.ahead = self.steady.pop(0)
                    self.tried_ahead.add(self.ahead)
                    return self.ahead
                running = self.named("running")
                if running and running[0] not in self.ready:
                    waiting = [p for p in self.named("waiting") if p not in self.tried_ahead]
                    if waiting:
                        self.ahead = self.wanted if self.wanted in waiting else waiting[0]
                        self.tried_ahead.add(self.ahead)
                        return self.ahead
                self.changed.wait(1)

    def was_run_ahead(self, page, went_well):
        with self.changed:
            self.ahead = None
            if went_well:
                self.ready.add(page)
            self.changed.notify_all()


class Book:
    """The book's Sphinx application, which builds what it is told to, with or without running it."""

    def __init__(self, root, out, pages, turns, log, builder="html"):
        logging.getLogger("traitlets").setLevel(logging.WARNING)  # that each page is begun
        from sphinx.application import Sphinx

        self.pages, self.turns = pages, turns
        self.run, self.errors, self.texts = None, {}, {}
        self.log, self.keeping = log, threading.Lock()
        trees = out.parent / ".doctrees"
        self.app = Sphinx(root, root, out, trees, builder, status=None, warning=log, freshenv=True)
        self.config = self.app.env.mystnb_config
        self.app.connect("source-read", self.choose)
        self.app.connect("env-get-outdated", lambda *_: [self.run] if self.run else [])
        self.app.connect("html-page-context", self.note, priority=950)
        format_references_once(self.app.env.domains.get("cite"))

    def choose(self, app, page, source):
        """Before a page is read: is its code run, are its results taken from the cache, or stays it without?"""
        if self.pages.stopping:
            raise Stopped
        if page == self.run:
            mode = "off" if page in self.errors else "cache"
        else:
            mode, state = self.kept(page, source[0])
            self.pages.set(page, state)
        app.env.mystnb_config = self.config.copy(execution_mode=mode)

    def kept(self, page, text):
        """(Sphinx's mode of execution, the page's state), when nothing may be run."""
        from jupyter_cache import get_cache

        notebook = self.notebook(page, text)
        if notebook is None or not any(cell.cell_type == "code" for cell in notebook.cells):
            return "cache", "live"
        with suppress(KeyError):
            get_cache(self.config.execution_cache_path).match_cache_notebook(notebook)
            return "cache", "live"
        self.texts[page] = text
        if measures_nothing([cell.source for cell in notebook.cells if cell.cell_type == "code"]):
            self.pages.steady.append(page)
        return "off", "waiting"

    def notebook(self, page, text):
        """The page as cells, or None where it has none that may be run."""
        from myst_nb.core.read import create_nb_reader

        path = self.app.env.doc2path(page)
        reader = create_nb_reader(path, self.app.env.myst_config, self.config, text)
        excluded = any(PurePosixPath(path).match(pattern) for pattern in self.config.execution_excludepatterns)
        return None if excluded or reader is None else reader.read(text)

    def execute(self, page):
        """Run a page as Sphinx would, into the cache, where Sphinx finds it; whether that went well."""
        from jupyter_cache import get_cache
        from jupyter_cache.base import CacheBundleIn
        from nbclient import NotebookClient

        notebook, path = self.notebook(page, self.texts[page]), self.app.env.doc2path(page)
        timed = look_at_the_clock([cell.source if cell.cell_type == "code" else "" for cell in notebook.cells])

        def turn(change):
            return lambda cell_index, **_: timed[cell_index] and change(client.km.provisioner.pid)

        client = NotebookClient(
            notebook,
            timeout=self.config.execution_timeout,
            record_timing=False,
            resources={"metadata": {"path": os.path.dirname(path)}},
            on_cell_execute=turn(self.turns.take),
            on_cell_executed=turn(self.turns.give),
        )
        self.turns.wait()
        began = time.monotonic()
        try:
            client.execute()
        except Exception as error:
            # A cell failed, the kernel died: when Sphinx runs the page itself, the page says why.
            print(f"{page}: {type(error).__name__}: {error}", file=self.log, flush=True)
            return False
        bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": time.monotonic() - began})
        cache = get_cache(self.config.execution_cache_path)
        with self.keeping:  # two pages of the same code, run side by side, are one entry
            try:
                cache.match_cache_notebook(notebook)
            except KeyError:
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        return True

    def note(self, app, page, template, context, doctree):
        """Say at the top of a page that it waits, or that it failed."""
        if self.pages.stopping:
            raise Stopped
        error = self.errors.get(page) or self.failure(page)
        if error:
            said, shown = FAILED % html.escape(error), "failed"
        elif self.pages.states.get(page) == "waiting":
            said, shown = WAITING, "waiting"
        else:
            return
        context["body"] = said + SCRIPT % (json.dumps(page), json.dumps(shown)) + context["body"]

    def failure(self, page):
        """The end of the error with which a cell stopped, or None."""
        ran = getattr(self.app.env, "nb_metadata", {}).get(page, {}).get("exec_data")
        if not ran or ran["succeeded"]:
            return None
        lines = re.sub(r"\x1b\[[0-9;]*m", "", ran["traceback"] or ran["error"]).strip().splitlines()
        return "\n".join(lines[-12:])

    def text(self):
        """Write all pages, with the results that are kept."""
        self.build(force_all=True)
        self.pages.order = [page for page in self.app.env.collect_relations() if page in self.pages.states]

    def build(self, **how):
        # what the theme adds to one page's scripts and styles would stay with all pages of the next build
        keepers = [(at, name) for at in (self.app.registry, self.app.builder) for name in FILES if hasattr(at, name)]
        before = [list(getattr(*keeper)) for keeper in keepers]
        try:
            self.app.build(**how)
        finally:
            for keeper, files in zip(keepers, before, strict=True):
                getattr(*keeper)[:] = files

    def live(self, page):
        """Run one page and write it again; its state then."""
        self.begin(page)
        if page not in self.pages.ready:
            self.execute(page)
        self.run = page  # Sphinx finds the results, or runs the page itself, whose error it shows
        try:
            self.build()
        except Stopped:
            raise
        except Exception as error:  # the kernel died, a file is missing ...: the page stays text, and says why
            self.errors[page] = f"{type(error).__name__}: {error}"
            self.build()
        finally:
            self.run = None
        failed = page in self.errors or self.failure(page) is not None
        return self.end(page, "failed" if failed else "live")

    def run_only(self, page):
        """Run one page for its results, where no page is written; its state then."""
        self.begin(page)
        went_well = page in self.pages.ready or self.execute(page)
        return self.end(page, "live" if went_well else "failed")

    def begin(self, page):
        if self.pages.stopping:
            raise Stopped
        self.errors.pop(page, None)
        self.pages.set(page, "running")

    def end(self, page, state):
        if self.pages.stopping:
            raise Stopped
        self.pages.set(page, state)
        return state


def format_references_once(domain):
    """Let sphinxcontrib-bibtex's `domain` format the references when pages cite others than before, not for each page
    that is written: results cite nothing."""
    if domain is None:
        return
    format_all, before = domain.env_updated, []

    def env_updated():
        now = [{(ref.docname, target.key) for ref in domain.citation_refs for target in ref.targets}]
        now += domain.bibliographies.values()  # one that was read again is another
        if now[:1] != before[:1] or list(map(id, now[1:])) != list(map(id, before[1:])):
            format_all()
            before[:] = now
        return []

    domain.env_updated = env_updated


class Builder(threading.Thread):
    """Builds the book behind the server."""

    def __init__(self, root, out, pages, turns, say, builder="html"):
        super().__init__(daemon=True)
        self.root, self.out, self.pages, self.turns, self.say, self.builder = root, out, pages, turns, say, builder
        self.complete = False  # every page is live

    def run(self):
        from sphinx.util.docutils import docutils_namespace, patch_docutils

        log = self.out.parent / "read.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(log, "w", encoding="utf-8") as warnings, patch_docutils(self.root), docutils_namespace():
                self.build(Book(self.root, self.out, self.pages, self.turns, warnings, self.builder))
        except Exception as error:
            if not self.pages.stopping:
                self.say(f"The book could not be built: {type(error).__name__}: {error}  (more in {log})")

    def build(self, book):
        if (os.cpu_count() or 1) > 1:
            threading.Thread(target=self.build_ahead, args=[book], daemon=True).start()
        book.text()
        waiting = self.pages.named("waiting")
        if waiting and self.builder == "dummy":
            self.say(f"{len(waiting)} pages are run.")
        elif waiting:
            self.say(f"All text is there. Now {len(waiting)} pages are run; each shows its results when it is ready.")
            self.say("The page that you look at comes next.")
        while page := self.pages.next():
            began = time.monotonic()
            state = book.run_only(page) if self.builder == "dummy" else book.live(page)
            left = len(self.pages.named("waiting"))
            self.say(
                f"  {page}: {'live' if state == 'live' else 'FAILED'} ({time.monotonic() - began:.0f} s; {left} to go)"
            )
        self.pages.stopping = True
        failed = self.pages.named("failed")
        self.complete = not failed
        self.say(f"Failed: {', '.join(failed)}. These pages show their errors." if failed else "All pages are live.")

    def build_ahead(self, book):
        while page := self.pages.next_ahead():
            went_well = False
            try:
                went_well = book.execute(page)
            finally:
                self.pages.was_run_ahead(page, went_well)

    def stop(self):
        """End what is being run, and wait until nothing is half written."""
        import psutil

        self.pages.stopping = True
        for child in psutil.Process().children(recursive=True):  # the kernel of the page that is being run
            with suppress(psutil.Error):
                child.kill()
        self.join(20)


class Handler(http.server.SimpleHTTPRequestHandler):
    """The built book; `/.state?page=name` answers what a waiting page asks. Processes of pages ask for their turn."""

    def __init__(self, *arguments, pages, turns, **options):
        self.pages, self.turns = pages, turns
        super().__init__(*arguments, **options)

    def do_GET(self):
        address = urlsplit(self.path)
        if address.path == "/.state":
            page = parse_qs(address.query).get("page", [""])[0]
            self.answer(json.dumps(self.pages.asked(page)), "application/json")
        elif address.path == "/" and not Path(self.directory, "index.html").exists():
            self.answer(BEGUN, "text/html; charset=utf-8")
        else:
            super().do_GET()

    def do_POST(self):
        """`/.alone` and `/.together`, with the number of the process that asks (cpulab.measure.turns)."""
        turn = {"/.alone": self.turns.take, "/.together": self.turns.give}.get(self.path)
        process = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if turn is None or not process.isdigit():
            return self.send_error(404)
        turn(int(process))
        return self.answer("", "text/plain")

    def answer(self, text, kind):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self):
        self.send_header("Cache-Control", "no-cache")  # a page that became live is shown live
        super().end_headers()

    def log_message(self, *_):
        pass


def say(sentence):
    print(sentence, flush=True)


def main(arguments=None):
    options = argparse.ArgumentParser(description="Read the book on this machine.")
    options.add_argument("--port", type=int, default=8000)
    options.add_argument("--root", type=Path, default=ROOT, help="the folder with conf.py")
    options.add_argument("--out", type=Path, default=None, help="where the pages go (default: _build/html)")
    options.add_argument("--once", action="store_true", help="end when all pages are live")
    options.add_argument(
        "--results", action="store_true", help="run the pages, keep their results, write no page; then end"
    )
    options = options.parse_args(arguments)
    out = (options.out or options.root / "_build" / "html").resolve()
    out.mkdir(parents=True, exist_ok=True)
    pages, turns = Pages(), Together() if os.environ.get("CPULAB_HURRY") else Turns()
    handler = functools.partial(Handler, directory=str(out), pages=pages, turns=turns)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        say(f"Port {options.port} cannot be used. Choose another: make read PORT={options.port + 1}")
        return 1
    address = f"http://127.0.0.1:{server.server_port}"
    if not options.results:
        say(f"The book is open at {address}  (Ctrl-C to stop)")
    os.environ["CPULAB_TURNS"] = address  # for the processes that pages run in
    builder = Builder(options.root.resolve(), out, pages, turns, say, "dummy" if options.results else "html")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell had it ignored
    builder.start()
    once = options.once or options.results
    if once:
        threading.Thread(target=lambda: (builder.join(), server.shutdown()), daemon=True).start()
    with server, suppress(KeyboardInterrupt):
        try:
            server.serve_forever()
        finally:
            builder.stop()
    return 0 if builder.complete or not once else 1


if __name__ == "__main__":
    sys.exit(main())
