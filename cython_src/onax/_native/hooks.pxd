# The one record of what compiled code calls in Python.

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef enum Op:       # the operators of arrays, in the order of `OPERATOR_NAMES`
    ADD, SUB, MUL, TRUEDIV, FLOORDIV, MOD, DIVMOD, POW, MATMUL, AND, OR, XOR, LSHIFT, RSHIFT
    EQ, NE, LT, LE, GT, GE
    NEG, POS, ABS, INVERT
    GETITEM, ITER
    OPS

cdef class Hooks:
    # where operations were written (`source_info`)
    cdef public object is_internal              # (file name) -> whether it belongs to onax
    cdef public object source_traceback         # (SourceInfo) -> its `traceback`
    cdef public object name_stack               # (SourceInfo) -> its `name_stack`
    # errors that leave public functions (`api_boundary`)
    cdef public object filter_traceback         # (error): takes the frames of onax out of its traceback
    cdef public object name_error               # (error, label, args): adds the name of the function that failed
    cdef public object unhashable_error         # (value, error) -> the error for a static argument without a hash
    cdef public object jit_api_function         # (ApiFunction) -> the jitted function whose methods it has
    cdef public object jit_function             # (function, **options of `jit`) -> the jitted function
    # evaluation (`context`, `dispatch`, `interpreter`)
    cdef public object eval_trace               # the trace that evaluates: to make it current is to have none
    cdef public object stray_tracer             # (primitive, tracer): raises, as nothing is being traced
    cdef public object checked_evaluation       # (primitive, operands, params) -> result, while ...
    cdef public uint64_t checked_options        # ... one of these options is on
    cdef public object guard_arguments          # (leaves of a jitted call), while ...
    cdef public uint64_t guard_options          # ... one of these options is on, which no key holds
    cdef public object locate_error             # (FloatingPointError, equation that raised it): adds the line
    # functions of the library (`library_function`)
    cdef public object compile_library_function # (LibraryFunction) -> the JitFunction of its compiled form ...
    cdef public uint64_t uncompiled_options     # ... which runs while none of these options is on
    # placement (`array`, `avals`, `dispatch`)
    cdef public object first_device             # () -> the device of arrays that state none
    cdef public object device_memory            # (device) -> the DeviceMemory of a device that is not the host
    cdef public object array_sharding           # (array) -> its sharding, where none was stated
    cdef public object aval_sharding            # (aval) -> its sharding, where none was stated
    cdef public object type_sharding            # (sharding, rank) -> that in the type of an array: over explicit axes
    cdef public object manual_axis_type         # (varying, unreduced, reduced mesh axes) -> ManualAxisType
    cdef public object cotangent_type           # (aval of tangents) -> that of cotangents
    cdef public object axes_text                # (aval) -> the text of mesh axes that follows its dimensions
    cdef public object vary_operands            # (primitive, operands, params) -> operands, which vary over the same mesh axes
    cdef public object dimensions_text          # (shape, sharding over explicit axes) -> the text of its dimensions
    cdef public object place_sharded_result     # (primitive, operands, params, result) -> the result, placed
    cdef public object evaluate_spanning        # (primitive, operands, params) -> result, of arrays in several processes
    # what methods of types do (`avals`)
    cdef public object without_axis             # (aval, size, axis) -> the type of a slice along an axis
    cdef public object with_axis                # (aval, size, axis) -> the type with one more axis
    cdef public object add_tangents             # (x, y) -> the sum
    cdef public object type_of_shard            # (aval, mesh, manual axes, check_vma, spec) -> the type inside `shard_map`
    cdef public object type_of_whole            # (aval, mesh, check_vma, spec) -> the type outside
    # protocol buffers of structures (`tree`)
    cdef public object serialize_structure      # (PyTreeDef) -> bytes
    cdef public object deserialize_structure    # (registry, bytes) -> PyTreeDef
    # operators (`array`)
    cdef dict _operators                        # {name: function}
    cdef dict _operator_primitives              # {name: (primitive, kinds)}: the operator is that for some dtypes
    cdef PyObject *functions[OPS]               # the same by operator, borrowed from these dictionaries; NULL: none
    cdef PyObject *primitives[OPS]
    cdef int kinds[OPS]                         # which kinds of dtypes, a bit for each

cdef Hooks hooks

cdef inline int kind_bit(int kind) noexcept:
    """A bit for each np.dtype.kind."""
    return 1 if kind == c"V" else 1 << (kind - c"a")

# Raises the TypeError for an operator between an array and a list, tuple, set or dictionary.
cdef int refuse_container(int op, object x, object other, bint swapped) except -1
