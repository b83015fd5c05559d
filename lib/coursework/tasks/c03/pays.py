"""03-pays: Predict when threads pay."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

START, EACH = 12_000, 2  # nanoseconds: to start a parallel loop and end it; for an element on one thread
CORES, PROCESSES = 8, 4


def pays_from(threads):
    """Elements for which EACH * n == START + EACH * n / threads."""
    return START * threads // (EACH * (threads - 1))


PAYS = PredictionTask(
    id="03-pays",
    section=Section("3", "03_numba_parallel", "What a parallel loop costs"),
    title="Predict when threads pay",
    objective="Compute from which size a parallel loop pays, and how many threads a machine is given",
    points=2,
    minutes=8,
    questions=(
        Question(
            "two",
            "elements from which two threads are as fast as one",
            lambda: pays_from(2),
            {START // EACH: "That many elements take as long as the start alone. The two threads must still compute."},
            "Write both times with n elements: 2 n on one thread; the start, and half of the work, on two.",
        ),
        Question(
            "four",
            "elements from which four threads are as fast as one",
            lambda: pays_from(4),
            {
                START
                // EACH: "That many elements take as long as the start alone. Four threads still need their quarter.",
                2 * pays_from(2): "More threads save more of the work, so fewer elements are enough.",
            },
            "Four threads save three quarters of 2 n. From which n on is that the start?",
        ),
        Question(
            "running",
            "threads that want to run at once",
            lambda: CORES * PROCESSES,
            {
                CORES: "Each process makes a pool of its own: it knows nothing of the others.",
                PROCESSES: "That is one thread for each process. How many does a pool have?",
                CORES + PROCESSES: "Each of the processes has a pool of as many threads as there are cores.",
                CORES // PROCESSES: "That is how many there should be in each, not how many there are.",
            },
            "How many threads are in the pool of one process, if nobody says anything? How many processes?",
        ),
        Question(
            "each",
            "threads to allow in each process",
            lambda: CORES // PROCESSES,
            {
                CORES: "That is what numba takes by itself; four processes with so many are too much.",
                PROCESSES: "That is the number of processes. Four times four threads on eight cores?",
                1: "Then half of the cores have nothing to do.",
            },
            "All threads together should be as many as the cores.",
        ),
    ),
    hints=(
        "What does the parallel loop do that the plain one does not, and what does it save?",
        "Saved is the part of the work that other threads do: a half with two threads, three quarters with four. It "
        "pays from the size on at which that is as much as the start.",
        "Write what is saved as a multiple of n, once for two threads and once for four: where is it as much as the "
        "start? For the pools: how many threads do all processes have together, and how many cores are there for each "
        "process?",
    ),
)
