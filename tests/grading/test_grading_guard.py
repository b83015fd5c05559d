"""The bell behind admission: what no admitted answer can do ends the clean process, and the row says so."""

import os
import re

import hostile
import pytest
from nbval.plugin import IPyNbFile

from coursework.grading import guard, sandbox, watch
from coursework.grading.grade import grade
from coursework.grading.remote import Remote
from coursework.grading.session import Session

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the grader runs on Linux and macOS")
NO_BWRAP = sandbox.why_no_bwrap()
MODES = [pytest.param("bwrap", marks=pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or "")), "rlimit"]
LIMITS = sandbox.Limits(**hostile.PATIENT)
FLAG = "an answer did what no answer may do, in the clean process"
# As if admission had let through what leads from an empty tuple to the module os.
OUT = """def f(x):
    kind = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "_wrap_close"][0]
    os = kind.__init__.__globals__
    {}
"""
DEEDS = {
    "a command": "os['system']('true')",
    "a command that names a cache": "os['system']('true __pycache__')",
    "a program": "os['posix_spawn']('/bin/true', ['true'], {})",
    "a program that lies in a cache": "os['posix_spawn']('/tmp/__pycache__/true', ['true'], {})",
    "a file": "os['open']('/tmp/x', 65)",
    "a file in a cache": "os['open']('/tmp/__pycache__/x.pyc', 65)",
    "a folder for a cache": "os['mkdir']('/tmp/__pycache__')",
    "the request": "os['open']('req-1.message', 0)",
}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("os.system", ("true __pycache__",)),
        ("subprocess.Popen", ("/tmp/__pycache__/x", [], None, None)),
        ("open", ("/lib/__pycache__/x.pyc", "wb", 0)),
        ("open", ("/lib/__pycache__/x.pyc", None, os.O_WRONLY | os.O_CREAT)),
        ("open", ("/here/req-1.json", "r", 0)),
        ("open", (b"/here/req-1.json", "r", 0)),
        ("os.rename", ("/lib/__pycache__/x.pyc", "/lib/x.py", -1, -1)),
    ],
)
def test_forbidden(event, arguments):
    assert guard.is_forbidden(event, arguments, "/here")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/lib/__pycache__/x.cpython-311.pyc", "r", os.O_CLOEXEC)),
        ("open", (os.devnull, "w", os.O_WRONLY)),
        ("open", (3, "r", 0)),
        ("import", ("numba.np.arraymath", None, None, None, None)),
        ("compile", (b"x = 1", "<answer 0>")),
    ],
)
def test_what_python_and_numba_do_on_their_own_is_not(event, arguments):
    assert not guard.is_forbidden(event, arguments, "/here")


@pytest.mark.parametrize("mode", MODES)
def test_the_clean_process_ends_at_each_and_the_next_answer_finds_another(mode):
    deeds = DEEDS if mode == "bwrap" else {"a command that names a cache": DEEDS["a command that names a cache"]}
    with sandbox.Sandbox(mode, LIMITS) as walls, sandbox.Sandbox(mode, LIMITS) as clean, watch.Watch(walls, clean):
        session = Session(walls, clean, None)
        for name, deed in deeds.items():
            session.flags.clear()
            with pytest.raises(Exception, match="it did what no answer may do"):
                session.ask_clean("call", "f", [OUT.format(deed)], plain=True, arguments=[1])
            assert FLAG in session.flags, name
        value = session.ask_clean("call", "f", ["def f(x):\n    return x + 1"], plain=True, arguments=[1])
        assert value[0] == 2
        session.close()


@pytest.mark.skipif(bool(NO_BWRAP), reason=NO_BWRAP or "")
def test_the_row_of_whoever_does_it_has_the_flag(request, tmp_path, monkeypatch):
    real = Remote.checked

    def blind(said, language, without):  # admission, asleep
        name, texts = real(said, language, without)
        deed = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
        deed += ".__init__.__globals__['system']('true __pycache__')"
        return name, [deed, *texts] if name == "add" else texts

    monkeypatch.setattr(Remote, "checked", staticmethod(blind))
    path = tmp_path / "07_vector_add.ipynb"
    path.write_text(hostile.build.text_of(hostile.solved()), encoding="utf-8")
    master = hostile.ROOT / "solutions" / path.name
    file = IPyNbFile.from_parent(request.session, path=path)
    result = grade("anna", "07_vector_add", path, master, "bwrap", LIMITS, 1, file)
    assert FLAG in result["flags"]
    assert {t["points"] for t in result["tasks"] if t["task"] == "07-add"} == {0}
    assert any(t["points"] for t in result["tasks"])  # the others count


@pytest.mark.quick
def test_the_flag_stands_in_the_page_s_table():
    page = (hostile.ROOT / "chapters" / "instructors.md").read_text(encoding="utf-8")
    table = re.search(r"\| flag \| means \|\n(.*?)\n\n", page, re.DOTALL)[1]
    assert FLAG in table
    source = (hostile.ROOT / "lib/coursework/grading/session.py").read_text(encoding="utf-8")
    assert f'"{FLAG}"' in source
