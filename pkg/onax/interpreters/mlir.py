"""Lowerings of primitives, under the names of jax.interpreters.mlir that do not need MLIR.

`register_lowering(p, lower_fun(f))` says that p is the function f of other primitives: so it lowers to ONNX too, in
compiled functions and in exported files.  Rules that build MLIR are accepted and never run; such a primitive runs by
its `impl`, as a node of the compiled graph.
"""

from dataclasses import dataclass

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


def lower_fun(fun, multiple_results=True):
    """The lowering of a primitive that is `fun(*operands, **params)`, for `register_lowering`."""
    return FunctionLowering(fun, multiple_results)


def register_lowering(prim, rule, platform=None, inline=True, cacheable=True):
    """Registers how a primitive lowers; the rule is what `lower_fun` returned.

    A rule for MLIR, or for a platform other than the CPU, changes nothing: the primitive runs by its `impl`.
    `inline` and `cacheable`, which concern MLIR modules, change nothing.  Returns the rule.
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
