"""Rules of `sparsify`: control flow, indices that operands share, layouts (elementwise ones are in test_transform)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.experimental import sparse

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)
OTHER = np.roll(DENSE, 1, axis=1)
LOOPS = {
    "cond": lambda x, p: lax.cond(p > 0, lambda x: x * 2, lambda x: -x, x),
    "switch": lambda x, p: lax.switch(p, [lambda x: x * 2, lambda x: -x, lambda x: x], x),
    "to dense": lambda x, p: lax.cond(p > 0, lambda x: x.sum(), lambda x: (x @ jnp.ones(4)).sum(), x),
    "while": lambda x, p: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (p, x))[1],
    "condition": lambda x, p: lax.while_loop(lambda c: c.sum() < 99, lambda c: c * 2, x),
    "constants": lambda x, p: lax.while_loop(
        lambda c: c[0] < 3, lambda c: (c[0] + 1, x.T @ (x @ c[1])), (p, jnp.ones(4))
    )[1],
    "fori": lambda x, p: lax.fori_loop(0, 3, lambda i, v: x.T @ (x @ v), jnp.ones(4)),
    "scan": lambda x, p: lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0],
    "rows": lambda x, p: lax.scan(
        lambda c, r: (c + x @ r, c), jnp.zeros(3), jnp.arange(8.0).reshape(2, 4), reverse=True
    ),
    "shared": lambda x, p: lax.fori_loop(0, 2, lambda i, c: c + c, x),
    "nested": lambda x, p: lax.fori_loop(0, 2, lambda i, c: lax.cond(p > 0, lambda c: c * 2, lambda c: c, c), x),
}


def dense_of(tree):
    return jax.tree.map(sparse.todense, tree, is_leaf=lambda x: isinstance(x, sparse.JAXSparse))


@pytest.mark.parametrize("name", LOOPS)
def test_control_flow(name):
    f, m = LOOPS[name], sparse.BCOO.fromdense(DENSE)
    on_sparse = lambda m, p: dense_of(sparse.sparsify(f)(m, p))
    for p in (0, 1):
        want = jax.tree.leaves(f(jnp.asarray(DENSE), p))
        for got in (on_sparse(m, p), jax.jit(on_sparse)(m, p)):
            for a, b in zip(jax.tree.leaves(got), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5)
    if name != "condition":  # whose number of steps is not known
        total = lambda f: lambda d, p: sum(x.sum() for x in jax.tree.leaves(f(d, p)))
        forward = lambda of: jax.jvp(lambda d: total(of)(d, 1), (m.data,), (m.data,))[1]
        dense = lambda d, p: f(jnp.zeros((3, 4)).at[tuple(m.indices.T)].add(d), p)
        np.testing.assert_allclose(forward(lambda d, p: on_sparse(m._with(d), p)), forward(dense), rtol=1e-5)


def test_loops_forget_what_a_step_does_not_keep_about_indices():
    m = sparse.BCOO.fromdense(DENSE)
    other = sparse.BCOO((jnp.ones(5), jnp.zeros((5, 2), int)), shape=(3, 4))
    swap = lambda a, b: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[2], c[1]), (0, a, b))
    _, a, b = sparse.sparsify(swap)(m, other)
    np.testing.assert_array_equal(a.todense(), other.todense())
    np.testing.assert_array_equal(b.todense(), DENSE)
    assert not a.unique_indices and not b.unique_indices


@pytest.mark.parametrize("branch", [lambda x, y: x + y, lambda x, y: x + DENSE, lambda x, y: x.sum(0)])
def test_branches_give_one_layout(branch):
    m, other = sparse.BCOO.fromdense(DENSE), sparse.BCOO.fromdense(OTHER)
    chosen = lambda x, y, p: lax.cond(p, lambda x, y: x * 2, lambda x, y: jnp.broadcast_to(branch(x, y), (3, 4)), x, y)
    with pytest.raises((TypeError, NotImplementedError)) as error:
        sparse.sparsify(chosen)(m, other, True)
    if isinstance(error.value, TypeError):
        assert str(error.value).startswith(
            "sparsified true_fun output must have same type structure as sparsified false_"
        )


def test_stacked_values():
    m = sparse.BCOO.fromdense(DENSE)
    _, stacked = sparse.sparsify(lambda x: lax.scan(lambda c, _: (c * 2, c), x, None, length=3))(m)
    assert (stacked.n_batch, stacked.shape) == (1, (3, 3, 4))
    np.testing.assert_array_equal(stacked.todense(), np.stack([DENSE, 2 * DENSE, 4 * DENSE]))


def test_branches_of_other_trees():
    pick = lambda x, y, p: lax.cond(p, lambda x, y: x, lambda x, y: y, x, y)
    with pytest.raises(TypeError) as error:
        sparse.sparsify(pick)(sparse.BCOO.fromdense(DENSE), DENSE, True)
    first, second = str(error.value).split("\n")
    assert first == (
        "sparsified true_fun output must have same type structure as sparsified false_fun output, but there are "
        "differences: "
    )
    assert "at output[0]" in second and "so their Python types differ" in second


def test_loops_on_rows_give_rows():
    out = sparse.sparsify(lambda x: lax.fori_loop(0, 2, lambda i, c: c * 2, x))(sparse.BCSR.fromdense(DENSE))
    assert isinstance(out, sparse.BCSR)
    np.testing.assert_array_equal(out.todense(), 4 * DENSE)


def test_operands_share_indices_only_within_a_function():
    m = sparse.BCOO.fromdense(DENSE)
    twice = sparse.sparsify(lambda x: x + x)(m)
    assert twice.nse == m.nse and sparse.sparsify(lambda x, y: x + y)(m, m).nse == 2 * m.nse
    assert sparse.sparsify(lambda x: (x * 2) * jnp.sin(x))(m).nse == m.nse
    np.testing.assert_array_equal(sparse.sparsify(lambda x: x - x)(m).data, np.zeros(5))


def test_rows_stay_rows():
    rows = sparse.BCSR.fromdense(DENSE)
    for f in (lambda a, b: jnp.stack([a, b]), lambda a, b: jnp.concatenate([a, b]), jnp.add):
        result = sparse.sparsify(f)(rows, rows)
        assert isinstance(result, sparse.BCSR)
        np.testing.assert_array_equal(result.todense(), f(DENSE, DENSE))


def test_strict_promotion():
    m = sparse.BCOO.fromdense(DENSE)
    with jax.numpy_dtype_promotion("strict"):
        for result, want in ((m * 2, DENSE * 2), (m @ np.ones(4, np.float32), DENSE.sum(1)), (m + m, 2 * DENSE)):
            np.testing.assert_allclose(sparse.todense(result), want)
        whole = sparse.BCOO.fromdense(DENSE.astype(np.int32))
        for f in (lambda: whole * 2.5, lambda: whole * m, lambda: m @ whole.T):
            with pytest.raises(jax.dtypes.TypePromotionError):
                f()
