"""`sparsify` by tracers (functions and their results are compared in test_transform)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


def test_tracers():
    seen = []

    def f(x, y):
        seen.extend([x, y])
        square = jax.custom_jvp(lambda x: x**2)
        square.defjvp(lambda p, t: (p[0] ** 2, 2 * t[0] * p[0]))
        return {"square": square(x), "product": x @ y, "number": 3.0}

    m, v = sparse.BCOO.fromdense(DENSE), jnp.arange(4.0)
    traced = sparse.sparsify(f, use_tracer=True)
    out = traced(m, v)
    assert all(isinstance(x, sparse.SparseTracer) for x in seen) and repr(seen[0]) == "SparseTracer<float32[3,4]>"
    np.testing.assert_array_equal(out["square"].todense(), DENSE**2)
    for call in (traced, jax.jit(traced)):
        np.testing.assert_allclose(call(m, v)["product"], DENSE @ v)
    total = lambda data: traced(m._with(data), v)["square"].sum()
    np.testing.assert_allclose(jax.grad(total)(m.data), 2 * m.data)
    rows = sparse.BCOO.fromdense(DENSE, n_batch=1)
    each = jax.vmap(sparse.sparsify(lambda r: (r * 2).sum(), use_tracer=True))
    np.testing.assert_allclose(each(rows), DENSE.sum(1) * 2)
    with pytest.raises(NotImplementedError, match="cos is not implemented because"):
        sparse.sparsify(jnp.cos, use_tracer=True)(m)
