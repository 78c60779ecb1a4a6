"""jax_debug_key_reuse: a random key may be used up once.

Drawing and splitting use a key up; folding in, cloning and making keys give new ones.  Every element of an array of
keys stands for a mark (`_Mark`), which says where it was used up.  Operations that move data move the marks along:
their own kernels are run on positions.  A program is followed equation by equation without computing anything; the body
of a loop is followed more than once, so that a key it uses in every step is found.

Differences from JAX's checker: slices and stacks share the marks of what they were taken from, so a key is found used
up through whichever array it is reached; keys chosen by an index unknown while tracing count as new ones.
"""

import weakref
from _thread import _local

import numpy as np

from onax._core.facts import DATA_MOVEMENT
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.result_checks import add_checked_evaluation
from onax._core.slots import Slot
from onax._core.trace import Tracer, typeof
from onax._ground import dtypes, errors, source
from onax._ground.config import KEY_REUSE
from onax._native.array import Array, ArrayImpl
from onax._native.context import option_word
from onax._native.tree import tree_leaves
from onax._prims.elementwise import eq_p, ne_p
from onax._prims.random import random_clone_p, random_fold_in_p, random_seed_p, random_unwrap_p, random_wrap_p

MAKES_KEYS = "makes keys"  # a rule: the results are new keys, and the operands are not used up
READS_KEYS = "reads keys"  # a rule: the operands are not used up

key_lineage = Slot(
    "key_lineage",
    "rule(uses, params, operands, inputs, avals) -> marks of the results; MAKES_KEYS; READS_KEYS",
    "Marks follow data movement and enter the program of a call; any other operation consumes its keys.",
    "onax",
)
key_lineage.rule(random_fold_in_p, random_seed_p, random_wrap_p, random_clone_p)(MAKES_KEYS)
key_lineage.rule(random_unwrap_p, eq_p, ne_p)(READS_KEYS)


class _Mark:
    """One key; `use` is (what used it up, where), or None."""

    __slots__ = ("use",)

    def __init__(self):
        self.use = None


class _Suspended(_local):
    """Whether this thread carries out a program that has been followed already."""

    value = False


_suspended = _Suspended()
_marks_of_arrays = {}  # id of an array -> (weak reference to it, its marks)
# id of the ndarray that owns the memory, which slices share -> (weak reference to it, marks by offset)
_marks_of_memory = {}


def checking():
    """Whether the option is on in this thread."""
    return bool(option_word() & KEY_REUSE)


def _is_key(aval):
    return isinstance(aval.dtype, dtypes.KeyType)


def _new_marks(shape):
    marks = np.empty(shape, object)
    flat = marks.reshape(-1)
    for i in range(flat.size):
        flat[i] = _Mark()
    return marks


def _is_followed(aval):
    """Whether a value holds keys, as many as can be told."""
    return _is_key(aval) and all(isinstance(d, int) for d in aval.shape)


def _marks_of(x):
    """The marks of a value: an object array for an array of keys, else None."""
    if not isinstance(x, Array) or not _is_followed(x.aval):
        return None
    if type(x) is not ArrayImpl:
        return _new_marks(x.shape)
    known = _marks_of_arrays.get(id(x))
    if known is not None and known[0]() is x:
        return known[1]
    owner, places = _offsets(x._value)
    there = _marks_in(owner)
    marks = _new_marks(x.shape)
    flat = marks.reshape(-1)
    for i, location in enumerate(places):
        flat[i] = there.setdefault(location, flat[i])
    _record_array(x, marks)
    return marks


def _record_marks(x, marks):
    """Notes the marks of a new array, and of what will be taken from it."""
    owner, places = _offsets(x._value)
    _marks_in(owner).update(zip(places, marks.flat))
    _record_array(x, marks)


def _record_array(x, marks):
    name = id(x)
    _marks_of_arrays[name] = weakref.ref(x, lambda _: _marks_of_arrays.pop(name, None)), marks


def _offsets(buffer):
    """(the ndarray that owns a buffer's memory, the byte offsets of its elements in that)."""
    owner = buffer
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    offsets = np.full(buffer.shape, _address(buffer) - _address(owner))
    for axis, (n, stride) in enumerate(zip(buffer.shape, buffer.strides)):
        offsets += (np.arange(n) * stride).reshape(-1, *[1] * (buffer.ndim - axis - 1))
    return owner, offsets.reshape(-1).tolist()


def _address(buffer):
    return buffer.__array_interface__["data"][0]


def _marks_in(owner):
    """Marks by byte offset in an ndarray's memory."""
    name = id(owner)
    known = _marks_of_memory.get(name)
    if known is None or known[0]() is not owner:
        known = _marks_of_memory[name] = weakref.ref(owner, lambda _: _marks_of_memory.pop(name, None)), {}
    return known[1]


class _Uses:
    """What a program uses up, on top of what the marks say already; `commit` writes it into the marks."""

    __slots__ = ("found", "inside", "location")

    def __init__(self, location=None):
        self.found = {}
        self.inside = []  # names of the programs being followed
        self.location = location  # of the outer call: library functions have no lines

    def of(self, mark):
        """Where a key was used up, or None."""
        return self.found.get(mark) or mark.use

    def consume(self, marks, name, index):
        """Notes that an operation uses keys up; raises KeyReuseError if one was used before."""
        for mark in set(marks.flat):
            before = self.of(mark)
            if before is not None:
                raise errors.KeyReuseError(self._text(name, index, before))
            self.found[mark] = (name, self.location)

    def _text(self, name, index, before):
        lines = [f"Previously-consumed key passed to {name} at index {index}"]
        if self.inside:
            lines[0] += f" in {self.inside[-1]}"
        lines.append(f"  used first by {before[0]} at {source.summarize(before[1])}")
        lines.append(f"  used again by {name} at {source.summarize(self.location)}")
        loops = [i for i in self.inside if i in ("scan", "while")]
        if loops and before == (name, self.location):
            lines.append(f"The body of {loops[-1]} is repeatedly executed with the same key: this leads to key reuse.")
        lines.append("Make a new key for each use: `key, subkey = random.split(key)`.")
        return "\n".join(lines)

    def commit(self):
        """Keeps what was found."""
        for mark, use in self.found.items():
            mark.use = use


def _touches_keys(jaxpr):
    """Whether a program handles keys; kept with it."""
    known = jaxpr.cache.get("keys")
    if known is None:
        atoms = [*jaxpr.invars, *jaxpr.constvars, *(v for e in jaxpr.eqns for v in e.outvars)]
        known = any(_is_key(v.aval) for v in atoms)
        known = known or any(_touches_keys(j) for e in jaxpr.eqns for j in jaxprs_in_params(e.params))
        jaxpr.cache["keys"] = known
    return known


def _follow(uses, jaxpr, consts, marks, known):
    """The marks of a program's results.  `known`: values of the arguments that are known, else None."""
    env = {v: _marks_of(c) for v, c in zip(jaxpr.constvars, consts)}
    values = {v: c for v, c in zip(jaxpr.constvars, consts) if type(c) is ArrayImpl}
    for var, mark, value in zip(jaxpr.invars, marks, known):
        env[var] = _new_marks(var.aval.shape) if mark is None and _is_followed(var.aval) else mark
        values[var] = value
    for eqn in jaxpr.eqns:
        if not any(_is_key(v.aval) for v in (*eqn.invars, *eqn.outvars)) and not any(
            map(_touches_keys, jaxprs_in_params(eqn.params))
        ):
            continue
        operands = [None if type(a) is Literal else env.get(a) for a in eqn.invars]
        inputs = [a.array if type(a) is Literal else values.get(a) for a in eqn.invars]
        avals = [v.aval for v in eqn.outvars]
        outer = uses.location
        uses.location = eqn.source_info or outer
        outs = _apply(uses, eqn.primitive, eqn.params, operands, inputs, avals)
        uses.location = outer
        env.update(zip(eqn.outvars, outs))
    return [None if type(a) is Literal else env.get(a) for a in jaxpr.outvars]


def _apply(uses, primitive, params, operands, inputs, avals):
    """The marks of one operation's results."""
    name = primitive.name
    rule = key_lineage.get(primitive)
    if callable(rule):
        return rule(uses, params, operands, inputs, avals)
    programs = [j for j in jaxprs_in_params(params) if len(j.invars) == len(operands)]
    if len(programs) == 1:
        uses.inside.append(f"{name}({params['name']})" if "name" in params else name)
        outs = _follow(uses, programs[0], programs[0].consts, operands, inputs)
        uses.inside.pop()
        return outs
    if rule is not MAKES_KEYS and DATA_MOVEMENT in primitive.facts:
        moved = _move(uses, primitive, params, operands, inputs, avals)
        if moved is not None:
            return moved
    if rule is None:
        for index, marks in enumerate(operands):
            if marks is not None:
                uses.consume(marks, name, index)
    return [_new_marks(a.shape) if _is_followed(a) else None for a in avals]


def _move(uses, primitive, params, operands, inputs, avals):
    """The operands' marks where a data movement puts them; None when that is not known."""
    pool, positions, start = [], [], 0
    for marks, value in zip(operands, inputs):
        if marks is not None:
            positions.append(np.arange(start, start + marks.size).reshape(marks.shape))
            pool.append(marks.reshape(-1))
            start += marks.size
        elif value is not None:
            positions.append(np.asarray(value))
        else:
            return [_choose_unknown(uses, operands, a) for a in avals]
    if not pool:
        return None
    _check_distinct(primitive.name, pool, uses.location)
    kernel = primitive.kernel
    kernel = kernel.get(np.dtype(np.int64)) if type(kernel) is dict else kernel
    pool = np.concatenate(pool)
    if kernel is None:
        return [pool.reshape(a.shape) if a.size == pool.size else None for a in avals]
    out = kernel(*positions, **params)
    return [_take_marks(pool, where) for where in (out if primitive.multiple_results else (out,))]


def _take_marks(pool, where):
    """Marks by position; what lies outside (filled in) is new."""
    where = np.asarray(where)
    inside = (where >= 0) & (where < pool.size)
    picked = pool[np.where(inside, where, 0)] if pool.size else np.empty(where.shape, object)
    picked = np.asarray(picked, object).reshape(where.shape)
    return picked if inside.all() else np.where(inside, picked, _new_marks(where.shape))


def _check_distinct(name, pool, location):
    """The same key in two operands of a concatenation would be two equal keys in one array."""
    seen = set()
    for index, marks in enumerate(pool):
        mine = set(marks)
        if seen & mine:
            raise errors.KeyReuseError(
                f"Previously-consumed key passed to {name} at index {index}: the same key is among the operands twice"
                f"\n  at {source.summarize(location)}\nMake a new key for each use: `random.split(key)`."
            )
        seen |= mine


def _choose_unknown(uses, operands, aval):
    """Marks of keys chosen by an unknown index: used up if all candidates are, else new."""
    if not _is_followed(aval):
        return None
    candidates = [m for marks in operands if marks is not None for m in marks.flat]
    marks = _new_marks(aval.shape)
    if candidates and all(uses.of(m) is not None for m in candidates):
        for mark in marks.flat:
            uses.found[mark] = uses.of(candidates[0])
    return marks


# ---- programs inside an operation


def follow_scan(uses, params, operands, inputs, avals):
    jaxpr, length = params["jaxpr"], params["length"]
    n_consts, n_carry = params["num_consts"], params["num_carry"]
    consts, carry = operands[:n_consts], operands[n_consts : n_consts + n_carry]
    stacked = operands[n_consts + n_carry :]
    unknown = [None] * (n_carry + len(stacked))
    steps = min(length, 2 + sum(m is not None for m in carry)) if isinstance(length, int) else 2
    uses.inside.append("scan")
    for step in range(steps):
        slices = [None if m is None else m[step] if m.ndim > 1 else m[step : step + 1].reshape(()) for m in stacked]
        outs = _follow(uses, jaxpr, jaxpr.consts, [*consts, *carry, *slices], [*inputs[:n_consts], *unknown])
        carry = outs[:n_carry]
    if steps and steps != length:  # the rest of the stacked keys goes the way of the first
        _follow_rest(uses, stacked, steps)
    uses.inside.pop()
    return [*carry, *(_new_marks(a.shape) if _is_followed(a) else None for a in avals[n_carry:])]


def _follow_rest(uses, stacked, steps):
    for marks in stacked:
        if marks is not None:
            used = [uses.of(m) for m in marks[0].flat] if marks.ndim > 1 else [uses.of(marks[0])]
            for row in marks[steps:].reshape(-1, len(used)):
                uses.found.update((m, use) for m, use in zip(row, used) if use is not None and uses.of(m) is None)


def follow_while(uses, params, operands, inputs, avals):
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    n, m = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    carry = operands[m:]
    unknown = [None] * len(carry)
    uses.inside.append("while")
    for _ in range(2 + sum(marks is not None for marks in carry)):
        _follow(uses, test, test.consts, [*operands[:n], *carry], [*inputs[:n], *unknown])
        carry = _follow(uses, body, body.consts, [*operands[n:m], *carry], [*inputs[n:m], *unknown])
    uses.inside.pop()
    return carry


def follow_cond(uses, params, operands, inputs, avals):
    before, after, results = dict(uses.found), {}, []
    uses.inside.append("cond")
    for branch in params["branches"]:
        uses.found = dict(before)
        results.append(_follow(uses, branch, branch.consts, operands[1:], inputs[1:]))
        after.update(uses.found)
    uses.found = after
    uses.inside.pop()
    return [_join_branches(uses, marks, aval) for marks, aval in zip(zip(*results), avals)]


def _join_branches(uses, alternatives, aval):
    """The marks of a result that comes from one of several branches."""
    if not _is_followed(aval):
        return None
    first = alternatives[0]
    if all(marks is not None and np.array_equal(marks, first) for marks in alternatives):
        return first
    marks = _new_marks(aval.shape)
    for column in zip(*(m.flat for m in (marks, *(a for a in alternatives if a is not None)))):
        used = next((uses.of(m) for m in column[1:] if uses.of(m) is not None), None)
        if used is not None:
            uses.found[column[0]] = used
    return marks


def follow_remat(uses, params, operands, inputs, avals):
    if params["differentiated"]:  # the forward pass once more, with the keys it had
        return [_new_marks(a.shape) if _is_followed(a) else None for a in avals]
    return _follow(uses, params["jaxpr"], params["jaxpr"].consts, operands, inputs)


# ---- where programs and operations are checked


def check_jaxpr(jaxpr):
    """Raises KeyReuseError if a closed program uses a key twice that it gets or makes."""
    if _touches_keys(jaxpr):
        unknown = [None] * len(jaxpr.invars)
        consts = [None if isinstance(c, Tracer) else c for c in jaxpr.consts]
        _follow(_Uses(), jaxpr, consts, unknown, unknown)


def check_call(name, jaxpr, args, run):
    """`run()`, the result (a tree) of a call of a closed program on arrays; raises KeyReuseError before running it."""
    if not _touches_keys(jaxpr):
        return _without_checks(run)
    uses = _Uses(source.user_location())
    uses.inside.append(name)
    marks = _follow(uses, jaxpr, jaxpr.consts, [_marks_of(x) for x in args], list(args))
    result = _without_checks(run)
    _commit(uses, tree_leaves(result), marks)
    return result


def _without_checks(run):
    before, _suspended.value = _suspended.value, True
    try:
        return run()
    finally:
        _suspended.value = before


def _commit(uses, results, marks):
    uses.commit()
    for x, mine in zip(results, marks):
        if mine is not None and type(x) is ArrayImpl and id(x) not in _marks_of_arrays:
            _record_marks(x, mine)


def _evaluate(primitive, operands, params, evaluate):
    """One operation that is carried out at once."""
    if _suspended.value:
        return evaluate(primitive, operands, params)
    programs = any(map(_touches_keys, jaxprs_in_params(params)))
    inputs = [_marks_of(x) for x in operands]
    if not programs and key_lineage.get(primitive) is not MAKES_KEYS and all(marks is None for marks in inputs):
        return evaluate(primitive, operands, params)
    uses = _Uses(source.user_location())
    avals = primitive.abstract(*[typeof(x) for x in operands], **params)[0]
    avals = avals if primitive.multiple_results else [avals]
    marks = _apply(uses, primitive, params, inputs, list(operands), avals)
    out = _without_checks(lambda: evaluate(primitive, operands, params))
    _commit(uses, out if primitive.multiple_results else (out,), marks)
    return out


add_checked_evaluation(KEY_REUSE, _evaluate)
