"""Arrays as references into a list of buffers."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax
from onax.experimental import sparse
from onax.experimental.sparse import transform

DENSE = np.array([[0, 1.0, 0, -2], [2, 0, 3, 0], [0, 0, 0, 0.5]], np.float32)


def test_arrays_in_an_environment():
    m, rows, dense = sparse.BCOO.fromdense(DENSE), sparse.BCSR.fromdense(DENSE), jnp.ones(2)
    env = transform.SparsifyEnv()
    values = transform.arrays_to_spvalues(env, (dense, m, {"rows": rows}))
    assert values == (
        transform.SparsifyValue((2,), 0),
        transform.SparsifyValue((3, 4), 1, 2, None, True, True),
        {"rows": transform.SparsifyValue((3, 4), 3, 4, 5, rows.indices_sorted, rows.unique_indices)},
    )
    assert [values[0].is_dense(), values[1].is_bcoo(), values[2]["rows"].is_bcsr(), values[1].ndim] == [1, 1, 1, 2]
    back = transform.spvalues_to_arrays(env, values)
    np.testing.assert_array_equal(back[0], dense)
    assert isinstance(back[1], sparse.BCOO) and isinstance(back[2]["rows"], sparse.BCSR)
    np.testing.assert_array_equal(back[2]["rows"].todense(), DENSE)
    assert transform.spvalues_to_avals(env, values[1]).shape == (3, 4)
    with pytest.raises(RuntimeError, match="requested indices from spvalue with indices_ref=None"):
        env.indices(values[0])
    with pytest.raises(ValueError, match="indices or indices_ref is needed"):
        env.sparse((2,), jnp.ones(1))


@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize("f", [jnp.add, jnp.subtract, jnp.multiply])
def test_arrays_in_an_environment_share_indices(f, unique):
    m = sparse.BCOO.fromdense(DENSE)
    env = transform.SparsifyEnv([m.indices, m.data, 2 * m.data])
    x, y = (env.sparse((3, 4), data_ref=i, indices_ref=0, unique_indices=unique) for i in (1, 2))
    (out,), _ = transform.sparsify_raw(f)(env, x, y)
    assert out.indices_ref == 0 or (f is jnp.multiply and not unique)
    np.testing.assert_array_equal(transform.spvalues_to_arrays(env, out).todense(), f(DENSE, 2 * DENSE))


def test_rules_of_libraries():
    rules, m = transform.sparse_rules_bcoo, sparse.BCOO.fromdense(DENSE)
    before = len(rules)
    assert lax.neg_p in rules and lax.cumsum_p not in rules and lax.neg_p in {*rules}
    env = transform.SparsifyEnv()
    (out,) = rules[lax.neg_p](env, *transform.arrays_to_spvalues(env, [m]))
    np.testing.assert_array_equal(transform.spvalues_to_arrays(env, out).todense(), -DENSE)

    def cumsum(spenv, x, *, axis, **_):
        return [spenv.dense(jnp.cumsum(transform.spvalues_to_arrays(spenv, x).todense(), axis))]

    def twice(spenv, x, y, **_):
        assert x.indices_ref == y.indices_ref
        return (spenv.sparse(x.shape, spenv.data(x) + spenv.data(y), indices_ref=x.indices_ref),)

    rules[lax.cumsum_p], rules[lax.atan2_p] = cumsum, twice
    try:
        np.testing.assert_allclose(sparse.sparsify(lambda x: jnp.cumsum(x, 1))(m), np.cumsum(DENSE, 1))
        np.testing.assert_allclose(sparse.sparsify(lambda x: lax.atan2(x, -x))(m).data, 0 * m.data)
    finally:
        del rules[lax.cumsum_p], rules[lax.atan2_p]
    assert len(rules) == before
    with pytest.raises(KeyError):
        rules[lax.cumsum_p]
