"""jaxpr -> Graph: the loop over equations, and the conversion of values at the boundary of a graph.

A variable of a dtype that ONNX has is one Value; one of complex or key dtype is a tuple of Values (`components.py`).  A
data-movement primitive is lowered once for each component; others need a rule for components.  On the native target a
Host node runs the kernel of what ONNX has no form for, or a slower one (`native.py`).
"""

import math

import numpy as np

from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE
from onax._core.jaxpr import Literal
from onax._core.programs import called_program
from onax._ground import dims as dim_rules
from onax._ground import source
from onax._ground.errors import InconclusiveDimensionOperation, LoweringError
from onax._native.avals import ShapedArray
from onax._native.tree import tree_leaves
from onax._prims.creation import iota_p
from onax._prims.elementwise_kernels import make_complex
from onax._prims.shaping import broadcast_in_dim_p
from onax._transforms.discharge import discharge_refs
from onax._transforms.staging import trace_to_jaxpr
from onax.export import shapes
from onax.export.graph import ops
from onax.export.graph.kernels import ELEMENT_TYPES
from onax.export.graph.naming import code_of, name_nodes
from onax.export.graph.passes import break_reference_cycles, run
from onax.export.graph.value import SMALL_BYTES, Graph, Value
from onax.export.lower import native
from onax.export.lower.components import (
    check_form,
    component_aval,
    constant,
    is_narrow,
    join,
    physical_aval,
    split,
    trailing_axes,
)
from onax.export.lower.registry import (
    EACH_COMPONENT,
    Decomposition,
    Refusal,
    component_lowering,
    is_lowered,
    lowering,
    refusal,
)
from onax.export.recognize.recognize import recognize_operators

# ---- constant folding


def _known_array(value):
    """The ndarray of a value that is a small constant or an expanded one, else None."""
    if type(value) is tuple:
        return _known_complex(value)
    array = value.const
    if array is not None:
        return array if array.nbytes <= SMALL_BYTES else None
    node = value.node
    if node is None or node.op_type != "Expand" or node.inputs[0].const is None:
        return None
    if not dim_rules.is_constant_shape(value.shape) or math.prod(value.shape) * value.dtype.itemsize > SMALL_BYTES:
        return None
    return np.broadcast_to(node.inputs[0].const, value.shape)


def _known_complex(parts):
    if parts[0].dtype.kind != "f":  # a key
        return None
    constants = [_known_array(part) for part in parts]
    return None if any(x is None for x in constants) else make_complex(*constants)


def _expanded_scalar(value):
    """The scalar that a value repeats, or None."""
    if type(value) is tuple:
        return None
    node = value.node
    source = value if node is None or node.op_type != "Expand" else node.inputs[0]
    return source.const if source.const is not None and source.const.ndim == 0 else None


def _expand_scalar(g, value, shape):
    if type(value) is tuple:
        return tuple(ops.expand(g, part, shape) for part in value)
    return ops.expand(g, value, shape)


def _is_small(aval):
    return dim_rules.is_constant_shape(aval.shape) and math.prod(aval.shape) * aval.dtype.itemsize <= SMALL_BYTES


def _fold(g, eqn, values):
    """Folds an equation with constant operands by the primitive's kernel; None if that is not possible.

    A node would cost far more: the runtime would execute it during session creation.
    """
    primitive = eqn.primitive
    kernel = primitive.kernel
    if kernel is None or eqn.effects:
        return None
    if primitive is broadcast_in_dim_p and not eqn.invars[0].aval.shape and eqn.outvars[0].aval.shape != (1,):
        return None  # an Expand is smaller
    if ELEMENTWISE in primitive.facts:
        known = [_expanded_scalar(v) for v in values]
        if not any(x is None for x in known):
            avals = [ShapedArray((), v.aval.dtype) for v in eqn.outvars]
            results = _evaluate(g, kernel, eqn, known, avals)
            return results and [_expand_scalar(g, x, v.aval.shape) for x, v in zip(results, eqn.outvars)]
    avals = [v.aval for v in eqn.outvars]
    if not all(map(_is_small, avals)):
        return None
    known = [_known_array(v) for v in values]
    return None if any(x is None for x in known) else _evaluate(g, kernel, eqn, known, avals)


def _evaluate(g, kernel, eqn, known, avals):
    """The results of a kernel as constants, or None if their types are not those of the equation."""
    if type(kernel) is dict:
        kernel = kernel.get(known[0].dtype)
        if kernel is None:
            return None
    results = kernel(*known, **eqn.params)
    results = list(map(np.asarray, results if eqn.primitive.multiple_results else (results,)))
    if not all(x.shape == a.shape and x.dtype == a.dtype for x, a in zip(results, avals, strict=True)):
        return None
    return [constant(g, x, a) for x, a in zip(results, avals)]


def _empty_results(g, eqn):
    """Constants for the results of an equation if all of them are empty, else None.

    Kernels may not handle empty operands: TopK of zero rows crashes ONNX Runtime 1.30 (integer division by zero).
    """
    for v in eqn.outvars:
        if v.aval.dtype not in ELEMENT_TYPES or not any(type(d) is int and d == 0 for d in v.aval.shape):
            return None
    if eqn.effects or not eqn.outvars or eqn.primitive.kernel is None:
        return None
    if not all(dim_rules.is_constant_shape(v.aval.shape) for v in eqn.outvars):
        return None
    return [constant(g, np.zeros(v.aval.shape, v.aval.dtype), v.aval) for v in eqn.outvars]


def _can_be_known(primitive, values):
    """Whether all operands are constants or Expands: a quick test before `_fold`, for every equation."""
    for v in values:
        if type(v) is tuple:
            v = v[0]
        if v.const is None and (v.node is None or v.node.op_type != "Expand"):
            return False
    return bool(values) or primitive is iota_p


# ---- the loop


class Refusals:
    """The operations without an ONNX form in one lowering, collected for a single error."""

    __slots__ = ("lines",)

    def __init__(self):
        self.lines = []

    def add(self, eqn, error, location):
        """Records a refusal; one line for each primitive, reason and location."""
        reason = error.message.split("\nIn operation", 1)[0]
        location = "" if location is None else f" from {source.summarize(location)}"
        line = f"  {eqn.primitive.name}{location}: {reason}"
        if line not in self.lines:
            self.lines.append(line)

    def text(self, opset):
        """The text of the error that lists all refusals."""
        n = len(self.lines)
        count = "1 operation has" if n == 1 else f"{n} operations have"
        return "\n".join([f"{count} no ONNX form in opset {opset}:", *self.lines])


def _refuse(eqn, has_components):
    primitive = eqn.primitive
    reason = refusal(primitive)
    if reason is not None:
        raise LoweringError(reason)
    if has_components and is_lowered(primitive):
        dtypes = sorted({str(v.aval.dtype) for v in (*eqn.invars, *eqn.outvars)} - set(map(str, ELEMENT_TYPES)))
        raise LoweringError(f"{primitive.name} has no ONNX form for {', '.join(dtypes)}")
    raise LoweringError(f"ONNX lowering rule for primitive '{primitive.name}' not found")


def _componentwise(g, rule, eqn, values):
    """Applies a rule that only moves data to each component."""
    n = max(len(v) for v in values if type(v) is tuple)
    out_avals = [component_aval(v.aval) for v in eqn.outvars]
    many = eqn.primitive.multiple_results
    results = []
    for i in range(n):
        operands = [v[i] if type(v) is tuple else v for v in values]
        result = rule(g, out_avals if many else out_avals[0], *operands, **eqn.params)
        results.append(result if many else (result,))
    return [tuple(parts) for parts in zip(*results)]


def lower_function(g, function, params, avals, values):
    """Stages a function for arrays of these types and inlines it in place of the current equation."""
    closed = discharge_refs(trace_to_jaxpr(lambda *xs: tree_leaves(function(*xs, **params)), avals))
    return inline(g, closed, closed.consts, values, keep_location=True)


def _apply(g, eqn, values):
    """The results of one equation, as a list."""
    primitive = eqn.primitive
    has_components = False
    for v in values:
        if type(v) is tuple:
            has_components = True
    for v in eqn.outvars:
        if v.aval.dtype not in ELEMENT_TYPES:
            check_form(g, v.aval.dtype)  # raises for what has no components either
            has_components = True
    if has_components:
        rule = component_lowering.get(primitive)
        if rule is EACH_COMPONENT and any(is_narrow(x.aval.dtype) for x in (*eqn.invars, *eqn.outvars)):
            rule = None  # arithmetic of bytes is not that of the numbers that they hold
        if rule is EACH_COMPONENT or (rule is None and DATA_MOVEMENT in primitive.facts):
            rule = lowering.get(primitive)
            if type(rule) not in (Decomposition, Refusal, type(None)):
                return _componentwise(g, rule, eqn, values)
    else:
        rule = lowering.get(primitive)
    if rule is None and (program := called_program(eqn)) is not None:
        return inline(g, program, program.consts, values)
    if rule is None or type(rule) is Refusal:
        _refuse(eqn, has_components)
    if type(rule) is Decomposition:
        return lower_function(g, rule.function, eqn.params, [x.aval for x in eqn.invars], values)
    if primitive.multiple_results:
        return rule(g, [v.aval for v in eqn.outvars], *values, **eqn.params)
    return (rule(g, eqn.outvars[0].aval, *values, **eqn.params),)


def inline(g, jaxpr, consts, values, *, keep_location=False):
    """Lowers the equations of a jaxpr into a graph; returns the results as a list.

    values         Values of the arguments, tuples of components for dtypes that have them
    keep_location  new nodes have the name and location of the equation that is being lowered, not of their own
    """
    env = {v: constant(g, c, v.aval) for v, c in zip(jaxpr.constvars, consts)}
    env.update(zip(jaxpr.invars, values))
    model = g.model
    outer = model.prefix, model.location
    is_native = model.target == "native"
    for eqn in jaxpr.eqns:
        if not keep_location:
            model.prefix, model.location = eqn.primitive.name, source.called_at(eqn.source_info, outer[1])
        operands = [constant(g, x.val, x.aval) if type(x) is Literal else env[x] for x in eqn.invars]
        try:
            results = _fold(g, eqn, operands) if _can_be_known(eqn.primitive, operands) else None
            if results is None:
                results = _empty_results(g, eqn)
            if results is None and is_native:
                results = native.lower_natively(g, eqn, operands)
            if results is None:
                results = _apply(g, eqn, operands)
        except (LoweringError, InconclusiveDimensionOperation) as error:
            results = native.fall_back_to_host(g, eqn, operands) if is_native else None
            if results is None:
                results = _handle_refusal(g, eqn, error)
        env.update(zip(eqn.outvars, results))
    model.prefix, model.location = outer
    return [constant(g, x.val, x.aval) if type(x) is Literal else env[x] for x in jaxpr.outvars]


def _handle_refusal(g, eqn, error):
    """Raises a refusal with its location, or records it if all are collected, and returns placeholders."""
    refusals, location = g.model.refusals, eqn.source_info or g.model.location
    if isinstance(error, InconclusiveDimensionOperation):
        error = LoweringError(_ask_for_sizes(eqn, error))
    if refusals is None:
        text = error.message
        if "\nIn operation" not in text and location is not None:
            text += (
                f"\nIn operation {eqn.primitive.name} from {source.summarize(location)}.{source.caller_lines(location)}"
            )
        raise LoweringError(text) from None
    refusals.add(eqn, error, location)
    return [_placeholder(g, v.aval) for v in eqn.outvars]


def _ask_for_sizes(eqn, error):
    """The text of a refusal of symbolic sizes that the form of an operation depends on."""
    shapes = ", ".join(str(v.aval.shape) for v in eqn.invars if not dim_rules.is_constant_shape(v.aval.shape))
    return (
        f"The ONNX form of {eqn.primitive.name} depends on sizes, which are symbolic: {shapes}. "
        f"{str(error).splitlines()[0]} Give the axes known sizes, or the symbols constraints that decide this."
    )


def _placeholder(g, aval):
    """A value without a node, in place of a result that has no ONNX form, while refusals are collected."""
    if aval.dtype in ELEMENT_TYPES:
        return Value(g.model.fresh("missing"), aval, g)
    axes, dtype = trailing_axes(aval.dtype)
    part = ShapedArray(aval.shape, dtype)
    return tuple(Value(g.model.fresh("missing"), part, g) for _ in range(int(np.prod(axes))))


# ---- a whole graph


def lower_jaxpr(
    jaxpr,
    *,
    opset,
    target="portable",
    provider="cpu",
    input_names=None,
    output_names=None,
    dim_solver=None,
    collect_errors=False,
    recognize=False,
    named_after=None,
    leave_out_prints=False,
):
    """The Graph of a ClosedJaxpr, whose dead code should already be eliminated.

    input_names, output_names   names at the boundary; "in.0"..., "out.0"... by default
    dim_solver                  `export.shapes.DimSolver` of the arguments when shapes are symbolic; made if None
    collect_errors              lower everything, then raise one LoweringError that lists all operations without a form
    named_after                 the exported function: nodes get the names of functions that it calls, not of primitives
    leave_out_prints            `debug.print` becomes nothing, and the graph's `model.left_out` says where
    recognize                   functions that nodes spell out become the operators of ONNX that have their meaning

    A complex argument is a float tensor with a trailing axis of 2, a key a uint32 tensor with trailing key axes.
    Raises LoweringError for an operation without an ONNX form; it names the operation and the user's line.
    """
    g = Graph(opset, provider, target)
    g.model.refusals = Refusals() if collect_errors else None
    g.model.recognizes = recognize
    g.model.left_out = [] if leave_out_prints else None
    in_avals = [v.aval for v in jaxpr.invars]
    input_names = input_names or [f"in.{i}" for i in range(len(in_avals))]
    output_names = output_names or [f"out.{i}" for i in range(len(jaxpr.outvars))]
    for aval in in_avals:
        check_form(g, aval.dtype)
    # Names of results are reserved first, so that no node takes one.
    boundary = [g.input(name, physical_aval(a)) for name, a in zip(input_names, in_avals)]
    g.model.promised.update(output_names)
    if not all(dim_rules.is_constant_shape(a.shape) for a in in_avals):
        dim_solver = dim_solver or shapes.make_dim_solver(input_names, [a.shape for a in in_avals])
        g.model.dims = shapes.RuntimeDims(dim_solver, boundary)
    values = [split(g, v, a) for v, a in zip(boundary, in_avals)]
    with np.errstate(all="ignore"):
        results = inline(g, jaxpr, jaxpr.consts, values)
    if collect_errors and g.model.refusals.lines:
        raise LoweringError(g.model.refusals.text(opset))
    for name, value, x in zip(output_names, results, jaxpr.outvars):
        g.output(name, join(g, value, x.aval))
    if g.token is not None:
        g.output(None, g.token)
    g.model.dims = None
    run(g)
    if recognize:
        recognize_operators(g)
    if named_after is not None:
        name_nodes(g, code_of(named_after))
    return break_reference_cycles(g)
