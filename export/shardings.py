"""Shardings that an exported function states for its arguments and results: an entry of the artefact's metadata.

A model runs on one device; the entry says how the function's jit would have placed its values.  Calls of the artefact
take arrays on as many devices, any ones, and return arrays on these:

    onax.shardings   {"mesh": [[axis, size], ...], "in": [spec, ...], "out": [spec, ...]}
    spec             for each dimension the name of an axis, a list of names or null; null alone: no sharding stated
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._control.shard_map import stated_meshes
from onax._core.meshes import AbstractMesh, Mesh, PartitionSpec, set_mesh_in_context, with_mesh_in_context
from onax._core.sharding import NamedSharding
from onax._native.tree import tree_flatten
from onax._transforms.transfer import broadcast_devices, device_put

ENTRY = "onax.shardings"


def entry_of(options, args, kwargs, jaxpr, out_tree):
    """The metadata of a jitted function's shardings: {} unless it, an argument or its program names a mesh.

    `options` are those of its jit, or None; they come before the shardings of the arguments themselves.
    """
    leaves, _ = tree_flatten((args, kwargs))
    given = [getattr(x, "sharding", None) for x in leaves]
    results = [None] * out_tree.num_leaves
    if options is not None and options.in_shardings is not None:
        stated = broadcast_devices(options.in_shardings, tree_flatten(args)[1], "in_shardings")
        given = [a if b is None else b for a, b in zip(given, [*stated, *[None] * len(leaves)])]
    if options is not None and options.out_shardings is not None:
        results = broadcast_devices(options.out_shardings, out_tree, "out_shardings")
    meshes = [s.mesh for s in (*given, *results) if isinstance(s, NamedSharding)]
    meshes += [*stated_meshes(jaxpr), *filter(None, (set_mesh_in_context(),))]
    return _entry(meshes[0], list(map(_spec, given)), list(map(_spec, results))) if meshes else {}


def entry_of_vjp(entries, count_in, count_out):
    """The metadata of a vector-Jacobian product: cotangents lie as their primals do."""
    text, mesh = entries.get(ENTRY), with_mesh_in_context()
    if text:
        record = json.loads(text)
        return {ENTRY: json.dumps({**record, "in": record["in"] + record["out"], "out": record["in"]})}
    return {} if mesh is None else _entry(mesh, [[]] * (count_in + count_out), [[]] * count_in)


def _entry(mesh, given, results):
    return {ENTRY: json.dumps({"mesh": _axes(mesh), "in": given, "out": results})}


def _axes(mesh):
    return [[name, mesh.shape[name]] for name in mesh.axis_names]


def _spec(sharding):
    return list(sharding.spec.partitions) if isinstance(sharding, NamedSharding) else None


def device_count(entries: dict[str, str]) -> int:
    """The number of devices of the mesh that an artefact names, 1 without one."""
    text = entries.get(ENTRY)
    return math.prod(size for _, size in json.loads(text)["mesh"]) if text else 1


def devices_of(leaves: Sequence[Any]) -> list[Any]:
    """The devices over which arrays are split or copied, in the order of their mesh; [] if each lies on one device."""
    for x in leaves:
        sharding = getattr(x, "sharding", None)
        if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh) and sharding.mesh.size > 1:
            return list(sharding.mesh.devices.flat)
    return []


def mesh_over(entries: dict[str, str], devices: Sequence[Any]) -> Mesh | None:
    """The mesh that an artefact names, of given devices; None without one."""
    text = entries.get(ENTRY)
    if not text:
        return None
    axes = json.loads(text)["mesh"]
    return Mesh(np.array(devices).reshape([size for _, size in axes]), tuple(name for name, _ in axes))


def place(values: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """The values, with those for which a sharding is given put there."""
    return [x if sharding is None else device_put(x, sharding) for x, sharding in zip(values, given)]


def of_mesh(entries: dict[str, str], side: str, count: int, mesh: Any) -> tuple[Any, ...]:
    """A NamedSharding on a mesh, or None, for each argument (`side` "in") or result ("out") of an artefact.

    Raises TypeError for what is no mesh, ValueError for one of other axes or sizes.
    """
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(f"a mesh is a Mesh or an AbstractMesh; got {mesh!r}")
    text = entries.get(ENTRY)
    record: dict[str, Any] = json.loads(text) if text else {side: [None] * count}
    specs = record[side]
    if any(spec is not None for spec in specs) and record["mesh"] != _axes(mesh):
        there = ", ".join(f"{name!r}: {size}" for name, size in record["mesh"])
        raise ValueError(f"NamedSharding new mesh {mesh} does not match the mesh used for export, which has {there}.")
    return tuple([None if spec is None else NamedSharding(mesh, _partition(spec)) for spec in specs])


def _partition(spec):
    return PartitionSpec(*(tuple(part) if isinstance(part, list) else part for part in spec))
