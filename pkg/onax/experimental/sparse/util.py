"""What all sparse formats share: errors, the record of a sparse array, maps over batch axes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import AnyFunction
from onax._transforms.vmap import vmap


class SparseEfficiencyError(ValueError):
    """A layout would store many zeros."""


class SparseEfficiencyWarning(UserWarning):
    """A layout stores many zeros."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """JAX's warning of operations that cuSPARSE lacks; onax never gives it."""


Shape = tuple[int, ...]
DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


class SparseInfo(NamedTuple):
    """What is known of a sparse array beside its buffers.

    Args:
      shape: the shape.
      indices_sorted: whether the indices are sorted; default False.
      unique_indices: whether no index occurs twice; default False.

    Examples:
      >>> onax.experimental.sparse.util.SparseInfo((2, 3)).shape
      (2, 3)
    """

    shape: tuple
    indices_sorted: bool = False
    unique_indices: bool = False


def nfold_vmap(fun: AnyFunction, N: int, *, broadcasted: bool = True, in_axes: Any = 0) -> Callable[..., Any]:
    """Returns a function mapped over several leading axes.

    Args:
      fun: a function of arrays.
      N: the number of axes.
      broadcasted: True (the default): an axis of length 1 serves all examples.
      in_axes: as in `onax.vmap`; default 0.

    Returns:
      A function of the arguments of `fun`.

    Examples:
      >>> onax.experimental.sparse.util.nfold_vmap(jnp.sum, 2)(jnp.ones((2, 3, 4))).shape
      (2, 3)
    """
    for _ in range(N):
        fun = (broadcasting_vmap if broadcasted else vmap)(fun, in_axes)
    return fun


def broadcasting_vmap(fun: AnyFunction, in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Returns a mapped function in which an axis of length 1 serves all examples.

    Args:
      fun: a function of arrays.
      in_axes: as in `onax.vmap`; default 0.
      out_axes: as in `onax.vmap`; default 0.

    Returns:
      A function of the arguments of `fun`.

    Examples:
      >>> onax.experimental.sparse.util.broadcasting_vmap(jnp.add)(jnp.ones((1, 2)), jnp.ones((3, 2))).shape
      (3, 2)
    """

    def mapped(*args):
        axes = [in_axes] * len(args) if in_axes is None or isinstance(in_axes, int) else list(in_axes)
        size = max(x.shape[a] for x, a in zip(args, axes) if a is not None)
        if any(a is not None and x.shape[a] not in (1, size) for x, a in zip(args, axes)):
            raise ValueError("broadcasting_vmap: mismatched input shapes")
        shared = [a is not None and size > 1 and x.shape[a] == 1 for x, a in zip(args, axes)]
        given = [jnp.squeeze(x, a) if s else x for x, a, s in zip(args, axes, shared)]
        return vmap(fun, [None if s else a for a, s in zip(axes, shared)], out_axes)(*given)

    return mapped


__all__ = [
    "CuSparseEfficiencyWarning",
    "DotDimensionNumbers",
    "Shape",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "SparseInfo",
    "broadcasting_vmap",
    "nfold_vmap",
]

_wrap_api_functions(globals(), __name__)
