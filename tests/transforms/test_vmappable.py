"""vmap of containers that are mapped by functions of their own."""

from dataclasses import dataclass

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.interpreters import batching


@dataclass
class Ragged:
    """Rows beside each other, with their lengths along the last axis."""

    values: object
    lengths: object


@pytest.fixture
def ragged():
    batching.register_vmappable(
        Ragged,
        int,
        int,
        lambda cont, _, x, axis: Ragged(cont(x.values, axis), cont(x.lengths, -1)),
        lambda cont, size, x, axis: Ragged(cont(size, x.values, axis), cont(size, x.lengths, x.lengths.ndim)),
        None,
    )
    yield Ragged(jnp.arange(6.0).reshape(2, 3), jnp.array([1, 3]))
    batching.unregister_vmappable(Ragged)


def test_arguments_and_results(ragged):
    ragged.shape = ragged.values.shape
    total = jax.vmap(lambda r: jnp.where(jnp.arange(3) < r.lengths, r.values, 0).sum())
    assert total(ragged).tolist() == [0, 12]
    assert jax.jit(lambda v, n: total(_shaped(v, n)))(ragged.values, ragged.lengths).tolist() == [0, 12]
    made = jax.vmap(lambda x, n: Ragged(x * 2, n), out_axes=1)(ragged.values, ragged.lengths)
    np.testing.assert_array_equal(made.values, ragged.values.T * 2)
    assert made.lengths.tolist() == [1, 3]
    same = jax.vmap(lambda r, x: x + r.values[0], in_axes=(None, 0))(ragged, jnp.ones((4, 3)))
    assert same.shape == (4, 3)


def test_a_given_size_needs_no_shape(ragged):
    """Nor need the spec be a number."""
    batching.unregister_vmappable(Ragged)
    batching.register_vmappable(
        Ragged,
        str,
        int,
        lambda cont, _, x, spec: Ragged(cont(x.values, int(spec)), cont(x.lengths, 0)),
        lambda cont, size, x, spec: Ragged(cont(size, x.values, int(spec)), cont(size, x.lengths, 0)),
        None,
    )
    doubled = jax.vmap(lambda r: Ragged(r.values * 2, r.lengths), in_axes="0", out_axes="1", axis_size=2)(ragged)
    np.testing.assert_array_equal(doubled.values, ragged.values.T * 2)


def _shaped(values, lengths):
    out = Ragged(values, lengths)
    out.shape = values.shape
    return out


def test_unregistered():
    with pytest.raises(TypeError, match="not a valid JAX type"):
        jax.vmap(lambda r: r)(Ragged(1, 2))
    with pytest.raises(KeyError):
        batching.unregister_vmappable(Ragged)
