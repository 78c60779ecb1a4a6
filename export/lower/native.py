"""The native target: operators that graphs for this process may have besides those of ONNX.

A node `onax.Host` runs the NumPy kernel of a primitive, where no tape has it.  Two kinds of primitives become Host
nodes: those with a rule in the slot `native_kernel`, whose kernel is quicker than the operators of ONNX (measured on
two cores; docs/performance.md has the numbers), and all that have a kernel but no ONNX form for their operands.  So
every primitive that can be evaluated can be lowered to the native target.  Callbacks are Host nodes too; files cannot
have them.
"""

import numpy as np

from onax._control.callbacks import (
    callback_location,
    debug_callback_p,
    debug_print_p,
    io_callback_p,
    pure_callback_p,
)
from onax._core.facts import CALLS_PYTHON, DATA_MOVEMENT
from onax._core.slots import Slot
from onax._core.trace import as_array, set_current_trace
from onax._ground import dims, source
from onax._ground.errors import LoweringError
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.context import numpy_warnings_off
from onax._native.dispatch import Primitive
from onax._native.host_operator import Handle, Kernel
from onax._prims.convert import convert_element_type_p, reduce_precision_p
from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._prims.dot_ragged import ragged_dot_general_p
from onax._prims.indexing import (
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.random import random_bits_p, random_fold_in_p, random_gamma_p, random_split_p, threefry2x32_p
from onax._prims.reductions import argmax_p, argmin_p, reduce_max_p, reduce_min_p
from onax._prims.sorting import is_quicker_in_c, sort_p, top_k_p
from onax._prims.special import erf_inv_p, erf_p, erfc_p
from onax._prims.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.lower.components import (
    flat_avals,
    flat_values,
    is_narrow,
    join_array,
    split_array,
    trailing_axes,
    unflatten_components,
)
from onax.export.lower.registry import is_lowered, lowers

BOOL = np.dtype(bool)
F32 = np.dtype(np.float32)


native = Slot(
    "native_kernel",
    "when(eqn) -> whether the kernel is quicker than ONNX's operators",
    "Compiled functions use ONNX operators if `lowering` has a rule, otherwise the Python kernel.",
    "onax.export.lower",
)

# ---- the node ----


def host_node(g, kernel, values, out_avals, *, ordered=False):
    """Emits a Host node; results whose dtype has components are tuples.

    kernel    Kernel of the flat operands and results
    ordered   the node has an effect: a token orders it after the previous nodes with effects
    """
    inputs, avals = flat_values(values), flat_avals(out_avals)
    inputs = [keep_float16(g, x) for x in inputs]
    if ordered:
        inputs.append(current_token(g))
        avals.append(TOKEN)
    if not inputs:
        inputs.append(g.const(False))
    outer, g.model.prefix = g.model.prefix, kernel.name
    results = g.node("Host", *inputs, outs=avals, domain="onax", kernel=Handle(kernel), primitive=kernel.name)
    g.model.prefix = outer
    if ordered:
        *results, g.token = results
    return unflatten_components([keep_float16(g, x) for x in results], out_avals)


def keep_float16(g, x):
    """Keeps a float16 value float16 at a Host node by a Reshape to its own shape, which costs nothing.

    Otherwise ONNX Runtime may compute the neighbours of the node in float32, and pass float32 to it.
    """
    return x if x.dtype != np.float16 else g.node("Reshape", x, g.const(np.zeros(len(x.shape), np.int64)), out=x.aval)


def stated(avals):
    """Shape and dtype of each flat result."""
    return [(a.shape, a.dtype) for a in flat_avals(avals)]


TOKEN = ShapedArray((), BOOL)


def current_token(g):
    """The token of the last node with an effect in this graph or in the graphs around it."""
    while g is not None:
        if g.token is not None:
            return g.token
        root, g = g, g.parent
    return root.const(False)


# ---- a primitive's kernel ----


def can_run_on_host(eqn):
    """Whether a primitive has a kernel for these operands."""
    if eqn.effects or not isinstance(eqn.primitive, Primitive) or _kernel_of(eqn) is None:
        return False
    return all(dims.is_constant_shape(v.aval.shape) for v in (*eqn.invars, *eqn.outvars))


def _runs_by_impl(primitive):
    """Whether a primitive of another library has only an `impl`."""
    return primitive.impl is not None and primitive.kernel is None and not is_lowered(primitive)


def _kernel_of(eqn):
    kernel = eqn.primitive.kernel
    return kernel.get(eqn.invars[0].aval.dtype) if type(kernel) is dict else kernel


def on_host(g, eqn, values):
    """Lowers an equation to a Host node with its primitive's kernel."""
    return host_node(g, _in_python(eqn), values, [v.aval for v in eqn.outvars])


def is_preferred(eqn):
    """Whether the kernel is quicker than ONNX's operators."""
    when = native.get(eqn.primitive)
    return when is not None and can_run_on_host(eqn) and when(eqn)


def _in_python(eqn):
    """The NumPy kernel of an equation's primitive."""
    out_avals = [v.aval for v in eqn.outvars]
    whole = _make_assembler([v.aval for v in eqn.invars])
    kernel, params, many = _kernel_of(eqn), eqn.params, eqn.primitive.multiple_results

    def run(*flat):
        with numpy_warnings_off():
            results = kernel(*whole(flat), **params)
        results = results if many else (results,)
        return [part for x, a in zip(results, out_avals) for part in split_array(np.asarray(x), a.dtype)]

    return Kernel(eqn.primitive.name, run, stated(out_avals))


def _make_assembler(avals):
    """A function that assembles ndarrays of these types from the inputs of a node."""
    if avals and all(a.dtype in ELEMENT_TYPES for a in avals):
        return lambda flat: flat[: len(avals)]
    counts = [int(np.prod(trailing_axes(a.dtype)[0])) for a in avals]

    def whole(flat):
        rest = iter(flat)
        return [join_array([next(rest) for _ in range(n)], a.dtype) for n, a in zip(counts, avals)]

    return whole


# ---- kernels that are quicker than ONNX's operators

LARGE = 4096  # elements: a call of Python costs some microseconds


def prefer(*primitives, when=lambda eqn: True):
    """Declares that the kernel of these primitives is quicker than ONNX's operators for equations with `when(eqn)`."""
    native.rule(*primitives)(when)


def prefer_when_large(dtypes, *primitives):
    """`prefer` for large arrays whose first operand has one of these dtypes."""
    dtypes = frozenset(map(np.dtype, dtypes.split()))
    prefer(*primitives, when=lambda eqn: is_large(eqn) and eqn.invars[0].aval.dtype in dtypes)


def is_large(eqn):
    """Whether the result is so large that the cost of calling Python does not matter."""
    return eqn.outvars[0].aval.size >= LARGE


def _has_groups(eqn):
    """Whether a grouped product is large: its ONNX form multiplies every group with the zeros of the others."""
    lhs, _, sizes = [v.aval for v in eqn.invars]
    return sizes.shape[-1] > 1 and lhs.size * sizes.shape[-1] >= LARGE


def _is_long(eqn):
    return eqn.invars[0].aval.size > 128


def _picks_or_keeps_much(eqn):
    """Whether a kernel is quicker: the runtime's TopK is slow when it keeps many elements."""
    x, k = eqn.invars[0].aval, eqn.params["k"]
    return is_quicker_in_c(x, **eqn.params) or (x.size > LARGE and 16 * k >= x.shape[eqn.params["axis"]])


def _searches_columns_or_much(eqn):
    """Whether the runtime is slow at an extremum: over a leading axis, or at the place of one in many elements."""
    x = eqn.invars[0].aval
    by_columns = x.ndim - 1 not in eqn.params["axes"]
    return x.size >= LARGE and (by_columns or "index_dtype" in eqn.params)


def _to_integers(eqn):
    """Whether a large cast saturates: from floats to integers."""
    return is_large(eqn) and eqn.invars[0].aval.dtype.kind == "f" and eqn.params["new_dtype"].kind in "iu"


prefer(erf_inv_p)
prefer(random_bits_p, random_fold_in_p, random_gamma_p, random_split_p, threefry2x32_p)
prefer(convert_element_type_p, when=_to_integers)
prefer(argmax_p, argmin_p, reduce_max_p, reduce_min_p, when=_searches_columns_or_much)
prefer(cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p, when=is_large)
prefer(gather_p, scatter_add_p, scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p, scatter_sub_p)
prefer(ragged_dot_general_p, when=_has_groups)
prefer(
    reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p, select_and_gather_add_p, select_and_scatter_add_p,
    when=is_large,
)  # fmt: skip
prefer(sort_p, when=_is_long)
prefer(top_k_p, when=_picks_or_keeps_much)
prefer_when_large("float64", erf_p)
prefer_when_large("float16 float32 float64", erfc_p, reduce_precision_p)

# ---- callbacks ----


@lowers(debug_print_p, components=True)
def _leave_out_print(g, out, *values, **params):
    if g.model.left_out is None:
        raise LoweringError(f"it calls Python ({callback_location(params)})")
    location = g.model.location
    where = "" if location is None else f" at {source.summarize(location)}"
    g.model.left_out.append(f"{callback_location(params)}{where} is left out: a file cannot print")
    return []


@lowers(pure_callback_p, io_callback_p, debug_callback_p, components=True)
def _refuse_callback(g, out, *values, **params):
    raise LoweringError(
        f"it calls Python ({callback_location(params)}), which a file cannot hold: leave it out of the exported "
        "function, or give what it computes as an argument"
    )


def _callback(g, eqn, values):
    """A node that calls `impl` with copies of the arrays; a token orders nodes with effects."""
    in_avals, out_avals = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
    impl, params, whole, ordered = eqn.primitive.impl, eqn.params, _make_assembler(in_avals), bool(eqn.effects)

    many = eqn.primitive.multiple_results

    def run(*flat):
        arrays = [make_array(np.array(x), a.dtype, a.weak_type) for x, a in zip(whole(flat), in_avals)]
        del flat  # a view of the runtime's memory, which the frame of an exception must not keep
        with set_current_trace(None):
            results = impl(*arrays, **params)
            results = [as_array(x)._value for x in (results if many else (results,))]
        parts = [part for x, a in zip(results, out_avals) for part in split_array(np.asarray(x), a.dtype)]
        return [*parts, _TOKEN_VALUE] if ordered else parts

    results = stated(out_avals)
    kernel = Kernel(eqn.primitive.name, run, [*results, ((), BOOL)] if ordered else results)
    return host_node(g, kernel, values, out_avals, ordered=ordered)


_TOKEN_VALUE = np.zeros((), BOOL)

# ---- the interface to the driver ----


def lower_natively(g, eqn, values):
    """Lowers an equation to a Host node if it needs one or its kernel is preferred, else returns None."""
    if CALLS_PYTHON in eqn.primitive.facts:
        return _callback(g, eqn, values)
    return on_host(g, eqn, values) if is_preferred(eqn) or _computes_narrow(eqn) else None


def _computes_narrow(eqn):
    """Whether a kernel has to compute with narrow numbers, which a graph holds as bytes: it can only move these."""
    if DATA_MOVEMENT in eqn.primitive.facts:
        return False
    return any(is_narrow(x.aval.dtype) for x in (*eqn.invars, *eqn.outvars)) and can_run_on_host(eqn)


def fall_back_to_host(g, eqn, values):
    """Lowers an equation without an ONNX form to a Host node; returns None if it has no kernel."""
    if _runs_by_impl(eqn.primitive) and all(dims.is_constant_shape(v.aval.shape) for v in eqn.outvars):
        return _callback(g, eqn, values)
    if not can_run_on_host(eqn):
        return None
    try:
        return on_host(g, eqn, values)
    except LoweringError:  # a dtype that a Host node cannot take
        return None
