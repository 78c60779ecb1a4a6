# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Programs over blocks: many elementwise operations in one pass over memory.

    OPERATIONS, TYPES   what a program may say: operations by name, dtypes and their numbers
    Program             the words of a program (blocks_kernels.h), verified; called with ndarrays

The same program runs here, on the calling thread, and inside ONNX Runtime as the operator `onax.Fused`, over its
threads.
"""

cimport cython
cimport numpy as cnp
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.ref cimport Py_INCREF, PyObject
from libc.stdint cimport int8_t, int64_t

from onax._native.ort cimport add_operator

import ml_dtypes
import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyObject *subtype, cnp.dtype descr, int nd, cnp.npy_intp *dims, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *obj)
    PyObject PyArray_Type

cdef extern from "blocks_kernels.h" nogil:
    enum:
        ONAX_TYPES
    const long long ONAX_PROGRAM_MAGIC
    ctypedef struct onax_program
    ctypedef void (*onax_parallel)(void *where, void (*task)(void *, size_t) noexcept nogil, size_t count,
                                   void *user) noexcept nogil
    ctypedef struct onax_operation:
        const char *name
        char signature
        int8_t target
    const onax_operation onax_operations[]
    const int onax_operation_count
    void *onax_kernel_of(int, int)
    double onax_cost_of(int, int)
    const char *onax_program_read(const int64_t *, size_t, onax_program **)
    void onax_program_free(onax_program *)
    int onax_program_inputs(const onax_program *)
    int onax_program_outputs(const onax_program *)
    int onax_program_type(const onax_program *, int)
    int64_t onax_program_elements(const onax_program *, int)
    double onax_program_work(const onax_program *)
    int onax_program_run(const onax_program *, const void **, void **, onax_parallel, void *)
    ctypedef struct onax_loop:
        onax_program *body
        onax_program *condition
        int64_t n_constants, n_carries, trips, reverse
    const char *onax_loop_fault(const onax_loop *)
    int64_t onax_loop_elements(const onax_loop *, int)
    double onax_loop_work(const onax_loop *)
    int onax_loop_run(const onax_loop *, const void **, void **)
    const void *onax_fused()
    const void *onax_looped()

add_operator(onax_fused())
add_operator(onax_looped())

MAGIC = ONAX_PROGRAM_MAGIC
cdef double QUICK = 10e3     # nanoseconds of work for which the interpreter is not given to other threads

# dtype -> its number, in the order of onax_type
TYPES = {np.dtype(t): i for i, t in enumerate((
    np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64, np.bool_, np.int8, np.uint8, np.int16, np.uint16,
    np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128))}
cdef list _dtypes = list(TYPES)

# How the positions of a loop reach a register, in the order of onax_register_kind
BLOCK, DIRECT, LOAD, IOTA, CONSTANT, ROW, TABLE = range(7)


@cython.final
cdef class Operation:
    """One operation: its number, its signature (see blocks_kernels.h), and for each dtype that it has a kernel for the
    nanoseconds that an element takes, as measured on one machine."""

    cdef readonly int number
    cdef readonly str name
    cdef readonly str signature
    cdef readonly object target       # the dtype of the results of V, else None
    cdef readonly dict dtypes

    def __repr__(self):
        return f"Operation({self.name})"


cdef dict _read_table():
    cdef int i, j
    cdef Operation o
    table = {}
    for i in range(onax_operation_count):
        o = Operation.__new__(Operation)
        o.number = i
        o.name = (<bytes>onax_operations[i].name).decode()
        o.signature = chr(onax_operations[i].signature)
        o.target = _dtypes[onax_operations[i].target] if onax_operations[i].target >= 0 else None
        o.dtypes = {_dtypes[j]: onax_cost_of(i, j) for j in range(ONAX_TYPES) if onax_kernel_of(i, j) != NULL}
        table[o.name] = o
    return table


OPERATIONS = _read_table()


cdef onax_program *read(words) except NULL:
    """A verified program, which the caller frees."""
    cdef cnp.ndarray flat = np.ascontiguousarray(words, np.int64).reshape(-1)
    cdef onax_program *found = NULL
    cdef const char *fault = onax_program_read(<const int64_t *>cnp.PyArray_DATA(flat), cnp.PyArray_SIZE(flat), &found)
    if fault != NULL:
        raise ValueError(f"not a program over blocks: {fault.decode()}")
    return found


@cython.final
cdef class Program:
    """A verified program, or a loop of which each step is one.

    words    the program, as integers
    shapes   the shape of each result
    loop     (words of the condition or None, constants, carries, trips, whether backwards): see onax_loop

    Calling it with a list of ndarrays, C-contiguous or not, gives a list of new ones.  ValueError for words that are no
    program or could leave their buffers, and for shapes that do not fit; TypeError for arrays of other types or sizes.
    """

    cdef onax_loop loop
    cdef bint is_loop
    cdef readonly int n_in
    cdef readonly int n_out
    cdef int *types                  # NumPy's type numbers, of inputs and outputs
    cdef int64_t *elements
    cdef list descrs                 # dtypes of the outputs
    cdef list shapes
    cdef object __weakref__

    def __init__(self, words, shapes, loop=None):
        cdef int i, n
        cdef const char *fault
        if self.loop.body != NULL:
            raise ValueError("a program is made once")
        self.loop.body = read(words)
        self.n_in = onax_program_inputs(self.loop.body)
        self.n_out = onax_program_outputs(self.loop.body)
        if loop is not None:
            condition, self.loop.n_constants, self.loop.n_carries, self.loop.trips, self.loop.reverse = loop
            if condition is not None:
                self.loop.condition = read(condition)
            self.is_loop = True
            fault = onax_loop_fault(&self.loop)
            if fault != NULL:
                raise ValueError(f"not a loop of programs: {fault.decode()}")
        n = self.n_in + self.n_out
        self.types = <int *>PyMem_Malloc((n + 1) * sizeof(int))
        self.elements = <int64_t *>PyMem_Malloc((n + 1) * sizeof(int64_t))
        if self.types == NULL or self.elements == NULL:
            raise MemoryError()
        self.descrs, self.shapes = [], [tuple(s) for s in shapes]
        for i in range(n):
            descr = <cnp.dtype>_dtypes[onax_program_type(self.loop.body, i)]
            self.types[i] = descr.num
            self.elements[i] = (onax_loop_elements(&self.loop, i) if self.is_loop
                                else onax_program_elements(self.loop.body, i))
            if i >= self.n_in:
                self.descrs.append(descr)
        if [int(np.prod(s, dtype=np.int64)) for s in self.shapes] != [self.elements[self.n_in + i]
                                                                      for i in range(self.n_out)]:
            raise ValueError(f"results of shapes {self.shapes} have other sizes than the program's")

    def __dealloc__(self):
        onax_program_free(self.loop.body)
        onax_program_free(self.loop.condition)
        PyMem_Free(self.types)
        PyMem_Free(self.elements)

    @property
    def work(self):
        """Nanoseconds that one thread is guessed to need."""
        return onax_loop_work(&self.loop) if self.is_loop else onax_program_work(self.loop.body)

    cdef int run(self, const void **inputs, void **outputs) noexcept nogil:
        if self.is_loop:
            return onax_loop_run(&self.loop, inputs, outputs)
        return onax_program_run(self.loop.body, inputs, outputs, NULL, NULL)

    def __call__(self, list arrays):
        cdef const void *few[256]
        cdef const void **pointers = few
        cdef int i, failed
        cdef int n = self.n_in + self.n_out
        cdef list held = []
        cdef list results = []
        cdef cnp.ndarray a
        if len(arrays) != self.n_in:
            raise TypeError(f"the program takes {self.n_in} arrays, not {len(arrays)}")
        if n > 256:
            pointers = <const void **>PyMem_Malloc(n * sizeof(void *))
            if pointers == NULL:
                raise MemoryError()
        try:
            for i in range(self.n_in):
                a = self.accept(i, arrays[i])
                held.append(a)
                pointers[i] = cnp.PyArray_DATA(a)
            for i in range(self.n_out):
                a = fresh(<cnp.dtype>self.descrs[i], <tuple>self.shapes[i])
                results.append(a)
                pointers[self.n_in + i] = cnp.PyArray_DATA(a)
            if (onax_loop_work(&self.loop) if self.is_loop else onax_program_work(self.loop.body)) < QUICK:
                failed = self.run(pointers, <void **>(pointers + self.n_in))
            else:
                with nogil:
                    failed = self.run(pointers, <void **>(pointers + self.n_in))
            if failed:
                raise MemoryError()
        finally:
            if pointers != few:
                PyMem_Free(pointers)
        return results

    cdef cnp.ndarray accept(self, int i, object x):
        cdef cnp.ndarray a
        if not cnp.PyArray_Check(x):
            raise TypeError(f"operand {i} must be a numpy.ndarray, not {type(x).__name__}")
        a = <cnp.ndarray>x
        if not (cnp.PyArray_TYPE(a) == self.types[i] or same_width(cnp.PyArray_TYPE(a), self.types[i])) or (
                cnp.PyArray_SIZE(a) != self.elements[i]):
            raise TypeError(f"operand {i} must have {self.elements[i]} elements of NumPy's type {self.types[i]}, not "
                            f"{a.dtype}{list((<object>a).shape)}")
        return a if cnp.PyArray_ISCARRAY_RO(a) else np.require(a, a.dtype.newbyteorder("="), "CA")


cdef inline bint same_width(int given, int wanted) noexcept:
    """Whether two of NumPy's numbers stand for the same integers: `long` and `long long` may be one type."""
    if sizeof(long) == 8:
        return ((given == cnp.NPY_LONGLONG and wanted == cnp.NPY_LONG)
                or (given == cnp.NPY_ULONGLONG and wanted == cnp.NPY_ULONG))
    return ((given == cnp.NPY_LONG and wanted == cnp.NPY_INT)
            or (given == cnp.NPY_ULONG and wanted == cnp.NPY_UINT))


cdef cnp.ndarray fresh(cnp.dtype descr, tuple shape):
    """An array whose elements are not set."""
    cdef cnp.npy_intp dims[64]
    cdef int i, rank = <int>len(shape)
    for i in range(rank):
        dims[i] = shape[i]
    Py_INCREF(descr)
    return <cnp.ndarray>PyArray_NewFromDescr(&PyArray_Type, descr, rank, dims, NULL, NULL, 0, NULL)
