"""composite: a named operation with a decomposition into other operations.

    composite_p.bind(*constants, *operands, name, version, attributes, jaxpr)

A compiler that knows the name may have its own implementation; onax always computes the decomposition.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from onax._control.bodies import arrays_and_avals, stage_body
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import Call, programs
from onax._core.trace import Tracer
from onax._ground.errors import UnexpectedTracerError
from onax._ground.typing import AnyFunction
from onax._native.array import Array
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.flatten import check_callable


class HashableArray:
    """A NumPy array among the attributes of a composite."""

    __slots__ = ("val",)

    def __init__(self, val):
        self.val = np.copy(val)
        self.val.setflags(write=False)

    def __repr__(self):
        return f"HashableArray({self.val!r})"

    def __hash__(self):
        return hash((self.val.shape, self.val.dtype, self.val.tobytes()))

    def __eq__(self, other):
        return isinstance(other, HashableArray) and np.array_equal(self.val, other.val)


def composite(decomposition: AnyFunction, name: str, version: int = 0) -> Callable[..., Any]:
    """Returns a function that is one named operation, made from a function of other operations.

    Args:
      decomposition: function of arrays, and of keyword arguments that are the attributes of the operation.
      name: str, such as "my.operation".
      version: int.

    Returns:
      Function of the arguments of `decomposition`.

    Examples:
      >>> double = lax.composite(lambda x: x + x, "my.double")
      >>> double(jnp.array([1.0, 2.0]))
      Array([2., 4.], dtype=float32)
    """
    check_callable(decomposition)

    @functools.wraps(decomposition, updated=())
    def call(*args, **kwargs):
        leaves, in_tree = tree_flatten((args, {}))
        values, avals = arrays_and_avals(leaves)
        attributes = _attributes(name, kwargs)
        fun = functools.wraps(decomposition, updated=())(functools.partial(decomposition, **kwargs))
        jaxpr, consts, out_tree = stage_body(fun, in_tree, avals, f"composite {name}")
        if any(isinstance(c, Tracer) for c in consts):
            raise UnexpectedTracerError(
                f"Found a JAX Tracer as a constant in the decomposition for the composite op '{name}'. {_CLOSED_OVER}"
            )
        params = {"attributes": attributes, "jaxpr": jaxpr, "name": name, "version": version}
        return tree_unflatten(out_tree, composite_p.bind(*consts, *values, **params))

    return call


_CLOSED_OVER = (
    "This means that the decomposition function closes over a value that is involved in a JAX transformation. Any "
    "values that aren't explicitly known at compile time must be explicitly passed as arguments to the composite."
)


def _attributes(name, kwargs):
    """(name, leaves, tree) of each keyword argument."""
    attributes = []
    for key, value in sorted(kwargs.items()):
        leaves, tree = tree_flatten(value)
        if any(isinstance(leaf, Array) for leaf in leaves):
            raise UnexpectedTracerError(
                f"Found a JAX Tracer as an attribute in the decomposition for the composite op '{name}'. "
                f"{_CLOSED_OVER}\n\nNote: If you are passing jax arrays as attributes, use numpy arrays instead."
            )
        hashable = [HashableArray(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
        attributes.append((key, tuple(hashable), tree))
    return tuple(attributes)


def _impl(*args, jaxpr, **_):
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


def _jvp(primals, tangents, **_):
    raise ValueError(
        "JVP rule for composite not implemented. You can use `jax.custom_jvp` to add support. See "
        "https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html"
    )


composite_p = Primitive(
    "composite",
    multiple_results=True,
    impl=_impl,
    abstract_eval=lambda *avals, jaxpr, **_: list(jaxpr.out_avals),
    jvp=_jvp,
    weak=NEVER,
)
programs.set(composite_p, Call("jaxpr"))

__all__ = ["composite", "composite_p"]
