"""The machine card: complete, private, and never in the way."""

import getpass
import platform
import re
import socket
import subprocess
from pathlib import Path

import pytest

from cpulab.measure import machine, machine_card

pytestmark = pytest.mark.quick


def test_the_card_of_this_machine():
    card = machine_card()
    assert set(card) == {
        "CPU", "cores", "vectors", "caches", "memory", "GPU", "system", "Python", "threads", "BLAS", "packages",
    }  # fmt: skip
    assert card["packages"]["numpy"] == machine.np.__version__
    assert platform.python_version() in str(card)
    assert "<table>" in card._repr_html_()
    assert card.in_short().count(",") == 3


def test_the_card_tells_no_name_and_no_path():
    text = str(machine_card())
    names = {socket.gethostname(), platform.node(), getpass.getuser(), str(Path.home())}
    for private in names - {""}:
        assert not re.search(rf"\b{re.escape(private)}\b", text)


@pytest.mark.parametrize("system", ["Linux", "Darwin", "Windows", "Plan9"])
def test_another_system_gives_unknown_and_no_error(monkeypatch, system):
    """Every probe fails, as where the files and tools of that system are missing."""

    def fail(*_, **__):
        raise OSError("no such file")

    monkeypatch.setattr(machine.platform, "system", lambda: system)
    monkeypatch.setattr(machine.platform, "processor", lambda: "")
    monkeypatch.setattr(machine.platform, "machine", lambda: "")
    monkeypatch.setattr(machine, "CPU_FOLDER", Path("nowhere"))
    monkeypatch.setattr(machine, "Path", fail)
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    monkeypatch.setattr(machine.psutil, "virtual_memory", fail)
    card = machine_card()
    assert card["CPU"] == card["caches"] == card["memory"] == machine.UNKNOWN
    assert card["GPU"] == "none found"
    assert machine.last_level_cache() == 32 * 2**20


def test_caches_of_apple_processors(monkeypatch):
    answers = {
        "hw.perflevel0.l1dcachesize": "131072",
        "hw.perflevel0.l2cachesize": "16777216",
        "hw.perflevel0.cpusperl2": "4",
        "machdep.cpu.brand_string": "Apple M2",
    }
    monkeypatch.setattr(machine.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(machine, "_output", lambda *command: answers.get(command[-1]))
    assert machine.caches() == [(1, 131072, 1), (2, 16777216, 4)]
    assert machine_card()["CPU"] == "Apple M2"
    assert machine_card()["caches"] == "L1d 128 KiB, L2 16 MiB shared by 4"


def test_caches_of_linux(monkeypatch, tmp_path):
    for index, (level, kind, size, cpus) in enumerate(
        [(1, "Data", "48K", "0,8"), (1, "Instruction", "32K", "0"), (3, "Unified", "32768K", "0-3,8-11")]
    ):
        folder = tmp_path / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, text in {"level": level, "type": kind, "size": size, "shared_cpu_list": cpus}.items():
            (folder / name).write_text(f"{text}\n")
    monkeypatch.setattr(machine, "CPU_FOLDER", tmp_path)
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    assert machine.caches() == [(1, 49152, 2), (3, 33554432, 8)]
    assert machine.last_level_cache() == 33554432


def test_gpus_are_described(monkeypatch):
    line = "NVIDIA H200, 143771 MiB, 9.0, 570.86.15"
    monkeypatch.setattr(machine, "_output", lambda *command: f"{line}\n{line}")
    assert machine._gpu().split("; ")[0] == "NVIDIA H200, 143771 MiB, compute capability 9.0, driver 570.86.15"


def test_a_tool_that_hangs_or_fails_is_no_error(monkeypatch):
    monkeypatch.setattr(machine.shutil, "which", lambda name: name)

    def hang(*_, **__):
        raise subprocess.TimeoutExpired("nvidia-smi", 10)

    monkeypatch.setattr(machine.subprocess, "run", hang)
    assert machine._output("nvidia-smi") is None
