"""Index arithmetic that gathers and scatters do themselves.

`x[i, j]` is staged as integers that are compared with 0, counted from the end, given another axis and laid side by
side: several passes over arrays of indices.  An instruction reads each component of an index vector where it lies
instead, and counts negative numbers from the end; components that follow from positions alone (`arange`) are steps of
the operand.  So the equation becomes one of `gather_at_p` or `scatter_at_p`, which only tapes have.
"""

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from onax._control.block_code import counters, views
from onax._control.fused import dense_strides
from onax._core.facts import DATA_MOVEMENT
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from onax._core.slots import Slot
from onax._ground import dims
from onax._native.avals import ShapedArray
from onax._native.dispatch import FIRST, Primitive
from onax._native.tape import TYPES
from onax._prims.convert import convert_element_type_p
from onax._prims.elementwise import add_p, lt_p, mul_p, select_n_p, sub_p
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.indexing_kernels import scatter, to_intp
from onax._prims.indexing_records import KERNEL_MODE, GatherScatterMode, window_sizes
from onax._prims.shaping import broadcast_in_dim_p
from onax._prims.slicing import concatenate_p

PUT, ADD, SUB, MUL, MIN, MAX = range(6)  # how a scatter combines: tape_scatter.h
MOST_RANK = 16
DEEPEST = 32  # equations between an integer and what it is computed from

combinations = Slot("scatter_combination", "how it combines", "The primitive is no scatter.", "onax._tape")
combinations.set(scatter_p, PUT)
combinations.set(scatter_add_p, ADD)
combinations.set(scatter_sub_p, SUB)
combinations.set(scatter_mul_p, MUL)
combinations.set(scatter_min_p, MIN)
combinations.set(scatter_max_p, MAX)

index_rules = Slot(
    "index_expression",
    "rule(expressions, eqn, depth) -> Expression or None",
    "Indices are read from the result.",
    "onax._tape",
)


class Expression(NamedTuple):
    """Integers: elements of a variable, or, if it is None, numbers that follow from the position.

    The element read, or the number, is `start` + the sum of strides * position.  Negative elements have `wrap` added,
    or are replaced by the number `outside`, if that is not None.
    """

    variable: object
    start: int
    strides: tuple
    wrap: int = 0
    outside: int | None = None

    def range(self, shape):
        """The smallest and the largest number over positions of a shape."""
        ends = [s * (d - 1) for s, d in zip(self.strides, shape) if d]
        return self.start + sum([min(e, 0) for e in ends]), self.start + sum([max(e, 0) for e in ends])


class Component(NamedTuple):
    """A component of index vectors: an Expression over the batch's axes whose variable is a number of an operand."""

    operand: int | None
    start: int
    strides: tuple
    wrap: int


# ---- the primitives


def _vectors(components, batch, indices):
    """The index vectors in one array."""
    parts = []
    for c in components:
        if c.operand is None:
            x = sum([s * i for s, i in zip(c.strides, np.indices(batch))], np.zeros(batch, np.int64)) + c.start
        else:
            flat = np.ascontiguousarray(indices[c.operand]).reshape(-1)[c.start :]
            x = to_intp(as_strided(flat, batch, [s * flat.itemsize for s in c.strides]))
        parts.append(np.where(x < 0, x + c.wrap, x))
    return np.stack(parts, -1)


def _gather(x, *indices, components, batch, **params):
    vectors = _vectors(components, batch, indices)
    return gather_p.kernel(x, vectors, **params, unique_indices=False, indices_are_sorted=False)


def _gather_type(x, *indices, components, batch, **params):
    vectors = ShapedArray((*batch, len(components)), np.int32)
    return gather_p.abstract_eval(x, vectors, **params, unique_indices=False, indices_are_sorted=False)


def _scatter(x, updates, *indices, how, components, batch, dimension_numbers, mode):
    sizes, vectors = window_sizes(x.ndim, dimension_numbers, updates.shape), _vectors(components, batch, indices)
    return scatter(x, vectors, updates, dimension_numbers.layout(), sizes, KERNEL_MODE[mode], _UFUNCS[how])


_UFUNCS = (None, np.add, np.subtract, np.multiply, np.minimum, np.maximum)
_FACTS = frozenset({DATA_MOVEMENT})
gather_at_p = Primitive("gather_at", kernel=_gather, abstract_eval=_gather_type, weak=FIRST, facts=_FACTS)
scatter_at_p = Primitive("scatter_at", kernel=_scatter, abstract_eval=lambda x, *_, **__: x, weak=FIRST, facts=_FACTS)


# ---- expressions


class _Expressions:
    """What the integers of a program are computed from."""

    def __init__(self, jaxpr):
        self.makers = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}

    def parts(self, indices):
        """The variables whose elements are the components of index vectors; None if they are not one each."""
        maker, last = self.makers.get(indices), len(indices.aval.shape) - 1
        joined = maker is not None and maker.primitive is concatenate_p and maker.params["dimension"] == last
        parts = maker.invars if joined else [indices]
        return None if any(type(x) is Literal or x.aval.shape[-1] != 1 for x in parts) else parts

    def number(self, x):
        """The value of an integer literal, also of one that was converted or broadcast; None for anything else."""
        eqn = None if type(x) is Literal else self.makers.get(x)
        if eqn is None or not (eqn.primitive is broadcast_in_dim_p or eqn.primitive is convert_element_type_p):
            return _number(x)
        value, dtype = self.number(eqn.invars[0]), x.aval.dtype
        return value if value is not None and dtype.kind in "iu" and value <= np.iinfo(dtype).max else None

    def find(self, x, depth=DEEPEST):
        """The Expression of a variable or literal; if nothing else is known, it is read."""
        if type(x) is Literal:
            return Expression(None, int(x.val), (0,) * len(x.aval.shape))
        found, eqn = None, self.makers.get(x)
        if eqn is not None and depth and x.aval.dtype.kind in "iu":
            found = self._made(eqn, depth - 1)
        if found is not None and found.variable is None:
            low, high = found.range(x.aval.shape)
            info = np.iinfo(x.aval.dtype)
            found = found if info.min <= low and high <= info.max else None
        return read(x) if found is None else found

    def _made(self, eqn, depth):
        """The Expression of an equation's result, or None."""
        view, counter, rule = (slot.get(eqn.primitive) for slot in (views, counters, index_rules))
        if rule is not None:
            return rule(self, eqn, depth)
        if counter is not None:
            return Expression(None, 0, counter(eqn))
        if view is None or len(eqn.invars) > 1:
            return None
        inner = self.find(eqn.invars[0], depth)
        seen = view(inner.start, inner.strides, eqn)
        return None if seen is None else Expression(inner.variable, *seen, *inner[3:])


def read(x):
    """The Expression of a variable's own elements."""
    return Expression(x, 0, dense_strides(x.aval.shape))


@index_rules.rule(convert_element_type_p)
def _conversion(expressions, eqn, depth):
    """One that keeps all values."""
    (x,), new = eqn.invars, eqn.outvars[0].aval.dtype
    found = expressions.find(x, depth) if x.aval.dtype.kind in "iu" else None
    return found if found is not None and (found.variable is None or np.can_cast(x.aval.dtype, new)) else None


def _arithmetic(primitive, combine):
    @index_rules.rule(primitive)
    def rule(expressions, eqn, depth):
        """Of numbers that follow from the position."""
        found = [expressions.find(x, depth) for x in eqn.invars]
        if any(e.variable is not None for e in found):
            return None
        rank = len(eqn.outvars[0].aval.shape)
        (a, slopes), (b, others) = [(e.start, e.strides or (0,) * rank) for e in found]
        return combine(a, slopes, b, others)


def _sum(a, slopes, b, others):
    return Expression(None, a + b, tuple([s + t for s, t in zip(slopes, others)]))


def _difference(a, slopes, b, others):
    return Expression(None, a - b, tuple([s - t for s, t in zip(slopes, others)]))


def _product(a, slopes, b, others):
    if any(slopes):
        a, slopes, b, others = b, others, a, slopes
    return None if any(slopes) else Expression(None, a * b, tuple([a * t for t in others]))


_arithmetic(add_p, _sum)
_arithmetic(sub_p, _difference)
_arithmetic(mul_p, _product)


@index_rules.rule(select_n_p)
def _choice(expressions, eqn, depth):
    """`x + n`, or a number that is not negative, where x is negative, otherwise x."""
    condition, x, other = (*eqn.invars, None)[:3]
    less = expressions.makers.get(condition)
    if less is None or less.primitive is not lt_p or less.invars[0] is not x or _number(less.invars[1]) != 0:
        return None
    number, maker = expressions.number(other), expressions.makers.get(other)
    is_sum = maker is not None and maker.primitive is add_p and maker.invars[0] is x
    total = _number(maker.invars[1]) if is_sum else None
    if min([n for n in (number, total) if n is not None], default=-1) < 0:
        return None
    found = expressions.find(x, depth)
    if found.variable is None:
        return found if found.range(x.aval.shape)[0] >= 0 else None
    if found.outside is not None:
        return found
    if found.wrap:
        return None
    return found._replace(outside=number) if total is None else found._replace(wrap=total)


def _number(x):
    """The value of an integer literal without axes, or None."""
    return int(x.val) if type(x) is Literal and not x.aval.shape and x.aval.dtype.kind in "iu" else None


# ---- equations


def absorb_index_arithmetic(jaxpr):
    """The ClosedJaxpr in which gathers and scatters read the integers that their indices are computed from."""
    if not any(eqn.primitive is gather_p or eqn.primitive in combinations for eqn in jaxpr.eqns):
        return jaxpr
    expressions = _Expressions(jaxpr)
    eqns = [_absorbed(expressions, eqn) if _has_instruction(eqn) else eqn for eqn in jaxpr.eqns]
    if all(new is old for new, old in zip(eqns, jaxpr.eqns)):
        return jaxpr
    eqns = _live(eqns, jaxpr.outvars)
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, jaxpr.consts)


def _has_instruction(eqn):
    """Whether an equation is a gather or a scatter for which there is an instruction."""
    how = PUT if eqn.primitive is gather_p else combinations.get(eqn.primitive)
    if how is None or any(type(x) is Literal or not dims.is_constant_shape(x.aval.shape) for x in eqn.invars):
        return False
    if any(len(x.aval.shape) > MOST_RANK or prod(x.aval.shape) >= 1 << 36 for x in (*eqn.invars, *eqn.outvars)):
        return False
    dtype = eqn.invars[0].aval.dtype
    if eqn.invars[1].aval.dtype not in TYPES or (how == PUT and eqn.params.get("update_jaxpr") is not None):
        return False
    return how == PUT or combines(how, dtype)


def combines(how, dtype):
    """Whether scatters combine elements of a dtype so."""
    is_refused = (dtype.kind == "c" and how in (MIN, MAX)) or (dtype.kind == "b" and how == SUB)
    return dtype in TYPES and not is_refused


def _absorbed(expressions, eqn):
    """The equation with components of its index vectors as operands, if that leaves work out."""
    x, indices, *updates = eqn.invars
    parts, p = expressions.parts(indices), eqn.params
    if parts is None:
        return eqn
    numbers, shape, batch = p["dimension_numbers"], x.aval.shape, indices.aval.shape[:-1]
    sizes = p["slice_sizes"] if not updates else window_sizes(len(shape), numbers, updates[0].aval.shape)
    found = [expressions.find(part) for part in parts]
    for k, a in enumerate(numbers.layout().index_map):
        if not _is_read(found[k], parts[k].aval.shape, shape[a] - sizes[a], p["mode"]):
            found[k] = read(parts[k])
    if len(found) == 1 and found[0].variable is not None and not found[0].wrap and found[0].outside is None:
        return eqn
    operands = list(dict.fromkeys([e.variable for e in found if e.variable is not None]))
    places = {v: i for i, v in enumerate(operands)}
    components = tuple([Component(places.get(e.variable), e.start, e.strides[:-1], e.wrap) for e in found])
    own = {"slice_sizes": sizes, "fill_value": p["fill_value"]} if not updates else {}
    if updates:
        own["how"] = combinations.get(eqn.primitive)
    params = {"components": components, "batch": batch, "dimension_numbers": numbers, "mode": p["mode"], **own}
    primitive = scatter_at_p if updates else gather_at_p
    return JaxprEqn([x, *updates, *operands], eqn.outvars, primitive, params, eqn.effects, eqn.source_info)


def _is_read(expression, shape, largest, mode):
    """Whether an instruction gets the same from what an expression reads and counts from the end, or from the position.

    Numbers that follow from the position are never clamped, and grow along each axis.  What negative elements are
    replaced by is as much out of bounds as they are.
    """
    if expression.variable is not None:
        return expression.outside is None or (expression.outside > largest and mode is GatherScatterMode.FILL_OR_DROP)
    low, high = expression.range(shape)
    return low >= 0 and high <= largest and all(s >= 0 for s in expression.strides)


def _live(eqns, outvars):
    """The equations that somebody reads, or that have effects."""
    used, kept = {x for x in outvars if type(x) is not Literal}, []
    for eqn in reversed(eqns):
        if eqn.effects or any(v in used for v in eqn.outvars):
            kept.append(eqn)
            used.update([x for x in eqn.invars if type(x) is not Literal])
    return kept[::-1]
