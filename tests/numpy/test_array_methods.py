"""Methods, properties and operators of arrays: like NumPy's; deferral; representations as JAX 0.10.2 prints them."""

import operator

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax._native.array import Array
from onax._transforms.abstract import make_jaxpr
from onax.numpy import _array_methods

X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2
I = np.array([[3, 1, 2], [0, 5, 4]], np.int32)
C = (X + 1j).astype(np.complex64)

#         name, operand, positional arguments, keyword arguments
METHODS = (
    ("all", X, (), {"axis": 0}), ("any", X, (1,), {"keepdims": True}), ("argmax", X, (), {"axis": 1}),
    ("argmin", I, (0,), {}), ("choose", np.array([0, 1, 0]), ([10, 11, 12], [20, 21, 22]), {}),
    ("clip", X, (-1, 1), {}), ("conj", C, (), {}), ("conjugate", C, (), {}), ("copy", X, (), {}),
    ("diagonal", X, (1,), {}), ("dot", X, (X.T,), {}), ("flatten", X, (), {}), ("flatten", X, ("F",), {}),
    ("max", X, (), {"axis": 0, "initial": 1}), ("mean", X, (), {"axis": 1}), ("min", X, (1,), {}),
    ("prod", X + 3, (), {}), ("ptp", X, (), {"axis": 1}), ("ravel", X, (), {}), ("repeat", X, (2,), {"axis": 1}),
    ("reshape", X, (3, 2), {}), ("reshape", X, ((3, -1),), {}), ("reshape", X, (-1,), {"order": "F"}),
    ("reshape", X, (np.array([3, 2]),), {}), ("reshape", X, (np.int32(6),), {}),
    ("transpose", X, (np.array([1, 0]),), {}),
    ("round", X / 3, (1,), {}), ("squeeze", X[None], (0,), {}), ("std", X, (), {"axis": 0, "ddof": 1}),
    ("sum", X, (), {"axis": (0, 1)}), ("swapaxes", X, (0, 1), {}), ("take", X, ([1, 0],), {"axis": 1}),
    ("trace", X, (), {"offset": 1}), ("transpose", X, (), {}), ("transpose", X, (1, 0), {}),
    ("transpose", X, ((1, 0),), {}), ("var", X, (), {}), ("tobytes", X, (), {}), ("tolist", X, (), {}),
    ("item", X[:1, :1], (), {}), ("item", X, (1, 2), {}), ("__round__", X / 3, (1,), {}),
)  # fmt: skip


@pytest.mark.parametrize("name, x, args, kwargs", METHODS, ids=range(len(METHODS)))
def test_methods_like_numpy(name, x, args, kwargs):
    arrays = [np.asarray(a) if name in ("take", "dot") else a for a in args]
    if name == "choose":
        arrays, args = [[np.asarray(a) for a in args]], [args]
    if name in ("__round__", "ptp"):
        want = x.round(*args) if name == "__round__" else np.ptp(x, **kwargs)
    else:
        want = getattr(x, name)(*args, **kwargs)
    got = getattr(jnp.asarray(x), name)(*arrays, **kwargs)
    if isinstance(got, Array):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)
        assert got.shape == np.shape(want)
    else:
        assert got == want and type(got) is type(want)


def test_every_method_of_the_table_that_jnp_has_is_there():
    modules = [vars(module) for module in _array_methods.MODULES]
    for name in _array_methods.SAME:
        assert hasattr(Array, name) == any(name in module for module in modules), name
    for name in (*_array_methods.METHODS, *_array_methods.PROPERTIES):
        assert hasattr(Array, name), name


def test_methods_of_tracers():
    f = lambda x: (x.sum(), x.T, x.at[0].set(0.0), x.astype(int), x.reshape(-1).mean(), x.nbytes, x.itemsize, x.mT)
    assert [a.shape for a in make_jaxpr(f)(X).out_avals] == [(), (3, 2), (2, 3), (2, 3), (), (), (), (3, 2)]


def test_properties():
    x, c = jnp.asarray(X), jnp.asarray(C)
    assert (x.nbytes, x.itemsize, x.size, x.ndim) == (24, 4, 6, 2)
    np.testing.assert_array_equal(np.asarray(x.T), X.T)
    np.testing.assert_array_equal(np.asarray(x.mT), X.T)
    np.testing.assert_array_equal(np.asarray(c.real), C.real)
    np.testing.assert_array_equal(np.asarray(c.imag), C.imag)
    assert x.__array_namespace__() is jnp and x.__array_namespace__(api_version="2024.12") is jnp
    with pytest.raises(ValueError, match=r"api_version='1999\.1' is not available"):
        x.__array_namespace__(api_version="1999.1")
    with pytest.raises(NotImplementedError, match=r"consider arr.flatten\(\) instead"):
        _ = x.flat


def test_astype():
    x = jnp.asarray(X)
    assert x.astype("int8").dtype == np.int8 and x.astype(dtype=jnp.bfloat16).dtype == jnp.bfloat16
    assert x.astype(int, copy=True).dtype == np.int32


VIEWS = (
    ("float32", "int32"), ("float32", "uint8"), ("uint8", "int16"), ("int16", "float32"), ("float32", "complex64"),
    ("complex64", "float32"), ("complex64", "uint16"), ("bool", "uint8"), ("bool", "int16"), ("int8", "int8"),
    ("float16", "complex64"),
)  # fmt: skip


@pytest.mark.parametrize("source, target", VIEWS)
def test_view(source, target):
    x = (np.arange(32).reshape(4, 8) % 2).astype(source)
    np.testing.assert_array_equal(np.asarray(jnp.asarray(x).view(target)), x.view(target), strict=True)


def test_view_refuses():
    with pytest.raises(ValueError, match="its size must be a divisor of the total size in bytes of the last axis"):
        jnp.zeros((2, 3), "int8").view("int16")
    with pytest.raises(NotImplementedError, match="`type` argument"):
        jnp.zeros(3).view(np.float32, type=np.ndarray)
    assert jnp.asarray(X).view().shape == (2, 3)


BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "divmod": divmod,
}  # fmt: skip
BITWISE = {"&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift}
OTHERS = (2, 2.0, np.float32(2), np.array([1, 2, 4], np.float32), X + 3)


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_binary_operators(symbol, other):
    """Array with array, NumPy value and Python scalar, on either side."""
    x, f = jnp.asarray(X + 3), BINARY[symbol]
    other_array = jnp.asarray(other) if isinstance(other, np.ndarray) else other
    for got, want in (
        (f(x, other_array), f(X + 3, other)),
        (f(x, other), f(X + 3, other)),
        (f(other, x), f(other, X + 3)),
    ):
        for g, w in zip(got if symbol == "divmod" else [got], want if symbol == "divmod" else [want]):
            assert isinstance(g, Array)
            np.testing.assert_allclose(np.asarray(g), w, rtol=1e-6)


@pytest.mark.parametrize("symbol", BITWISE)
def test_bitwise_operators(symbol):
    x, f = jnp.asarray(I), BITWISE[symbol]
    for other in (1, I, np.int32(3)):
        np.testing.assert_array_equal(np.asarray(f(x, other)), f(I, other))
        np.testing.assert_array_equal(np.asarray(f(other, x)), f(other, I))
    if symbol in "&|^":
        b = I > 2
        np.testing.assert_array_equal(np.asarray(f(jnp.asarray(b), b)), f(b, b))


def test_unary_operators_and_matmul():
    x = jnp.asarray(X)
    np.testing.assert_array_equal(np.asarray(-x), -X)
    np.testing.assert_array_equal(np.asarray(+x), X)
    np.testing.assert_array_equal(np.asarray(abs(x)), abs(X))
    np.testing.assert_array_equal(np.asarray(~jnp.asarray(I)), ~I)
    np.testing.assert_array_equal(np.asarray(x @ X.T), X @ X.T)
    np.testing.assert_array_equal(np.asarray(X.T @ x), X.T @ X)


def test_fast_operators_mean_the_same():
    """The compiled short cuts agree with the functions of the module, dtype and weak type included."""
    values = [
        2,
        2.5,
        True,
        jnp.int8(3),
        jnp.uint8(3),
        jnp.bfloat16(1.5),
        jnp.float16(1.5),
        jnp.complex64(2),
        jnp.asarray(2),
    ]
    fast = {operator for operator, _ in map(_array_methods.fast_operators.get, _array_methods.fast_operators)}
    for name, function in _array_methods.OPERATORS.items():
        if name not in fast or name == "neg":
            continue
        f = getattr(operator, name, None) or getattr(operator, name + "_")
        for x in values[3:]:
            for y in values:
                try:
                    want = function(x, y)
                except (TypeError, ValueError) as error:
                    with pytest.raises(type(error)):
                        f(x, y)
                    continue
                got = f(x, y)
                assert (got.aval, got.tolist()) == (want.aval, want.tolist()), (name, x, y)


class Deferred:
    """Something with operators of its own."""

    def __radd__(self, other):
        return "deferred"

    def __rmatmul__(self, other):
        return "deferred"


REFUSED = (
    (lambda x: x + [1], r"unsupported operand type\(s\) for \+: 'ArrayImpl' and 'list'"),
    (lambda x: [1] + x, r"unsupported operand type\(s\) for \+: 'list' and 'ArrayImpl'"),
    (lambda x: x == [1], r"unsupported operand type\(s\) for ==: 'ArrayImpl' and 'list'"),
    (lambda x: x ** (1, 2), r"unsupported operand type\(s\) for \*\* or pow\(\): 'ArrayImpl' and 'tuple'"),
    (lambda x: divmod(x, [1]), r"unsupported operand type\(s\) for divmod\(\): 'ArrayImpl' and 'list'"),
    (lambda x: x + "a", "unsupported operand type"),
    (lambda x: x + None, "unsupported operand type"),
    (lambda x: x << 1, "shift_left does not accept dtype float32"),
    (lambda x: -(x > 0), "neg does not accept dtype bool"),
    (lambda x: ~x, "not does not accept dtype float32"),
    (lambda x: x & 1, "and does not accept dtype float32"),
    (lambda x: hash(x), "unhashable type"),
)


@pytest.mark.parametrize("f, words", REFUSED, ids=range(len(REFUSED)))
def test_refusals(f, words):
    with pytest.raises(TypeError, match=words):
        f(jnp.asarray(X))


def test_deferral():
    x = jnp.asarray(X)
    assert x + Deferred() == "deferred" and x @ Deferred() == "deferred"
    assert (x == None) is False and (x != None) is True  # noqa: E711
    with pytest.raises(ValueError, match="search array must be one-dimensional"):
        _ = 1.0 in x
    assert 1.0 in x[1] and 9.0 not in x[1]


REPRESENTATIONS = (
    (lambda: jnp.asarray(1.0), "Array(1., dtype=float32, weak_type=True)", "1.0"),
    (lambda: jnp.arange(3), "Array([0, 1, 2], dtype=int32)", "[0 1 2]"),
    (lambda: jnp.ones((2, 2)), "Array([[1., 1.],\n       [1., 1.]], dtype=float32)", "[[1. 1.]\n [1. 1.]]"),
    (lambda: jnp.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float32)", "[]"),
    (lambda: jnp.array(True), "Array(True, dtype=bool)", "True"),
    (lambda: jnp.array([], "int32"), "Array([], shape=(0,), dtype=int32)", "[]"),
    (lambda: jnp.ones(3, "bfloat16"), "Array([1, 1, 1], dtype=bfloat16)", "[1 1 1]"),
    (lambda: jnp.array([1 + 2j]), "Array([1.+2.j], dtype=complex64)", "[1.+2.j]"),
    (lambda: jnp.array([1, 2]) * 1.0, "Array([1., 2.], dtype=float32, weak_type=True)", "[1. 2.]"),
    (lambda: jnp.array(3, "int8"), "Array(3, dtype=int8)", "3"),
    (
        lambda: jnp.arange(2000),
        "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)",
        "[   0    1    2 ... 1997 1998 1999]",
    ),
)


@pytest.mark.parametrize("make, shown, text", REPRESENTATIONS, ids=range(len(REPRESENTATIONS)))
def test_representations(make, shown, text):
    assert repr(make()) == shown and str(make()) == text


def test_format():
    x = jnp.ones((2, 2))
    assert f"{x[0, 0]:.3f}" == "1.000" and f"{x[0]}" == "[1. 1.]"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{x:.3f}"


def test_round_without_digits_gives_integers():
    assert repr(round(jnp.array([0.5, 1.5, -2.6]))) == "Array([ 0,  2, -3], dtype=int32)"
    assert repr(round(jnp.array([0.25, 1.5]), 1)) == "Array([0.2, 1.5], dtype=float32)"


def test_the_class_of_all_arrays_has_the_names_of_its_subclasses():
    for name in (*_array_methods.ABSTRACT_METHODS, *_array_methods.ABSTRACT_PROPERTIES):
        assert name in dir(onax.Array)
        assert hasattr(jnp.ones(1), name)
    with pytest.raises(NotImplementedError, match="Cannot call abstract method item"):
        onax.Array.item(jnp.float32(1))
    with pytest.raises(NotImplementedError, match="shape"):
        onax.Array.shape.fget(jnp.float32(1))


def test_attributes_of_the_class_of_all_arrays_can_be_set():
    x = jnp.arange(3.0)
    onax.Array.total = lambda self: self.sum()
    onax.Array.double = property(lambda self: self * 2)
    try:
        assert x.total() == 3 and x.double.tolist() == [0, 2, 4]
        assert onax.jit(lambda x: x.total())(x) == 3
    finally:
        del onax.Array.total, onax.Array.double
    assert not hasattr(x, "total")
    name = onax.Array.__name__
    onax.Array.__qualname__ = onax.Array.__name__ = name
    assert onax.Array.__name__ == name
