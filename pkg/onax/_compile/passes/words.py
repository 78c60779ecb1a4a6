"""Keys as words: random equations written so that programs over blocks can hold them.

    worded(jaxpr)   the same program; keys of threefry2x32 are two words where nobody needs them whole
    flat(jaxpr)     the same, with two words for each key among arguments, constants and results: a loop's step

Splitting, folding in and drawing bits become Threefry's block function on first words, second words and counters; what
only moves keys moves each word.  Anything else (a branch, a loop, a generator of another kind) gets whole keys.
"""

from math import prod

import numpy as np

from onax._control.threefry_keys import (
    is_threefry_key,
    pack_keys_p,
    positions_p,
    threefry_both_p,
    threefry_first_p,
    threefry_second_p,
    unpack_keys,
    unpack_keys_p,
)
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from onax._core.slots import Slot
from onax._ground import dims
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._prims import elementwise as el
from onax._prims import random as prims
from onax._prims import shaping
from onax._prims.convert import convert_element_type_p
from onax._prims.slicing import concatenate_p, slice_p

U32, U64, BOOL = np.dtype(np.uint32), np.dtype(np.uint64), np.dtype(bool)
key_rules = Slot(
    "key_unpacking",
    "rule(program, eqn) -> whether it added equations on the words of the keys that replace this one",
    "The equation gets whole keys.",
    "onax._compile.passes.words",
)


def worded(jaxpr):
    """A ClosedJaxpr that computes the same; itself if it has no keys."""
    if not any(is_threefry_key(v.aval.dtype) for eqn in jaxpr.eqns for v in (*eqn.invars, *eqn.outvars)):
        return jaxpr
    program = _Wording()
    for eqn in jaxpr.eqns:
        program.enter(eqn)
    outvars = [program.whole(x) for x in jaxpr.outvars]
    inner = Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, program.eqns, jaxpr.effects, jaxpr.debug_info)
    return ClosedJaxpr(inner, jaxpr.consts)


def flat(jaxpr):
    """A ClosedJaxpr with two words for each key that goes in or out."""
    program = _Wording()
    constvars, invars = ([w for v in vs for w in program.open(v)] for vs in (jaxpr.constvars, jaxpr.invars))
    consts = [part for v, c in zip(jaxpr.constvars, jaxpr.consts) for part in _parts(v.aval.dtype, c)]
    for eqn in jaxpr.eqns:
        program.enter(eqn)
    outvars = [w for x in jaxpr.outvars for w in (program.words(x) if is_threefry_key(x.aval.dtype) else (x,))]
    return ClosedJaxpr(Jaxpr(constvars, invars, outvars, program.eqns, no_effects, jaxpr.debug_info), consts)


def count(avals):
    """How many values these are, with two words for each key."""
    return sum([1 + is_threefry_key(a.dtype) for a in avals])


def opened_keys(variables, eqns):
    """The variables with two for each key; the equations that open the keys are added."""
    found = []
    for x in variables:
        if is_threefry_key(x.aval.dtype):
            pair = _pair(x.aval)
            eqns.append(JaxprEqn([x], pair, unpack_keys_p, {}))
            found += pair
        else:
            found.append(x)
    return found


def closed_keys(variables, eqns):
    """New variables in their place, two for each key; the equations that close the keys are added to a list."""
    found = []
    for v in variables:
        if is_threefry_key(v.aval.dtype):
            pair = _pair(v.aval)
            eqns.append(JaxprEqn(pair, [v], pack_keys_p, {}))
            found += pair
        else:
            found.append(v)
    return found


def _pair(aval):
    return [Var(ShapedArray(aval.shape, U32)), Var(ShapedArray(aval.shape, U32))]


def _parts(dtype, c):
    return unpack_keys(np.asarray(c._value if isinstance(c, Array) else c)) if is_threefry_key(dtype) else (c,)


class Writing:
    """The equations of a program that is being written anew."""

    __slots__ = ("eqns",)

    def __init__(self):
        self.eqns = []

    def emit(self, eqn, primitive, operands, shape, dtype=U32, params=()):
        """The result of an equation in the place of another."""
        out = Var(ShapedArray(shape, dtype))
        self.eqns.append(JaxprEqn(list(operands), [out], primitive, dict(params), no_effects, eqn.source_info))
        return out

    def broadcast(self, eqn, x, shape):
        """An operand whose axes are the first of a shape, along all of it."""
        params = {"shape": shape, "broadcast_dimensions": tuple(range(len(x.aval.shape))), "sharding": None}
        return self.emit(eqn, shaping.broadcast_in_dim_p, [x], shape, x.aval.dtype, params)


class _Wording(Writing):
    """A program whose keys become words."""

    __slots__ = ("by_words", "hidden")

    def __init__(self):
        super().__init__()
        self.by_words = {}  # variable of keys -> its words
        self.hidden = set()  # variables of keys that no equation gives yet

    def open(self, v):
        """What stands for an argument."""
        if not is_threefry_key(v.aval.dtype):
            return (v,)
        self.hidden.add(v)
        self.by_words[v] = tuple(_pair(v.aval))
        return self.by_words[v]

    def words(self, x):
        """The words of a variable of keys."""
        found = self.by_words.get(x)
        if found is None:
            found = self.by_words[x] = tuple(_pair(x.aval))
            self.eqns.append(JaxprEqn([x], list(found), unpack_keys_p, {}))
        return found

    def whole(self, x):
        """An operand for those who want keys."""
        if type(x) is not Literal and x in self.hidden:
            self.hidden.remove(x)
            self.eqns.append(JaxprEqn(list(self.by_words[x]), [x], pack_keys_p, {}))
        return x

    def name(self, v, pair):
        """The words of the keys that an equation gave."""
        self.hidden.add(v)
        self.by_words[v] = tuple(pair)

    def enter(self, eqn):
        """Adds an equation, or others in its place."""
        rule = key_rules.get(eqn.primitive)
        if rule is not None and all(dims.is_constant_shape(v.aval.shape) for v in (*eqn.invars, *eqn.outvars)):
            if rule(self, eqn):
                return
        operands = [self.whole(x) for x in eqn.invars]
        self.eqns.append(JaxprEqn(operands, eqn.outvars, eqn.primitive, eqn.params, eqn.effects, eqn.source_info))

    def spread(self, eqn, x, shape):
        """An operand of a key's shape along the axes that are drawn for it."""
        if not x.aval.shape:
            return x
        return self.broadcast(eqn, x, shape)

    def blocks(self, eqn, keys, shape):
        """First words, second words and counters over a shape that begins with that of the keys."""
        axes = len(shape) - len(keys.aval.shape)
        words = [self.spread(eqn, w, shape) for w in self.words(keys)]
        return *words, self.emit(eqn, positions_p, [], shape, params={"shape": shape, "axes": axes})


# ---- rules: whether they wrote the equation anew


def _is_usual(eqn, keys):
    """Whether the counters of threefry2x32 are laid out so that each number is drawn by itself."""
    drawn = prod(eqn.outvars[0].aval.shape[len(keys.aval.shape) :])
    return is_threefry_key(keys.aval.dtype) and eqn.params.get("partitionable", True) and 0 < drawn < 2**32


@key_rules.rule(prims.random_split_p)
def _split(program, eqn):
    keys, out = eqn.invars[0], eqn.outvars[0]
    if not _is_usual(eqn, keys):
        return False
    shape = out.aval.shape
    operands = program.blocks(eqn, keys, shape)
    program.name(out, [program.emit(eqn, p, operands, shape) for p in (threefry_first_p, threefry_second_p)])
    return True


@key_rules.rule(prims.random_fold_in_p)
def _fold_in(program, eqn):
    keys, data = eqn.invars
    (out,) = eqn.outvars
    if not is_threefry_key(keys.aval.dtype):
        return False
    operands = (*program.words(keys), data)
    pair = [program.emit(eqn, p, operands, out.aval.shape) for p in (threefry_first_p, threefry_second_p)]
    program.name(out, pair)
    return True


@key_rules.rule(prims.random_bits_p)
def _bits(program, eqn):
    keys, out = eqn.invars[0], eqn.outvars[0]
    width, shape = eqn.params["bit_width"], out.aval.shape
    if not _is_usual(eqn, keys) or width not in (32, 64):
        return False
    operands = program.blocks(eqn, keys, shape)
    if width == 32:
        program.eqns.append(JaxprEqn(list(operands), [out], threefry_both_p, {}, no_effects, eqn.source_info))
        return True
    high, low = (program.emit(eqn, p, operands, shape) for p in (threefry_first_p, threefry_second_p))
    convert = {"new_dtype": U64, "weak_type": False, "sharding": None}
    high, low = (program.emit(eqn, convert_element_type_p, [w], shape, U64, convert) for w in (high, low))
    by = Literal(np.uint64(32), ShapedArray((), U64))
    high = program.emit(eqn, el.shift_left_p, [high, by], shape, U64)
    program.eqns.append(JaxprEqn([high, low], [out], el.or_p, {}, no_effects, eqn.source_info))
    return True


@key_rules.rule(prims.random_wrap_p)
def _wrap(program, eqn):
    (x,), (out,) = eqn.invars, eqn.outvars
    if not is_threefry_key(out.aval.dtype):
        return False
    shape = x.aval.shape
    pair = []
    for i in range(2):
        start, limit = (*(0,) * (len(shape) - 1), i), (*shape[:-1], i + 1)
        params = {"start_indices": start, "limit_indices": limit, "strides": None}
        one = program.emit(eqn, slice_p, [x], (*shape[:-1], 1), params=params)
        last = {"dimensions": (len(shape) - 1,)}
        pair.append(program.emit(eqn, shaping.squeeze_p, [one], shape[:-1], params=last))
    program.name(out, pair)
    return True


@key_rules.rule(prims.random_unwrap_p)
def _unwrap(program, eqn):
    (keys,), (out,) = eqn.invars, eqn.outvars
    if not is_threefry_key(keys.aval.dtype):
        return False
    shape = out.aval.shape
    first, second, number = program.blocks(eqn, keys, shape)
    zero = Literal(np.uint32(0), ShapedArray((), U32))
    if not keys.aval.shape:
        first, second = (program.broadcast(eqn, w, shape) for w in (first, second))
    is_first = program.emit(eqn, el.eq_p, [number, zero], shape, BOOL)
    program.eqns.append(JaxprEqn([is_first, second, first], [out], el.select_n_p, {}, no_effects, eqn.source_info))
    return True


@key_rules.rule(prims.random_clone_p)
def _clone(program, eqn):
    (keys,), (out,) = eqn.invars, eqn.outvars
    if not is_threefry_key(keys.aval.dtype):
        return False
    program.name(out, program.words(keys))
    return True


@key_rules.rule(
    slice_p, shaping.squeeze_p, shaping.reshape_p, shaping.broadcast_in_dim_p, shaping.transpose_p, shaping.copy_p,
    concatenate_p, el.select_n_p,
)  # fmt: skip
def _move(program, eqn):
    """Each word goes where the key went."""
    (out,) = eqn.outvars
    if not is_threefry_key(out.aval.dtype):
        return False
    pair = []
    for i in range(2):
        operands = [program.words(x)[i] if is_threefry_key(x.aval.dtype) else x for x in eqn.invars]
        pair.append(program.emit(eqn, eqn.primitive, operands, out.aval.shape, params=eqn.params))
    program.name(out, pair)
    return True
