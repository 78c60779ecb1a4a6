"""Histograms and counts, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(3, 200))
EDGES = np.array([-2.0, -0.5, 0.0, 1.0, 1.5])
N = np.array([0, 3, 1, 3, 7, 0])
CALLS = [
    call("histogram_bin_edges", X), call("histogram_bin_edges", X, 5, (-1, 2)),
    call("histogram_bin_edges", np.ones(3), 4),
    call("histogram_bin_edges", X, EDGES),
    call("histogram", X, EDGES, dtypes=False), call("histogram", X, 7, dtypes=False),
    call("histogram", X, 4, (-1, 1), dtypes=False),
    call("histogram", X, EDGES, weights=W), call("histogram", X, EDGES, density=True),
    call("histogram", np.append(EDGES, np.nan), EDGES, dtypes=False),
    call("histogram2d", X, Y, EDGES, dtypes=False), call("histogram2d", X, Y, EDGES.tolist(), dtypes=False),
    call("histogram2d", X, Y, [EDGES, np.array([-1.0, 0, 1])], density=True),
    call(lambda xp, s: xp.histogramdd(s, 3, [(-1, 1), (-2, 2), (0, 1)]), np.stack([X, Y, W], 1), dtypes=False),
    call("bincount", N, jit=False), call("bincount", N, minlength=10, jit=False),
    call("bincount", N, np.arange(6.0), jit=False),
    call("bincount", N[:0], minlength=2, jit=False),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_counts_of_a_known_length():
    for run in (lambda n: jnp.bincount(n, length=4), jax.jit(lambda n: jnp.bincount(n, length=4))):
        assert run(N).tolist() == [2, 1, 0, 2]
    assert jnp.bincount(jnp.array([-2, 1]), length=3).tolist() == [1, 1, 0]
    assert jax.vmap(lambda w: jnp.bincount(N, w, length=2))(np.ones((3, 6))).tolist() == [[2, 1]] * 3


REFUSED = [
    (lambda: jnp.bincount(np.ones(3)), TypeError, "integer"),
    (lambda: jnp.bincount(np.ones((2, 2), int)), ValueError, "1-d|one-dimensional|1 dimension"),
    (lambda: jax.jit(jnp.bincount)(N), jax.errors.ConcretizationTypeError, "bincount"),
    (lambda: jnp.histogram_bin_edges(X, "auto"), NotImplementedError, "string"),
    (lambda: jnp.histogram2d(X, Y[:3]), TypeError, "oncatenate"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
