"""What the compiled engine does not take is refused before anything runs, with its line; the executor then takes it."""

import inspect

import numpy as np
import pytest
from unsupported import UNSUPPORTED

from simt import Unsupported, compiled, cuda
from simt.errors import EngineFault

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("function", "construct", "arguments"), [c[1:] for c in UNSUPPORTED], ids=[c[0] for c in UNSUPPORTED]
)
def test_refused_with_its_line(function, construct, arguments):
    copies = [a.copy() for a in arguments]
    with pytest.raises(Unsupported) as caught:
        compiled.run(cuda.jit(function), 1, 32, copies)
    assert not isinstance(caught.value, EngineFault)
    assert construct in str(caught.value)
    assert construct in caught.value.construct
    source, first = inspect.getsourcelines(function)
    marked = [first + k for k, line in enumerate(source) if "# HERE" in line]
    if marked:
        assert caught.value.line in marked
    assert caught.value.line is not None
    for before, after in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(after, before)
