"""The grader's stand-in for a name of the student's notebook: the methods of answer.Local, run in the sandbox."""

import numpy as np

from .. import extraction, plain_extraction
from ..admission import NotAdmitted
from ..answer import AnswerFailed
from ..vocabulary import COMPILED, COUNTED, KERNEL


class Remote:
    """What the student's notebook calls `name`, as it is when it is first asked for."""

    def __init__(self, session, name):
        self._session, self._name = session, name
        self.claims = {}
        self.asked, self.said = None, None  # for the program, and what came
        self.text = None  # of an answer in OpenCL C
        self._found = {}

    def value(self):
        return self._session.ask_notebook("value", self._name)

    def call(self, arguments):
        value = self._session.ask_notebook("call", self._name, arguments)
        return _result(value, arguments)

    def compiled_call(self, arguments, threads=None, idle=False):
        value = self._clean("compiled_call", COMPILED, arguments=list(arguments), threads=threads, idle=idle)
        return _result(value, arguments)

    def watch(self, arguments, threads, schedule, chunk, wanted, outside):
        how = {"threads": threads, "schedule": schedule, "chunk": chunk, "wanted": list(wanted), "outside": outside}
        seen = self._clean("watch", COMPILED, arguments=list(arguments), **how)
        lists = isinstance(seen, dict) and all(isinstance(seen.get(k), list) for k in ("races", "carried"))
        dicts = isinstance(seen, dict) and all(isinstance(seen.get(k), dict) for k in ("counts", "examples"))
        words = lists and all(isinstance(seen.get(k), str) for k in ("alone", "unset"))
        numbers = words and type(seen.get("started")) is int and type(seen.get("most")) in (int, float)
        if not numbers or not dicts:
            raise AnswerFailed("NoResult", "what came back is not the report of a watched call")
        return seen | {"after": _same_arrays(seen.get("after"), arguments)}

    def cost(self, arguments, wanted=()):
        said = self._clean("cost", COMPILED, arguments=list(arguments), wanted=list(wanted))
        if (
            not isinstance(said, list)
            or len(said) != 2
            or not isinstance(said[0], dict)
            or not isinstance(said[1], list)
        ):
            raise AnswerFailed("NoResult", "what came back is no count")
        if not said[1] or not all(type(said[0].get(name)) in (int, float) for name in wanted):
            raise AnswerFailed("NoResult", "what came back is no count")
        return said[0], [_result(run, arguments) for run in said[1]]

    def counts(self, arguments):
        counts, *run = _list(self._clean("counts", COUNTED, arguments=list(arguments)), 3)
        if not isinstance(counts, dict) or not all(type(counts.get(name)) is int for name in ("flops", "moved")):
            raise AnswerFailed("NoResult", "what came back is no count")
        return counts, *_result(run, arguments)

    def timed(self, make):
        """Nothing, and nothing is made for it: no points hang on a clock."""
        return None, None

    def xray(self, grid, block, arguments, require=None):
        request = {"grid": grid, "block": block, "require": require or {}}
        after, report = _list(self._clean("xray", KERNEL, arguments=list(arguments), **request), 2)
        return _same_arrays(after, arguments), report

    def opencl(self, name, grid, block, arguments, require=None):
        """A text is data: read once, and no code of the student's runs."""
        if self.text is None:
            self.text = self.value()
        if not isinstance(self.text, str):
            raise AnswerFailed("TypeError", f"this is {type(self.text).__name__}, not a text; OpenCL C is asked for")
        request = {"kernel": name, "grid": grid, "block": block, "require": require or {}, "plain": True}
        texts = [f"answer = {self.text!r}"]
        value = self._session.ask_clean("opencl", "answer", texts, arguments=list(arguments), **request)
        after, report = _list(value, 2)
        return _same_arrays(after, arguments), report

    def play(self, task, arguments):
        played = self._clean("play", None, task.without, arguments=list(arguments), task=task.id)
        return _played(played)

    def stress(self, task, arguments):
        done = self._clean("stress", None, task.without, arguments=list(arguments), task=task.id)
        if not isinstance(done, dict) or not isinstance(done.get("results"), list):
            raise AnswerFailed("NoResult", "what came back is not the result of a run")
        return done

    def _clean(self, operation, language, without=(), **request):
        """`language`: None for plain Python."""
        name, texts = self._admitted(language, without)
        request["plain"] = language is None
        return self._session.ask_clean(operation, name, texts, **request)

    def _admitted(self, language, without):
        """(name, texts), or AnswerFailed; looked for once, since every case asks."""
        key = (language, tuple(without))
        if key not in self._found:
            try:
                if self.said is None:
                    self.ask([language.key if language else "plain", dict(without)])
                self._found[key] = self.checked(self.said, language, without)
            except AnswerFailed as error:
                if error.name == "NotAdmitted":  # a misspelt name is nothing to look at
                    self._session.flags.append(f"refused: {self._name}: {error.text}"[:200])
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, AnswerFailed):
            raise AnswerFailed(found.name, found.text, found.line, found.place)
        return found

    def ask(self, wish):
        """What the notebook's process says the answer is. Once: it cannot have one answer for one question, and another
        for the next."""
        self.asked, self.said = wish, self._session.ask_notebook("program", self._name, wish)

    def is_still(self, other):
        """Whether the name means what it meant to `other`, the same name's stand-in in an earlier cell."""
        try:
            if self.said is None and other.said is not None:
                self.ask(other.asked)
            if self.text is None and other.text is not None:
                self.text = self.value()
        except AnswerFailed:
            return False
        return (self.said, self.text) == (other.said, other.text)

    @staticmethod
    def checked(said, language, without):
        """(name, texts) of what `answer.Local.program` says, which may come from anybody."""
        if not isinstance(said, dict) or not isinstance(said.get("name"), str):
            raise AnswerFailed("NoResult", "what came back is no answer")
        try:
            if language is None:
                texts = plain_extraction.admitted(said.get("texts"), said["name"], without)
            else:
                texts = extraction.admitted(said.get("texts"), language, said["name"])
        except NotAdmitted as error:
            raise AnswerFailed(error.name, str(error)) from None
        return said["name"], texts


_PLAYED = {"result", "counts", "finding", "table", "schedules", "complete", "interruptions"}


def _played(value):
    """What playing.play says, or AnswerFailed if something else came back."""
    fits = isinstance(value, dict) and value.keys() >= _PLAYED and isinstance(value["counts"], dict)
    fits = fits and isinstance(value["schedules"], int) and isinstance(value["table"], list)
    fits = fits and (value["finding"] is None or isinstance(value["finding"], dict))
    if not fits:
        raise AnswerFailed("NoResult", "what came back is not the report of a run")
    return value


def _list(value, length):
    if not isinstance(value, list) or len(value) != length:
        raise AnswerFailed("NoResult", "what came back is something else than what was asked for")
    return value


def _result(value, arguments):
    if not isinstance(value, list) or len(value) != 2:
        raise AnswerFailed("NoResult", "what came back is not a result and its arguments")
    return value[0], _same_arrays(value[1], arguments)


def _same_arrays(after, arguments):
    """`after` as arguments of the shapes and dtypes that were sent, lists as they came back; or AnswerFailed."""
    if not isinstance(after, list) or len(after) != len(arguments):
        raise AnswerFailed("NoResult", "the number of arguments changed on the way")
    kept = []
    for got, sent in zip(after, arguments, strict=True):
        if isinstance(sent, np.ndarray):
            if not isinstance(got, np.ndarray) or got.shape != sent.shape or got.dtype != sent.dtype:
                raise AnswerFailed("NoResult", "an array changed its shape or dtype on the way")
            kept.append(got)
        else:
            kept.append(got if isinstance(sent, list) else sent)
    return tuple(kept)
