"""Convolutions on tapes: layouts, strides, padding, dilations, groups and dtypes against the NumPy kernel."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import onax as jax
from onax import lax
from onax._native.tape import TYPES
from onax._tape.conv import is_quicker_on_tape
from tape.harness import run_tape
from tape.test_dot import compare, sample, x64  # noqa: F401  a fixture

LAYOUTS = [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("CNHW", "IHWO", "HNWC"), ("HWNC", "OHIW", "CHNW")]
WINDOWS = [
    {"window_strides": (1, 1), "padding": "SAME"},
    {"window_strides": (1, 1), "padding": "VALID"},
    {"window_strides": (2, 1), "padding": ((1, 2), (0, 3))},
    {"window_strides": (1, 2), "padding": ((-1, 1), (2, -2)), "lhs_dilation": (2, 1)},
    {"window_strides": (1, 1), "padding": ((3, 2), (-2, -1)), "lhs_dilation": (2, 3), "rhs_dilation": (2, 2)},
    {"window_strides": (3, 3), "padding": "VALID", "rhs_dilation": (1, 2)},
]


def shape_in(layout, sizes):
    """The shape of a layout such as "NHWC", given the size of each letter."""
    return tuple(sizes[c] for c in layout)


def compare_convolution(x, w, terms=300, **params):
    compare(lambda x, w: lax.conv_general_dilated(x, w, **params), x, w, terms=terms)


@pytest.mark.parametrize("layout", LAYOUTS, ids="-".join)
@pytest.mark.parametrize("window", WINDOWS, ids=range(len(WINDOWS)))
def test_windows_and_layouts(layout, window):
    rng = np.random.default_rng(1)
    for n, c, o, (feature_groups, batch_groups) in itertools.product((1, 4), (1, 4), (4, 36), ((1, 1), (2, 1), (1, 2))):
        if c % feature_groups or n % batch_groups:
            continue
        x = sample(rng, shape_in(layout[0], {"N": n, "C": c, "H": 7, "W": 9}), np.float32)
        w = sample(rng, shape_in(layout[1], {"O": o, "I": c // feature_groups, "H": 3, "W": 2}), np.float32)
        groups = {"feature_group_count": feature_groups, "batch_group_count": batch_groups}
        compare_convolution(x, w, dimension_numbers=layout, **window, **groups)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_every_dtype(dtype):
    rng = np.random.default_rng(2)
    for layout in LAYOUTS[:2]:
        x = sample(rng, shape_in(layout[0], {"N": 2, "C": 3, "H": 6, "W": 11}), dtype)
        w = sample(rng, shape_in(layout[1], {"O": 5, "I": 3, "H": 3, "W": 3}), dtype)
        compare_convolution(x, w, window_strides=(1, 2), padding="SAME", dimension_numbers=layout)


def test_preferred_element_type():
    rng = np.random.default_rng(3)
    x, w = sample(rng, (2, 3, 20), np.int8), sample(rng, (4, 3, 5), np.int8)
    compare_convolution(x, w, window_strides=(1,), padding="SAME", preferred_element_type=np.int32)
    x, w = (v.astype(ml_dtypes.bfloat16) for v in (x, w))
    compare_convolution(x, w, terms=1e8, window_strides=(1,), padding="SAME", preferred_element_type=np.float32)


@pytest.mark.parametrize("sizes", [(0, 3, 4), (2, 0, 4), (2, 3, 0)])
def test_nothing_to_compute(sizes):
    n, c, o = sizes
    x, w = np.ones((n, c, 6), np.float32), np.ones((o, c, 3), np.float32)
    if c:
        compare_convolution(x, w, window_strides=(1,), padding="SAME")
    (got,) = run_tape(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), np.ones((2, 3, 0), np.float32),
                      np.ones((4, 3, 3), np.float32))  # fmt: skip
    assert got.shape == (2, 4, 0)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_other_ranks(rank):
    rng = np.random.default_rng(4)
    x, w = sample(rng, (3, 4, *(6, 5, 7)[:rank]), np.float64), sample(rng, (5, 4, *(3, 2, 3)[:rank]), np.float64)
    compare_convolution(x, w, window_strides=(1,) * rank, padding="VALID")


def test_larger_images_and_their_gradients():
    rng = np.random.default_rng(5)
    x, w = sample(rng, (2, 20, 20, 8), np.float32), sample(rng, (3, 3, 8, 16), np.float32)

    def loss(x, w):
        y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (y * y).sum()

    got = run_tape(lambda x, w: jax.grad(loss, (0, 1))(x, w), x, w, python=None)
    want = jax.grad(loss, (0, 1))(x, w)
    for a, b in zip(got, want):
        np.testing.assert_allclose(np.asarray(a._value), np.asarray(b._value), rtol=2e-4, atol=2e-3)


def test_convolutions_that_the_runtime_would_transpose_are_instructions():
    x, k = np.ones((2, 9, 8, 12), np.float32), np.ones((3, 3, 12, 9), np.float32)
    is_quicker = lambda *args, **params: is_quicker_on_tape(
        jax.make_jaxpr(lambda x, k: lax.conv_general_dilated(x, k, **params))(*args).eqns[0]
    )
    last = {"window_strides": (1, 1), "padding": ((1, 1), (1, 1)), "dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    first = {**last, "dimension_numbers": ("NCHW", "OIHW", "NCHW")}
    assert is_quicker(x, k, **last)
    assert not is_quicker(x, k, **last, lhs_dilation=(2, 2))
    assert not is_quicker(x.transpose(0, 3, 1, 2), k.transpose(3, 2, 0, 1), **first)
    assert is_quicker(x.astype(np.int32), k.astype(np.int32), **last, lhs_dilation=(2, 2))
