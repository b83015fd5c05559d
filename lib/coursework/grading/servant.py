"""What runs inside the sandbox: call one function with given arguments, write down what came back.

In the student's own kernel it is called through `handle`; in the clean process, where no code of the student ran but
the admitted answer, this module is the main program: it reads request names from stdin, one a line.

Nothing that is written here is believed by the grader without a look; see exchange.py and the instructor's page.
"""

import builtins
import gc
import linecache
import sys

import numpy as np

from .. import definition, extraction, plain_python, vocabulary
from ..answer import AnswerFailed, Local, plain_result
from ..plain import NotPlain
from . import exchange, guard

ROOM = exchange.MESSAGE.array_bytes + exchange.MESSAGE.characters  # bytes that a reply may need


def handle(folder, number, namespace):
    """Answer request `number` with the functions in `namespace`; the reply is the message res-NUMBER."""
    request = exchange.read(folder, f"req-{number}")
    try:
        if (
            "task" in request
        ):  # a chapter's modules are the course's own: loading them may make folders, for numba's cache
            definition.find(request["task"])
        with guard.inside():
            reply = {"value": carry_out(request, namespace)}
    except AnswerFailed as error:
        reply = {"failed": [error.name, error.text[:2000], error.line[:500], error.place[:200]]}
    try:
        exchange.write(reply, folder, f"res-{number}")
    except NotPlain as error:
        exchange.write({"failed": ["NotPlain", str(error), "", ""]}, folder, f"res-{number}")


def carry_out(request, namespace):
    """The value, of plain data, that a request asks for."""
    operation, name = request["operation"], request["name"]
    if operation == "room":
        return len(bytearray(ROOM))
    if name not in namespace:
        raise AnswerFailed("NameError", f"nothing is called {name}: does the answer cell run without an error?")
    answer = Local(namespace[name], admitted=True)
    if operation == "value":
        return plain_result(answer.value())
    if operation == "program":
        return answer.program(*request["arguments"])
    arguments = tuple(request["arguments"])
    if operation == "xray":
        return answer.xray(_size(request["grid"]), _size(request["block"]), arguments, request["require"])
    if operation == "opencl":
        sizes = _size(request["grid"]), _size(request["block"])
        return answer.opencl(request["kernel"], *sizes, arguments, request["require"])
    if operation == "watch":
        return answer.watch(arguments, *(request[k] for k in ("threads", "schedule", "chunk", "wanted", "outside")))
    if operation == "compiled_call":
        return answer.compiled_call(arguments, request.get("threads"), request.get("idle", False))
    if operation in ("play", "stress"):
        return getattr(answer, operation)(definition.find(request["task"]), arguments)
    if operation == "counts":
        return answer.counts(arguments)
    if operation == "cost":
        return answer.cost(arguments, request["wanted"])
    return {"call": answer.call}[operation](arguments)


def _size(size):
    return tuple(size) if isinstance(size, list) else size


# NumPy imports the Python half of these methods when each is first called: an answer has no `__import__` for that.
REDUCTIONS = ("all", "any", "max", "mean", "min", "prod", "std", "sum", "var")
for _method in REDUCTIONS:
    getattr(np.ones(1), _method)()
np.ones(1).clip(0, 1)

# There is nothing else that a name of an answer could mean. (The rest is what Python itself calls.)
_BUILTINS = {False: vocabulary.BUILTINS, True: plain_python.BUILTINS | {"__build_class__"}}


def define(sources, plain=False):
    """Run admitted source texts and return their namespace. Their lines can be shown in messages.

    `plain`: the answer is plain Python (plain_python.py), else a kernel or compiled function.
    """
    namespace = plain_python.prelude() if plain else {"__name__": "answer", **extraction.prelude()}
    namespace["__builtins__"] = {name: getattr(builtins, name) for name in _BUILTINS[plain]}
    for i, source in enumerate(sources):
        file = f"<answer {i}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), namespace)
    return namespace


def main(folder):
    """Serve requests until stdin ends. A request brings its sources along: plain Python starts from nothing every time.

    Kernels and compiled functions keep no state, so the same sources are not compiled again for the next request.
    """
    gc.set_threshold(50_000, 20, 20)  # a compiler makes much that lives as long as the process: a fifteenth of its time
    known, namespace = None, None
    out, sys.stdout = sys.stdout, sys.stderr  # so that a print in an answer cannot be taken for a reply
    sys.modules["coverage"] = None  # as in the kernel (jupyter_kernel.py)
    extraction.prelude()
    guard.arm(folder)
    out.write("ready\n")
    out.flush()
    for line in sys.stdin:
        number = int(line)
        request = exchange.read(folder, f"req-{number}")
        try:
            plain = request.get("plain", False)
            if plain or known != request["sources"]:
                with guard.inside():
                    namespace = define(request["sources"], plain)
                known = None if plain else request["sources"]
        except Exception as error:
            known = None
            failed = [type(error).__name__, str(error)[:2000], "", ""]
            exchange.write({"failed": failed}, folder, f"res-{number}")
        else:
            handle(folder, number, namespace)
        out.write(f"done {number}\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
