"""The browser that the other tests look through."""

import os
import signal

import pytest
from browser import Browser


def page(tmp_path, title):
    (tmp_path / f"{title}.html").write_text(f"<title>{title}</title>")
    return (tmp_path / f"{title}.html").as_uri()


def test_one_that_was_ended_is_started_again(tmp_path):
    with Browser() as browser:
        assert browser.open(page(tmp_path, "one")).evaluate("document.title") == "one"
        os.kill(browser.process, signal.SIGKILL)
        os.waitid(os.P_PID, browser.process, os.WEXITED | os.WNOWAIT)
        with pytest.warns(UserWarning, match="ended with -9 since the page before"):
            opened = browser.open(page(tmp_path, "two"))
        assert opened.evaluate("document.title") == "two"


def test_one_that_ends_while_a_page_is_open_fails_its_test(tmp_path):
    with Browser() as browser:
        opened = browser.open(page(tmp_path, "one"))
        os.kill(browser.process, signal.SIGKILL)
        with pytest.raises((TimeoutError, BrokenPipeError)):
            opened.evaluate("document.title")
