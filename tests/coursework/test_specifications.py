"""What a statement says is computed, in NumPy, is what its check expects."""

import inspect

import masters
import numpy as np
import pytest

from coursework import definition

SPECIFIED = (
    *("09-line", "09-plane", "09-halo", "09-pool", "09-im2col", "09-weight", "09-winograd", "09-roofline"),
    *("10-fused", "10-chunks", "10-scan"),
    *("11-softmax", "11-norm", "11-rotary", "11-cache", "11-attention", "11-causal", "11-roofline"),
)


def sizes(task_id, arguments):
    """What a statement takes for known, beside the arguments."""
    if task_id == "09-pool":
        return {"height": arguments[0].shape[1], "width": arguments[0].shape[2]}
    if task_id == "09-im2col":
        sides = [(n + 2 * arguments[3] - arguments[1]) // arguments[2] + 1 for n in arguments[0].shape[1:]]
        return dict(zip(("high", "wide"), sides, strict=True)) | {"channels": len(arguments[0])}
    if task_id == "09-weight":
        return dict(zip(("high", "wide"), arguments[0].shape[2:], strict=True))
    return {}


@pytest.mark.quick
@pytest.mark.parametrize("task_id", SPECIFIED)
def test_the_specification_of_the_statement_is_that_of_the_task(task_id):
    """It runs as it stands, and fills the output with what the check expects, in every case."""
    task, out = definition.find(task_id), "places" if task_id == "09-pool" else "out"
    code = compile(masters.specification(task_id, out if out == "places" else r"out\w*"), task_id, "exec")
    names = list(inspect.signature(task.spec).parameters)
    for arguments, case in masters.cases_of(task):
        double = [x.astype(np.float64) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for x in arguments]
        scope = dict(zip(names, double, strict=True)) | {"np": np} | sizes(task_id, arguments)
        exec(code, scope)
        near = 1e-9 if task.chapter == "10" else 1e-12
        np.testing.assert_allclose(scope[out], task.spec(*arguments), rtol=near, atol=1e-12, err_msg=case)
