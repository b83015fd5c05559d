"""What is said about a loop that goes on and on."""

import pytest

from simt.source import endless

pytestmark = pytest.mark.quick

LOOPS = {
    "while i < n:\n    x[i] = 0": "Nothing inside the loop changes `i` or `n`.",
    "while i < x.size:\n    x[i] = 0": "Nothing inside the loop changes `i`.",
    "while i < x.size:\n    i = i - 1": "Does `i` come closer to the end each time round?",
    "while i < n:\n    for i in range(3):\n        pass": "Does `i` come closer to the end each time round?",
    "while flags[0] == 0:\n    pass": "Does anything change what `flags[0] == 0` looks at?",
    "while not done(x):\n    pass": "Does anything change what `not done(x)` looks at?",
    "while True:\n    i += 1": "Nothing inside it leaves the loop: no `break`.",
    "while True:\n    for i in range(3):\n        break": "Nothing inside it leaves the loop: no `break`.",
    "while True:\n    if i > 3:\n        break": "Is its `break` ever reached?",
    "while 1:\n    for i in range(3):\n        return": "Is its `break` ever reached?",
    "for i in range(n * n * n):\n    pass": "Is `range(n * n * n)` as long as it should be?",
    "x = 1": "Does the loop ever stop?",
    "while (:": "Does the loop ever stop?",
}


@pytest.mark.parametrize("source", LOOPS)
def test_question(source, tmp_path):
    file = tmp_path / "loop.py"
    file.write_text("def f(x, i, n, flags):\n" + "".join(f"    {line}\n" for line in source.splitlines()))
    assert endless.question(str(file), 2) == LOOPS[source]
