# cython: boundscheck=False, wraparound=False
"""JitFunction: from arguments to the compiled program and back, without a Python function on the way.

A call flattens its arguments against the structure that was seen last, writes the signature of the leaves (dtype, weak
bit, placement and shape of each, as numbers), compares it with the last one, runs the program and unflattens the results.
If the structure or the signature differs, a dictionary is asked; if it has no entry, the Python subclass's `_miss`.
"""

from types import MethodType

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from onax._native.array cimport (
    ArrayImpl, buffer_of, device_of, is_spanning, storage_dtype, wrap, wrap_like, wrap_plain, wrap_resident,
)
from onax._native.buffers cimport canonical, fits_integer, is_extended, is_numpy, scalar_buffer, shares_with_user
from onax._native.context cimport X64, ctx, default_device, option_bits
from onax._native.device_buffers cimport DeviceBuffer, logical_rank, upload
from onax._native.hooks cimport hooks
from onax._native.io_binding cimport BoundSession
from onax._native.ort cimport Session
from onax._native.tree cimport PyTreeDef, flatten_call, matches_call

cnp.import_array()

cdef extern from "Python.h":
    bint PyBool_Check(object)
    bint PyLong_Check(object)
    bint PyFloat_Check(object)
    bint PyComplex_Check(object)

cdef enum:
    ON_STACK = 256          # numbers of a signature before memory is allocated
    OWN_NUMBERS = 100000    # numbers of extended dtypes, devices and shardings; those of NumPy are below
    ENTRIES_AT_MOST = 4096  # of one function; the oldest goes first

# Extended dtypes, devices and shardings get a number each when they are first used.
cdef dict _numbers = {}


cdef int64_t _number(object key) except -1:
    number = _numbers.get(key)
    if number is None:
        number = _numbers[key] = OWN_NUMBERS + len(_numbers)
    return number


# ---- signatures ----------------------------------------------------------------------------------------------------

# What a program depends on of the leaves of a call, as numbers.
cdef struct Signature:
    int64_t* numbers
    Py_ssize_t used
    Py_ssize_t room
    int64_t inline[256]


cdef int _reserve(Signature* signature, Py_ssize_t n) except -1:
    cdef int64_t* grown
    if signature.used + n <= signature.room:
        return 0
    while signature.used + n > signature.room:
        signature.room *= 2
    grown = <int64_t*>PyMem_Malloc(signature.room * sizeof(int64_t))
    if grown is NULL:
        raise MemoryError()
    memcpy(grown, signature.numbers, signature.used * sizeof(int64_t))
    _release(signature)
    signature.numbers = grown
    return 0


cdef inline void _release(Signature* signature) noexcept:
    if signature.numbers is not signature.inline:
        PyMem_Free(signature.numbers)


cdef inline int64_t _canonical(int num, Py_ssize_t itemsize) noexcept:
    """One type number for each dtype that arrays have: 64 bits become 32 unless they are on."""
    cdef bint wide = option_bits() & X64
    if num == cnp.NPY_DOUBLE:
        return num if wide else cnp.NPY_FLOAT
    if num == cnp.NPY_LONG or num == cnp.NPY_LONGLONG:
        return cnp.NPY_LONGLONG if wide and itemsize == 8 else cnp.NPY_INT
    if num == cnp.NPY_ULONG or num == cnp.NPY_ULONGLONG:
        return cnp.NPY_ULONGLONG if wide and itemsize == 8 else cnp.NPY_UINT
    if num == cnp.NPY_CDOUBLE:
        return num if wide else cnp.NPY_CFLOAT
    return num


cdef int64_t _dtype_number(object dtype) except -1:
    if is_extended(dtype) or (<cnp.dtype>dtype).type_num == cnp.NPY_VOID:
        return _number(dtype)
    return _canonical((<cnp.dtype>dtype).type_num, (<cnp.dtype>dtype).itemsize)


cdef int _append(Signature* signature, int64_t dtype, bint weak, int64_t placement, int rank,
                 cnp.npy_intp* shape) except -1:
    cdef int i
    cdef int64_t* at
    if signature.used + rank + 2 > signature.room:
        _reserve(signature, rank + 2)
    at = signature.numbers + signature.used
    at[0] = dtype | (<int64_t>weak << 32) | (<int64_t>rank << 40)
    at[1] = placement
    for i in range(rank):
        at[2 + i] = shape[i]
    signature.used += rank + 2
    return 0


cdef int64_t _placement_number(ArrayImpl a) except -1:
    if a.shards is not None:
        return _number(a.sharding)
    return _number(device_of(a)) if a.placed else 0


cdef bint _append_leaf(Signature* signature, object x) except -1:
    """Appends one leaf: dtype, weak bit and rank; placement; dimensions.  False if it is no array or number."""
    cdef cnp.ndarray buf
    cdef ArrayImpl a
    cdef bint wide
    cdef int64_t placement
    cdef long long integer
    if type(x) is ArrayImpl:
        a = <ArrayImpl>x
        placement = _placement_number(a) if a.placed or a.shards is not None else 0
        if a.buf is None and a.resident is not None:
            _append(signature, _dtype_number(a._dtype), a.weak, placement,
                    logical_rank(a.resident, storage_dtype(a._dtype)), <cnp.npy_intp *>a.resident.dims)
            return True
        if is_spanning(a):
            return False  # every call goes through Python
        buf = buffer_of(a)
        _append(signature, _dtype_number(a._dtype), a.weak, placement, cnp.PyArray_NDIM(buf), cnp.PyArray_DIMS(buf))
        return True
    if cnp.PyArray_Check(x):
        if not cnp.PyArray_CheckExact(x) and isinstance(x, np.ma.MaskedArray):
            return False  # a masked array is refused where calls are staged
        buf = <cnp.ndarray>x
        _append(signature, _dtype_number(<object>cnp.PyArray_DESCR(buf)), False, 0, cnp.PyArray_NDIM(buf),
               cnp.PyArray_DIMS(buf))
        return True
    if is_numpy(x):
        _append(signature, _dtype_number(x.dtype), False, 0, 0, NULL)
        return True
    wide = option_bits() & X64
    if PyFloat_Check(x):
        _append(signature, cnp.NPY_DOUBLE if wide else cnp.NPY_FLOAT, True, 0, 0, NULL)
    elif PyBool_Check(x):
        _append(signature, cnp.NPY_BOOL, False, 0, 0, NULL)
    elif PyLong_Check(x):
        if not fits_integer(x, &integer):
            return False  # refused where calls are staged, with the argument's name
        _append(signature, cnp.NPY_LONGLONG if wide else cnp.NPY_INT, True, 0, 0, NULL)
    elif PyComplex_Check(x):
        _append(signature, cnp.NPY_CDOUBLE if wide else cnp.NPY_CFLOAT, True, 0, 0, NULL)
    else:
        return False
    return True


cdef bytes _signature(list leaves, bytes expected):
    """The signature of the leaves: `expected` itself if it is that; None if some leaf is no array or number."""
    cdef Signature written
    cdef Py_ssize_t size
    written.numbers = written.inline
    written.used = 0
    written.room = ON_STACK
    try:
        for x in leaves:
            if not _append_leaf(&written, x):
                return None
        size = written.used * sizeof(int64_t)
        if expected is not None and size == PyBytes_GET_SIZE(expected) and memcmp(
                written.numbers, PyBytes_AS_STRING(expected), size) == 0:
            return expected
        return PyBytes_FromStringAndSize(<char*>written.numbers, size)
    finally:
        _release(&written)


# ---- running -------------------------------------------------------------------------------------------------------

cdef cnp.ndarray _buffer(object x):
    """The elements of a leaf as the runner takes them."""
    cdef bint weak
    cdef cnp.ndarray buf
    if type(x) is ArrayImpl:
        return buffer_of(<ArrayImpl>x)
    if is_numpy(x):
        return canonical(x)
    buf = scalar_buffer(x, &weak)
    if buf is None:
        raise TypeError(f"Argument '{x}' of type {type(x)} is not a valid JAX type: a compiled program takes arrays")
    return buf


cdef class Executable:
    """A program that can be run on flat values.

    runner     Session; BoundSession, whose values stay on a device; or function from a list of ndarrays to a list of them
    kept       positions of the arguments that the runner takes
    outs       for each result (source, index, weak, extended dtype or None); source: "computed" (result `index` of
               the runner), "forwarded" (argument `index`) or "constant" (entry `index` of `constants`)
    explain    function RuntimeError -> exception, for failures of the runner; it may give back what it got
    adapt_in, adapt_out   lists of None or functions ndarray -> ndarray, applied at the boundary; those of adapt_out
               have the dtype that they give as `dtype`
    """

    def __init__(self, runner, kept, outs, *, int n_args, constants=(), explain=None, adapt_in=None,
                 adapt_out=None):
        cdef int i
        cdef OutputSpec* out
        kept, outs = list(kept), list(outs)
        self.runner = runner
        self.is_session = type(runner) is Session
        self.is_bound = type(runner) is BoundSession
        self.n_args = n_args
        self.n_in = len(kept)
        self.n_out = len(outs)
        self.kept = <int*>PyMem_Calloc(self.n_in + 1, sizeof(int))
        self.outs = <OutputSpec*>PyMem_Calloc(self.n_out + 1, sizeof(OutputSpec))
        if self.kept is NULL or self.outs is NULL:
            raise MemoryError()
        for i in range(self.n_in):
            self.kept[i] = kept[i]
        self.refs = outs
        for i in range(self.n_out):
            source, index, weak, dtype = outs[i]
            out = &self.outs[i]
            out.source = {"computed": COMPUTED, "forwarded": FORWARDED, "constant": CONSTANT}[source]
            out.index = index
            out.weak = weak
            out.dtype = <PyObject*>dtype if dtype is not None else NULL
        self.constants = tuple(constants)
        self.explain = explain
        self.adapt_in = adapt_in
        self.adapt_out = adapt_out

    def __dealloc__(self):
        PyMem_Free(self.kept)
        PyMem_Free(self.outs)

    def run(self, leaves, device=None, bint committed=False):
        """The results, as a list of Arrays, for flat arguments of the types it was compiled for.

        They are placed on `device` (None: the default one), and are `committed` to it or not.
        """
        cdef list flat = leaves if type(leaves) is list else list(leaves)
        if len(flat) != self.n_args:
            raise TypeError(f"the program takes {self.n_args} arguments, {len(flat)} were given")
        return self.execute(flat, device if device is not None else default_device(), committed)

    cdef list execute(self, list leaves, object device, bint committed):
        cdef list inputs = []
        cdef list results = None
        cdef list out = []
        cdef int i
        cdef OutputSpec* spec
        if self.runner is not None:
            try:
                if self.is_bound:
                    results = (<BoundSession>self.runner).run(self.resident_inputs(leaves, device))
                else:
                    for i in range(self.n_in):
                        inputs.append(self.host_input(i, leaves[self.kept[i]]))
                    results = (<Session>self.runner).run(inputs) if self.is_session else self.runner(inputs)
            except RuntimeError as error:
                explained = error if self.explain is None else self.explain(error)
                if explained is error:
                    raise
                raise explained from None
        for i in range(self.n_out):
            spec = &self.outs[i]
            if spec.source == COMPUTED:
                value = results[spec.index]
                if type(value) is DeviceBuffer:
                    out.append(self.resident_result(value, spec, device, committed))
                    continue
                if self.adapt_out is not None and self.adapt_out[spec.index] is not None:
                    value = self.adapt_out[spec.index](value)
                out.append(wrap_plain(value, spec.weak, device, committed) if spec.dtype is NULL
                           else wrap(value, <object>spec.dtype, spec.weak, device, committed))
            elif spec.source == FORWARDED:
                out.append(self.forwarded(leaves[spec.index], spec, device, committed))
            else:
                out.append(wrap_like(<ArrayImpl>self.constants[spec.index], spec.weak, device, committed))
        return out

    cdef bint reads(self, Py_ssize_t position) noexcept:
        """Whether a result depends on the argument at a position."""
        cdef int i
        for i in range(self.n_in):
            if self.kept[i] == position:
                return True
        for i in range(self.n_out):
            if self.outs[i].source == FORWARDED and self.outs[i].index == position:
                return True
        return False

    cdef object host_input(self, int i, object leaf):
        """An argument as an ndarray for input `i` of the runner."""
        cdef object value = _buffer(leaf)
        if self.adapt_in is not None and self.adapt_in[i] is not None:
            value = self.adapt_in[i](value)
        return value

    cdef list resident_inputs(self, list leaves, object device):
        """The arguments as a BoundSession takes them.  What is copied to the array's own device stays there."""
        cdef BoundSession runner = <BoundSession>self.runner
        cdef list inputs = []
        cdef ArrayImpl a
        cdef DeviceBuffer buffer
        cdef int i
        for i in range(self.n_in):
            leaf = leaves[self.kept[i]]
            a = <ArrayImpl>leaf if type(leaf) is ArrayImpl else None
            if runner.on_host[i]:
                inputs.append(self.host_input(i, leaf))
            elif a is not None and a.resident is not None and a.resident.memory is runner.memory:
                inputs.append(a.resident)
            else:
                buffer = upload(runner.memory, self.host_input(i, leaf))
                if a is not None and a.shards is None and device_of(a) is device:
                    a.resident = buffer
                inputs.append(buffer)
        return inputs

    cdef object resident_result(self, DeviceBuffer buffer, OutputSpec* spec, object device, bint committed):
        """A result on the device as an array."""
        cdef object dtype = None if spec.dtype is NULL else <object>spec.dtype
        if dtype is None and self.adapt_out is not None and self.adapt_out[spec.index] is not None:
            dtype = self.adapt_out[spec.index].dtype
        return wrap_resident(buffer, dtype, spec.weak, device, committed)

    cdef object forwarded(self, object x, OutputSpec* spec, object device, bint committed):
        """An argument as a result: a new Array over the same memory, or over a copy if that is the user's."""
        cdef cnp.ndarray buf
        if type(x) is ArrayImpl:
            return wrap_like(<ArrayImpl>x, spec.weak, device, committed)
        buf = _buffer(x)
        if is_numpy(x) and shares_with_user(x, buf):
            buf = np.array(buf, order="C", copy=True)
        return wrap_plain(buf, spec.weak, device, committed)


cdef class CacheEntry:
    """The program for one pattern of arguments of a function, with the placement and the structure of its results.

    `donated` are the positions of arguments that are deleted once the program has run or failed; if one of them is
    also another argument, `refuse_donation(position, position of the other)` is called, which raises.
    """

    def __init__(self, Executable executable not None, PyTreeDef out_tree not None, *, device=None,
                 bint committed=False, donated=(), refuse_donation=None, about=None):
        self.executable = executable
        self.out_tree = out_tree
        self.device = device
        self.committed = committed
        self.donated = tuple(donated)
        self.refuse_donation = refuse_donation
        self.about = about

    def run(self, leaves):
        """The result, as a tree, for flat arguments of the pattern."""
        return self.call(list(leaves))

    cdef object call(self, list leaves):
        cdef object device = self.device if self.committed or self.device is not None else default_device()
        cdef list results
        if self.donated:
            self.check_donated(leaves)
        try:
            results = self.executable.execute(leaves, device, self.committed)
        finally:
            for i in self.donated:
                if type(leaves[i]) is ArrayImpl:
                    leaves[i].delete()
        return self.out_tree.build(results)


    cdef int check_donated(self, list leaves) except -1:
        cdef Py_ssize_t i, j
        for i in self.donated:
            if type(leaves[i]) is not ArrayImpl:
                continue
            for j in range(len(leaves)):
                if j != i and leaves[j] is leaves[i] and self.executable.reads(i) and self.executable.reads(j):
                    self.refuse_donation(i, j)
        return 0


cdef class JitCache:
    """Entries of one function; shared by everything that compiles the same function in the same way."""

    def __init__(self):
        self.table = {}
        self.traced = {}
        self.waiting = {}

    def clear(self):
        """Forgets every program; those nobody else holds are freed."""
        self.last = None
        self.table.clear()
        self.traced.clear()
        self.waiting.clear()

    def __len__(self):
        return len(self.table)

    def entries(self):
        """The entries, oldest first."""
        return list(self.table.values())


# ---- the call ------------------------------------------------------------------------------------------------------

cdef bint _same_statics(tuple a, tuple b) except -1:
    """Equal values of equal types, in order; `(types, names, values)` each."""
    if a is b:
        return True
    if not (a[0] == b[0] and a[1] == b[1]):
        return False
    try:
        return a[2] == b[2]
    except Exception as error:
        _refuse_incomparable(a[2], b[2])
        raise


cdef int _refuse_incomparable(tuple values, tuple others) except -1:
    """Raises ValueError for the first static values in the same place whose comparison fails."""
    for value, other in zip(values, others):
        try:
            value is other or bool(value == other)
        except Exception as error:
            raise ValueError(
                "static arguments should be comparable using __eq__. The following error was raised when comparing two "
                f"objects of types {type(value)} and {type(other)}: {type(error).__name__}: {error}"
            ) from error
    return 0


cpdef object find_program(dict table, tuple key, int position):
    """The value at a key, or None; item `position` of keys holds static arguments, or None where there are none.

    Raises ValueError if static arguments cannot be compared.
    """
    cdef object statics = key[position]
    if statics is None:
        return table.get(key)
    try:
        return table.get(key)
    except Exception:
        for known in table:
            if known[position] is not None:
                _refuse_incomparable(statics[2], known[position][2])
        raise


def check_hashable(values):
    """Raises ValueError for the first static value that cannot be hashed."""
    for value in values:
        try:
            hash(value)
        except TypeError as error:
            raise ValueError(
                "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of "
                f"type {type(value)}, {value}. The error was:\nTypeError: {error}\n"
            ) from None


cdef class JitFunction:
    """A function that is compiled for each pattern of arguments that it is called with.

    Subclasses give `_miss(args, kwargs, leaves, in_tree, statics)` -> (result, CacheEntry or None), for patterns not seen
    yet (None: right, but must not be cached), and `_traced(args, kwargs)` -> result, for calls while something is being
    transformed.  The leaves are those of the dynamic arguments, `statics` as `split` gives them.

    With `patience` a pattern is compiled only when its calls have brought that many elements; until then a call is a
    call of `fun`.
    """

    def __init__(self, fun, JitCache cache not None, static_argnums=(), static_argnames=()):
        self.fun = fun
        self.cache = cache
        self.static_argnums = tuple(sorted(set(static_argnums)))
        self.has_negative = any([i < 0 for i in self.static_argnums])
        self.static_argnames = frozenset(static_argnames)
        self.has_static = bool(self.static_argnums or self.static_argnames)

    def __repr__(self):
        name = type(self).__name__
        try:
            return f"<{name} of {self.__wrapped__!r}>"
        except Exception:  # of the function's own __repr__, which must not hide the message that this one is part of
            return f"<{name}>"

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        return self.call(args, kwargs)

    def split(self, tuple args, dict kwargs):
        """(dynamic positional, dynamic keyword, statics) of a call; statics are (types, names or positions, values)."""
        cdef Py_ssize_t n = len(args), i, j = 0
        cdef list dynamic = [], values = []
        cdef tuple positions = self.static_argnums
        if not self.has_static:
            return args, kwargs, None
        if self.has_negative:
            positions = tuple(sorted({i if i >= 0 else i + n for i in positions}))
        for i in range(n):
            if j < len(positions) and <object>positions[j] == i:
                values.append(args[i])
                j += 1
            else:
                dynamic.append(args[i])
        names = positions if j == len(positions) else positions[:j]
        rest = kwargs
        if kwargs and not self.static_argnames.isdisjoint(kwargs):
            rest = {name: value for name, value in kwargs.items() if name not in self.static_argnames}
            given_names = sorted(self.static_argnames & kwargs.keys())
            names = (*names, *given_names)
            values.extend([kwargs[name] for name in given_names])
        return tuple(dynamic), rest, (tuple([type(value) for value in values]), names, tuple(values))

    cdef object call(self, tuple args, dict kwargs):
        cdef CacheEntry last = self.cache.last
        cdef list leaves = []
        cdef tuple dynamic = args, statics = None
        cdef dict rest = kwargs
        cdef PyTreeDef tree
        cdef bytes signature
        if ctx().trace is not NULL:
            return self._traced(args, kwargs)
        if self.has_static:
            dynamic, rest, statics = self.split(args, kwargs)
        if last is not None and matches_call(last.in_tree, dynamic, rest, leaves):
            tree = last.in_tree
            signature = _signature(leaves, last.signature)
            if (signature is last.signature and last.options == option_bits()
                    and last.default_device is default_device()
                    and (statics is None or _same_statics(statics, last.statics))):
                return last.call(leaves)
        else:
            leaves.clear()
            tree = flatten_call(dynamic, rest, leaves)
            signature = _signature(leaves, None)
        return self.look_up(args, kwargs, tree, signature, statics, leaves)

    cdef object look_up(self, tuple args, dict kwargs, PyTreeDef tree, bytes signature, tuple statics, list leaves):
        cdef CacheEntry entry
        cdef uint64_t options = option_bits()
        if statics is not None:
            check_hashable(statics[2])
        if options & hooks.guard_options:
            hooks.guard_arguments(leaves)
            options &= ~hooks.guard_options
        if signature is None:
            return self.missed(args, kwargs, tree, statics, leaves, None)
        key = (tree, signature, options, default_device(), statics)
        entry = find_program(self.cache.table, key, 4)
        if entry is None:
            return self.missed(args, kwargs, tree, statics, leaves, key)
        self.cache.last = entry
        return entry.call(leaves)

    cdef bint is_early(self, object key, list leaves) except -1:
        """Counts a call of a pattern without a program; whether it is too early to make one."""
        cdef dict waiting = self.cache.waiting
        cdef Py_ssize_t elements = 0
        if key is None:
            return True
        for leaf in leaves:
            if type(leaf) is ArrayImpl:
                elements += buffer_of(<ArrayImpl>leaf).size
        elements = max(elements, self.least) + waiting.pop(key, 0)
        if elements >= self.patience:
            return False
        if len(waiting) >= ENTRIES_AT_MOST:
            waiting.clear()
        waiting[key] = elements
        return True

    cdef object missed(self, tuple args, dict kwargs, PyTreeDef tree, tuple statics, list leaves, object key):
        cdef CacheEntry entry
        if self.patience and self.is_early(key, leaves):
            return self.fun(*args, **kwargs)
        result, entry = self._miss(args, kwargs, leaves, tree, statics)
        if entry is not None and key is not None:
            entry.in_tree, entry.signature, entry.options, entry.default_device, entry.statics = key
            if len(self.cache.table) >= ENTRIES_AT_MOST:
                del self.cache.table[next(iter(self.cache.table))]
            self.cache.table[key] = entry
            self.cache.last = entry
        return result

    def _miss(self, args, kwargs, leaves, in_tree, statics):
        raise NotImplementedError("a subclass says what to do with a new pattern of arguments")

    def _traced(self, args, kwargs):
        raise NotImplementedError("a subclass says what a call means while something is being transformed")

    def clear_cache(self):
        """Forgets every program compiled for this function."""
        self.cache.clear()

    _clear_cache = clear_cache

    def _cache_size(self):
        return len(self.cache.table)

    @property
    def static_arguments(self):
        """(positions, names) of the static arguments."""
        return self.static_argnums, self.static_argnames
