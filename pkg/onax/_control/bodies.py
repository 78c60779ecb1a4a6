"""What loops and branches share: staging of their bodies, and the checks that carries and results keep their type."""

import weakref

from onax._core import jaxpr as core
from onax._core.axes import named_axes
from onax._core.paths import keystr, tree_flatten_with_path
from onax._core.trace import Tracer, as_array, typeof
from onax._ground import dtypes
from onax._native import context
from onax._native.array import make_array
from onax._native.tree import tree_unflatten
from onax._prims.convert import cast, convert
from onax._transforms.abstract import CheckedFlatFunction
from onax._transforms.flatten import debug_info, fun_source_info
from onax._transforms.staging import trace_to_jaxpr

_staged = weakref.WeakKeyDictionary()  # function -> {(tree, avals, ...): (jaxpr, constants, tree of the results)}
_CACHED_PER_FUNCTION = 64


def stage_body(fun, in_tree, avals, what):
    """(jaxpr that takes its constants first, the constants, tree of the results) of a body.

    `in_tree` is the tree of (positional arguments, {}).  The same function on the same types is staged once, unless it
    closes over values that are being traced.
    """
    key = (in_tree, tuple(avals), what, context.option_word(), named_axes())
    try:
        known = _staged.setdefault(fun, {})
    except TypeError:  # a callable without weak references
        known = {}
    found = known.get(key)
    if found is None:
        flat = CheckedFlatFunction(fun, in_tree, what)
        closed = trace_to_jaxpr(flat, avals, debug_info(what, fun))
        jaxpr = core.ClosedJaxpr(core.convert_constvars_jaxpr(closed), ())
        found = (jaxpr, closed.consts, flat.out_tree)
        if not any(isinstance(c, Tracer) for c in closed.consts) and len(known) < _CACHED_PER_FUNCTION:
            known[key] = found
    return found


_WEAK_KINDS = {"b": bool, "i": int, "f": float, "c": complex}


def promote_weak(values, in_avals, out_avals):
    """Initial values, weakly typed ones converted to what the body gives; whether a dtype changed."""
    promoted, changed = [], False
    for value, aval, out in zip(values, in_avals, out_avals):
        if aval.weak_type and (aval.dtype != out.dtype or not out.weak_type):
            if dtypes.result_type(_WEAK_KINDS[aval.dtype.kind], out.dtype) == out.dtype:
                changed = changed or out.dtype != aval.dtype
                value = _converted(value, out.dtype)
        promoted.append(value)
    return promoted, changed


def _converted(value, dtype):
    """The value in a dtype; a known scalar stays known, so that it prints as a literal."""
    return convert(value, dtype) if isinstance(value, Tracer) else make_array(cast(value._value, dtype))


def check_carry(what, fun, init_tree, out_tree, in_avals, out_avals):
    """TypeError, leaf by leaf, unless the body returns a carry of the type it was given."""
    if out_tree != init_tree:
        raise TypeError(
            f"{what} carry input and carry output must have the same pytree structure, but they differ:\n\n"
            f"The input carry has tree structure {init_tree} but the carry output has {out_tree}; "
            f"{_kinds(init_tree, out_tree)}\n\n"
            "Revise the function so that the carry output has the same pytree structure as the carry input."
        )
    name, paths = _carry_name(fun), _paths(init_tree)
    faults = []
    for path, a, b in zip(paths, in_avals, out_avals):
        fault = _difference(a, b)
        if fault:
            part = f"component {name}{path}" if path else name
            faults.append(
                f"The input carry {part} has type {a.str_short()} but the corresponding output carry component has "
                f"type {b.str_short()}, so {fault}."
            )
    if faults:
        listed = "\n\n".join(faults)
        raise TypeError(
            f"{what} carry input and carry output must have equal types, but they differ:\n\n{listed}\n\n"
            "Revise the function so that all output types match the corresponding input types."
        )


def _difference(a, b):
    if a.dtype != b.dtype:
        return "the dtypes do not match" if a.shape == b.shape else "the dtypes and shapes do not match"
    return "" if a.shape == b.shape else "the shapes do not match"


def _kinds(a, b):
    first, second = a.node_data(), b.node_data()
    describe = lambda data: "a leaf" if data is None else f"a {data[0]}"
    if (first and first[0]) == (second and second[0]):
        return "the structures below differ."
    return f"one is {describe(first)} and the other {describe(second)}, so their Python types differ."


def _carry_name(fun):
    names = debug_info("scan", fun, (0,)).arg_names
    return names[0] if names else "carry"


def _paths(tree):
    dummy = tree_unflatten(tree, [0] * tree.num_leaves)
    return [keystr(path) for path, _ in tree_flatten_with_path(dummy)[0]]


def check_branches(names, functions, out_trees, out_avals):
    """TypeError unless all branches return trees of the same structure and types."""
    where = "\n".join(f"{n} is {fun_source_info(f)}" for n, f in zip(names, functions))
    for i in range(1, len(functions)):
        revise = f"Revise {names[0]} and/or {names[i]} so that "
        if out_trees[i] != out_trees[0]:
            raise TypeError(
                "cond branch outputs must have the same pytree structure, but they differ:\n\n"
                f"{where}\n\n{names[0]} output has tree structure {out_trees[0]} but {names[i]} output has "
                f"{out_trees[i]}; {_kinds(out_trees[0], out_trees[i])}\n\n"
                f"{revise}they have the same pytree structure."
            )
        faults = []
        for path, a, b in zip(_paths(out_trees[0]), out_avals[0], out_avals[i]):
            fault = _difference(a, b)
            if fault:
                faults.append(
                    f"The output of {names[0]}{f' at path {path}' if path else ''} has type {a.str_short()} but the "
                    f"corresponding output of {names[i]} has type {b.str_short()}, so {fault}."
                )
        if faults:
            listed = "\n\n".join(faults)
            raise TypeError(
                f"cond branches must have equal output types but they differ.\n\n{where}\n\n{listed}\n\n"
                f"{revise}all output types match."
            )


def arrays_and_avals(leaves):
    """The leaves as arrays or tracers (Python scalars keep their weak type), and their avals."""
    values = [x if isinstance(x, Tracer) else as_array(x) for x in leaves]
    return values, [typeof(x) for x in values]


def with_types(outs, avals):
    """Results with the weak types that the program states (which may be those of another branch)."""
    return [x if x.weak_type == a.weak_type else x._with(weak_type=a.weak_type) for x, a in zip(outs, avals)]
