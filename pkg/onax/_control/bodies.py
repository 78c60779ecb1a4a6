"""Staging of the bodies of loops and branches, and the checks of the types of carries and results."""

import re
import weakref

from onax._core import jaxpr as core
from onax._core.axes import axes_key
from onax._core.jaxpr import DebugInfo
from onax._core.paths import equality_errors_pytreedef, keystr, skeleton, tree_flatten_with_path
from onax._core.trace import Tracer, as_array, typeof
from onax._ground import dtypes
from onax._native import context
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._prims.convert import cast, convert
from onax._transforms.abstract import CheckedFlatFunction
from onax._transforms.flatten import (
    debug_info,
    fun_signature,
    fun_source_info,
    is_library_function,
)
from onax._transforms.staging import trace_shared, trace_to_jaxpr

# function -> {(tree, avals, ...): (jaxpr, constants, tree of the results)}
_staged_bodies = weakref.WeakKeyDictionary()
_CACHED_PER_FUNCTION = 64


def stage_body(fun, in_tree, avals, what, adapt=None, names=None):
    """Stages a body; returns (jaxpr that takes its constants first, the constants, tree of the results).

    `in_tree` is the tree of (positional arguments, {}).  The same function on the same types is staged once, unless it
    closes over values that are being traced.  With `adapt`, `adapt(fun)` is staged instead of the user's function, and
    messages name the arguments by `names(fun, in_tree)`.
    """
    key = (in_tree, tuple(avals), what, adapt, context.option_word(), axes_key())
    try:
        known = _staged_bodies.setdefault(fun, {})
    except TypeError:  # a callable without weak references
        known = {}
    result = known.get(key)
    if result is None:
        flat = CheckedFlatFunction(fun if adapt is None else adapt(fun), in_tree, what)
        args = skeleton(in_tree)[0]
        info = debug_info(what, fun, args) if names is None else DebugInfo(what, fun_source_info(fun), names(fun, args))
        closed = (trace_shared if is_library_function(fun) else trace_to_jaxpr)(flat, avals, info)
        jaxpr = core.ClosedJaxpr(core.convert_constvars_jaxpr(closed), ())
        result = (jaxpr, closed.consts, flat.out_tree)
        if not any(isinstance(c, Tracer) for c in closed.consts) and len(known) < _CACHED_PER_FUNCTION:
            known[key] = result
    return result


_WEAK_KINDS = {"b": bool, "i": int, "f": float, "c": complex}


def promote_weak_types(values, in_avals, out_avals):
    """Converts weakly typed initial values to the dtypes that the body returns; (values, whether any changed)."""
    promoted, changed = [], False
    for value, aval, out in zip(values, in_avals, out_avals):
        if aval.weak_type and aval.dtype != out.dtype:
            if dtypes.result_type(_WEAK_KINDS[aval.dtype.kind], out.dtype) == out.dtype:
                changed = True
                value = convert_value(value, out.dtype)
        promoted.append(value)
    return promoted, changed


def convert_value(value, dtype):
    """The value in a dtype; a known scalar stays known, so that it prints as a literal."""
    return convert(value, dtype) if isinstance(value, Tracer) else make_array(cast(value._value, dtype))


def check_carry(what, name, init_tree, out_tree, in_avals, out_avals):
    """Raises TypeError, which lists the leaves, unless the body returns a carry of the type that it takes.

    `name()` returns the name of the carry in the message.
    """
    if out_tree != init_tree:
        mismatches = [
            f"the input carry {_component(name(), keystr(path))} is {one} but the corresponding component of the carry "
            f"output is {other}, {why}"
            for path, one, other, why in equality_errors_pytreedef(init_tree, out_tree)
        ]
        raise TypeError(
            f"{what} carry input and carry output must have the same pytree structure, but they differ:\n\n"
            f"{_join_mismatches(mismatches)}\n\n"
            "Revise the function so that the carry output has the same pytree structure as the carry input."
        )
    pairs = [(i, _type_mismatch(a, b)) for i, (a, b) in enumerate(zip(in_avals, out_avals))]
    if any(why for _, why in pairs):
        paths = _leaf_paths(init_tree)
        mismatches = [
            f"the input carry {_component(name(), paths[i])} has type {in_avals[i].str_short()} but the corresponding "
            f"output carry component has type {out_avals[i].str_short()}, so {why}"
            for i, why in pairs
            if why
        ]
        raise TypeError(
            f"{what} carry input and carry output must have equal types, but they differ:\n\n"
            f"{_join_mismatches(mismatches)}\n\n"
            + _join_advice(
                _pcast_advice(
                    [f"the initial value of the input carry {_component(name(), path)}" for path in paths],
                    in_avals,
                    out_avals,
                )
            )
            + "Revise the function so that all output types match the corresponding input types."
        )


def _component(name, path):
    return f"component {name}{path}" if path else name


def _join_mismatches(mismatches):
    """Formats one mismatch as a sentence, several as a list."""
    if len(mismatches) == 1:
        return re.sub(r"\Athe ", "The ", mismatches[0]) + "."
    return ";\n".join(f"  * {mismatch}" for mismatch in mismatches) + "."


def _type_mismatch(a, b):
    if a.is_high or b.is_high:
        return "" if a.is_high and b.is_high and a.normalize() == b.normalize() else "the types do not match"
    if a.dtype != b.dtype:
        return (
            "the dtypes do not match" if a.shape == b.shape else "the dtypes do not match, and the shapes do not match"
        )
    if a.shape != b.shape:
        return "the shapes do not match"
    if a.stated_sharding != b.stated_sharding:
        return "the shardings do not match"
    return "" if a.varying == b.varying else "the manual axis types do not match"


def _pcast_advice(names, avals, others):
    """What to do where types of values with these names vary over fewer axes than others."""
    for name, a, b in zip(names, avals, others):
        if isinstance(a, ShapedArray) and isinstance(b, ShapedArray):
            axes = tuple(sorted(b.varying - a.varying, key=str))
            if axes:
                yield f"applying `jax.lax.pcast(..., {axes}, to='varying')` to {name}"


def _join_advice(advice):
    """Formats what might fix an error: as a sentence, or as a list."""
    advice = list(advice)
    if len(advice) < 2:
        return "".join(f"This might be fixed by {line}.\n\n" for line in advice)
    listed = ";\n".join(f"  * {line}" for line in advice)
    return f"This might be fixed by:\n{listed}.\n\n"


def carry_name(fun):
    """The name of the carry in messages: that of the first parameter of the body."""
    signature = fun_signature(fun)
    return next(iter(signature.parameters), "carry") if signature else "carry"


def _leaf_paths(tree):
    return [keystr(path) for path, _ in tree_flatten_with_path(skeleton(tree))[0]]


def check_branches(what, names, functions, out_trees, out_avals):
    """Raises TypeError unless all branches return trees of the structure and types of the first."""
    for i in range(1, len(functions)):
        first, other = names[0], names[i]
        where = "\n".join(f"{names[j]} is {fun_source_info(functions[j])}" for j in (0, i))
        if out_trees[i] != out_trees[0]:
            mismatches = [
                f"{first} output{at} is {one} but {other} output{at} is {another}, {why}"
                for path, one, another, why in equality_errors_pytreedef(out_trees[0], out_trees[i])
                for at in (_at_path(keystr(path)),)
            ]
            raise TypeError(
                f"{what} branch outputs must have the same pytree structure, but they differ:\n\n{where}\n\n"
                f"{_join_mismatches(mismatches)}\n\n"
                f"Revise {first} and/or {other} so that they have the same pytree structure."
            )
        paths = [_at_path(path) for path in _leaf_paths(out_trees[0])]
        outputs = [[f"the output of {name}{at}" for at in paths] for name in (first, other)]
        mismatches = [
            f"the output of {first}{at} has type {a.str_short()} but the corresponding output of {other} "
            f"has type {b.str_short()}, so {_type_mismatch(a, b)}"
            for at, a, b in zip(paths, out_avals[0], out_avals[i])
            if _type_mismatch(a, b)
        ]
        if mismatches:
            raise TypeError(
                f"{what} branches must have equal output types but they differ.\n\n{where}\n\n"
                f"{_join_mismatches(mismatches)}\n\n"
                + _join_advice(
                    [
                        *_pcast_advice(outputs[0], out_avals[0], out_avals[i]),
                        *_pcast_advice(outputs[1], out_avals[i], out_avals[0]),
                    ]
                )
                + f"Revise {first} and/or {other} so that all output types match."
            )


def _at_path(path):
    return f" at path {path}" if path else ""


def arrays_and_avals(leaves):
    """The leaves as arrays or tracers (Python scalars keep their weak type), and their avals."""
    values = [x if isinstance(x, Tracer) else as_array(x) for x in leaves]
    return values, [typeof(x) for x in values]


def restore_weak_types(outs, avals):
    """The results with the weak types of `avals` (another branch may have decided them)."""
    return [x if x.weak_type == a.weak_type else x._with(weak_type=a.weak_type) for x, a in zip(outs, avals)]
