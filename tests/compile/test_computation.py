"""What the runtime computes of a program, and where each result comes from."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax._compile.computation import Computation

X = np.arange(3, dtype=np.float32)


def computation(function, *args, **options):
    return Computation(jax.make_jaxpr(function)(*args), **options)


ORIGINS = {  # function, kinds of the results, arguments that the core reads
    "a sum": (lambda x, y: x + y, ["computed"], [0, 1]),
    "an argument": (lambda x, y: (y, y * 2), ["forwarded", "computed"], [1]),
    "a literal": (lambda x, y: (1.0, x * 2), ["constant", "computed"], [0]),
    "a constant": (lambda x, y: (X, x * 2), ["constant", "computed"], [0]),
    "one value twice": (lambda x, y: (lambda z: (z, z))(x + 1), ["computed", "computed"], [0]),
    "nothing computed": (lambda x, y: (x, 2), ["forwarded", "constant"], None),
    "no results": (lambda x, y: (), [], None),
}


@pytest.mark.parametrize("name", ORIGINS)
def test_origins_of_results(name):
    function, kinds, read = ORIGINS[name]
    found = computation(function, X, X)
    assert [out[0] for out in found.outs] == kinds
    assert (found.core is None) == (read is None)
    if read is not None:
        assert found.kept == read and len(found.core.invars) == len(read)
        assert len(found.core.outvars) == len({out[1] for out in found.outs if out[0] == "computed"})


def test_arguments_read():
    assert computation(lambda x, y, z: (x * 2, z), X, X, X).arguments_read() == {0, 2}
    assert computation(lambda x, y: x, X, X).arguments_read() == {0}


def test_unused_arguments_are_kept_on_request():
    assert computation(lambda x, y: x * 2, X, X, keep_unused=True).kept == [0, 1]


def test_constants_that_are_results_alone_are_not_read():
    zeros = np.zeros(3, jax.dtypes.float0)  # ONNX has no type for these
    core = computation(lambda x: (x * X, X + 1, zeros), X).core
    assert [v.aval.dtype for v in core.constvars] == [np.float32]


def test_effects_without_results_are_computed():
    assert computation(lambda x: jax.debug.print("{}", x), X).core is not None


@pytest.mark.parametrize(
    "value",
    [X + 1j, jax.random.split(jax.random.key(0), 3), X.astype(ml_dtypes.bfloat16)],
    ids=["complex", "keys", "bfloat16"],
)
def test_values_cross_the_boundary_as_the_runtime_takes_them(value):
    """Complex numbers and keys reach the runtime as numbers with trailing axes, and come back as they are."""
    got = jax.jit(lambda x: jnp.concatenate([x[1:], x[:1]]))(value)
    want = jnp.concatenate([value[1:], value[:1]])
    assert got.dtype == want.dtype and bool((got == want).all())
