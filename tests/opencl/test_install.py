"""`make opencl`: what it installs by itself, and what it says where it cannot. Nothing is installed here."""

import subprocess
from types import SimpleNamespace

import pytest

from opencl import install

pytestmark = pytest.mark.quick


@pytest.fixture
def system(monkeypatch):
    """system(programs, root, there, name): a machine that has these programs; its commands are kept, not run."""
    ran = []

    def made(programs, root=False, there=(False, False), name="Linux"):
        state = {"there": there}

        def run(command, **_):
            ran.append(command)
            if "install" in command:
                state["there"] = (True, True)
            return SimpleNamespace(returncode=0)

        monkeypatch.setattr(install.shutil, "which", lambda program: program if program in programs else None)
        monkeypatch.setattr(install.os, "geteuid", lambda: 0 if root else 1000, raising=False)
        monkeypatch.setattr(install.platform, "system", lambda: name)
        monkeypatch.setattr(
            install, "found", lambda: (state["there"][0], "a device" if state["there"][0] else "No device.")
        )
        monkeypatch.setattr(install.oclgrind, "installed", lambda: state["there"][1])
        monkeypatch.setattr(subprocess, "run", run)
        return ran

    return made


@pytest.mark.parametrize(("root", "begin"), [(True, ["apt-get"]), (False, ["sudo", "apt-get"])])
def test_debian_s_packages_are_installed(system, capsys, root, begin):
    ran = system(("apt-get", "sudo"), root)
    assert install.main() == 0
    assert [command[: len(begin)] for command in ran] == [begin, begin]
    assert ran[1][-2:] == ["pocl-opencl-icd", "oclgrind"]
    assert "OpenCL: a device" in capsys.readouterr().out


def test_only_what_is_missing_is_installed(system):
    ran = system(("apt-get",), True, there=(True, False))
    assert install.main() == 0
    assert ran[1][-1] == "oclgrind"
    assert "pocl-opencl-icd" not in ran[1]


def test_where_all_is_there_nothing_is_run(system):
    ran = system(("apt-get",), True, there=(True, True))
    assert install.main() == 0
    assert not ran


@pytest.mark.parametrize(("programs", "name", "words"), [
    (("apt-get",), "Linux", "Ask an administrator for: apt-get install pocl-opencl-icd oclgrind"),
    (("dnf",), "Linux", "sudo dnf install pocl"), (("pacman",), "Linux", "sudo pacman -S pocl"),
    (("brew",), "Darwin", "brew install pocl"), ((), "Darwin", "brew.sh"), ((), "Windows", "A GPU's driver brings "
                                                                                           "OpenCL"),
    ((), "Linux", "your system's packages"),
])  # fmt: skip
def test_elsewhere_it_says_what_to_do(system, capsys, programs, name, words):
    ran = system(programs, name=name)
    assert install.main() == 1
    assert not ran
    assert words in capsys.readouterr().err


def test_without_oclgrind_it_is_said(system, capsys):
    system(("dnf",), there=(True, False))
    assert install.main() == 0
    assert "Oclgrind is not here" in capsys.readouterr().out
