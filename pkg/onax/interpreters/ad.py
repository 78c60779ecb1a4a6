"""Differentiation rules and their helpers, under the names of jax.interpreters.ad.

`jvp` and `linearize` of JAX's module, which take JAX's internal records, are missing: use `onax.jvp` and
`onax.linearize`.
"""

from onax._core import rules
from onax._core.rules import add_any_p as add_jaxvals_p
from onax._core.rules import add_tangents
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._prims.shaping import instantiate_zeros
from onax._transforms import transpose
from onax._transforms.jvp import JVPTrace, JVPTracer, jvp_jaxpr
from onax.interpreters._views import RuleView, check_primitive

primitive_jvps = RuleView("jvp")
primitive_transposes = RuleView("transpose")


def add_jaxvals(x, y):
    """The sum of two tangents that are arrays."""
    return add_jaxvals_p.bind(x, y)


def zeros_like_aval(aval):
    """An array of zeros of an aval's shape and dtype."""
    return instantiate_zeros(Zero(aval))


def get_primitive_transpose(p):
    """The transpose rule of a primitive; NotImplementedError if it has none."""
    if p.transpose is None:
        raise NotImplementedError(f"Transpose rule (for reverse-mode differentiation) for '{p}' not implemented")
    return p.transpose


def backward_pass(jaxpr, transform_stack, consts, primals_in, cts_in, *, return_logs=False):
    """Cotangents of the arguments of a program that is linear in some of them; new in JAX 0.12.

    Args:
      jaxpr: the program.
      transform_stack: has no effect: equations of the backward pass keep the locations of the forward one.
      consts: values of the program's constants.
      primals_in: a value for each argument, an `UndefinedPrimal` for each that the program is linear in.
      cts_in: the cotangent of each result, possibly Zero.
      return_logs: whether to return `(cotangents, logs)`; there are no logs, so they are an empty dictionary.

    Returns a list with an array or a Zero for each argument; a Zero for arguments that have values.
    """
    cts = transpose.backward_pass(jaxpr, consts, primals_in, cts_in)
    cts = [Zero(v.aval.to_tangent_aval()) if ct is None else ct for ct, v in zip(cts, jaxpr.invars)]
    return (cts, {}) if return_logs else cts


def deflinear(primitive, transpose_rule):
    """Makes a primitive linear in all its operands; `transpose_rule(ct, **params)` returns their cotangents."""
    return deflinear2(primitive, lambda ct, *_, **params: transpose_rule(ct, **params))


def deflinear2(primitive, transpose_rule):
    """Like `deflinear`, for rules that also take the operands: `transpose_rule(ct, *operands, **params)`.

    The operands are UndefinedPrimals.
    """
    check_primitive(primitive)
    rules.deflinear(primitive, transpose_rule)
    primitive_jvps[primitive] = primitive.jvp
    primitive_transposes[primitive] = primitive.transpose


def defbilinear(prim, lhs_rule, rhs_rule):
    """Makes a primitive linear in each of its two operands.

    `lhs_rule(ct, x, y, **params)` gives the cotangent of x, which is an `UndefinedPrimal`; `rhs_rule` that of y.
    """
    check_primitive(prim)
    rules.defbilinear(prim, lhs_rule, rhs_rule)
    primitive_jvps[prim] = prim.jvp
    primitive_transposes[prim] = prim.transpose


def defjvp(primitive, *jvprules):
    """Sets one tangent rule per operand, `rule(tangent, *primals, **params)`; None for an operand without one."""
    defjvp2(primitive, *(rule and _without_result(rule) for rule in jvprules))


def defjvp2(primitive, *jvprules):
    """Like `defjvp`, with rules that also take the result: `rule(tangent, result, *primals, **params)`."""
    check_primitive(primitive)
    if primitive.multiple_results:
        raise TypeError(f"{primitive.name} has several results: assign primitive_jvps[{primitive.name}]")
    rules.defjvp(primitive, *jvprules)
    primitive_jvps[primitive] = primitive.jvp


def _without_result(rule):
    return lambda tangent, result, *primals, **params: rule(tangent, *primals, **params)


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
