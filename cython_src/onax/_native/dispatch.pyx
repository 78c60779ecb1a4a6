"""Primitives, and what happens when one is applied: it goes to the current trace, or is evaluated here and now.

Evaluating means: operands to ndarrays, kernel, result to an Array.  Abstract evaluation stays out of it, but for two
cases: the first time that a primitive meets a dtype (so that a kernel never computes in one that the rule refuses), and
when something is wrong, so that the error is worded well.
"""

import numpy as np

cimport numpy as cnp
from cpython.exc cimport PyErr_Clear
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdint cimport uint64_t

from onax._native.array cimport (
    Array, ArrayImpl, buffer_of, canonical, device_of, is_extended, scalar_buffer, set_pair_function, wrap,
    wrap_plain,
)
from onax._native.avals cimport AbstractValue, ShapedArray, make_aval
from onax._native.context cimport ctx, default_device, quiet_begin, quiet_end

cnp.import_array()

cdef extern from "Python.h":
    object PyObject_Vectorcall(object callable, PyObject **args, size_t nargs, PyObject *kwnames)
    object PyObject_VectorcallDict(object callable, PyObject **args, size_t nargs, object kwargs)
    PyObject **PySequence_Fast_ITEMS(object)

cdef extern from "numpy/arrayobject.h":
    bint PyArray_CheckExact(object op)

# Which results of a primitive have a weak dtype.
ALL = "all"             # when all operands have
NEVER = "never"
FIRST = "first"         # when the first operand has

# Facts about a primitive: what other modules may rely on without knowing the primitive.
ELEMENTWISE = "elementwise"         # each result element depends on the operand elements at its place
LINEAR = "linear"                   # linear in all its array operands taken together
COMMUTATIVE = "commutative"
EFFECTFUL = "effectful"             # must not be removed, doubled or reordered
DATA_MOVEMENT = "data_movement"     # moves elements and never looks at them: any dtype, keys too

cdef enum:
    WEAK_ALL = 0
    WEAK_NEVER = 1
    WEAK_FIRST = 2
    WEAK_CALL = 3

cdef enum:
    ON_STACK = 8


cdef class Primitive:
    """One operation, with every rule for it as a field.

    Rules may be given here or assigned later.  Fields that are None are absent: the operation then cannot be
    evaluated, differentiated, transposed or batched, as the case may be, and says so when it is tried.
    """

    def __init__(self, str name, *, multiple_results=False, kernel=None, impl=None, abstract_eval=None, jvp=None,
                 transpose=None, batch=None, linearize=None, partial_eval=None, dce=None, pretty=None, weak=ALL,
                 facts=frozenset()):
        self.name = name
        self.multiple_results = multiple_results
        self.kernel = kernel
        self.impl = impl
        self.abstract_eval = abstract_eval
        self.jvp = jvp
        self.transpose = transpose
        self.batch = batch
        self.linearize = linearize
        self.partial_eval = partial_eval
        self.dce = dce
        self.pretty = pretty
        self.weak = weak
        self.facts = facts
        self.seen_mixed = set()

    @property
    def weak(self):
        return self._weak

    @weak.setter
    def weak(self, rule):
        self.weak_rule = {ALL: WEAK_ALL, NEVER: WEAK_NEVER, FIRST: WEAK_FIRST}.get(rule, WEAK_CALL)
        if self.weak_rule == WEAK_CALL and not callable(rule):
            raise ValueError(f"weak is ALL, NEVER, FIRST or a function of (flags, params), not {rule!r}")
        self._weak = rule

    @property
    def facts(self):
        return self._facts

    @facts.setter
    def facts(self, facts):
        self._facts = frozenset(facts)
        self.elementwise = ELEMENTWISE in self._facts

    def bind(self, *args, **params):
        """Applies the operation to arrays, under the current trace or, without one, at once."""
        return bind_n(self, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), params)

    def bind_with_trace(self, trace, args, params):
        """Applies it under the given trace; None evaluates."""
        if trace is None:
            return evaluate(self, args, params)
        return trace.process_primitive(self, args, params)

    def def_impl(self, impl):
        """Decorator: sets `impl`."""
        self.impl = impl
        return impl

    def def_abstract_eval(self, abstract_eval):
        """Decorator: sets `abstract_eval`, (*avals, **params) -> aval, or avals of several results."""
        self.abstract_eval = abstract_eval
        self.fixed_abstract_eval = False
        return abstract_eval

    def def_effectful_abstract_eval(self, abstract_eval):
        """Decorator: sets `abstract_eval` of the form that returns (aval or avals, set of effects)."""
        self.abstract_eval = abstract_eval
        self.fixed_abstract_eval = True
        return abstract_eval

    @property
    def is_effectful_abstract_eval(self):
        """Whether `abstract_eval` returns (avals, effects)."""
        return self.fixed_abstract_eval

    def abstract(self, *avals, **params):
        """(aval or avals, effects) for operand avals, whichever form `abstract_eval` has."""
        if self.abstract_eval is None:
            raise NotImplementedError(f"Abstract evaluation for {self.name!r} not implemented")
        result = self.abstract_eval(*avals, **params)
        return result if self.fixed_abstract_eval else (result, frozenset())

    def __repr__(self):
        return self.name

    def __reduce__(self):
        raise TypeError(f"the primitive {self.name} cannot be pickled")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# ---- operands ------------------------------------------------------------------------------------------------------

_stray_tracer = None


def set_stray_tracer_handler(handler):
    """Registers what raises when a traced stand-in is used although nothing is being traced: handler(primitive, x)."""
    global _stray_tracer
    _stray_tracer = handler


cdef class _Operands:
    """What the operands of one evaluation have in common."""

    cdef list values            # ndarrays: what keeps the kernel's operands alive
    cdef list weak              # weak bits, for a `weak` that is a function
    cdef bint all_weak
    cdef bint first_weak
    cdef bint has_user          # some operand's memory belongs to the user
    cdef object extended        # an extended dtype among the operands, or None
    cdef object device          # of the committed operands, else the default
    cdef bint committed


cdef object _as_operand(Primitive p, object x, Py_ssize_t i):
    """An operand that is no ArrayImpl: ndarray, NumPy scalar, Python scalar, or something that gives one of these."""
    if isinstance(x, Array):
        if _stray_tracer is not None:
            _stray_tracer(p, x)
        raise TypeError(f"a traced value reached {p.name} while nothing is being traced: {type(x).__name__}")
    method = getattr(type(x), "__jax_array__", None)
    if method is not None:
        return method(x)
    raise TypeError(
        f"Error interpreting argument to {p.name} as an array. The problematic value is of type {type(x)} and was "
        f"passed to {p.name} at position {i}."
    )


cdef _Operands _operands(Primitive p, PyObject **args, Py_ssize_t n):
    cdef _Operands ops = _Operands.__new__(_Operands)
    cdef ArrayImpl a
    cdef cnp.ndarray buf
    cdef bint weak
    cdef Py_ssize_t i
    cdef object x
    ops.values = []
    ops.weak = []
    ops.all_weak = True
    for i in range(n):
        x = <object>args[i]
        weak = False
        if type(x) is not ArrayImpl and not isinstance(x, (np.ndarray, np.generic, float, int, complex)):
            x = _as_operand(p, x, i)
        if type(x) is ArrayImpl:
            a = <ArrayImpl>x
            buf = buffer_of(a)
            weak = a.weak
            if is_extended(a._dtype):
                ops.extended = a._dtype
            if a.committed:
                if ops.committed and not _same_device(a, ops.device):
                    raise _incompatible_devices(p, args, n)
                ops.committed = True
                ops.device = device_of(a)
        elif isinstance(x, np.generic):
            buf = canonical(x)
        elif isinstance(x, np.ndarray):
            buf = canonical(x)
            if <object>buf is x or cnp.PyArray_BASE(buf) != NULL:
                ops.has_user = True
        else:
            buf = scalar_buffer(x, &weak)
        if i == 0:
            ops.first_weak = weak
        ops.all_weak = ops.all_weak and weak
        ops.weak.append(weak)
        ops.values.append(buf)
    if not ops.committed:
        ops.device = default_device()
    return ops


cdef bint _same_device(ArrayImpl a, object device) except -1:
    cdef object own = device_of(a)
    return own is device or own == device


cdef object _incompatible_devices(Primitive p, PyObject **args, Py_ssize_t n):
    cdef Py_ssize_t i
    found = []
    for i in range(n):
        x = <object>args[i]
        if isinstance(x, ArrayImpl) and (<ArrayImpl>x).committed:
            device = device_of(<ArrayImpl>x)
            text = (
                f"argument {_argument_name(i, n)} of {p.name} with shape {x.aval.str_short()} and with device ids "
                f"[{device.id}] on platform {device.platform.upper()}"
            )
            if not found or device != found[0][0]:
                found.append((device, text))
    return ValueError(
        f"Received incompatible devices for jitted computation. Got {found[0][1]} and {found[1][1]}"
    )


cdef str _argument_name(Py_ssize_t i, Py_ssize_t n):
    return "xyz"[i] if n <= 3 else f"args[{i}]"


# ---- the check before a kernel runs --------------------------------------------------------------------------------

cdef bint _dtypes_accepted(Primitive p, _Operands ops) except -1:
    """Whether abstract_eval has accepted these operand dtypes before, and the shapes are plainly right."""
    cdef cnp.ndarray first, buf
    cdef int num
    cdef bint uniform = True
    cdef Py_ssize_t n = len(ops.values)
    if n == 0 or p.abstract_eval is None:
        return True
    first = <cnp.ndarray>ops.values[0]
    num = cnp.PyArray_TYPE(first)
    for i in range(1, n):
        buf = <cnp.ndarray>ops.values[i]
        if cnp.PyArray_TYPE(buf) != num:
            uniform = False
            if not p.elementwise:
                break
        if p.elementwise and not _shapes_agree(first, buf):
            return False
    if uniform and num < 64 and num != cnp.NPY_VOID:
        return (p.seen >> num) & 1
    return _dtype_key(ops) in p.seen_mixed


cdef bint _shapes_agree(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Equal shapes, or one of rank 0."""
    cdef int i
    cdef int na = cnp.PyArray_NDIM(a)
    cdef int nb = cnp.PyArray_NDIM(b)
    if na == 0 or nb == 0:
        return True
    if na != nb:
        return False
    for i in range(na):
        if cnp.PyArray_DIM(a, i) != cnp.PyArray_DIM(b, i):
            return False
    return True


cdef tuple _dtype_key(_Operands ops):
    return (ops.extended, *[(<object>buf).dtype for buf in ops.values])


cdef int _remember(Primitive p, _Operands ops) except -1:
    cdef int num = cnp.PyArray_TYPE(<cnp.ndarray>ops.values[0])
    for buf in ops.values:
        if cnp.PyArray_TYPE(<cnp.ndarray>buf) != num:
            p.seen_mixed.add(_dtype_key(ops))
            return 0
    if num < 64 and num != cnp.NPY_VOID:
        p.seen |= <uint64_t>1 << num
    else:
        p.seen_mixed.add(_dtype_key(ops))
    return 0


cdef list _operand_avals(PyObject **args, Py_ssize_t n, _Operands ops):
    cdef Py_ssize_t i
    avals = []
    for i in range(n):
        x = <object>args[i]
        if type(x) is ArrayImpl:
            avals.append((<ArrayImpl>x).aval)
        else:
            buf = ops.values[i]
            avals.append(make_aval(buf.shape, buf.dtype, ops.weak[i]))
    return avals


cdef object _abstract(Primitive p, PyObject **args, Py_ssize_t n, _Operands ops, dict params):
    """Runs abstract_eval on the operands' avals; its errors are the ones users see."""
    avals = _operand_avals(args, n, ops)
    result = p.abstract_eval(*avals, **params) if params else p.abstract_eval(*avals)
    return result[0] if p.fixed_abstract_eval else result


# ---- evaluation ----------------------------------------------------------------------------------------------------

cdef object _call_kernel(object kernel, list values, dict params):
    """The kernel's result, computed with NumPy's floating-point warnings off."""
    cdef PyObject *token = quiet_begin()
    try:
        if params:
            return PyObject_VectorcallDict(kernel, PySequence_Fast_ITEMS(values), len(values), params)
        return PyObject_Vectorcall(kernel, PySequence_Fast_ITEMS(values), len(values), NULL)
    finally:
        quiet_end(token)


cdef bint _result_weak(Primitive p, _Operands ops, dict params, Py_ssize_t i) except -1:
    if p.weak_rule == WEAK_ALL:
        return ops.all_weak and len(ops.values) > 0
    if p.weak_rule == WEAK_NEVER:
        return False
    if p.weak_rule == WEAK_FIRST:
        return ops.first_weak
    flags = p._weak(tuple(ops.weak), params if params is not None else {})
    return flags[i] if isinstance(flags, (tuple, list)) else flags


cdef object _own(object result, _Operands ops):
    """The result, copied if it shares memory that belongs to the user."""
    if isinstance(result, np.ndarray):
        for operand in ops.values:
            if result is operand or np.may_share_memory(result, operand):
                return np.array(result, order="K", copy=True)
    return result


cdef object _needs_aval(object result, _Operands ops):
    """Whether the logical dtype of a result cannot be told from its buffer and the operands."""
    if type(result) is np.ndarray and cnp.PyArray_TYPE(<cnp.ndarray>result) == cnp.NPY_VOID:
        return result.dtype.names is None and (ops.extended is None or ops.extended.storage != result.dtype)
    return False


cdef object _wrap_result(Primitive p, object result, _Operands ops, bint weak, object aval):
    if ops.has_user:
        result = _own(result, ops)
    if type(result) is np.ndarray and cnp.PyArray_TYPE(<cnp.ndarray>result) == cnp.NPY_VOID:
        if aval is not None:
            return wrap(result, aval.dtype, weak, ops.device, ops.committed)
        if ops.extended is not None and ops.extended.storage == result.dtype:
            return wrap(result, ops.extended, False, ops.device, ops.committed)
    out = wrap_plain(result, weak, ops.device, ops.committed)
    if cnp.PyArray_TYPE(out.buf) == cnp.NPY_BOOL:
        out.weak = False
    return out


cdef object _arrays(PyObject **args, Py_ssize_t n):
    """Operands for an `impl`: ndarrays and scalars as arrays, everything else as it is."""
    cdef Py_ssize_t i
    cdef bint weak
    cdef cnp.ndarray buf
    out = []
    for i in range(n):
        x = <object>args[i]
        if type(x) is not ArrayImpl and isinstance(x, (np.ndarray, np.generic, float, int, complex)):
            weak = False
            if isinstance(x, (np.ndarray, np.generic)):
                buf = canonical(x)
                if <object>buf is x or cnp.PyArray_BASE(buf) != NULL:
                    buf = np.array(buf, order="K", copy=True)
            else:
                buf = scalar_buffer(x, &weak)
            x = wrap_plain(buf, weak, default_device(), False)
        out.append(x)
    return out


cdef object evaluate_n(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    cdef _Operands ops
    if p.impl is not None:
        operands = _arrays(args, n)
        return p.impl(*operands, **params) if params else p.impl(*operands)
    if p.kernel is None:
        raise NotImplementedError(f"Evaluation rule for {p.name!r} not implemented")
    ops = _operands(p, args, n)
    if not _dtypes_accepted(p, ops):
        _abstract(p, args, n, ops, params)
        _remember(p, ops)
    try:
        result = _call_kernel(p.kernel, ops.values, params)
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
        if p.abstract_eval is not None:
            _abstract(p, args, n, ops, params)
        raise
    return _wrap_results(p, result, args, n, ops, params)


cdef object _wrap_results(Primitive p, object result, PyObject **args, Py_ssize_t n, _Operands ops, dict params):
    cdef Py_ssize_t i
    if not p.multiple_results:
        aval = _abstract(p, args, n, ops, params) if _needs_aval(result, ops) else None
        return _wrap_result(p, result, ops, _result_weak(p, ops, params, 0), aval)
    avals = None
    if any([_needs_aval(r, ops) for r in result]):
        avals = _abstract(p, args, n, ops, params)
    return [
        _wrap_result(p, r, ops, _result_weak(p, ops, params, i), None if avals is None else avals[i])
        for i, r in enumerate(result)
    ]


cpdef object evaluate(Primitive p, args, params):
    """Applies `p` to values here and now, whatever is being traced."""
    if type(args) is not tuple and type(args) is not list:
        args = tuple(args)
    return evaluate_n(p, PySequence_Fast_ITEMS(args), len(args), params)


cdef object bind_n(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    cdef Py_ssize_t i
    cdef PyObject *trace = ctx().trace
    if trace == NULL:
        return evaluate_n(p, args, n, params)
    operands = tuple([<object>args[i] for i in range(n)])
    return (<object>trace).process_primitive(p, operands, params if params is not None else {})


# ---- the fast path of operators ------------------------------------------------------------------------------------

cdef object _evaluate_pair(PyObject *primitive, cnp.ndarray x, cnp.ndarray y, bint weak_x, bint weak_y,
                           object device, bint committed):
    """One or two (y None: one) buffers of one dtype through a primitive without parameters.

    NotImplemented whenever anything is out of the ordinary; the general path then does the work or words the error.
    """
    cdef Primitive p = <Primitive>primitive
    cdef PyObject *operands[2]
    cdef PyObject *token
    cdef bint weak
    if p.impl is not None or p.kernel is None or not (p.seen >> (cnp.PyArray_TYPE(x) & 63)) & 1:
        return NotImplemented
    if cnp.PyArray_TYPE(x) >= 64 or (y is not None and not _shapes_agree(x, y)):
        return NotImplemented
    operands[0] = <PyObject *>x
    operands[1] = <PyObject *>y
    token = quiet_begin()
    try:
        result = PyObject_Vectorcall(p.kernel, operands, 1 if y is None else 2, NULL)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return NotImplemented
    finally:
        quiet_end(token)
    if p.weak_rule == WEAK_ALL:
        weak = weak_x and weak_y
    elif p.weak_rule == WEAK_FIRST:
        weak = weak_x
    elif p.weak_rule == WEAK_NEVER:
        weak = False
    else:
        return NotImplemented
    return wrap_plain(result, weak, device, committed)


set_pair_function(_evaluate_pair)
