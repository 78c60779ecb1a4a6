"""Slicing: values against NumPy, words of errors, programs of derivatives, keys and symbolic dimensions.

Expected words and programs: JAX 0.10.2 (its `np.int64(1)` written as 1).
"""

import re
from collections import namedtuple

import numpy as np
import pytest

import onax.numpy as jnp
from onax import export, lax
from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad
from onax._transforms.vmap import vmap

X = np.arange(20, dtype=np.float32).reshape(4, 5)
V = np.arange(6, dtype=np.float32)
I = np.int32(2)
Generator = namedtuple("Generator", "tag key_shape")


def program(function, *args):
    """The jaxpr's text on one line."""
    text = re.sub(r"\s+", " ", str(make_jaxpr(function)(*args)))
    return text.replace("[ ", "[").replace(" ]", "]")


def same(got, want):
    """Equal values, shape and dtype."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want, strict=True)


def keys(*shape):
    """An array of PRNG keys, with made-up bits."""
    dtype = dtypes.KeyType(Generator("fry", (2,)))
    bits = np.arange(2 * int(np.prod(shape)), dtype=np.uint32).reshape(*shape, 2)
    return make_array(bits.view(dtype.storage).reshape(shape), dtype)


def bits(x):
    """The bits of keys."""
    return x._value.view(np.uint32)


# ---- values ----

VALUES = (
    ("slice", lambda: lax.slice(X, (1, 0), (3, 4)), X[1:3, :4]),
    ("strides", lambda: lax.slice(X, (0, 1), (4, 5), (2, 3)), X[::2, 1::3]),
    ("negative start", lambda: lax.slice(X, (-1, 0), (1, 4)), X[:2, :4]),
    ("slice_in_dim", lambda: lax.slice_in_dim(X, -3, None, 2, 1), X[:, 2::2]),
    ("index_in_dim", lambda: lax.index_in_dim(X, -1, 1), X[:, 4:]),
    ("index_in_dim drops", lambda: lax.index_in_dim(X, 2, 0, False), X[2]),
    ("dynamic_slice", lambda: lax.dynamic_slice(X, (1, 2), (2, 3)), X[1:3, 2:]),
    ("from the end", lambda: lax.dynamic_slice(X, (-2, I), (2, 2)), X[2:, 2:4]),
    ("moved inside", lambda: lax.dynamic_slice(X, (9, np.int32(-9)), (2, 3)), X[2:, :3]),
    ("array of starts", lambda: lax.dynamic_slice(X, np.array([1, -1]), (1, 1)), X[1:2, 4:]),
    ("dynamic_slice_in_dim", lambda: lax.dynamic_slice_in_dim(X, I, 2, 1), X[:, 2:4]),
    ("dynamic_index_in_dim", lambda: lax.dynamic_index_in_dim(X, I, 0, False), X[2]),
    ("update", lambda: lax.dynamic_update_slice(V, np.float32([7, 8]), (9,)), [0, 1, 2, 3, 7, 8]),
    ("update_in_dim", lambda: lax.dynamic_update_slice_in_dim(V, np.float32([7]), 1, 0), [0, 7, 2, 3, 4, 5]),
    ("update_index", lambda: lax.dynamic_update_index_in_dim(V, 9.0, -1, 0), [0, 1, 2, 3, 4, 9]),
    ("concatenate", lambda: lax.concatenate([X, X[:1]], 0), np.concatenate([X, X[:1]])),
)


@pytest.mark.parametrize("call, want", [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_values(call, want):
    same(call(), np.asarray(want, np.float32))


def test_split():
    """A list of parts."""
    a, b = lax.split(X, (2, 3), -1)
    same(a, X[:, :2])
    same(b, X[:, 2:])


# ---- errors ----

WRONG = (
    (lambda: lax.slice(X, (1,), (3,)), TypeError, "start_indices must have length equal to the number of dimensions"),
    (lambda: lax.slice(X, (1, 0), (3,)), TypeError, "limit_indices must have the same length as start_indices"),
    (lambda: lax.slice(X, (1, 0), (5, 5)), TypeError, "limit_indices must be less than or equal to operand shape"),
    (
        lambda: make_jaxpr(lambda x: lax.slice(x, (-1, 0), (3, 5)))(X),
        TypeError,
        "start_indices must have every element be nonnegative",
    ),
    (lambda: lax.slice(X, (3, 0), (2, 5)), TypeError, "limit_indices must be greater than or equal to start_indices"),
    (lambda: lax.slice(X, (1, 0), (3, 5), (1,)), TypeError, "strides must have length equal to the number"),
    (lambda: lax.slice(X, (0, 0), (3, 5), (-2, 1)), TypeError, "strides must have every element be nonnegative, got"),
    (lambda: lax.slice(X, (1.0, 0), (2, 5)), TypeError, "every element be an integer type"),
    (lambda: lax.dynamic_slice(X, (1,), (3, 3)), ValueError, "Length of slice indices must match number of operand"),
    (
        lambda: lax.dynamic_slice(X, (1, 1), (3, 7)),
        TypeError,
        "slice_sizes must be less than or equal to operand shape",
    ),
    (lambda: lax.dynamic_slice(X, (1, 1), (3, -1)), TypeError, "must be greater than or equal to zero"),
    (
        lambda: lax.dynamic_slice(X, (1.0, 1), (3, 1)),
        TypeError,
        "must be integers of the same type, got: float32, int32",
    ),
    (lambda: lax.dynamic_slice(X, (np.int8(1), I), (3, 1)), TypeError, "must be integers of the same type"),
    (lambda: lax.dynamic_slice(X, (np.array([1]), I), (3, 1)), TypeError, "to dynamic_slice must be scalars"),
    (
        lambda: lax.dynamic_slice(X, (I, -1), (2, 2), allow_negative_indices=[True, False]),
        ValueError,
        "Index -1 is out of bounds for dimension 5 if allow_negative_indices=False",
    ),
    (lambda: lax.dynamic_update_slice(X, V, (1, 1)), TypeError, "update must have the same rank as operand"),
    (
        lambda: lax.dynamic_update_slice(V, X.ravel(), (1,)),
        TypeError,
        "update shape must be smaller than operand shape",
    ),
    (lambda: lax.dynamic_update_slice(V, np.int32([1]), (1,)), TypeError, "same dtypes, got float32, int32"),
    (lambda: lax.concatenate([], 0), ValueError, "concatenate requires a non-empty sequences of arrays"),
    (lambda: lax.concatenate([X, V], 0), TypeError, r"different numbers of dimensions: got \(4, 5\), \(6,\)"),
    (
        lambda: lax.concatenate([X, X[:, :2]], 0),
        TypeError,
        "differ in dimensions other than the one being concatenated",
    ),
    (lambda: lax.concatenate([X, X], 2), TypeError, "concatenate dimension out of bounds: dimension 2"),
    (lambda: lax.concatenate([X, X], -1), TypeError, "concatenate dimension out of bounds: dimension -1"),
    (lambda: lax.concatenate([X, X.astype(int)], 0), TypeError, "requires arguments to have the same dtypes"),
    (lambda: lax.pad(X, np.float32(0), [(1, 1, 0)]), ValueError, "length of padding_config must equal the number"),
    (lambda: lax.pad(X, np.int32(0), [(1, 1, 0)] * 2), TypeError, "must be same dtype: got float32 and int32"),
    (lambda: lax.pad(X, np.float32(0), [(1, 1, -1)] * 2), ValueError, "interior padding in padding_config must be"),
    (
        lambda: lax.pad(X, np.float32(0), [(-5, -5, 0)] * 2),
        ValueError,
        "Dimension size after padding is not at least 0",
    ),
    (lambda: lax.pad(X, V, [(0, 0, 0)] * 2), ValueError, "padding_value must be a scalar"),
    (lambda: lax.split(X, (2, 1), 0), ValueError, "Sum of sizes 3 must be equal to dimension 0 of the operand shape"),
    (lambda: lax.split(X, (2, 2), 2), ValueError, "axis 2 is out of bounds for array of dimension 2"),
    (lambda: lax.split(X, (-1, 5), 0), ValueError, "Sizes passed to split must be nonnegative"),
    (lambda: lax.index_in_dim(X, 7, 1), IndexError, "index 7 is out of bounds for axis 1 with size 5"),
)


@pytest.mark.parametrize("call, error, words", WRONG, ids=range(len(WRONG)))
def test_errors(call, error, words):
    """The same words when evaluating and when staging."""
    with pytest.raises(error, match=words):
        call()
    with pytest.raises(error, match=words):
        make_jaxpr(call)()


# ---- programs ----

PROGRAMS = (
    (
        grad(lambda x: lax.slice(x, (1, 0), (3, 4), (1, 2)).sum()),
        (X,),
        "c:f32[2,2] = broadcast_in_dim 1.0:f32[] d:f32[4,5] = pad[padding_config=((1, 1, 0), (0, 2, 1))] c 0.0:f32[]",
    ),
    (
        grad(lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3)).sum()),
        (X, I),
        "h:f32[4,5] = broadcast_in_dim 0.0:f32[] i:f32[4,5] = dynamic_update_slice h g e 0:i32[]",
    ),
    (
        grad(lambda x: lax.pad(x, np.float32(0), [(1, 2, 0), (-1, 0, 1)]).sum()),
        (X,),
        "d:f32[4,9] = pad[padding_config=((-1, -2, 0), (1, 0, 0))] c 0.0:f32[] "
        "e:f32[4,5] = slice[limit_indices=(4, 9) start_indices=(0, 0) strides=(1, 2)] d",
    ),
    (
        vmap(lambda x: lax.slice(x, (1,), (3,), (2,)), in_axes=1),
        (X,),
        "b:f32[1,5] = slice[limit_indices=(3, 5) start_indices=(1, 0) strides=(2, 1)] a "
        "c:f32[5,1] = transpose[permutation=(1, 0)] b",
    ),
    (
        vmap(lambda x, i: lax.dynamic_slice(x, (i,), (2,))),
        (X, np.arange(4, dtype=np.int32)),
        "g:f32[4,2] = gather[dimension_numbers=GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(), "
        "start_index_map=(1,), operand_batching_dims=(0,), start_indices_batching_dims=(0,)) fill_value=None "
        "indices_are_sorted=True mode=GatherScatterMode.CLIP slice_sizes=(1, 2) unique_indices=True] a f",
    ),
    (
        vmap(lambda x, p: lax.pad(x, p, [(1, 2, 0)]), in_axes=(1, 0)),
        (X, X[0]),
        "d:bool[4,5] = broadcast_in_dim True:bool[] "
        "e:bool[7,5] = pad[padding_config=((1, 2, 0), (0, 0, 0))] d False:bool[] "
        "f:f32[7,5] = broadcast_in_dim[broadcast_dimensions=(1,)] b g:f32[7,5] = select_n e f c",
    ),
)


@pytest.mark.parametrize("function, args, part", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(function, args, part):
    assert part in program(function, *args)


# ---- keys and symbolic dimensions ----


def test_keys():
    """Data movement looks at no bits."""
    k = keys(3)
    assert (bits(lax.slice(k, (1,), (3,))) == bits(k)[2:]).all()
    assert (bits(lax.dynamic_slice(k, (-1,), (1,))) == bits(k)[4:]).all()
    both = lax.concatenate([k, k], 0)
    assert both.dtype == k.dtype and both.shape == (6,)
    assert lax.dynamic_update_slice(k, lax.slice(k, (0,), (1,)), (2,)).dtype == k.dtype
    mapped = vmap(lambda x: lax.concatenate([x, x], 0))(keys(2, 3))
    assert mapped.shape == (2, 6) and mapped.dtype == k.dtype
    starts = np.array([0, 2], np.int32)
    windows = vmap(lambda x, i: lax.dynamic_slice(x, (i,), (1,)))(keys(2, 3), starts)
    assert (bits(windows).ravel() == [0, 1, 10, 11]).all()


def shapes(function, *avals):
    """Shapes of the results of staging a function."""
    return [a.shape for a in make_jaxpr(function)(*avals).out_avals]


def test_symbolic_dimensions():
    (b,) = dims.parse_dims("b")
    x = ShapedArray((b, 5), np.dtype("float32"))
    assert shapes(lambda x: lax.slice(x, (0, 1), (b, 3)), x) == [(b, 2)]
    assert shapes(lambda x: lax.concatenate([x, x], 0), x) == [(2 * b, 5)]
    assert shapes(lambda x: lax.concatenate([x, x], 1), x) == [(b, 10)]
    assert shapes(lambda x: lax.pad(x, np.float32(0), [(1, 2, 0), (0, 0, 1)]), x) == [(b + 3, 9)]
    assert shapes(lambda x: lax.split(x, (2, 3), 1), x) == [(b, 2), (b, 3)]
    assert shapes(lambda x: lax.dynamic_slice(x, (I, 0), (1, 2)), x) == [(1, 2)]
    assert shapes(lambda x: vmap(lambda r: lax.slice(r, (1,), (3,)))(x), x) == [(b, 2)]
    assert shapes(lambda x: vmap(lambda r: lax.dynamic_slice(r, (I,), (2,)))(x), x) == [(b, 2)]
    assert shapes(grad(lambda x: lax.slice(x, (0, 1), (b, 3)).sum()), x) == [(b, 5)]
    assert shapes(grad(lambda x: lax.pad(x, np.float32(0), [(1, 2, 0), (0, 0, 1)]).sum()), x) == [(b, 5)]


@pytest.mark.parametrize("use", [lambda n: n / 2, lambda n: n * 1.5, jnp.array], ids=["div", "mul", "array"])
def test_symbolic_dimensions_are_values_in_exports_alone(use):
    (n,) = export.symbolic_shape("n")
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'dim_as_value' is not implemented"):
        use(n)
