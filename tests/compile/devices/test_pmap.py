"""pmap: static arguments, staging, nesting, donation, errors.  tests/golden compares values with JAX."""

import re

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from virtual_devices import MODES, eight_devices


@pytest.fixture(autouse=True, params=MODES)
def devices(request):
    with eight_devices(MODES[request.param]):
        yield


X = np.arange(12, dtype=np.float32).reshape(4, 3)
ERRORS = {
    "pmap over too many": (
        lambda: jax.pmap(lambda x: x)(jnp.ones((9, 3))),
        ValueError,
        "implies that array axis 0 is partitioned 8 times, but the dimension size is 9 (full shape: (9, 3), "
        "per-dimension tiling factors: [8, 1] should evenly divide the shape)",
    ),
    "pmap over unlike axes": (
        lambda: jax.pmap(lambda x, y: x)(X, X[:3]),
        ValueError,
        "implies that array axis 0 is partitioned 4 times, but the dimension size is 3",
    ),
    "pmap over a scalar": (
        lambda: jax.pmap(lambda x: x)(1.0),
        ValueError,
        "pmap requires at least one argument with a mapped axis.",
    ),
    "pmap of another size": (
        lambda: jax.pmap(lambda x: x, axis_size=3)(X),
        ValueError,
        "Specified axis_size 3 doesn't match received axis_size 4.",
    ),
    "pmap on no devices": (
        lambda: jax.pmap(lambda x: x, devices=[]),
        ValueError,
        "'devices' argument to pmap must be non-empty, or None.",
    ),
    "pmap with a list for a static argument": (
        lambda: jax.pmap(lambda x, n: x, static_broadcasted_argnums=1)(X, [3]),
        ValueError,
        "Static argument (index 1) of type <class 'list'> for function <lambda> is non-hashable.",
    ),
    "pmap without its static argument": (
        lambda: jax.pmap(lambda x: x, static_broadcasted_argnums=3)(X),
        ValueError,
        "pmapped function has static_broadcasted_argnums=(3,) but was called with only 1 positional argument.",
    ),
    "pmap over what is no axis": (
        lambda: jax.pmap(lambda x: x, in_axes="a")(X),
        TypeError,
        "pmap in_axes must be an int, None, or (nested) container with those types as leaves, but got a.",
    ),
    "pmap with axes for more elements": (
        lambda: jax.pmap(lambda x, y: x, in_axes=((0, 0, 0), 0))((X, X), X),
        ValueError,
        "different lengths of tuple at key path\n    pmap in_axes[0][0]\n",
    ),
    "pmap with axes for more arguments": (
        lambda: jax.pmap(lambda x, y: x, in_axes=(0, 0, 0))(X, X),
        ValueError,
        "different lengths of tuple at key path\n    pmap in_axes[0]\n",
    ),
    "pmap with a list of axes": (
        lambda: jax.pmap(lambda x, y: x, in_axes=[0, 0])(X, X),
        ValueError,
        "different types at key path\n    pmap in_axes[0]\n",
    ),
    "pmap with axes for arguments passed by keyword": (
        lambda: jax.pmap(lambda x, y: x, in_axes=(0, 0))(X, y=X),
        ValueError,
        "Instead, each argument passed by keyword is mapped over its leading axis.",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=re.escape(text)):
        call()


def test_pmap_passes_static_arguments():
    seen = []
    out = jax.pmap(lambda x, n: (seen.append(type(n)), x * n)[1], static_broadcasted_argnums=1)(X, 3)
    assert seen and set(seen) == {int} and np.array_equal(out, X * 3)


def test_pmap_stages_once():
    seen = []
    f = jax.pmap(lambda x: (seen.append(1), x + 1)[1])
    for _ in range(3):
        f(X)
    traced = len(seen)
    f(X)
    assert len(seen) == traced


def test_equal_pmaps_of_a_function_share_programs():
    traced = []

    def f(x):
        return traced.append(x) or x

    x = jnp.ones((1, 1))
    for _ in range(2):
        for options in ({}, {"axis_name": "i"}, {"in_axes": 1}):
            jax.pmap(f, **options)(x)
    assert len(traced) == 3
    for _ in range(2):
        jax.pmap(f, in_axes=({"a": None},), axis_size=1)  # axes without a hash
        jax.pmap(lambda d: f(d["a"]), in_axes=({"a": 0},))({"a": x})
    assert len(traced) == 5


def test_nested_pmap():
    inner = lambda y: lax.psum(y, ("i", "j")) + lax.axis_index("j")
    out = jax.pmap(jax.pmap(inner, axis_name="j"), axis_name="i")(X)
    assert np.allclose(out, X.sum() + np.arange(3))


def test_pmap_donates():
    x = jnp.ones((4, 3))
    jax.pmap(lambda x: x * 2, donate_argnums=0)(x)
    assert x.is_deleted()


def test_lowered_pmap():
    lowered = jax.pmap(lambda x: x + 1).lower(X)
    assert np.array_equal(lowered.compile()(X), X + 1)


def test_lowered_for_types():
    for described in (jax.ShapeDtypeStruct(X.shape, X.dtype), jax.core.ShapedArray(X.shape, X.dtype)):
        assert np.array_equal(jax.pmap(lambda x: x + 1).lower(described).compile()(X), X + 1)


def test_without_jit():
    with jax.disable_jit():
        assert np.array_equal(jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")(X), np.stack([X.sum(0)] * 4))


def test_nans_are_found():
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match=r"\(nan\)"):
        jax.pmap(lambda x: jnp.log(x))(X - 1)
