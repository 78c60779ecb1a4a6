"""Products that contract nothing are elementwise ones: the same bits, in one pass with their neighbours."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.passes.expand_products import expand_products
from onax._core.check import check_jaxpr
from onax._core.evaluate import eval_jaxpr

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((3, 4), np.float32), RNG.standard_normal((3, 5), np.float32)


def product(lhs_batch, rhs_batch):
    return lambda x, y: lax.dot_general(x, y, (((), ()), (lhs_batch, rhs_batch)))


EXPANDED = {
    "outer": (product((), ()), X, Y),
    "of batches": (product((0,), (0,)), X, Y),
    "of a number": (product((), ()), np.float32(2), Y),
    "of a batch of numbers": (product((0,), (0,)), X[:, 0], Y),
    "of infinities": (product((), ()), np.array([np.inf, -np.inf, np.nan, 0, -0.0], np.float32), Y),
    "integers": (product((0,), (0,)), X.astype("i4"), Y.astype("i4")),
    "bfloat16": (product((0,), (0,)), X.astype("bfloat16"), Y.astype("bfloat16")),
    "in a branch": (
        lambda x, y: lax.cond(x[0, 0] > 0, product((0,), (0,)), lambda x, y: jnp.zeros((3, 4, 5)), x, y),
        X,
        Y,
    ),
    "gradient for each example": (jax.vmap(jax.grad(lambda w, x: jnp.tanh(w @ x)), (None, 0)), X[0], X),
}
KEPT = {
    "contracted": (lambda x, y: x.T @ y, X, Y),
    "batch out of order": (product((1, 0), (1, 0)), X[:, :3], Y[:, :3].T[:, :3]),
    "complex": (product((0,), (0,)), X.astype("c8"), Y.astype("c8")),
    "accumulated wider": (lambda x, y: lax.dot_general(x, y, (((), ()), ((0,), (0,))), preferred_element_type="f4"),
                          X.astype("bfloat16"), Y.astype("bfloat16")),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPANDED)
def test_results(name):
    function, *operands = EXPANDED[name]
    program = jax.jit(function).trace(*operands).jaxpr
    expanded = expand_products(program)
    check_jaxpr(expanded.jaxpr)
    assert str(expanded).count("dot_general[") == str(program).count("dot_general[") - 1 and " mul " in str(expanded)
    for new, old in zip(
        eval_jaxpr(expanded, expanded.consts, *operands), eval_jaxpr(program, program.consts, *operands), strict=True
    ):
        assert (new.dtype, new.weak_type, new.shape) == (old.dtype, old.weak_type, old.shape)
        np.testing.assert_array_equal(np.asarray(new), np.asarray(old))
        assert np.array_equal(
            np.asarray(jax.jit(function)(*operands)), np.asarray(old), equal_nan=old.dtype.kind == "f"
        )


@pytest.mark.parametrize("name", KEPT)
def test_what_stays(name):
    function, *operands = KEPT[name]
    program = jax.make_jaxpr(function)(*operands)
    assert expand_products(program) is program
