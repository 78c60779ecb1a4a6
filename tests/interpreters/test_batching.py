"""Rules of batching that libraries give to their primitives."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.core import ShapedArray
from onax.extend.core import Primitive
from onax.interpreters import batching

M = jnp.arange(6.0).reshape(2, 3)


def primitive(name, function, shape=lambda x, *_, **__: x.shape):
    p = Primitive(name)
    p.def_impl(lambda *args, **params: np.asarray(function(*map(np.asarray, args), **params)))
    p.def_abstract_eval(lambda x, *args, **params: ShapedArray(shape(x, *args, **params), x.dtype))
    return p


def test_rules_with_and_without_the_axis():
    plain = primitive("test_batching_plain", lambda x: x * 2)
    batching.primitive_batchers[plain] = lambda args, dims: (plain.bind(*args), dims[0])
    assert jax.vmap(plain.bind, 1, 1)(M).tolist() == (2 * M).tolist()
    seen = []

    def rule(size, name, _, args, dims):
        seen.append((size, name, dims))
        return args[0], dims[0]

    sized = primitive("test_batching_sized", lambda x: x)
    batching.axis_primitive_batchers[sized] = rule
    jax.vmap(sized.bind, in_axes=1, out_axes=1, axis_name="i")(M)
    fancy = primitive("test_batching_fancy", lambda x: x)
    batching.fancy_primitive_batchers[fancy] = lambda data, args, dims: rule(data.size, data.name, 0, args, dims)
    jax.vmap(fancy.bind)(M)
    assert [(size, tuple(dims)) for size, _, dims in seen] == [(3, (1,)), (2, (0,))] and seen[0][1] == "i"


def test_rules_that_are_made():
    add = primitive("test_batching_add", np.add)
    batching.defbroadcasting(add)
    mapped = jax.vmap(add.bind, (0, None))(M, jnp.arange(3.0))
    assert mapped.tolist() == (M + jnp.arange(3.0)).tolist()
    negative = primitive("test_batching_negative", np.negative)
    batching.defvectorized(negative)
    assert jax.vmap(jax.vmap(negative.bind))(M).tolist() == (-M).tolist()
    total = primitive(
        "test_batching_sum",
        lambda x, axes: x.sum(axes),
        lambda x, axes: tuple(n for i, n in enumerate(x.shape) if i not in axes),
    )
    batching.defreducer(total)
    assert jax.vmap(lambda x: total.bind(x, axes=(0,)), 1)(M).tolist() == M.sum(0).tolist()


def test_mapped_axes_in_front():
    x = jnp.arange(3.0)
    assert batching.broadcast(x, 2, 1).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert batching.bdim_at_front(M, 1, 3).shape == (3, 2)
    assert batching.bdim_at_front(x, None, 4).shape == (4, 3)
    with pytest.raises(NotImplementedError, match="explicit sharding"):
        batching.broadcast(jnp.ones(2), 3, 0, "x")
