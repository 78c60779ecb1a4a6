"""searchsorted and digitize: values and dtypes, eager, under jit and under vmap (expected results are JAX's)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

X = [0.5, 1, 3, 4, 6]
FALLING = [5, 3, 1]
RISING = [1, 3, 5]
DIGITIZED = [  # x, bins, right, numbers of bins
    (X, FALLING, False, [3, 2, 1, 1, 0]),
    (X, FALLING, True, [3, 3, 2, 1, 0]),
    (X, RISING, False, [0, 1, 2, 2, 3]),
    (X, RISING, True, [0, 0, 1, 2, 3]),
    (X, [3], False, [0, 0, 1, 1, 1]),
    (X, [3], True, [0, 0, 0, 1, 1]),
    (X, [3, 3, 3], False, [0, 0, 3, 3, 3]),
    (X, [3, 3, 3], True, [0, 0, 0, 3, 3]),
    (X, [], False, [0, 0, 0, 0, 0]),
    ([np.nan, 0, 3, 1], FALLING, False, [0, 3, 1, 2]),
    ([np.nan, 0, 3, 1], FALLING, True, [0, 3, 2, 3]),
    (list(range(7)), FALLING, False, [3, 2, 2, 1, 1, 0, 0]),
    (list(range(7)), FALLING, True, [3, 3, 2, 2, 1, 1, 0]),
]


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("x, bins, right, numbers", DIGITIZED)
def test_digitize(x, bins, right, numbers, x64):
    with jax.enable_x64(x64):
        operands = jnp.array(x), jnp.array(bins)
        number_of = lambda a, b: jnp.digitize(a, b, right=right)
        mapped = jax.vmap(number_of, in_axes=(0, None))
        for function in (number_of, jax.jit(number_of), mapped, jax.jit(mapped)):
            result = function(*operands)
            assert (result.tolist(), result.dtype, result.weak_type) == (numbers, np.int32, False)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("bins, queries", [(5, 3), (5, 2000), (1, 4), (0, 2)])  # compared with all, or by halving
def test_places_are_int32(bins, queries, x64):
    """The dtype is the one that holds every index into the sorted array, not the default integer."""
    with jax.enable_x64(x64):
        a, v = jnp.arange(bins, dtype=np.float32), jnp.linspace(-1.0, 6.0, queries, dtype=np.float32)
        for side in ("left", "right"):
            search = lambda a, v, side=side: jnp.searchsorted(a, v, side=side)
            for function in (search, jax.jit(search), jax.vmap(search, in_axes=(None, 0))):
                result = function(a, v)
                assert result.dtype == np.int32 and not result.weak_type
                np.testing.assert_array_equal(result, np.searchsorted(np.asarray(a), np.asarray(v), side))


def test_places_along_a_symbolic_axis_have_the_default_dtype():
    (n,) = jax.export.symbolic_shape("n")
    for x64, dtype in ((False, np.int32), (True, np.int64)):
        with jax.enable_x64(x64):
            a = jax.ShapeDtypeStruct((n,), np.float32)
            assert jax.eval_shape(jnp.searchsorted, a, jnp.float32(1)).dtype == dtype


def test_an_array_too_long_for_int32_needs_x64():
    a, v = jax.ShapeDtypeStruct((2**31,), np.float32), jax.ShapeDtypeStruct((), np.float32)
    with jax.enable_x64(True):
        assert jax.eval_shape(jnp.searchsorted, a, v).dtype == np.int64
    with pytest.warns(UserWarning, match="Explicitly requested dtype int64"):
        with pytest.raises(OverflowError, match="Python integer 2147483648 out of bounds for int32"):
            jax.eval_shape(jnp.searchsorted, a, v)
