"""Moving trees of arrays between the host and devices: device_put, device_get, block_until_ready."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._core.api_functions import name_error
from onax._core.explicit_axes import explicit_sharding, spanning_array
from onax._core.layout import Format, Layout, MemorySpace
from onax._core.meshes import PartitionSpec, concrete_mesh
from onax._core.redistribution import is_spanning
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    check_rank,
    over_devices,
    resolve_spec,
)
from onax._core.shards import shard_array
from onax._core.trace import Tracer, as_array, find_cur_trace, to_concrete_value, typeof, valid_jaxtype
from onax._core.transfer_guards import report_put
from onax._core.trees import tree_broadcast
from onax._ground import dtypes, errors, processes
from onax._ground.config import guard_state
from onax._ground.devices import Device, current_default, devices
from onax._ground.typing import AnyFunction, DTypeLike, PyTree, Result
from onax._native.array import Array, ArrayImpl
from onax._native.array_sources import all_arrays
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.placement import REUSE_INPUT, device_put_p
from onax._prims.random import random_wrap_p, unwrap_keys
from onax._prims.shaping import canonical_shape
from onax._transforms.host_local import from_arrays, from_local, process_global_shape
from onax._transforms.vmap import flatten_axes

_TARGETS = (Device, PartitionSpec, Sharding, Format, MemorySpace)
_NEEDS_MESH = "Please set a mesh via `jax.set_mesh` if a PartitionSpec is passed to device_put"


def device_put(x: PyTree, device: PyTree = None, *, src: Any = None, donate: Any = False, may_alias: Any = None) -> Any:
    """Returns the tree with every leaf as an Array on a device.

    Args:
      x: a tree of arrays and numbers.
      device: a Device, a Sharding, a Format, a `memory.Space`, or a tree of these that is a prefix of `x`.  Default
        None, the default device; with a device given arrays are committed to it.
      src: accepted, without effect.
      donate: True, or a tree of bools that is a prefix of `x`: the caller gives up the arrays; default False.  As in
        JAX on CPUs, only those that go to their devices in another order are deleted.
      may_alias: whether results may share memory with arguments, or a tree of such; default None.

    Returns:
      A tree of Arrays.

    Raises:
      TypeError: leaves that are not arrays.
      ValueError: shardings that do not fit, or `donate` with `may_alias`.
      NotImplementedError: a Format whose layout is not row-major.

    Examples:
      >>> onax.device_put([1.0, np.arange(2)], onax.devices()[0])
      [Array(1., dtype=float32, weak_type=True), Array([0, 1], dtype=int32)]
    """
    leaves, tree = tree_flatten(x)
    donated = aliased = ()
    if donate is not False or may_alias is not None:
        donated, aliased = _flags("donate", donate, tree), _flags("may_alias", may_alias, tree)
    if any(gives and shares for gives, shares in zip(donated, aliased)):
        raise ValueError("may_alias and donate cannot be True at the same time.")
    targets = [resolve_spec(p, ValueError, _NEEDS_MESH) for p in broadcast_devices(device, tree)]
    for target in targets:
        if target is not None and not isinstance(target, _TARGETS):
            raise ValueError(
                "`jax.device_put` only accepts `None`, `jax.sharding.Sharding`, `jax.Device`, `Format`, "
                f"`jax.memory.Space` or a pytree of these values. Received invalid value: {target}"
            )
    for leaf in leaves:
        if not valid_jaxtype(leaf):
            if isinstance(leaf, (str, np.ndarray, np.generic)):
                typeof(leaf)  # raises the error
            raise TypeError(
                f"Cannot interpret value of type {type(leaf)} as an abstract array; it does not have a dtype attribute"
                "\nIt is a leaf of the first argument of device_put."
            )
    if find_cur_trace().values is not None and (given := [t for t in targets if t is not None]):
        raise ValueError(
            "device_put with explicit device not allowed within shard_map-decorated functions, but got device "
            f"{given[0]}"
        )
    if guard_state.used:
        for leaf, target in zip(leaves, targets):
            report_put(leaf, target)
    placed = [_put_leaf(leaf, target) for leaf, target in zip(leaves, targets)]
    if False in aliased:
        triples = zip(placed, leaves, aliased)
        placed = [_copy(new) if new is old and shares is False else new for new, old, shares in triples]
    if True in donated:
        for old, new, given_up in zip(leaves, placed, donated):
            if given_up and type(old) is ArrayImpl and type(new) is ArrayImpl and _reorders(old.sharding, new.sharding):
                old.delete()
    return tree_unflatten(tree, placed)


def _reorders(source, target):
    """Whether a sharding is over the devices of another one in another order."""
    return source.device_set == target.device_set and source._ordered_devices() != target._ordered_devices()


def _flags(name, given, tree):
    """The option of each leaf: one for all, or a tree that is a prefix."""
    whole = given is None or isinstance(given, bool)
    return [given] * tree.num_leaves if whole else flatten_axes(f"device_put {name}", tree, given)


def _copy(x):
    """An array that is deleted on its own."""
    return x if isinstance(x, Tracer) else x._with()


def broadcast_devices(device, tree, name="device_put device"):
    """The device or sharding of each leaf of a tree structure; ValueError if `device` is not a prefix of it."""
    if device is None or isinstance(device, _TARGETS):
        return [device] * tree.num_leaves
    return flatten_axes(name, tree, device)


def broadcast_device_prefix(device, tree, name="device_put device"):
    """A tree like `tree` with the device or sharding of each leaf.

    Raises ValueError, with `name` in the message, if `device` is not a prefix of the tree.
    """
    structure = tree_structure(tree)
    return tree_unflatten(structure, broadcast_devices(device, structure, name))


def _put_leaf(leaf, device):
    if isinstance(device, Format):
        device = device.sharding_for(as_array(leaf).shape)
    if isinstance(device, MemorySpace):
        if device is MemorySpace.Any:
            raise ValueError("device_put: memory.Space.Any is no place; state Device or Host")
        device = _in_space(leaf, device)
    if isinstance(device, Sharding) and _lies_on(leaf, device):
        return leaf
    if isinstance(device, Sharding) and (_is_in_host_memory(leaf, device) or not _is_of_one_device(device)):
        return _shard(leaf, device)
    if isinstance(device, Sharding):
        (device,) = device.device_set
    elif device is not None and is_spanning(leaf):
        raise ValueError(
            "When the second argument to `device_put` is a Device, the first argument must be a fully addressable "
            f"array or a non-addressable array with a single device sharding. Got value with devices {leaf.devices()}"
        )
    if isinstance(device, Device) and not device._addressable:
        return spanning_array(typeof(as_array(leaf)), (), SingleDeviceSharding(device))
    leaf = leaf if isinstance(leaf, (Tracer, ArrayImpl)) else as_array(leaf)
    return _bind(leaf, device)


def _in_space(leaf, space):
    """The sharding that a value gets in a memory space; None for a traced one."""
    if isinstance(leaf, Tracer):
        return None
    kind = "pinned_host" if space is MemorySpace.Host else "device"
    own = leaf.sharding if type(leaf) is ArrayImpl else SingleDeviceSharding(current_default() or devices()[0])
    return own if own.memory_kind == kind else own.with_memory_kind(kind)


def _is_of_one_device(sharding):
    return isinstance(sharding, SingleDeviceSharding)


def _is_in_host_memory(leaf, sharding):
    """Whether a known value goes to memory of the host: the array then keeps a sharding, which says so."""
    return not isinstance(leaf, Tracer) and sharding.memory_kind != "device"


def _bind(leaf, device):
    known = to_concrete_value(leaf)
    placed = type(known) is ArrayImpl and (known._committed or not known.weak_type)  # a Python scalar lies nowhere
    source = known.sharding if placed else None
    return device_put_p.bind(leaf, devices=(device,), srcs=(source,), copy_semantics=(REUSE_INPUT,))[0]


def _lies_on(leaf, sharding):
    """Whether an array is committed to a sharding; a deleted one is not, so that its use is an error."""
    return type(leaf) is ArrayImpl and leaf._committed and not leaf.is_deleted() and leaf.sharding == sharding


def _shard(leaf, sharding):
    sharding = over_devices(sharding, concrete_mesh())
    check_rank(sharding, np.ndim(leaf), "device_put args")
    if isinstance(leaf, Tracer):
        explicit_sharding(sharding, leaf.ndim)  # from now on types are looked at
        return _bind(leaf, sharding)
    if not sharding.is_fully_addressable and not is_spanning(leaf):
        _check_same_everywhere(leaf, sharding)
    return shard_array(as_array(leaf), sharding)


def place_new(x, sharding):
    """`device_put` of a new array, whose sharding may name more dimensions than x has if it splits none of those."""
    if isinstance(sharding, NamedSharding) and len(sharding.spec) > x.ndim and type(x) is ArrayImpl:
        return shard_array(x, over_devices(sharding, concrete_mesh()))
    return device_put(x, sharding)


def _check_same_everywhere(leaf, sharding):
    """Raises AssertionError unless all processes pass the same value to device_put; ValueError for a committed one."""
    if type(leaf) is ArrayImpl:
        if leaf.is_fully_addressable and leaf._committed:
            raise ValueError(
                "device_put's second argument must be a Device or a Sharding which represents addressable devices, but "
                f"got {sharding}. Please pass device or Sharding which represents addressable devices."
            )
        return
    value = as_array(leaf)._value
    data = repr((value.shape, value.dtype)).encode() + value.tobytes()
    if not processes.current().have_same(data, f"device_put of {value.dtype}{list(value.shape)}"):
        raise AssertionError(
            f"{type(leaf)} passed to device_put is not the same on each process. Make sure you are passing the same "
            f"value of {type(leaf)} on each process."
        )


def device_get(x: PyTree) -> Any:
    """Returns the tree with every Array as a NumPy array.

    Args:
      x: a tree; traced values, keys and other leaves stay as they are.

    Returns:
      A tree.

    Examples:
      >>> onax.device_get({"a": jnp.arange(2)})
      {'a': array([0, 1], dtype=int32)}
    """
    return tree_map(_get_leaf, x)


def _get_leaf(leaf):
    if isinstance(leaf, Array) and not isinstance(leaf, Tracer) and not dtypes.is_extended(leaf.dtype):
        return np.asarray(leaf)
    return leaf


def block_until_ready(x: Result) -> Result:
    """Returns the tree; results are complete when an operation returns.

    Args:
      x: a tree.

    Returns:
      The same tree.

    Examples:
      >>> onax.block_until_ready(jnp.arange(2))
      Array([0, 1], dtype=int32)
    """
    return tree_map(lambda leaf: leaf.block_until_ready() if hasattr(leaf, "block_until_ready") else leaf, x)


def live_arrays(platform: str | None = None) -> list[Array]:
    """Returns the arrays that exist, the newest first.

    Args:
      platform: "cpu" or "gpu" for the arrays on devices of that kind alone; by default those of the default backend.

    Returns:
      A list of the arrays that somebody holds and that were not deleted.

    Examples:
      >>> import onax, onax.numpy as jnp
      >>> x = jnp.arange(5)
      >>> onax.live_arrays()[0] is x
      True
    """
    platform = devices(platform)[0].platform
    return [x for x in all_arrays() if any(device.platform == platform for device in x.devices())]


def copy_to_host_async(x: Any) -> Any:
    """Starts copies to the host of all leaves that have a method `copy_to_host_async`; returns the tree.

    Args:
      x: a tree.

    Returns:
      The same tree.

    Examples:
      >>> onax.copy_to_host_async(jnp.arange(2))
      Array([0, 1], dtype=int32)
    """
    for leaf in tree_flatten(x)[0]:
        start = getattr(leaf, "copy_to_host_async", None)
        if start is not None:
            start()
    return x


def _concrete_piece(piece):
    if isinstance(piece, Tracer):
        raise errors.UnexpectedTracerError("jax.make_array_from_callback cannot be called within a traced context.")
    return as_array(piece)


def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: AnyFunction, dtype: DTypeLike = None
) -> Array:
    """Returns an array with a sharding, whose parts a function gives.

    Args:
      shape: the shape of the whole array.
      sharding: a Sharding, or a Format.
      data_callback: a function (index) -> the elements at a tuple of slices.
      dtype: the dtype of the parts; default None, that of the first.

    Returns:
      Array of shape `shape`.

    Raises:
      TypeError: `sharding` is of another type, or a Format without a layout or sharding.
      ValueError: the parts would be unequal.
      ValueError: a part of another shape or dtype.
      NotImplementedError: a Format whose layout is not row-major.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> sharding = onax.sharding.NamedSharding(mesh, onax.P("x"))
      >>> onax.make_array_from_callback((3,), sharding, lambda index: np.arange(3)[index])
      Array([0, 1, 2], dtype=int32)
    """
    if isinstance(sharding, Format):
        if sharding.layout is Layout.AUTO:
            raise TypeError(
                "`Layout.AUTO` cannot be used in place of a device-local layout when calling "
                "`jax.make_array_from_callback`."
            )
        sharding = sharding.sharding_for(shape)
    shape = _global_shape("make_array_from_callback", shape, sharding)
    indices = sharding.addressable_devices_indices_map(shape).values()
    pieces = [(index, _concrete_piece(data_callback(index))) for index in indices]
    if dtype is not None and pieces and pieces[0][1].dtype != dtypes.canonicalize_dtype(dtype):
        raise ValueError(
            "If `dtype` is provided to `jax.make_array_from_callback`, it must match the dtype of the addressable "
            f"shards. Got dtype={np.dtype(dtype).name} and shard dtype={pieces[0][1].dtype}`."
        )
    if not sharding.is_fully_addressable:
        devices = sharding.addressable_devices_indices_map(shape)
        shards = [(device, piece) for device, (_, piece) in zip(devices, pieces)]
        return from_arrays(shape, sharding, shards, dtype)
    return _assemble(shape, sharding, pieces, dtype)


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Array], *, dtype: DTypeLike = None
) -> Array:
    """Returns an array with a sharding, from its parts.

    Args:
      shape: the shape of the whole array.
      sharding: a Sharding.
      arrays: the parts, in the order of the sharding's devices that this process has.
      dtype: the dtype, needed if the process has no part; default None.

    Returns:
      Array of shape `shape`.

    Raises:
      TypeError: `arrays` is no list or tuple of Arrays.
      ValueError: the arrays are not one for each addressable device of the sharding.

    Examples:
      >>> sharding = onax.sharding.SingleDeviceSharding(onax.devices()[0])
      >>> onax.make_array_from_single_device_arrays((2,), sharding, [jnp.arange(2)])
      Array([0, 1], dtype=int32)
    """
    shape = _global_shape("make_array_from_single_device_arrays", shape, sharding)
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            "jax.make_array_from_single_device_arrays `arrays` argument must be a list or tuple, but got "
            f"{type(arrays)}."
        )
    if dtype is None and not arrays:
        raise ValueError(
            "If the Array has no addressable shards, `dtype` must be provided via the `dtype` argument to "
            "`jax.make_array_from_single_device_arrays`."
        )
    if any(isinstance(piece, Tracer) for piece in arrays):
        raise ValueError(
            "jax.make_array_from_single_device_arrays requires a list of concrete arrays as input, but got types "
            f"{ {type(piece) for piece in arrays} }"
        )
    indices = sharding.addressable_devices_indices_map(shape)
    for piece in arrays:
        if not isinstance(piece, Array):
            raise TypeError(
                f"Unsupported type for elements in `arrays`: {type(piece)}\n"
                f"make_array_from_single_device_arrays puts Arrays together; got {piece!r} among `arrays`"
            )
        if piece._shards is not None:
            raise ValueError(
                "When making an array from single-device arrays the input arrays must have one shard each. An argument "
                f"array had {len(piece.addressable_shards)} shard(s)."
            )
    if len(arrays) != len(indices):
        raise ValueError(
            f"Expected {len(indices)} per-device arrays (this is how many devices are addressable by the sharding), "
            f"but got {len(arrays)}"
        )
    if dtype is not None and arrays and arrays[0].dtype != dtypes.canonicalize_dtype(dtype):
        raise ValueError(
            "If `dtype` is provided to `jax.make_array_from_single_device_arrays`, it must match the dtype of the "
            f"addressable shards. Got dtype={dtypes.canonicalize_dtype(dtype).name} and shard dtype={arrays[0].dtype}`."
        )
    by_device = {next(iter(a.devices())): a for a in arrays}
    if len(by_device) < len(arrays):
        raise ValueError(
            "When making an array from single-device arrays, the input arrays must be from distinct devices, but got "
            f"device IDs {[next(iter(a.devices())).id for a in arrays]}"
        )
    if by_device.keys() != indices.keys():
        raise ValueError(
            "Addressable devices and per-device arrays devices do not match. Sharding contains devices "
            f"{ {d.id for d in indices.keys() - by_device.keys()} } that are not present in per-device arrays. "
            f"Per-device arrays contain devices { {d.id for d in by_device.keys() - indices.keys()} } that are not "
            "present in the sharding."
        )
    if not sharding.is_fully_addressable:
        return from_arrays(shape, sharding, [(d, by_device[d]) for d in indices], dtype)
    return _assemble(shape, sharding, [(index, by_device[d]) for d, index in indices.items()], dtype)


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int] | None = None
) -> Array:
    """Returns an array with a sharding, from the elements that this process has.

    Args:
      sharding: a Sharding; in the context of a mesh also a PartitionSpec, in a single process also a Device.
      local_data: the elements of this process, an array.
      global_shape: the shape of the whole array; default None: it follows from the sharding.

    Returns:
      Array of shape `global_shape`.

    Examples:
      >>> mesh = onax.make_mesh((1,), ("x",))
      >>> sharding = onax.sharding.NamedSharding(mesh, onax.P("x"))
      >>> onax.make_array_from_process_local_data(sharding, np.arange(2))
      Array([0, 1], dtype=int32)
    """
    shardings = tree_broadcast(sharding, local_data)
    return tree_map(lambda leaf, s: _from_process(s, leaf, global_shape), local_data, shardings)


def _from_process(sharding, local_data, global_shape):
    sharding = resolve_spec(sharding, ValueError, _NEEDS_MESH)
    if processes.process_count() > 1 and not isinstance(sharding, Sharding):
        raise TypeError(
            f"make_array_from_process_local_data: sharding should be an instance of `jax.sharding`; got {sharding!r}"
        )
    if not valid_jaxtype(local_data) and not isinstance(local_data, str):
        raise TypeError(
            f"Cannot interpret value of type {type(local_data)} as an abstract array; it does not have a dtype "
            "attribute\nIt is a leaf of the second argument of make_array_from_process_local_data."
        )
    local_data = as_array(local_data)
    if processes.process_count() == 1:
        if global_shape is not None and tuple(global_shape) != local_data.shape:
            raise ValueError(
                "When calling `make_array_from_process_local_data` on a single process, global_shape should be None or "
                f"equal to local_data.shape.Got global_shape={tuple(global_shape)} and "
                f"local_data.shape={local_data.shape}."
            )
        try:
            return device_put(local_data, sharding)
        except (TypeError, ValueError) as error:
            name_error(error, "onax.make_array_from_process_local_data", (sharding, local_data))
            raise
    shape = process_global_shape(sharding, local_data.shape, global_shape)
    return from_local(local_data, sharding, shape)


def _global_shape(name, shape, sharding):
    """Checks a shape and a sharding and returns the shape; raises TypeError for an invalid one."""
    if not isinstance(sharding, Sharding):
        raise TypeError(
            f"sharding should be an instance of `jax.sharding`. Got {sharding} of type {type(sharding)}\n{name} lays "
            "an array out over it."
        )
    return canonical_shape(shape, f"{name}: ")


def _assemble(shape, sharding, pieces, dtype):
    dtype = pieces[0][1].dtype if dtype is None else dtype
    impl = dtype._impl if isinstance(dtype, dtypes.KeyType) else None
    whole = np.empty(shape, dtype) if impl is None else np.empty((*shape, *impl.key_shape), np.uint32)
    for index, piece in pieces[::-1]:  # of replicas the first one counts
        expected = whole[index].shape[: len(shape)]
        if expected != piece.shape:
            aval = ShapedArray(shape, dtype, sharding=explicit_sharding(sharding, len(shape))).str_short()
            raise ValueError(
                f"Expected shard shape {expected} doesn't match the single device array shape {piece.shape}. "
                f"Shape of Array is {aval} with sharding {sharding}"
            )
        if piece.dtype != dtype:
            raise ValueError(
                f"Input buffers to `Array` must have matching dtypes. Got {piece.dtype}, expected {dtype} for buffer: "
                f"{piece}"
            )
        whole[index] = np.asarray(piece if impl is None else unwrap_keys(piece))
    made = as_array(whole)
    return place_new(made if impl is None else random_wrap_p.bind(made, impl=impl), sharding)
