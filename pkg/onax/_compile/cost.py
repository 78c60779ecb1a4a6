"""The cost of a program, counted from its equations: operations, transcendental functions, and bytes of operands.

The names and the way of counting are those of XLA's `cost_analysis()`: an elementwise operation is one operation per
element, a multiplication with an addition two, and the body of a loop counts once, because trip counts are not known.
"""

from collections import Counter
from math import ceil, log2, prod

from onax._control.fused import fused_p
from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE
from onax._core.programs import BRANCH, FUNCTION, held_programs
from onax._core.slots import Slot
from onax._ground import dims
from onax._prims import elementwise, elementwise_polynomial, special
from onax._prims.conv import conv_general_dilated_p
from onax._prims.convert import convert_element_type_p
from onax._prims.dot import dot_general_p
from onax._prims.elementwise_pow import pow_p
from onax._prims.sorting import sort_p
from onax._tape.regions import fuse

costs = Slot(
    "costs",
    "rule(eqn) -> (operations, transcendental functions)",
    "An elementwise operation is one per element, a movement of elements none, anything else one per element read.",
    "onax._compile.cost",
)


def elements(aval):
    """How many elements a value has; none where that is known only at run time."""
    return prod(aval.shape) if dims.is_constant_shape(aval.shape) else 0


def size_in_bytes(aval):
    """Bytes of a value; none where that is known only at run time."""
    return elements(aval) * getattr(aval.dtype, "itemsize", 0)


def _results(eqn):
    return sum(elements(v.aval) for v in eqn.outvars)


@costs.rule(
    elementwise.sin_p,
    elementwise.cos_p,
    elementwise.tan_p,
    elementwise.asin_p,
    elementwise.acos_p,
    elementwise.atan_p,
    elementwise.sinh_p,
    elementwise.cosh_p,
    elementwise.tanh_p,
    elementwise.asinh_p,
    elementwise.acosh_p,
    elementwise.atanh_p,
    elementwise.exp_p,
    elementwise.exp2_p,
    elementwise.expm1_p,
    elementwise.log_p,
    elementwise.log1p_p,
    elementwise_polynomial.log2_p,
    elementwise.logistic_p,
    elementwise.sqrt_p,
    elementwise.rsqrt_p,
    elementwise.cbrt_p,
    elementwise.atan2_p,
    pow_p,
    special.erf_p,
)
def _transcendental(eqn):
    return 0, _results(eqn)


@costs.rule(dot_general_p)
def _dot(eqn):
    (contracting, _), _ = eqn.params["dimension_numbers"]
    return 2 * _results(eqn) * prod([eqn.invars[0].aval.shape[i] for i in contracting]), 0


@costs.rule(conv_general_dilated_p)
def _conv(eqn):
    kernel = eqn.invars[1].aval
    features = kernel.shape[eqn.params["dimension_numbers"].rhs_spec[0]]
    return 2 * _results(eqn) * elements(kernel) // max(features, 1), 0


@costs.rule(sort_p)
def _sort(eqn):
    n = elements(eqn.invars[0].aval)
    return n * ceil(log2(n)) if n > 1 else 0, 0


@costs.rule(convert_element_type_p)
def _convert(eqn):
    same = eqn.invars[0].aval.dtype == eqn.outvars[0].aval.dtype
    return 0 if same else _results(eqn), 0


def _own_cost(eqn):
    """(operations, transcendental functions) of an equation, without those of the programs that it holds."""
    rule = costs.get(eqn.primitive)
    if rule is not None:
        if all(dims.is_constant_shape(x.aval.shape) for x in (*eqn.invars, *eqn.outvars)):
            return rule(eqn)
        return 0, 0
    if DATA_MOVEMENT in eqn.primitive.facts:
        return 0, 0
    if ELEMENTWISE in eqn.primitive.facts:
        return _results(eqn), 0
    read = sum(elements(x.aval) for x in eqn.invars)
    return max(read - _results(eqn), 0) if read else _results(eqn), 0


class _Totals:
    """The sums of one analysis."""

    def __init__(self):
        self.sums = Counter()

    def add_operations(self, program):
        """Operations of the equations of a program and of those that they hold; of branches the costliest."""
        for eqn in program.eqns:
            held = [h for h in held_programs(eqn) if h.kind is not FUNCTION]
            if not held:
                operations, transcendental = _own_cost(eqn)
                self.sums["flops"] += operations
                self.sums["transcendentals"] += transcendental
            elif held[0].kind is BRANCH:
                inner = [_operations(h.program) for h in held]
                self.sums.update(max(inner, key=lambda sums: (sums["flops"], sums["transcendentals"])))
            else:
                for h in held:
                    self.add_operations(h.program)

    def add_bytes(self, program):
        """Bytes that the equations of a program read and write; a program over blocks reads and writes each once."""
        for eqn in program.eqns:
            held = [h for h in held_programs(eqn) if h.kind is not FUNCTION]
            if held and eqn.primitive is not fused_p:
                for h in held:
                    self.add_bytes(h.program)
                continue
            for i, x in enumerate(eqn.invars):
                self.sums[f"utilization{i}{{}}"] += 1
                self.sums[f"bytes accessed{i}{{}}"] += size_in_bytes(x.aval)
                self.sums["bytes accessed"] += size_in_bytes(x.aval)
            written = sum(size_in_bytes(v.aval) for v in eqn.outvars)
            self.sums["bytes accessedout{}"] += written
            self.sums["bytes accessed"] += written


def _operations(program):
    totals = _Totals()
    totals.add_operations(program)
    return totals.sums


def analyze(jaxpr, fused):
    """The costs of a program as a dictionary; `fused`: with elementwise equations in one pass over memory."""
    totals = _Totals()
    totals.add_operations(jaxpr)
    totals.add_bytes(fuse(jaxpr) if fused else jaxpr)
    return {name: float(total) for name, total in totals.sums.items() if total}


__all__ = ["analyze", "costs", "elements", "size_in_bytes"]
