"""Varying values in types: which results inside `shard_map` vary over which axes of the mesh.

With check_vma, types in the body of a `shard_map` say over which of its axes a value may differ from device to device:
`f32[2]{V:x}`.  Operands of one operation vary over the same axes: `pvary` turns a value that is the same on all devices
into one that varies, and its transpose, `psum_invariant`, sums cotangents over the devices.  So derivatives with
respect to values that do not vary are sums over all devices.

A rule of the slot `varying_type` gets the axes over which the operands vary and gives those of the results.  Operations
that hold programs have results of the types that their programs have, and those with `OWN_TYPES` the types they state.

Types also say over which axes a value is one part of a sum on each device, `f32[2]{U:x}`, and over which it is the same
on all and its cotangents are such parts, `f32[2]{R:x}`.  What operations make of these is in `unreduced_types.py`; a
rule of the slot `kinds_of_axes` gives the whole type of the result of a cast or a collective that is made for them.
"""

import functools

from onax._core.axes import ManualAxisType, checked_axes, names_of
from onax._core.facts import CASTS_AXES, NAMED_AXIS
from onax._core.jaxpr import jaxprs_in_params
from onax._core.programs import programs
from onax._core.refs import AbstractRef
from onax._core.slots import Slot
from onax._core.trace import as_array, typeof
from onax._native.avals import ShapedArray
from onax._native.hooks import hooks
from onax._native.tree import tree_map
from onax._prims.collectives import (
    all_gather_invariant_p,
    all_gather_reduced_p,
    axis_index_p,
    pmax_p,
    pmin_p,
    psum_invariant_p,
    unreduced_psum_p,
    unreduced_reduce_scatter_p,
)
from onax._prims.indexing import scatter_add_p, scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p, scatter_sub_p
from onax._prims.varying import preduced_p, pvary_p, reduced_vary_cast_p, vary_over, vary_unreduced_cast_p
from onax._transforms.unreduced_types import axes_of_results, has_partial_sums

varying_type = Slot(
    "varying_type",
    "rule(axes over which any operand varies, params) -> axes over which the results vary",
    "Results vary over the axes over which an operand does.",
    "onax",
)

kinds_of_axes = Slot(
    "kinds_of_axes",
    "rule(type of the operand, the axes that are named) -> ManualAxisType of the result",
    "Collectives and casts refuse values that are unreduced or reduced over the axes that they name.",
    "onax",
)


OWN_TYPES = "own types"  # the rule of operations that hold functions: types are those that they state
CHOSEN_BY_FIRST = "chosen by the first operand"  # that of operations whose first operand says which program runs


def _names(params):
    """The axes that a collective names."""
    return names_of(params["axes"] if "axes" in params else params["axis_name"])


@varying_type.rule(psum_invariant_p, pmax_p, pmin_p, all_gather_invariant_p)
def _reduced(varying, params):
    """Sums in groups differ from group to group."""
    return varying if params.get("axis_index_groups") else varying.difference(_names(params))


@varying_type.rule(scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def of_operands(varying, params):
    """The program that these hold combines elements."""
    return varying


varying_type.set(pvary_p, lambda varying, params: varying.union(params["axes"]))


def _kind_change(name, start, end):
    """A rule of `kinds_of_axes`: over the axes named the operand is of one kind, and the result of another.

    `start`, `end`: the kinds, as ManualAxisType calls them; None for values that are the same on all devices.
    """
    title = f"{_SHOWN[start]}->{_SHOWN[end]} collective"

    def rule(aval, axes):
        mat, names = aval.mat, frozenset(axes)
        if start is None:
            if mat.varying & names:
                raise ValueError(
                    f"{name} is a {title}. This means that the axis names mentioned in `axes` passed to `{name}` must "
                    f"not be present in `jax.typeof(inp).mat.varying`. Got axes={axes} and "
                    f"jax.typeof(inp).mat.varying={mat.varying}"
                )
        else:
            own = getattr(mat, start)
            if not own:
                raise ValueError(f"{name} only accepts inputs that are {start}. Got {aval.str_short(True)}")
            if not own & names:
                raise ValueError(
                    f"{name} is a {title}. This means that the axis names passed to `{name}` must be present in "
                    f"`jax.typeof(x).mat.{start}`. Got axes={axes} and jax.typeof(x).mat.{start}={own}"
                )
        if end is not None and getattr(mat, end) & names:
            raise ValueError(
                f"{name} input cannot be {end} across the axis_name provided. Got x={aval.str_short(True)} and "
                f"axis_name={axes}"
            )
        changes = {} if start is None else {start: getattr(mat, start) - names}
        if end is not None:
            changes[end] = getattr(mat, end) | names
        return mat.update(**changes)

    return rule


_SHOWN = {None: "Invariant", "varying": "Varying", "unreduced": "Unreduced", "reduced": "Reduced"}
kinds_of_axes.set(preduced_p, _kind_change("preduced", None, "reduced"))
kinds_of_axes.set(reduced_vary_cast_p, _kind_change("reduced_vary_cast", "reduced", "varying"))
kinds_of_axes.set(vary_unreduced_cast_p, _kind_change("vary_unreduced_cast", "varying", "unreduced"))
kinds_of_axes.set(unreduced_psum_p, _kind_change("unreduced_psum", "unreduced", None))
kinds_of_axes.set(unreduced_reduce_scatter_p, _kind_change("unreduced_psum_scatter", "unreduced", "varying"))
kinds_of_axes.set(all_gather_reduced_p, _kind_change("all_gather_reduced", "varying", "reduced"))
varying_type.set(axis_index_p, lambda varying, params: frozenset(_names(params)))

NO_VARYING = frozenset()


def varying_axes(aval):
    """The mesh axes over which values of a type vary, or those that a reference holds."""
    if isinstance(aval, AbstractRef):
        aval = aval.inner_aval
    return aval.varying if isinstance(aval, ShapedArray) else NO_VARYING


def vary_like(aval, *others):
    """The type, which varies over the axes of the others too."""
    varying = NO_VARYING.union(*map(varying_axes, others))
    return aval if varying <= varying_axes(aval) else aval.update(varying=aval.varying | varying)


def varying_in_scope(aval):
    """The type without axes that are none of the present `shard_map`'s."""
    if isinstance(aval, ShapedArray) and (aval.unreduced or aval.reduced):
        return _with_kinds(aval, aval.mat, checked_axes())
    varying = varying_axes(aval)
    if not varying:
        return aval
    kept = varying.intersection(checked_axes())
    return aval if len(kept) == len(varying) else aval.update(varying=kept)


def _with_kinds(aval, mat, axes):
    """The type with what a ManualAxisType says of some axes."""
    mat = ManualAxisType(**{kind: getattr(mat, kind).intersection(axes) for kind in ManualAxisType.__slots__})
    return aval.update(manual_axis_type=mat)


def with_varying_results(fun, axes):
    """The function, whose results vary over these mesh axes."""

    @functools.wraps(fun)
    def varying(*args, **kwargs):
        return tree_map(lambda x: vary_over(as_array(x), axes), fun(*args, **kwargs))

    return varying


def varying_results(primitive, in_avals, out_avals, params):
    """The types of results, which say over which axes they vary.

    `out_avals` is the type of the one result, or a list.
    """
    several = primitive.multiple_results
    outs = list(out_avals) if several else [out_avals]
    axes = checked_axes()
    if axes and not _has_own_types(primitive, params):
        outs = _typed(primitive, in_avals, outs, params, axes)
    else:
        outs = list(map(varying_in_scope, outs))
        if axes and varying_type.get(primitive) is CHOSEN_BY_FIRST:
            outs = [_update(a, varying_axes(a) | varying_axes(in_avals[0])) for a in outs]
    return outs if several else outs[0]


def _typed(primitive, in_avals, outs, params, axes):
    kinds = kinds_of_axes.get(primitive)
    if kinds is not None:
        mat = kinds(in_avals[0], _names(params))
        return [_with_kinds(a, mat, axes) for a in outs]
    partial = has_partial_sums(in_avals)
    if partial and NAMED_AXIS in primitive.facts:
        _check_no_parts(primitive, in_avals, params)
    varying = NO_VARYING.union(*map(varying_axes, in_avals))
    rule = varying_type.get(primitive)
    if rule is not None:
        varying = rule(varying, params)
    varying = varying.intersection(axes)
    if partial and NAMED_AXIS in primitive.facts:
        return [_with_kinds(a, in_avals[0].mat.update(varying=varying), axes) for a in outs]
    if partial:
        unreduced, reduced = axes_of_results(primitive, in_avals, params)
        mat = ManualAxisType(varying=varying, unreduced=unreduced, reduced=reduced)
        return [_with_kinds(a, mat, axes) for a in outs]
    return [_update(a, varying) for a in outs]


def _check_no_parts(primitive, in_avals, params):
    """Raises ValueError for operands that are unreduced or reduced over axes that a collective names."""
    names = frozenset(_names(params))
    for aval in in_avals:
        for kind in ("unreduced", "reduced"):
            if getattr(aval.mat, kind) & names:
                raise ValueError(
                    f"{primitive.name} cannot accept args which are {kind}. Got {aval.str_short(True)} and "
                    f"axes={set(names)}"
                )


def _update(aval, varying):
    return aval.update(varying=varying) if isinstance(aval, ShapedArray) and aval.varying != varying else aval


def _has_own_types(primitive, params):
    """Whether the types of an operation's results, and those of its operands, are those that it holds."""
    rule = varying_type.get(primitive)
    if rule is not None:
        return rule is OWN_TYPES or rule is CHOSEN_BY_FIRST
    return primitive in programs or any(jaxprs_in_params(params))


def vary_operands(primitive, operands, params):
    """The operands of an operation, all of which then vary over the same axes.

    Those of a collective vary over its axes too; operations that hold programs take operands as they are.
    """
    if (len(operands) < 2 and NAMED_AXIS not in primitive.facts) or _has_own_types(primitive, params):
        return operands
    axes, varying = checked_axes(), [varying_axes(typeof(x)) for x in operands]
    needed = NO_VARYING.union(*varying)
    if NAMED_AXIS in primitive.facts and CASTS_AXES not in primitive.facts and primitive not in kinds_of_axes:
        needed = needed.union(_names(params)).intersection(axes)
    if all(own == needed for own in varying):
        return operands
    needed = [a for a in axes if a in needed]
    if NAMED_AXIS in primitive.facts:
        (x,) = operands  # `pvary` refuses a reduced one
        return (pvary_p.bind(x, axes=tuple(a for a in needed if a not in varying[0])),)
    return tuple(vary_over(x, needed) for x in operands)


hooks.vary_operands = vary_operands
