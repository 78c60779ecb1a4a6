"""Operators that sample between elements agree with ONNX Runtime or onnx's reference."""

import numpy as np
import pytest

from onnx_nodes import check, combinations, constant, floats

X = floats(1, 2, 5, 6)
NONE = np.array([], np.float32)
PLACES = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"]


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("scales", [(1, 1, 2, 1.5), (1, 1, 0.6, 0.5)])
def test_resize_by_scales(mode, place, scales):
    given = constant(*scales, dtype=np.float32)
    attributes = {"mode": mode, "coordinate_transformation_mode": place}
    check("Resize", X, NONE, given, reference=True, grad=False, tolerance=1e-4, **attributes)


@pytest.mark.parametrize("nearest_mode", ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"])
def test_resize_to_sizes(nearest_mode):
    check("Resize", X, None, None, constant(1, 2, 7, 9), nearest_mode=nearest_mode)
    policy = {"keep_aspect_ratio_policy": "not_larger", "axes": [2, 3]}
    check("Resize", X, None, None, constant(7, 9), nearest_mode=nearest_mode, reference=True, grad=False, **policy)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialias(mode):
    check(
        "Resize",
        X,
        NONE,
        constant(1, 1, 0.6, 0.6, dtype=np.float32),
        mode=mode,
        antialias=1,
        reference=True,
        tolerance=1e-4,
    )


def test_crop_and_resize():
    region = constant(0, 0, 0.2, 0.1, 1, 1, 0.7, 1.3, dtype=np.float32)
    place = {"coordinate_transformation_mode": "tf_crop_and_resize", "mode": "linear", "extrapolation_value": 9.0}
    check("Resize", X, region, None, constant(1, 2, 3, 4), grad=False, **place)


def test_upsample():
    check("Upsample", X, constant(1, 1, 2, 3, dtype=np.float32), opset=9)
    check("Resize", X, constant(1, 1, 2, 3, dtype=np.float32), opset=10)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align_corners", [0, 1])
def test_grid_sample(mode, padding_mode, align_corners):
    grid = floats(1, 3, 4, 2, low=-1.3, high=1.3)
    attributes = {"mode": mode, "padding_mode": padding_mode, "align_corners": align_corners}
    check("GridSample", X, grid, grad=False, tolerance=1e-4, **attributes)


@pytest.mark.parametrize("attributes", combinations(align_corners=[0, 1]))
def test_affine_grid(attributes):
    check("AffineGrid", floats(2, 2, 3), constant(2, 1, 4, 5), **attributes)
    check("AffineGrid", floats(2, 3, 4), constant(2, 1, 2, 4, 5), grad=False, **attributes)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("sampling_ratio", [0, 2])
def test_roi_align(mode, sampling_ratio):
    rois = np.array([[0, 0, 4, 4], [1, 1, 3.5, 2.5]], np.float32)
    sizes = {
        "output_height": 2,
        "output_width": 3,
        "spatial_scale": 1.0,
        "sampling_ratio": sampling_ratio,
        "mode": mode,
    }
    check("RoiAlign", X, rois, constant(0, 0), grad=False, jit=sampling_ratio > 0, tolerance=1e-4, **sizes)


def test_max_roi_pool():
    rois = np.array([[0, 0, 0, 4, 4], [0, 1, 1, 3, 3]], np.float32)
    check("MaxRoiPool", X, rois, pooled_shape=[2, 2], spatial_scale=1.0)
