"""Operations under jax_debug_nans and jax_debug_infs."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax._core import result_checks  # noqa: F401  (registers the check)
from onax._ground.config import DEBUG_INFS, DEBUG_NANS, KEY_REUSE, debug_infs, debug_nans
from onax._native.array import make_array
from onax._native.dispatch import Primitive
from onax._native.hooks import hooks

div = Primitive("test_div", kernel=np.divide)
both = Primitive("test_both", kernel=lambda x, y: (x, np.divide(x, y)), multiple_results=True)


def operands(top, dtype):
    return [make_array(np.array([value], dtype)) for value in (top, 0)]


@pytest.mark.parametrize("dtype", ["float32", "complex64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("option, top, name", [(debug_nans, 0, "nan"), (debug_infs, 1, "inf")])
def test_forbidden_values(option, top, name, dtype):
    x, y = operands(top, dtype)
    div.bind(x, y)
    with option(True):
        for primitive in (div, both):
            with pytest.raises(FloatingPointError, match=rf"invalid value \({name}\) encountered in {primitive}"):
                primitive.bind(x, y)
        assert div.bind(x, make_array(np.ones(1, dtype))).shape == (1,)
    div.bind(x, y)


def test_no_check_is_asked_while_its_option_is_off(monkeypatch):
    def never(*_):
        raise AssertionError("a check was asked for nothing")

    everything = DEBUG_NANS | DEBUG_INFS | KEY_REUSE
    assert hooks.checked_options & everything == everything
    monkeypatch.setattr(hooks, "checked_evaluation", never)
    x = jax.numpy.ones(3)
    jitted = jax.jit(lambda x: jax.numpy.sin(x) * 2)
    jitted(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(jitted), "_miss", never)  # calls seen before stay within compiled code
        jitted(x)
    jax.grad(lambda x: jax.numpy.sum(jitted(x) ** 2))(x)
    jax.random.normal(jax.random.key(0))


def test_where_checks_its_result_alone():
    with debug_nans(True):
        assert float(jax.numpy.where(jax.numpy.array([True]), 1.0, np.nan)[0]) == 1.0
        assert float(jax.jit(lambda x: jax.numpy.where(x > 0, x, np.nan))(1.0)) == 1.0
        with pytest.raises(FloatingPointError, match=r"invalid value \(nan\) encountered in"):
            jax.numpy.where(jax.numpy.array([False]), 1.0, np.nan)
