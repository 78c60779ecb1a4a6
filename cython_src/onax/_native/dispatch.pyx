"""Primitive, and how one is applied: the current trace processes it, or it is evaluated at once.

An evaluation turns operands into ndarrays, runs the kernel and wraps the result as an Array.  Abstract evaluation runs
in two cases only: when a primitive meets a dtype for the first time, so that a kernel never computes in a dtype that the
rule refuses, and when something fails, so that the user gets the rule's error.
"""

import numpy as np

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport uint64_t

from onax._native.array cimport (
    Array, ArrayImpl, buffer_of, device_of, is_spanning, set_operator_evaluator, wrap, wrap_plain,
)
from onax._native.avals cimport make_aval
from onax._native.buffers cimport canonical, is_extended, is_numpy, scalar_buffer, shares_with_user
from onax._native.context cimport ctx, default_device, option_bits, quiet_begin, quiet_end, swap_trace
from onax._native.hooks cimport hooks
from onax._native.memory cimport ONAX_LARGE_BLOCK, begin_large, end_large

cnp.import_array()

cdef extern from "Python.h":
    object PyObject_Vectorcall(object callable, PyObject **args, size_t nargs, PyObject *kwnames)
    object PyObject_VectorcallDict(object callable, PyObject **args, size_t nargs, object kwargs)
    PyObject **PySequence_Fast_ITEMS(object)
    char *PyByteArray_AS_STRING(object)

# Which results of a primitive have a weak dtype.
ALL = "all"             # when all operands have
NEVER = "never"
FIRST = "first"         # when the first operand has

# The one fact about a primitive that this module reads; the others: `_core/facts.py`.
ELEMENTWISE = "elementwise"         # each result element depends on the operand elements at its index

cdef enum:
    WEAK_ALL = 0
    WEAK_NEVER = 1
    WEAK_FIRST = 2
    WEAK_CALL = 3


cdef enum:
    KNOWN_AT_MOST = 256     # operand types and parameters for which a primitive remembers the result's type

cdef object _no_effects = frozenset()


cdef class Primitive:
    """One operation, with every rule for it as a field.

    Rules may be given here or assigned later.  A field that is None is a missing rule: the operation then cannot be
    evaluated, differentiated, transposed or batched, and trying it raises an error that says so.
    """

    # Whether it calls a program and does nothing else; interpreters of other packages read it.
    call_primitive = False

    def __cinit__(self, *args, **fields):
        self._weak = ALL
        self._facts = frozenset()
        self.seen_mixed = set()

    def __init__(self, str name, *, multiple_results=False, kernel=None, impl=None, abstract_eval=None, jvp=None,
                 transpose=None, batch=None, linearize=None, partial_eval=None, dce=None, pretty=None, weak=ALL,
                 facts=frozenset()):
        self.name = name
        # A subclass may say it once for all its primitives, in its body.
        self.multiple_results = multiple_results or getattr(type(self), "multiple_results", None) is True
        self.kernel = kernel
        self.impl = self._given_or_method("impl", impl)
        self.abstract_eval = self._given_or_method("abstract_eval", abstract_eval)
        self.fixed_abstract_eval = self.abstract_eval is not abstract_eval
        self.jvp = jvp
        self.transpose = transpose
        self.batch = batch
        self.linearize = linearize
        self.partial_eval = partial_eval
        self.dce = dce
        self.pretty = pretty
        self.weak = weak
        self.facts = facts

    cdef object _given_or_method(self, str name, given):
        """A rule that was given, else the method of that name of a subclass, else None.

        A method `abstract_eval` has the form that returns (aval or avals, set of effects).
        """
        if given is None and type(self) is not Primitive:
            for cls in type(self).__mro__:
                if cls is Primitive:
                    break
                if name in vars(cls):
                    return getattr(self, name)
        return given

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
        cdef PyObject *trace = ctx().trace
        if trace == NULL:
            return evaluate_n(self, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), params)
        if ctx().typed_axes:
            args = hooks.vary_operands(self, args, params)
        return (<object>trace).process_primitive(self, args, params)

    def bind_with_trace(self, trace, args, avals, params=None):
        """Interprets the operation by the given trace, which is current meanwhile; None and `eval_trace` evaluate.

        `avals`, the types of the operands, may be left out: `bind_with_trace(trace, args, params)`.
        """
        params = avals if params is None else params
        previous = swap_trace(trace)
        try:
            if ctx().trace == NULL:
                return evaluate(self, args, params)
            return trace.process_primitive(self, args, params)
        finally:
            swap_trace(previous)

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
        if self.multiple_results or self.fixed_abstract_eval:  # programs, or what depends on axes in scope
            return self._abstract_anew(avals, params)
        if self.abstract_known_for is not self.abstract_eval:  # a rule was assigned
            self.abstract_known_for = self.abstract_eval
            self.abstract_known = {}
        key = (avals, option_bits(), tuple(params.items()))
        try:
            result = self.abstract_known.get(key)
        except TypeError:  # a parameter has no hash
            return self._abstract_anew(avals, params)
        if result is None:
            result = self._abstract_anew(avals, params)
            if len(self.abstract_known) >= KNOWN_AT_MOST:
                self.abstract_known.clear()
            self.abstract_known[key] = result
        return result

    cdef object _abstract_anew(self, tuple avals, dict params):
        result = self.abstract_eval(*avals, **params)
        types = result[0] if self.fixed_abstract_eval else result
        if isinstance(types, (tuple, list)) != self.multiple_results:
            raise ValueError(
                f"{self.name}.abstract_eval() method should return a tuple or a list iff {self.name}.multiple_results."
            )
        return result if self.fixed_abstract_eval else (result, _no_effects)

    def get_bind_params(self, params):
        """The keyword arguments with which `bind` applies the operation of an equation again."""
        return dict(params)

    def __repr__(self):
        return self.name

    def __reduce__(self):
        raise TypeError(f"the primitive {self.name} cannot be pickled")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# ---- operands ------------------------------------------------------------------------------------------------------

# The operands of one evaluation, however they were gathered.
cdef struct Operands:
    PyObject **args         # as they were given; NULL: those of an operator
    PyObject **buffers      # ndarrays
    char *weak              # the weak bit of each
    Py_ssize_t n
    PyObject *device        # of the committed operands, else the default
    bint committed
    bint foreign            # some buffer shares memory with the user


cdef class _Gathered:
    """Operands of any kind, and what owns them."""

    cdef Operands operands
    cdef list buffers
    cdef bytearray weak
    cdef object device
    cdef bint sharded           # some operand lies on several devices


cdef object _as_operand(Primitive p, object x, Py_ssize_t i):
    """An operand that is no ArrayImpl: ndarray, NumPy scalar, Python scalar, or something that gives one of these."""
    if isinstance(x, Array):
        if hooks.stray_tracer is not None:
            hooks.stray_tracer(p, x)
        raise TypeError(f"a traced value reached {p.name} while nothing is being traced: {type(x).__name__}")
    method = getattr(type(x), "__jax_array__", None)
    if method is not None:
        return method(x)
    raise _no_operand(p, x, i)


cdef object _no_operand(Primitive p, object x, Py_ssize_t i):
    return TypeError(
        f"Error interpreting argument to {p.name} as a JAX value. The problematic value is of type {type(x)} and was "
        f"passed to {p.name} at position {i}."
    )


cdef _Gathered _gather(Primitive p, PyObject **args, Py_ssize_t n):
    cdef _Gathered gathered = _Gathered.__new__(_Gathered)
    cdef Operands *ops = &gathered.operands
    cdef ArrayImpl a
    cdef cnp.ndarray buf
    cdef bint weak
    cdef Py_ssize_t i
    cdef object x
    gathered.buffers = []
    gathered.weak = bytearray(n)
    ops.args, ops.n, ops.weak = args, n, PyByteArray_AS_STRING(gathered.weak)
    for i in range(n):
        x = <object>args[i]
        weak = False
        if type(x) is not ArrayImpl and not is_numpy(x) and not isinstance(x, (float, int, complex)):
            x = _as_operand(p, x, i)
        if type(x) is ArrayImpl:
            a = <ArrayImpl>x
            buf = buffer_of(a)
            weak = a.weak
            if a.shards is not None:
                gathered.sharded = True
            elif a.placed:
                if ops.committed and not _same_device(a, gathered.device):
                    raise _incompatible_devices(p, args, n)
                ops.committed = True
                gathered.device = device_of(a)
        elif is_numpy(x):
            try:
                buf = canonical(x)
            except TypeError:
                raise _no_operand(p, x, i) from None
            ops.foreign = ops.foreign or shares_with_user(x, buf)
        else:
            buf = scalar_buffer(x, &weak)
            if buf is None:
                raise _no_operand(p, x, i)
        ops.weak[i] = weak
        gathered.buffers.append(buf)
    if not ops.committed:
        gathered.device = default_device()
    ops.buffers = PySequence_Fast_ITEMS(gathered.buffers)
    ops.device = <PyObject *>gathered.device
    return gathered


cdef bint _same_device(ArrayImpl a, object device) except -1:
    cdef object own = device_of(a)
    return own is device or own == device


cdef object _incompatible_devices(Primitive p, PyObject **args, Py_ssize_t n):
    cdef Py_ssize_t i
    first_of_each = []
    for i in range(n):
        x = <object>args[i]
        if isinstance(x, ArrayImpl) and (<ArrayImpl>x).placed:
            device = device_of(<ArrayImpl>x)
            text = (
                f"argument {_argument_name(i, n)} of {p.name} with shape {x.aval.str_short()} and with device ids "
                f"[{device.id}] on platform {device.platform.upper()}"
            )
            if not first_of_each or device != first_of_each[0][0]:
                first_of_each.append((device, text))
    return ValueError(
        f"Received incompatible devices for jitted computation. Got {first_of_each[0][1]} and {first_of_each[1][1]}"
    )


cdef str _argument_name(Py_ssize_t i, Py_ssize_t n):
    return "xyz"[i] if n <= 3 else f"args[{i}]"


# ---- the check before a kernel runs --------------------------------------------------------------------------------
#
# A dtype is known by a number below 64: NumPy's own number, or for those of ml_dtypes one from 32 on.  Operands of one
# dtype have a bit in `seen`; a mixture of up to eight has a code of six bits each; the rest goes by a set of tuples.

cdef enum:
    NO_CODE = -1
    MIXTURES = 8


cdef inline int _dtype_code(cnp.ndarray a) noexcept:
    cdef int num = cnp.PyArray_TYPE(a)
    if num < 32:
        return NO_CODE if num == cnp.NPY_VOID else num
    return num - 224 if 256 <= num < 288 else NO_CODE


cdef bint _code_seen(Primitive p, uint64_t code) noexcept:
    cdef int i
    for i in range(MIXTURES):
        if p.seen_codes[i] == code:
            return True
    return False


cdef bint _shapes_agree(PyObject **operands, Py_ssize_t n) noexcept:
    """All shapes equal but for operands of rank 0."""
    cdef cnp.ndarray a
    cdef cnp.npy_intp *shape = NULL
    cdef Py_ssize_t k
    cdef int i, rank = 0
    for k in range(n):
        a = <cnp.ndarray>operands[k]
        if cnp.PyArray_NDIM(a) == 0:
            continue
        if shape == NULL:
            shape = cnp.PyArray_DIMS(a)
            rank = cnp.PyArray_NDIM(a)
            continue
        if cnp.PyArray_NDIM(a) != rank:
            return False
        for i in range(rank):
            if cnp.PyArray_DIM(a, i) != shape[i]:
                return False
    return True


cdef int _operand_code(Primitive p, PyObject **operands, Py_ssize_t n, uint64_t *code) noexcept:
    """1: all of one dtype, whose number is in `code`; 2: a mixture, with its code; 0: neither.

    Operands of one dtype speak for any number of them only where all play the same part: elementwise.  Elsewhere their
    number is part of the code: an operand of float32 alone says nothing about an index of float32 beside it.
    """
    cdef int first = _dtype_code(<cnp.ndarray>operands[0])
    cdef int one
    cdef Py_ssize_t k
    cdef bint uniform = True
    cdef uint64_t total = <uint64_t>(first + 1)
    if first == NO_CODE:
        return 0
    for k in range(1, n):
        one = _dtype_code(<cnp.ndarray>operands[k])
        if one == NO_CODE:
            return 0
        uniform = uniform and one == first
        total = (total << 6) | <uint64_t>one
    if uniform and (p.elementwise or n == 1):
        code[0] = first
        return 1
    if n <= 8:
        code[0] = total
        return 2
    code[0] = <uint64_t>1 << 62 | <uint64_t>n << 8 | <uint64_t>first
    return 2 if uniform else 0


cdef bint _accepted(Primitive p, PyObject **operands, Py_ssize_t n) noexcept:
    """Whether abstract_eval has accepted these dtypes before and the shapes are plainly right; False: not known."""
    cdef uint64_t code = 0
    cdef int kind
    if n == 0 or p.abstract_eval is None:
        return True
    if p.elementwise and n > 1 and not _shapes_agree(operands, n):
        return False
    kind = _operand_code(p, operands, n, &code)
    if kind == 1:
        return (p.seen >> code) & 1
    return kind == 2 and _code_seen(p, code)


cdef int _remember(Primitive p, PyObject **operands, Py_ssize_t n) except -1:
    cdef uint64_t code = 0
    cdef int kind
    if n == 0:
        return 0
    kind = _operand_code(p, operands, n, &code)
    if kind == 1:
        p.seen |= <uint64_t>1 << code
    elif kind == 2 and not _code_seen(p, code):
        p.seen_codes[p.next_code % MIXTURES] = code
        p.next_code += 1
    return 0


cdef object _extended_dtype(Operands *ops):
    """The extended dtype among the operands, or None."""
    cdef Py_ssize_t i
    if ops.args == NULL:
        return None
    for i in range(ops.n):
        x = <object>ops.args[i]
        if type(x) is ArrayImpl and is_extended((<ArrayImpl>x)._dtype):
            return (<ArrayImpl>x)._dtype
    return None


cdef int _check(Primitive p, Operands *ops, dict params) except -1:
    """Runs abstract_eval, which raises what is to be raised, unless these dtypes and shapes are known to be right."""
    if _accepted(p, ops.buffers, ops.n):
        return 0
    extended = _extended_dtype(ops)
    if extended is not None and (not p.elementwise or _shapes_agree(ops.buffers, ops.n)):
        key = (extended, *[(<object>ops.buffers[i]).dtype for i in range(ops.n)])
        if key in p.seen_mixed:
            return 0
        _abstract(p, ops, params)
        p.seen_mixed.add(key)
        return 0
    _abstract(p, ops, params)
    return _remember(p, ops.buffers, ops.n)


cdef object _abstract(Primitive p, Operands *ops, dict params):
    """Runs abstract_eval on the operands' avals; its errors are the ones users see."""
    cdef Py_ssize_t i
    avals = []
    if ops.args == NULL:
        raise TypeError(f"the operator's general path raises errors of {p.name}")
    for i in range(ops.n):
        x = <object>ops.args[i]
        if type(x) is ArrayImpl:
            avals.append((<ArrayImpl>x).aval)
        else:
            buf = <object>ops.buffers[i]
            avals.append(make_aval(buf.shape, buf.dtype, ops.weak[i]))
    return (p.abstract(*avals, **params) if params else p.abstract(*avals))[0]


# ---- evaluation ----------------------------------------------------------------------------------------------------
#
# `_apply` is the evaluator.  There are three ways to it, which differ in how operands are gathered and checked:
# `_evaluate_operator` and `_evaluate_arrays` are quick and give NotImplemented for what they do not foresee,
# `_evaluate_general` takes everything.

@cython.final
cdef class SizedKernel:
    """A kernel of two forms: `small` where the first and the last operand have fewer than `fewest` elements, else
    `large`."""

    cdef readonly object small, large
    cdef readonly Py_ssize_t fewest

    def __init__(self, small, large, Py_ssize_t fewest):
        self.small, self.large, self.fewest = small, large, fewest

    cdef object form(self, cnp.ndarray first, cnp.ndarray last):
        cdef bint is_large = cnp.PyArray_SIZE(first) >= self.fewest or cnp.PyArray_SIZE(last) >= self.fewest
        return self.large if is_large else self.small

    def __call__(self, *operands):
        return self.form(operands[0], operands[len(operands) - 1])(*operands)


cdef inline object _kernel_for(object kernel, cnp.ndarray first, cnp.ndarray last):
    """The function to call: a kernel may be a dictionary from the first operand's dtype, with two forms for each.

    Raises TypeError when that has no entry.
    """
    if type(kernel) is not dict:
        return kernel
    function = (<dict>kernel).get(<object>cnp.PyArray_DESCR(first))
    if function is None:
        raise TypeError(f"there is no kernel for dtype {first.dtype}")
    return (<SizedKernel>function).form(first, last) if type(function) is SizedKernel else function


cdef inline bint _result_weak(Primitive p, Operands *ops, dict params, Py_ssize_t i) except -1:
    """Whether the dtype of result `i` is weak: the only place where this is decided for values."""
    cdef Py_ssize_t k
    if p.weak_rule == WEAK_ALL:
        for k in range(ops.n):
            if not ops.weak[k]:
                return False
        return ops.n > 0
    if p.weak_rule == WEAK_NEVER:
        return False
    if p.weak_rule == WEAK_FIRST:
        return ops.n > 0 and ops.weak[0]
    flags = p._weak(tuple([bool(ops.weak[k]) for k in range(ops.n)]), params if params is not None else {})
    return flags[i] if isinstance(flags, (tuple, list)) else flags


cdef object _own(object result, Operands *ops):
    """The result, copied if it shares memory with an operand."""
    cdef Py_ssize_t i
    if not cnp.PyArray_Check(result):
        return result
    for i in range(ops.n):
        if <PyObject *>result is ops.buffers[i] or (
            cnp.PyArray_BASE(<cnp.ndarray>result) != NULL and np.may_share_memory(result, <object>ops.buffers[i])
        ):
            return cnp.PyArray_NewCopy(<cnp.ndarray>result, cnp.NPY_KEEPORDER)
    return result


cdef inline bint _is_void(object result) noexcept:
    return cnp.PyArray_Check(result) and cnp.PyArray_TYPE(<cnp.ndarray>result) == cnp.NPY_VOID


cdef object _logical_dtype(Primitive p, object result, Operands *ops, dict params, Py_ssize_t i):
    """The dtype of result `i`, whose buffer has a void dtype: an extended dtype, or None for float0."""
    if result.dtype.names is not None:
        return None
    extended = _extended_dtype(ops)
    if extended is not None and extended.storage == result.dtype:
        return extended
    avals = _abstract(p, ops, params)
    return (avals[i] if p.multiple_results else avals).dtype


cdef inline object _wrap_result(Primitive p, object result, Operands *ops, dict params, Py_ssize_t i):
    dtype = None
    if ops.foreign:
        result = _own(result, ops)
    if _is_void(result):
        dtype = _logical_dtype(p, result, ops, params, i)
    return wrap(result, dtype, _result_weak(p, ops, params, i), <object>ops.device, ops.committed)


cdef inline bint _is_large(Operands *ops) noexcept:
    """Whether an operand is so large that the memory of results had better be reused."""
    cdef Py_ssize_t i
    for i in range(ops.n):
        if <size_t>cnp.PyArray_NBYTES(<cnp.ndarray>ops.buffers[i]) >= ONAX_LARGE_BLOCK:
            return True
    return False


cdef inline object _apply(Primitive p, Operands *ops, dict params):
    """Runs the kernel on operands that were checked, with NumPy's floating-point warnings off; wraps the results."""
    cdef PyObject *token
    cdef object before = None
    cdef bint large = _is_large(ops)
    kernel = p.kernel
    if ops.n:
        kernel = _kernel_for(kernel, <cnp.ndarray>ops.buffers[0], <cnp.ndarray>ops.buffers[ops.n - 1])
    token = quiet_begin()  # enters a context, of which NumPy's allocator is a variable, too
    try:
        if large:
            before = begin_large()
        if params:
            result = PyObject_VectorcallDict(kernel, ops.buffers, ops.n, params)
        else:
            result = PyObject_Vectorcall(kernel, ops.buffers, ops.n, NULL)
    finally:
        if before is not None:
            end_large(before)
        quiet_end(token)
    if not p.multiple_results:
        return _wrap_result(p, result, ops, params, 0)
    return [_wrap_result(p, one, ops, params, i) for i, one in enumerate(result)]


# What a kernel may raise when operands are wrong.
cdef tuple _KERNEL_ERRORS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError,
)


cdef object _apply_or_explain(Primitive p, Operands *ops, dict params):
    """`_apply`; if the kernel fails, abstract_eval raises the clearer error, if it detects one."""
    try:
        return _apply(p, ops, params)
    except _KERNEL_ERRORS:
        if p.abstract_eval is not None:
            _abstract(p, ops, params)
        raise


cdef object _evaluate_arrays(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    """The common case: up to eight arrays in memory, of dtypes accepted before.  Otherwise NotImplemented."""
    cdef PyObject *buffers[8]
    cdef char weak[8]
    cdef Operands ops
    cdef ArrayImpl a
    cdef Py_ssize_t i
    cdef object device = None
    if n > 8 or n == 0:
        return NotImplemented
    ops.committed = False
    for i in range(n):
        if type(<object>args[i]) is not ArrayImpl:
            return NotImplemented
        a = <ArrayImpl>args[i]
        if a.buf is None or a.shards is not None:
            return NotImplemented
        if a.placed:
            if ops.committed and a.dev is not device:
                return NotImplemented
            ops.committed = True
            device = a.dev
        weak[i] = a.weak
        buffers[i] = <PyObject *>a.buf
    if not _accepted(p, buffers, n):
        return NotImplemented
    if not ops.committed:
        device = default_device()
    ops.args, ops.buffers, ops.weak, ops.n, ops.device, ops.foreign = args, buffers, weak, n, <PyObject *>device, False
    return _apply_or_explain(p, &ops, params)


cdef bint _any_spanning(PyObject **args, Py_ssize_t n):
    """Whether the elements of an operand lie in several processes."""
    cdef Py_ssize_t i
    for i in range(n):
        if type(<object>args[i]) is ArrayImpl and is_spanning(<ArrayImpl>args[i]):
            return True
    return False


cdef object _evaluate_general(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    """Operands of any kind: NumPy's, Python's, extended dtypes, dtypes met for the first time, several devices."""
    cdef _Gathered gathered
    if _any_spanning(args, n):
        return hooks.evaluate_spanning(p, tuple([<object>args[i] for i in range(n)]), params or {})
    gathered = _gather(p, args, n)
    _check(p, &gathered.operands, params)
    out = _apply_or_explain(p, &gathered.operands, params)
    if gathered.sharded and hooks.place_sharded_result is not None:
        return hooks.place_sharded_result(p, tuple([<object>args[i] for i in range(n)]), params or {}, out)
    return out


cdef object _arrays(PyObject **args, Py_ssize_t n):
    """Operands for an `impl`: ndarrays and scalars as arrays, everything else as it is."""
    cdef Py_ssize_t i
    cdef bint weak
    cdef cnp.ndarray buf
    out = []
    for i in range(n):
        x = <object>args[i]
        if type(x) is not ArrayImpl and (is_numpy(x) or isinstance(x, (float, int, complex))):
            weak = False
            if is_numpy(x):
                buf = canonical(x)
                if shares_with_user(x, buf):
                    buf = cnp.PyArray_NewCopy(buf, cnp.NPY_KEEPORDER)
            else:
                buf = scalar_buffer(x, &weak)
            x = wrap_plain(buf, weak, default_device(), False)
        out.append(x)
    return out


cdef object _evaluate_unchecked(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    if p.impl is not None:
        operands = _arrays(args, n)
        return p.impl(*operands, **params) if params else p.impl(*operands)
    if p.kernel is None:
        raise NotImplementedError(f"Evaluation rule for {p.name!r} not implemented")
    out = _evaluate_arrays(p, args, n, params)
    return _evaluate_general(p, args, n, params) if out is NotImplemented else out


cdef object evaluate_n(Primitive p, PyObject **args, Py_ssize_t n, dict params):
    if option_bits() & hooks.checked_options:
        operands = tuple([<object>args[i] for i in range(n)])
        return hooks.checked_evaluation(p, operands, params if params is not None else {})
    return _evaluate_unchecked(p, args, n, params)


def evaluate_unchecked(Primitive p not None, tuple args not None, dict params not None):
    """Applies `p` to values here and now, without `hooks.checked_evaluation`."""
    return _evaluate_unchecked(p, PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args), params)


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
    if ctx().typed_axes:
        operands = hooks.vary_operands(p, operands, params if params is not None else {})
    return (<object>trace).process_primitive(p, operands, params if params is not None else {})


# ---- the fast path of operators ------------------------------------------------------------------------------------

cdef uint64_t _same_rank_options = 0


def set_same_rank_options(uint64_t mask):
    """Registers the options any of which makes operators of unequal ranks no plain case; gives the mask before."""
    global _same_rank_options
    previous = _same_rank_options
    _same_rank_options = mask
    return previous


cdef bint _broadcasts(Primitive p, cnp.ndarray x, cnp.ndarray y) noexcept:
    """Whether an elementwise primitive takes this dtype and NumPy's rules give the two arrays one shape."""
    cdef int code = _dtype_code(x)
    cdef int i
    cdef int shorter = min(cnp.PyArray_NDIM(x), cnp.PyArray_NDIM(y))
    cdef cnp.npy_intp m, n
    if not p.elementwise or code == NO_CODE or not (p.seen >> code) & 1:
        return False
    if cnp.PyArray_NDIM(x) != cnp.PyArray_NDIM(y) and option_bits() & _same_rank_options:
        return False
    for i in range(1, shorter + 1):
        m = cnp.PyArray_DIM(x, cnp.PyArray_NDIM(x) - i)
        n = cnp.PyArray_DIM(y, cnp.PyArray_NDIM(y) - i)
        if m != n and m != 1 and n != 1:
            return False
    return True


cdef object _evaluate_operator(PyObject *primitive, cnp.ndarray x, cnp.ndarray y, bint weak_x, bint weak_y,
                               object device, bint committed, bint foreign):
    """An operator on one or two (y None: one) buffers of one dtype, which may broadcast.

    NotImplemented for any other case; the general path then does the work or raises the error.
    """
    cdef Primitive p = <Primitive>primitive
    cdef PyObject *buffers[2]
    cdef char weak[2]
    cdef Operands ops
    ops.n = 1 if y is None else 2
    buffers[0], buffers[1] = <PyObject *>x, <PyObject *>y
    weak[0], weak[1] = weak_x, weak_y
    if p.impl is not None or p.kernel is None or option_bits() & hooks.checked_options:
        return NotImplemented
    if not _accepted(p, buffers, ops.n) and (ops.n == 1 or not _broadcasts(p, x, y)):
        return NotImplemented
    ops.args, ops.buffers, ops.weak, ops.device = NULL, buffers, weak, <PyObject *>device
    ops.committed, ops.foreign = committed, foreign
    try:
        return _apply(p, &ops, None)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return NotImplemented


set_operator_evaluator(_evaluate_operator)
