"""Exports a function, and compares the operators and results of its model with what is expected."""

import numpy as np

from onax.export import export
from onax.tree_util import tree_leaves

EPS = 2.0**-23


def model_of(fun, *args, opset=21, exact=False):
    """(the operators of the exported model in order, its Exported)."""
    exported = export(fun, opset=opset, exact=exact)(*args)
    return [node.op_type for node in exported.onnx_model.graph.node], exported


def assert_recognized(fun, args, operators, *, opset=21, scale=1.0, ulps=8):
    """The model has exactly these operators (in any order) and gives what the function gives.

    scale   an array or number: results may differ by `ulps` * 2^-23 * (scale + |result|)
    """
    found, exported = model_of(fun, *args, opset=opset)
    assert sorted(found) == sorted(operators.split())
    assert_close(exported, fun, args, scale=scale, ulps=ulps)


def assert_close(exported, fun, args, *, scale=1.0, ulps=8):
    """The model gives what the function gives, NaN and infinities included."""
    for got, want in zip(tree_leaves(exported.call(*args)), tree_leaves(fun(*args)), strict=True):
        got, want = np.asarray(got), np.asarray(want)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        if want.dtype == bool:
            np.testing.assert_array_equal(got, want)
            continue
        finite = np.isfinite(want)
        np.testing.assert_array_equal(np.where(finite, 0, got), np.where(finite, 0, want))
        allowed = np.broadcast_to(ulps * EPS * (scale + np.abs(want)), want.shape)
        assert np.all(np.abs(got[finite] - want[finite]) <= allowed[finite])
