"""Reads and writes at computed indices agree with ONNX Runtime."""

import numpy as np
import pytest

import onax as jax
from onnx_nodes import as_tuple, check, combinations, constant, expected, floats, integers, model_of

X = floats(4, 5)
DATA = floats(2, 3, 4)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(axis):
    check("Gather", X, integers(2, 3, low=-4, high=4), axis=axis)
    check("GatherElements", X, integers(2, 3, low=-3, high=3), axis=axis)


def test_gather_nd():
    check("GatherND", X, constant([1, 2], [-1, 0]))
    check("GatherND", DATA, constant([[1], [0]], [[-1], [2]]), batch_dims=1)


@pytest.mark.parametrize("attributes", combinations(reduction=["none", "add", "mul", "max", "min"]))
def test_scatter(attributes):
    exact = attributes["reduction"] in ("none", "add")
    check("ScatterElements", X, constant([1, 0, 2, 3, -1]), floats(1, 5), grad=exact, **attributes)
    check("ScatterND", X, constant([1], [-1]), floats(2, 5), grad=exact, **attributes)


def test_one_hot():
    values = np.array([0.5, 2.0], np.float32)
    check("OneHot", integers(2, 3, low=-4, high=8), np.array(4), values, grad=False)
    check("OneHot", integers(2, 3, low=0, high=4), np.array(4), values, grad=False, axis=0)


def test_sequences_are_reversed():
    check("ReverseSequence", X, constant(1, 4, 3, 2, 2))
    check("ReverseSequence", X, constant(1, 5, 3, 2), time_axis=1, batch_axis=0)


def test_shapes_that_depend_on_data_are_known_eagerly():
    for message, inputs in (
        (model_of("NonZero", [integers(3, 4)]), [np.array([[1, 0], [0, 2]])]),
        (model_of("Compress", [X, np.array([True])], axis=1), [X, np.array([True, False, True])]),
        (model_of("Compress", [X, np.array([True])]), [X, np.array([True, False, True])]),
    ):
        for value in message.graph.input:
            value.type.tensor_type.ClearField("shape")
        model = jax.onnx.load(message)
        for got, answer in zip(as_tuple(model(model.params, *inputs)), expected(message, inputs)):
            np.testing.assert_array_equal(got, answer)


def test_maxima_go_back_to_their_places():
    check(
        "MaxUnpool",
        floats(1, 1, 2, 2),
        constant([[[5, 7], [13, 15]]]).reshape(1, 1, 2, 2),
        kernel_shape=[2, 2],
        strides=[2, 2],
    )


def test_columns_become_a_picture():
    check("Col2Im", floats(1, 5, 5), constant(5, 5), constant(1, 5))
    check("Col2Im", floats(1, 9, 4), constant(5, 5), constant(3, 3), strides=[2, 2])
