# Primitive: one object for one operation.  Its rules are its fields.

from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t

cdef class Primitive:
    cdef public str name
    cdef public bint multiple_results       # results come as a list
    cdef public object kernel               # (*ndarrays, **params) -> ndarray or tuple of them; or a dict of these
                                            # by the np.dtype of the first operand
    cdef public object impl                 # (*arrays, **params) -> result; goes before `kernel`
    cdef public object abstract_eval        # (*avals, **params) -> aval(s), or (avals, effects)
    cdef public object jvp                  # (primals, tangents, **params) -> (out, tangent_out)
    cdef public object transpose            # (ct, *operands, **params) -> cotangents
    cdef public object batch                # (axis_data, operands, dims, **params) -> (out, dims_out)
    cdef public object linearize            # optional, derived from jvp when absent
    cdef public object partial_eval         # optional
    cdef public object dce                  # optional
    cdef public object pretty               # optional: how an equation of it is printed
    cdef object _weak                       # ALL, NEVER, FIRST or (flags, params) -> bool
    cdef object _facts                      # frozenset of the strings below
    cdef int weak_rule                      # _weak as a number
    cdef bint elementwise                   # ELEMENTWISE in facts
    cdef bint fixed_abstract_eval           # abstract_eval returns (avals, effects)
    cdef uint64_t seen                      # builtin dtypes (bit = type number) that abstract_eval has accepted
    cdef uint64_t seen_codes[8]             # the same for mixtures of dtypes, lately used
    cdef unsigned int next_code             # where the next mixture goes
    cdef set seen_mixed                     # the same for extended dtypes
    cdef dict abstract_known                # (operand avals, options, params) -> what `abstract` gave
    cdef object abstract_known_for          # the abstract_eval that gave it
    cdef dict __dict__
    cdef object __weakref__

    cdef object _abstract_anew(self, tuple avals, dict params)
    cdef object _given_or_method(self, str name, given)

cdef object evaluate_n(Primitive p, PyObject **args, Py_ssize_t n, dict params)   # params may be None
cpdef object evaluate(Primitive p, args, params)
cdef object bind_n(Primitive p, PyObject **args, Py_ssize_t n, dict params)       # to the current trace, or evaluates
