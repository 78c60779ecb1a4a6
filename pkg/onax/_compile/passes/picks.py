"""Reading and writing few elements at computed places, as elementwise equations that a loop's step can hold.

    picked(jaxpr)   the same program without dynamic slices and their updates, gathers and scatters of whole rows, and
                    without concatenate and stack

What is read are elements of a table by number (`take_p`).  What is written is, at every place, the old element or the
new one, whichever belongs there: for few elements that is quicker than a node.
"""

import numpy as np

from onax._compile.passes.words import Writing
from onax._control.block_code import I32, take_p
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from onax._core.slots import Slot
from onax._native.avals import ShapedArray
from onax._prims import elementwise as el
from onax._prims import indexing, shaping, slicing, stacking
from onax._prims.convert import convert_element_type_p
from onax._prims.indexing import GatherScatterMode

BOOL = np.dtype(bool)

element_rules = Slot(
    "dynamic_index_rewrite",
    "rule(program, eqn) -> whether it added equations that replace this one",
    "The pass leaves the equation as it is.",
    "onax._compile.passes.picks",
)


def picked(jaxpr):
    """A ClosedJaxpr that computes the same; itself if it has none of these, or an equation that has no such form."""
    if not any(eqn.primitive in element_rules for eqn in jaxpr.eqns):
        return jaxpr
    program = _Picking()
    for eqn in jaxpr.eqns:
        rule = element_rules.get(eqn.primitive)
        if rule is None or not rule(program, eqn):
            program.eqns.append(eqn)
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, program.eqns, no_effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, jaxpr.consts)


class _Picking(Writing):
    """A program whose computed places become numbers of elements."""

    __slots__ = ()

    def number(self, value, dtype):
        return Literal(np.dtype(dtype).type(value), ShapedArray((), np.dtype(dtype)))

    def axis(self, eqn, shape, axis):
        """The position along an axis."""
        params = {"dtype": I32, "shape": shape, "dimension": axis, "sharding": None}
        return self.emit(eqn, shaping.iota_p, [], shape, I32, params)

    def binary(self, eqn, primitive, x, y, dtype=None):
        shape = x.aval.shape or y.aval.shape
        return self.emit(eqn, primitive, [x, y], shape, x.aval.dtype if dtype is None else dtype)

    def clamped(self, eqn, x, largest):
        """A scalar or array of integers, as int32 in 0 ... largest."""
        x = self.wide(eqn, x)
        dtype = x.aval.dtype
        low, high = self.number(0, dtype), self.number(largest, dtype)
        found = self.emit(eqn, el.clamp_p, [low, x, high], x.aval.shape, dtype)
        return self.int32(eqn, found)

    def wide(self, eqn, x):
        """Integers of at least four bytes."""
        return self.int32(eqn, x) if x.aval.dtype.itemsize < 4 else x

    def int32(self, eqn, x):
        if x.aval.dtype == I32:
            return x
        params = {"new_dtype": I32, "weak_type": False, "sharding": None}
        return self.emit(eqn, convert_element_type_p, [x], x.aval.shape, I32, params)

    def take(self, eqn, table, places, shape):
        """The elements of a table at a place along each of its axes: numbers, or arrays of the shape."""
        steps = np.cumprod([1, *table.aval.shape[:0:-1]])[::-1].tolist() if table.aval.shape else []
        index = None
        for place, step in zip(places, steps):
            term = self.binary(eqn, el.mul_p, place, self.number(step, I32)) if step != 1 else place
            index = term if index is None else self.binary(eqn, el.add_p, index, term)
        if index is None:
            index = self.number(0, I32)
        if index.aval.shape != shape:
            index = self.broadcast(eqn, index, shape)
        table = self.emit(eqn, shaping.copy_p, [table], table.aval.shape, table.aval.dtype)
        return self.emit(eqn, take_p, [table, index], shape, table.aval.dtype, {"size": table.aval.size})

    def all_of(self, eqn, conditions, shape):
        found = None
        for c in conditions:
            found = c if found is None else self.binary(eqn, el.and_p, found, c)
        return found if found.aval.shape == shape else self.broadcast(eqn, found, shape)

    def give(self, eqn, primitive, operands):
        """The equation that has the results of the one written anew."""
        self.eqns.append(JaxprEqn(list(operands), eqn.outvars, primitive, {}, no_effects, eqn.source_info))
        return True


# ---- rules: whether they wrote the equation anew


def _starts(program, eqn, starts, shape, sizes):
    """Where a block of these sizes begins along each axis, so that all of it is within."""
    return [program.clamped(eqn, s, d - n) for s, d, n in zip(starts, shape, sizes)]


@element_rules.rule(slicing.dynamic_slice_p)
def _dynamic_slice(program, eqn):
    x, *starts = eqn.invars
    (out,) = eqn.outvars
    shape = out.aval.shape
    if type(x) is Literal or not out.aval.size:
        return False
    starts = _starts(program, eqn, starts, x.aval.shape, shape)
    places = [
        s if d == 1 else program.binary(eqn, el.add_p, program.axis(eqn, shape, i), s)
        for i, (s, d) in enumerate(zip(starts, shape))
    ]
    return program.give(eqn, shaping.copy_p, [program.take(eqn, x, places, shape)])


@element_rules.rule(slicing.dynamic_update_slice_p)
def _dynamic_update_slice(program, eqn):
    x, update, *starts = eqn.invars
    shape, sizes = x.aval.shape, update.aval.shape
    if type(x) is Literal or type(update) is Literal or not update.aval.size:
        return False
    starts = _starts(program, eqn, starts, shape, sizes)
    places, inside = [], []
    for i, (start, n) in enumerate(zip(starts, sizes)):
        place = program.binary(eqn, el.sub_p, program.axis(eqn, shape, i), start)
        inside.append(program.binary(eqn, el.ge_p, place, program.number(0, I32), BOOL))
        inside.append(program.binary(eqn, el.lt_p, place, program.number(n, I32), BOOL))
        places.append(program.clamped(eqn, place, n - 1))
    new = program.take(eqn, update, places, shape)
    return program.give(eqn, el.select_n_p, [program.all_of(eqn, inside, shape), x, new])


def _column(program, eqn, indices, i):
    """One number of each index vector."""
    shape = indices.aval.shape
    if shape[-1] > 1:
        start, limit = (*(0,) * (len(shape) - 1), i), (*shape[:-1], i + 1)
        params = {"start_indices": start, "limit_indices": limit, "strides": None}
        indices = program.emit(eqn, slicing.slice_p, [indices], (*shape[:-1], 1), indices.aval.dtype, params)
    params = {"dimensions": (len(shape) - 1,)}
    return program.emit(eqn, shaping.squeeze_p, [indices], shape[:-1], indices.aval.dtype, params)


def _within(program, eqn, place, length):
    """Whether a place is one along an axis."""
    place = program.wide(eqn, place)
    low = program.binary(eqn, el.ge_p, place, program.number(0, place.aval.dtype), BOOL)
    high = program.binary(eqn, el.lt_p, place, program.number(length, place.aval.dtype), BOOL)
    return program.binary(eqn, el.and_p, low, high)


@element_rules.rule(indexing.gather_p)
def _gather(program, eqn):
    """Whole rows by their leading axes; the rows' own axes come last."""
    x, indices = eqn.invars
    (out,) = eqn.outvars
    d, depth, shape = eqn.params["dimension_numbers"], indices.aval.shape[-1], out.aval.shape
    leading, rows = tuple(range(depth)), len(indices.aval.shape) - 1
    whole = tuple(eqn.params["slice_sizes"]) == (1,) * depth + x.aval.shape[depth:]
    if not whole or not depth or d.operand_batching_dims or type(x) is Literal or type(indices) is Literal:
        return False
    if tuple(d.collapsed_slice_dims) != leading or tuple(d.start_index_map) != leading or not out.aval.size:
        return False
    fills, fill = eqn.params["mode"] is GatherScatterMode.FILL_OR_DROP, eqn.params["fill_value"]
    if tuple(d.offset_dims) != tuple(range(rows, len(shape))) or not x.aval.size or (fills and fill is None):
        return False
    columns = [_column(program, eqn, indices, i) for i in range(depth)]
    places = [program.clamped(eqn, c, n - 1) for c, n in zip(columns, x.aval.shape)]
    places = [p if p.aval.shape in ((), shape) else program.broadcast(eqn, p, shape) for p in places]
    places += [program.axis(eqn, shape, rows + i) for i in range(len(shape) - rows)]
    taken = program.take(eqn, x, places, shape)
    if not fills:
        return program.give(eqn, shaping.copy_p, [taken])
    inside = program.all_of(eqn, [_within(program, eqn, c, n) for c, n in zip(columns, x.aval.shape)], shape)
    other = program.broadcast(eqn, Literal(fill, ShapedArray((), x.aval.dtype)), shape)
    return program.give(eqn, el.select_n_p, [inside, other, taken])


def _scatter(combine):
    """The rule of a scatter that makes the new element from the old one and the update by a primitive, if by any."""
    return lambda program, eqn: _scattered(program, eqn, combine)


def _scattered(program, eqn, combine):
    """One row, by its leading axes."""
    x, indices, updates = eqn.invars
    d, depth, shape = eqn.params["dimension_numbers"], indices.aval.shape[-1], x.aval.shape
    leading = tuple(range(depth))
    applies = eqn.primitive is indexing.scatter_p and eqn.params["update_jaxpr"] is not None
    if applies or not depth or d.operand_batching_dims or type(x) is Literal or type(indices) is Literal:
        return False
    if tuple(d.inserted_window_dims) != leading or tuple(d.scatter_dims_to_operand_dims) != leading:
        return False
    if indices.aval.size != depth or updates.aval.shape != (*indices.aval.shape[:-1], *shape[depth:]):
        return False
    if tuple(d.update_window_dims) != tuple(range(len(indices.aval.shape) - 1, len(updates.aval.shape))):
        return False
    conditions = []
    for i in range(depth):
        place = _scalar(program, eqn, _column(program, eqn, indices, i))
        ours = _within(program, eqn, place, shape[i])
        clipped = program.clamped(eqn, place, shape[i] - 1)
        conditions.append(program.binary(eqn, el.eq_p, program.axis(eqn, shape, i), clipped, BOOL))
        if eqn.params["mode"] not in (GatherScatterMode.CLIP, GatherScatterMode.CLAMPED):
            conditions.append(ours)
    conditions.sort(key=lambda c: len(c.aval.shape), reverse=True)
    new = _spread(program, eqn, updates, shape, depth)
    if combine is not None:
        new = program.binary(eqn, combine, x, new)
    return program.give(eqn, el.select_n_p, [program.all_of(eqn, conditions, shape), x, new])


element_rules.set(indexing.scatter_p, _scatter(None))
element_rules.set(indexing.scatter_add_p, _scatter(el.add_p))
element_rules.set(indexing.scatter_sub_p, _scatter(el.sub_p))
element_rules.set(indexing.scatter_mul_p, _scatter(el.mul_p))
element_rules.set(indexing.scatter_max_p, _scatter(el.max_p))
element_rules.set(indexing.scatter_min_p, _scatter(el.min_p))


def _scalar(program, eqn, x):
    if not x.aval.shape:
        return x
    axes = tuple(range(len(x.aval.shape)))
    return program.emit(eqn, shaping.squeeze_p, [x], (), x.aval.dtype, {"dimensions": axes})


def _spread(program, eqn, updates, shape, depth):
    """A row at every place that it might be written to."""
    if type(updates) is Literal:
        return program.broadcast(eqn, updates, shape)
    row = tuple(range(len(updates.aval.shape) - len(shape) + depth))
    if row:
        updates = program.emit(
            eqn, shaping.squeeze_p, [updates], shape[depth:], updates.aval.dtype, {"dimensions": row}
        )
    params = {"shape": shape, "broadcast_dimensions": tuple(range(depth, len(shape))), "sharding": None}
    return program.emit(eqn, shaping.broadcast_in_dim_p, [updates], shape, updates.aval.dtype, params)


@element_rules.rule(slicing.concatenate_p)
def _concatenate(program, eqn):
    (out,) = eqn.outvars
    shape, axis = out.aval.shape, eqn.params["dimension"]
    pieces = [x for x in eqn.invars if x.aval.size]
    if len(pieces) < 2:
        return False
    position, spread, ends, end = program.axis(eqn, shape, axis), [], [], 0
    for x in pieces:
        spread.append(_piece(program, eqn, x, position, end, axis))
        end += x.aval.shape[axis]
        ends.append(end)
    return program.give(eqn, shaping.copy_p, [_one_of(program, eqn, position, spread, ends)])


@element_rules.rule(stacking.stack_p)
def _stack(program, eqn):
    (out,) = eqn.outvars
    shape, axis = out.aval.shape, eqn.params["axis"]
    if not out.aval.size:
        return False
    axes = tuple([i for i in range(len(shape)) if i != axis])
    params = {"shape": shape, "broadcast_dimensions": axes, "sharding": None}
    spread = [program.emit(eqn, shaping.broadcast_in_dim_p, [x], shape, out.aval.dtype, params) for x in eqn.invars]
    position, ends = program.axis(eqn, shape, axis), range(1, len(spread) + 1)
    return program.give(eqn, shaping.copy_p, [_one_of(program, eqn, position, spread, ends)])


def _one_of(program, eqn, position, pieces, ends):
    """The last piece, but before where each other one ends that."""
    found = pieces[-1]
    for piece, end in zip(pieces[-2::-1], list(ends)[-2::-1]):
        before = program.binary(eqn, el.lt_p, position, program.number(end, I32), BOOL)
        found = program.emit(eqn, el.select_n_p, [before, found, piece], position.aval.shape, piece.aval.dtype)
    return found


def _piece(program, eqn, x, position, start, axis):
    """A piece that begins at a place along an axis, at all positions of the whole; where it has ended, anything."""
    shape = position.aval.shape
    if x.aval.shape[axis] == 1:
        return program.broadcast(eqn, x, shape)
    places = [program.axis(eqn, shape, i) for i in range(len(shape))]
    moved = program.binary(eqn, el.sub_p, position, program.number(start, I32))
    places[axis] = program.clamped(eqn, moved, x.aval.shape[axis] - 1)
    return program.take(eqn, x, places, shape)
