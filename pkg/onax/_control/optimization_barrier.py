"""optimization_barrier: an identity across which no pass may move or duplicate computations."""

from typing import Any

from onax._core.trace import as_array
from onax._core.zeros import Zero
from onax._ground.typing import PyTree
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.creation import instantiate_zeros


def optimization_barrier(operand: PyTree, /) -> Any:
    """Returns a tree of arrays unchanged.

    Programs hold the operation, as in JAX, but ONNX Runtime has no such barrier.

    Args:
      operand: tree of arrays.

    Returns:
      Tree of the structure of the operand.

    Examples:
      >>> lax.optimization_barrier(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, optimization_barrier_p.bind(*map(as_array, leaves)))


def _jvp(primals, tangents):
    outs = optimization_barrier_p.bind(*primals)
    some = [t for t in tangents if type(t) is not Zero]
    moved = iter(optimization_barrier_p.bind(*some) if some else ())
    return outs, [t if type(t) is Zero else next(moved) for t in tangents]


def _transpose(cts, *operands):
    return optimization_barrier_p.bind(*map(instantiate_zeros, cts))


optimization_barrier_p = Primitive(
    "optimization_barrier",
    multiple_results=True,
    impl=lambda *args: list(args),
    abstract_eval=lambda *avals: list(avals),
    jvp=_jvp,
    transpose=_transpose,
    batch=lambda axis_data, operands, dims: (optimization_barrier_p.bind(*operands), list(dims)),
    weak=NEVER,
)
