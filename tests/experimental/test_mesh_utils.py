"""Arrays of devices for meshes: all devices in order, in a shape."""

from dataclasses import dataclass

import numpy as np
import pytest

import onax
from onax.experimental import mesh_utils
from virtual_devices import eight_devices


def test_all_devices_in_a_shape():
    with eight_devices():
        mesh = mesh_utils.create_device_mesh((4, 2))
        assert mesh.shape == (4, 2) and list(mesh.flat) == onax.devices()
        assert mesh_utils.create_device_mesh([2], onax.devices()[3:5]).tolist() == onax.devices()[3:5]
        hybrid = mesh_utils.create_hybrid_device_mesh((2, 4), (1, 1), process_is_granule=True)
        assert hybrid.shape == (2, 4) and list(hybrid.flat) == onax.devices()


class Device:
    def __init__(self, number):
        self.number, self.process_index, self.slice_index = number, number // 4, 1 - number // 4

    def __repr__(self):
        return str(self.number)


@pytest.mark.parametrize(
    ("shapes", "options", "numbers"),
    [
        (((2, 2), (1, 2)), {"process_is_granule": True}, [[0, 1, 4, 5], [2, 3, 6, 7]]),
        (((2, 2), (2, 1)), {"process_is_granule": True}, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (((4,), (2,)), {}, [4, 5, 6, 7, 0, 1, 2, 3]),
        (((4,), (2,)), {"should_sort_granules_by_key": False}, [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_groups(shapes, options, numbers):
    mesh = mesh_utils.create_hybrid_device_mesh(*shapes, [Device(i) for i in range(8)], **options)
    assert str(mesh.tolist()) == str(numbers)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mesh_utils.create_device_mesh((3,)), "Number of devices 1 must equal"),
        (lambda: mesh_utils.create_device_mesh(("x",)), "sizes of axes"),
        (lambda: mesh_utils.create_hybrid_device_mesh((1,), (1,)), "slice_index"),
        (lambda: mesh_utils.create_hybrid_device_mesh((1,), (2,), process_is_granule=True), "Number of slices 1"),
        (lambda: mesh_utils.create_hybrid_device_mesh((1,), (1, 1), process_is_granule=True), "differ in length"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@dataclass(frozen=True)
class InSlice:
    id: int
    slice_index: int
    process_index: int = 0


def ids(array):
    return np.vectorize(lambda device: device.id)(array).tolist()


@pytest.mark.parametrize(
    ("inner", "outer", "wanted"),
    [
        ((4,), (2,), [4, 5, 6, 7, 0, 1, 2, 3]),
        ((2, 2), (2, 1), [[4, 5], [6, 7], [0, 1], [2, 3]]),
        ((2, 2), (1, 2), [[4, 5, 0, 1], [6, 7, 2, 3]]),
    ],
)
def test_devices_of_a_slice_are_neighbours(inner, outer, wanted):
    devices = [InSlice(i, 1 - i // 4, i // 4) for i in range(8)]
    assert ids(mesh_utils.create_hybrid_device_mesh(inner, outer, devices)) == wanted
    in_order = mesh_utils.create_hybrid_device_mesh(inner, outer, devices, should_sort_granules_by_key=False)
    assert ids(in_order) == ids(mesh_utils.create_hybrid_device_mesh(inner, outer, devices, process_is_granule=True))
    with pytest.raises(ValueError, match="Number of slices 2 must equal the product of dcn_mesh_shape"):
        mesh_utils.create_hybrid_device_mesh(inner, [1] * len(inner), devices)
