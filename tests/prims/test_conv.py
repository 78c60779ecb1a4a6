"""Convolutions: random layouts against sums over places, dtypes, errors, programs.  Expected words: JAX 0.10.2."""

import itertools
import re

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._transforms.abstract import make_jaxpr
from onax._transforms.autodiff import grad
from onax._transforms.vmap import vmap

X, W = np.ones((2, 3, 8), np.float32), np.ones((4, 3, 3), np.float32)
BF16 = ml_dtypes.bfloat16


def by_definition(x, w, *, strides, padding, lhs_dilation, rhs_dilation, layout, features=1, batches=1):
    """The convolution, place by place, in the operands' type."""
    lhs, rhs, out = lax.conv_dimension_numbers(x.shape, w.shape, layout)
    x, w = x.transpose(lhs), w.transpose(rhs)
    config = [(lo, hi, d - 1) for (lo, hi), d in zip(padding, lhs_dilation)]
    x = np.asarray(lax.pad(x, x.dtype.type(0), [(0, 0, 0), (0, 0, 0), *config]))
    width = [d * (k - 1) + 1 for k, d in zip(w.shape[2:], rhs_dilation)]
    space = [max((n - k) // s + 1, 0) for n, k, s in zip(x.shape[2:], width, strides)]
    result = np.zeros((x.shape[0] // batches, w.shape[0], *space), x.dtype)
    each = w.shape[0] // (features * batches)
    for n, o in itertools.product(*map(range, result.shape[:2])):
        group = o // each
        first = group * w.shape[1] if features > 1 else 0
        image = x[n + group * result.shape[0] if batches > 1 else n, first : first + w.shape[1]]
        for place in itertools.product(*map(range, space)):
            window = tuple(slice(p * s, p * s + k, d) for p, s, k, d in zip(place, strides, width, rhs_dilation))
            result[(n, o, *place)] = (image[(slice(None), *window)] * w[o]).sum(dtype=x.dtype)
    return result.transpose(np.argsort(out))


def random_case(rng, rank):
    """Operands' shapes and keyword arguments of by_definition."""
    groups = int(rng.choice([1, 1, 2, 3]))
    features, batches = ((groups, 1), (1, groups))[rng.integers(2)]
    space, window = rng.integers(1, 6, rank), rng.integers(1, 4, rank)
    strides, lhs_dilation, rhs_dilation = (tuple(map(int, rng.choice([1, 1, 2, 3], rank))) for _ in range(3))
    padding = []
    for n, d in zip(space, lhs_dilation):
        lo, hi = map(int, rng.integers(-2, 4, 2))
        padding.append((lo, hi) if 1 + d * (n - 1) + lo + hi >= 0 else (0, 0))
    marks = [*"HWD"[:rank]]
    layout = tuple("".join(rng.permutation([*a, *marks])) for a in ("NC", "OI", "NC"))
    inputs = int(rng.integers(1, 3))
    sizes = dict(zip(marks, map(int, space))), dict(zip(marks, map(int, window)))
    sizes[0].update(N=batches * int(rng.integers(1, 3)), C=inputs * features)
    sizes[1].update(O=groups * int(rng.integers(1, 3)), I=inputs)
    # spatial parameters go in the order of the kernel's axes
    order = [marks.index(c) for c in layout[1] if c in marks]
    ordered = [tuple(v[i] for i in order) for v in (strides, padding, lhs_dilation, rhs_dilation)]
    names = "strides padding lhs_dilation rhs_dilation".split()
    shapes = ([s[c] for c in text] for s, text in zip(sizes, layout))
    return (*shapes, {**dict(zip(names, ordered)), "layout": layout, "features": features, "batches": batches})


def convolution(case):
    return lambda x, w: lax.conv_general_dilated(
        x,
        w,
        case["strides"],
        case["padding"],
        case["lhs_dilation"],
        case["rhs_dilation"],
        case["layout"],
        case["features"],
        case["batches"],
    )


@pytest.mark.parametrize("dtype", ("float32", "int8", "uint32", "complex64", "float16", BF16), ids=str)
def test_against_the_definition(dtype):
    rng = np.random.default_rng(3)
    for i in range(30):
        left, right, case = random_case(rng, i % 4)
        x, w = rng.integers(0, 4, left).astype(dtype), rng.integers(0, 4, right).astype(dtype)
        wide = dtype if np.dtype(dtype).kind in "iuc" else np.float32
        got = np.asarray(convolution(case)(x, w))
        assert got.dtype == np.dtype(dtype)
        want = by_definition(x.astype(wide), w.astype(wide), **case).astype(dtype)
        np.testing.assert_array_equal(got.astype(complex), want.astype(complex), str(case))


def test_gradients_and_batching_of_random_layouts():
    """The cotangents are the adjoints; a mapped axis is a loop; jit gives the same."""
    rng = np.random.default_rng(4)
    for i in range(20):
        left, right, case = random_case(rng, i % 4)
        f = convolution(case)
        x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in (left, right))
        out = np.asarray(f(x, w))
        ct = rng.integers(-3, 4, out.shape).astype(np.float32)
        loss = lambda x, w, f=f, ct=ct: (f(x, w) * ct).sum()
        value = float((out * ct).sum())
        for gradient in (grad(loss, (0, 1)), jax.jit(grad(loss, (0, 1)))):
            gx, gw = gradient(x, w)
            assert float((np.asarray(gx) * x).sum()) == value == float((np.asarray(gw) * w).sum()), case
        for dx, dw in ((0, None), (None, len(right)), (len(left), 1)):
            xs = x if dx is None else np.stack([x, 2 * x, -x], dx)
            ws = w if dw is None else np.stack([w, w + 1, -w], dw)
            got = np.asarray(vmap(f, in_axes=(dx, dw))(xs, ws))
            for k in range(3):
                one = f(x if dx is None else np.take(xs, k, dx), w if dw is None else np.take(ws, k, dw))
                np.testing.assert_array_equal(got[k], np.asarray(one), str(case))


def test_an_axis_of_size_0_may_be_mapped():
    f = lambda x, w: lax.conv(x, w, (1,), "SAME")
    assert vmap(f, (0, None))(np.ones((0, 2, 3, 8), np.float32), W).shape == (0, 2, 4, 8)
    assert vmap(f)(np.ones((0, 2, 3, 8), np.float32), np.ones((0, 4, 3, 3), np.float32)).shape == (0, 2, 4, 8)


def test_transposed_convolutions():
    """conv_transpose with the kernel transposed is the gradient of the convolution with the same padding."""
    rng = np.random.default_rng(5)
    x, w = rng.integers(-3, 4, (1, 8, 2)).astype(np.float32), rng.integers(-3, 4, (3, 2, 4)).astype(np.float32)
    layout = ("NHC", "HIO", "NHC")
    for padding in ("SAME", "VALID"):
        f = lambda x, padding=padding: lax.conv_general_dilated(x, w, (2,), padding, dimension_numbers=layout)
        ct = np.asarray(f(x))
        want = grad(lambda x, f=f, ct=ct: (f(x) * ct).sum())(x)
        got = np.asarray(lax.conv_transpose(ct, w, (2,), padding, transpose_kernel=True))
        np.testing.assert_array_equal(got[:, : x.shape[1]], np.asarray(want)[:, : got.shape[1]])
    with pytest.raises(ValueError, match="Invalid padding mode: FULL"):
        lax.conv_transpose(x, w, (2,), ("FULL",), use_consistent_padding=True)


def test_patches():
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    got = np.asarray(lax.conv_general_dilated_patches(x, (2, 2), (1, 2), "VALID"))
    want = [x[:, c, i : i + 3, j : j + 3 : 2] for c in range(3) for i in range(2) for j in range(2)]
    np.testing.assert_array_equal(got, np.stack(want, 1))


CALLS = {  # words of the error, and a call that raises it
    "convolution requires lhs and rhs ndim to be equal, got 3 and 2.": lambda: lax.conv(X, W[0], (1,), "SAME"),
    "Unrecognized padding type: expected 'VALID', 'SAME', or 'SAME_LOWER', got FOO.": lambda: lax.conv(
        X, W, (1,), "FOO"
    ),
    "lax.conv_general_dilated requires arguments to have the same dtypes, got float32, int32.": lambda: lax.conv(
        X, W.astype(np.int32), (1,), "SAME"
    ),
    "must have the same number of dimensions, but got 1 and 2": lambda: lax.conv(X, W, (1, 1), "VALID"),
    "must have the same number of dimensions, but got 2 and 1": lambda: lax.conv(
        X[..., None], W[..., None], (1,), "SAME"
    ),
    "Wrong number of explicit pads for convolution: expected 1, got 2.": lambda: lax.conv(X, W, (1,), [(0, 0)] * 2),
    "Negative padding is larger than the size of the corresponding dimension": lambda: lax.conv(X, W, (1,), [(-9, 0)]),
    "padding argument to conv_general_dilated should be a string or a sequence of (low, high) pairs, got [0]": lambda: (
        lax.conv(X, W, (1,), [0])
    ),
    "All dilations must be positive, got (0,).": lambda: lax.conv_general_dilated(
        X, W, (1,), [(0, 0)], rhs_dilation=(0,)
    ),
    "String padding is not implemented for transposed convolution": lambda: lax.conv_general_dilated(
        X, W, (1,), "SAME", lhs_dilation=(2,)
    ),
    "feature_group_count must divide lhs feature dimension size, but 2 does not divide 3.": lambda: (
        lax.conv_general_dilated(X, W, (1,), "SAME", feature_group_count=2)
    ),
    "but 3 // 3 != 3.": lambda: lax.conv_general_dilated(X, W, (1,), "SAME", feature_group_count=3),
    "batch_group_count must be a positive integer, got 0.": lambda: lax.conv_general_dilated(
        X, W, (1,), "SAME", batch_group_count=0
    ),
    "`preferred_element_type` must not be narrower than the original type.": lambda: lax.conv(
        X, W, (1,), "SAME", preferred_element_type=np.float16
    ),
    "(integral, integral), (integral, floating)": lambda: lax.conv(X, W, (1,), "SAME", preferred_element_type=np.int32),
    "must contain the characters 'N' and 'C' exactly once, got XCH.": lambda: lax.conv_general_dilated(
        X, W, (1,), "SAME", dimension_numbers=("XCH", "OIH", "NCH")
    ),
    "elements must each have the same set of spatial characters": lambda: lax.conv_general_dilated(
        X, W, (1,), "SAME", dimension_numbers=("NCH", "OIW", "NCH")
    ),
}


@pytest.mark.parametrize("words", CALLS)
def test_errors(words):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=re.escape(words)):
        CALLS[words]()


def test_program_of_a_gradient():
    f = lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME").sum()
    eqns = make_jaxpr(grad(f, (0, 1)))(X, W).eqns
    names = [e.primitive.name for e in eqns]
    assert (
        names
        == "conv_general_dilated reduce_sum broadcast_in_dim conv_general_dilated rev conv_general_dilated".split()
    )
    by_rhs, by_lhs = eqns[3].params, eqns[5].params
    assert by_rhs["dimension_numbers"] == ((1, 0, 2), (1, 0, 2), (1, 0, 2))
    assert (by_rhs["rhs_dilation"], by_rhs["padding"]) == ((2,), ((0, 1),))
    assert by_lhs["dimension_numbers"] == ((0, 1, 2), (1, 0, 2), (0, 1, 2))
    assert (by_lhs["lhs_dilation"], by_lhs["padding"]) == ((2,), ((2, 1),))


def test_symbolic_batch():
    """A convolution and its gradients over a batch of unknown size, as programs and as a model."""
    (b,) = jax.export.symbolic_shape("b")
    f = lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME")
    spec = jax.ShapeDtypeStruct((b, 3, 8), np.float32)
    assert jax.eval_shape(f, spec, W).shape == (b, 4, 4)
    both = lambda x, w: (f(x, w), *grad(lambda x, w: (f(x, w) ** 2).sum(), (0, 1))(x, w))
    exported = jax.export.export(jax.jit(both))(spec, jax.ShapeDtypeStruct(W.shape, np.float32))
    rng = np.random.default_rng(6)
    for size in (1, 3):
        x, w = (rng.integers(-3, 4, s).astype(np.float32) for s in ((size, 3, 8), W.shape))
        for got, want in zip(exported.call(x, w), both(x, w)):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-6)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_symbolic_padding(stride):
    """Padding that depends on a size known only at the call."""
    (n,) = jax.export.symbolic_shape("n")
    f = jax.jit(lambda x: lax.conv(x, W, (stride,), "SAME"))
    exported = jax.export.export(f)(jax.ShapeDtypeStruct((2, 3, n), np.float32))
    rng = np.random.default_rng(12)
    for size in (1, 4, 5, 8):
        x = rng.integers(-3, 4, (2, 3, size)).astype(np.float32)
        np.testing.assert_array_equal(np.asarray(exported.call(x)), np.asarray(f(x)))
