"""Where values lie, stated inside a program: with_sharding_constraint, reshard."""

from onax._core.sharding import PartitionSpec, Sharding, get_mesh, in_context_of_mesh
from onax._core.trace import as_array
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.misc_sharding import sharding_constraint_p
from onax._transforms.transfer import device_put, spread

_NEEDS_MESH = (
    "{} requires a non-empty mesh in context if you are passing `PartitionSpec`s to shardings. You can define a "
    "context mesh via `jax.set_mesh(mesh)`, or pass shardings, which name their mesh."
)


def with_sharding_constraint(x, shardings):
    """x, a tree of arrays, laid out as `shardings` says: a sharding or PartitionSpec, or a tree that is a prefix of x.

    Raises RuntimeError for a PartitionSpec where no mesh is in context, IndivisibleError for pieces of unequal size.
    """
    leaves, tree = tree_flatten(x)
    places = tree_flatten(spread(shardings, x), is_leaf=lambda p: p is None)[0]
    return tree_unflatten(tree, [_constrained(leaf, place) for leaf, place in zip(leaves, places)])


def _constrained(x, place):
    if place is None:
        return x
    place = in_context_of_mesh(place, RuntimeError, _NEEDS_MESH.format("with_sharding_constraint"))
    if not isinstance(place, Sharding):
        raise ValueError(f"with_sharding_constraint takes shardings and PartitionSpecs, got {place!r}")
    return sharding_constraint_p.bind(
        as_array(x), sharding=place, context_mesh=get_mesh(), layout=None, unconstrained_dims=frozenset()
    )


def reshard(x, out_shardings):
    """x, a tree of arrays, moved to other shardings (or PartitionSpecs over the mesh in context)."""
    if isinstance(out_shardings, PartitionSpec):
        out_shardings = in_context_of_mesh(out_shardings, ValueError, _NEEDS_MESH.format("reshard"))
    return device_put(x, out_shardings)
