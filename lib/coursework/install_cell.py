# Finds the course's library; installs it where there is none, or one older than this notebook. Run this first.
import importlib.metadata
import importlib.util
import re
import site
import subprocess
import sys
import zipfile
from pathlib import Path

ADDRESS, VERSION = "", ""


def _age(version):  # 0.9 before 0.10, and 0.10rc1 before 0.10
    numbers, rest = re.match(r"([\d.]*)(.*)", version).groups()
    return [int(n) for n in numbers.split(".") if n], not rest.startswith(("a", "b", "rc", "dev"))


def _installed():  # its version; "" where it has none, None where there is no library
    importlib.invalidate_caches()
    if importlib.util.find_spec("coursework") is None:
        return None
    return next((d.version or "" for d in importlib.metadata.distributions(name="dlkernels")), "")


def _damage(path):
    try:
        with zipfile.ZipFile(path) as pack:
            return pack.testzip()
    except Exception as error:
        return error


def _pip_fails(source):  # why, in a sentence; "" if it does not
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "2", source]
    done = subprocess.run(pip, capture_output=True, text=True)
    lines = done.stderr.strip().splitlines() or ["nothing"]
    said = next((line for line in lines if line.lower().startswith("error")), lines[-1])
    if re.search("onnection|resolve host|No matching distribution|timed out", done.stderr):
        said += ". It needs the network, for numba and other packages: is there one? Then run this cell again."
    return f"It could not be installed from {source}. pip said: {said}" if done.returncode else ""


def _find_library():
    near = [path for folder in (".", "..") for path in sorted(Path(folder).glob("dlkernels-*.whl"), reverse=True)]
    wheels = [(_age(path.name.split("-")[1]), str(path)) for path in near if path.is_file()]
    newest, wheel = max(wheels, key=lambda pair: pair[0], default=(_age(""), ""))
    found, wanted = _installed(), max(newest, _age(VERSION))
    if found == "" or (found and _age(found) >= wanted):
        return
    beside = bool(wheel) and newest == wanted
    source, newer = (wheel, wheel) if beside else (ADDRESS, "this notebook")
    state = f"is of version {found}, and {newer} is newer" if found else "is not installed"
    if not source:
        wrong = (
            f"No dlkernels-*.whl {f'of version {VERSION} or later ' if VERSION else ''}lies in this folder or the one "
            "above."
        )
        wrong += " Put the one you were given there, and run this cell again."
    elif beside and _damage(wheel):
        wrong = f"{wheel} is damaged ({_damage(wheel)}): copied only in part? Get it again, and run this cell again."
    else:
        wrong = _pip_fails(source)
    if wrong:
        tell = print if found else sys.exit  # an old one is better than none
        return tell(f"The library of this course {state}. {wrong}")
    if site.ENABLE_USER_SITE:
        site.addsitedir(site.getusersitepackages())  # a folder that was not there when Python began
    print(f"Installed the library of this course from {source}{f', in the place of version {found}' if found else ''}.")
    if "coursework" in sys.modules or _age(_installed() or "") < wanted:
        print("Python still uses the old one: restart the kernel (menu Kernel), and run this cell again.")


_find_library()
