"""Arrays: the base class `Array`, which has all operator slots, and `ArrayImpl`, values in memory.

An operator is evaluated as a primitive (`hooks.operator_primitives`) if nothing is traced and the operands agree in
dtype; otherwise the function of that name in `hooks.operators` is called.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_GetBuffer
from cpython.object cimport Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE, PyObject, PyObject_RichCompare, PyTypeObject

from onax._native.avals cimport ShapedArray, make_aval
from onax._native.buffers cimport (
    canonical, invalid_value, is_extended, is_numpy, scalar_buffer, scalar_like, shares_with_user,
)
from onax._native.context cimport ctx, default_device
from onax._native.conversions cimport (
    array_format, array_repr, array_str, dlpack_export, index_value, numpy_array, plain_buffer,
    python_scalar, truth,
)
from onax._native.device_buffers cimport DeviceBuffer, DeviceMemory, download, logical_rank, upload
from onax._native.device_exchange cimport CPU_DLPACK_DEVICE, cuda_interface, dlpack_device, export_capsule, refuse_if
from onax._native.hooks cimport (
    ABS, ADD, AND, DIVMOD, EQ, FLOORDIV, GE, GETITEM, GT, INVERT, ITER, LE, LSHIFT, LT, MATMUL, MOD, MUL, NE, NEG, OR,
    POS, POW, RSHIFT, SUB, TRUEDIV, XOR, hooks, kind_bit, refuse_container,
)
from onax._native.memory cimport append_link, copy_array, remove_link

from onax._native.conversions import IN_SEVERAL_PROCESSES
from onax._native.hooks import OPERATOR_NAMES

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(object op)
    cnp.ndarray PyArray_FromScalar(object scalar, void *descr)
    void PyArray_CLEARFLAGS(cnp.ndarray arr, int flags)
    int NPY_ARRAY_WRITEABLE

cdef extern from *:
    """
    #define onax_type_dict(type) (((PyTypeObject *)(type))->tp_dict)
    #define onax_is_numpy_scalar(x) PyArray_IsScalar(x, Generic)
    #define onax_clear_owner(buffer) Py_CLEAR((buffer)->obj)
    #define onax_type_modified(type) PyType_Modified((PyTypeObject *)(type))
    """
    bint PyLong_CheckExact(object)
    PyObject *onax_type_dict(object)
    bint onax_is_numpy_scalar(object)
    void onax_clear_owner(Py_buffer *)
    void onax_type_modified(object)


# ---- operators -----------------------------------------------------------------------------------------------------

cdef operator_evaluator _evaluate = NULL


cdef void set_operator_evaluator(operator_evaluator f) noexcept:
    global _evaluate
    _evaluate = f


def install_method(cls, str name, obj):
    """Sets a method or property of Array or ArrayImpl, whose attributes Python cannot assign.

    Names of type slots (`__add__`, `__repr__`, ...) have no effect.
    """
    if cls is not Array and cls is not ArrayImpl:
        raise TypeError(f"methods are installed on Array and ArrayImpl only, not on {cls!r}")
    (<dict>onax_type_dict(cls))[name] = obj
    onax_type_modified(cls)


cdef object _function(int op):
    if hooks.functions[op] == NULL:
        raise NotImplementedError(f"the operator {OPERATOR_NAMES[op]} has no function yet; import onax.numpy")
    return <object>hooks.functions[op]


cdef object _unary(int op, Array x):
    cdef ArrayImpl a
    if hooks.primitives[op] != NULL and type(x) is ArrayImpl and ctx().trace == NULL:
        a = <ArrayImpl>x
        if a.buf is not None and not is_extended(a._dtype) and a.shards is None:
            if kind_bit((<cnp.dtype>a._dtype).kind) & hooks.kinds[op]:
                device = a.dev if a.placed else default_device()
                result = _evaluate(hooks.primitives[op], a.buf, None, a.weak, a.weak, device, a.placed, False)
                if result is not NotImplemented:
                    return result
    return _function(op)(x)


cdef object _fast_binary(int op, ArrayImpl x, object other, bint swapped):
    """The result, or NotImplemented if the operands need the general path."""
    cdef ArrayImpl y
    cdef cnp.ndarray a = x.buf
    cdef cnp.ndarray b
    cdef object dtype = x._dtype
    cdef object device = x.dev
    cdef bint committed = x.placed
    cdef bint weak, foreign = False
    if a is None or is_extended(dtype) or x.shards is not None:
        return NotImplemented
    if not kind_bit((<cnp.dtype>dtype).kind) & hooks.kinds[op]:
        return NotImplemented
    if type(other) is ArrayImpl:
        y = <ArrayImpl>other
        b = y.buf
        if b is None or cnp.PyArray_TYPE(b) != cnp.PyArray_TYPE(a) or y.shards is not None:
            return NotImplemented
        if y.dev is not device or y.placed != committed:
            if y.placed:
                if committed:
                    return NotImplemented
                device = y.dev
                committed = True
        weak = y.weak
    elif is_numpy(other):
        b = canonical(other)
        if cnp.PyArray_TYPE(b) != cnp.PyArray_TYPE(a):
            return NotImplemented
        weak = False
        foreign = shares_with_user(other, b)
    else:
        b = scalar_like(other, dtype)
        if b is None:
            return NotImplemented
        weak = True
    if not committed:
        device = default_device()
    if swapped:
        return _evaluate(hooks.primitives[op], b, a, weak, x.weak, device, committed, foreign)
    return _evaluate(hooks.primitives[op], a, b, x.weak, weak, device, committed, foreign)


cdef bint _accepts(object other) except -1:
    """Whether a binary operator accepts `other`; if not, Python tries the reflected operator of `other`."""
    return isinstance(other, (Array, int, float, complex)) or is_numpy(other)


cdef object _binary(int op, Array x, object other, bint swapped):
    if hooks.primitives[op] != NULL and type(x) is ArrayImpl and ctx().trace == NULL:
        result = _fast_binary(op, <ArrayImpl>x, other, swapped)
        if result is not NotImplemented:
            return result
    if not _accepts(other):
        if hasattr(other, "__jax_array__"):
            other = other.__jax_array__()
            if not _accepts(other):
                return NotImplemented
        else:
            if type(other) in (list, tuple, set, dict):  # a class of the user's may have the operator
                refuse_container(op, x, other, swapped)
            return NotImplemented
    if op >= EQ and op <= NE and type(x) is ArrayImpl and _is_float0(<ArrayImpl>x):
        return PyObject_RichCompare(np.asarray(x), np.asarray(other), Py_EQ if op == EQ else Py_NE)
    if swapped:
        return _function(op)(other, x)
    return _function(op)(x, other)


cdef bint _is_float0(ArrayImpl x) except -1:
    """Whether an array has dtype float0, whose elements are no numbers but can be compared for equality, as in NumPy."""
    return x.buf is not None and cnp.PyArray_TYPE(x.buf) == cnp.NPY_VOID and not is_extended(x._dtype)


# ---- making arrays -------------------------------------------------------------------------------------------------

cdef ArrayImpl wrap(object result, object dtype, bint weak, object device, bint committed):
    """`result` (ndarray or NumPy scalar that nobody writes to) as an array of the logical dtype `dtype`.

    None stands for the result's own dtype.
    """
    cdef ArrayImpl out = ArrayImpl.__new__(ArrayImpl)
    cdef cnp.ndarray a
    if PyArray_CheckExact(result):
        a = <cnp.ndarray>result
    elif onax_is_numpy_scalar(result):
        a = PyArray_FromScalar(result, NULL)
    else:
        a = np.asarray(result)
    PyArray_CLEARFLAGS(a, NPY_ARRAY_WRITEABLE)
    out.buf = a
    out._dtype = <object>cnp.PyArray_DESCR(a) if dtype is None else dtype
    out.weak = weak
    out.placed = committed
    out.dev = device
    append_link(&out.link, <void *>out)
    return out


cdef ArrayImpl wrap_plain(object result, bint weak, object device, bint committed):
    return wrap(result, None, weak, device, committed)


cdef ArrayImpl wrap_resident(DeviceBuffer buffer, object dtype, bint weak, object device, bint committed):
    """A buffer on a device as an array of a logical dtype; None stands for the buffer's own."""
    cdef ArrayImpl out = ArrayImpl.__new__(ArrayImpl)
    out.resident = buffer
    out._dtype = buffer.descr if dtype is None else dtype
    out.weak = weak
    out.placed = committed
    out.dev = device
    append_link(&out.link, <void *>out)
    return out


cdef ArrayImpl wrap_spanning(tuple shards, object sharding, ShapedArray aval):
    """The array of a type whose elements lie in several processes; `shards`: pairs of this process (device, part)."""
    cdef ArrayImpl out = ArrayImpl.__new__(ArrayImpl)
    out._aval = aval
    out._dtype = aval.dtype
    out.weak = aval.weak_type
    out.placed = True
    out.shards = shards
    out.shd = sharding
    append_link(&out.link, <void *>out)
    return out


cdef bint is_spanning(ArrayImpl x):
    """Whether the elements lie in several processes, so that none has them all."""
    return x.buf is None and x.resident is None and x.shards is not None


cdef ArrayImpl wrap_like(ArrayImpl x, bint weak, object device, bint committed):
    cdef ArrayImpl out
    if is_spanning(x):
        return wrap_spanning(x.shards, x.shd, x._aval.update(weak_type=weak))
    if x.resident is None or device is not x.dev:
        return wrap(buffer_of(x), x._dtype, weak, device, committed)
    out = wrap_resident(x.resident, x._dtype, weak, device, committed)
    out.buf = x.buf
    return out


cdef object _device_or_default(object device, bint committed):
    return default_device() if device is None and not committed else device


def make_array(buffer, dtype=None, bint weak_type=False, device=None, bint committed=False):
    """An array around `buffer`, an ndarray of accepted dtype that nobody else will write to; no copy.

    `dtype` is needed only for an extended dtype, whose storage dtype the buffer then has.
    Raises TypeError when the buffer's dtype is another.
    """
    storage = dtype if dtype is None or cnp.PyArray_DescrCheck(dtype) else dtype.storage
    if storage is not None and buffer.dtype is not storage and buffer.dtype != storage:
        raise TypeError(f"make_array got a buffer of dtype {buffer.dtype} for an array of dtype {dtype}")
    return wrap(buffer, dtype, weak_type, _device_or_default(device, committed), committed)


def from_user(x, bint weak_type=False, device=None, bint committed=False):
    """An array of the elements of `x` (ndarray, NumPy scalar, Python scalar or array), sharing no memory with it.

    64-bit dtypes become 32-bit ones unless x64 is enabled.  A Python scalar other than a bool gives a weak dtype.
    Raises TypeError for anything else and for dtypes that no array can have.
    """
    cdef bint weak = False
    cdef cnp.ndarray a
    if isinstance(x, ArrayImpl):
        return x
    if is_numpy(x):
        a = canonical(x)
        if shares_with_user(x, a):
            a = copy_array(a)
        return wrap_plain(a, weak_type, _device_or_default(device, committed), committed)
    a = scalar_buffer(x, &weak)
    if a is None:
        raise invalid_value(x)
    return wrap_plain(a, weak or weak_type, _device_or_default(device, committed), committed)


cdef cnp.ndarray buffer_of(ArrayImpl x):
    return _fetched(x) if x.buf is None else x.buf


cdef object storage_dtype(object dtype):
    return dtype.storage if is_extended(dtype) else dtype


cdef cnp.ndarray _fetched(ArrayImpl x):
    """Copies the elements from the device, once."""
    cdef cnp.ndarray a
    if x.resident is None:
        if x.shards is not None:
            raise RuntimeError(IN_SEVERAL_PROCESSES)
        raise RuntimeError(f"Array has been deleted with shape={x._aval.str_short()}.")
    a = download(x.resident, storage_dtype(x._dtype))
    PyArray_CLEARFLAGS(a, NPY_ARRAY_WRITEABLE)
    x.buf = a
    return a


cdef tuple _shape_of(ArrayImpl x):
    if x.buf is None and x.resident is not None:
        return x.resident.shape[:logical_rank(x.resident, storage_dtype(x._dtype))]
    if is_spanning(x):
        return x._aval.shape
    return (<object>buffer_of(x)).shape


cdef DeviceMemory _memory_of(ArrayImpl x):
    """The memory of the device that an array is on; None for the host."""
    if x.shards is not None:
        return None
    if x.resident is not None:
        return x.resident.memory
    device = device_of(x)
    return None if device is None or device.platform == "cpu" else hooks.device_memory(device)


cdef DeviceBuffer _resident_of(ArrayImpl x, DeviceMemory memory):
    """The elements on the device; they are copied there if they are on the host alone."""
    cdef cnp.ndarray a
    if x.resident is None:
        a = buffer_of(x)
        if cnp.PyArray_ISCOMPLEX(a):
            a = np.asarray(a, order="C")[..., np.newaxis].view(a.real.dtype)
        x.resident = upload(memory, a)
    return x.resident


cdef object device_of(ArrayImpl x):
    if x.dev is not None or hooks.first_device is None:
        return x.dev
    return hooks.first_device()


# ---- the classes ---------------------------------------------------------------------------------------------------

cdef class Array:
    """An immutable array: a value in memory, or, while a function is traced, a stand-in for one.

    Arrays are made by functions such as `onax.numpy.array`; this class is for `isinstance` and annotations.
    """

    __array_priority__ = 100

    def __init__(self, *args, **kwargs):
        if type(self) in (Array, ArrayImpl):
            raise TypeError(f"{type(self).__name__} takes no arguments: functions such as onax.numpy.array make arrays")

    def __add__(self, other):
        return _binary(ADD, self, other, False)

    def __radd__(self, other):
        return _binary(ADD, self, other, True)

    def __sub__(self, other):
        return _binary(SUB, self, other, False)

    def __rsub__(self, other):
        return _binary(SUB, self, other, True)

    def __mul__(self, other):
        return _binary(MUL, self, other, False)

    def __rmul__(self, other):
        return _binary(MUL, self, other, True)

    def __truediv__(self, other):
        return _binary(TRUEDIV, self, other, False)

    def __rtruediv__(self, other):
        return _binary(TRUEDIV, self, other, True)

    def __floordiv__(self, other):
        return _binary(FLOORDIV, self, other, False)

    def __rfloordiv__(self, other):
        return _binary(FLOORDIV, self, other, True)

    def __mod__(self, other):
        return _binary(MOD, self, other, False)

    def __rmod__(self, other):
        return _binary(MOD, self, other, True)

    def __divmod__(self, other):
        return _binary(DIVMOD, self, other, False)

    def __rdivmod__(self, other):
        return _binary(DIVMOD, self, other, True)

    def __pow__(self, other, modulus):
        if modulus is not None:
            raise TypeError("pow() of arrays takes no modulus; use (x ** y) % modulus")
        return _binary(POW, self, other, False)

    def __rpow__(self, other, modulus):
        if modulus is not None:
            raise TypeError("pow() of arrays takes no modulus; use (x ** y) % modulus")
        return _binary(POW, self, other, True)

    def __matmul__(self, other):
        return _binary(MATMUL, self, other, False)

    def __rmatmul__(self, other):
        return _binary(MATMUL, self, other, True)

    def __and__(self, other):
        return _binary(AND, self, other, False)

    def __rand__(self, other):
        return _binary(AND, self, other, True)

    def __or__(self, other):
        return _binary(OR, self, other, False)

    def __ror__(self, other):
        return _binary(OR, self, other, True)

    def __xor__(self, other):
        return _binary(XOR, self, other, False)

    def __rxor__(self, other):
        return _binary(XOR, self, other, True)

    def __lshift__(self, other):
        return _binary(LSHIFT, self, other, False)

    def __rlshift__(self, other):
        return _binary(LSHIFT, self, other, True)

    def __rshift__(self, other):
        return _binary(RSHIFT, self, other, False)

    def __rrshift__(self, other):
        return _binary(RSHIFT, self, other, True)

    def __richcmp__(self, other, int op):
        return _binary(EQ if op == Py_EQ else NE if op == Py_NE else LT if op == Py_LT else LE if op == Py_LE
                       else GT if op == Py_GT else GE, self, other, False)

    def __neg__(self):
        return _unary(NEG, self)

    def __pos__(self):
        return _unary(POS, self)

    def __abs__(self):
        return _unary(ABS, self)

    def __invert__(self):
        return _unary(INVERT, self)

    def __getitem__(self, index):
        if type(self) is ArrayImpl and ctx().trace == NULL:
            result = _fast_getitem(<ArrayImpl>self, index)
            if result is not None:
                return result
        return _function(GETITEM)(self, index)

    def __setitem__(self, index, value):
        raise TypeError(
            "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use "
            "x = x.at[idx].set(y) or another .at[] method: "
            "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
        )

    def __delitem__(self, index):
        raise TypeError("onax arrays are immutable: elements cannot be deleted; use onax.numpy.delete.")

    def __len__(self):
        shape = self.aval.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return _function(ITER)(self)

    def __contains__(self, item):
        if self.ndim != 1:
            raise ValueError(f"Array.__contains__: search array must be one-dimensional, got arr.shape={self.shape}.")
        equal = self == item
        if not isinstance(equal, Array):
            raise TypeError(f"Array.__contains__: unsupported operand type {type(item)}.")
        return bool(equal.any())

    __hash__ = None


cdef object _plain_index(object i):
    """An index that NumPy reads as JAX does, an integer array of rank 0 as an int; NotImplemented for any other."""
    cdef ArrayImpl a
    if PyLong_CheckExact(i) or type(i) is slice or i is None or i is Ellipsis:
        return i
    if type(i) is ArrayImpl:
        a = <ArrayImpl>i
        if a.buf is not None and not a.placed and cnp.PyArray_NDIM(a.buf) == 0 and cnp.PyArray_ISINTEGER(a.buf):
            return a.buf.item()
    return NotImplemented


cdef enum:
    COPIED_AT_MOST = 4096   # bytes: a smaller part is copied, so that it does not keep the whole alive


cdef ArrayImpl _wrap_slice(ArrayImpl x, object piece):
    """A slice of x's buffer as an array."""
    cdef cnp.ndarray a
    if PyArray_CheckExact(piece):
        a = <cnp.ndarray>piece
        if cnp.PyArray_NBYTES(a) <= COPIED_AT_MOST and (  # keys show what they are part of
            cnp.PyArray_TYPE(a) != cnp.NPY_VOID or not cnp.PyArray_IS_C_CONTIGUOUS(a)):
            a = cnp.PyArray_NewCopy(a, cnp.NPY_KEEPORDER)
        piece = a
    return wrap(piece, x._dtype, x.weak, x.dev if x.placed else default_device(), x.placed)


cpdef tuple basic_index(object index):
    """NumPy's form of an index of ints, slices, None and Ellipsis, which it reads as JAX does; None for any other."""
    plain = [_plain_index(i) for i in (<tuple>index if type(index) is tuple else (index,))]
    if NotImplemented in plain:
        return None
    if Ellipsis not in plain:
        plain.append(Ellipsis)  # NumPy then gives a 0-d array, not a scalar
    return tuple(plain)


cdef object _fast_getitem(ArrayImpl x, object index):
    """Basic indexing within bounds; None for any other index."""
    cdef tuple plain
    if x.buf is None or x.shards is not None:
        return None
    plain = basic_index(index)
    if plain is None:
        return None
    try:
        piece = x.buf[plain]
    except (IndexError, ValueError, TypeError):
        return None  # the general path raises the error, or clamps
    return _wrap_slice(x, piece)


@cython.no_gc
@cython.final
cdef class ArrayImpl(Array):
    """A value in memory."""

    def __init__(self, *args, **kwargs):
        raise TypeError("arrays are made by functions such as onax.numpy.array, not by their class")

    def __dealloc__(self):
        remove_link(&self.link)

    # -- type

    @property
    def aval(self):
        """Shape, dtype and weak bit, as a ShapedArray."""
        if self._aval is None:
            self._aval = make_aval(_shape_of(self), self._dtype, self.weak)
        return self._aval

    @property
    def shape(self):
        return self.aval.shape if self.buf is None else (<object>self.buf).shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def weak_type(self):
        return self.weak

    @property
    def ndim(self):
        return len(self.aval.shape) if self.buf is None else cnp.PyArray_NDIM(self.buf)

    @property
    def size(self):
        return self.aval.size if self.buf is None else cnp.PyArray_SIZE(self.buf)

    @property
    def itemsize(self):
        return self._dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self._dtype.itemsize

    @property
    def _value(self):
        """The elements as a read-only ndarray; for extended dtypes, of the storage dtype."""
        return buffer_of(self).view()

    @property
    def _buffer(self):
        """The ndarray itself: for compiled callers and kernels, never for users."""
        return buffer_of(self)

    # -- placement

    @property
    def committed(self):
        """Whether the array is committed to its device, so that operations on it run there."""
        return self.placed

    @property
    def _committed(self):
        return self.placed

    @property
    def _device(self):
        return device_of(self)

    @property
    def _shards(self):
        return self.shards

    @property
    def device(self):
        """The device that holds it; its sharding when it lies on several."""
        if self.shards is not None:
            return self.sharding
        return device_of(self)

    @property
    def sharding(self):
        """The sharding of the array."""
        if self.shd is None and hooks.array_sharding is not None:
            self.shd = hooks.array_sharding(self)
        return self.shd

    def addressable_data(self, int index):
        """Shard number `index`, as an array on its device."""
        if self.shards is None:
            return (self,)[index]
        device, part = self.shards[index]
        return wrap(part, self._dtype, self.weak, device, True)

    def block_until_ready(self):
        """Returns the array itself: its elements are computed already.  Raises RuntimeError if it is deleted."""
        refuse_if(self.is_deleted(), RuntimeError, "BlockHostUntilReady() called on deleted or donated buffer")
        return self

    def copy_to_host_async(self):
        """Does nothing: the elements are on the host."""

    def is_ready(self):
        return True

    def is_deleted(self):
        return self.buf is None and self.resident is None and self.shards is None

    def delete(self):
        """Releases the elements.  Using the array afterwards raises RuntimeError."""
        self.aval
        self.buf = None
        self.resident = None
        self.shards = None

    def on_device_size_in_bytes(self):
        _shape_of(self)  # raises an error if it was deleted
        return self.nbytes if self.shards is None else sum([shard.data.nbytes for shard in self.addressable_shards])

    def unsafe_buffer_pointer(self):
        cdef DeviceMemory memory = None if is_extended(self._dtype) else _memory_of(self)
        refuse_if(self.shards is not None, RuntimeError, "UnsafeBufferPointer() is for unsharded arrays only.")
        if memory is not None:
            return <size_t>_resident_of(self, memory).data
        return <size_t>cnp.PyArray_DATA(buffer_of(self))

    # -- as Python and NumPy values

    def __len__(self):
        cdef tuple shape = _shape_of(self)
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self):
        cdef cnp.ndarray a = buffer_of(self)
        if cnp.PyArray_NDIM(a) == 0:
            raise TypeError("iteration over a 0-d key array" if is_extended(self._dtype) else
                            "iteration over a 0-d array")
        if ctx().trace != NULL or self.shards is not None:
            return _function(ITER)(self)
        return iter([_wrap_slice(self, a[i, ...]) for i in range(cnp.PyArray_DIM(a, 0))])

    def __bool__(self):
        return truth(buffer_of(self), self._dtype)

    def __int__(self):
        return int(python_scalar(buffer_of(self), self._dtype, "int"))

    def __float__(self):
        return float(python_scalar(buffer_of(self), self._dtype, "float"))

    def __complex__(self):
        return complex(python_scalar(buffer_of(self), self._dtype, "complex"))

    def __index__(self):
        return index_value(buffer_of(self), self._dtype)

    def __repr__(self):
        if is_spanning(self):
            return f"Array(shape={self._aval.shape}, dtype={self._dtype})"
        return array_repr(buffer_of(self), self._dtype, self.weak)

    def __str__(self):
        return repr(self) if is_spanning(self) else array_str(buffer_of(self), self._dtype)

    def __format__(self, spec):
        return format(repr(self), spec) if is_spanning(self) else array_format(buffer_of(self), self._dtype, spec)

    def item(self, *args):
        """An element as a Python scalar: the only one, or the one at the given index."""
        return plain_buffer(buffer_of(self), self._dtype, "item").item(*args)

    def tolist(self):
        """The elements as nested lists of Python scalars."""
        return plain_buffer(buffer_of(self), self._dtype, "tolist").tolist()

    def tobytes(self, order="C"):
        """The elements' bytes, in C or Fortran order."""
        return plain_buffer(buffer_of(self), self._dtype, "tobytes").tobytes(order)

    def __array__(self, dtype=None, copy=None):
        """The elements as an ndarray: read-only memory unless a copy is asked for."""
        return numpy_array(buffer_of(self), self._dtype, dtype, copy)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A DLPack capsule over the elements, read-only; a copy for consumers older than DLPack 1.0.

        The elements are on their device by now, so no `stream` has to wait.
        """
        cdef DeviceMemory memory
        cdef DeviceBuffer buffer
        refuse_if(is_extended(self._dtype), BufferError, "keys have no DLPack form; use onax.random.key_data(arr)")
        refuse_if(self.shards is not None, BufferError, "__dlpack__ only supported for unsharded arrays.")
        memory = _memory_of(self)
        if stream == 0 and memory is not None and memory.is_cuda:
            raise ValueError("__dlpack__: stream 0 is ambiguous; 1 is the legacy default stream, 2 the one per thread")
        if memory is None:
            return dlpack_export(buffer_of(self), max_version, dl_device, copy)
        if dl_device is not None and tuple(dl_device) != dlpack_device(memory):
            if copy is not None and not copy:
                raise BufferError(f"the array is on DLPack device {dlpack_device(memory)}; to export it to "
                                  f"{tuple(dl_device)} takes a copy")
            return dlpack_export(buffer_of(self), max_version, dl_device, None)
        buffer = _resident_of(self, memory)
        return export_capsule(buffer, self._dtype, logical_rank(buffer, self._dtype), max_version, copy)

    def __dlpack_device__(self):
        cdef DeviceMemory memory = _memory_of(self)
        refuse_if(self.shards is not None, BufferError, "__dlpack__ only supported for unsharded arrays.")
        return CPU_DLPACK_DEVICE if memory is None else dlpack_device(memory)

    @property
    def __cuda_array_interface__(self):
        """The elements on a CUDA device, read-only, for other libraries; AttributeError for other arrays."""
        cdef DeviceMemory memory = _memory_of(self)
        cdef DeviceBuffer buffer
        if memory is None or is_extended(self._dtype):
            raise AttributeError("__cuda_array_interface__: the array is not on a CUDA device")
        buffer = _resident_of(self, memory)
        return cuda_interface(buffer, self._dtype, logical_rank(buffer, self._dtype))

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        if is_extended(self._dtype) or self._dtype.kind == "V":
            kind = self._dtype.name.replace("uint", "u").replace("int", "s").replace("float", "f").replace("_", "").upper()
            raise BufferError(f"INVALID_ARGUMENT: Buffers of type {kind} are not supported by the Python buffer protocol.")
        view = buffer_of(self).view()
        onax_clear_owner(buffer)  # Cython put a counted None there, which the next line may overwrite
        PyObject_GetBuffer(view, buffer, flags)

    def __reduce__(self):
        dtype = self._dtype if is_extended(self._dtype) else None
        return (_restore, (np.asarray(buffer_of(self)), dtype, self.weak))

    def __copy__(self):
        return self._with()

    def __deepcopy__(self, memo):
        return self._with()

    def _with(self, *, weak_type=None, device=None, committed=None):
        """The same elements with another weak bit or placement."""
        cdef ArrayImpl out = wrap_like(self, self.weak, self.dev if device is None else device, self.placed)
        if weak_type is not None:
            out.weak = weak_type
        if device is None:
            out.shards, out.shd = self.shards, self.shd
        if committed is not None:
            out.placed = committed
        return out


def _restore(buffer, dtype, weak_type):
    return from_user(buffer, weak_type) if dtype is None else make_array(buffer, dtype, weak_type)
