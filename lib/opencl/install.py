"""`make opencl`: PoCL and Oclgrind from the system's packages where that can be done, else what to do by hand.

Exits with 0 where a device compiles and runs a kernel in the end. What is there stays as it is.
"""

import os
import platform
import shutil
import subprocess
import sys

from . import oclgrind

PACKAGES = {"pocl-opencl-icd": "PoCL, OpenCL on the CPU", "oclgrind": "Oclgrind, which finds races"}  # of Debian
BY_HAND = {
    "dnf": "sudo dnf install pocl",
    "pacman": "sudo pacman -S pocl",
    "zypper": "sudo zypper install pocl",
    "brew": "brew install pocl",
}
ELSEWHERE = {
    "Darwin": "Install Homebrew (brew.sh), then: brew install pocl",
    "Windows": "A GPU's driver brings OpenCL. For an x86 CPU, Intel's runtime does: pip install intel-opencl-rt",
}


def found():
    """(whether a device compiles and runs a kernel, which; or why none does). Asked in a process of its own: the loader
    looks for platforms once."""
    ask = "import opencl; print(opencl.device())"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return True, done.stdout.strip()
    return False, done.stderr.partition("Unavailable: ")[2].strip() or done.stderr.strip()


def missing():
    """The Debian packages that would help."""
    return [name for name, there in zip(PACKAGES, (found()[0], oclgrind.installed()), strict=True) if not there]


def command():
    """The beginning of an apt-get command, or None where this user has none."""
    if not shutil.which("apt-get"):
        return None
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return ["apt-get"]
    return ["sudo", "apt-get"] if shutil.which("sudo") else None


def advice():
    """What to do by hand on this system, in a sentence."""
    if shutil.which("apt-get"):
        return f"Ask an administrator for: apt-get install {' '.join(missing())}"
    manager = next((name for name in BY_HAND if shutil.which(name)), None)
    if manager:
        return f"For OpenCL on the CPU: {BY_HAND[manager]}"
    otherwise = "Install PoCL from your system's packages, or a GPU's driver."
    return ELSEWHERE.get(platform.system(), otherwise)


def main():
    apt, wanted = command(), missing()
    if wanted and apt:
        print(f"Installing {' and '.join(f'{name} ({PACKAGES[name]})' for name in wanted)} ...", flush=True)
        subprocess.run([*apt, "update", "-qq"], check=False)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        install = [*apt, "install", "-y", "-qq", "--no-install-recommends", *wanted]
        subprocess.run(install, env=environment, stdout=subprocess.DEVNULL, check=False)
    there, told = found()
    if not there:
        print(f"{told}\n{advice()}", file=sys.stderr)
        return 1
    print(f"OpenCL: {told}")
    if not oclgrind.installed():
        print("Oclgrind is not here: what needs it is left out. On Debian or Ubuntu: apt-get install oclgrind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
