"""From equations to the instructions of a tape.

A `Builder` walks the equations of a program, and of the programs in its branches and loops, and applies the rules of
the slot `tape`.  A rule asks for buffers and emits instructions that write them.  Each buffer is written by one
instruction, or by several that fill different parts of it, and then read; the last instruction that reads it may
overwrite it (`reuse`).  Where a value has to lie in a certain place (a result of the program, the next carry),
`settle` has the buffer become that place, or copies it there.
"""

from collections import Counter
from math import prod

import numpy as np

from onax._control.block_code import Unfit
from onax._control.fused import assemble
from onax._core.effects import no_effects
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal, last_uses
from onax._core.programs import called_program
from onax._ground.dtypes import ExtendedDType
from onax._native.array import Array
from onax._native.context import numpy_warnings_off
from onax._native.tape import ARENA, CONSTANT, INPUT, OPERATIONS, OUTPUT, PART, VIEW
from onax._tape.copy_blocks import emit_with_copy
from onax._tape.python_calls import python_kernel
from onax._tape.regions import fuse, joins
from onax._tape.rules import Unsupported, tape

CARRY = 1  # the `argument` of a view that is a carry
LARGE_CONSTANT = 4096  # bytes from which a constant is an input of the tape instead of a part of its words
FOLDED_BYTES = 1024  # results of known operands up to this size are computed while the tape is built


def storage(dtype):
    """The NumPy dtype of the elements that hold a value of a dtype."""
    return dtype.storage if isinstance(dtype, ExtendedDType) else np.dtype(dtype)


class Buffer:
    """Memory for one value: its elements in row-major order.

    Attributes:
      shape, dtype: of the value; keys have the void dtype that holds their words.
      bytes: its size.
      value: the ndarray that it holds if that is known while the tape is built, else None.
      kind, argument: as in the words of a tape.
      part: the Part whose instructions write it; None for inputs, outputs and constants.
      start, end: the instructions between which it is in use, as counted by the Builder.
      place: the buffer that it has become, or None; `root` follows these.
      holders: how many variables are bound to it.
      is_overwritten: whether an instruction has written over what it held first.
      origin: of the result of a strided copy, what was copied (`copies.py`).
      writer: the instruction that wrote it last, and when that was emitted; None before.
      product: of a product, where its strides are (`dot.py`).
      whole: of a PART, the buffer that it is part of, from the byte `argument` on.
      is_divided: whether others are parts of it.
    """

    __slots__ = (
        "argument", "bytes", "dtype", "end", "holders", "is_divided", "is_overwritten", "kind", "number", "origin",
        "part", "place", "product", "shape", "start", "value", "whole", "writer",
    )  # fmt: skip

    def __init__(self, kind, shape, dtype, size, part=None, argument=0, value=None):
        self.kind = kind
        self.shape = shape
        self.dtype = dtype
        self.bytes = size
        self.part = part
        self.argument = argument
        self.value = value
        self.start = self.end = self.number = -1
        self.place = None
        self.holders = 0
        self.is_overwritten = False
        self.origin = None
        self.writer = None
        self.product = None
        self.whole = None
        self.is_divided = False

    @property
    def root(self):
        """The buffer whose memory this one has."""
        root = self
        while root.place is not None:
            root = root.place
        return root

    @property
    def size(self):
        """How many elements it has."""
        return self.bytes // self.dtype.itemsize if self.dtype.itemsize else 0

    def __repr__(self):
        return f"<buffer {self.dtype}{list(self.shape)}>"


class Part:
    """A sequence of instructions: the program, a branch, or the body or condition of a loop."""

    __slots__ = ("instructions", "number", "outer", "parent")

    def __init__(self, number, parent):
        self.number = number
        self.parent = parent
        self.instructions = []  # (number of the operation, Buffers, attributes)
        self.outer = {}  # Buffers of other parts that instructions here use, in their order


class Builder:
    """Builds one tape; `layout.py` makes its words."""

    def __init__(self):
        self.part = Part(0, None)
        self.parts = [self.part]
        self.buffers = []
        self.kernels = []  # the PythonKernels that instructions call
        self.hoisted = []  # large constants, which are inputs after the arguments
        self.clock = 0
        self._constants = {}
        self._inputs = []
        self._outputs = []
        self._is_read = ()  # for each result of the current equation, whether anything reads it
        self._dying = ()  # buffers that no variable needs after the current equation

    def release(self):
        """Forgets what was emitted, whose pieces refer to each other, so that their memory is free at once."""
        for part in self.parts:
            part.instructions.clear()
            part.outer.clear()
        for b in self.buffers:
            b.part = b.place = b.origin = b.writer = b.product = b.whole = None

    # ---- buffers

    def _new(self, kind, shape, dtype, part=None, argument=0, value=None):
        size = dtype.itemsize
        for d in shape:
            size *= d
        buffer = Buffer(kind, shape, dtype, size, part, argument, value)
        buffer.start = buffer.end = self.clock + 1
        self.buffers.append(buffer)
        return buffer

    def buffer(self, aval):
        """A new Buffer for a value of a type."""
        return self._new(ARENA, tuple(aval.shape), storage(aval.dtype), self.part)

    def array(self, shape, dtype):
        """A new Buffer of a shape and a NumPy dtype."""
        return self._new(ARENA, tuple(shape), np.dtype(dtype), self.part)

    def view(self, aval):
        """A Buffer that a loop points to anew for each step."""
        return self._new(VIEW, tuple(aval.shape), storage(aval.dtype), self.part)

    def constant(self, value):
        """A Buffer that holds an ndarray."""
        array = np.asarray(value)
        if array.ndim and not array.flags.c_contiguous:
            array = np.ascontiguousarray(array)
        if array.nbytes > LARGE_CONSTANT:
            self.hoisted.append(array)
            buffer = self._new(INPUT, array.shape, array.dtype)
            self._inputs.append(buffer)
            return buffer
        key = array.tobytes(), array.dtype, array.shape
        buffer = self._constants.get(key)
        if buffer is None:
            buffer = self._constants[key] = self._new(CONSTANT, array.shape, array.dtype, value=array)
        return buffer

    def bind(self, buffer, aval):
        """The Buffer as a value of another type with the same bytes: reshaped, or other bits of the same width."""
        shape, dtype = tuple(aval.shape), storage(aval.dtype)
        if buffer.shape == shape and buffer.dtype == dtype:
            return buffer
        if buffer.value is not None:
            return self.constant(
                buffer.value.reshape(shape) if buffer.dtype == dtype else buffer.value.view(dtype).reshape(shape)
            )
        bound = self._new(ARENA, shape, dtype, self.part)
        bound.place = buffer.root
        return bound

    def reuse(self, x, out):
        """A Buffer of the type `out` that holds the bytes of x and may be overwritten.

        It is x itself if nothing reads x after the current equation, otherwise a copy.
        """
        root = x.root
        is_ours = root.part is self.part and root.kind in (ARENA, VIEW)
        if is_ours and root in self._dying and (root.kind == ARENA or self.is_carry(root)):
            root.is_overwritten = True
            return self.bind(x, out)
        copy = self.buffer(out)
        self.emit("move", [copy], [x])
        return copy

    def is_last_use(self, x):
        """Whether nothing reads x after the current equation."""
        return x.root in self._dying

    def is_read(self, result):
        """Whether anything reads a result, by its number, of the current equation."""
        return self._is_read[result]

    def is_carry(self, root):
        """Whether a view is a carry that its step may overwrite."""
        return root.argument == CARRY

    # ---- instructions

    def emit(self, name, writes, reads, attributes=()):
        """Appends an instruction: an operation by name, the Buffers it writes and reads, and its numbers."""
        operands = [*writes, *reads]
        self.clock += 1
        for b in operands:
            self._touch(b)
        instruction = OPERATIONS[name], operands, attributes
        self.part.instructions.append(instruction)
        for b in writes:
            b.root.writer = instruction, self.clock

    def withdraw(self, instructions):
        """Takes back instructions of the current Part, whose results nothing reads, in one pass over what follows."""
        some, left = self.part.instructions, {id(q) for q in instructions}
        start, missing = len(some), len(left)
        while missing:
            start -= 1
            missing -= id(some[start]) in left
        some[start:] = [q for q in some[start:] if id(q) not in left]

    def _touch(self, buffer):
        root = buffer.root
        root.end = self.clock
        if root.part is not self.part and root.part is not None:
            self.part.outer[root] = None

    def open_part(self):
        """Instructions that follow belong to a new Part, which is returned."""
        self.part = Part(len(self.parts), self.part)
        self.parts.append(self.part)
        return self.part

    def close_part(self):
        """Ends the current Part: instructions that follow belong to the one around it."""
        part, self.part = self.part, self.part.parent
        self.keep_what_is_read(part)

    def keep_what_is_read(self, part):
        """What a closed Part reads of those around it is in use until now: a loop's condition runs after its body."""
        self.clock += 1
        for root in part.outer:
            self._touch(root)

    def settle(self, buffer, place):
        """Has a value lie in a place: its buffer becomes that place, or is copied there."""
        root, is_still = buffer.root, place.root.kind != VIEW
        if root.kind == ARENA and root.part is self.part and (is_still or not root.is_divided):
            place.root.start = min(place.root.start, root.start)
            place.root.is_divided |= root.is_divided
            root.place = place.root
            place.root.writer = root.writer
            self._touch(place)
        elif root is not place.root:
            self.emit("move", [place], [buffer])

    def settle_within(self, x, whole, begin):
        """Has a value that nothing else reads be computed from the byte `begin` of another on; whether it can be."""
        root = x.root
        is_ours = root.kind == ARENA and root.part is self.part and root.bytes == x.bytes
        is_written = root.writer is not None or root.is_divided
        if not is_ours or not is_written or not self.is_last_use(x):
            return False
        part = self._new(PART, root.shape, root.dtype, self.part, begin)
        part.whole = whole
        whole.is_divided = True
        whole.start = min(whole.start, root.start)
        root.place = part
        return True

    # ---- programs

    def program(self, jaxpr, operands):
        """Emits a ClosedJaxpr on Buffers; returns the Buffers of its results."""
        jaxpr = fuse(jaxpr)
        env, last, outer = {}, last_uses(jaxpr), self._dying
        constants = [self.constant(array_of(c)) for c in jaxpr.consts]
        for v, b in zip((*jaxpr.constvars, *jaxpr.invars), (*constants, *operands)):
            _hold(env, v, b)
        for i, eqn in enumerate(jaxpr.eqns):
            reads = [self.constant(literal_array(x)) if type(x) is Literal else env[x] for x in eqn.invars]
            self._dying = _release(env, eqn.invars, last, i)
            self._is_read = [v in last for v in eqn.outvars]
            for v, b in zip(eqn.outvars, self.apply(eqn, reads)):
                _hold(env, v, b)
        self._dying = outer
        results = [self.constant(literal_array(x)) if type(x) is Literal else env[x] for x in jaxpr.outvars]
        for b in env.values():
            b.root.holders -= 1
        return results

    def apply(self, eqn, reads):
        """Emits an equation; returns the Buffers of its results."""
        avals = [v.aval for v in eqn.outvars]
        is_pure = eqn.primitive.kernel is not None and not eqn.effects
        if is_pure and avals and not any(prod(a.shape) for a in avals):
            return [self.buffer(a) for a in avals]  # results without elements
        known = self._fold(eqn, reads, avals)
        if known is not None:
            return known
        rule = tape.get(eqn.primitive)
        reason = f"there is no instruction for {eqn.primitive.name}"
        try:
            if rule is not None:
                many = eqn.primitive.multiple_results
                results = rule(self, avals if many else avals[0], *reads, **eqn.params)
                return list(results) if many else [results]
            inner = called_program(eqn)
            if inner is not None:
                return self.program(inner, reads)
            if joins(eqn):
                return self._elementwise(eqn, reads)
        except (Unsupported, Unfit) as refusal:
            reason = str(refusal) or reason
            if rule is not None and joins(eqn):
                return self._elementwise(eqn, reads)
        return self.call_python(eqn, reads, reason)

    def _fold(self, eqn, reads, avals):
        """The results of an equation whose operands are all known, if they are small; else None."""
        kernel = eqn.primitive.kernel
        if eqn.effects or kernel is None or any(b.value is None for b in reads):
            return None
        if sum([prod(a.shape) * storage(a.dtype).itemsize for a in avals]) > FOLDED_BYTES:
            return None
        if type(kernel) is dict:
            kernel = kernel.get(reads[0].dtype)
            if kernel is None:
                return None
        with numpy_warnings_off():
            results = kernel(*[b.value for b in reads], **eqn.params)
        results = results if eqn.primitive.multiple_results else (results,)
        return [self.constant(np.asarray(x)) for x in results]

    def _elementwise(self, eqn, reads):
        """A single equation as a program over blocks."""
        operands = {x: b for x, b in zip(eqn.invars, reads) if type(x) is not Literal}
        if not operands:
            return self.call_python(eqn, reads, "it has no operands")
        inner = Jaxpr([], list(operands), eqn.outvars, [eqn], no_effects, None)
        return self.blocks(ClosedJaxpr(inner), [v.aval for v in eqn.outvars], list(operands.values()))

    def blocks(self, jaxpr, avals, reads):
        """Emits a program over blocks; returns the Buffers of its results."""
        words = np.frombuffer(assemble(jaxpr), np.int64)
        writes = [self.buffer(a) for a in avals]
        if not emit_with_copy(self, writes, reads, words):
            self.emit("blocks", writes, reads, np.concatenate([[len(writes)], words]))
        return writes

    def call_python(self, eqn, reads, reason):
        """Emits a call of an equation's NumPy kernel, or of its `impl`; `reason` says why."""
        avals = [v.aval for v in eqn.outvars]
        writes = [self.buffer(a) for a in avals]
        kernel = python_kernel(eqn, [(b.shape, b.dtype) for b in reads], [(b.shape, b.dtype) for b in writes], reason)
        self.kernels.append(kernel)
        self.emit("call", writes, reads, (len(writes), len(self.kernels) - 1))
        return writes

    # ---- the whole

    def inputs(self, avals):
        """The Buffers of the tape's arguments."""
        buffers = [self._new(INPUT, tuple(a.shape), storage(a.dtype)) for a in avals]
        self._inputs += buffers
        return buffers

    def outputs(self, results, avals):
        """Has the results of the program be those of the tape."""
        for i, (b, a) in enumerate(zip(results, avals)):
            place = self._new(OUTPUT, tuple(a.shape), storage(a.dtype), argument=i)
            self._outputs.append(place)
            self.settle(b, place)

    @property
    def ports(self):
        """(inputs, outputs)."""
        return self._inputs, self._outputs


# ---- variables


def array_of(value):
    """The ndarray of a constant of a program."""
    return np.asarray(value._value if isinstance(value, Array) else value)


def literal_array(x):
    """The ndarray of a Literal."""
    return array_of(x.val).astype(storage(x.aval.dtype), copy=False).reshape(x.aval.shape)


def _hold(env, v, buffer):
    env[v] = buffer
    buffer.root.holders += 1


def _release(env, operands, last, i):
    """Lets go of the variables that equation i reads last; returns the buffers that it may overwrite."""
    roots = [env[x].root for x in operands if type(x) is not Literal]
    is_single = len(roots) == 1
    counts = None if is_single else Counter(roots)
    dying = set()
    for x in dict.fromkeys([x for x in operands if type(x) is not Literal]):
        if last[x] == i:
            root = env.pop(x).root
            root.holders -= 1
            if not root.holders and (is_single or counts[root] == 1):
                dying.add(root)
    return dying
