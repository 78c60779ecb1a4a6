"""The key by which programs that compute the same share what is compiled for them."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._core.structure import SharedByStructure, clear_shared, structure

X = np.linspace(0, 1, 6, dtype=np.float32)


def of(function, *args):
    return structure(jax.make_jaxpr(function)(*args or (X,)))


def test_names_and_lines_are_no_part_of_it():
    assert of(lambda a: jnp.sin(a) * 2) == of(
        lambda other: jnp.sin(other) * 2,
    )
    assert of(lambda a, b: a - b, X, X) != of(lambda a, b: b - a, X, X)
    assert of(lambda a: (a + 1, a * 2)) != of(lambda a: (a * 2, a + 1))


@pytest.mark.parametrize("one, other", [(0.0, -0.0), (1.0, 1.0000001), (0.1, 0.2), (np.float32(2), np.float32(3))])
def test_literals_are_told_apart_by_their_bits(one, other):
    assert of(lambda a: a * one) == of(lambda a: a * one)
    assert of(lambda a: a * one) != of(lambda a: a * other)


def test_types_are_part_of_it():
    assert of(jnp.sin, X) != of(jnp.sin, X[:3])
    assert of(jnp.sin, X) != of(jnp.sin, X.astype(np.float16))
    assert of(lambda a: a.astype(np.int32)) != of(lambda a: a.astype(np.int16))


def test_parameters_are_part_of_it():
    assert of(lambda a: jnp.cumsum(a)) != of(lambda a: lax.cumsum(a, reverse=True))
    assert of(lambda a: a**2) != of(lambda a: a**3)
    fill = lambda value: lambda a: a.at[np.array([9])].get(mode="fill", fill_value=value)
    assert of(fill(0.0)) == of(fill(0.0))
    assert of(fill(0.0)) != of(fill(-0.0))


def test_constants_are_told_apart_by_their_bytes():
    assert of(lambda a: a + X) == of(lambda a: a + X.copy())
    assert of(lambda a: a + X) != of(lambda a: a + (X + 1))
    with pytest.raises(TypeError):
        of(lambda a: a[0] + np.zeros(5000, np.float32))


def test_programs_inside_equations_are_described():
    loop = lambda k: lambda a: lax.fori_loop(0, 5, lambda i, c: c * k, a)
    assert of(loop(2.0)) == of(loop(2.0))
    assert of(loop(2.0)) != of(loop(3.0))


def test_functions_are_no_part_of_it():
    def program(function):
        return lambda a: jax.pure_callback(function, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    with pytest.raises(TypeError):
        hash(of(program(np.sin)))


def test_the_table_makes_once_and_is_bounded():
    made = []
    table = SharedByStructure(2)
    programs = [jax.make_jaxpr(lambda a, k=k: a * k)(X) for k in (1.0, 2.0, 3.0, 3.0, 2.0, 1.0)]
    for jaxpr in programs:
        assert str(table.get(jaxpr, lambda j: made.append(j) or j)) == str(jaxpr)
    assert [programs.index(j) for j in made] == [0, 1, 2, 5] and len(table.made) == 2
    clear_shared()
    assert not table.made
    large = jax.make_jaxpr(lambda a: a[0] + np.zeros(5000, np.float32))(X)
    assert table.get(large, lambda j: j) is large and not table.made
    picky = SharedByStructure(2, is_kept=lambda made: made > 1)
    assert [picky.get(programs[0], lambda j: 1), picky.get(programs[0], lambda j: 2)] == [1, 2]
    assert picky.get(programs[0], lambda j: 3) == 2
