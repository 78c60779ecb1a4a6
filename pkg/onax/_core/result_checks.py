"""Checks of evaluated operations: jax_debug_nans, jax_debug_infs, and checks that other modules register.

A NaN or an infinity in the result of an operation raises FloatingPointError, whose text shows the operation, its
operands and the line.  An operation that holds programs (a jitted function, a loop) runs as usual and only its results
are checked; if one is bad, the program is evaluated again operation by operation to find the operation that made it.
"""

from functools import partial

import numpy as np

from onax._core.evaluate import interpreter_of
from onax._core.facts import BRINGS_VALUES, ON_SHARDS
from onax._core.jaxpr import jaxprs_in_params
from onax._core.programs import Call, programs
from onax._ground import dtypes, source
from onax._ground.config import DEBUG_INFS, DEBUG_NANS
from onax._native import context
from onax._native.array import Array
from onax._native.dispatch import evaluate_unchecked
from onax._native.hooks import hooks

SPECIAL = DEBUG_NANS | DEBUG_INFS
_TESTS = ((DEBUG_NANS, "nan", np.isnan), (DEBUG_INFS, "inf", np.isinf))
_checks = []  # (mask, evaluation): see `add_checked_evaluation`


def special_value(x, word=None):
    """("nan" or "inf", index of the first one) if the options of this thread forbid what an array holds, else None."""
    if not isinstance(x.dtype, np.dtype) or not dtypes.issubdtype(x.dtype, np.inexact):
        return None
    word = context.option_word() if word is None else word
    for option, name, test in _TESTS:
        if word & option:
            is_special = test(x._value)
            if is_special.any():
                return name, tuple(map(int, np.argwhere(is_special)[0]))
    return None


class Finding:
    """The content of a FloatingPointError: the fault, the operands, the location."""

    __slots__ = ("fault", "is_equation", "location", "operands")

    def __init__(self, fault, operands, location):
        self.fault = fault
        self.operands = operands
        self.location = location
        self.is_equation = False  # whether `location` is that of the equation, not of the call that led to it

    def __str__(self):
        where = ""
        if self.location is not None:
            where = f"\nIn {source.phase_prefix(self.location)}{source.summarize(self.location)}."
        return self.fault + where + self.operands


def _short_text(x):
    """The text of a value in one line, shortened in the middle."""
    if not isinstance(x, Array):
        return repr(x)
    if not isinstance(x.dtype, np.dtype):
        return x.aval.str_short()
    text = np.array2string(np.asarray(x), precision=8, threshold=16, edgeitems=3, separator=", ")
    return f"{x.aval.str_short()} {' '.join(text.split())}"


def floating_point_error(name, special, operands, note=""):
    """Makes the error for a result that holds a NaN or infinity."""
    kind, index = special
    where = f"\nThe value is at index {list(index)} of the result." if index else ""
    lines = [f"\n  operand {i}: {_short_text(x)}" for i, x in enumerate(operands)]
    finding = Finding(f"invalid value ({kind}) encountered in {name}{where}{note}", "".join(lines), None)
    finding.location = source.user_location()
    error = FloatingPointError(str(finding))
    error.finding = finding
    return error


def locate_error(error, eqn):
    """Sets the location in an error to that of the equation whose evaluation raised it."""
    finding = getattr(error, "finding", None)
    if finding is not None and not finding.is_equation and eqn.source_info:
        finding.location, finding.is_equation = eqn.source_info, True
        error.args = (str(finding),)


def first_special_value(results):
    """`special_value` of the first result for which it is not None; None if there is none."""
    word = context.option_word()
    for x in results:
        result = special_value(x, word)
        if result is not None:
            return result
    return None


def without_special_value_checks(function, *args):
    """Calls `function(*args)` with both options off in this thread."""
    mask, value = context.swap_thread_word(0, 0)
    context.swap_thread_word(mask | SPECIAL, value & ~SPECIAL)
    try:
        return function(*args)
    finally:
        context.swap_thread_word(mask, value)


def checked_as_one(function, *args):
    """An evaluated library function of which only the result is checked, as that of a jitted function.

    After a bad result it runs again with checks, so that the error names the operation that made it.
    """
    if not context.option_word() & SPECIAL or context.get_trace() is not None:
        return function(*args)
    out = without_special_value_checks(function, *args)
    return out if special_value(out) is None else function(*args)


def _evaluate_and_check(primitive, operands, params, evaluate):
    if BRINGS_VALUES in primitive.facts:
        return evaluate(primitive, operands, params)
    if next(jaxprs_in_params(params), None) is None:
        out = evaluate(primitive, operands, params)
        special = first_special_value(out if primitive.multiple_results else (out,))
        if special is not None:
            literal = any(_is_special_literal(x) for x in operands)
            raise floating_point_error("stage" if literal else primitive.name, special, operands)
        return out
    out = without_special_value_checks(evaluate, primitive, operands, params)
    special = first_special_value(out if primitive.multiple_results else (out,))
    if special is None:
        return out
    inline = getattr(primitive, "inline", None)
    callee = inline(params) if inline is not None else None
    if callee is not None:
        interpreter_of(callee).run(callee.consts, operands)
    else:
        try:
            evaluate_unchecked(primitive, operands, params)
        except FloatingPointError as error:
            _name_outer(error, primitive)
            raise
    raise floating_point_error(params.get("name", primitive.name), special, operands, VANISHED)


def _is_special_literal(x):
    """Whether an operand is what a Python number became, and is a NaN or infinity that the options forbid."""
    if isinstance(x, Array):
        return x.weak_type and not x.shape and special_value(x) is not None
    return isinstance(x, np.inexact) and any(context.option_word() & option and test(x) for option, _, test in _TESTS)


def _name_outer(error, primitive):
    """Puts what JAX names, the loop, branch or sharded computation, in front of the operation inside of it."""
    finding = getattr(error, "finding", None)
    if finding is None or type(programs.get(primitive)) is Call:
        return
    kind, _, fault = finding.fault.partition(" encountered in ")
    if ON_SHARDS in primitive.facts:
        outer = f"{kind[:1].upper()}{kind[1:]} encountered in sharded computation."
    else:
        outer = f"{kind} encountered in {primitive.name}"
    finding.fault = f"{outer}\nInside of it, the operation is {fault}"
    error.args = (str(finding),)


def check_new_array(x, name):
    """Raises FloatingPointError if the array that a program makes from values holds a NaN or infinity."""
    special = first_special_value((x,)) if isinstance(x, Array) else None
    if special is not None:
        raise floating_point_error(name, special, ())


VANISHED = (
    "\nCarried out operation by operation, the function gave no such value: the de-optimized function did not "
    "produce it.  Compilation may have reordered floating-point operations, the function may call back to Python "
    "code that answers differently, or the value may be a literal of the program or one of its inputs."
)


def add_checked_evaluation(mask, evaluation):
    """Registers `evaluation(primitive, operands, params, evaluate)` for while an option of `mask` is on.

    It calls `evaluate(primitive, operands, params)`, which leads to the next one registered or to the kernel.
    """
    _checks.append((mask, evaluation))
    hooks.checked_options |= mask


def evaluate_checked(primitive, operands, params, depth=0):
    """Applies a primitive to values; every check of which an option is on goes around it."""
    word = context.option_word()
    for i in range(depth, len(_checks)):
        mask, evaluation = _checks[i]
        if word & mask:
            return evaluation(primitive, operands, params, partial(evaluate_checked, depth=i + 1))
    return evaluate_unchecked(primitive, operands, params)


add_checked_evaluation(SPECIAL, _evaluate_and_check)
