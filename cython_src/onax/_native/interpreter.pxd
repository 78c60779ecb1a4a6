"""A jaxpr as numbered slots and steps."""

from cpython.object cimport PyObject

from onax._native.dispatch cimport Primitive

cdef struct Step:
    PyObject* primitive     # borrowed; Program.refs owns it
    PyObject* params        # a dict or NULL; borrowed
    PyObject* program       # the Program of a call that is entered, or NULL; borrowed
    int inputs              # counts ...
    int outputs
    int dead
    int* slots              # ... of the slots read, written (-1: result not kept) and last used here, in this order

cdef class Program:
    cdef Step* steps
    cdef int n_steps
    cdef int n_slots
    cdef int n_args             # constants and arguments together: slots 0 .. n_args-1
    cdef int n_fixed            # literals: the slots behind them
    cdef int most_inputs        # of any step
    cdef int n_outs
    cdef int* outs              # slots of the results
    cdef list fixed             # values of the literals
    cdef list refs
    cdef readonly object n_consts

    cdef int number(self, object numbering, list eqns, list reads, list outs, object program_of) except -1
    cdef int write(self, int k, object eqn, list reads, list written, list dead, object program_of) except -1
    cdef list execute(self, PyObject** values)
    cdef int step(self, Step* step, PyObject** slots, PyObject** operands) except -1
