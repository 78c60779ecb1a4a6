"""pmap: maps a function over devices, one slice for each, over a mesh of one axis.

As in JAX 0.10.2 it is `jit` of `shard_map` over the first devices, without check_vma: each device has slices
of length 1 along the mapped axes, which are squeezed for the function.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onax._compile.jit import jit
from onax._control.shard_map import call_on_shards
from onax._core.function_programs import programs_of
from onax._core.lists import insert_bounded
from onax._core.meshes import AxisType, Mesh, PartitionSpec
from onax._core.paths import prefix_errors, skeleton
from onax._core.sharding import NamedSharding
from onax._core.trace import as_array, typeof, valid_jaxtype
from onax._ground import source
from onax._ground.devices import Device
from onax._ground.devices import devices as all_devices
from onax._ground.processes import process_count
from onax._ground.typing import AnyFunction
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from onax._prims.shaping import expand_dims, squeeze
from onax._transforms.abstract import ShapeDtypeStruct, abstractify
from onax._transforms.flatten import FlatFunction, check_callable, debug_info_of, fun_name
from onax._transforms.host_local import to_global, to_local
from onax._transforms.vmap import PytreeLeaf, flatten_axes

_NO_NAME = "_internal_pmap_axis_name"


def pmap(
    fun: AnyFunction,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Device] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[..., Any]:
    """Returns a function that maps `fun` over slices of its arguments, one slice for each device, in parallel.

    Virtual CPU devices run one program; CUDA devices one each, which exchange values at collectives.  With several
    processes each gives slices for its own devices and gets their results.

    Args:
      fun: a function of trees of arrays.
      axis_name: a name for collectives over the devices; default None.
      in_axes: an int, None (the same on every device), or a prefix tree of the arguments' tuple; default 0.
      out_axes: an int, None (the first device's result), or a prefix tree of the results; default 0.
      static_broadcasted_argnums: indices of arguments that are Python values for `fun`.
      devices: the devices; default None, the first ones.
      backend: a platform; default None, the default one.
      axis_size: the number of slices, if nothing is mapped; default None.
      donate_argnums: indices of arguments that the caller gives up.

    Returns:
      A function of the arguments of `fun`, whose results have one shard on each device.

    Raises:
      ValueError: nothing is mapped, a mapped axis has not one slice for each device, or `in_axes` is no prefix tree.
      TypeError: `fun` is not callable.

    Examples:
      >>> onax.pmap(lambda x: 2 * x)(jnp.arange(1.0))
      Array([0.], dtype=float32)
    """
    check_callable(fun)
    _check_axes(in_axes, out_axes)
    if devices is not None and not list(devices):
        raise ValueError("'devices' argument to pmap must be non-empty, or None.")
    mapping = _mapping(
        fun,
        _NO_NAME if axis_name is None else axis_name,
        in_axes,
        out_axes,
        _as_tuple(static_broadcasted_argnums),
        _as_tuple(donate_argnums),
        None if devices is None else tuple(devices),
        backend,
        axis_size,
    )

    @functools.wraps(fun)
    @source.api_boundary
    def mapped(*args, **kwargs):
        program, dynamic, kwargs = mapping.prepare(args, kwargs)
        return program(*dynamic, **kwargs)

    def lower(*args, **kwargs):
        """The program for arguments of these types, as `jit` lowers it."""
        program, dynamic, kwargs = mapping.prepare(*tree_map(_described, (args, kwargs)))
        return program.lower(*dynamic, **kwargs)

    mapped.lower = lower
    return mapped


def _described(x):
    """What stands for an argument to be lowered: a type as a ShapeDtypeStruct, and any other as it is."""
    return ShapeDtypeStruct.of_aval(x) if isinstance(x, ShapedArray) else x


def _check_axes(in_axes, out_axes):
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not all(isinstance(leaf, int) and not isinstance(leaf, bool) for leaf in tree_leaves(axes)):
            raise TypeError(
                f"pmap {name} must be an int, None, or (nested) container with those types as leaves, but got {axes}."
            )


def _axes_of_leaves(axes, tree):
    """The axis of each leaf of (positional arguments, keyword arguments); ValueError if `axes` is not a prefix."""
    try:
        return flatten_axes("pmap in_axes", tree, axes)
    except ValueError:
        arguments = tree_unflatten(tree, [PytreeLeaf() for _ in range(tree.num_leaves)])
        error = prefix_errors(axes, arguments, lambda axis: axis is None)[0]
        text = f"{error('pmap in_axes')}\n\nin_axes must be a tree prefix of the tuple of positional arguments."
        if arguments[1]:
            text += (
                " It is not compared with arguments passed by keyword. Instead, each argument passed by keyword is "
                "mapped over its leading axis."
            )
        raise ValueError(text) from None


def _as_tuple(argnums):
    return (argnums,) if isinstance(argnums, int) else tuple(argnums)


def _mapping(fun, *options):
    """The _Mapping of these options; calls of `pmap` for one function and equal options share it and its programs."""
    mappings = programs_of(fun, "pmap").table
    try:
        known = mappings.get(options)
    except TypeError:  # axes in a dictionary or list
        return _Mapping(fun, *options)
    return insert_bounded(mappings, options, _Mapping(fun, *options)) if known is None else known


@dataclass(slots=True, eq=False)
class _Mapping:
    """The options of one `pmap` call, and its programs by the structure of a call."""

    fun: object
    axis_name: object
    in_axes: object
    out_axes: object
    static: tuple
    donated: tuple
    devices: tuple | None
    backend: object
    axis_size: int | None
    programs: dict = field(default_factory=dict)

    def prepare(self, args, kwargs):
        """(jitted function of (dynamic arguments, keyword arguments), these arguments)."""
        fixed = self._static(args)
        dynamic = tuple(x for i, x in enumerate(args) if i not in fixed)
        axes = self.in_axes
        if isinstance(axes, tuple) and len(axes) == len(args):
            axes = tuple(a for i, a in enumerate(axes) if i not in fixed)
        leaves, tree = tree_flatten((dynamic, kwargs))
        for leaf in leaves:
            if not valid_jaxtype(leaf) and not isinstance(leaf, ShapeDtypeStruct):
                raise TypeError(f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type")
        dims = _axes_of_leaves((axes, 0), tree)
        dims = tuple(None if d is None else _positive(d, abstractify(x).ndim) for d, x in zip(dims, leaves))
        size = self._size(leaves, dims)
        mesh = self._mesh(size)
        for x, d in zip(leaves, dims):
            if d is not None:
                NamedSharding(mesh.local_mesh, _spec(d, self.axis_name)).shard_shape(abstractify(x).shape)
        if mesh.is_multi_process:
            leaves = [to_global(x, mesh, _spec(d, self.axis_name)) for x, d in zip(leaves, dims)]
            dynamic, kwargs = tree_unflatten(tree, leaves)
        key = (tree, dims, mesh, tuple((i, type(v), v) for i, v in sorted(fixed.items())), len(args))
        program = self.programs.get(key)
        if program is None:
            program = self._program(fixed, len(args), tree, dims, mesh)
            program = self.programs[key] = self._local_results(program, mesh) if mesh.is_multi_process else program
        return program, dynamic, kwargs

    def _local_results(self, program, mesh):
        """The program with results that are what this process holds."""

        @functools.wraps(program)
        def local(*args, **kwargs):
            return tree_map(lambda x: to_local(x, mesh, x.sharding.spec), program(*args, **kwargs))

        return local

    def _static(self, args):
        """Static values by position."""
        n = len(args)
        if any(not -n <= i < n for i in self.static):
            raise ValueError(
                f"pmapped function has static_broadcasted_argnums={self.static} but was called with only {n} "
                f"positional argument{'s' if n != 1 else ''}. All static broadcasted arguments must be passed "
                "positionally."
            )
        fixed = {i % n: args[i] for i in self.static}
        for i, value in fixed.items():
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    "Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses. "
                    f"Static argument (index {i}) of type {type(value)} for function {fun_name(self.fun)} is "
                    "non-hashable."
                ) from None
        return fixed

    def _size(self, leaves, dims):
        avals = list(map(abstractify, leaves))
        mapped = [a.shape[d] for a, d in zip(avals, dims) if d is not None and a.ndim > d]
        if not mapped:
            raise ValueError("pmap requires at least one argument with a mapped axis.")
        if self.axis_size is not None and self.axis_size != mapped[0] and process_count() == 1:
            raise ValueError(f"Specified axis_size {self.axis_size} doesn't match received axis_size {mapped[0]}.")
        return mapped[0]

    def _mesh(self, size):
        """A mesh over the first devices: as many as slices, if there are enough; with several processes all devices."""
        available = all_devices(self.backend) if self.devices is None else self.devices
        chosen = available if self.devices is not None or process_count() > 1 else available[:size]
        return Mesh(np.array(chosen, dtype=object), (self.axis_name,), (AxisType.Auto,))

    def _program(self, fixed, count, tree, dims, mesh):
        """The jitted shard_map of the function, which squeezes the axes of length 1."""
        name, out_axes, fun = self.axis_name, self.out_axes, self.fun
        info = debug_info_of("pmap", fun, lambda: _with_fixed(skeleton(tree), fixed, count), fixed)
        specs = [_spec(d, name) for d in dims]
        params = {"mesh": mesh, "newly_manual_axes": frozenset((name,)), "check_vma": False}

        def _fun(*args, **kwargs):
            out_dims = []

            def on_one_device(*args, **kwargs):
                leaves = tree_leaves((args, kwargs))
                parts = [x if d is None else squeeze(x, (d,)) for x, d in zip(leaves, dims)]
                args, kwargs = _with_fixed(tree_unflatten(tree, parts), fixed, count)
                out = fun(*args, **kwargs)
                leaves, out_tree = tree_flatten(out)
                leaves = [_result(x) for x in leaves]
                axes = flatten_axes("pmap out_axes", out_tree, out_axes)
                out_dims[:] = [None if a is None else _positive(a, typeof(x).ndim + 1) for a, x in zip(axes, leaves)]
                return tree_unflatten(
                    out_tree, [x if d is None else expand_dims(x, (d,)) for x, d in zip(leaves, out_dims)]
                )

            return call_on_shards(
                FlatFunction(on_one_device, tree),
                [as_array(x) for x in tree_leaves((args, kwargs))],
                specs,
                params,
                lambda out_tree, avals: [_spec(d, name) for d in out_dims],
                info,
            )

        dynamic = [i for i in range(count) if i not in fixed]
        return jit(_fun, donate_argnums=tuple(dynamic.index(i) for i in self.donated if i in dynamic))


def _with_fixed(arguments, fixed, count):
    """(args, kwargs) with the static arguments at their positions between the others."""
    args, kwargs = arguments
    rest = iter(args)
    return [fixed[i] if i in fixed else next(rest) for i in range(count)], kwargs


def _result(x):
    if not valid_jaxtype(x):
        raise TypeError(f"Output from pmapped function {x!r} with type {type(x)} is not a valid JAX type")
    return as_array(x)


def _positive(axis, ndim):
    return axis % max(ndim, 1) if axis < 0 else axis


def _spec(dim, name):
    """The spec of a value of which one dimension is sharded over the axis of the mesh."""
    return PartitionSpec() if dim is None else PartitionSpec(*(None,) * dim, name)
