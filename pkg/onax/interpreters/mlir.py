"""Lowerings of primitives, under the names of jax.interpreters.mlir that do not need MLIR.

`register_lowering(p, lower_fun(f))` says that p is the function f of other primitives: so it lowers to ONNX too, in
compiled functions and in exported files.  Rules that build MLIR are accepted and never run; such a primitive runs by
its `impl`, as a node of the compiled graph.
"""

from dataclasses import dataclass
from typing import Any

from onax._ground.typing import AnyFunction
from onax._native.dispatch import Primitive
from onax.export.lower import registry
from onax.interpreters._views import check_primitive


@dataclass(slots=True, eq=False, repr=False)
class FunctionLowering:
    """A lowering that traces a function of other primitives; what `lower_fun` returns."""

    fun: object
    multiple_results: bool

    def __repr__(self):
        return f"lower_fun({self.fun!r}, multiple_results={self.multiple_results})"

    def __call__(self, ctx, *values, **params):
        raise NotImplementedError("onax lowers to ONNX: a rule for MLIR cannot be run")


def lower_fun(fun: AnyFunction, multiple_results: bool = True) -> FunctionLowering:
    """Returns the lowering of a primitive that a function computes, for `register_lowering`.

    Args:
      fun: a function (*operands, **params) -> result.
      multiple_results: True (the default): the result is a sequence.

    Returns:
      A lowering.

    Examples:
      >>> rule = onax.interpreters.mlir.lower_fun(lambda x: 2 * x, multiple_results=False)
    """
    return FunctionLowering(fun, multiple_results)


def register_lowering(
    prim: Primitive, rule: AnyFunction, platform: str | None = None, inline: bool = True, cacheable: bool = True
) -> Any:
    """Registers how a primitive lowers.

    Args:
      rule for MLIR, or for a platform other than the CPU, changes nothing: the primitive runs by its `impl`.
      prim: a Primitive.
      rule: what `lower_fun` returned.
      platform: the name of a platform; default None, all.
      inline: accepted, without effect.
      cacheable: accepted, without effect.

    Returns:
      The rule.

    Examples:
      >>> mlir, p = onax.interpreters.mlir, onax.extend.core.Primitive("twice")
      >>> rule = mlir.lower_fun(lambda x: 2 * x, multiple_results=False)
      >>> mlir.register_lowering(p, rule) is rule
      True
    """
    check_primitive(prim)
    if isinstance(rule, FunctionLowering) and platform in (None, "cpu"):
        registry.redefine(prim, rule.fun)
    return rule


def __getattr__(name):
    raise AttributeError(
        f"module 'onax.interpreters.mlir' has no attribute {name!r}: onax lowers to ONNX and has no MLIR; "
        "`register_lowering(primitive, lower_fun(function))` serves both"
    )


__all__ = ["lower_fun", "register_lowering"]
