"""Lowerings of primitives, under the names of jax.interpreters.mlir that do not need MLIR.

`register_lowering(p, lower_fun(f))` says that p is the function f of other primitives: so it lowers to ONNX too, in
compiled functions and in exported files.  Rules that build MLIR are accepted and never run; such a primitive runs by
its `impl`, as a node of the compiled graph.
"""

from dataclasses import dataclass
from typing import Any

from onax._ground.typing import AnyFunction
from onax._ground.unavailable import unavailable as _unavailable
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


_PLATFORMS = ("cpu", "cuda", "gpu", "oneapi", "rocm", "tpu")


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

    Raises:
      NotImplementedError: a platform of another name than those of XLA.

    Examples:
      >>> mlir, p = onax.interpreters.mlir, onax.extend.core.Primitive("twice")
      >>> rule = mlir.lower_fun(lambda x: 2 * x, multiple_results=False)
      >>> mlir.register_lowering(p, rule) is rule
      True
    """
    if platform is not None and platform not in _PLATFORMS:
        raise NotImplementedError(
            f"Registering an MLIR lowering rule for primitive {prim} for an unknown platform {platform}. Known "
            f"platforms are: {', '.join(_PLATFORMS)}."
        )
    check_primitive(prim)
    if isinstance(rule, FunctionLowering) and platform in (None, "cpu"):
        registry.redefine(prim, rule.fun)
    return rule


__getattr__ = _unavailable(
    __name__,
    {
        "ConstantHandler DEVICE_TO_DEVICE_TYPE LoweringParameters LoweringResult LoweringRuleContext Mesh "
        "ModuleContext RECV_FROM_HOST_TYPE SEND_TO_HOST_TYPE SPMDAxisContext ShapePolyLoweringState "
        "ShardingContext Token TokenSet Value aval_to_ir_type aval_to_ir_types core_call_lowering "
        "dense_int_array dense_int_elements dtype_to_ir_type emit_python_callback flatten_ir_types "
        "flatten_ir_values i32_attr i64_attr ir_attribute ir_constant ir_constants ir_tree_registry "
        "ir_type_handlers jaxpr_subcomp lower_jaxpr_to_fun lower_jaxpr_to_module lowerable_effects "
        "make_ir_context merge_mlir_modules module_to_bytecode module_to_string register_constant_handler "
        "shape_tensor token_type unflatten_ir_values_like_types": (
            "onax lowers to ONNX and has no MLIR; register_lowering(primitive, lower_fun(function)) serves both"
        ),
    },
)

__all__ = ["lower_fun", "register_lowering"]
