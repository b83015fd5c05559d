"""05-crossing: From which size on does it pay?"""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def pays_from(intensity, cpu, gpu, link, calls):
    """Bytes from which on a GPU is faster, copies included; None where it never is."""
    gained = intensity / cpu - intensity / gpu - 1 / link  # seconds for each byte
    return calls / gained if gained > 0 else None


def judge_crossing(arguments, result):
    """A Slip, or None for the size from which on a GPU pays."""
    intensity, cpu, gpu, link, calls = arguments
    right = pays_from(*arguments)
    if right is None:
        if result is None:
            return None
        cause = (
            "Here each byte costs the GPU more than the CPU, on the link and in work together. More bytes make it "
            "worse: it never pays. Then return None."
        )
        return Slip("never", "None", cause)
    expected = f"about {right:.6g} bytes"
    if isinstance(result, bool) or not isinstance(result, int | float | np.integer | np.floating):
        cause = (
            "It does pay here: each byte costs the CPU more seconds than the GPU and the link. Return the number of "
            "bytes, one number."
        )
        return Slip("type", expected, cause)
    if abs(result - right) <= 1e-6 * right:
        return None

    def size(gained, seconds=calls):
        return seconds / gained if gained else np.inf

    causes = (
        (
            size(intensity / cpu - 1 / link),
            "The GPU's own work is missing: intensity * n / gpu seconds beside the copies.",
        ),
        (size(intensity / cpu - intensity / gpu), "The copies are missing: n bytes take n / link seconds."),
        (size(1 / cpu - 1 / gpu - 1 / link), "A byte has `intensity` operations, on both sides: that is missing."),
        (
            size(intensity / cpu - intensity / gpu - intensity / link),
            "What travels is bytes: the link is not asked once for each operation.",
        ),
        (
            size(intensity / cpu),
            "This is where the CPU takes as long as the calls alone. Copies and the GPU's work take time, too.",
        ),
        (
            size(intensity / cpu - intensity / gpu + 1 / link),
            "The sign of the copies is turned round: they are a cost of the GPU.",
        ),
        (right * intensity, "Those are operations. How many bytes are that?"),
        (1 / right, "Turned upside down: the calls are divided by what each byte saves."),
        (right / 4, "Those are elements of 4 bytes. Bytes are asked for."),
    )
    cause = next(
        (words for guess, words in causes if np.isfinite(guess) and abs(result - guess) <= 1e-6 * abs(guess)), ""
    )
    cause = cause or (
        "Write down the seconds of both sides for n bytes: the CPU's work; for the GPU its calls, the copies and its "
        "work. Where they are equal, what is n?"
    )
    return Slip("size", expected, cause)


def _job(name, intensity, cpu, gpu, link, calls=40e-6):
    return Case(name, lambda rng: (intensity, cpu, gpu, link, calls))


CROSSING = FunctionTask(
    id="05-crossing",
    section=Section("5.2", "05_transfers", "Intensity decides"),
    title="From which size on does it pay?",
    objective="Compute from which size on a GPU is faster, copies included",
    points=2,
    minutes=12,
    judge=judge_crossing,
    cases=(
        _job("much work for each byte", 100.0, 1e11, 1e13, 2e10),
        _job("a fast link", 4.0, 2e10, 1e13, 6e10),
        _job("a vector add: little work", 1 / 12, 1e10, 1e13, 2e10),
        _job("slow calls", 50.0, 2e11, 5e12, 3e10, 1e-3),
        _job("a GPU that is slower", 10.0, 1e12, 5e11, 3e10),
    ),
    advice={
        "raised-ZeroDivisionError": "Where a byte costs both sides the same, there is no size at which the calls are "
        "paid. Ask before you divide.",
        "raised-TypeError": "All five are plain numbers, and one number or None comes back.",
    },
    hints=(
        "How many seconds does the CPU need for n bytes? And the GPU, with all it has to do? Which of these parts grow "
        "with n?",
        "Both times are straight lines in n. The GPU's begins higher, at the calls; does it rise more slowly? What "
        "does each byte cost the CPU, and what the GPU?",
        "Take what a byte costs the GPU, its share of the link and its operations, away from what it costs the CPU. If "
        "something is left, each byte pays back that much: how many bytes pay back the calls?",
    ),
)
