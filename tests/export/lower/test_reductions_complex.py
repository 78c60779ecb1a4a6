"""Products and extrema of complex numbers in files, by halving."""

import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._ground.errors import LoweringError
from onax.export import export, symbolic_shape

RNG = np.random.default_rng(0)
REDUCTIONS = {"prod": lax.reduce_prod, "max": lax.reduce_max, "min": lax.reduce_min}


@pytest.mark.parametrize(
    "shape, axes",
    [((7,), (0,)), ((4, 3), (0,)), ((4, 3), (1,)), ((2, 5, 3), (0, 2)), ((3, 0), (1,)), ((3,), ()), ((1, 2), (0,))],
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_as_evaluated(name, shape, axes):
    x = (RNG.integers(-2, 3, shape) + 1j * RNG.integers(-2, 3, shape)).astype(np.complex64)
    function = lambda v: REDUCTIONS[name](v, axes)
    np.testing.assert_allclose(export(jax.jit(function))(x).call(x), function(x), rtol=1e-6)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_as_many_as_are_not_known_are_refused(name):
    (n,) = symbolic_shape("n")
    with pytest.raises(LoweringError, match="give the axes that it reduces known sizes"):
        export(jax.jit(lambda v: REDUCTIONS[name](v, (0,))))(jax.ShapeDtypeStruct((n,), np.complex64))
