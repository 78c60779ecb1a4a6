"""Batching rules of elementwise operations and reductions: equal to a loop, and without needless movement."""

import itertools

import numpy as np
import pytest

import onax as jax
from native_passes import names
from onax import lax
from onax._native.dispatch import Primitive
from onax._prims._batch_rules import defreducer, defvectorized

pair_p = defvectorized(
    Primitive("test_pair", kernel=np.add, abstract_eval=lambda x, y: x if len(x.shape) >= len(y.shape) else y)
)
SHAPES = [(3, 4), (), (3, 1)]


def examples(shape, dim):
    x = np.arange(5 * np.prod(shape, dtype=int)).reshape(5, *shape).astype(np.float32)
    return x if dim is None else np.moveaxis(x, 0, dim)


@pytest.mark.parametrize("one, other", list(itertools.product(SHAPES, SHAPES)))
def test_equals_a_loop(one, other):
    for i, j in itertools.product([None, *range(len(one) + 1)], [None, *range(len(other) + 1)]):
        if i is None and j is None:
            continue
        x, y = (examples(s, d)[0] if d is None else examples(s, d) for s, d in ((one, i), (other, j)))
        got = jax.vmap(pair_p.bind, (i, j))(x, y)
        each = [np.add(x if i is None else x.take(k, i), y if j is None else y.take(k, j)) for k in range(5)]
        np.testing.assert_array_equal(got, np.stack(each))


@pytest.mark.parametrize("dims, wanted", [((1, 1), ["add"]), ((0, 0), ["add"]), ((2, 2), ["add"])])
def test_equal_axes_are_not_moved(dims, wanted):
    x = np.ones((5, 5, 5), np.float32)
    assert names(jax.make_jaxpr(jax.vmap(lax.add, dims, dims[0]))(x, x)) == wanted


def test_unmapped_scalars_stay_scalars():
    jaxpr = jax.make_jaxpr(jax.vmap(lambda x: lax.add(x, np.float32(2))))(np.ones((5, 3), np.float32))
    assert names(jaxpr) == ["add"] and jaxpr.eqns[0].invars[1].aval.shape == ()


sum_p = Primitive(
    "test_sum",
    kernel=lambda x, axes: x.sum(axes),
    abstract_eval=lambda x, axes: x.update(shape=tuple(n for i, n in enumerate(x.shape) if i not in axes)),
)
defreducer(sum_p)


@pytest.mark.parametrize("axes, dim", list(itertools.product([(0,), (1,), (2,), (0, 2), ()], range(4))))
def test_axes_of_reductions_are_shifted(axes, dim):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)
    got = jax.vmap(lambda a: sum_p.bind(a, axes=axes), dim)(x)
    np.testing.assert_allclose(got, np.stack([a.sum(axes) for a in np.moveaxis(x, dim, 0)]), rtol=1e-6)
