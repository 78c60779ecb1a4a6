# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""onax.Host and onax.Tape: nodes of a graph that run a kernel of ours, in Python or a tape.

    Kernel      what a node runs: a Python function of ndarrays, or what a subclass runs instead
    Handle      the number of a Kernel, which the node holds as its attribute `kernel`; it keeps the Kernel alive

A graph holds Handles; a session holds the Kernels of its nodes; a Kernel that neither holds is freed.  An exception
raised in a function passes through the runtime as a failed status and is raised again by `Session.run`.
"""

import weakref

import numpy as np

cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from onax._native.ort cimport add_operator, note_raised

from onax._native.ort import ELEMENTS

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type

cdef extern from "ort_operator.h" nogil:
    ctypedef void *ort_status
    ctypedef struct onax_operator:
        ort_status (*create)(const onax_operator *, const onax_ort_entry *, const void *, void **) noexcept nogil
        ort_status (*compute)(void *, void *) noexcept nogil
        void (*destroy)(void *) noexcept nogil
    ort_status onax_op_fail(const onax_ort_entry *t, const char *text)
    ort_status onax_op_int(const onax_ort_entry *t, const void *info, const char *name, int64_t *out)
    ort_status onax_op_inputs(const onax_ort_entry *t, const void *context, size_t *count)
    ort_status onax_op_input(const onax_ort_entry *t, const void *context, size_t i, const void **value)
    ort_status onax_op_output(const onax_ort_entry *t, void *context, size_t i, const int64_t *shape, size_t rank,
                              void **value)
    ort_status onax_op_data(const onax_ort_entry *t, const void *value, void **data)
    ort_status onax_op_info(const onax_ort_entry *t, const void *value, void **info)
    ort_status onax_op_rank(const onax_ort_entry *t, const void *info, size_t *rank)
    ort_status onax_op_shape(const onax_ort_entry *t, const void *info, int64_t *shape, size_t rank)
    ort_status onax_op_element(const onax_ort_entry *t, const void *info, int *element)
    void onax_op_release_info(const onax_ort_entry *t, void *info)
    void onax_op_release_status(const onax_ort_entry *t, ort_status s)
    ort_status onax_op_parallel(const onax_ort_entry *t, const void *context,
                                void (*job)(void *, size_t) noexcept nogil, size_t n, void *data)

cdef extern from *:
    """
    static onax_operator onax_host = ONAX_OPERATOR("Host", NULL, NULL, NULL);
    static onax_operator onax_tape_node = ONAX_OPERATOR("Tape", NULL, NULL, NULL);
    """
    onax_operator onax_host
    onax_operator onax_tape_node

cdef enum:
    PORTS = 32      # of a node in C, before memory is allocated for more
    RANKS = 64      # NumPy's limit

# Kernels by number, while somebody holds them.
_kernels = weakref.WeakValueDictionary()
cdef int64_t _next = 0


# ---- kernels -------------------------------------------------------------------------------------------------------

cdef class Kernel:
    """A function that a node runs.

    name       of the primitive
    function   from ndarrays to a sequence of ndarrays.  Those it is given show memory of the runtime, which they may
               neither write nor keep
    outputs    (shape, dtype) of each result; a function that returns anything else fails
    into       the function is given writable ndarrays of these types as well, fills them, and returns nothing
    """

    def __init__(self, str name, function, outputs, *, bint into=False):
        self.name = name
        self.function = function
        self.into = into
        self.take_outputs(outputs)

    cdef int take_outputs(self, outputs) except -1:
        cdef Py_ssize_t at = 0
        cdef int i
        self.outputs = tuple([(tuple(shape), np.dtype(dtype)) for shape, dtype in outputs])
        self.n_out = len(self.outputs)
        self.ranks = <int *>PyMem_Calloc(self.n_out + 1, sizeof(int))
        self.shapes = <int64_t *>PyMem_Calloc(sum([len(s) for s, _ in self.outputs]) + 1, sizeof(int64_t))
        if self.ranks == NULL or self.shapes == NULL:
            raise MemoryError()
        for i in range(self.n_out):
            shape = self.outputs[i][0]
            self.ranks[i] = len(shape)
            for d in shape:
                self.shapes[at] = d
                at += 1
        return 0

    def __dealloc__(self):
        PyMem_Free(self.ranks)
        PyMem_Free(self.shapes)

    cdef int check(self, int i, object result) except -1:
        """The runtime has made room for the stated type: another one must not be copied there."""
        shape, dtype = self.outputs[i]
        if type(result) is not np.ndarray or result.dtype != dtype or result.shape != shape:
            got = f"{result.dtype}{list(result.shape)}" if isinstance(result, np.ndarray) else type(result).__name__
            raise TypeError(f"the kernel of {self.name} gave {got} where {dtype}{list(shape)} was stated")
        return 0

    def __repr__(self):
        return f"<kernel of {self.name}>"


class Handle(int):
    """The number of a Kernel, for the attribute `kernel` of a node; keeps it alive."""

    def __new__(cls, Kernel kernel):
        global _next
        _next += 1
        self = super().__new__(cls, _next)
        self.kernel = kernel
        _kernels[int(self)] = kernel
        return self


cdef void parallel(const Pool *pool, void (*job)(void *, size_t) noexcept nogil, size_t n, void *data) noexcept nogil:
    cdef size_t i
    cdef ort_status status
    if n > 1:
        status = onax_op_parallel(pool.table, pool.context, job, n, data)
        if status == NULL:
            return
        onax_op_release_status(pool.table, status)
    for i in range(n):
        job(data, i)


# ---- the operator --------------------------------------------------------------------------------------------------

cdef struct State:
    const onax_ort_entry *table
    PyObject *kernel        # owned; what follows is its
    Runner runner
    int n_out
    const int *ranks
    const int64_t *shapes


cdef ort_status _create(const onax_operator *op, const onax_ort_entry *table, const void *info,
                        void **out) noexcept nogil:
    cdef int64_t number = 0
    cdef State *state
    cdef ort_status status = onax_op_int(table, info, b"kernel", &number)
    if status != NULL:
        return status
    state = <State *>calloc(1, sizeof(State))
    if state == NULL:
        return onax_op_fail(table, b"onax.Host: no memory")
    state.table = table
    with gil:
        _fill(state, number)
    if state.kernel == NULL:
        free(state)
        return onax_op_fail(table, b"onax.Host: the kernel of a node is gone; keep the graph until its session is made")
    out[0] = state
    return NULL


cdef void _fill(State *state, int64_t number) noexcept:
    # Not `_kernels.get`, which is Python code: a signal's handler could run in it, whose exception would be lost here.
    cdef object reference = (<dict>_kernels.data).get(number)
    cdef Kernel kernel = None if reference is None else reference()
    if kernel is None:
        return
    Py_INCREF(kernel)
    state.kernel = <PyObject *>kernel
    state.runner = kernel.runner
    state.n_out = kernel.n_out
    state.ranks = kernel.ranks
    state.shapes = kernel.shapes


cdef void _destroy(void *kernel) noexcept nogil:
    cdef State *state = <State *>kernel
    with gil:
        Py_DECREF(<object>state.kernel)
    free(state)


cdef ort_status _compute(void *kernel, void *context) noexcept nogil:
    cdef State *state = <State *>kernel
    cdef void *on_stack[2 * PORTS]
    cdef void **ports = on_stack
    cdef size_t n_in = 0
    cdef ort_status status = onax_op_inputs(state.table, context, &n_in)
    if status != NULL:
        return status
    if n_in > PORTS or state.n_out > PORTS:
        ports = <void **>calloc(n_in + state.n_out, sizeof(void *))
        if ports == NULL:
            return onax_op_fail(state.table, b"onax.Host: no memory")
    status = _run(state, context, ports, n_in)
    if ports != on_stack:
        free(ports)
    return status


cdef ort_status _run(State *state, void *context, void **ports, size_t n_in) noexcept nogil:
    """Runs a node; `ports` has room for a pointer for each input and output."""
    cdef Pool pool
    cdef const void *value
    cdef ort_status status
    cdef size_t i
    for i in range(n_in):
        status = onax_op_input(state.table, context, i, &value)
        if status != NULL:
            return status
        ports[i] = <void *>value
    if state.runner == NULL:
        with gil:
            return _run_function(state, context, ports, n_in)
    for i in range(n_in):
        status = onax_op_data(state.table, ports[i], &ports[i])
        if status != NULL:
            return status
    status = _outputs(state, context, ports + n_in)
    if status == NULL:
        pool.table = state.table
        pool.context = context
        if state.runner(state.kernel, ports, ports + n_in, &pool) != 0:
            return onax_op_fail(state.table, b"onax.Tape: an exception was raised")
    return status


cdef bint _has_elements(const int64_t *shape, int rank) noexcept nogil:
    cdef int i
    for i in range(rank):
        if shape[i] == 0:
            return False
    return True


cdef ort_status _outputs(State *state, void *context, void **data) noexcept nogil:
    """Has the runtime allocate all outputs; gives their memory."""
    cdef const int64_t *shape = state.shapes
    cdef void *value
    cdef int i
    cdef ort_status status
    for i in range(state.n_out):
        status = onax_op_output(state.table, context, i, shape, state.ranks[i], &value)
        if status == NULL:
            status = onax_op_data(state.table, value, &data[i])
        if status != NULL:
            return status
        if data[i] == NULL and _has_elements(shape, state.ranks[i]):
            with gil:
                note_raised(MemoryError("the memory for a result of onax.Host or onax.Tape cannot be allocated"))
            return onax_op_fail(state.table, b"onax.Host: no memory")
        shape += state.ranks[i]
    return NULL


cdef ort_status _run_function(State *state, void *context, void **ports, size_t n_in) noexcept:
    """Runs a node's function; notes an exception for `Session.run` to raise."""
    cdef ort_status status = NULL
    try:
        status = _call(state, context, ports, n_in)
    except BaseException as error:
        note_raised(error)
        return onax_op_fail(state.table, b"onax.Host: an exception was raised")
    return status


cdef ort_status _call(State *state, void *context, void **ports, size_t n_in) except? NULL:
    cdef Kernel kernel = <Kernel>state.kernel
    cdef list views = []
    cdef size_t i
    cdef int j
    cdef ort_status status
    cdef cnp.ndarray result
    for i in range(n_in):
        views.append(_input(state.table, ports[i]))
    if kernel.into:
        status = _outputs(state, context, ports)
        if status != NULL:
            return status
        shape = state.shapes
        for j in range(state.n_out):
            views.append(_view(ports[j], state.ranks[j], <cnp.npy_intp *>shape, kernel.outputs[j][1], True))
            shape += state.ranks[j]
        kernel.function(*views)
        return NULL
    results = kernel.function(*views)
    if len(results) != state.n_out:
        raise TypeError(f"the kernel of {kernel.name} gave {len(results)} results, {state.n_out} were stated")
    for j in range(state.n_out):
        kernel.check(j, results[j])
    status = _outputs(state, context, ports)
    if status != NULL:
        return status
    for j in range(state.n_out):
        result = <cnp.ndarray>results[j]
        if not cnp.PyArray_IS_C_CONTIGUOUS(result):
            result = cnp.PyArray_GETCONTIGUOUS(result)
        memcpy(ports[j], cnp.PyArray_DATA(result), cnp.PyArray_NBYTES(result))
    return NULL


cdef cnp.ndarray _input(const onax_ort_entry *table, void *value):
    """A read-only ndarray over an input's memory."""
    cdef void *info = NULL
    cdef void *data = NULL
    cdef int64_t shape[RANKS]
    cdef size_t rank = 0
    cdef int element = 0
    _raise_for(table, onax_op_info(table, value, &info))
    try:
        _raise_for(table, onax_op_rank(table, info, &rank))
        if rank > RANKS:
            raise ValueError(f"an array of {rank} dimensions; NumPy's have at most {RANKS}")
        _raise_for(table, onax_op_shape(table, info, shape, rank))
        _raise_for(table, onax_op_element(table, info, &element))
    finally:
        onax_op_release_info(table, info)
    _raise_for(table, onax_op_data(table, value, &data))
    return _view(data, <int>rank, <cnp.npy_intp *>shape, ELEMENTS[element], False)


cdef cnp.ndarray _view(void *data, int rank, cnp.npy_intp *shape, cnp.dtype descr, bint writable):
    """An ndarray over memory of the runtime; of its own where there is none."""
    cdef int flags = cnp.NPY_ARRAY_CARRAY if writable else cnp.NPY_ARRAY_CARRAY_RO
    Py_INCREF(descr)
    return PyArray_NewFromDescr(&PyArray_Type, descr, rank, shape, NULL, data, flags, NULL)


cdef int _raise_for(const onax_ort_entry *table, ort_status status) except -1:
    if status == NULL:
        return 0
    onax_op_release_status(table, status)
    raise RuntimeError("ONNX Runtime did not describe an input of onax.Host")


onax_host.create = _create
onax_host.compute = _compute
onax_host.destroy = _destroy
add_operator(&onax_host)
onax_tape_node.create = _create
onax_tape_node.compute = _compute
onax_tape_node.destroy = _destroy
add_operator(&onax_tape_node)
