"""stack, unstack and tile in ONNX: their operators, and every type."""

import numpy as np
import pytest

from lowering_runner import OPSETS
from onax import jit, make_jaxpr
from onax._prims.stacking import stack, tile, unstack
from onax.export.lower.driver import lower_jaxpr

X = np.arange(6, dtype=np.float32).reshape(2, 3)
FORMS = {  # function, operators
    "stack": (lambda x: stack([x, x], 1), {"Reshape", "Concat"}),
    "unstack": (lambda x: unstack(x, 1), {"Split", "Squeeze"}),
    "tile": (lambda x: tile(x, (2, 3)), {"Unsqueeze", "Reshape", "Expand"}),
}


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", FORMS)
def test_operators(name, opset):
    function, wanted = FORMS[name]
    assert {n.op_type for n in lower_jaxpr(make_jaxpr(function)(X), opset=opset).nodes} <= wanted


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "complex64"])
@pytest.mark.parametrize("name", FORMS)
def test_values(name, dtype):
    function, x = FORMS[name][0], X.astype(dtype)
    got, want = jit(function)(x), function(x)
    for g, w in zip(got, want) if name == "unstack" else [(got, want)]:
        assert g.dtype == w.dtype
        np.testing.assert_array_equal(g, w)
