"""Complex numbers in graphs: pairs of parts, against the kernels."""

import numpy as np
import pytest

from onax._ground import onnx_runtime
from onax._native import ort
from onax._native.avals import ShapedArray
from onax._prims import convert, dot, elementwise, elementwise_pow, shaping
from onax._prims.placement import REUSE_INPUT, device_put_p
from onax._transforms.staging import trace_to_jaxpr
from onax.export import lower  # noqa: F401
from onax.export.graph import proto
from onax.export.lower.driver import lower_jaxpr

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True, scope="module")
def runtime():
    """The library, attached once."""
    ort.attach(onnx_runtime.find_runtime().library)


def physical(x):
    """As it crosses a graph's boundary."""
    return x.view(f"f{x.dtype.itemsize // 2}").reshape((*x.shape, 2)) if x.dtype.kind == "c" else x


def lowered(fun, *arrays, opset=21):
    closed = trace_to_jaxpr(lambda *xs: [fun(*xs)], [ShapedArray(a.shape, a.dtype) for a in arrays])
    data, ins, outs, shared = proto.to_session(lower_jaxpr(closed, opset=opset))
    (y,) = ort.Session(data, ins, outs, initializers=shared).run([physical(a) for a in arrays])
    dtype = closed.outvars[0].aval.dtype
    return y.view(dtype)[..., 0] if dtype.kind == "c" else y


def sample(dtype, shape=(3, 4)):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


# the largest error in multiples of the result's size
CASES = {
    "neg": (elementwise.neg, np.negative, 1), "real": (elementwise.real, np.real, 1),
    "imag": (elementwise.imag, np.imag, 1), "conj": (elementwise.conj, np.conj, 1),
    "abs": (elementwise.abs, np.abs, 1), "square": (elementwise.square, np.square, 1),
    "add": (elementwise.add, np.add, 2), "sub": (elementwise.sub, np.subtract, 2),
    "mul": (elementwise.mul, np.multiply, 2), "div": (elementwise.div, np.divide, 2),
    "eq": (elementwise.eq, np.equal, 2), "ne": (elementwise.ne, np.not_equal, 2),
    "sum": (lambda z: shaping.reduce_sum(z, (0,)), lambda z: z.sum(0), 1),
    "select": (lambda z, w: elementwise.select_n(elementwise.eq(z, w), z, w), lambda z, w: np.where(z == w, w, z), 2),
    "to bool": (lambda z: convert.convert_element_type(z, np.bool_), lambda z: z.real != 0, 1),
    "put": (lambda z: device_put_p.bind(z, devices=(None,), srcs=(None,), copy_semantics=(REUSE_INPUT,))[0],
            lambda z: z, 1),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name, dtype):
    fun, want, arity = CASES[name]
    z, w = sample(dtype), sample(dtype)
    w[0] = z[0]
    z[1, 1] = 0
    arrays = (z, w)[:arity]
    got, want = lowered(fun, *arrays), want(*arrays)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("size", [1e30, 1e-30])
def test_large_and_small_parts_do_not_overflow(size):
    z, w = sample(np.complex64) * np.float32(size), sample(np.complex64) * np.float32(size)
    np.testing.assert_allclose(lowered(elementwise.div, z, w), z / w, rtol=1e-6)
    np.testing.assert_allclose(lowered(elementwise.abs, z), np.abs(z), rtol=1e-6)


def test_real_and_complex():
    x, y = RNG.standard_normal((2, 5)).astype(np.float32)
    np.testing.assert_array_equal(lowered(elementwise.complex, x, y), x + 1j * y)
    np.testing.assert_array_equal(lowered(elementwise.conj, x), x.astype(np.complex64))
    to = lambda dtype: lambda x: convert.convert_element_type(x, dtype)
    np.testing.assert_array_equal(lowered(to(np.complex64), x), x.astype(np.complex64))
    np.testing.assert_array_equal(lowered(to(np.complex64), np.arange(3, dtype=np.int32)), np.arange(3) + 0j)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_dot_general(dtype):
    z, w = sample(dtype, (2, 3, 4)), sample(dtype, (2, 4, 5))
    numbers = (((2,), (1,)), ((0,), (0,)))
    got = lowered(lambda z, w: dot.dot_general(z, w, numbers), z, w)
    np.testing.assert_allclose(got, z @ w, rtol=30 * np.finfo(dtype).eps)


def test_dot_general_of_real_and_complex():
    z, w = sample(np.complex64, (2, 3)), sample(np.complex64, (3, 2))
    numbers = (((1,), (0,)), ((), ()))
    product = lambda x, y: dot.dot_general(x, y, numbers, preferred_element_type=np.complex64)
    for x, y in ((z.real, w), (z, w.real), (z.real, w.real)):
        np.testing.assert_allclose(lowered(product, x, y), x @ y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", range(18, 27))
def test_every_opset(opset):
    z, w = sample(np.complex64), sample(np.complex64)

    def fun(z, w):
        inner = elementwise.mul(elementwise.exp(z), elementwise.log(w))
        return elementwise.add(elementwise.tanh(inner), elementwise_pow.pow(elementwise.sqrt(z), elementwise.asin(w)))

    want = np.tanh(np.exp(z) * np.log(w)) + np.sqrt(z) ** np.arcsin(w)
    np.testing.assert_allclose(lowered(fun, z, w, opset=opset), want, rtol=2e-5)


LIMITS = np.array([-np.inf, -2.5, -0.0, 0.0, 0.7, np.inf, np.nan])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sinh", "cosh", "sin", "cos", "logistic"])
def test_infinite_and_nan_parts(name, dtype):
    z = np.empty(LIMITS.size**2, dtype)
    z.real, z.imag = np.repeat(LIMITS, LIMITS.size), np.tile(LIMITS, LIMITS.size)
    primitive = getattr(elementwise, f"{name}_p")
    with np.errstate(all="ignore"):
        want = primitive.kernel[z.dtype](z)
    got = lowered(primitive.bind, z)
    for part in ("real", "imag"):
        np.testing.assert_allclose(getattr(got, part), getattr(want, part), rtol=8 * np.finfo(dtype).eps, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("name, part", [("asin", "real"), ("asinh", "imag")])
def test_zeros_beside_a_cut_keep_their_signs(name, part, dtype):
    parts = np.array([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf])
    z = np.empty(parts.size**2, dtype)
    z.real, z.imag = np.repeat(parts, parts.size), np.tile(parts, parts.size)
    got = lowered(getattr(elementwise, name), z)
    np.testing.assert_array_equal(np.signbit(getattr(got, part)), np.signbit(getattr(z, part)))
