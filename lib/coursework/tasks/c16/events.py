"""16-events: The missing event."""

from ...definition import Section
from ...kinds.commands import Command, CommandsTask

PROGRAM = (
    Command("write w", (), ("w",), "the weights, to the device"),
    Command("write x", (), ("x",), "the first image, to the device"),
    Command("blur", ("x", "w"), ("y",), "the kernel: y from x and w"),
    Command("read y", ("y",), (), "the first result, to the host"),
    Command("write x 2", (), ("x",), "the second image, into the same buffer"),
    Command("blur 2", ("x", "w"), ("y",), "the kernel again"),
    Command("read y 2", ("y",), (), "the second result"),
)

EVENTS = CommandsTask(
    id="16-events",
    section=Section("16", "16_opencl", "Events"),
    title="The missing event",
    objective="Say for which events each command of an out-of-order queue must wait, and for which it need not",
    points=3,
    minutes=15,
    commands=PROGRAM,
    advice={
        "old-value": (
            "A buffer is used again here. Who still reads what is in it? A command that writes must wait for those "
            "that read, too: this is the event that one forgets."
        )
    },
    hints=(
        "Write beside each command which buffers it reads and which it writes. Which pairs of commands have a buffer "
        "in common?",
        "Two commands that only read a buffer need no order. All others that share one do: the later waits for the "
        "earlier, or for somebody who waits for it.",
        "The second image goes into x when the first blur has ended. The second blur writes y: who reads the first "
        "result from it?",
    ),
)
