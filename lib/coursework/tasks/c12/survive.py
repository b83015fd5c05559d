"""12-survive: A checkpoint that survives."""

from ...definition import Case, Section, Slip
from ...kinds.scenario import ScenarioTask


class PowerFailure(BaseException):
    """The machine stops. No program catches that: what does is stopped again with its next call."""


def play_survive(Checkpoints, states, torn, full_at):
    """Save `states` one after the other, with a power failure at each operation of the disk in turn.

    torn: what of unsynced bytes is there after a failure: "nothing", "half" or "all". full_at: the write, counted from
    1, for which the disk has no space (0: none). Returns [[failure at, last saved, being saved, loaded], ...].
    """
    outcomes = []
    for failure in range(1, 200):
        disk = _Disk(failure, torn, full_at)
        last = tried = None
        try:
            saver = Checkpoints(disk.hands())
            for state in states:
                tried = state
                try:
                    saver.save(state)
                except OSError:  # a full disk: this state is not saved, training goes on
                    tried = last
                    continue
                if disk.dead:  # a failure that the program kept to itself, as `return` in a `finally` does
                    break
                last = tried
        except PowerFailure:
            pass
        ended = not disk.dead
        disk.restart()
        Checkpoints(_Disk(0, torn, 0).hands()).save("another")
        try:
            loaded = Checkpoints(disk.hands()).load()
            if loaded == "another" or Checkpoints(_Disk(0, torn, 0).hands()).load() is not None:
                return [["memory", None, None, None]]
        except Exception as error:
            loaded = f"raised {type(error).__name__}: {error}"
        outcomes.append([failure if not ended else 0, last, tried, loaded])
        if ended:
            return outcomes
    return outcomes


def _short(name):
    if not isinstance(name, str) or not 0 < len(name) <= 32:
        raise ValueError(f"a file's name has 1 to 32 characters; got {name!r}"[:120])


class _Disk:
    """Files that lose what was not synced. A rename is one step, and holds; what the file holds is another question."""

    def __init__(self, failure, torn, full_at):
        self.files, self.synced = {}, {}  # name: text now; name: text that would be there after a failure
        self.failure, self.torn, self.full_at = failure, torn, full_at
        self.done = self.writes = 0
        self.dead = False

    def _step(self):
        self.done += 1
        if self.dead or self.done == self.failure:
            self.dead = True
            raise PowerFailure

    def hands(self):
        """What a program gets: functions, and no way to the disk's own state."""
        disk = self

        class Disk:
            def write(self, name, text):
                if not isinstance(text, str):
                    raise TypeError(f"write(name, text): text is {type(text).__name__}; expected str")
                _short(name)
                disk.writes += 1
                try:
                    disk._step()
                except PowerFailure:
                    disk.files[name] = text[: len(text) // 2]
                    raise
                if disk.writes == disk.full_at:
                    disk.files[name] = text[: len(text) // 2]
                    raise OSError("no space left on device")
                disk.files[name] = text

            def sync(self, name):
                disk._step()
                disk.synced[name] = disk.files[name]

            def rename(self, old, new):
                _short(new)
                disk._step()
                disk.files[new] = disk.files.pop(old)
                if old in disk.synced:
                    disk.synced[new] = disk.synced.pop(old)
                else:
                    disk.synced.pop(new, None)

            def remove(self, name):
                disk._step()
                disk.files.pop(name)
                disk.synced.pop(name, None)

            def read(self, name):
                if disk.dead:
                    raise PowerFailure
                if name not in disk.files:
                    raise FileNotFoundError(name)
                return disk.files[name]

            def names(self):
                return sorted(disk.files)

        return Disk()

    def restart(self):
        """After a failure: what was synced is there; of the rest what `torn` says."""
        if self.dead:
            keep = {"nothing": lambda t: "", "half": lambda t: t[: len(t) // 2], "all": lambda t: t}[self.torn]
            self.files = {
                name: text if self.synced.get(name) == text else keep(text) for name, text in self.files.items()
            }
        self.synced = dict(self.files)
        self.dead, self.failure, self.full_at = False, 0, 0


def judge_survive(arguments, result):
    states, _torn, full_at = arguments
    for failure, last, tried, loaded in result:
        if failure == "memory":
            cause = (
                "Two disks were asked, and one gave what was saved on the other, or a new one gave something. What is "
                "kept in a class or in a global name is gone when the power fails: what counts is on the disk that "
                "`Checkpoints` was given."
            )
            return Slip(
                "memory", "each disk's own state, None from a new disk", cause, "a state that is not on the disk"
            )
        when = f"after a power failure at step {failure} of the disk" if failure else "without any failure"
        allowed = [last, tried]
        if loaded in allowed:
            continue
        expected = f"{when}: {_shown(last)}" + (f", or {_shown(tried)}" if tried != last else "")
        got = _shown(loaded)
        if isinstance(loaded, str) and loaded.startswith("raised "):
            cause = (
                "`load` failed. There may be no checkpoint yet (then it returns None), and a file of which only a part "
                "was written."
            )
            return Slip("load-fails", expected, cause, loaded)
        if loaded is None:
            cause = (
                "A checkpoint that was saved is gone. While the new one is not complete, the old one must stay where "
                "it is: write beside it, and put the new one in its place in one step."
            )
            return Slip("lost", expected, cause, got)
        if loaded in states:
            cause = "This is an older one. When `save` has returned, its state is the one that `load` finds."
            return Slip("older", expected, cause, got)
        full = full_at and not failure
        cause = (
            "The disk was full in the middle of a write. What is half written must not be taken for a checkpoint."
            if full
            else "Only a part of it was on the disk. A write is not on the disk until `sync` has returned, and a "
            "rename does not wait for what the file holds."
        )
        return Slip("torn", expected, cause, got)
    return None


def _shown(state):
    if state is None:
        return "None, as nothing was saved"
    return repr(state) if not isinstance(state, str) or len(state) < 40 else repr(state[:36] + "...")


def training(steps, torn, full_at=0, length=40):  # longer than a file's name
    """Arguments: `steps` states, the first letters of which say the step."""
    return lambda rng: ([f"step {k}: " + "w" * length + "." for k in range(1, steps + 1)], torn, full_at)


SURVIVE = ScenarioTask(
    id="12-survive",
    section=Section("12.2", "12_step", "A checkpoint"),
    title="A checkpoint that survives",
    objective="Write a checkpoint that a power failure at any moment, or a full disk, cannot destroy",
    points=4,
    minutes=25,
    scenario=play_survive,
    judge=judge_survive,
    cases=(
        Case("one checkpoint, and no failure matters", training(1, "all")),
        Case("three, a failure leaves nothing that was not synced", training(3, "nothing")),
        Case("three, a failure leaves the first half", training(3, "half")),
        Case("three, a failure leaves all", training(3, "all")),
        Case("three, the disk is full at the second write", training(3, "half", 2)),
    ),
    advice={
        "raised-OSError": "`load` meets a disk that is as a failure left it: look with `names()` what there is.",
        "raised-FileNotFoundError": "Before the first checkpoint there is no file: `load` returns None then.",
        "raised-ValueError": "A file's name is short. What is to be kept stands in the file.",
        "raised-KeyError": "A file was synced, renamed or removed that is not there. After a failure, half of your "
        "steps may have been made.",
    },
    hints=(
        "At which moment, exactly, becomes the new checkpoint the one that counts? What is on the disk just before, "
        "and just after?",
        "Write to a name of its own, and sync it. Only then give it, with one rename, the name that `load` reads.",
        "A rename replaces what had the name before in one step, so there is always one complete file with that name. "
        "What else may lie on the disk after a failure, and does `load` look at it?",
    ),
)
