"""Types of values beside arrays, as a program defines them, with their operations."""

from dataclasses import dataclass
from typing import Any

import onax
import onax.numpy as jnp
from onax.experimental.hijax import (
    HiPrimitive,
    HiPspec,
    HiType,
    MappingSpec,
    ShapedArray,
    VJPHiPrimitive,
    instantiate_zeros,
    is_undefined_primal,
    register_hitype,
)

# ---- numbers, whose type is that of their tangents


@dataclass(frozen=True)
class Number:
    value: Any


@dataclass(frozen=True)
class NumberType(HiType):
    def lo_ty(self):
        return [ShapedArray((), jnp.dtype("float32"))]

    def lower_val(self, hi_val):
        return [hi_val.value]

    def raise_val(self, *lo_vals):
        return Number(*lo_vals)

    def to_tangent_aval(self):
        return self

    def vspace_zero(self):
        return Number(jnp.float32(0))

    def vspace_add(self, x, y):
        return plus(x, y)

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        return "num"


register_hitype(Number, lambda number: NumberType())


class ToNumber(HiPrimitive):
    def abstract_eval(self, aval):
        return NumberType(), set()

    def to_lojax(self, x):
        return Number(x)

    def jvp(self, primals, tangents):
        return to_number(*primals), to_number(*tangents)

    def transpose(self, ct, x):
        return (from_number(ct),)


class FromNumber(HiPrimitive):
    def abstract_eval(self, aval):
        return aval.lo_ty()[0], set()

    def to_lojax(self, x):
        return x.value

    def jvp(self, primals, tangents):
        return from_number(*primals), from_number(*tangents)

    def transpose(self, ct, x):
        return (to_number(ct),)


class Times(HiPrimitive):
    def abstract_eval(self, x, y):
        return x, set()

    def to_lojax(self, x, y):
        return Number(x.value * y.value)

    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        return times(x, y), plus(times(x, dy), times(dx, y))

    def transpose(self, ct, x, y):
        return (times(ct, y), None) if is_undefined_primal(x) else (None, times(x, ct))


class Plus(HiPrimitive):
    def abstract_eval(self, x, y):
        return x, set()

    def to_lojax(self, x, y):
        return Number(x.value + y.value)

    def jvp(self, primals, tangents):
        return plus(*primals), plus(*tangents)

    def transpose(self, ct, x, y):
        return ct, ct


to_number, from_number = ToNumber("to_number").bind, FromNumber("from_number").bind
times, plus = Times("times").bind, Plus("plus").bind


# ---- pairs, with axes and shards


@dataclass
class Pair:
    first: Any
    second: Any


@dataclass(frozen=True)
class PairSpec(MappingSpec):
    dims: tuple


@dataclass(frozen=True)
class PairPspec(HiPspec):
    specs: tuple

    def to_lo(self):
        return self.specs


@dataclass(frozen=True)
class PairType(HiType):
    types: tuple

    def lo_ty(self):
        return list(self.types)

    def lower_val(self, hi_val):
        return [hi_val.first, hi_val.second]

    def raise_val(self, *lo_vals):
        return Pair(*lo_vals)

    def to_tangent_aval(self):
        return PairType(tuple(t.to_tangent_aval() for t in self.types))

    def normalize(self):
        return PairType(tuple(t.normalize() for t in self.types))

    def vspace_zero(self):
        return pack(*(jnp.zeros(t.shape, t.dtype) for t in self.types))

    def vspace_add(self, x, y):
        return pack(*(t.vspace_add(part(x, i), part(y, i)) for i, t in enumerate(self.types)))

    def dec_rank(self, size, spec):
        return PairType(tuple(t.dec_rank(size, d) for t, d in zip(self.types, spec.dims)))

    def inc_rank(self, size, spec):
        return PairType(tuple(t.inc_rank(size, d) for t, d in zip(self.types, spec.dims)))

    def leading_axis_spec(self):
        return PairSpec(tuple(t.leading_axis_spec() for t in self.types))

    def shard(self, mesh, manual_axes, check_vma, spec):
        return PairType(tuple(t.shard(mesh, manual_axes, check_vma, s) for t, s in zip(self.types, spec.specs)))

    def unshard(self, mesh, check_vma, spec):
        return PairType(tuple(t.unshard(mesh, check_vma, s) for t, s in zip(self.types, spec.specs)))

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        return f"pair<{';'.join(t.str_short(short_dtypes) for t in self.types)}>"


register_hitype(Pair, lambda pair: PairType((onax.typeof(pair.first), onax.typeof(pair.second))))


class Pack(VJPHiPrimitive):
    def __init__(self, *types):
        self.in_avals, self.out_aval, self.params = types, PairType(types), {}
        super().__init__()

    def expand(self, x, y):
        return Pair(x, y)

    def jvp(self, primals, tangents):
        return pack(*primals), pack(*map(instantiate_zeros, tangents))

    def vjp_fwd(self, nzs_in, x, y):
        return self(x, y), None

    def vjp_bwd_retval(self, residuals, ct):
        return part(ct, 0), part(ct, 1)

    def batch(self, axis_data, args, dims):
        return pack(*args), PairSpec(tuple(dims))


class Part(VJPHiPrimitive):
    def __init__(self, pair, index):
        self.in_avals, self.out_aval, self.params = (pair,), pair.types[index], {"index": index}
        super().__init__()

    def expand(self, pair):
        return (pair.first, pair.second)[self.index]

    def jvp(self, primals, tangents):
        return part(*primals, self.index), part(*tangents, self.index)

    def vjp_fwd(self, nzs_in, pair):
        return self(pair), None

    def vjp_bwd_retval(self, residuals, ct):
        zeros = [jnp.zeros(t.shape, t.dtype) for t in self.in_avals[0].types]
        zeros[self.index] = ct
        return (pack(*zeros),)

    def batch(self, axis_data, args, dims):
        return part(*args, self.index), dims[0].dims[self.index]


class Scale(VJPHiPrimitive):
    """factor * pair, with the rules that need no more than its shape."""

    def __init__(self, pair, factor):
        self.in_avals, self.out_aval, self.params = (pair,), pair, {"factor": factor}
        super().__init__()

    def expand(self, pair):
        return Pair(self.factor * pair.first, self.factor * pair.second)

    def lin(self, nzs_in, pair):
        return self(pair), None

    def linearized(self, residuals, tangent):
        return self(tangent)


def pack(x, y):
    return Pack(onax.typeof(x), onax.typeof(y))(x, y)


def part(pair, index):
    return Part(onax.typeof(pair), index)(pair)


def scale(pair, factor):
    return Scale(onax.typeof(pair), factor)(pair)


def numbers(tree):
    """The numbers in a tree of arrays and values of these types, as nested lists in one."""
    return [
        x.tolist()
        for leaf in onax.tree.leaves(tree)
        for x in (onax.typeof(leaf).lower_val(leaf) if isinstance(leaf, (Number, Pair)) else [leaf])
    ]
