"""Rows that define elementwise primitives: types of results, accuracy, errors, constants."""

import numpy as np
import pytest

from onax import lax
from onax._core.facts import ELEMENTWISE
from onax._native.avals import ShapedArray
from onax._prims.elementwise_kernels import by_kind
from onax._prims.elementwise_rows import broadcasting_shape, check_dtype, const, unary
from onax._transforms.autodiff import jvp


def test_accuracy_is_checked():
    assert float(lax.exp(0.0, accuracy=lax.AccuracyMode.HIGHEST)) == 1.0
    assert float(lax.exp(0.0, accuracy=lax.Tolerance(atol=1e-3))) == 1.0
    with pytest.raises(ValueError):
        lax.exp(0.0, accuracy="best")
    with pytest.raises(ValueError):
        lax.Tolerance(rtol=-1)


WEAK = (
    (lambda: lax.add(1.0, 2.0), True),
    (lambda: lax.add(1.0, np.float32(2)), False),
    (lambda: lax.pow(2.0, 3), True),
    (lambda: lax.pow(2.0, np.int32(3)), False),
    (lambda: lax.clamp(0.0, 3.0, 1.0), True),
    (lambda: lax.clamp(0.0, np.float32(3), 1.0), False),
    (lambda: lax.select_n(True, 1.0, 2.0), True),
    (lambda: lax.select_n(True, 1.0, np.float32(2)), False),
    (lambda: lax.abs(1j), True),
    (lambda: lax.conj(1.0), True),
)


@pytest.mark.parametrize("call, weak", WEAK)
def test_weak_types(call, weak):
    assert call().weak_type is weak


def test_shapes_of_operands():
    aval = lambda *shape: ShapedArray(shape, np.dtype(np.float32))
    assert broadcasting_shape("f", (aval(), aval(2, 3))) == (2, 3) == broadcasting_shape("f", (aval(2, 1), aval(1, 3)))
    for other in (aval(3), aval(2, 4)):
        with pytest.raises(TypeError, match="f"):
            broadcasting_shape("f", (aval(2, 3), other))


def test_dtypes_are_checked_against_the_kernel():
    kernel = by_kind(floating=np.sin)
    check_dtype("f", kernel, np.dtype(np.float32))
    with pytest.raises(TypeError, match="at position 1"):
        check_dtype("f", kernel, np.dtype(np.int32), 1)


def test_constants_take_the_dtype_and_the_weak_type():
    assert const(np.float16(3), 2).dtype == np.float16 and const(np.int8(3), 300) == 44
    weak = lax.add(1.0, 2.0)
    assert type(const(weak, 2)) is float and lax.mul(weak, const(weak, 2)).weak_type


def test_a_row_defines_a_function_and_a_primitive():
    twice, twice_p = unary("test_twice", by_kind(floating=np.positive), lambda g, y, x: mul_by_three(g), doc="Twice x.")
    assert twice.__name__ == "test_twice" and twice.__module__ == "onax.lax" and "Twice x." in twice.__doc__
    assert ELEMENTWISE in twice_p.facts and jvp(twice, (np.float32(2),), (np.float32(1),))[1] == 3.0
    flat, flat_p = unary("test_flat", by_kind(floating=np.positive), doc="x.")
    assert jvp(flat, (np.float32(2),), (np.float32(1),))[1] == 0.0 and flat_p.batch is not None


def mul_by_three(g):
    return lax.mul(g, np.float32(3))
