"""Answers to 12-survive."""

from answers import MASTER, cut, edit, insert, replace


class TwoNames:
    """right"""

    def __init__(self, disk):
        self.disk = disk

    def _whole(self, name):
        if name not in self.disk.names():
            return None
        text = self.disk.read(name)
        number, rest = text[:6], text[6:]
        if not rest.endswith("|") or not number.strip():
            return None
        length = int(number[2:]) if number[2:].strip() else -1
        return (int(number[:2]), rest[:-1]) if length == len(rest) - 1 else None

    def save(self, state):
        old = [self._whole(name) for name in ("a", "b")]
        numbers = [found[0] if found else -1 for found in old]
        name = "a" if numbers[0] <= numbers[1] else "b"
        self.disk.write(name, f"{max(numbers) + 1:2}{len(state):4}{state}|")
        self.disk.sync(name)

    def load(self):
        found = [self._whole(name) for name in ("a", "b")]
        found = [pair for pair in found if pair]
        return max(found)[1] if found else None


class NumberedFiles:
    """right"""

    def __init__(self, disk):
        self.disk = disk

    def _done(self):
        return sorted(name for name in self.disk.names() if name.startswith("done"))

    def save(self, state):
        old = self._done()
        name = f"done{int(old[-1][4:]) + 1 if old else 0:06}"
        self.disk.write("half", state)
        self.disk.sync("half")
        self.disk.rename("half", name)
        for other in old:
            self.disk.remove(other)

    def load(self):
        old = self._done()
        return self.disk.read(old[-1]) if old else None


no_sync = edit(MASTER, "wrong torn: a rename does not wait for what the file holds", cut('self.disk.sync("new")'))
sync_afterwards = edit(
    MASTER,
    "wrong torn: until `sync` has returned",
    replace(
        'self.disk.sync("new")\nself.disk.rename("new", "checkpoint")',
        'self.disk.rename("new", "checkpoint")\nself.disk.sync("checkpoint")',
    ),
)
in_place = edit(
    MASTER,
    "wrong torn: Only a part of it was on the disk",
    replace('self.disk.write("new", state)', 'self.disk.write("checkpoint", state)'),
    replace('self.disk.sync("new")', 'self.disk.sync("checkpoint")'),
    cut('self.disk.rename("new", "checkpoint")'),
)
removes_first = edit(
    MASTER,
    "wrong lost: the old one must stay where it is",
    insert('if "checkpoint" in self.disk.names():\n    self.disk.remove("checkpoint")', after='self.disk.sync("new")'),
)
nothing_yet = edit(
    MASTER,
    "wrong load-fails: There may be no checkpoint yet",
    cut('if "checkpoint" not in self.disk.names():\n    return None'),
)
never_renamed = edit(MASTER, "wrong lost: is gone", cut('self.disk.rename("new", "checkpoint")'))
reads_the_new_one = edit(
    MASTER,
    "wrong torn: Only a part of it",
    replace(
        'if "checkpoint" not in self.disk.names():\n    return None',
        'if "new" in self.disk.names():\n    return self.disk.read("new")\nif "checkpoint" not in self.disk.names():\n'
        "    return None",
    ),
)
only_the_first = edit(
    MASTER,
    "wrong older: its state is the one that `load` finds",
    insert('if "checkpoint" in self.disk.names():\n    return', before='self.disk.write("new", state)'),
)
renames_twice = edit(
    MASTER,
    "wrong lost: in one step",
    insert(
        'if "checkpoint" in self.disk.names():\n    self.disk.rename("checkpoint", "old")',
        after='self.disk.sync("new")',
    ),
)


class InTheClass:
    """wrong memory: is gone when the power fails"""

    kept = None

    def __init__(self, disk):
        self.disk = disk

    def save(self, state):
        InTheClass.kept = state

    def load(self):
        return InTheClass.kept


class InTheName:
    """wrong raised-ValueError: stands in the file"""

    def __init__(self, disk):
        self.disk = disk

    def save(self, state):
        self.disk.write(state, "")

    def load(self):
        return max(self.disk.names(), default=None)


InMemory = edit(
    InTheName,
    "wrong lost: is gone",
    replace("disk = disk", "state = None"),
    replace('disk.write(state, "")', "state = state"),
    replace("max(self.disk.names(), default=None)", "self.state"),
)


class Quietly:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return True


class KeepsTheFailureToItself:
    """wrong torn: Only a part of it was on the disk"""

    def __init__(self, disk):
        self.disk = disk

    def save(self, state):
        with Quietly():
            if "checkpoint" in self.disk.names():
                self.disk.remove("checkpoint")
            self.disk.write("checkpoint", state)
            self.disk.sync("checkpoint")

    def load(self):
        return self.disk.read("checkpoint") if "checkpoint" in self.disk.names() else None


class TwoFilesInTurn:
    """right"""

    def __init__(self, disk):
        self.disk, self.turn = disk, 0
        self.newest = self._newest()

    def _newest(self):
        found = [(0, None)]
        for name in self.disk.names():
            parts = self.disk.read(name).split("|")
            if len(parts) == 3:
                found.append((int(parts[0]), parts[1]))
        return max(found, key=lambda pair: pair[0])

    def save(self, state):
        number = self.newest[0] + 1
        name = "even" if number % 2 == 0 else "odd"
        self.disk.write(name, f"{number}|{state}|")
        self.disk.sync(name)
        self.newest = number, state

    def load(self):
        return self._newest()[1]
