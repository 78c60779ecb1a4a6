# Abstract values: what is known of an array before it is computed.

cdef class AbstractValue:
    pass

cdef class ShapedArray(AbstractValue):
    cdef readonly tuple shape           # ints or hashable symbolic dimensions
    cdef readonly object dtype          # np.dtype or extended-dtype object
    cdef readonly bint weak_type        # came from a Python scalar: gives way in promotion
    cdef readonly frozenset varying     # inside `shard_map`: the mesh axes over which the value varies
    cdef readonly frozenset unreduced   # ... over which it is a part of a sum
    cdef readonly frozenset reduced     # ... over which cotangents are parts of a sum
    cdef object _sharding               # None unless stated
    cdef object _memory_space           # None unless stated
    cdef Py_hash_t _hash                # 0 until computed

cdef ShapedArray make_aval(tuple shape, object dtype, bint weak)     # interned
cdef object dtype_of(object dtype)      # np.dtype for classes and names; extended-dtype objects as they are
