"""Average pooling in exported models, with NaN, infinities and padding; maxima over windows."""

import numpy as np
import pytest

import onax.numpy as jnp
from onax import lax, nn
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import export, symbolic_shape
from recognition import assert_close, assert_recognized, model_of

IMAGE = np.random.default_rng(0).normal(size=(2, 8, 9, 3)).astype(np.float32)
SPECIAL = IMAGE.copy()
SPECIAL[0, 1, 1, 0], SPECIAL[0, 5, 2, 1], SPECIAL[1, 3, 3, 2] = np.nan, np.inf, -np.inf
SPECIAL[1, 4:8, 4:8, 0] = -np.inf
SPECIAL[1, 0, 0, 1], SPECIAL[1, 0, 1, 1] = np.inf, -np.inf
BLOCKS, OVERLAPPING = ((1, 2, 2, 1), (1, 2, 2, 1)), ((1, 3, 3, 1), (1, 2, 2, 1))


def total(x, windows, padding="VALID", **gaps):
    return lax.reduce_window(x, np.zeros((), x.dtype), lax.add, *windows, padding, **gaps)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("windows", [BLOCKS, OVERLAPPING])
def test_means_of_windows(windows, padding):
    count = np.float32(np.prod(windows[0]))
    fun = lambda x: total(x, windows, padding) / count
    assert_recognized(fun, (SPECIAL,), "Transpose AveragePool Transpose")
    assert_recognized(lambda x: total(x, windows, padding) * (1 / count), (IMAGE,), "Transpose AveragePool Transpose")


def test_padding_that_does_not_count():
    ones = jnp.ones((1, 8, 9, 1))
    fun = lambda x: total(x, OVERLAPPING, "SAME") / total(ones, OVERLAPPING, "SAME")
    assert_recognized(fun, (SPECIAL,), "Transpose AveragePool Transpose")
    other = lambda x: total(x, OVERLAPPING, "SAME") / (total(ones, OVERLAPPING, "SAME") + 1)
    assert "AveragePool" not in model_of(other, IMAGE)[0]


def test_layouts():
    channels_first = IMAGE.transpose(0, 3, 1, 2).copy()
    windows = ((1, 1, 2, 2), (1, 1, 2, 2))
    assert_recognized(lambda x: total(x, windows) / 4, (channels_first,), "AveragePool")
    assert_recognized(lambda x: total(x, ((2, 3), (1, 1))) / 6, (IMAGE[0, :, :, 0],), "Reshape AveragePool Reshape")
    assert_recognized(lambda x: total(x, ((3,), (2,))) / 3, (IMAGE[0, 0, :, 0],), "Reshape AveragePool Reshape")
    gaps = {"window_dilation": (1, 2, 2, 1)}
    assert_recognized(lambda x: total(x, BLOCKS, **gaps) / 4, (IMAGE,), "Transpose AveragePool Transpose")


def test_symbolic_batch():
    (batch,) = symbolic_shape("batch")
    exported = export(lambda x: total(x, BLOCKS) / 4)(ShapeDtypeStruct((batch, 8, 9, 3), np.float32))
    assert [n.op_type for n in exported.onnx_model.graph.node] == ["Transpose", "AveragePool", "Transpose"]
    assert_close(exported, lambda x: total(x, BLOCKS) / 4, (IMAGE,))


@pytest.mark.parametrize("fun", [
    lambda x: total(x, BLOCKS) / 5,
    lambda x: 4 / total(x, BLOCKS),
    lambda x: total(x, BLOCKS, base_dilation=(1, 2, 1, 1)) / 4,
    lambda x: total(x, BLOCKS, ((0, 0), (2, 0), (0, 0), (0, 0))) / 4,
    lambda x: total(x.astype(np.float16), BLOCKS).astype(np.float32) / 4,
])  # fmt: skip
def test_other_sums_stay_formulas(fun):
    operators, exported = model_of(fun, IMAGE)
    assert "AveragePool" not in operators
    assert_close(exported, fun, (IMAGE,), scale=4.0, ulps=16)


@pytest.mark.parametrize("windows", [BLOCKS, OVERLAPPING, ((1, 3, 2, 1), (1, 3, 2, 1))])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_maxima_keep_nan_and_infinities(windows, padding):
    fun = lambda x: lax.reduce_window(x, -np.inf, lax.max, *windows, padding)
    operators, exported = model_of(fun, SPECIAL)
    assert "MaxPool" not in operators
    assert_close(exported, fun, (SPECIAL,))


@pytest.mark.parametrize("opset", [21, 23])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("before", [nn.relu, nn.relu6, lambda x: nn.relu(x)[:, ::-1]])
def test_maxima_of_what_has_a_lower_bound(before, padding, opset):
    fun = lambda x: lax.reduce_window(before(x), -np.inf, lax.max, *OVERLAPPING, padding)
    found, exported = model_of(fun, SPECIAL, opset=opset)
    assert found.count("MaxPool") == 2 and "Slice" not in found[2:]
    assert_close(exported, fun, (SPECIAL,))
    image = np.ascontiguousarray(SPECIAL.transpose(0, 3, 1, 2))
    fun = lambda x: lax.reduce_window(nn.relu(x), -np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), padding)
    assert_recognized(fun, (image,), "Relu MaxPool IsNaN Cast MaxPool Cast Where", opset=opset)


def test_maxima_of_other_values_and_exact_ones_stay_maxima_of_slices():
    fun = lambda x: lax.reduce_window(x, -np.inf, lax.max, *OVERLAPPING, "SAME")
    assert "MaxPool" not in model_of(fun, SPECIAL)[0]
    assert "MaxPool" not in model_of(lambda x: fun(nn.relu(x)), SPECIAL, exact=True)[0]


CHANNELS_FIRST = np.ascontiguousarray(SPECIAL.transpose(0, 3, 1, 2))


def channels_last(fun):
    """fun over an image whose channels were moved last and are moved back."""
    return lambda x: fun(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def test_windows_between_transposes_stay_in_place():
    fun = channels_last(lambda x: total(x, BLOCKS)[..., None][..., 0] / 4)
    assert_recognized(fun, (CHANNELS_FIRST,), "AveragePool")
    fun = channels_last(lambda x: lax.reduce_window(x, -np.inf, lax.max, *BLOCKS, "VALID"))
    assert_recognized(fun, (CHANNELS_FIRST,), "Slice Reshape Split Max Split Max Reshape")
    fun = lambda x: (total(x[..., None], ((1, 2, 2, 1, 1),) * 2) / 4)[..., 0]
    assert_recognized(fun, (SPECIAL,), "Transpose AveragePool Transpose")


@pytest.mark.parametrize("fun, most", [
    (lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 8, 9, 1), (1, 1, 1, 1), "VALID"), 5),
    (lambda x: lax.reduce_window(x, np.inf, lax.min, (1, 8, 9, 1), (1, 8, 9, 1), "VALID"), 5),
    (lambda x: total(x, ((1, 8, 9, 1), (1, 1, 1, 1))) / 72, 1),
    (lambda x: total(x, ((1, 8, 1, 1), (1, 1, 1, 1))), 1),
])  # fmt: skip
def test_a_window_over_whole_axes_is_a_reduction(fun, most):
    operators, exported = model_of(fun, SPECIAL)
    assert len(operators) <= most
    assert_close(exported, fun, (SPECIAL,), scale=64.0)


def test_windows_with_steps_are_slices():
    fun = lambda x: lax.reduce_window(x, -np.inf, lax.max, *OVERLAPPING, "SAME")
    operators, exported = model_of(fun, SPECIAL)
    assert len(operators) <= 11
    assert_close(exported, fun, (SPECIAL,))
