"""The native target: operators that graphs for this process may have besides those of ONNX.

A node `onax.Host` runs a kernel of a primitive.  Two kinds of primitives become Host nodes: those with a rule in the
slot `native_kernel`, whose kernel is quicker than the operators of ONNX (measured on two cores; docs/performance.md has
the numbers), and all that have a kernel but no ONNX form for their operands.  So every primitive that can be evaluated
can be lowered to the native target.  Callbacks are Host nodes too; files cannot have them.
"""

from dataclasses import dataclass

import numpy as np

from onax._control.callbacks import (
    callback_location,
    debug_callback_p,
    debug_print_p,
    io_callback_p,
    pure_callback_p,
)
from onax._control.jit_call import jit_p
from onax._core.facts import CALLS_PYTHON
from onax._core.jaxpr import Literal
from onax._core.slots import Slot
from onax._core.trace import as_array, set_current_trace
from onax._ground import dims
from onax._ground.errors import LoweringError
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.context import numpy_warnings_off
from onax._native.dispatch import Primitive
from onax._native.gather_scatter import gather_kernel, kernel_sizes, scatter_code, scatter_kernel
from onax._native.host_kernels import (
    bits_kernel,
    erf_inv_kernel,
    fold_in_kernel,
    normal_kernel,
    split_kernel,
    threefry_block_kernel,
)
from onax._native.host_operator import Handle, Kernel
from onax._native.top_k import TYPES as TOP_TYPES
from onax._native.top_k import top_k_kernel
from onax._prims import random as prims
from onax._prims.convert import convert_element_type_p, reduce_precision_p
from onax._prims.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from onax._prims.dot_ragged import ragged_dot_general_p
from onax._prims.indexing import (
    GatherScatterMode,
    gather_p,
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from onax._prims.random import is_key_dtype
from onax._prims.reductions import argmax_p, argmin_p, reduce_max_p, reduce_min_p
from onax._prims.shaping import broadcast_in_dim_p
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
    join_array,
    split_array,
    trailing_axes,
    unflatten_components,
)
from onax.export.lower.registry import is_lowered, lowers

BOOL = np.dtype(bool)
F32 = np.dtype(np.float32)


@dataclass(slots=True, eq=False)
class Choice:
    """A kernel, `kernel(eqn) -> Kernel`, for the equations on which it is quicker than ONNX operators: `when(eqn)`."""

    kernel: object
    when: object


native = Slot(
    "native_kernel",
    "Choice: kernel(eqn) -> Kernel, and when(eqn) -> whether it is quicker than ONNX's operators",
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
    out_avals = [v.aval for v in eqn.outvars]
    choice = native.get(eqn.primitive)
    return host_node(g, (_in_python if choice is None else choice.kernel)(eqn), values, out_avals)


def is_preferred(eqn):
    """Whether the kernel is quicker than ONNX's operators."""
    choice = native.get(eqn.primitive)
    return choice is not None and can_run_on_host(eqn) and choice.when(eqn)


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


# ---- kernels in C ----


_FEW = 64  # up to so many blocks with their own keys or counters a loop over them is quicker than NumPy's kernel


def _is_threefry(aval, params):
    return aval.dtype.element_shape == (2,) and str(aval.dtype._impl) == "fry" and params.get("partitionable", True)


def _random_bits(eqn):
    keys, out = eqn.invars[0].aval, eqn.outvars[0].aval
    if not (_is_threefry(keys, eqn.params) and keys.size):
        return _in_python(eqn)
    return bits_kernel("random_bits", stated([out]), (keys.size, out.size // keys.size, eqn.params["bit_width"]))


def _random_split(eqn):
    keys, out = eqn.invars[0].aval, eqn.outvars[0].aval
    if not (_is_threefry(keys, eqn.params) and 0 < out.size <= _FEW):
        return _in_python(eqn)
    return split_kernel("random_split", stated([out]), (keys.size, out.size // keys.size))


def _steps(avals, out):
    """(number of results, stride of each operand), or None if strides do not describe the operands."""
    if out.size <= _FEW and all(a.shape == out.shape or a.size == 1 for a in avals):
        return (out.size, *[int(a.size > 1) for a in avals])
    return None


def _random_fold_in(eqn):
    avals, out = [v.aval for v in eqn.invars], eqn.outvars[0].aval
    sizes = _steps(avals, out)
    if sizes is None or not _is_threefry(avals[0], eqn.params):
        return _in_python(eqn)
    return fold_in_kernel("random_fold_in", stated([out]), sizes)


def _threefry2x32(eqn):
    outs = [v.aval for v in eqn.outvars]
    sizes = _steps([v.aval for v in eqn.invars], outs[0])
    return _in_python(eqn) if sizes is None else threefry_block_kernel("threefry2x32", stated(outs), sizes)


def _erf_inv(eqn):
    out = eqn.outvars[0].aval
    return erf_inv_kernel("erf_inv", stated([out]), (out.size,)) if out.dtype == F32 else _in_python(eqn)


_INDICES = frozenset((np.dtype(np.int32), np.dtype(np.int64)))


def _rows(eqn, x, indices, points, index_map, batching, clips, how):
    """The sizes of a gather or scatter whose index vectors select whole rows by the leading axes, else None."""
    depth = indices.shape[-1]
    leading = tuple(range(depth))
    if indices.dtype not in _INDICES or tuple(points) != leading or tuple(index_map) != leading or batching:
        return None
    if x.dtype not in ELEMENT_TYPES or not x.size or not indices.size or how is None:
        return None
    n, wide = indices.size // depth, indices.dtype.itemsize == 8
    return kernel_sizes(how, x.shape, depth, n, x.dtype.itemsize, wide, clips)


def _gather_of_rows(eqn):
    """The C kernel of a gather of whole rows, or None."""
    x, indices = [v.aval for v in eqn.invars]
    out, d, mode = eqn.outvars[0].aval, eqn.params["dimension_numbers"], eqn.params["mode"]
    depth = indices.shape[-1]
    whole = tuple(eqn.params["slice_sizes"]) == (1,) * depth + x.shape[depth:]
    if not whole or tuple(d.offset_dims) != tuple(range(indices.ndim - 1, out.ndim)):
        return None
    points, index_map = d.collapsed_slice_dims, d.start_index_map
    clips = mode is not GatherScatterMode.FILL_OR_DROP
    numbers = _rows(eqn, x, indices, points, index_map, d.operand_batching_dims, clips, 0)
    if numbers is None:
        return None
    fill = eqn.params["fill_value"]
    return gather_kernel(stated([out]), numbers, np.asarray(0 if fill is None else fill).astype(x.dtype))


def _scatter_of_rows(eqn):
    """The C kernel of a scatter of whole rows, or None."""
    x, indices, updates = [v.aval for v in eqn.invars]
    name, d = eqn.primitive.name, eqn.params["dimension_numbers"]
    depth = indices.shape[-1]
    applies = name == "scatter" and eqn.params["update_jaxpr"] is not None
    if applies or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        return None
    if tuple(d.update_window_dims) != tuple(range(indices.ndim - 1, updates.ndim)):
        return None
    points, index_map, how = d.inserted_window_dims, d.scatter_dims_to_operand_dims, scatter_code(name, x.dtype)
    clips = eqn.params["mode"] in (GatherScatterMode.CLIP, GatherScatterMode.CLAMPED)
    numbers = _rows(eqn, x, indices, points, index_map, d.operand_batching_dims, clips, how)
    return None if numbers is None else scatter_kernel(name, stated([eqn.outvars[0].aval]), numbers)


def _gather(eqn):
    return _gather_of_rows(eqn) or _in_python(eqn)


def _scatter(eqn):
    return _scatter_of_rows(eqn) or _in_python(eqn)


# ---- kernels that are quicker than ONNX's operators

LARGE = 4096  # elements: a call of Python costs some microseconds


def prefer(*primitives, kernel=_in_python, when=lambda eqn: True):
    """Declares that the kernel of these primitives is quicker than ONNX's operators for equations with `when(eqn)`."""
    native.rule(*primitives)(Choice(kernel, when))


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


def _picks_few(eqn):
    """Whether there is a C kernel: few elements of four bytes are taken from each row."""
    return is_quicker_in_c(eqn.invars[0].aval, **eqn.params)


def _picks_or_keeps_much(eqn):
    """Whether a kernel is quicker: the runtime's TopK is slow when it keeps many elements."""
    x, k = eqn.invars[0].aval, eqn.params["k"]
    return _picks_few(eqn) or (x.size > LARGE and 16 * k >= x.shape[eqn.params["axis"]])


def _top_k(eqn):
    if not _picks_few(eqn):
        return _in_python(eqn)
    x, k = eqn.invars[0].aval, eqn.params["k"]
    sizes = x.size // x.shape[-1], x.shape[-1], k, TOP_TYPES[x.dtype]
    return top_k_kernel("top_k", stated([v.aval for v in eqn.outvars]), sizes)


def _takes_rows_or_much(eqn):
    """Whether a kernel is quicker: the C kernel for whole rows, or any for many windows of few elements."""
    if (_gather_of_rows if eqn.primitive is gather_p else _scatter_of_rows)(eqn) is not None:
        return True
    indices = eqn.invars[1].aval
    windows = indices.size // max(indices.shape[-1], 1)
    moved = eqn.outvars[0].aval.size if len(eqn.invars) == 2 else eqn.invars[2].aval.size
    return windows >= LARGE and moved < 8 * windows


def _searches_columns_or_much(eqn):
    """Whether the runtime is slow at an extremum: over a leading axis, or at the place of one in many elements."""
    x = eqn.invars[0].aval
    by_columns = x.ndim - 1 not in eqn.params["axes"]
    return x.size >= LARGE and (by_columns or "index_dtype" in eqn.params)


def _to_integers(eqn):
    """Whether a large cast saturates: from floats to integers."""
    return is_large(eqn) and eqn.invars[0].aval.dtype.kind == "f" and eqn.params["new_dtype"].kind in "iu"


prefer(erf_inv_p, kernel=_erf_inv)
prefer(prims.random_bits_p, kernel=_random_bits)
prefer(prims.random_fold_in_p, kernel=_random_fold_in)
prefer(prims.random_gamma_p)
prefer(prims.random_split_p, kernel=_random_split)
prefer(prims.threefry2x32_p, kernel=_threefry2x32)
prefer(convert_element_type_p, when=_to_integers)
prefer(argmax_p, argmin_p, reduce_max_p, reduce_min_p, when=_searches_columns_or_much)
prefer(cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p, when=is_large)
prefer(gather_p, kernel=_gather, when=_takes_rows_or_much)
prefer(
    scatter_add_p, scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p, scatter_sub_p,
    kernel=_scatter, when=_takes_rows_or_much,
)  # fmt: skip
prefer(ragged_dot_general_p, when=_has_groups)
prefer(
    reduce_window_max_p, reduce_window_min_p, reduce_window_sum_p, select_and_gather_add_p, select_and_scatter_add_p,
    when=is_large,
)  # fmt: skip
prefer(sort_p, when=_is_long)
prefer(top_k_p, kernel=_top_k, when=_picks_or_keeps_much)
prefer_when_large("float64", erf_p)
prefer_when_large("float16 float32 float64", erfc_p, reduce_precision_p)

# ---- calls that are one kernel ----


def _is_literal(atom, value):
    return type(atom) is Literal and not atom.aval.shape and atom.val == value


def _is_normal_call(jaxpr):
    """Whether a program is `random.normal` for float32: bits, uniform numbers in (-1, 1), erf_inv, times sqrt(2)."""
    names = [e.primitive.name for e in jaxpr.eqns]
    if names != ["jit", "erf_inv", "mul"] or jaxpr.consts or jaxpr.out_avals[0].dtype != F32:
        return False
    uniform, erf_inv, scale = jaxpr.eqns
    low, high = np.nextafter(F32.type(-1), F32.type(0)), 1
    inner = uniform.params["jaxpr"]
    expected = "random_bits shift_right_logical convert_element_type mul sub mul add max".split()
    if [e.primitive.name for e in inner.eqns if e.primitive is not broadcast_in_dim_p] != expected or inner.consts:
        return False
    bits, shift, cast, unit, *_ = inner.eqns
    wide = bits.params["bit_width"] == 32 and cast.params["new_dtype"] == F32
    return (
        wide
        and _is_literal(uniform.invars[1], low)
        and _is_literal(uniform.invars[2], high)
        and _is_literal(shift.invars[1], 9)
        and any(_is_literal(v, F32.type(2**-23)) for v in unit.invars)
        and any(_is_literal(v, F32.type(np.sqrt(2))) for v in scale.invars)
        and erf_inv.invars[0] is uniform.outvars[0]
    )


def _normal(eqn):
    """The kernel that draws normal numbers in one pass, or None for another program of that name."""
    inner = eqn.params["jaxpr"]
    if len(eqn.invars) != 1 or not is_key_dtype(eqn.invars[0].aval.dtype) or not _is_normal_call(inner):
        return None
    keys, out = eqn.invars[0].aval, eqn.outvars[0].aval
    bits = inner.eqns[0].params["jaxpr"].eqns[0]
    if not (_is_threefry(keys, bits.params) and dims.is_constant_shape(out.shape) and keys.size):
        return None
    return normal_kernel("normal", stated([out]), (keys.size, out.size // keys.size, 32))


# The name under which a library call is staged, and a function that returns its kernel or None.
CALLS = {"_normal_real": _normal}


def is_one_node(eqn):
    """Whether a call becomes one node, and so must not be inlined before it is lowered."""
    return eqn.primitive is jit_p and eqn.params["name"] in CALLS and CALLS[eqn.params["name"]](eqn) is not None


# ---- callbacks ----


@lowers(pure_callback_p, io_callback_p, debug_callback_p, debug_print_p, components=True)
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
    if eqn.primitive is jit_p:
        maker = CALLS.get(eqn.params["name"])
        kernel = None if maker is None else maker(eqn)
        return None if kernel is None else host_node(g, kernel, values, [v.aval for v in eqn.outvars])
    return on_host(g, eqn, values) if is_preferred(eqn) else None


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
