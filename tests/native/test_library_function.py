"""Functions of the library that are compiled when calls with large arrays repeat."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import nn
from onax import numpy as jnp
from onax._compile.jit import LEAST, PATIENCE
from onax._control.jit_call import FEW, LARGE, compiled_when_large, staged
from onax._native.api_boundary import unwrap
from onax._native.library_function import LibraryFunction

SIDE = 64
CALLS = PATIENCE // max(SIDE * SIDE, LEAST)  # until a program is made for arrays of SIDE x SIDE


def large(dtype=np.float32, seed=0):
    x = np.random.default_rng(seed).normal(size=(SIDE, SIDE)) * 4
    return jnp.asarray((x + 1j * x.T if np.dtype(dtype).kind == "c" else x).astype(dtype))


def programs(function):
    """How many programs were made of a function."""
    compiled = unwrap(function).compiled
    return 0 if compiled is None else compiled._cache_size()


def twice_exp(k=1):
    """A new function, so that no test sees the programs of another."""

    @compiled_when_large(("power",))
    def function(x, y=0.0, power=k):
        return jnp.exp(x) ** power + y

    return function


def test_a_program_is_made_when_its_calls_have_brought_enough_elements():
    function, x = twice_exp(), large()
    assert SIDE * SIDE >= LARGE
    for _ in range(CALLS - 1):
        function(x)
    assert programs(function) == 0
    function(x)
    assert programs(function) == 1
    for _ in range(CALLS):
        function(x, power=2)
        function(x, 3.0, 2)
    assert programs(function) == 3  # one for each static value and each structure of the arguments


def test_one_call_on_very_many_elements_is_compiled():
    function = twice_exp()
    function(jnp.ones(PATIENCE, jnp.float32))
    assert programs(function) == 1


def test_small_arrays_and_what_is_no_array_are_evaluated():
    function = twice_exp()
    for _ in range(2 * CALLS):
        function(jnp.ones(LARGE - 1))
        function(np.ones((SIDE, SIDE), np.float32))
        function(2.0)
    assert programs(function) == 0


def repeat(function, *args, **kwargs):
    """The result of the first and of the last of so many calls that a program is made."""
    first = function(*args, **kwargs)
    for _ in range(CALLS):
        last = function(*args, **kwargs)
    return first, last


DTYPES = [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize(
    "name", ["softmax", "logsumexp", "gelu", "silu", "var", "mean", "cumsum", "nan_to_num", "norm"]
)
def test_results_are_those_of_evaluation(name, dtype):
    function = getattr(nn, name, None) or getattr(jnp, name, None) or getattr(jnp.linalg, name)
    x = large(dtype)
    try:
        first, last = repeat(function, x)
    except (TypeError, ValueError) as error:  # the function does not take this dtype, whichever call it is
        with pytest.raises(type(error)):
            jax.jit(function)(x)
        return
    assert (first.dtype, first.weak_type, first.shape) == (last.dtype, last.weak_type, last.shape)
    exact = first.dtype.kind in "biu"
    digits = 0 if exact else 32 * float(jnp.finfo(first.dtype).eps)
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    scale = float(np.max(np.abs(np.asarray(first).astype(wide))))
    np.testing.assert_allclose(np.asarray(first).astype(wide), np.asarray(last).astype(wide), digits, digits * scale)


def test_weak_types_are_kept():
    x = jnp.full((SIDE, SIDE), 2.0)
    assert x.weak_type
    first, last = repeat(twice_exp(), x)
    assert first.weak_type and last.weak_type
    first, last = repeat(twice_exp(), x, jnp.float32(1))
    assert not first.weak_type and not last.weak_type


def test_options_that_ask_for_single_operations_are_obeyed():
    x = large()
    negative = -jnp.abs(x) - 1

    @compiled_when_large()
    def root(x):
        return jnp.sqrt(x) + 1

    with jax.disable_jit():
        repeat(root, x)
    assert programs(root) == 0
    repeat(root, x)
    assert programs(root) == 1
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        root(negative)
    assert np.isnan(root(negative)).all()


def test_transformations_see_the_operations():
    x = large()
    for _ in range(2):  # before and after a program is made
        repeat(nn.softmax, x)
        gradient = jax.grad(lambda x: (nn.softmax(x) ** 2).sum())(x)
        np.testing.assert_allclose(gradient, jax.jit(jax.grad(lambda x: (nn.softmax(x) ** 2).sum()))(x), 1e-4, 1e-6)
        batched = jax.vmap(nn.softmax)(jnp.stack([x, 2 * x]))
        np.testing.assert_allclose(batched[1], nn.softmax(2 * x), 1e-5, 1e-7)
        _, tangent = jax.jvp(nn.softmax, (x,), (x,))
        assert tangent.shape == x.shape
        assert "jit" not in str(jax.make_jaxpr(nn.softmax)(x))
        assert "name=log_softmax" in str(jax.make_jaxpr(nn.log_softmax)(x))


def test_static_arguments_without_a_hash_are_no_reason_to_fail():
    first, last = repeat(nn.logsumexp, large(), axis=[0, 1])
    assert float(first) == float(last)


def test_placed_arrays_keep_their_device():
    device = jax.devices()[-1]
    x = jax.device_put(large(), device)
    first, last = repeat(nn.silu, x)
    assert first.devices() == last.devices() == {device}


def test_errors_are_those_of_evaluation():
    x = large(np.int32)

    @staged("needs_floats")
    def needs_floats(x):
        return jax.lax.exp(x)

    errors = []
    for _ in range(CALLS + 2):
        with pytest.raises(TypeError) as caught:
            needs_floats(x)
        errors.append(str(caught.value))
    assert len(set(errors)) == 1
    assert programs(needs_floats) == 0


def test_results_do_not_share_memory_with_arguments():
    x = large()
    first, last = repeat(jnp.nan_to_num, x)
    last.delete()
    np.testing.assert_array_equal(first, x)


def test_a_cleared_cache_starts_to_count_again():
    function, x = twice_exp(), large()
    repeat(function, x)
    jax.clear_caches()
    function(x)
    assert programs(function) == 0


def test_it_stands_for_the_function():
    assert isinstance(unwrap(nn.softmax), LibraryFunction)
    assert nn.softmax.__doc__ == unwrap(nn.softmax).fun.__doc__
    assert unwrap(nn.log_softmax).__name__ == "log_softmax"


def test_functions_of_many_operations_are_compiled_for_few_elements():
    function = unwrap(jnp.nan_to_num)
    assert function.from_elements == FEW
    x = jnp.array([1.0, jnp.nan, jnp.inf, -jnp.inf, -0.0, 5.0, 7.0])
    want = np.nan_to_num(np.asarray(x))
    if function.compiled is not None:
        function.compiled.clear_cache()
    results = [np.asarray(jnp.nan_to_num(x)) for _ in range(PATIENCE // LEAST + 1)]
    assert function.compiled._cache_size() == 1
    for got in results:
        np.testing.assert_array_equal(got, want)
        assert np.signbit(got[4])
