"""Shardings that an exported function states for its arguments and results: an entry of the artefact's metadata.

A model runs on one device; the entry says how the function's jit would have placed its values, for `jit` and
`device_put` around calls of the artefact:

    onax.shardings   {"mesh": [[axis, size], ...], "in": [spec, ...], "out": [spec, ...]}
    spec             for each dimension the name of an axis, a list of names or null; null alone: no sharding stated
"""

import json
from typing import Any

from onax._core.meshes import AbstractMesh, Mesh, PartitionSpec
from onax._core.sharding import NamedSharding
from onax._native.tree import tree_flatten
from onax._transforms.transfer import broadcast_devices

ENTRY = "onax.shardings"


def entry_of(options, args, kwargs, out_tree):
    """The metadata of a jitted function's shardings: {} unless it, or an argument, is sharded over a mesh.

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
    if not meshes:
        return {}
    record = {"mesh": _axes(meshes[0]), "in": list(map(_spec, given)), "out": list(map(_spec, results))}
    return {ENTRY: json.dumps(record)}


def _axes(mesh):
    return [[name, mesh.shape[name]] for name in mesh.axis_names]


def _spec(sharding):
    return list(sharding.spec.partitions) if isinstance(sharding, NamedSharding) else None


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
