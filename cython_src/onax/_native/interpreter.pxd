"""A jaxpr as numbered slots and instructions."""

from cpython.object cimport PyObject

from onax._native.dispatch cimport Primitive

cdef struct Instruction:
    PyObject* primitive     # borrowed; JaxprInterpreter.refs owns it
    PyObject* params        # a dict or NULL; borrowed
    PyObject* callee        # the JaxprInterpreter of a call that is entered, or NULL; borrowed
    int inputs              # counts ...
    int outputs
    int dead
    int* slots              # ... of the slots read, written (-1: result not kept) and last used here, in this order

cdef class JaxprInterpreter:
    cdef Instruction* instructions
    cdef int n_instructions
    cdef int n_slots
    cdef int n_args             # constants and arguments together: slots 0 .. n_args-1
    cdef int n_fixed            # literals: the slots behind them
    cdef int most_inputs        # of any instruction
    cdef int n_outs
    cdef int* outs              # slots of the results
    cdef list fixed             # values of the literals
    cdef list refs
    cdef readonly object n_consts

    cdef int number(self, object numbering, list eqns, list reads, list outs, object interpreter_of) except -1
    cdef int write(self, int k, object eqn, list reads, list written, list dead, object interpreter_of) except -1
    cdef list execute(self, PyObject** values)
    cdef int step(self, Instruction* step, PyObject** slots, PyObject** operands) except -1
