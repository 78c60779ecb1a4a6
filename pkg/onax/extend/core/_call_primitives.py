"""Primitives that call a program, with all rules of one: create_call_primitive and its parts, new in JAX 0.12."""

from collections.abc import Sequence
from typing import Any

from onax._control.closed_call import closed_call_p
from onax._core.jaxpr import ClosedJaxpr
from onax._core.programs import Call, programs
from onax._ground.typing import AnyFunction
from onax._native.dispatch import NEVER, Primitive
from onax._transforms.discharge import discharge_call
from onax._transforms.partial_eval import partial_eval_call_custom, partial_eval_custom_rules
from onax._transforms.transpose import backward_pass


def eval_jaxpr_transpose(
    prim: Primitive, ct: Sequence[Any], *args: Any, call_jaxpr: ClosedJaxpr, **params: Any
) -> list[Any]:
    """Returns cotangents of the linear operands of a call: the transpose rule that `create_call_primitive` gives.

    In JAX the operands are accumulators, to which the rule adds.

    Args:
      prim: the primitive that is called; its name has no part in the result.
      ct: the cotangents of the results, possibly Zero.
      args: the operands, an `UndefinedPrimal` for each that the program is linear in.
      call_jaxpr: the program, a ClosedJaxpr.
      params: further parameters, without effect.

    Returns:
      A list with one for each operand: an array, a Zero, or None for an operand that is not linear.

    Examples:
      >>> from onax.interpreters.ad import UndefinedPrimal
      >>> program = onax.make_jaxpr(lambda x: 2.0 * x)(1.0)
      >>> operand = UndefinedPrimal(program.in_avals[0])
      >>> onax.extend.core.eval_jaxpr_transpose(None, [jnp.float32(3)], operand, call_jaxpr=program)
      [Array(6., dtype=float32)]
    """
    return backward_pass(call_jaxpr, call_jaxpr.consts, args, ct)


def register_call_primitive_rules(
    prim: Primitive, name: str | None = None, transpose_rule: AnyFunction = None, inline_jax_late: bool = True
) -> None:
    """Gives a primitive all rules of a call of the program in its parameter `call_jaxpr`.

    It is then evaluated, differentiated, batched, transposed, compiled and exported as its program is.  In derivatives
    and batched programs the equations of the program stand in place of the call.

    Args:
      prim: a Primitive; it gets several results.
      name: the name that JAX gives the function in its lowered form; onax inlines it.
      transpose_rule: the transpose instead of `eval_jaxpr_transpose`: `rule(ct, *operands, call_jaxpr)`.
      inline_jax_late: whether JAX inlines the call before XLA sees it; onax does in any case.

    Examples:
      >>> from onax.extend.core import create_call_primitive
      >>> p = create_call_primitive("my_call")
      >>> p.bind(3.0, call_jaxpr=onax.make_jaxpr(lambda x: x * x)(3.0))
      [Array(9., dtype=float32, weak_type=True)]
    """
    for field in ("impl", "abstract_eval", "jvp", "batch", "dce"):
        setattr(prim, field, getattr(closed_call_p, field))
    prim.multiple_results, prim.call_primitive = True, True
    prim.transpose = transpose_rule or (
        lambda ct, *args, call_jaxpr: eval_jaxpr_transpose(prim, ct, *args, call_jaxpr=call_jaxpr)
    )
    programs.set(prim, Call("call_jaxpr"))
    discharge_call(prim)
    partial_eval_custom_rules.set(prim, partial_eval_call_custom)


def create_call_primitive(name: str, inline_jax_late: bool = True) -> Primitive:
    """Returns a new primitive that calls the program in its parameter `call_jaxpr`.

    Args:
      name: the name of the primitive, a str.
      inline_jax_late: accepted, without effect: calls are inlined.

    Returns:
      A Primitive with the rules that `register_call_primitive_rules` gives.

    Examples:
      >>> onax.extend.core.create_call_primitive("my_call")
      my_call
    """
    prim = Primitive(name, multiple_results=True, weak=NEVER)
    register_call_primitive_rules(prim, name=name, inline_jax_late=inline_jax_late)
    return prim
