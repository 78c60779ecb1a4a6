# cython: boundscheck=False, wraparound=False
"""JaxprInterpreter: evaluates a jaxpr many times, operation by operation.

Variables become numbered slots and equations become instructions.  Each instruction knows which values it reads for the
last time, so that memory is freed at last use.  It evaluates its primitive (`dispatch.evaluate_n`); if the primitive is a
call (`primitive.inline(params)` gives the callee's jaxpr), the interpreter of the callee runs instead.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.string cimport memset

from onax._native.dispatch cimport Primitive, evaluate_n
from onax._native.hooks cimport hooks

cdef extern from "Python.h":
    PyObject** PySequence_Fast_ITEMS(object)

cdef enum:
    ON_STACK = 64


cdef class _Numbering:
    """Assigns slots to variables while a JaxprInterpreter is built."""

    cdef type literal_type
    cdef dict slots         # Var -> slot
    cdef list fixed         # values of the literals, in the order of their negative numbers

    def __init__(self, variables, literal_type):
        self.literal_type = literal_type
        self.slots = {}
        self.fixed = []
        for var in variables:
            self.slots[var] = len(self.slots)

    cdef int read(self, object atom) except? -1:
        """The slot of an operand; literals get -1, -2, ... until their number is known."""
        if not isinstance(atom, self.literal_type):
            return self.slots[atom]
        self.fixed.append(atom.array)
        return -len(self.fixed)


cdef class JaxprInterpreter:
    """A jaxpr as slots and instructions.

    `run(consts, args)` evaluates it on Arrays (NumPy arrays and Python scalars are accepted as operands) and returns the
    list of results.  Operands of the class `literal_type` are literals, the others variables.  `interpreter_of(jaxpr)`
    returns the JaxprInterpreter of a callee; without it calls are evaluated by their primitive.
    """

    def __init__(self, jaxpr, type literal_type, interpreter_of=None):
        cdef _Numbering numbering = _Numbering([*jaxpr.constvars, *jaxpr.invars], literal_type)
        cdef list eqns = list(jaxpr.eqns)
        cdef int k
        self.n_consts = len(jaxpr.constvars)
        self.n_args = len(jaxpr.constvars) + len(jaxpr.invars)
        self.refs = [eqns]
        self.n_instructions = len(eqns)
        self.instructions = <Instruction*>PyMem_Calloc(max(self.n_instructions, 1), sizeof(Instruction))
        if self.instructions is NULL:
            raise MemoryError()
        reads = []
        for k in range(self.n_instructions):
            reads.append([numbering.read(atom) for atom in eqns[k].invars])
            for var in eqns[k].outvars:
                numbering.slots[var] = len(numbering.slots)
        outs = [numbering.read(atom) for atom in jaxpr.outvars]
        self.number(numbering, eqns, reads, outs, interpreter_of)

    cdef int number(self, object numbering, list eqns, list reads, list outs, object interpreter_of) except -1:
        """Lays the literals behind the arguments, finds last uses, and writes the instructions."""
        cdef _Numbering numbers = numbering
        cdef int k, slot
        cdef int n_fixed = len(numbers.fixed), n_args = self.n_args
        self.fixed = numbers.fixed
        self.n_fixed = n_fixed
        self.n_slots = len(numbers.slots) + n_fixed

        def slot_of(int s):
            return n_args - 1 - s if s < 0 else s if s < n_args else s + n_fixed

        reads = [[slot_of(s) for s in slots] for slots in reads]
        outs = [slot_of(s) for s in outs]
        last = {s: k for k, slots in enumerate(reads) for s in slots}
        result_slots = set(outs)
        for k in range(self.n_instructions):
            eqn = eqns[k]
            written = [slot_of(numbers.slots[v]) for v in eqn.outvars]
            written = [s if s in last or s in result_slots else -1 for s in written]
            dead = [s for s in dict.fromkeys(reads[k]) if last[s] == k and s not in result_slots]
            dead = [s for s in dead if not n_args <= s < n_args + n_fixed]
            self.write(k, eqn, reads[k], written, dead, interpreter_of)
            self.most_inputs = max(self.most_inputs, <int>len(reads[k]))
        self.n_outs = len(outs)
        self.outs = _ints(outs)
        return 0

    cdef int write(self, int k, object eqn, list reads, list written, list dead, object interpreter_of) except -1:
        cdef Instruction* step = &self.instructions[k]
        cdef Primitive primitive = eqn.primitive
        params = eqn.params
        self.refs.append(primitive)
        step.primitive = <PyObject*>primitive
        if params:
            params = dict(params)
            self.refs.append(params)
            step.params = <PyObject*>params
        inline = getattr(primitive, "inline", None)
        if inline is not None and interpreter_of is not None:
            callee = inline(params)
            if callee is not None:
                program = interpreter_of(callee)
                self.refs.append((program, callee, callee.consts))
                if callee.consts:
                    program = _WithConstants(program, list(callee.consts))
                    self.refs.append(program)
                step.callee = <PyObject*>program
        step.inputs = len(reads)
        step.outputs = len(written)
        step.dead = len(dead)
        step.slots = _ints(reads + written + dead)
        return 0

    def __dealloc__(self):
        cdef int k
        if self.instructions is not NULL:
            for k in range(self.n_instructions):
                PyMem_Free(self.instructions[k].slots)
            PyMem_Free(self.instructions)
        PyMem_Free(self.outs)

    def run(self, consts, args):
        """The results on the given constants and arguments, as a list."""
        return self.run_flat([*consts, *args])

    def run_flat(self, list values not None):
        """The results; `values` holds the constants, then the arguments."""
        if len(values) != self.n_args:
            raise TypeError(f"the program takes {self.n_args} values, {len(values)} were given")
        return self.execute(PySequence_Fast_ITEMS(values))

    cdef list execute(self, PyObject** values):
        cdef PyObject* room[ON_STACK]
        cdef PyObject** slots = room
        cdef int total = self.n_slots + self.most_inputs
        cdef int k = 0
        if total > ON_STACK:
            slots = <PyObject**>PyMem_Malloc(total * sizeof(PyObject*))
            if slots is NULL:
                raise MemoryError()
        memset(slots, 0, total * sizeof(PyObject*))
        for k in range(self.n_args):
            slots[k] = values[k]
            Py_INCREF(<object>slots[k])
        for k in range(self.n_fixed):
            slots[self.n_args + k] = <PyObject*>self.fixed[k]
            Py_INCREF(<object>slots[self.n_args + k])
        try:
            for k in range(self.n_instructions):
                self.step(&self.instructions[k], slots, slots + self.n_slots)
            return [<object>slots[self.outs[k]] for k in range(self.n_outs)]
        except FloatingPointError as error:
            if hooks.locate_error is not None:
                hooks.locate_error(error, self.refs[0][k])
            raise
        finally:
            for k in range(self.n_slots):
                Py_XDECREF(slots[k])
            if slots is not room:
                PyMem_Free(slots)

    cdef int step(self, Instruction* step, PyObject** slots, PyObject** operands) except -1:
        """One operation; `operands` is room for the values it reads."""
        cdef int* reads = step.slots
        cdef int* writes = reads + step.inputs
        cdef int* dead = writes + step.outputs
        cdef int i
        for i in range(step.inputs):
            operands[i] = slots[reads[i]]
        if step.callee is not NULL:
            _store(_enter(<object>step.callee, operands, step.inputs), step.outputs, writes, slots)
        else:
            result = evaluate_n(<Primitive>step.primitive, operands, step.inputs, <dict>step.params
                                if step.params is not NULL else None)
            if (<Primitive>step.primitive).multiple_results:
                _store(result, step.outputs, writes, slots)
            elif writes[0] >= 0:
                Py_INCREF(result)
                slots[writes[0]] = <PyObject*>result
        for i in range(step.dead):
            Py_XDECREF(slots[dead[i]])
            slots[dead[i]] = NULL
        return 0


cdef class _WithConstants:
    """A callee with the values of its constants."""

    cdef JaxprInterpreter program
    cdef list consts

    def __init__(self, program, consts):
        self.program = program
        self.consts = consts


cdef list _enter(object callee, PyObject** operands, int n):
    cdef int i
    if type(callee) is JaxprInterpreter:
        return (<JaxprInterpreter>callee).execute(operands)
    cdef list values = list((<_WithConstants>callee).consts)
    values.extend([<object>operands[i] for i in range(n)])
    return (<_WithConstants>callee).program.execute(PySequence_Fast_ITEMS(values))


cdef int _store(object results, int n, int* writes, PyObject** slots) except -1:
    """Stores several results in their slots; those that are not read are dropped."""
    cdef int i
    if type(results) is not list and type(results) is not tuple:
        results = tuple(results)
    if len(results) != n:
        raise ValueError(f"an operation gave {len(results)} results where its equation has {n}")
    for i in range(n):
        if writes[i] >= 0:
            value = results[i]
            Py_INCREF(value)
            slots[writes[i]] = <PyObject*>value
    return 0


cdef int* _ints(list numbers) except NULL:
    cdef int* out = <int*>PyMem_Malloc(max(len(numbers), 1) * sizeof(int))
    if out is NULL:
        raise MemoryError()
    for i, number in enumerate(numbers):
        out[i] = number
    return out
