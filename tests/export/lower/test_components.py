"""Every way in which a complex constant enters a graph: Python and NumPy numbers, arrays, carries, branches, fills.

`jit` and an exported file give the values, dtypes and weak types of the eager program, with 64-bit types and without.
"""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.experimental.shard_alike import shard_alike
from onax.export import export

C = np.array([1j, 2, 3], np.complex64)
PROGRAMS = {
    "where": lambda x: jnp.where(x > 0, 0j, x + 0j),
    "where of constants": lambda x: jnp.where(x > 0, 1j, 2j),
    "where with a real side": lambda x: jnp.where(x > 0, x, 2j),
    "select_n": lambda x: lax.select_n(x > 0, jnp.full(3, 2j), jnp.full(3, 0j)),
    "operand": lambda x: (x + 1j) * 2j - 0.5j,
    "NumPy scalar": lambda x: x * np.complex128(2j) + np.complex64(1j),
    "array": lambda x: x + C,
    "comparison": lambda x: (x + 0j) == 1j,
    "isclose": lambda x: jnp.isclose(x + 1j, 1j),
    "power": lambda x: (x + 2) ** 1j,
    "results": lambda x: (1j, jnp.array(2j), jnp.asarray(C), jnp.full(3, 1j), x),
    "argument of a call": lambda x: jax.jit(lambda a, b: a * b)(x, 1j),
    "constant of a call": lambda x: jax.jit(lambda a: a * 1j + C)(x),
    "stop_gradient": lambda x: lax.stop_gradient(1j) * x,
    "shard_alike": lambda x: shard_alike(x * 1j, x + 1j),
    "optimization_barrier": lambda x: lax.optimization_barrier((x, 1j)),
    "checkpoint": lambda x: jax.checkpoint(lambda a: a * 1j)(x),
    "branches": lambda x: lax.cond(x[0] > 0, lambda: 1j, lambda: 2j),
    "operand of branches": lambda x: lax.cond(x[0] > 0, lambda a, b: a + b, lambda a, b: a * b, x, 2j),
    "switch": lambda x: lax.switch(x[1].astype(int), [lambda: 1j, lambda: 2j, lambda: 0j]),
    "carry of scan": lambda x: lax.scan(lambda c, a: (c * a, c + 1j), jnp.array(1j), x + 0j),
    "constant of scan": lambda x: lax.scan(lambda c, a: (c * a + C[0], c + C), jnp.array(1j), x),
    "fori_loop": lambda x: lax.fori_loop(0, 3, lambda i, c: c * (1 + 1j), 0.5j) + x,
    "while_loop": lambda x: lax.while_loop(lambda c: abs(c) < 10, lambda c: c * (1 + 1j), 1j) + x,
    "lax.pad": lambda x: lax.pad(x + 0j, (x + 1j)[0], [(1, 1, 0)]),
    "jnp.pad": lambda x: jnp.pad(x + 0j, 1, constant_values=1j),
    "fill of a gather": lambda x: (x + 0j).at[jnp.array([5, 0])].get(mode="fill", fill_value=1j),
    "update": lambda x: (x + 0j).at[1].set(1j),
    "scattered addition": lambda x: jnp.zeros(3, complex).at[x.astype(int)].add(1j),
    "concatenation": lambda x: jnp.concatenate([x, jnp.array([1j])]),
    "select": lambda x: jnp.select([x > 2, x < 0], [1j, 2j], 3j),
    "sum": lambda x: jnp.sum(jnp.where(x > 0, 1j, 2j)),
    "vmap": lambda x: jax.vmap(lambda a, b: jnp.where(a > 0, b, 1j), in_axes=(0, None))(x, 2j),
    "grad": lambda x: jax.grad(lambda a: jnp.sum(jnp.abs(jnp.where(a > 0, 0j, a + 2j) * 1j) ** 2))(x),
    "jvp": lambda x: jax.jvp(lambda a: jnp.where(a > 0, 1j, a * 2j), (x,), (x,)),
    "expanded": lambda x: jnp.broadcast_to(jnp.array(2j), (2, 3)) * x,
    "matrix product": lambda x: jnp.dot(x + 0j, C),
}


def typed(results):
    return [(r.dtype, r.shape, r.weak_type) for r in map(jnp.asarray, jax.tree.leaves(results))]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_constant(name, x64):
    with jax.enable_x64(x64):
        function, x = PROGRAMS[name], jnp.array([-1.0, 2.0, 3.0])
        want = function(x)
        got = jax.jit(function)(x)
        assert typed(got) == typed(want)
        exported = export(function)(x).call(x)
        for results in (got, exported):
            for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(want), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_an_argument_that_is_returned_is_not_taken_apart():
    keys = jax.random.split(jax.random.key(0), 3)
    made = export(lambda z, keys: (z, keys, z.real, z.imag + 1))(C, keys)
    operators = [node.op_type for node in made.onnx_model.graph.node]
    assert sorted(operators) == ["Add", "Gather", "Gather", "Identity", "Identity"]
    z, same, real, imag = made.call(C, keys)
    np.testing.assert_array_equal(z, C)
    np.testing.assert_array_equal(jax.random.key_data(same), jax.random.key_data(keys))
    np.testing.assert_array_equal(real, C.real)
    np.testing.assert_array_equal(imag, C.imag + 1)


def test_swapped_components_are_joined():
    made = export(lambda z: lax.complex(z.imag, z.real))(C)
    np.testing.assert_array_equal(made.call(C), C.imag + 1j * C.real)


def test_components_of_one_tensor_are_not_joined_again():
    """Between two nodes that take complex numbers as one tensor nothing takes them apart and joins them."""
    x = np.linspace(-1, 1, 128 * 128, dtype=np.float32).reshape(128, 128) + 1j
    fun = jax.jit(lambda x: jnp.fft.ifft2(jnp.fft.fft2(x) * x))
    text = fun.lower(x).as_text()
    assert "split" not in text and "join" not in text
    np.testing.assert_allclose(fun(x), np.fft.ifft2(np.fft.fft2(x) * x), rtol=1e-4, atol=1e-4)
