"""The `fused` primitive: a straight-line program of elementwise equations, carried out in one pass over memory.

The pass of `_compile/regions.py` makes its equations after everything else is done, so it has no rules of
transformation.  Its parameter is the jaxpr of what it stands for, places in the source included; `assembled` turns that
into the words of a program over blocks (`_native/blocks_kernels.h`):

    equations -> loops, by the shape that they run over and what they wait for -> instructions -> registers -> words

`looped` is a scan or while_loop of which each step (and the condition) is such a program.
"""

import struct
from math import prod

import numpy as np

from onax._control.block_code import CODES, VIEWS, Code
from onax._core.jaxpr import Literal
from onax._native import blocks
from onax._native.dispatch import NEVER, Primitive

_TYPES = blocks.TYPES


class Words(bytes):
    """The words of a program, little-endian; short when shown."""

    __slots__ = ()

    def __repr__(self):
        return f"<{len(self) // 8} words>"


def dense(shape):
    """The strides, in elements, of a C-contiguous array; 0 along axes of length 1."""
    strides, step = [], 1
    for d in reversed(shape):
        strides.append(step if d != 1 else 0)
        step *= d
    return tuple(reversed(strides))


def track(shape):
    """The positions that a value of this shape has, whatever axes of length 1 are among them."""
    return tuple([d for d in shape if d != 1])


class _Access:
    """How a loop finds an operand: the variable that holds its elements, and a stride for each of the loop's axes.

    `base` is None for a literal; `is_direct`: the variable has one element for each position, in order.
    """

    __slots__ = ("base", "is_direct", "literal", "strides")

    def __init__(self, base, dims, strides):
        self.literal, self.base = (base, None) if type(base) is Literal else (None, base)
        self.strides = strides
        self.is_direct = strides == dense(dims) and track(base.aval.shape) == dims


class _Loop:
    """Equations that run over the same positions."""

    __slots__ = ("code", "dims", "eqns", "homes", "phase", "reads", "registers")

    def __init__(self, phase, dims):
        self.phase = phase
        self.dims = dims
        self.eqns = []
        self.code = Code()
        self.registers = {}  # variable computed here -> register
        self.reads = {}  # (variable, strides) -> (register, access)
        self.homes = {}  # register -> buffer it writes


class Assembler:
    """From the jaxpr of a region to words."""

    def __init__(self, jaxpr):
        self.jaxpr = jaxpr
        self.sources = {v: (v, dense(v.aval.shape)) for v in jaxpr.invars}  # variable -> (base, strides)
        self.phases = {}  # computed variable -> phase
        self.accesses = {}  # id of an equation -> accesses of its operands
        self.computing = []
        for eqn in jaxpr.eqns:
            self._enter(eqn)

    # ---- loops

    def _enter(self, eqn):
        (out,) = eqn.outvars
        view = VIEWS.get(eqn.primitive)
        if view is not None:
            base, strides = self._source(eqn.invars[0])
            self.sources[out] = base, view(strides, eqn)
            return
        self.sources[out] = out, dense(out.aval.shape)
        self.computing.append(eqn)
        accesses = self.accesses[id(eqn)] = [self._access(x, out.aval.shape) for x in eqn.invars]
        phase = 0
        for access in accesses:
            known = self.phases.get(access.base)
            if known is not None:
                phase = max(phase, known if access.is_direct else known + 1)
        self.phases[out] = phase

    def _source(self, x):
        return (x, dense(x.aval.shape)) if type(x) is Literal else self.sources[x]

    def _access(self, x, shape):
        """The operand x of an equation over `shape`: its axes are those of the shape, or of length 1, or none."""
        base, strides = self._source(x)
        given = x.aval.shape
        if not given:
            return _Access(base, track(shape), (0,) * len(track(shape)))
        pairs = zip(given, strides, shape)
        return _Access(base, track(shape), tuple([s if a != 1 else 0 for a, s, d in pairs if d != 1]))

    def _delay(self):
        """Moves equations to the latest phase that serves, so that fewer values wait in memory between loops."""
        latest = {}
        for eqn in reversed(self.computing):
            out = eqn.outvars[0]
            phase = self.phases[out] = latest.get(out, self.phases[out])
            for access in self.accesses[id(eqn)]:
                if access.base in self.phases:
                    wanted = phase if access.is_direct else phase - 1
                    latest[access.base] = min(latest.get(access.base, wanted), wanted)

    def _loops(self):
        self._delay()
        loops = {}
        for eqn in self.computing:
            out = eqn.outvars[0]
            key = self.phases[out], track(out.aval.shape)
            loop = loops.get(key)
            if loop is None:
                loop = loops[key] = _Loop(*key)
            loop.eqns.append(eqn)
        return sorted(loops.values(), key=lambda loop: loop.phase)

    # ---- code

    def words(self):
        """The Words."""
        loops = self._loops()
        buffers = list(self.jaxpr.invars)
        self.buffers = {v: i for i, v in enumerate(buffers)}
        for v in self.jaxpr.outvars:
            self.buffers[v] = len(buffers)
            buffers.append(v)
        n_temporaries = self._add_temporaries(buffers)
        words = [blocks.MAGIC, len(self.jaxpr.invars), len(self.jaxpr.outvars), n_temporaries, len(loops)]
        for v in buffers:
            words += (_TYPES[v.aval.dtype], prod(v.aval.shape))
        for loop in loops:
            self._code(loop)
            words += _loop_words(loop, self.buffers)
        return Words(struct.pack(f"<{len(words)}q", *words))

    def _add_temporaries(self, buffers):
        """Buffers for what one loop computes and another reads."""
        before = len(buffers)
        for eqn in self.computing:
            out = eqn.outvars[0]
            here = self.phases[out], track(out.aval.shape)
            for access in self.accesses[id(eqn)]:
                base = access.base
                if base not in self.phases or base in self.buffers:
                    continue
                if not access.is_direct or (self.phases[base], track(base.aval.shape)) != here:
                    self.buffers[base] = len(buffers)
                    buffers.append(base)
        return len(buffers) - before

    def _code(self, loop):
        for eqn in _by_demand(loop.eqns, self.accesses):
            code = loop.code
            (out,) = eqn.outvars
            operands = [self._read(loop, access) for access in self.accesses[id(eqn)]]
            result = CODES[eqn.primitive](code, out.aval.dtype, *operands, **eqn.params)
            buffer = self.buffers.get(out)
            if buffer is not None:
                written = code.steps and code.steps[-1][1] == result and result not in loop.homes
                if not written:  # an operand, or a constant
                    result = code.emit("move", result, out=out.aval.dtype)
                loop.homes[result] = buffer
            loop.registers[out] = result

    def _read(self, loop, access):
        base = access.base
        if base is None:
            return loop.code.constant(access.literal.val, access.literal.aval.dtype)
        if access.is_direct and base in loop.registers:
            return loop.registers[base]
        key = base, access.strides
        found = loop.reads.get(key)
        if found is None:
            found = loop.reads[key] = loop.code.register(base.aval.dtype), access
        return found[0]


def _by_demand(eqns, accesses):
    """The equations with each right after what it needs, so that few values are alive at a time."""
    if len(eqns) < 3:
        return eqns
    makers = {eqn.outvars[0]: eqn for eqn in eqns}
    needed = {a.base for eqn in eqns for a in accesses[id(eqn)]}
    ordered, done = [], set()
    stack = [eqn for eqn in reversed(eqns) if eqn.outvars[0] not in needed]
    while stack:
        eqn = stack[-1]
        if id(eqn) in done:
            stack.pop()
            continue
        missing = [makers[a.base] for a in accesses[id(eqn)] if a.base in makers and id(makers[a.base]) not in done]
        if missing:
            stack.extend(reversed(missing))
        else:
            done.add(id(eqn))
            ordered.append(eqn)
            stack.pop()
    return ordered


# ---- registers


def _loop_words(loop, buffers):
    """A loop as words: its dimensions merged, its registers placed, its instructions."""
    dims, strides = _merged(loop.dims, [access.strides for _, access in loop.reads.values()])
    records, places = [], {}
    for (bits, dtype), register in loop.code.constants.items():
        places[register] = len(records)
        records.append((_TYPES[dtype], blocks.CONSTANT, int.from_bytes(bits, "little", signed=len(bits) == 8)))
    for (register, access), merged in zip(loop.reads.values(), strides):
        places[register] = len(records)
        number, buffer = _TYPES[loop.code.dtypes[register]], buffers[access.base]
        is_direct = access.is_direct
        records.append((number, blocks.DIRECT, buffer) if is_direct else (number, blocks.LOAD, buffer, *merged))
    for register, buffer in loop.homes.items():
        places[register] = len(records)
        records.append((_TYPES[loop.code.dtypes[register]], blocks.DIRECT, buffer))
    _place_blocks(loop.code, places, records)
    words = [len(dims), len(records), len(loop.code.steps), *dims]
    for record in records:
        words += record
    for operation, target, operands in loop.code.steps:
        words += (operation.number, places[target], *[places[r] for r in operands], *(0,) * (3 - len(operands)))
    return words


def _merged(dims, accesses):
    """Neighbouring axes made one wherever every access runs through both in one stride."""
    dims, accesses = list(dims), [list(a) for a in accesses]
    for i in range(len(dims) - 2, -1, -1):
        if all(a[i] == a[i + 1] * dims[i + 1] for a in accesses):
            dims[i] *= dims.pop(i + 1)
            for a in accesses:
                a[i] = a.pop(i + 1)
    return dims, accesses


def _place_blocks(code, places, records):
    """Scratch memory for the other registers: taken over from those of the same type that are read no more."""
    last = {}
    for i, (_, target, operands) in enumerate(code.steps):
        last[target] = i
        for r in operands:
            last[r] = i
    free = {}  # dtype -> places
    own = set()
    for i, (_, target, operands) in enumerate(code.steps):
        for r in set(operands):
            if last[r] == i and r in own:
                free.setdefault(code.dtypes[r], []).append(places[r])
        if target in places:
            continue
        dtype = code.dtypes[target]
        own.add(target)
        if free.get(dtype):
            places[target] = free[dtype].pop()
        else:
            places[target] = len(records)
            records.append((_TYPES[dtype], blocks.BLOCK, 0))
        if last[target] == i:
            free.setdefault(dtype, []).append(places[target])


# ---- the primitive


_programs = {}  # structure -> (Words, Program): the layers of a network have equal regions
_PROGRAMS_AT_MOST = 2048


def assembled(jaxpr):
    """(Words, Program) of a region's jaxpr, kept with it.  Unfit, or ValueError if it needs too many registers."""
    found = jaxpr.cache.get("assembled")
    if found is None:
        key = _structure(jaxpr)
        found = _programs.get(key)
        if found is None:
            words = Assembler(jaxpr).words()
            found = words, blocks.Program(np.frombuffer(words, np.int64), [v.aval.shape for v in jaxpr.outvars])
            if len(_programs) >= _PROGRAMS_AT_MOST:
                del _programs[next(iter(_programs))]
            _programs[key] = found
        jaxpr.cache["assembled"] = found
    return found


def _structure(jaxpr):
    """What two regions with the same program agree on."""
    numbers = {v: i for i, v in enumerate(jaxpr.invars)}
    key = [(v.aval.shape, v.aval.dtype) for v in jaxpr.invars]
    for eqn in jaxpr.eqns:
        (out,) = eqn.outvars
        numbers[out] = len(numbers)
        operands = [(str(x.val), x.aval.dtype) if type(x) is Literal else numbers[x] for x in eqn.invars]
        key.append((eqn.primitive, out.aval.shape, out.aval.dtype, *operands, *eqn.params.items()))
    key.append(tuple([numbers[v] for v in jaxpr.outvars]))
    return tuple(key)


def _kernel(*operands, jaxpr):
    return tuple(assembled(jaxpr)[1](list(operands)))


def _abstract_eval(*avals, jaxpr):
    return list(jaxpr.out_avals)


fused_p = Primitive(
    "fused", multiple_results=True, kernel=_kernel, abstract_eval=_abstract_eval, weak=NEVER, facts=frozenset()
)


def looped_program(jaxpr, condition, n_constants, n_carries, trips, reverse):
    """The Program of a loop; kept with its jaxpr.  ValueError if it is none."""
    key = "looped", condition, n_constants, n_carries, trips, reverse
    found = jaxpr.cache.get(key)
    if found is None:
        words = [None if j is None else np.frombuffer(assembled(j)[0], np.int64) for j in (jaxpr, condition)]
        shapes = _looped_shapes(jaxpr, n_carries, trips)
        found = blocks.Program(words[0], shapes, (words[1], n_constants, n_carries, trips, reverse))
        jaxpr.cache[key] = found
    return found


def _looped_shapes(jaxpr, n_carries, trips):
    shapes = [v.aval.shape for v in jaxpr.outvars]
    return [*shapes[:n_carries], *[(trips, *s) for s in shapes[n_carries:]]]


def _looped_kernel(*operands, **params):
    return tuple(looped_program(**params)(list(operands)))


def _looped_abstract(*avals, jaxpr, n_carries, trips, **_):
    shapes = _looped_shapes(jaxpr, n_carries, trips)
    return [a.update(shape=s) for a, s in zip(jaxpr.out_avals, shapes)]


looped_p = Primitive("looped", multiple_results=True, kernel=_looped_kernel, abstract_eval=_looped_abstract, weak=NEVER)
