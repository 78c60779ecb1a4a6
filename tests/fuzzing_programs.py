"""Draws short programs whose results are exact, so that passes over graphs can be compared bit by bit.

A program is {"operands": arrays, "steps": [(primitive, params, places)], "results": places}: each step binds a
primitive to values at these places, the operands first, then the results of the steps.  Drawn are integers, bools,
float32 and float64, and what IEEE arithmetic rounds in one way only.  Nothing divides floats: the sign of a zero,
which comparisons forgive, would decide about the sign of infinity.
"""

import math

import numpy as np

from fuzzing import array
from laws.sampling import BOOL, INTEGERS
from onax import lax

FLOATS = (np.dtype("float32"), np.dtype("float64"))
STARTS = ((), (3,), (2, 3), (1, 3), (0, 3), (2, 3, 2), (17,))

UNARY = {
    "f": (lax.neg_p, lax.abs_p, lax.sign_p, lax.floor_p, lax.ceil_p, lax.square_p, lax.sqrt_p, lax.is_finite_p),
    "i": (lax.neg_p, lax.abs_p, lax.sign_p, lax.not_p, lax.square_p, lax.population_count_p, lax.clz_p),
    "u": (lax.neg_p, lax.not_p, lax.square_p, lax.population_count_p, lax.clz_p),
    "b": (lax.not_p,),
}
COMPARISONS = (lax.eq_p, lax.ne_p, lax.lt_p, lax.le_p, lax.gt_p, lax.ge_p)
BITS = (lax.and_p, lax.or_p, lax.xor_p)
SHIFTS = (lax.shift_left_p, lax.shift_right_logical_p, lax.shift_right_arithmetic_p)
EXTREMA = (lax.max_p, lax.min_p)
ARITHMETIC = (lax.add_p, lax.sub_p, lax.mul_p)
BINARY = {
    "f": (*ARITHMETIC, *EXTREMA, *COMPARISONS),
    "i": (*ARITHMETIC, *EXTREMA, *COMPARISONS, *BITS, *SHIFTS, lax.div_p, lax.rem_p),
    "u": (*ARITHMETIC, *EXTREMA, *COMPARISONS, *BITS, *SHIFTS, lax.div_p, lax.rem_p),
    "b": (*EXTREMA, *COMPARISONS, *BITS),
}


class Writer:
    """A program being drawn: the types of the values so far, and the steps."""

    def __init__(self, rng, operands):
        self.rng = rng
        self.types = [(x.shape, x.dtype) for x in operands]
        self.steps = []

    def add(self, primitive, places, out, **params):
        """One step more; its result has the type `out`."""
        self.steps.append((primitive, params, tuple(places)))
        self.types.append(out)

    def like(self, wanted):
        """Places of values of a type."""
        return [i for i, t in enumerate(self.types) if t == wanted]

    def unary(self, at, shape, dtype):
        p = self.rng.choice(UNARY[dtype.kind])
        self.add(p, (at,), (shape, BOOL[0] if p is lax.is_finite_p else dtype))

    def binary(self, at, shape, dtype):
        p = self.rng.choice(BINARY[dtype.kind])
        other = self.rng.choice(self.like((shape, dtype)) + self.like(((), dtype)))
        pair = (at, other) if self.rng.random() < 0.7 else (other, at)
        self.add(p, pair, (shape, BOOL[0] if p in COMPARISONS else dtype))

    def convert(self, at, shape, dtype):
        new = self.rng.choice(INTEGERS + FLOATS + BOOL)
        self.add(lax.convert_element_type_p, (at,), (shape, new), new_dtype=new, weak_type=False, sharding=None)

    def choose(self, at, shape, dtype):
        which = self.like((shape, BOOL[0])) + self.like(((), BOOL[0]))
        same = self.like((shape, dtype))
        if which:
            self.add(lax.select_n_p, (self.rng.choice(which), at, self.rng.choice(same)), (shape, dtype))

    def clamp(self, at, shape, dtype):
        same = self.like((shape, dtype))
        self.add(lax.clamp_p, (self.rng.choice(same), at, self.rng.choice(same)), (shape, dtype))

    def reshape(self, at, shape, dtype):
        new = self.rng.choice(((math.prod(shape),), (1, *shape), (*shape, 1), shape[::-1]))
        self.add(lax.reshape_p, (at,), (new, dtype), new_sizes=new, dimensions=None, sharding=None)

    def transpose(self, at, shape, dtype):
        order = list(range(len(shape)))
        self.rng.shuffle(order)
        self.add(lax.transpose_p, (at,), (tuple(shape[a] for a in order), dtype), permutation=tuple(order))

    def broadcast(self, at, shape, dtype):
        if len(shape) < 3:
            params = {"shape": (2, *shape), "broadcast_dimensions": tuple(range(1, len(shape) + 1)), "sharding": None}
            self.add(lax.broadcast_in_dim_p, (at,), ((2, *shape), dtype), **params)

    def slice(self, at, shape, dtype):
        start = tuple(self.rng.randint(0, n) for n in shape)
        limit = tuple(self.rng.randint(s, n) for s, n in zip(start, shape))
        strides = tuple(self.rng.choice((1, 1, 2)) for _ in shape)
        out = tuple(-(-(e - s) // k) for s, e, k in zip(start, limit, strides))
        params = {"start_indices": start, "limit_indices": limit, "strides": strides}
        self.add(lax.slice_p, (at,), (out, dtype), **params)

    def reverse(self, at, shape, dtype):
        axes = tuple(a for a in range(len(shape)) if self.rng.random() < 0.5)
        self.add(lax.rev_p, (at,), (shape, dtype), dimensions=axes)

    def join(self, at, shape, dtype):
        if shape:
            axis = self.rng.randrange(len(shape))
            out = tuple(2 * n if a == axis else n for a, n in enumerate(shape))
            self.add(lax.concatenate_p, (at, self.rng.choice(self.like((shape, dtype)))), (out, dtype), dimension=axis)

    def reduce(self, at, shape, dtype):
        axes = tuple(a for a in range(len(shape)) if self.rng.random() < 0.6)
        out = tuple(n for a, n in enumerate(shape) if a not in axes)
        choices = [lax.reduce_max_p, lax.reduce_min_p]
        choices += [lax.reduce_sum_p, lax.reduce_prod_p] if dtype.kind in "iu" else []
        choices += [lax.reduce_and_p, lax.reduce_or_p] if dtype.kind in "iub" else []
        p = self.rng.choice(choices)
        self.add(p, (at,), (out, dtype), axes=axes, **({"out_sharding": None} if p is lax.reduce_sum_p else {}))


KINDS = (
    *[Writer.unary] * 3, *[Writer.binary] * 6, *[Writer.convert] * 3, *[Writer.choose] * 2, Writer.clamp,
    Writer.reshape, Writer.transpose, Writer.broadcast, Writer.slice, Writer.reverse, Writer.join, Writer.reduce,
)  # fmt: skip


def draw_program(rng):
    """A program of up to ten steps, of one to three operands."""
    shape, dtype = rng.choice(STARTS), rng.choice(INTEGERS + FLOATS + BOOL)
    operands = [array(rng, rng.choice((shape, shape, ())) if i else shape, dtype) for i in range(rng.randint(1, 4))]
    writer = Writer(rng, operands)
    for _ in range(rng.randint(2, 10)):
        at = len(writer.types) - 1 if rng.random() < 0.6 else rng.randrange(len(writer.types))
        rng.choice(KINDS)(writer, at, *writer.types[at])
    last = len(writer.types) - 1
    results = tuple(sorted({last, *(rng.randrange(last + 1) for _ in range(rng.randint(0, 2)))}))
    return {"operands": operands, "steps": writer.steps, "results": results}


def described(program):
    """A program as text."""
    lines = [f"{i}: {x!r}" for i, x in enumerate(program["operands"])]
    for i, (p, params, places) in enumerate(program["steps"], len(lines)):
        lines.append(f"{i}: {p.name}{places} {params if params else ''}")
    return "\n".join([*lines, f"results {program['results']}"])
