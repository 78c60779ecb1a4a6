"""Operators in the forms of older opsets agree with ONNX Runtime."""

import collections
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import defs
from onnx.backend.test.loader import load_model_tests

import onax as jax
from onnx_nodes import as_tuple, check, constant, distinct, floats

X, M = distinct(2, 3, 4, 5), distinct(3, 4)
P = np.abs(X) + 0.1
BATCH = (floats(3), floats(3), floats(3), floats(3, low=0.5))
EMPTY = np.zeros(0, np.float32)
SCALES = constant(1, 1, 2, 2.5, dtype=np.float32)
IMAGE, BOXES = floats(1, 2, 8, 8), np.array([[1, 1, 6, 5], [0, 0, 7, 7]], np.float32)
INDICES = np.array([[1, 0, 2], [0, 2, 1]])
# (operator, opset, inputs, attributes and options of `check`)
FORMS = [
    *[("Clip", opset, (X,), {"min": -0.55, "max": 0.55}) for opset in (7, 10)],
    ("Clip", 7, (X,), {"min": -0.55}),
    ("Clip", 7, (X,), {}),
    ("CumSum", 11, (M, np.array(1)), {"reverse": 1, "exclusive": 1}),
    ("DFT", 17, (floats(2, 8, 1),), {"axis": 1, "onesided": 1}),
    ("DFT", 17, (floats(2, 8, 2), np.array(6)), {"axis": 1, "inverse": 1}),
    ("DepthToSpace", 7, (floats(1, 8, 2, 3),), {"blocksize": 2}),
    *[("Dropout", opset, (M,), {"ratio": 0.3}) for opset in (7, 10)],
    ("MaxRoiPool", 7, (IMAGE, np.insert(BOXES, 0, 0, 1)), {"pooled_shape": [2, 2], "grad": False}),
    *[("OneHot", opset, (np.array([0, 2, -1]), np.array(3), floats(2)), {}) for opset in (9, 11)],
    *[("Pad", 7, (X,), {"pads": [0, 0, 1, 2, 0, 0, 2, 1], "mode": mode}) for mode in ("reflect", "edge")],
    ("Pad", 7, (M,), {"pads": [-1, 0, 2, -1], "value": 1.5}),
    *[
        (f"Reduce{name}", opset, (P,), attributes)
        for name in "L1 L2 LogSum LogSumExp Mean Sum SumSquare Max Min Prod".split()
        for opset in (7, 11)
        for attributes in ({"axes": [1, 2], "keepdims": 0, "grad": name != "Prod"}, {"grad": False})
    ],
    *[("ReduceSum", 11, (P,), {"axes": [-1, 1]}), ("ReduceMean", 17, (P,), {"axes": [-1]})],
    *[
        (name, opset, (X,), {**attributes, "grad": name != "Hardmax"})
        for name in ("Softmax", "LogSoftmax", "Hardmax")
        for opset in (7, 11, 13)
        for attributes in ({}, {"axis": 0}, {"axis": 2})
    ],
    *[("Upsample", 7, (floats(1, 2, 3, 4),), {"scales": [1.0, 1.0, 2.0, 2.0], "mode": mode})
      for mode in ("nearest", "linear")],
    *[(name, opset, (floats(1, 2, 3, 4), SCALES), {"mode": mode})
      for name, opset in (("Upsample", 9), ("Resize", 10)) for mode in ("nearest", "linear")],
    *[("Resize", 10, (floats(1, 2, 6, 4), constant(1, 1, 0.5, 0.6, dtype=np.float32)), {"mode": mode})
      for mode in ("nearest", "linear")],
    *[("Resize", 11, (floats(1, 2, 6, 4), EMPTY, *sizes), {"mode": mode, "coordinate_transformation_mode": place})
      for sizes in ((SCALES,), (EMPTY, constant(1, 2, 9, 3)))
      for mode, places in (("nearest", ("half_pixel", "asymmetric", "tf_half_pixel_for_nn")),
                           ("linear", ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")),
                           ("cubic", ("half_pixel", "pytorch_half_pixel", "asymmetric")))
      for place in places],
    ("RoiAlign", 10, (IMAGE, BOXES, np.array([0, 0])),
     {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.5, "grad": False}),
    *[("Scatter", 9, (floats(3, 3), INDICES, floats(2, 3)), {"axis": axis}) for axis in (0, 1)],
    ("Slice", 7, (X,), {"starts": [0, 1], "ends": [2, -1], "axes": [1, 2]}),
    ("Slice", 7, (X,), {"starts": [1], "ends": [1000]}),
    ("Slice", 10, (X, constant(0, -1), constant(2, -1000), constant(1, 2), constant(1, -2)), {}),
    *[("Squeeze", opset, (floats(1, 3, 1, 2),), attributes)
      for opset in (7, 11) for attributes in ({}, {"axes": [0, 2]})],
    ("Squeeze", 11, (floats(1, 3, 1, 2),), {"axes": [-2]}),
    *[("Unsqueeze", opset, (M,), {"axes": axes}) for opset, axes in ((7, [0, 3]), (11, [0, -1]))],
    *[("TopK", 7, (M,), {"k": 2, "axis": axis, "outputs": 2}) for axis in (0, 1)],
    ("TopK", 10, (M, constant(2)), {"outputs": 2}),
    ("TopK", 11, (M, constant(2)), {"outputs": 2, "largest": 0}),
    *[("BatchNormalization", opset, (X, *BATCH), {"grad": False}) for opset in (7, 9, 14)],
    ("BatchNormalization", 7, (floats(2, 3, 4), *(floats(3, 4, low=0.5) for _ in range(4))), {"spatial": 0}),
    ("Gemm", 7, (floats(2, 3), floats(3, 4), floats(4)), {"alpha": 0.5, "beta": 2.0}),
    ("Gemm", 9, (floats(3, 2), floats(4, 3), floats(1, 4)), {"transA": 1, "transB": 1}),
    ("Split", 7, (X,), {"axis": 2, "outputs": 2}),
    ("Split", 7, (X,), {"axis": 3, "split": [1, 4], "outputs": 2}),
    ("Split", 13, (X, constant(1, 4)), {"axis": 3, "outputs": 2}),
    ("Cast", 7, (X,), {"to": 7, "grad": False}),
    *[("AveragePool", opset, (floats(1, 2, 7, 7),), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"})
      for opset in (7, 10)],
    *[("MaxPool", opset, (distinct(1, 2, 7, 7),), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]})
      for opset in (7, 8, 10)],
    ("MaxPool", 10, (distinct(1, 2, 7, 7),), {"kernel_shape": [3, 3], "ceil_mode": 1, "dilations": [2, 2]}),
    ("Flatten", 7, (X,), {"axis": 2}),
    ("Pow", 7, (P, np.array(2.0, np.float32)), {}),
    ("Mod", 10, (np.array([-5, 5, 3]), np.array([3, -3, 2])), {"grad": False}),
    ("ArgMax", 7, (M,), {"axis": 1}),
    *[("LSTM", opset, (floats(4, 2, 3), floats(1, 20, 3), floats(1, 20, 5)), {"hidden_size": 5, "outputs": 3})
      for opset in (7, 14)],
    ("NonMaxSuppression", 10, (floats(1, 6, 4), floats(1, 2, 6), np.array(3), np.float32(0.5)), {"grad": False}),
]  # fmt: skip


@pytest.mark.parametrize("name, opset, inputs, options", FORMS, ids=[f"{form[0]}-{form[1]}" for form in FORMS])
def test_form(name, opset, inputs, options):
    check(name, *inputs, opset=opset, tolerance=1e-4, **options)


def test_statistics_of_old_batch_normalization():
    """Until opset 13 training is meant where there are five outputs: the last are the batch's own statistics."""
    message = onnx.parser.parse_model("""<ir_version: 4, opset_import: ["" : 9]>
    g (float[2,3,4,5] x, float[3] s, float[3] b, float[3] m, float[3] v)
    => (float[2,3,4,5] y, float[3] m1, float[3] v1, float[3] m2, float[3] v2)
    { y, m1, v1, m2, v2 = BatchNormalization <momentum = 0.75> (x, s, b, m, v) }""")
    model = jax.onnx.load(message)
    y, mean, variance, own_mean, own_variance = model({}, X, *BATCH)
    np.testing.assert_allclose(own_mean, X.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(own_variance, X.var((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(mean, 0.75 * BATCH[2] + 0.25 * X.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(variance, 0.75 * BATCH[3] + 0.25 * X.var((0, 2, 3)), rtol=1e-5)
    assert y.shape == X.shape


def versions():
    """{operator: versions since which ONNX defines it} of ONNX's own domain."""
    result = collections.defaultdict(set)
    for schema in defs.get_all_schemas_with_history():
        if not schema.domain:
            result[schema.name].add(schema.since_version)
    return result


def older(message, known):
    """The model of one node in the last opset of each older version of its operator from opset 7 on."""
    version = next(entry.version for entry in message.opset_import if not entry.domain)
    since = sorted(v for v in known[message.graph.node[0].op_type] if v <= version)
    for following in since[1:]:
        if following > 7:
            copy = onnx.ModelProto()
            copy.CopyFrom(message)
            copy.ir_version = min(message.ir_version, 10)
            next(entry for entry in copy.opset_import if not entry.domain).version = following - 1
            yield copy


# Where ONNX Runtime does not follow the tests of onnx, which onax passes.
OTHER = ("test_maxunpool_export_with_output_shape", "test_resize_downsample_scales_linear_align_corners",
         "test_resize_downsample_scales_cubic_align_corners")  # fmt: skip
REFUSED = ("bernoulli", "sequence", "optional")


@pytest.mark.slow
def test_the_tests_of_onnx_in_older_opsets():
    known, compared, failed = versions(), 0, []
    for case in load_model_tests(kind="node"):
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].domain or case.name in OTHER or any(word in case.name for word in REFUSED):
            continue
        for message in older(case.model, known):
            for inputs, _ in case.data_sets:
                answers = runtime_answers(message, inputs)
                if answers is None:
                    continue
                compared += 1
                if not same(message, inputs, answers):
                    failed.append((case.name, message.opset_import[0].version))
    assert not failed and compared > 1300


def runtime_answers(message, inputs):
    """The outputs by ONNX Runtime; None where it refuses the node in this opset, whose form may be another."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    refusals = onnxruntime.capi.onnxruntime_pybind11_state
    kinds = (refusals.Fail, refusals.InvalidGraph, refusals.NotImplemented, refusals.InvalidArgument)
    try:
        session = onnxruntime.InferenceSession(message.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, {port.name: x for port, x in zip(session.get_inputs(), inputs)})
    except (*kinds, refusals.RuntimeException, RuntimeError, TypeError, ValueError):
        return None


def same(message, inputs, answers):
    """Whether the loaded model gives these outputs."""
    model = jax.onnx.load(message)
    for got, answer in zip(as_tuple(model(model.params, *inputs, key=jax.random.key(0))), answers):
        got, answer = np.asarray(got), np.asarray(answer)
        if got.dtype != answer.dtype or got.shape != answer.shape:
            return False
        tolerance = 2e-3 if got.dtype.itemsize < 4 else 1e-4
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wide = [v.astype(np.float64) if v.dtype.kind != "c" else v for v in (got, answer)]
        if not np.allclose(*wide, rtol=tolerance, atol=1e-4, equal_nan=True):
            return False
    return True
