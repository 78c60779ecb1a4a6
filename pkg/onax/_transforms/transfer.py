"""Moving trees of arrays between the host and devices: device_put, device_get, block_until_ready."""

import numpy as np

from onax._core import shards as _shards  # noqa: F401  (registers what arrays ask about places)
from onax._core.sharding import Sharding
from onax._core.trace import Tracer, as_array, valid_jaxtype
from onax._ground.devices import Device
from onax._native.array import Array, ArrayImpl, make_sharded
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.misc import REUSE_INPUT, device_put_p
from onax._transforms.vmap import flatten_axes


def device_put(x, device=None, *, src=None, donate=False, may_alias=None):
    """The tree with every leaf as an Array on the given device or sharding; committed to it when one is given.

    `device`: None, a Device, a Sharding, or a tree of these that is a prefix of `x`.  Raises TypeError for leaves
    that are not arrays and ValueError for shardings that do not fit.
    """
    leaves, tree = tree_flatten(x)
    places = _places(device, tree)
    for leaf in leaves:
        if not valid_jaxtype(leaf):
            raise TypeError(f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type")
    return tree_unflatten(tree, [_put(leaf, place) for leaf, place in zip(leaves, places)])


def _places(device, tree):
    if device is None or isinstance(device, (Device, Sharding)):
        return [device] * tree.num_leaves
    return flatten_axes("device_put device", tree, device)


def spread(device, tree):
    """A tree like `tree` with the place that `device`, a prefix of it, states for each leaf."""
    structure = tree_structure(tree)
    return tree_unflatten(structure, _places(device, structure))


def _put(leaf, place):
    if isinstance(place, Sharding) and len(place.device_set) > 1:
        return _shard(leaf, place)
    if isinstance(place, Sharding):
        (place,) = place.device_set
    elif place is not None and not isinstance(place, Device):
        raise ValueError(f"Argument to device_put must be a Device or a Sharding, got {type(place)}")
    leaf = leaf if isinstance(leaf, (Tracer, ArrayImpl)) else as_array(leaf)
    return device_put_p.bind(leaf, devices=(place,), srcs=(None,), copy_semantics=(REUSE_INPUT,))[0]


def _shard(leaf, sharding):
    if isinstance(leaf, Tracer):
        return leaf  # one program computes the whole value; its parts are placed when it leaves the program
    x = as_array(leaf)
    value = x._value
    parts = sharding.addressable_devices_indices_map(value.shape)
    shards = [(device, value[index]) for device, index in parts.items()]
    return make_sharded(value, shards, sharding, x.dtype, x.weak_type)


def device_get(x):
    """The tree with every Array as a NumPy array; other leaves as they are, if NumPy can take them."""
    return tree_map(_get, x)


def _get(leaf):
    if isinstance(leaf, Array):
        return np.asarray(leaf)
    return leaf


def block_until_ready(x):
    """The tree itself: results are there when an operation returns."""
    return tree_map(lambda leaf: leaf.block_until_ready() if hasattr(leaf, "block_until_ready") else leaf, x)


def copy_to_host_async(x):
    """The tree itself: arrays of the CPU are on the host."""
    return x
