"""The `fused` primitive: a straight-line program of elementwise equations and folds, in one pass over memory.

The pass of `_tape/regions.py` makes its equations after everything else is done, so it has no rules of
transformation.  Its parameter is the jaxpr of what it stands for, places in the source included; `assemble` turns that
into the words of a program over blocks (`_native/blocks_kernels.h`):

    equations -> loops, by the shape that they run over and what they wait for -> groups of loops that go row by row
              -> instructions -> registers -> words

A fold (a reduction of trailing axes) belongs to the loop over its operand; who reads its result waits for that loop.
"""

import functools
import struct
from math import prod

import numpy as np

from onax._control.block_code import Code, codes, counters, folds, views
from onax._core.jaxpr import Literal
from onax._core.programs import KERNEL, Call, programs
from onax._core.structure import SharedByStructure
from onax._native.dispatch import NEVER, Primitive
from onax._native.tape import BLOCKS_MAGIC, TYPES, RegisterKind, check_program, instruction_tape

_FEW_ROWS, _LONG_ROW = 16, 1 << 15  # few long rows: loops that go one after the other have more for threads to share


class Words(bytes):
    """The words of a program, little-endian; short when shown."""

    __slots__ = ()

    def __repr__(self):
        return f"<{len(self) // 8} words>"


@functools.lru_cache(4096)
def dense_strides(shape):
    """The strides, in elements, of a C-contiguous array; 0 along axes of length 1."""
    strides, step = [], 1
    for d in reversed(shape):
        strides.append(step if d != 1 else 0)
        step *= d
    return tuple(reversed(strides))


@functools.lru_cache(4096)
def drop_unit_axes(shape):
    """The positions that a value of this shape has, whatever axes of length 1 are among them."""
    return tuple([d for d in shape if d != 1])


class _Access:
    """How a loop finds an operand: the variable that holds its elements, where it starts, a stride for each axis.

    `base` is None for a literal; `is_direct`: the variable has one element for each position, in order.
    """

    __slots__ = ("base", "is_direct", "literal", "start", "strides")

    def __init__(self, base, dims, start, strides):
        self.literal, self.base = (base, None) if type(base) is Literal else (None, base)
        self.start = start
        self.strides = strides
        self.is_direct = start == 0 and strides == dense_strides(dims) and drop_unit_axes(base.aval.shape) == dims


class _Loop:
    """Equations that run over the same positions."""

    __slots__ = ("code", "dims", "eqns", "homes", "phase", "reads", "registers")

    def __init__(self, phase, dims):
        self.phase = phase
        self.dims = dims
        self.eqns = []
        self.code = Code()
        self.registers = {}  # variable computed here -> register
        self.reads = {}  # (variable, start, strides, whether a table) -> (register, access)
        self.homes = {}  # register -> buffer it writes

    def tracks(self):
        """What the rows of a group must be the first axes of."""
        return [self.dims, *[drop_unit_axes(eqn.outvars[0].aval.shape) for eqn in self.eqns if eqn.primitive in folds]]


class Assembler:
    """From the jaxpr of a region to words."""

    def __init__(self, jaxpr):
        self.jaxpr = jaxpr
        # variable -> (base, start, strides)
        self.sources = {v: (v, 0, dense_strides(v.aval.shape)) for v in jaxpr.invars}
        self.counting = set()  # bases that are numbers of positions
        self.phases = {}  # computed variable -> phase
        self.dims = {}  # computed variable -> the positions of its loop
        self.folded = set()
        self.accesses = {}  # id of an equation -> accesses of its operands
        self.computing = []
        for eqn in jaxpr.eqns:
            self._enter(eqn)

    # ---- loops

    def _enter(self, eqn):
        (out,) = eqn.outvars
        view, counter = views.get(eqn.primitive), counters.get(eqn.primitive)
        if view is not None:
            base, start, strides = self._source(eqn.invars[0])
            seen = view(start, strides, eqn)
            if seen is not None:  # else it is a fold
                self.sources[out] = base, *seen
                return
        if counter is not None:
            self.counting.add(out)
            self.sources[out] = out, 0, counter(eqn)
            return
        self.sources[out] = out, 0, dense_strides(out.aval.shape)
        self.computing.append(eqn)
        if eqn.primitive in folds:
            self.folded.add(out)
        shape = (eqn.invars[0] if out in self.folded else out).aval.shape
        self.dims[out] = drop_unit_axes(shape)
        accesses = self.accesses[id(eqn)] = [self._access(x, shape) for x in eqn.invars]
        self.phases[out] = max([0, *[self._earliest(a) for a in accesses if a.base in self.phases]])

    def _source(self, x):
        return (x, 0, dense_strides(x.aval.shape)) if type(x) is Literal else self.sources[x]

    def _access(self, x, shape):
        """The operand x of an equation over `shape`: its axes are those of the shape, or of length 1, or none."""
        base, start, strides = self._source(x)
        given = x.aval.shape
        if not given:
            return _Access(base, drop_unit_axes(shape), start, (0,) * len(drop_unit_axes(shape)))
        pairs = zip(given, strides, shape)
        return _Access(base, drop_unit_axes(shape), start, tuple([s if a != 1 else 0 for a, s, d in pairs if d != 1]))

    def _waits(self, access):
        """Whether the loop that computes an operand must have ended."""
        return not access.is_direct or access.base in self.folded

    def _earliest(self, access):
        return self.phases[access.base] + self._waits(access)

    def _delay(self):
        """Moves equations to the latest phase that serves, so that fewer values wait in memory between loops."""
        latest = {}
        for eqn in reversed(self.computing):
            out = eqn.outvars[0]
            phase = self.phases[out] = latest.get(out, self.phases[out])
            for access in self.accesses[id(eqn)]:
                if access.base in self.phases:
                    wanted = phase - self._waits(access)
                    latest[access.base] = min(latest.get(access.base, wanted), wanted)

    def _loops(self):
        self._delay()
        loops = {}
        for eqn in self.computing:
            out = eqn.outvars[0]
            key = self.phases[out], self.dims[out]
            loop = loops.get(key)
            if loop is None:
                loop = loops[key] = _Loop(*key)
            loop.eqns.append(eqn)
        return sorted(loops.values(), key=lambda loop: loop.phase)

    # ---- groups

    def _groups(self, loops):
        """(axes that are rows, loops) of each group: neighbours that go through their rows together."""
        groups = []
        for loop in loops:
            if groups:
                _, members = groups[-1]
                axes = self._rows([*members, loop])
                if axes:
                    groups[-1] = axes, [*members, loop]
                    continue
            groups.append((self._rows([loop]), [loop]))
        return groups

    def _rows(self, loops):
        """How many leading axes of all these loops are rows that do not read each other; 0: none."""
        tracks = [t for loop in loops for t in loop.tracks()]
        if len(tracks) == 1:
            return 0
        axes = 0
        while all(len(t) > axes and t[axes] == tracks[0][axes] for t in tracks):
            axes += 1
        rows = prod(tracks[0][:axes])
        longest = max([prod(t[axes:]) for t in tracks])
        if rows < 2 or (len(loops) > 1 and rows < _FEW_ROWS and longest > _LONG_ROW):
            return 0
        made = {eqn.outvars[0] for loop in loops for eqn in loop.eqns}
        for loop in loops:
            for eqn in loop.eqns:
                for access in self.accesses[id(eqn)]:
                    if access.base in made and not access.is_direct and not _stays(access, loop.dims, axes):
                        return 0
        return axes

    # ---- code

    def words(self):
        """The Words."""
        loops = self._loops()
        groups = self._groups(loops)
        buffers = list(self.jaxpr.invars)
        self.buffers = {v: i for i, v in enumerate(buffers)}
        for v in self.jaxpr.outvars:
            self.buffers[v] = len(buffers)
            buffers.append(v)
        n_temporaries = self._add_temporaries(buffers)
        counts = len(self.jaxpr.invars), len(self.jaxpr.outvars), n_temporaries, len(loops), len(groups)
        words = [BLOCKS_MAGIC, *counts]
        for v in buffers:
            words += (TYPES[v.aval.dtype], prod(v.aval.shape))
        for axes, members in groups:
            words += (prod(members[0].dims[:axes]), len(members))
            for loop in members:
                self._code(loop)
                loop.code.drop_unread(loop.homes)
                words += self._loop_words(loop, axes)
        return Words(struct.pack(f"<{len(words)}q", *words))

    def _add_temporaries(self, buffers):
        """Buffers for what one loop computes and another reads."""
        before = len(buffers)
        for eqn in self.computing:
            out = eqn.outvars[0]
            here = self.phases[out], self.dims[out]
            for access in self.accesses[id(eqn)]:
                base = access.base
                if base not in self.phases or base in self.buffers:
                    continue
                if self._waits(access) or (self.phases[base], self.dims[base]) != here:
                    self.buffers[base] = len(buffers)
                    buffers.append(base)
        return len(buffers) - before

    def _code(self, loop):
        for eqn in _by_demand(loop.eqns, self.accesses):
            code = loop.code
            (out,) = eqn.outvars
            operands = [self._read(loop, access) for access in self.accesses[id(eqn)]]
            result = codes[eqn.primitive](code, out.aval.dtype, *operands, **eqn.params)
            buffer = self.buffers.get(out)
            if buffer is not None:
                result = code.whole(result)
                written = code.steps and code.steps[-1][1] == result and result not in loop.homes
                if not written:  # an operand, or a constant
                    result = code.emit("move", result, out=out.aval.dtype)
                loop.homes[result] = buffer
            loop.registers[out] = result

    def _read(self, loop, access):
        base = access.base
        if base is None:
            return loop.code.constant(access.literal.val, access.literal.aval.dtype)
        if not self._waits(access) and base in loop.registers:
            return loop.registers[base]
        key = base, access.start, access.strides
        read = loop.reads.get(key)
        if read is None:
            read = loop.reads[key] = loop.code.register(base.aval.dtype), access
        return read[0]

    def _loop_words(self, loop, axes):
        """A loop as words: its dimensions merged (not rows with what is in them), its registers, its instructions."""
        dims, strides = _merged(loop.dims, [access.strides for _, access in loop.reads.values()], axes)
        records, places = [], {}
        read = {r for _, _, operands in loop.code.steps for r in operands}
        for (bits, dtype), register in loop.code.constants.items():
            if register not in read:
                continue
            places[register] = len(records)
            words = [int.from_bytes(bits[i : i + 8], "little", signed=len(bits) >= 8) for i in range(0, len(bits), 8)]
            records.append((TYPES[dtype], RegisterKind.CONSTANT, *words))
        for (register, access), merged in zip(loop.reads.values(), strides):
            places[register] = len(records)
            number, base = TYPES[loop.code.dtypes[register]], access.base
            if base in self.counting:
                records.append((number, RegisterKind.IOTA, 0, *merged, access.start))
            elif access.is_direct:
                records.append((number, RegisterKind.DIRECT, self.buffers[base]))
            else:
                records.append((number, RegisterKind.LOAD, self.buffers[base], *merged, access.start))
        for register, buffer in loop.homes.items():
            places[register] = len(records)
            kind = RegisterKind.ROW if register in loop.code.folded else RegisterKind.DIRECT
            records.append((TYPES[loop.code.dtypes[register]], kind, buffer))
        _place_blocks(loop.code, places, records)
        words = [len(dims), len(records), len(loop.code.steps), *dims]
        for record in records:
            words += record
        for operation, target, operands in loop.code.steps:
            words += (operation.number, places[target], *[places[r] for r in operands], *(0,) * (3 - len(operands)))
        return words


# ---- registers


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


def _merged(dims, accesses, rows):
    """Neighbouring axes made one wherever every access runs through both in one stride; the first `rows` stay apart."""
    dims, accesses = list(dims), [list(a) for a in accesses]
    for i in range(len(dims) - 2, -1, -1):
        if i + 1 != rows and all(a[i] == a[i + 1] * dims[i + 1] for a in accesses):
            dims[i] *= dims.pop(i + 1)
            for a in accesses:
                a[i] = a.pop(i + 1)
    return dims, accesses


def _stays(access, dims, axes):
    """Whether a loop reads, of something with the same first axes, the row that it is in alone."""
    width = prod(drop_unit_axes(access.base.aval.shape)[axes:])
    reach = access.start + sum([(d - 1) * s for d, s in zip(dims[axes:], access.strides[axes:])])
    rows = tuple([s * width for s in dense_strides(dims[:axes])])
    return reach < width and access.strides[:axes] == rows


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
            records.append((TYPES[dtype], RegisterKind.BLOCK, 0))
        if last[target] == i:
            free.setdefault(dtype, []).append(places[target])


# ---- the primitive


_programs = SharedByStructure(512)  # the layers of a network have equal regions


def assemble(jaxpr):
    """The Words of a region's jaxpr, kept with it.  Unfit, or ValueError if it needs too many registers."""
    assembled = jaxpr.cache.get("assembled")
    if assembled is None:
        assembled = jaxpr.cache["assembled"] = _programs.get(jaxpr, _assemble)
    return assembled


def _assemble(jaxpr):
    words = Assembler(jaxpr).words()
    check_program(np.frombuffer(words, np.int64))
    return words


def _kernel(*operands, jaxpr):
    tape = jaxpr.cache.get("fused")
    if tape is None:
        ports = [[(v.aval.shape, v.aval.dtype) for v in some] for some in (jaxpr.invars, jaxpr.outvars)]
        words = np.frombuffer(assemble(jaxpr), np.int64)
        tape = jaxpr.cache["fused"] = instruction_tape("blocks", *ports, [len(jaxpr.outvars), *words])
    return tuple(tape(list(operands)))


def _abstract_eval(*avals, jaxpr):
    return list(jaxpr.out_avals)


fused_p = Primitive("fused", multiple_results=True, kernel=_kernel, abstract_eval=_abstract_eval, weak=NEVER)
programs.set(fused_p, Call("jaxpr", KERNEL))
