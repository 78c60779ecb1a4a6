"""ShapedArray: shape, dtype and weak bit of a value, immutable and cheap to compare."""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.dict cimport PyDict_GetItem, PyDict_Size
from cpython.ref cimport PyObject

from onax._native.hooks cimport hooks

cnp.import_array()

float0 = np.dtype([("float0", np.void, 0)])

cdef dict _interned = {}
cdef dict _short_names = {}

cdef enum:
    INTERNED_AT_MOST = 8192


@cython.auto_pickle(False)
cdef class OpaqueDType:
    """The base class of extended dtypes, by which compiled code knows them."""


cdef object dtype_of(object dtype):
    if cnp.PyArray_DescrCheck(dtype):
        return dtype
    if isinstance(dtype, (type, str)) or dtype is None:
        return np.dtype(dtype)
    if isinstance(dtype, OpaqueDType):
        return dtype
    return np.dtype(dtype)


cdef str _short_name(object dtype):
    name = _short_names.get(dtype)
    if name is None:
        name = str(dtype.name)
        if cnp.PyArray_DescrCheck(dtype):
            if dtype == float0:
                name = "float0"
            else:
                for long, short in (("float", "f"), ("uint", "u"), ("int", "i"), ("complex", "c")):
                    name = name.replace(long, short)
        _short_names[dtype] = name
    return name


cdef str _name(object dtype):
    if cnp.PyArray_DescrCheck(dtype):
        return "float0" if dtype == float0 else dtype.name
    return str(dtype)


def short_dtype_name(dtype):
    """The short name of a dtype as printed in jaxprs: `f32`, `bf16`, `i8`, `key<fry>`."""
    return _short_name(dtype_of(dtype))


cdef object _checked_dim(object d, object shape):
    """A dimension as an int, or a symbolic object untouched; refuses floats and other non-dimensions."""
    if type(d) is int:
        return d
    if isinstance(d, (bool, np.bool_)):
        return int(d)
    if isinstance(d, (int, np.integer)):
        return int(d)
    if isinstance(d, (float, complex, str, bytes, np.generic, type(None))):
        raise TypeError(f"Shapes must be 1D sequences of concrete values of integer type, got {tuple(shape)}.")
    return d


cdef tuple _checked_shape(object shape):
    cdef tuple t
    if type(shape) is tuple:
        t = <tuple>shape
        for d in t:
            if type(d) is not int:
                break
        else:
            return t
    try:
        return tuple([_checked_dim(d, shape) for d in shape])
    except TypeError:
        if hasattr(shape, "__iter__"):
            raise
        raise TypeError(
            f"Shapes must be 1D sequences of concrete values of integer type, got {shape!r}."
        ) from None


cdef class AbstractValue:
    """Base of everything that stands for a value while tracing."""

    # Whether it is a type that a program defined (`_core/hitypes.py`), and whether values of it have a state.
    is_high = False
    has_qdd = False

    def to_tangent_aval(self):
        raise NotImplementedError(f"{type(self).__name__} has no tangent type")

    def at_least_vspace(self):
        return self.to_tangent_aval()

    def to_cotangent_aval(self):
        return self.to_tangent_aval()

    def to_ct_aval(self):
        return self.to_tangent_aval()

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        return str(self)

    def strip_weak_type(self):
        return self

    def update_weak_type(self, weak_type):
        return self

    def normalize(self):
        return self.strip_weak_type()

    def update(self, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no fields to update")

    def lo_ty(self):
        return [self]

    def lower_val(self, value):
        return [value]

    def raise_val(self, value):
        return value

    def dec_rank(self, size, spec):
        return hooks.without_axis(self, size, spec)

    def inc_rank(self, size, spec):
        return hooks.with_axis(self, size, spec)

    def leading_axis_spec(self):
        return 0

    def vspace_add(self, x, y):
        return hooks.add_tangents(x, y)

    def shard(self, mesh, manual_axes, check_vma, spec):
        return hooks.type_of_shard(self, mesh, manual_axes, check_vma, spec)

    def unshard(self, mesh, check_vma, spec):
        return hooks.type_of_whole(self, mesh, check_vma, spec)


_KEEP = object()
cdef frozenset NOWHERE = frozenset()


cdef class ShapedArray(AbstractValue):
    """Shape and dtype of an array, and whether its dtype is weak (that is, came from a Python scalar).

    `shape` holds ints or hashable symbolic dimensions; `dtype` is an `np.dtype` or an extended dtype such as that of
    PRNG keys.  Equality is by value.  Raises TypeError when an entry of `shape` cannot be a dimension.
    """

    def __cinit__(
        self, shape, dtype, weak_type=False, *, sharding=None, memory_space=None, manual_axis_type=None,
        varying=NOWHERE,
    ):
        self.unreduced = self.reduced = NOWHERE
        self.shape = _checked_shape(shape)
        self.dtype = dtype_of(dtype)
        self.weak_type = weak_type
        self._sharding = sharding if sharding is None else hooks.type_sharding(sharding, len(self.shape))
        self._memory_space = memory_space
        if manual_axis_type is None:
            self.varying = frozenset(varying)
        else:
            self.varying = frozenset(manual_axis_type.varying)
            self.unreduced, self.reduced = frozenset(manual_axis_type.unreduced), frozenset(manual_axis_type.reduced)

    @property
    def sharding(self):
        """Where the value lives, as a sharding; the trivial one unless stated."""
        if self._sharding is None and hooks.aval_sharding is not None:
            return hooks.aval_sharding(self)
        return self._sharding

    @property
    def stated_sharding(self):
        """The sharding over explicit axes of a mesh, or None."""
        return self._sharding

    @property
    def memory_space(self):
        return self._memory_space

    @property
    def manual_axis_type(self):
        """How the value relates to the mesh axes that `shard_map` maps over, as a ManualAxisType."""
        return hooks.manual_axis_type(self.varying, self.unreduced, self.reduced)

    @property
    def mat(self):
        """The same as `manual_axis_type`."""
        return self.manual_axis_type

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        """The number of elements: an int, or a symbolic expression."""
        total = 1
        for d in self.shape:
            total = total * d
        return total

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    def update(
        self, *, shape=_KEEP, dtype=_KEEP, weak_type=_KEEP, sharding=_KEEP, memory_space=_KEEP,
        manual_axis_type=_KEEP, varying=_KEEP,
    ):
        """A copy in which the given fields differ.  A changed rank drops a stated sharding."""
        new_shape = self.shape if shape is _KEEP else _checked_shape(shape)
        new_dtype = self.dtype if dtype is _KEEP else dtype_of(dtype)
        new_weak = self.weak_type if weak_type is _KEEP else bool(weak_type)
        new_space = self._memory_space if memory_space is _KEEP else memory_space
        if sharding is _KEEP:
            new_sharding = self._sharding if len(<tuple>new_shape) == len(self.shape) else None
        else:
            new_sharding = sharding
        new_varying = self.varying if varying is _KEEP else varying
        if manual_axis_type is _KEEP and (self.unreduced or self.reduced):
            manual_axis_type = hooks.manual_axis_type(frozenset(new_varying), self.unreduced, self.reduced)
        if manual_axis_type is not _KEEP:
            return ShapedArray(
                new_shape, new_dtype, new_weak, sharding=new_sharding, memory_space=new_space,
                manual_axis_type=manual_axis_type,
            )
        if new_sharding is None and new_space is None and not new_varying:
            return make_aval(new_shape, new_dtype, new_weak)
        return ShapedArray(
            new_shape, new_dtype, new_weak, sharding=new_sharding, memory_space=new_space, varying=new_varying
        )

    def update_manual_axis_type(self, manual_axis_type):
        """The same aval that varies over other mesh axes."""
        return self.update(manual_axis_type=manual_axis_type)

    def strip_weak_type(self):
        """The same aval with a strong dtype."""
        return self.update(weak_type=False) if self.weak_type else self

    def update_weak_type(self, weak_type):
        return self.update(weak_type=weak_type)

    def to_tangent_aval(self):
        """The type of tangents: the same for floating and complex dtypes, float0 for every other."""
        dtype = self.dtype
        if cnp.PyArray_DescrCheck(dtype) and (dtype.kind in "fc" or _is_ml_float(dtype)):
            return self
        return self.update(dtype=float0)

    def to_ct_aval(self):
        """The type of cotangents: that of tangents, over whose reduced axes values are parts of sums, and the reverse."""
        aval = self.to_tangent_aval()
        return aval if hooks.cotangent_type is None else hooks.cotangent_type(aval)

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        """`float32[3,4]`, or `f32[3,4]`; `f32[4@x,2]` where the mesh axis x splits the first dimension.

        `f32[2]{V:x}` is a value that varies over the mesh axis x, `f32[2]{U:x}` one that is yet to be summed over it.
        """
        name = _short_name(self.dtype) if short_dtypes else _name(self.dtype)
        if self._sharding is not None and hooks.dimensions_text is not None:
            dimensions = hooks.dimensions_text(self.shape, self._sharding)
        else:
            dimensions = ",".join([str(d) for d in self.shape])
        axes = ""
        if self._sharding is not None or self.varying or self.unreduced or self.reduced:
            axes = hooks.axes_text(self)
        return f"{name}[{dimensions}]{axes}"

    def _len(self, ignored_tracer=None):
        """The length of the leading axis.  Raises TypeError when there is none."""
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __len__(self):
        return self._len()

    def __str__(self):
        return ("~" if self.weak_type else "") + self.str_short()

    def __repr__(self):
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_short()}{weak})"

    def __hash__(self):
        if self._hash == 0:
            self._hash = hash(
                (
                    self.shape, self.dtype, self.weak_type, self._sharding, self._memory_space, self.varying,
                    self.unreduced, self.reduced,
                )
            ) or 1
        return self._hash

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, ShapedArray):
            return NotImplemented
        return _same(self, <ShapedArray>other)

    def __reduce__(self):
        mat = self.manual_axis_type
        return (_rebuild, (self.shape, self.dtype, self.weak_type, self._sharding, self._memory_space, mat))


cdef bint _same(ShapedArray a, ShapedArray b) except -1:
    if a._hash != 0 and b._hash != 0 and a._hash != b._hash:
        return False
    if a.weak_type != b.weak_type or len(a.shape) != len(b.shape):
        return False
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        return False
    if a.shape is not b.shape and a.shape != b.shape:
        return False
    return (
        (a._sharding is b._sharding or a._sharding == b._sharding)
        and (a._memory_space is b._memory_space or a._memory_space == b._memory_space)
        and (a.varying is b.varying or a.varying == b.varying)
        and (a.unreduced is b.unreduced or a.unreduced == b.unreduced)
        and (a.reduced is b.reduced or a.reduced == b.reduced)
        and type(a) is type(b)
    )


def _rebuild(shape, dtype, weak_type, sharding, memory_space, mat):
    return ShapedArray(shape, dtype, weak_type, sharding=sharding, memory_space=memory_space, manual_axis_type=mat)


cdef bint _is_ml_float(object dtype) except -1:
    """bfloat16, float8 and the like have kind V in NumPy; their names tell them from int4."""
    return dtype.kind == "V" and "float" in dtype.name and dtype.names is None


cdef ShapedArray make_aval(tuple shape, object dtype, bint weak):
    cdef ShapedArray aval
    cdef PyObject *interned
    key = (shape, dtype, weak)
    interned = PyDict_GetItem(_interned, key)
    if interned != NULL:
        return <ShapedArray>interned
    aval = ShapedArray.__new__(ShapedArray, shape, dtype, weak)
    if PyDict_Size(_interned) >= INTERNED_AT_MOST:
        _interned.clear()
    _interned[key] = aval
    return aval


def intern_aval(tuple shape, dtype, weak_type=False):
    """The one ShapedArray of these fields; `dtype` must already be an np.dtype or extended dtype."""
    return make_aval(shape, dtype, weak_type)
