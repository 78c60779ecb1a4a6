# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Tapes: programs of typed instructions over buffers of known sizes, run without Python (tape_machine.h).

    attach_lapack       hands the routines of LAPACK to the instructions that call them
    attach_special      the same of SciPy's special functions
    BlockFunction       an elementwise operation of programs over blocks as a function of ndarrays
    BLOCK_OPERATIONS    what a program over blocks may say (blocks_kernels.h): its operations by name
    OPERATIONS, TYPES   what a tape may say: operations by name and dtypes, with their numbers
    PythonKernel        what an instruction `call` runs: a function of ndarrays
    Tape                the words of a tape, verified; called with ndarrays
    TapeNode            what a node `onax.Tape` of a graph runs
    instruction_tape    the Tape of one instruction
"""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy

from onax._native.host_operator cimport Kernel, Pool, parallel
from onax._native.memory cimport allocate, empty_array, release
from onax._native.ort cimport note_raised

import ml_dtypes
import numpy as np

cnp.import_array()

cdef extern from "blocks_kernels.h" nogil:
    enum:
        ONAX_TYPES
    const long long ONAX_PROGRAM_MAGIC
    ctypedef struct onax_program
    ctypedef struct onax_operation:
        const char *name
        char signature
        int8_t target
    const onax_operation onax_operations[]
    const int onax_operation_count
    ctypedef void (*block_kernel "onax_kernel")(void *, const void *, const void *, const void *, int64_t)
    block_kernel onax_kernel_of(int, int)
    double onax_cost_of(int, int)
    const char *onax_program_read(const int64_t *, size_t, onax_program **)
    void onax_program_free(onax_program *)

cdef extern from "tape_strides.h" nogil:
    enum:
        ONAX_MOST_RANK
    ctypedef struct onax_strided_copy:
        void (*run)(const onax_strided_copy *, char *, const char *) noexcept nogil
    const char *onax_strided_copy_make(onax_strided_copy *, int64_t, int64_t, const int64_t *)

cdef extern from "tape_gemm.h" nogil:
    int onax_cpu_level()

cdef extern from "tape_linalg.h" nogil:
    int onax_lapack_count()
    const char *onax_lapack_name(int, int)
    const char *onax_lapack_arguments(int, int)
    void onax_lapack_attach(int, int, void *)
    void onax_lapack_attach_threads(void *, void *)
    void onax_lapack_forked()

cdef extern from "tape_special.h" nogil:
    int onax_special_count()
    const char *onax_special_name(int)
    int onax_special_arity(int)
    void onax_special_attach(int, void *)

cdef extern from "tape_machine.h" nogil:
    const long long ONAX_TAPE_MAGIC
    enum:
        ONAX_INPUT, ONAX_OUTPUT, ONAX_ARENA, ONAX_FIXED, ONAX_VIEW, ONAX_PART
    enum:
        ONAX_DONE, ONAX_NO_MEMORY, ONAX_RAISED
    ctypedef struct onax_tape
    ctypedef void (*onax_parallel)(void *where, void (*task)(void *, size_t) noexcept nogil, size_t count,
                                   void *user) noexcept nogil
    ctypedef struct onax_frame:
        char **buffers
    ctypedef struct onax_instruction:
        const int32_t *operands
        const int64_t *attributes
        int32_t n_operands
    ctypedef struct onax_caller:
        int (*call)(void *, const onax_instruction *, onax_frame *) noexcept nogil
        int (*check_signals)(void *) noexcept nogil
        void *caller
    int onax_tape_operation_count()
    const char *onax_tape_operation_name(int)
    const char *onax_tape_read(const int64_t *, size_t, onax_tape **)
    void onax_tape_free(onax_tape *)
    const int64_t *onax_tape_words(const onax_tape *, size_t *)
    int onax_tape_inputs(const onax_tape *)
    int onax_tape_outputs(const onax_tape *)
    int64_t onax_tape_bytes(const onax_tape *, int)
    int64_t onax_tape_memory(const onax_tape *)
    double onax_tape_work(const onax_tape *)
    double onax_tape_longest(const onax_tape *)
    int onax_tape_kernels(const onax_tape *)
    int onax_tape_time(onax_tape *)
    int64_t onax_tape_instructions(const onax_tape *)
    void onax_tape_timing(const onax_tape *, int64_t, int64_t *, int64_t *)
    void onax_tape_use_memory(void *(*)(size_t) noexcept nogil, void (*)(void *) noexcept nogil)
    int64_t onax_operand_bytes(const onax_instruction *, const onax_frame *, int)
    int onax_tape_run(onax_tape *, void **, void **, const onax_caller *, onax_parallel, void *)

MAGIC = ONAX_TAPE_MAGIC
INPUT, OUTPUT, ARENA, CONSTANT, VIEW, PART = ONAX_INPUT, ONAX_OUTPUT, ONAX_ARENA, ONAX_FIXED, ONAX_VIEW, ONAX_PART

# dtype -> its number, in the order of onax_type
TYPES = {np.dtype(t): i for i, t in enumerate((
    np.float32, np.float64, np.int32, np.uint32, np.int64, np.uint64, np.bool_, np.int8, np.uint8, np.int16, np.uint16,
    np.float16, ml_dtypes.bfloat16, np.complex64, np.complex128))}

# name of an operation -> its number
OPERATIONS = {(<bytes>onax_tape_operation_name(i)).decode(): i for i in range(onax_tape_operation_count())}


# ---- programs over blocks

BLOCKS_MAGIC = ONAX_PROGRAM_MAGIC


class RegisterKind:
    """How the positions of a loop reach a register, in the order of onax_register_kind."""

    BLOCK, DIRECT, LOAD, IOTA, CONSTANT, ROW, TABLE = range(7)


@cython.final
cdef class BlockOperation:
    """One operation: its number, its signature (see blocks_kernels.h), and for each dtype that it has a kernel for the
    nanoseconds that an element takes, as measured on one machine."""

    cdef readonly int number
    cdef readonly str name
    cdef readonly str signature
    cdef readonly object target       # the dtype of the results of V, else None
    cdef readonly dict dtypes

    def __repr__(self):
        return f"BlockOperation({self.name})"


cdef dict _read_block_operations():
    cdef int i, j
    cdef BlockOperation o
    cdef list dtypes = list(TYPES)
    table = {}
    for i in range(onax_operation_count):
        o = BlockOperation.__new__(BlockOperation)
        o.number = i
        o.name = (<bytes>onax_operations[i].name).decode()
        o.signature = chr(onax_operations[i].signature)
        o.target = dtypes[onax_operations[i].target] if onax_operations[i].target >= 0 else None
        o.dtypes = {dtypes[j]: onax_cost_of(i, j) for j in range(<int>ONAX_TYPES) if onax_kernel_of(i, j) != NULL}
        table[o.name] = o
    return table


BLOCK_OPERATIONS = _read_block_operations()


cdef enum:
    ELEMENTS_AT_ONCE = 8192


@cython.final
cdef class BlockFunction:
    """The kernel of a BlockOperation from one or two arrays of a dtype to another array, as a function of ndarrays.

    One of two operands may be a single number; others that differ in shape or dtype go to `otherwise`.
    """

    cdef readonly object otherwise
    cdef cnp.dtype dtype, target
    cdef block_kernel kernel

    def __init__(self, BlockOperation operation not None, dtype, otherwise):
        if operation.signature not in "UBV" or dtype not in operation.dtypes:
            raise ValueError(f"{operation.name} is no function of arrays of {dtype}")
        self.dtype, self.otherwise = dtype, otherwise
        self.target = operation.target or dtype
        self.kernel = <block_kernel>onax_kernel_of(operation.number, TYPES[dtype])

    def __call__(self, cnp.ndarray x not None, cnp.ndarray y=None):
        if x.dtype != self.dtype or (y is not None and y.dtype != self.dtype):
            return self.otherwise(x, y) if y is not None else self.otherwise(x)
        if y is None:
            return self.run(x, x, x)
        if cnp.PyArray_SAMESHAPE(x, y):
            return self.run(x, y, x)
        if cnp.PyArray_NDIM(y) == 0:
            return self.run(x, repeated(y, x), x)
        if cnp.PyArray_NDIM(x) == 0:
            return self.run(repeated(x, y), y, y)
        return self.otherwise(x, y)

    cdef cnp.ndarray run(self, cnp.ndarray x, cnp.ndarray y, cnp.ndarray shaped):
        """The result of the shape of an operand; another one of ELEMENTS_AT_ONCE elements is read over and over."""
        cdef cnp.ndarray out = empty_array(self.target, cnp.PyArray_NDIM(shaped), cnp.PyArray_DIMS(shaped))
        cdef int64_t at = 0, size = self.dtype.itemsize, n = cnp.PyArray_SIZE(shaped)
        cdef int64_t x_step = size if shaped is x or cnp.PyArray_SIZE(x) == n else 0
        cdef int64_t y_step = size if shaped is y or cnp.PyArray_SIZE(y) == n else 0
        cdef int64_t to_step = self.target.itemsize
        cdef char *to = cnp.PyArray_BYTES(out)
        x, y = in_order(x), in_order(y)
        cdef char *first = cnp.PyArray_BYTES(x)
        cdef char *second = cnp.PyArray_BYTES(y)
        with nogil:
            while at < n:
                self.kernel(to + at * to_step, first + at * x_step, second + at * y_step, NULL,
                            min(n - at, <int64_t>ELEMENTS_AT_ONCE))
                at += ELEMENTS_AT_ONCE
        return out


cdef cnp.ndarray repeated(cnp.ndarray x, cnp.ndarray other):
    """A single number in every element of a block of another array."""
    return np.full(min(<int64_t>ELEMENTS_AT_ONCE, <int64_t>cnp.PyArray_SIZE(other)), x)


cdef cnp.ndarray in_order(cnp.ndarray x):
    """The array itself or a copy, row by row."""
    cdef int64_t axes[3 * ONAX_MOST_RANK]
    cdef onax_strided_copy grid
    cdef int i, rank = cnp.PyArray_NDIM(x)
    cdef int64_t size = x.itemsize, stride = 1
    if cnp.PyArray_ISCARRAY_RO(x):
        return x
    if rank > ONAX_MOST_RANK or not size or not cnp.PyArray_ISALIGNED(x):
        return np.ascontiguousarray(x)
    for i in range(rank - 1, -1, -1):
        axes[3 * i], axes[3 * i + 1], axes[3 * i + 2] = x.shape[i], stride, x.strides[i] // size
        stride *= x.shape[i]
        if x.strides[i] % size:
            return np.ascontiguousarray(x)
    if onax_strided_copy_make(&grid, size, rank, axes) != NULL:
        return np.ascontiguousarray(x)
    cdef cnp.ndarray out = empty_array(<cnp.dtype>x.dtype, rank, cnp.PyArray_DIMS(x))
    with nogil:
        grid.run(&grid, cnp.PyArray_BYTES(out), cnp.PyArray_BYTES(x))
    return out


def check_program(words):
    """Raises ValueError if words are no program over blocks."""
    cdef cnp.ndarray flat = np.ascontiguousarray(words, np.int64).reshape(-1)
    cdef onax_program *program = NULL
    fault = onax_program_read(<const int64_t *>cnp.PyArray_DATA(flat), cnp.PyArray_SIZE(flat), &program)
    if fault != NULL:
        raise ValueError(f"not a program over blocks: {fault.decode()}")
    onax_program_free(program)


# ---- routines that instructions call


def cpu_level():
    """The level of vector instructions that kernels use: 1, 3 or 4, as in x86-64-v3."""
    return onax_cpu_level()


def _argument_letters(signature):
    """The arguments of a C signature as the letters of tape_linalg.h; ? for what LAPACK's routines do not have."""
    letters = []
    for argument in signature.partition("(")[2].removesuffix(")").split(","):
        name = argument.strip().removesuffix(" *")
        if name in ("char", "int"):
            letters.append(name[0])
        elif "complex" in name:
            letters.append("z")
        elif "select" in name:
            letters.append("g")
        else:
            letters.append("f" if name.endswith(("_s", "_d", "float", "double")) else "?")
    return "".join(letters)


def attach_lapack(routines):
    """Hands LAPACK's routines (name -> capsule) to the instructions that call them.

    A routine whose signature is another than expected, because its integers have 64 bits for example, is left out.
    """
    cdef int i, letter
    for i in range(onax_lapack_count()):
        for letter in range(4):
            capsule = routines.get("sdcz"[letter] + (<bytes>onax_lapack_name(i, letter > 1)).decode())
            if capsule is None:
                continue
            signature = PyCapsule_GetName(capsule)
            if _argument_letters(signature.decode()) == (<bytes>onax_lapack_arguments(i, letter > 1)).decode():
                onax_lapack_attach(i, letter, PyCapsule_GetPointer(capsule, signature))


def attach_lapack_threads(size_t get, size_t set):
    """Hands over the addresses of the functions that give and set the number of threads of LAPACK's library."""
    onax_lapack_attach_threads(<void *>get, <void *>set)


def forget_lapack_calls():
    """Forgets, in a forked process, the instructions that ran in LAPACK's library when it was forked."""
    onax_lapack_forked()


# ---- tapes

onax_tape_use_memory(allocate, release)


def attach_special(functions):
    """Hands special functions of float64 numbers (name -> capsule) to the instructions that call them.

    One whose signature is another than expected is left out.
    """
    cdef int i
    for i in range(onax_special_count()):
        capsule = functions.get((<bytes>onax_special_name(i)).decode())
        arguments = "double, " * onax_special_arity(i)
        if capsule is not None:
            signature = PyCapsule_GetName(capsule)
            if signature.decode() == f"double ({arguments}int __pyx_skip_dispatch)":
                onax_special_attach(i, PyCapsule_GetPointer(capsule, signature))


cdef double QUICK = 10e3     # nanoseconds of work for which the interpreter is not given to other threads


cdef object bytes_of(shape, dtype):
    """The size of an array."""
    size = dtype.itemsize
    for d in shape:
        size *= d
    return size


@cython.final
cdef class PythonKernel:
    """A function that an instruction calls.

    name      what it carries out, for messages
    reason    why the machine does not carry it out itself
    function  from ndarrays to a sequence of ndarrays; those it is given are its own
    operands  (shape, dtype) of each; `results` the same
    """

    cdef readonly str name
    cdef readonly str reason
    cdef readonly object function
    cdef readonly tuple operands
    cdef readonly tuple results
    cdef list sizes

    def __init__(self, str name, function, operands, results, str reason=""):
        self.name = name
        self.reason = reason
        self.function = function
        self.operands = tuple([(tuple(s), np.dtype(d)) for s, d in operands])
        self.results = tuple([(tuple(s), np.dtype(d)) for s, d in results])
        self.sizes = [bytes_of(s, d) for s, d in (*self.results, *self.operands)]

    def __repr__(self):
        return f"<kernel of {self.name}>"


cdef struct Call:
    PyObject *tape
    PyObject *error      # owned: the exception that ended the run


@cython.final
cdef class Tape:
    """A verified tape.

    words     the tape, as 64-bit integers
    operands  (shape, dtype) of each input; `results` the same of each output
    kernels   the PythonKernels that its instructions call, by number

    Calling it with a list of ndarrays, C-contiguous or not, gives a list of new ones.  ValueError for words that are no
    tape or could leave their buffers, and for sizes that do not fit; TypeError for arrays of other types or shapes.
    """

    cdef onax_tape *tape
    cdef int n_in
    cdef int n_out
    cdef list descrs             # dtypes of inputs and outputs
    cdef readonly str name
    cdef readonly tuple operands
    cdef readonly tuple results
    cdef readonly tuple kernels
    cdef object __weakref__

    def __init__(self, words, operands, results, kernels=(), str name="tape"):
        cdef cnp.ndarray flat = np.ascontiguousarray(words, np.int64).reshape(-1)
        cdef const char *fault
        if self.tape != NULL:
            raise ValueError("a tape is made once")
        fault = onax_tape_read(<const int64_t *>cnp.PyArray_DATA(flat), cnp.PyArray_SIZE(flat), &self.tape)
        if fault != NULL:
            raise ValueError(f"not a tape: {fault.decode()}")
        self.name = name
        self.results = tuple([(tuple(s), np.dtype(d)) for s, d in results])
        self.operands = tuple([(tuple(s), np.dtype(d)) for s, d in operands])
        self.kernels = tuple(kernels)
        self.n_in = onax_tape_inputs(self.tape)
        self.n_out = onax_tape_outputs(self.tape)
        self.descrs = [d for _, d in (*self.operands, *self.results)]
        sizes = [bytes_of(s, d) for s, d in (*self.operands, *self.results)]
        if len(self.operands) != self.n_in or len(self.results) != self.n_out or sizes != [
                onax_tape_bytes(self.tape, i) for i in range(self.n_in + self.n_out)]:
            raise ValueError("a tape's arrays have other sizes than its inputs and outputs")
        if onax_tape_kernels(self.tape) > len(self.kernels):
            raise ValueError("a tape calls a kernel that is not there")

    def __dealloc__(self):
        onax_tape_free(self.tape)

    @property
    def words(self):
        """A copy of the words."""
        cdef size_t count
        cdef const int64_t *words = onax_tape_words(self.tape, &count)
        cdef cnp.ndarray copy = np.empty(<Py_ssize_t>count, np.int64)
        memcpy(cnp.PyArray_DATA(copy), words, count * sizeof(int64_t))
        return copy

    @property
    def work(self):
        """Nanoseconds that one thread is guessed to need."""
        return onax_tape_work(self.tape)

    @property
    def longest(self):
        """Nanoseconds that its longest instruction, loops apart, is guessed to need."""
        return onax_tape_longest(self.tape)

    @property
    def memory(self):
        """Bytes that a run allocates besides its results."""
        return onax_tape_memory(self.tape)

    def time_instructions(self):
        """Has each instruction be timed from the next run on; no thread may run the tape meanwhile."""
        if not onax_tape_time(self.tape):
            raise MemoryError()

    def timings(self):
        """[(runs, nanoseconds)] of each instruction, in the order of the words.

        All are zero unless instructions are timed.  The time of a loop or branch includes that of what it holds.
        """
        cdef int64_t i, runs = 0, nanoseconds = 0
        timings = []
        for i in range(onax_tape_instructions(self.tape)):
            onax_tape_timing(self.tape, i, &runs, &nanoseconds)
            timings.append((runs, nanoseconds))
        return timings

    def __call__(self, list arrays):
        cdef void *few[128]
        cdef void **pointers = few
        cdef int i, status
        cdef int n = self.n_in + self.n_out
        cdef list held = []
        cdef list results = []
        cdef cnp.ndarray a
        cdef Call call
        if len(arrays) != self.n_in:
            raise TypeError(f"the tape takes {self.n_in} arrays, not {len(arrays)}")
        if n > 128:
            pointers = <void **>PyMem_Malloc(n * sizeof(void *))
            if pointers == NULL:
                raise MemoryError()
        try:
            for i in range(self.n_in):
                a = self.accept(i, arrays[i])
                held.append(a)
                pointers[i] = cnp.PyArray_DATA(a)
            for i in range(self.n_out):
                a = fresh(<cnp.dtype>self.descrs[self.n_in + i], <tuple>(<tuple>self.results[i])[0])
                results.append(a)
                pointers[self.n_in + i] = cnp.PyArray_DATA(a)
            call.tape = <PyObject *>self
            call.error = NULL
            if onax_tape_work(self.tape) < QUICK:
                status = run(self, pointers, pointers + self.n_in, &call, NULL, NULL)
            else:
                with nogil:
                    status = run(self, pointers, pointers + self.n_in, &call, NULL, NULL)
            if status != ONAX_DONE:
                raise_error(self, &call, status)
        finally:
            if pointers != few:
                PyMem_Free(pointers)
        return results

    cdef cnp.ndarray accept(self, int i, object x):
        cdef cnp.ndarray a
        if not cnp.PyArray_Check(x):
            raise TypeError(f"operand {i} must be a numpy.ndarray, not {type(x).__name__}")
        a = <cnp.ndarray>x
        dtype = self.descrs[i]
        if not (a.dtype is dtype or a.dtype == dtype) or cnp.PyArray_NBYTES(a) != onax_tape_bytes(self.tape, i):
            shape, dtype = self.operands[i]
            raise TypeError(f"operand {i} must be {dtype}{list(shape)}, not {a.dtype}{list((<object>a).shape)}")
        return a if cnp.PyArray_ISCARRAY_RO(a) else np.require(a, a.dtype.newbyteorder("="), "CA")

    def __repr__(self):
        return f"<{self.name}: {self.n_in} operands, {self.n_out} results>"


def instruction_tape(str name, operands, results, attributes):
    """The Tape of one instruction.

    name        its operation
    operands    (shape, dtype) of each array it reads; `results` of each it writes
    attributes  its numbers
    """
    n_in, n_out = len(operands), len(results)
    words = [MAGIC, n_in, n_out, n_in + n_out, 1, 0, 0]
    for kind, ports in ((INPUT, operands), (OUTPUT, results)):
        for i, (shape, dtype) in enumerate(ports):
            words += (kind, i, bytes_of(shape, np.dtype(dtype)))
    words += (1, OPERATIONS[name], n_in + n_out, len(attributes), *range(n_in, n_in + n_out), *range(n_in))
    return Tape([*words, *attributes], operands, results, (), name)


cdef int run(Tape self, void **inputs, void **outputs, Call *call, onax_parallel threads, void *where) noexcept nogil:
    cdef onax_caller caller
    caller.call = _call
    caller.check_signals = _check_signals
    caller.caller = call
    return onax_tape_run(self.tape, inputs, outputs, &caller, threads, where)


cdef int raise_error(Tape self, Call *call, int status) except -1:
    if status == ONAX_NO_MEMORY:
        raise MemoryError(f"{onax_tape_memory(self.tape):,} bytes for the intermediate values of a compiled program "
                          "cannot be allocated")
    error = <object>call.error
    Py_DECREF(error)
    raise error


cdef cnp.ndarray fresh(cnp.dtype descr, tuple shape):
    """An array whose elements are not set."""
    cdef cnp.npy_intp dims[64]
    cdef int i, rank = <int>len(shape)
    for i in range(rank):
        dims[i] = shape[i]
    return empty_array(descr, rank, dims)


# ---- what a tape asks of its caller


cdef int _check_signals(void *caller) noexcept nogil:
    cdef Call *call = <Call *>caller
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            return note(call, error)
    return ONAX_DONE


cdef int note(Call *call, object error) noexcept:
    Py_INCREF(error)
    call.error = <PyObject *>error
    return ONAX_RAISED


cdef int _call(void *caller, const onax_instruction *q, onax_frame *f) noexcept nogil:
    cdef Call *call = <Call *>caller
    with gil:
        try:
            call_kernel(<Tape>call.tape, q, f)
        except BaseException as error:
            return note(call, error)
    return ONAX_DONE


cdef bint fits(PythonKernel kernel, const onax_instruction *q, onax_frame *f) except -1:
    """Whether the operands of an instruction have the sizes of its kernel's."""
    cdef int i
    for i in range(q.n_operands):
        if onax_operand_bytes(q, f, i) != <int64_t>kernel.sizes[i]:
            return False
    return True


cdef int call_kernel(Tape tape, const onax_instruction *q, onax_frame *f) except -1:
    cdef PythonKernel kernel = <PythonKernel>tape.kernels[q.attributes[1]]
    cdef int n_out = <int>q.attributes[0]
    cdef int i
    cdef cnp.ndarray a
    cdef list arrays = []
    if n_out != len(kernel.results) or q.n_operands - n_out != len(kernel.operands) or not fits(kernel, q, f):
        raise TypeError(f"the kernel of {kernel.name} takes other operands")
    for i in range(q.n_operands - n_out):
        shape, dtype = kernel.operands[i]
        a = fresh(<cnp.dtype>dtype, <tuple>shape)
        memcpy(cnp.PyArray_DATA(a), f.buffers[q.operands[n_out + i]], cnp.PyArray_NBYTES(a))
        arrays.append(a)
    results = kernel.function(*arrays)
    if len(results) != n_out:
        raise TypeError(f"the kernel of {kernel.name} gave {len(results)} results, {n_out} were stated")
    for i in range(n_out):
        shape, dtype = kernel.results[i]
        result = results[i]
        if not isinstance(result, np.ndarray) or result.dtype != dtype or result.shape != shape:
            got = f"{result.dtype}{list(result.shape)}" if isinstance(result, np.ndarray) else type(result).__name__
            raise TypeError(f"the kernel of {kernel.name} gave {got} where {dtype}{list(shape)} was stated")
        a = <cnp.ndarray>np.ascontiguousarray(result)
        memcpy(f.buffers[q.operands[i]], cnp.PyArray_DATA(a), cnp.PyArray_NBYTES(a))
    return 0


# ---- a node of a graph


cdef void _threads(void *where, void (*task)(void *, size_t) noexcept nogil, size_t count, void *user) noexcept nogil:
    parallel(<const Pool *>where, task, count, user)


@cython.final
cdef class TapeNode(Kernel):
    """A Tape as the Kernel of a node; `outputs`: (shape, dtype) of each tensor that the node gives."""

    cdef readonly Tape tape

    def __init__(self, Tape tape, outputs):
        Kernel.__init__(self, tape.name, None, outputs)
        sizes = [bytes_of(s, d) for s, d in self.outputs]
        if sizes != [onax_tape_bytes(tape.tape, tape.n_in + i) for i in range(tape.n_out)]:
            raise ValueError("the tensors of a node have other sizes than the results of its tape")
        self.tape = tape
        self.runner = _run_node


cdef int _run_node(PyObject *kernel, void **ins, void **outs, const Pool *pool) noexcept nogil:
    cdef Call call
    cdef int status
    call.tape = <PyObject *>(<TapeNode>kernel).tape
    call.error = NULL
    status = run((<TapeNode>kernel).tape, ins, outs, &call, _threads, <void *>pool)
    if status != ONAX_DONE:
        with gil:
            note_failure((<TapeNode>kernel).tape, &call, status)
    return status


cdef void note_failure(Tape self, Call *call, int status) noexcept:
    try:
        raise_error(self, call, status)
    except BaseException as error:
        note_raised(error)
