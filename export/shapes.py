"""Symbolic shapes of an exported function: their text, their values, their computation in the graph.

The shapes of the arguments alone determine the dimension variables.  `make_dim_solver` finds, for each variable, an
equation: a dimension of an argument that is `k * variable + rest`, where `rest` uses variables solved before.  Two
consumers solve these equations: `DimSolver.solve` with numbers, when onax calls the function (it also checks every
other dimension and the constraints), and `RuntimeDims` with nodes of the graph, when ONNX Runtime runs the model.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onax._core.paths import broadcast_prefix, keystr, prefix_errors
from onax._ground import dims as dim_rules
from onax._ground.dims import SymbolicDim, SymbolicScope, parse_dims
from onax._ground.errors import ExportError
from onax._ground.polynomials import INFINITY, interval
from onax._ground.source import api_boundary
from onax._ground.typing import DimSize, PyTree, Shape
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.abstract import ShapeDtypeStruct, abstractify
from onax.export.graph import ops

_INT64 = np.dtype(np.int64)
_PAGE = "https://docs.jax.dev/en/latest/export/shape_poly.html"

# --- the text form, under JAX's names -----------------------------------------------------------------------------


def is_symbolic_dim(p: object) -> bool:
    """Returns whether a dimension is symbolic.

    Args:
      p: a dimension.

    Returns:
      A bool.

    Examples:
      >>> onax.export.is_symbolic_dim(onax.export.symbolic_shape("b")[0])
      True
    """
    return isinstance(p, SymbolicDim)


@api_boundary
def symbolic_dim_bounds(dimension: DimSize) -> tuple[int | float, int | float]:
    """Inclusive bounds of a dimension over all values that its variables may have; new in JAX 0.12.

    Args:
      dimension: a symbolic dimension or an integer.

    Returns:
      `(low, high)`: ints, or -inf and inf where no bound is known.  They need not be tight.

    Raises:
      TypeError: the argument is neither.

    Examples:
      >>> (b,) = onax.export.symbolic_shape("b", constraints=("b <= 8",))
      >>> onax.export.symbolic_dim_bounds(2 * b + 1)
      (3, 17)
    """
    low, high = interval(dimension if isinstance(dimension, SymbolicDim) else operator.index(dimension))
    return (float(low) if abs(low) == INFINITY else low), (float(high) if abs(high) == INFINITY else high)


@api_boundary
def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[DimSize | None] | None = None,
) -> Shape:
    """Returns the dimensions that a text such as "b, 2*t + 1, 3" names.

    Unlike in JAX parentheses, ``//`` and ``%`` are understood too.

    Args:
      shape_spec: the text.
      constraints: constraints of a new scope, such as "b >= 2", "t <= 10", "mod(b, 4) == 0".
      scope: an existing scope, in which equal names mean equal values; default None, a new one.
      like: a shape: ``_`` stands for its dimension on the same axis, a final ``...`` for all that remain.

    Returns:
      A tuple of ints and symbolic dimensions.

    Raises:
      ValueError: a text that cannot be parsed.

    Examples:
      >>> onax.export.symbolic_shape("b, 3")
      (b, 3)
    """
    if scope is not None and constraints:
        raise ValueError("Cannot specify both a `scope` and `constraints`.")
    if shape_spec is None:
        shape_spec = "..."
    if not isinstance(shape_spec, str):
        raise ValueError(f"polymorphic shape spec should be None or a string. Found {shape_spec!r}.")
    return parse_dims(shape_spec, SymbolicScope(constraints) if scope is None else scope, like)


@api_boundary
def symbolic_args_specs(
    args: PyTree, shapes_specs: PyTree, constraints: Sequence[str] = (), scope: SymbolicScope | None = None
) -> PyTree:
    """Returns types of arguments with symbolic shapes.

    Args:
      args: a tree of arrays or ShapeDtypeStructs.
      shapes_specs: texts, a prefix tree of `args`; None keeps a shape.
      constraints: constraints of a new scope.
      scope: an existing scope; default None, a new one, which all texts share.

    Returns:
      A tree of ShapeDtypeStructs like `args`.

    Raises:
      ValueError: a specification for each argument is missing; or both `scope` and `constraints`.

    Examples:
      >>> onax.export.symbolic_args_specs((jnp.ones((2, 3)),), ("b, _",))
      (ShapeDtypeStruct(shape=(b, 3), dtype=float32),)
    """
    if scope is not None and constraints:
        raise ValueError("Cannot specify both a `scope` and `constraints`.")
    scope = SymbolicScope(constraints) if scope is None else scope
    leaves, tree = tree_flatten(args)
    texts = _broadcast_texts(shapes_specs, args)
    if len(texts) != len(leaves):
        raise ValueError(f"{len(texts)} shape specs for {len(leaves)} arguments")
    specs = []
    for leaf, text in zip(leaves, texts):
        aval = abstractify(leaf)
        shape = symbolic_shape(text, scope=scope, like=aval.shape)
        specs.append(ShapeDtypeStruct(shape, aval.dtype))
    return tree_unflatten(tree, specs)


def _broadcast_texts(specs, full):
    """One text for each leaf of `full`: a text in the prefix tree applies to all leaves below it."""
    if specs is None or isinstance(specs, str):
        return [specs] * len(tree_flatten(full)[0])
    if isinstance(specs, list) and isinstance(full, tuple):
        specs = tuple(specs)
    is_leaf = lambda x: x is None or isinstance(x, str)
    for error in prefix_errors(specs, full, is_leaf):
        raise error("shapes_specs")
    return broadcast_prefix(specs, full, is_leaf)


# --- values of the variables --------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False, repr=False)
class DimEquation:
    """Determines one variable: `factor * variable + rest` is dimension `axis` of argument `index`."""

    variable: str
    index: int
    axis: int
    factor: int
    rest: object


@dataclass(slots=True, eq=False, repr=False)
class DimSolver:
    """Solves the dimension variables of symbolic argument shapes.

    labels     names of the arguments in messages
    shapes     symbolic shapes of the arguments
    equations  one DimEquation for each variable, in an order in which they can be solved
    scope      the symbolic scope, or None if all shapes are static
    """

    labels: tuple
    shapes: tuple
    equations: tuple
    scope: object

    @property
    def variables(self):
        """The names of the variables, in the order in which they are solved."""
        return tuple(equation.variable for equation in self.equations)

    @property
    def constraints(self):
        """The constraints on the variables, as texts."""
        return () if self.scope is None else self.scope.constraints

    def solve(self, shapes):
        """The values of the variables by name, given the actual shapes of the arguments.

        Raises ValueError for shapes that do not match; it names the dimension, the expected and the actual size.
        """
        result, obtained = {}, ""
        for label, spec, shape in zip(self.labels, self.shapes, shapes):
            self._check_constants(label, spec, shape)
        for equation in self.equations:
            size = shapes[equation.index][equation.axis]
            value, remainder = divmod(size - dim_rules.evaluate(equation.rest, result), equation.factor)
            spec = self.shapes[equation.index][equation.axis]
            where = f"{self.labels[equation.index]}.shape[{equation.axis}] (= {size})"
            if remainder:
                fault = f"Division had remainder {remainder} when computing the value of '{equation.variable}'"
                self._fail(fault, obtained)
            obtained += f"'{equation.variable}' = {value} from specification '{spec}' for dimension {where}, "
            if not dim_rules.definitely_at_least(value, 1):
                self._fail(f"Expected value >= 1 for dimension variable '{equation.variable}'", obtained)
            result[equation.variable] = value
        self._check_dimensions(shapes, result, obtained)
        self._check_constraints(result, obtained)
        return result

    def _check_constants(self, label, spec, shape):
        if len(spec) != len(shape):
            raise ValueError(f"Rank mismatch for {label}: expected {_text(spec)} and called with {tuple(shape)}")
        for axis, (d, n) in enumerate(zip(spec, shape)):
            if dim_rules.is_constant(d) and d != n:
                raise ValueError(
                    f"Shape mismatch for {label}.shape[{axis}] (expected same constant): expected {_text(spec)} and "
                    f"called with {tuple(shape)}"
                )

    def _check_dimensions(self, shapes, values, obtained):
        for label, spec, shape in zip(self.labels, self.shapes, shapes):
            for axis, (d, n) in enumerate(zip(spec, shape)):
                expected = dim_rules.evaluate(d, values)
                if expected != n:
                    self._fail(
                        f"Found inconsistency between dimension size {label}.shape[{axis}] (= {n}) and the "
                        f"specification '{d}' (= {expected})",
                        obtained,
                    )

    def _check_constraints(self, values, obtained):
        for text in self.constraints:
            fault = violation(text, values, self.scope)
            if fault is not None:
                self._fail(f"{fault}. ", obtained, f"symbolic shape constraint {text}")

    def _fail(self, fault, obtained, what="polymorphic shapes specification"):
        fault = fault if fault.endswith(" ") else f"{fault}."
        specs = ",".join(f"{label}.shape = {_text(s)}" for label, s in zip(self.labels, self.shapes) if s)
        raise ValueError(
            f"Input shapes do not match the {what}. {fault} Using the following polymorphic shapes specifications: "
            f"{specs}. Obtained dimension variables: {obtained}. Please see {_PAGE}#shape-assertion-errors for more "
            "details."
        )


def violation(constraint, values, scope):
    """How values of the variables contradict a constraint; None if they do not, or if a variable is not given."""
    for relation in ("==", ">=", "<="):
        sides = constraint.split(relation)
        if len(sides) == 2:
            # parsed in a new scope: in `scope` the constraint is already assumed, so it would always hold
            apart = SymbolicScope()
            a, b = (parse_dims(side, apart)[0] for side in sides)
            names = dim_rules.free_variables(a) | dim_rules.free_variables(b)
            all_values = {name: _value(name, values, scope) for name in names}
            if None in all_values.values():
                return None
            difference = b - a if relation == "<=" else a - b
            size = dim_rules.evaluate(difference, all_values)
            if size == 0 if relation == "==" else size >= 0:
                return None
            expected = "equal" if relation == "==" else "greater or equal"
            return f"Expected '{difference}' to be {expected} to 0, but found {size}"
    raise ValueError(f"{constraint!r} is not a constraint")


def _value(name, values, scope):
    """A variable's value, or the value of the expression that a constraint replaces it by; None if it is unknown."""
    if name in values:
        return values[name]
    (d,) = parse_dims(name, scope)
    return dim_rules.evaluate(d, values) if dim_rules.free_variables(d) <= set(values) else None


def _text(shape):
    inner = ", ".join(map(str, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def check_one_scope(name, leaves):
    """Raises ValueError if symbolic dimensions of arguments, given with their paths, belong to several scopes."""
    first = None
    for path, leaf in leaves:
        for d in getattr(leaf, "shape", ()):
            if dim_rules.is_constant(d):
                continue
            first = first or (argument_label(path), d.scope)
            if d.scope is not first[1]:
                raise ValueError(
                    f"Invalid mixing of symbolic scopes when exporting {name}.\n"
                    f"Expected current (from {first[0]}) scope {first[1]}\n"
                    f"and found for '{d}' ({argument_label(path)}) scope {d.scope}"
                )


def make_dim_solver(labels, shapes):
    """The DimSolver for arguments of these shapes, which messages call by these labels.

    Raises ExportError if a variable cannot be solved for: each must occur linearly in a dimension whose other variables
    are solved from other dimensions.
    """
    pending = [
        (i, axis, d) for i, shape in enumerate(shapes) for axis, d in enumerate(shape) if not dim_rules.is_constant(d)
    ]
    scope = pending[0][2].scope if pending else None
    equations, known = [], set()
    while True:
        left = []
        for entry in pending:
            equation = _make_equation(entry, known)
            if equation is None:
                left.append(entry)
            elif equation.variable is not None:
                equations.append(equation)
                known.add(equation.variable)
        if len(left) == len(pending):
            break
        pending = left
    missing = sorted(set().union(*(dim_rules.free_variables(d) for _, _, d in pending)) - known)
    if missing:
        unused = ", ".join(f"'{d}' for dimension size {labels[i]}.shape[{axis}]" for i, axis, d in pending)
        specs = ",".join(f"{label}.shape = {_text(s)}" for label, s in zip(labels, shapes) if s)
        raise ExportError(
            f"Cannot solve for values of dimension variables {set(missing)}. We can only solve linear uni-variate "
            f"constraints. Using the following polymorphic shapes specifications: {specs}. Unprocessed specifications: "
            f"{unused}. Please see {_PAGE}#dimension-variables-must-be-solvable-from-the-input-shapes for more details."
        )
    return DimSolver(tuple(labels), tuple(map(tuple, shapes)), tuple(equations), scope)


def _make_equation(entry, known):
    """The equation that a dimension gives, without a variable if all are known; None if it cannot be solved yet."""
    index, axis, d = entry
    new = dim_rules.free_variables(d) - known
    if not new:
        return DimEquation(None, index, axis, 1, 0)
    if len(new) > 1:
        return None
    (name,) = new
    factor, rest = 0, d
    for monomial, coefficient in d.terms:
        if name not in {v for atom, _ in monomial for v in _atom_variables(atom)}:
            continue
        if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].operands:
            return None
        factor = coefficient
        (variable,) = parse_dims(name, d.scope)
        rest = rest - coefficient * variable
    return DimEquation(name, index, axis, factor, rest) if name not in dim_rules.free_variables(rest) else None


def _atom_variables(atom):
    if not atom.operands:
        return {atom.operation}
    return set().union(*(dim_rules.free_variables(d) for d in atom.operands))


def sample_values(solver, preferred=(3, 4, 2, 5, 6, 7, 8, 1, 9, 10, 12, 16)):
    """Small values of the variables that satisfy all constraints, to try a function with.

    Raises ExportError if the search finds none.
    """
    names = solver.variables

    def search(result):
        if len(result) == len(names):
            sizes = [dim_rules.evaluate(d, result) for shape in solver.shapes for d in shape]
            faults = [violation(text, result, solver.scope) for text in solver.constraints]
            fits = all(n >= 0 for n in sizes) and not any(faults)
            return dict(result) if fits else None
        start = len(result)
        for value in preferred[start % 3 :] + preferred[: start % 3]:
            good = search({**result, names[start]: value})
            if good is not None:
                return good
        return None

    result = search({})
    if result is None:
        raise ExportError(f"no small sizes satisfy the constraints {', '.join(solver.constraints)}: give sizes")
    return result


# --- in the graph -------------------------------------------------------------------------------------------------


class RuntimeDims:
    """Computes symbolic dimensions in a graph from the shapes of its inputs; `Graph(dims=...)` takes one.

    `values[i]` is the graph value of argument i.  It may have further axes at the end.
    """

    __slots__ = ("_equations", "values")

    def __init__(self, solver, values):
        self._equations = {equation.variable: equation for equation in solver.equations}
        self.values = values

    def __call__(self, graph, d):
        """Emits nodes into `graph` that compute a symbolic dimension, and returns the int64 scalar."""
        if len(d.terms) == 1:
            ((monomial, coefficient),) = d.terms
            if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
                return self._atom(graph, monomial[0][0], d.scope)
        total = None
        for monomial, coefficient in d.terms:
            size = self._product(graph, monomial, abs(coefficient), d.scope)
            if total is None and coefficient > 0:
                total = size
            else:
                before = graph.const(0, _INT64) if total is None else total
                total = _scalar(graph, "Add" if coefficient > 0 else "Sub", before, size)
        return total

    def _product(self, graph, monomial, size, scope):
        """The product of a monomial's atoms and a positive number."""
        product = None
        for atom, power in monomial:
            factor = graph.dim(_as_dim(atom, scope))
            for _ in range(power):
                product = factor if product is None else _scalar(graph, "Mul", product, factor)
        number = graph.const(size, _INT64)
        if product is None:
            return number
        return product if size == 1 else _scalar(graph, "Mul", product, number)

    def _atom(self, graph, atom, scope):
        if atom.operands:
            return self._operation(graph, atom)
        equation = self._equations[atom.operation]
        x = self.values[equation.index]
        size = graph.node("Shape", x, out=((1,), _INT64), start=equation.axis, end=equation.axis + 1)
        value = graph.node("Squeeze", size, graph.const([0], _INT64), out=((), _INT64))
        if not (dim_rules.is_constant(equation.rest) and equation.rest == 0):
            value = _scalar(graph, "Sub", value, graph.dim(equation.rest))
        if equation.factor != 1:
            value = _scalar(graph, "Div", value, graph.const(equation.factor, _INT64))
        return value

    def _operation(self, graph, atom):
        a, b = (graph.dim(o) for o in atom.operands)
        if atom.operation in ("max", "min"):
            return (ops.maximum if atom.operation == "max" else ops.minimum)(graph, a, b)
        if atom.operation == "mod":
            return _scalar(graph, "Mod", a, b)
        if all(dim_rules.definitely_at_least(o, 0) for o in atom.operands):
            return _scalar(graph, "Div", a, b)
        # Div of ONNX truncates towards zero; subtracting the remainder first makes the division exact
        return _scalar(graph, "Div", _scalar(graph, "Sub", a, _scalar(graph, "Mod", a, b)), b)


def _scalar(graph, op_type, *operands):
    return graph.node(op_type, *operands, out=((), _INT64))


def _as_dim(atom, scope):
    """The dimension that is this atom alone."""
    return SymbolicDim({((atom, 1),): 1}, scope)


def argument_label(path):
    """The name of an argument in messages, from its key path under (args, kwargs): `args[0]['w']`."""
    head, *rest = path
    return ("args" if head.idx == 0 else "kwargs") + keystr(rest)
