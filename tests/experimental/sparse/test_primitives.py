"""JAX's primitives of sparse formats: each does what the function of its format does."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.experimental import sparse

DENSE = np.array([[0, 2, 0], [3, 0, 4]], np.float32)
V = np.array([1, 2, 3], np.float32)
DOT = {"dimension_numbers": (((1,), (0,)), ((), ())), "preferred_element_type": np.float32}


BCOO = sparse.BCOO.fromdense(DENSE)
BCSR = sparse.BCSR.fromdense(DENSE)


def pair(result):
    return sparse.BCOO(tuple(result), shape=(2, 3)).todense()


# name -> (function that binds the primitive, the dense result)
CASES = {
    "bcoo_todense": (lambda p: p.bind(*BCOO._bufs, spinfo=BCOO._info), DENSE),
    "bcoo_fromdense": (lambda p: pair(p.bind(DENSE, nse=3, n_batch=0, n_dense=0, index_dtype=np.int32)), DENSE),
    "bcoo_extract": (lambda p: p.bind(BCOO.indices, jnp.asarray(DENSE), assume_unique=True), [2, 3, 4]),
    "bcoo_transpose": (
        lambda p: sparse.BCOO(
            tuple(p.bind(*BCOO._bufs, permutation=(1, 0), spinfo=BCOO._info)), shape=(3, 2)
        ).todense(),
        DENSE.T,
    ),
    "bcoo_sort_indices": (lambda p: pair(p.bind(*BCOO._bufs, spinfo=BCOO._info)), DENSE),
    "bcoo_sum_duplicates": (lambda p: pair(p.bind(*BCOO._bufs, spinfo=BCOO._info, nse=3)), DENSE),
    "bcoo_dot_general": (lambda p: p.bind(*BCOO._bufs, V, lhs_spinfo=BCOO._info, **DOT), DENSE @ V),
    "bcoo_dot_general_sampled": (
        lambda p: p.bind(DENSE.T, DENSE, jnp.array([[0, 0], [1, 1]]), dimension_numbers=DOT["dimension_numbers"]),
        [9, 4],
    ),
    "bcoo_spdot_general": (
        lambda p: sparse.BCOO(
            tuple(p.bind(*BCOO._bufs, *BCOO.T._bufs, lhs_spinfo=BCOO._info, rhs_spinfo=BCOO.T._info, **DOT)),
            shape=(2, 2),
        ).todense(),
        DENSE @ DENSE.T,
    ),
    "bcsr_todense": (lambda p: p.bind(*BCSR._bufs, spinfo=BCSR._info), DENSE),
    "bcsr_fromdense": (
        lambda p: sparse.BCSR(
            tuple(p.bind(DENSE, nse=3, n_batch=0, n_dense=0, index_dtype=np.int32)), shape=(2, 3)
        ).todense(),
        DENSE,
    ),
    "bcsr_extract": (lambda p: p.bind(BCSR.indices, BCSR.indptr, DENSE), [2, 3, 4]),
    "bcsr_dot_general": (lambda p: p.bind(*BCSR._bufs, V, lhs_spinfo=BCSR._info, **DOT), DENSE @ V),
}


@pytest.mark.parametrize("name", CASES)
def test_batched_formats(name):
    run, expected = CASES[name]
    primitive = getattr(sparse, f"{name}_p")
    assert primitive.name == name and getattr(getattr(sparse, name[:4]), f"{name}_p") is primitive
    np.testing.assert_allclose(run(primitive), expected)
    np.testing.assert_allclose(jax.jit(lambda: run(primitive))(), expected)


@pytest.mark.parametrize("name", ["coo", "csr"])
def test_matrices(name):
    cls = getattr(sparse, name.upper())
    bind = lambda what, *args, **params: getattr(sparse, f"{name}_{what}_p").bind(*args, **params)
    mat = cls.fromdense(DENSE)
    buffers, known = mat.tree_flatten()[0], {"spinfo": mat._info} if name == "coo" else {"shape": mat.shape}
    np.testing.assert_array_equal(bind("todense", *buffers, **known), DENSE)
    np.testing.assert_array_equal(bind("matvec", *buffers, V, transpose=False, **known), DENSE @ V)
    np.testing.assert_array_equal(bind("matmat", *buffers, DENSE, transpose=True, **known), DENSE.T @ DENSE)
    made = cls(tuple(bind("fromdense", DENSE, nse=3, index_dtype=np.int32)), shape=(2, 3))
    np.testing.assert_array_equal(made.todense(), DENSE)
