"""The grader's stand-in for a name of the student's notebook: the methods of answer.Local, run in the sandbox."""

import numpy as np

from .. import plain_python
from ..admission import COMPILED, COUNTED, KERNEL, NotAdmitted, collect
from ..answer import AnswerFailed


class Remote:
    """What the student's notebook calls `name`. `sources` are the texts of the cells before this check."""

    def __init__(self, session, name, sources):
        self._session, self._name, self._sources = session, name, sources
        self.claims, self._admitted = {}, {}

    def value(self):
        return self._session.ask_notebook("value", self._name)

    def call(self, arguments):
        value = self._session.ask_notebook("call", self._name, arguments)
        return _result(value, arguments)

    def compiled_call(self, arguments, threads=None):
        value = self._clean("compiled_call", COMPILED, arguments=list(arguments), threads=threads)
        return _result(value, arguments)

    def watch(self, arguments, threads, schedule, chunk, wanted=(), outside=0.9):
        how = {"threads": threads, "schedule": schedule, "chunk": chunk, "wanted": list(wanted), "outside": outside}
        seen = self._clean("watch", COMPILED, arguments=list(arguments), **how)
        lists = isinstance(seen, dict) and all(isinstance(seen.get(k), list) for k in ("races", "carried"))
        dicts = isinstance(seen, dict) and all(isinstance(seen.get(k), dict) for k in ("counts", "examples"))
        words = lists and all(isinstance(seen.get(k), str) for k in ("alone", "unset"))
        if not words or not dicts or type(seen.get("started")) is not int:
            raise AnswerFailed("NoResult", "what came back is not the report of a watched call")
        return seen

    def cost(self, arguments, wanted=()):
        return self._clean("cost", COMPILED, arguments=list(arguments), wanted=list(wanted))

    def counts(self, arguments):
        counts = self._clean("counts", COUNTED, arguments=list(arguments))
        if not isinstance(counts, dict) or not all(type(counts.get(name)) is int for name in ("flops", "moved")):
            raise AnswerFailed("NoResult", "what came back is no count")
        return counts

    def timed(self, arguments):
        """Nothing: no points hang on a clock."""
        return None, None

    def xray(self, grid, block, arguments, require=None):
        request = {"grid": grid, "block": block, "require": require or {}}
        after, report = self._clean("xray", KERNEL, arguments=list(arguments), **request)
        return _same_arrays(after, arguments), report

    def play(self, task, arguments):
        played = self._clean("play", plain_python, task.without, arguments=list(arguments), task=task.id)
        return _played(played)

    def stress(self, task, arguments):
        done = self._clean("stress", plain_python, arguments=list(arguments), task=task.id)
        if not isinstance(done, dict) or not isinstance(done.get("results"), list):
            raise AnswerFailed("NoResult", "what came back is not the result of a run")
        return done

    def _clean(self, operation, language, without=(), **request):
        sources = self._collected(language, tuple(without))
        request["plain"] = language is plain_python
        return self._session.ask_clean(operation, self._name, sources, **request)

    def _collected(self, language, without):
        """The admitted sources, or AnswerFailed; looked for once, since every case asks."""
        if (language, without) not in self._admitted:
            try:
                if language is plain_python:
                    found = plain_python.collect(self._sources, self._name, without)
                else:
                    found = collect(self._sources, self._name, language)
            except NotAdmitted as error:
                if error.name == "NotAdmitted":  # a misspelt name is nothing to look at
                    self._session.flags.append(f"refused: {self._name}: {error}"[:200])
                found = AnswerFailed(error.name, str(error))
            except LookupError as error:
                found = AnswerFailed("NameError", error.args[0])
            self._admitted[language, without] = found
        found = self._admitted[language, without]
        if isinstance(found, AnswerFailed):
            raise AnswerFailed(found.name, found.text)
        return found


_PLAYED = {"result", "counts", "finding", "table", "schedules", "complete", "interruptions"}


def _played(value):
    """What playing.play says, or AnswerFailed if something else came back."""
    fits = isinstance(value, dict) and value.keys() >= _PLAYED and isinstance(value["counts"], dict)
    fits = fits and isinstance(value["schedules"], int) and isinstance(value["table"], list)
    fits = fits and (value["finding"] is None or isinstance(value["finding"], dict))
    if not fits:
        raise AnswerFailed("NoResult", "what came back is not the report of a run")
    return value


def _result(value, arguments):
    if not isinstance(value, list) or len(value) != 2:
        raise AnswerFailed("NoResult", "what came back is not a result and its arguments")
    return value[0], _same_arrays(value[1], arguments)


def _same_arrays(after, arguments):
    """`after` as arguments of the shapes and dtypes that were sent, or AnswerFailed."""
    if not isinstance(after, list) or len(after) != len(arguments):
        raise AnswerFailed("NoResult", "the number of arguments changed on the way")
    kept = []
    for got, sent in zip(after, arguments, strict=True):
        if isinstance(sent, np.ndarray):
            if not isinstance(got, np.ndarray) or got.shape != sent.shape or got.dtype != sent.dtype:
                raise AnswerFailed("NoResult", "an array changed its shape or dtype on the way")
            kept.append(got)
        else:
            kept.append(sent)
    return tuple(kept)
