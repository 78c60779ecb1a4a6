"""Differentiation rules and their helpers, under the names of jax.interpreters.ad.

`jvp` and `linearize` of JAX's module, which take JAX's internal records, are missing: use `onax.jvp` and
`onax.linearize`.
"""

from collections.abc import Sequence
from typing import Any

from onax._core import rules
from onax._core.jaxpr import Jaxpr
from onax._core.rules import add_any_p as add_jaxvals_p
from onax._core.rules import add_tangents
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground.typing import AnyFunction, ArrayLike
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._native.avals import AbstractValue
from onax._native.dispatch import Primitive
from onax._prims.creation import instantiate_zeros
from onax._transforms import transpose
from onax._transforms.jvp import JVPTrace, JVPTracer, jvp_jaxpr
from onax.interpreters._views import RuleView, check_primitive

primitive_jvps = RuleView("jvp")
primitive_transposes = RuleView("transpose")


def add_jaxvals(x: ArrayLike, y: ArrayLike) -> Array:
    """Returns the sum of two tangents that are arrays.

    Args:
      x: an array.
      y: an array of the same type.

    Returns:
      Array.

    Examples:
      >>> onax.interpreters.ad.add_jaxvals(jnp.ones(2), jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    return add_jaxvals_p.bind(x, y)


def zeros_like_aval(aval: AbstractValue) -> Array:
    """Returns an array of zeros.

    Args:
      aval: its type.

    Returns:
      Array of its shape and dtype.

    Examples:
      >>> onax.interpreters.ad.zeros_like_aval(onax.typeof(jnp.ones(2)))
      Array([0., 0.], dtype=float32)
    """
    return instantiate_zeros(Zero(aval))


def get_primitive_transpose(p: Primitive) -> AnyFunction:
    """Returns the transpose rule of a primitive.

    Args:
      p: a Primitive.

    Returns:
      A function.

    Raises:
      NotImplementedError: it has none.

    Examples:
      >>> callable(onax.interpreters.ad.get_primitive_transpose(lax.mul_p))
      True
    """
    if p.transpose is None:
        raise NotImplementedError(f"Transpose rule (for reverse-mode differentiation) for '{p}' not implemented")
    return p.transpose


def backward_pass(
    jaxpr: Jaxpr,
    transform_stack: Any,
    consts: Sequence[Any],
    primals_in: Sequence[Any],
    cts_in: Sequence[Any],
    *,
    return_logs: bool = False,
) -> Any:
    """Returns cotangents of the arguments of a program that is linear in some of them; new in JAX 0.12.

    Args:
      jaxpr: the program.
      transform_stack: accepted, without effect.
      consts: values of the program's constants.
      primals_in: a value for each argument, an UndefinedPrimal for each that the program is linear in.
      cts_in: the cotangent of each result, possibly Zero.
      return_logs: True: the result is (cotangents, {}); default False.

    Returns:
      A list with an array or a Zero for each argument; a Zero for arguments that have values.

    Examples:
      >>> ad = onax.interpreters.ad
      >>> program = onax.make_jaxpr(lambda x: 2.0 * x)(1.0)
      >>> ad.backward_pass(program.jaxpr, None, [], [ad.UndefinedPrimal(program.in_avals[0])], [jnp.float32(3)])
      [Array(6., dtype=float32)]
    """
    cts = transpose.backward_pass(jaxpr, consts, primals_in, cts_in)
    cts = [Zero(v.aval.to_tangent_aval()) if ct is None else ct for ct, v in zip(cts, jaxpr.invars)]
    return (cts, {}) if return_logs else cts


def deflinear(primitive: Primitive, transpose_rule: AnyFunction) -> None:
    """Makes a primitive linear in all its operands.

    Args:
      primitive: a Primitive.
      transpose_rule: a function (ct, **params) -> cotangents of the operands.

    Returns:
      None.

    Examples:
      >>> p = onax.extend.core.Primitive("twice")
      >>> onax.interpreters.ad.deflinear(p, lambda ct: [2 * ct])
    """
    return deflinear2(primitive, lambda ct, *_, **params: transpose_rule(ct, **params))


def deflinear2(primitive: Primitive, transpose_rule: AnyFunction) -> None:
    """Makes a primitive linear in all its operands, with a rule that takes them.

    Args:
      primitive: a Primitive.
      transpose_rule: a function (ct, *operands, **params) -> cotangents; the operands are UndefinedPrimals.

    Returns:
      None.

    Examples:
      >>> p = onax.extend.core.Primitive("twice")
      >>> onax.interpreters.ad.deflinear2(p, lambda ct, x: [2 * ct])
    """
    check_primitive(primitive)
    rules.deflinear(primitive, transpose_rule)
    primitive_jvps[primitive] = primitive.jvp
    primitive_transposes[primitive] = primitive.transpose


def defbilinear(prim: Primitive, lhs_rule: AnyFunction, rhs_rule: AnyFunction) -> None:
    """Makes a primitive linear in each of its two operands.

    Args:
      prim: a Primitive.
      lhs_rule: a function (ct, x, y, **params) -> cotangent of x, which is an UndefinedPrimal.
      rhs_rule: the same for y.

    Returns:
      None.

    Examples:
      >>> p = onax.extend.core.Primitive("product")
      >>> onax.interpreters.ad.defbilinear(p, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
    """
    check_primitive(prim)
    rules.defbilinear(prim, lhs_rule, rhs_rule)
    primitive_jvps[prim] = prim.jvp
    primitive_transposes[prim] = prim.transpose


def defjvp(primitive: Primitive, *jvprules: AnyFunction) -> None:
    """Sets the tangent rules of a primitive.

    Args:
      primitive: a Primitive.
      jvprules: for each operand a function (tangent, *primals, **params) -> tangent, or None.

    Returns:
      None.

    Examples:
      >>> p = onax.extend.core.Primitive("square")
      >>> onax.interpreters.ad.defjvp(p, lambda t, x: 2 * x * t)
    """
    defjvp2(primitive, *(rule and _without_result(rule) for rule in jvprules))


def defjvp2(primitive: Primitive, *jvprules: AnyFunction) -> None:
    """Sets the tangent rules of a primitive, which take the result too.

    Args:
      primitive: a Primitive.
      jvprules: for each operand a function (tangent, result, *primals, **params) -> tangent, or None.

    Returns:
      None.

    Raises:
      TypeError: the primitive has several results.

    Examples:
      >>> p = onax.extend.core.Primitive("exponential")
      >>> onax.interpreters.ad.defjvp2(p, lambda t, out, x: out * t)
    """
    check_primitive(primitive)
    if primitive.multiple_results:
        raise TypeError(f"{primitive.name} has several results: assign primitive_jvps[{primitive.name}]")
    rules.defjvp(primitive, *jvprules)
    primitive_jvps[primitive] = primitive.jvp


def _without_result(rule):
    return lambda tangent, result, *primals, **params: rule(tangent, *primals, **params)


__getattr__ = _unavailable(
    __name__,
    {
        "jvp linearize": "they take JAX's WrappedFun records; onax.jvp and onax.linearize take functions",
    },
)

__all__ = [
    "JVPTrace",
    "JVPTracer",
    "UndefinedPrimal",
    "Zero",
    "add_jaxvals",
    "add_jaxvals_p",
    "add_tangents",
    "backward_pass",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp_jaxpr",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]
