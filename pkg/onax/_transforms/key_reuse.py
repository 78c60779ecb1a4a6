"""jax_debug_key_reuse: a random key may be consumed once.

Sampling and splitting consume a key; `fold_in`, `clone` and making keys return new keys.  Each element of a key array
has a mark (`_Mark`), which says where the key was consumed.  Operations that move data move marks: their kernels run on
positions.  Programs are analyzed equation by equation without computing anything; the body of a loop is analyzed more
than once, to find a key that every step consumes.

Differences from JAX's checker: slices and stacks share marks with the arrays that they come from, so the use of a key
is detected through each of these arrays; keys at an index that is unknown while tracing count as new.
"""

import sys
import weakref
from _thread import _local
from typing import NamedTuple

import numpy as np

from onax._core.api_functions import compiled_code
from onax._core.facts import DATA_MOVEMENT
from onax._core.jaxpr import Literal, Var, jaxprs_in_params, new_jaxpr_eqn
from onax._core.programs import CALL, CUSTOM_RULE, REGION, held_programs
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

_CALLS = (CALL, CUSTOM_RULE, REGION)  # kinds of programs whose arguments and results are those of the equation

JITTED = "jit-compiled function"
MAKES_KEYS = "makes keys"  # a rule: the results are new keys, and the operands are not consumed
READS_KEYS = "reads keys"  # a rule: the operands are not consumed

key_lineage = Slot(
    "key_lineage",
    "rule(uses, params, operands, inputs, avals) -> marks of the results; MAKES_KEYS; READS_KEYS",
    "Marks follow data movement and enter the program of a call; any other operation consumes its keys.",
    "onax",
)
key_lineage.rule(random_fold_in_p, random_seed_p, random_wrap_p, random_clone_p)(MAKES_KEYS)
key_lineage.rule(random_unwrap_p, eq_p, ne_p)(READS_KEYS)


class _Use(NamedTuple):
    """Where a key was consumed: by which operation, where in the source, and within which levels of a program."""

    name: str
    location: object
    levels: tuple = ()


class _Level(NamedTuple):
    """A program within a program, while it is analyzed: the operation that holds it, and the marks of its operands.

    Loops are analyzed turn by turn, and a turn has parts: `loop` is the same object for all turns of a loop.
    """

    name: str
    operands: list
    label: str
    loop: object = None
    turn: int = 0
    part: str = "body"
    arguments: list = []  # of the part; of a scan those that are the same in all turns


class _Mark:
    """A key; `use` is the `_Use` that consumed it, or None."""

    __slots__ = ("use",)

    def __init__(self):
        self.use = None


class _Suspended(_local):
    """Whether this thread evaluates a program that was already analyzed."""

    value = False


_suspended = _Suspended()
_marks_of_arrays = {}  # id of an array -> (weak reference to it, its marks)
# id of the ndarray that owns the memory, which slices share -> (weak reference to it, marks by offset)
_marks_of_memory = {}


def checking():
    """Whether jax_debug_key_reuse is on in this thread."""
    return bool(option_word() & KEY_REUSE)


def _is_key(aval):
    return isinstance(aval.dtype, dtypes.KeyType)


def _new_marks(shape):
    marks = np.empty(shape, object)
    flat = marks.reshape(-1)
    for i in range(flat.size):
        flat[i] = _Mark()
    return marks


def _has_marks(aval):
    """Whether a value is an array of keys with a static shape."""
    return _is_key(aval) and all(isinstance(d, int) for d in aval.shape)


def _marks_of(x):
    """The marks of a value: an object array for an array of keys, else None."""
    if not isinstance(x, Array) or not _has_marks(x.aval):
        return None
    if type(x) is not ArrayImpl:
        return _new_marks(x.shape)
    known = _marks_of_arrays.get(id(x))
    if known is not None and known[0]() is x:
        return known[1]
    owner, offsets = _offsets(x._value)
    by_offset = _marks_in(owner)
    marks = _new_marks(x.shape)
    flat = marks.reshape(-1)
    for i, offset in enumerate(offsets):
        flat[i] = by_offset.setdefault(offset, flat[i])
    _record_array(x, marks)
    return marks


def _record_marks(x, marks):
    """Records the marks of a new array, also by memory, for slices of it."""
    owner, offsets = _offsets(x._value)
    _marks_in(owner).update(zip(offsets, marks.flat))
    _record_array(x, marks)


def _record_array(x, marks):
    name = id(x)
    _marks_of_arrays[name] = weakref.ref(x, lambda _: _marks_of_arrays.pop(name, None)), marks


def _offsets(buffer):
    """(the ndarray that owns the memory of a buffer, the byte offsets of the buffer's elements in it)."""
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
    """The marks in the memory of an ndarray, by byte offset."""
    name = id(owner)
    known = _marks_of_memory.get(name)
    if known is None or known[0]() is not owner:
        known = _marks_of_memory[name] = weakref.ref(owner, lambda _: _marks_of_memory.pop(name, None)), {}
    return known[1]


class _Uses:
    """The keys that a program consumes, in addition to marks consumed before; `commit` writes them into the marks."""

    __slots__ = ("levels", "location", "recorded")

    def __init__(self, location=None):
        self.recorded = {}
        self.levels = []  # the programs being analyzed, outermost first
        self.location = location  # of the outer call: library functions have no lines

    def of(self, mark):
        """The use of a key, or None if it is not consumed."""
        return self.recorded.get(mark) or mark.use

    def consume(self, marks, name, index):
        """Records that an operation consumes keys; raises KeyReuseError if one was consumed before."""
        for mark in set(marks.flat):
            before = self.of(mark)
            if before is not None:
                raise errors.KeyReuseError(self._text(mark, name, index, before))
            self.recorded[mark] = _Use(name, self.location, tuple(self.levels))

    def _text(self, mark, name, index, before):
        where = f" in {self.levels[-1].label}" if self.levels else ""
        return "\n".join(
            [
                self._first_line(mark, name, index, before)
                if mark in self.recorded
                else self._call_line(mark, name, index),
                f"  used first by {before.name} at {source.summarize(before.location)}",
                f"  used again by {name}{where} at {source.summarize(self.location)}",
                "Make a new key for each use: `key, subkey = random.split(key)`.",
            ]
        )

    def _call_line(self, mark, name, index):
        """The line for a key that was consumed before the call that is analyzed."""
        if self.levels:
            name, index = self.levels[0].name, _position(mark, self.levels[0].operands)
            name = JITTED if name == "jit" else name
        elif _in_compiled_code():
            name, index = JITTED, 0
        return f"Previously-consumed key passed to {name} at index {index}"

    def _first_line(self, mark, name, index, before):
        """The line for two uses in one program: the operations at the innermost level that holds both."""
        common = 0
        while common < min(len(self.levels), len(before.levels)) and self.levels[common] is before.levels[common]:
            common += 1
        if common == len(self.levels):
            return f"In {name}, argument {index} is already consumed."
        level = self.levels[common]
        if level.loop is None or common == len(before.levels) or before.levels[common].loop is not level.loop:
            return f"In {level.name}, argument {_position(mark, level.operands)} is already consumed."
        if level.turn == before.levels[common].turn:
            return "while_loop cond and body functions both use the same key: "
        if level.name == "while":
            signature = f"{level.part}_signature=KeyReuseSignature(Sink({_position(mark, level.arguments)}),)"
            return f"while_loop {level.part} function leads to key reuse when repeatedly executed:   {signature}"
        held = any(marks is not None and mark in marks.flat for marks in level.arguments)
        reason = "key constants are repeatedly consumed" if held else "consumed inputs don't match sourced outputs"
        return f"scan body function leads to key reuse when repeatedly executed, because {reason}:"

    def commit(self):
        """Writes the recorded uses into the marks."""
        for mark, use in self.recorded.items():
            mark.use = use._replace(levels=())


def _in_compiled_code():
    """Whether a function that JAX compiles is among the callers."""
    frame = sys._getframe()
    while frame is not None and source.is_internal(frame.f_code.co_filename):
        if frame.f_code in compiled_code:
            return True
        frame = frame.f_back
    return False


def _position(mark, operands):
    """The index of the operand that has a mark; 0 for a mark of a constant."""
    return next((i for i, marks in enumerate(operands) if marks is not None and mark in marks.flat), 0)


def _has_keys(jaxpr):
    """Whether a program has keys among its values; cached with the program."""
    known = jaxpr.cache.get("keys")
    if known is None:
        atoms = [*jaxpr.invars, *jaxpr.constvars, *(v for e in jaxpr.eqns for v in e.outvars)]
        known = any(_is_key(v.aval) for v in atoms)
        known = known or any(_has_keys(j) for e in jaxpr.eqns for j in jaxprs_in_params(e.params))
        jaxpr.cache["keys"] = known
    return known


def _analyze(uses, jaxpr, consts, marks, known):
    """The marks of the results of a program.  `known`: the values of the arguments, None for unknown ones."""
    env = {v: _marks_of(c) for v, c in zip(jaxpr.constvars, consts)}
    values = {v: c for v, c in zip(jaxpr.constvars, consts) if type(c) is ArrayImpl}
    for var, mark, value in zip(jaxpr.invars, marks, known):
        env[var] = _new_marks(var.aval.shape) if mark is None and _has_marks(var.aval) else mark
        values[var] = value
    for eqn in jaxpr.eqns:
        if not any(_is_key(v.aval) for v in (*eqn.invars, *eqn.outvars)) and not any(
            map(_has_keys, jaxprs_in_params(eqn.params))
        ):
            continue
        operands = [None if type(a) is Literal else env.get(a) for a in eqn.invars]
        inputs = [a.array if type(a) is Literal else values.get(a) for a in eqn.invars]
        outer = uses.location
        uses.location = eqn.source_info or outer
        outs = _apply(uses, eqn, operands, inputs)
        uses.location = outer
        env.update(zip(eqn.outvars, outs))
    return [None if type(a) is Literal else env.get(a) for a in jaxpr.outvars]


def _apply(uses, eqn, operands, inputs):
    """The marks of the results of one equation."""
    primitive, params, avals = eqn.primitive, eqn.params, [v.aval for v in eqn.outvars]
    name = primitive.name
    rule = key_lineage.get(primitive)
    if callable(rule):
        return rule(uses, params, operands, inputs, avals)
    callee = next((held.program for held in held_programs(eqn) if held.kind in _CALLS), None)
    if callee is not None:
        uses.levels.append(_Level(name, operands, f"{name}({params['name']})" if "name" in params else name))
        outs = _analyze(uses, callee, callee.consts, operands, inputs)
        uses.levels.pop()
        return outs
    if rule is not MAKES_KEYS and DATA_MOVEMENT in primitive.facts:
        moved = _move(uses, primitive, params, operands, inputs, avals)
        if moved is not None:
            return moved
    if rule is None:
        for index, marks in enumerate(operands):
            if marks is not None:
                uses.consume(marks, name, index)
    return [_new_marks(a.shape) if _has_marks(a) else None for a in avals]


def _move(uses, primitive, params, operands, inputs, avals):
    """The marks of the results of a data movement; None if its positions are not known."""
    pool, positions, start = [], [], 0
    for marks, value in zip(operands, inputs):
        if marks is not None:
            positions.append(np.arange(start, start + marks.size).reshape(marks.shape))
            pool.append(marks.reshape(-1))
            start += marks.size
        elif value is not None:
            positions.append(np.asarray(value))
        else:
            return [_marks_at_unknown(uses, operands, a) for a in avals]
    if not pool:
        return None
    _check_distinct(primitive.name, pool, uses.location)
    kernel = primitive.kernel
    kernel = kernel.get(np.dtype(np.int64)) if type(kernel) is dict else kernel
    pool = np.concatenate(pool)
    if kernel is None:
        return [pool.reshape(a.shape) if a.size == pool.size else None for a in avals]
    if params.get("fill_value", 0) is None:  # reads out of bounds, which are no position
        params = {**params, "fill_value": -1}
    out = kernel(*positions, **params)
    return [_marks_at(pool, where) for where in (out if primitive.multiple_results else (out,))]


def _marks_at(pool, where):
    """The marks at some positions; new marks where a position is out of bounds."""
    where = np.asarray(where)
    inside = (where >= 0) & (where < pool.size)
    taken = pool[np.where(inside, where, 0)] if pool.size else np.empty(where.shape, object)
    taken = np.asarray(taken, object).reshape(where.shape)
    return taken if inside.all() else np.where(inside, taken, _new_marks(where.shape))


def _check_distinct(name, pool, location):
    """Raises KeyReuseError for a key in two operands of a concatenation: the result would hold it twice."""
    seen = set()
    for index, marks in enumerate(pool):
        new_marks = set(marks)
        if seen & new_marks:
            raise errors.KeyReuseError(
                f"In {name}, argument {index} is already consumed.\nThe same key is among the operands twice, at"
                f" {source.summarize(location)}\nMake a new key for each use: `random.split(key)`."
            )
        seen |= new_marks


def _marks_at_unknown(uses, operands, aval):
    """Marks of keys at an unknown index: consumed if all candidates are consumed, else new."""
    if not _has_marks(aval):
        return None
    candidates = [m for marks in operands if marks is not None for m in marks.flat]
    marks = _new_marks(aval.shape)
    if candidates and all(uses.of(m) is not None for m in candidates):
        for mark in marks.flat:
            uses.recorded[mark] = uses.of(candidates[0])
    return marks


# ---- programs inside an operation


def analyze_scan(uses, params, operands, inputs, avals):
    jaxpr, length = params["jaxpr"], params["length"]
    n_consts, n_carry = params["num_consts"], params["num_carry"]
    consts, carry = operands[:n_consts], operands[n_consts : n_consts + n_carry]
    stacked = operands[n_consts + n_carry :]
    unknown = [None] * (n_carry + len(stacked))
    steps = min(length, 2 + sum(m is not None for m in carry)) if isinstance(length, int) else 2
    loop = object()
    for step in range(steps):
        uses.levels.append(_Level("scan", operands, "scan", loop, step, arguments=consts))
        slices = [None if m is None else m[step] if m.ndim > 1 else m[step : step + 1].reshape(()) for m in stacked]
        outs = _analyze(uses, jaxpr, jaxpr.consts, [*consts, *carry, *slices], [*inputs[:n_consts], *unknown])
        carry = outs[:n_carry]
        uses.levels.pop()
    if steps and steps != length:  # later rows of stacked keys are consumed as the first is
        _consume_rest(uses, stacked, steps)
    return [*carry, *(_new_marks(a.shape) if _has_marks(a) else None for a in avals[n_carry:])]


def _consume_rest(uses, stacked, steps):
    for marks in stacked:
        if marks is not None:
            used = [uses.of(m) for m in marks[0].flat] if marks.ndim > 1 else [uses.of(marks[0])]
            for row in marks[steps:].reshape(-1, len(used)):
                uses.recorded.update((m, use) for m, use in zip(row, used) if use is not None and uses.of(m) is None)


def analyze_while(uses, params, operands, inputs, avals):
    test, body = params["cond_jaxpr"], params["body_jaxpr"]
    n, m = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    carry = operands[m:]
    unknown = [None] * len(carry)
    loop = object()
    for turn in range(2 + sum(marks is not None for marks in carry)):
        arguments = [*operands[:n], *carry]
        uses.levels.append(_Level("while", operands, "while", loop, turn, "cond", arguments))
        _analyze(uses, test, test.consts, arguments, [*inputs[:n], *unknown])
        arguments = [*operands[n:m], *carry]
        uses.levels[-1] = _Level("while", operands, "while", loop, turn, "body", arguments)
        carry = _analyze(uses, body, body.consts, arguments, [*inputs[n:m], *unknown])
        uses.levels.pop()
    return carry


def analyze_cond(uses, params, operands, inputs, avals):
    before, after, results = dict(uses.recorded), {}, []
    uses.levels.append(_Level("cond", operands, "cond"))
    for branch in params["branches"]:
        uses.recorded = dict(before)
        results.append(_analyze(uses, branch, branch.consts, operands[1:], inputs[1:]))
        after.update(uses.recorded)
    uses.recorded = after
    uses.levels.pop()
    return [_join_branches(uses, marks, aval) for marks, aval in zip(zip(*results), avals)]


def _join_branches(uses, alternatives, aval):
    """The marks of a result of one of several branches."""
    if not _has_marks(aval):
        return None
    first = alternatives[0]
    if all(marks is not None and np.array_equal(marks, first) for marks in alternatives):
        return first
    marks = _new_marks(aval.shape)
    for column in zip(*(m.flat for m in (marks, *(a for a in alternatives if a is not None)))):
        used = next((uses.of(m) for m in column[1:] if uses.of(m) is not None), None)
        if used is not None:
            uses.recorded[column[0]] = used
    return marks


def analyze_remat(uses, params, operands, inputs, avals):
    if params["differentiated"]:  # the recomputed forward pass uses the same keys again
        return [_new_marks(a.shape) if _has_marks(a) else None for a in avals]
    uses.levels.append(_Level("checkpoint", operands, "checkpoint"))
    outs = _analyze(uses, params["jaxpr"], params["jaxpr"].consts, operands, inputs)
    uses.levels.pop()
    return outs


# ---- where programs and operations are checked


def check_jaxpr(jaxpr):
    """Raises KeyReuseError if a closed program consumes a key twice."""
    if _has_keys(jaxpr):
        unknown = [None] * len(jaxpr.invars)
        consts = [None if isinstance(c, Tracer) else c for c in jaxpr.consts]
        _analyze(_Uses(), jaxpr, consts, unknown, unknown)


def check_call(name, jaxpr, args, run):
    """Analyzes a call of a closed program on arrays, and returns `run()`, its result; raises KeyReuseError before."""
    if not _has_keys(jaxpr):
        return _without_checks(run)
    uses = _Uses(source.user_location())
    operands = [_marks_of(x) for x in args]
    uses.levels.append(_Level(JITTED, operands, name))
    marks = _analyze(uses, jaxpr, jaxpr.consts, operands, list(args))
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
    for x, result_marks in zip(results, marks):
        if result_marks is not None and type(x) is ArrayImpl and id(x) not in _marks_of_arrays:
            _record_marks(x, result_marks)


def _evaluate(primitive, operands, params, evaluate):
    """Evaluates one operation with the check."""
    if _suspended.value:
        return evaluate(primitive, operands, params)
    programs = any(map(_has_keys, jaxprs_in_params(params)))
    inputs = [_marks_of(x) for x in operands]
    if not programs and key_lineage.get(primitive) is not MAKES_KEYS and all(marks is None for marks in inputs):
        return evaluate(primitive, operands, params)
    uses = _Uses(source.user_location())
    avals = primitive.abstract(*[typeof(x) for x in operands], **params)[0]
    avals = avals if primitive.multiple_results else [avals]
    eqn = new_jaxpr_eqn([Var(typeof(x)) for x in operands], [Var(a) for a in avals], primitive, params)
    marks = _apply(uses, eqn, inputs, list(operands))
    out = _without_checks(lambda: evaluate(primitive, operands, params))
    _commit(uses, out if primitive.multiple_results else (out,), marks)
    return out


add_checked_evaluation(KEY_REUSE, _evaluate)
