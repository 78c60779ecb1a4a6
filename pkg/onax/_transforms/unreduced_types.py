"""Unreduced and reduced axes in types: over which mesh axes results are parts of sums, and what refuses such parts.

A value that is unreduced over an axis, `f32[4]{U:x}`, is the sum of what the devices along it have.  One that is
reduced, `f32[4]{R:x}`, is the same on all of them, and its cotangents are unreduced.  Linear operations take unreduced
values; others would need the sum first, and raise an error.

A rule of the slot `unreduced_type` gets the types of the operands and returns the sets of axes over which the results
are unreduced and reduced.
"""

from onax._core.facts import ELEMENTWISE
from onax._core.sharding import ShardingTypeError, names_in
from onax._core.slots import Slot
from onax._native.avals import ShapedArray
from onax._prims.convert import bitcast_convert_type_p, convert_element_type_p, reduce_precision_p
from onax._prims.creation import copy_p
from onax._prims.dot import dot_general_p
from onax._prims.elementwise import add_any_p, add_p, integer_pow_p, mul_p, select_n_p, stop_gradient_p
from onax._prims.elementwise_clamp import clamp_p
from onax._prims.padding import pad_p
from onax._prims.placement import device_put_p
from onax._prims.shaping import broadcast_in_dim_p, reduce_sum_p, reshape_p, squeeze_p, transpose_p
from onax._prims.slicing import concatenate_p, dynamic_slice_p, dynamic_update_slice_p, slice_p, split_p
from onax._prims.stacking import stack_p, unstack_p

unreduced_type = Slot(
    "unreduced_type",
    "rule(name, avals, params) -> (unreduced axes, reduced axes) of the results",
    "Elementwise operations take reduced operands; no other operation takes unreduced or reduced ones.",
    "onax",
)

_NONE: frozenset = frozenset()
_ISSUES = "Please file an issue at https://github.com/jax-ml/jax/issues"


def unreduced_axes(aval):
    """The mesh axes over which values of a type are parts of a sum."""
    if type(aval) is not ShapedArray:
        return _NONE
    own = aval.stated_sharding
    return aval.unreduced if own is None else aval.unreduced | own.spec.unreduced


def reduced_axes(aval):
    """The mesh axes over which cotangents of values of a type are parts of a sum."""
    if type(aval) is not ShapedArray:
        return _NONE
    own = aval.stated_sharding
    return aval.reduced if own is None else aval.reduced | own.spec.reduced


def has_partial_sums(avals):
    """Whether a type is unreduced or reduced over an axis."""
    return any(unreduced_axes(a) or reduced_axes(a) for a in avals)


def axes_of_results(primitive, avals, params):
    """(unreduced axes, reduced axes) of the results of an operation; raises an error for operands that it refuses."""
    rule = unreduced_type.get(primitive)
    if rule is None:
        rule = _refuse if ELEMENTWISE not in primitive.facts else _one_operand if len(avals) == 1 else _many_operands
    return rule(primitive.name, avals, params)


def _refuse(name, avals, params):
    raise NotImplementedError(f"unreduced/reduced rule for {name} is not implemented. {_ISSUES}")


unreduced_type.set(integer_pow_p, _refuse)
unreduced_type.set(clamp_p, _refuse)
unreduced_type.set(bitcast_convert_type_p, _refuse)


def _refuse_unreduced(name, avals):
    if any(map(unreduced_axes, avals)):
        raise NotImplementedError(f"unreduced rule for {name} is not implemented. {_ISSUES}")


def _one_operand(name, avals, params):
    _refuse_unreduced(name, avals)
    return _NONE, reduced_axes(avals[0])


def _many_operands(name, avals, params):
    reduced = _common_reduced(avals)
    _refuse_unreduced(name, avals)
    return _NONE, reduced


def _common_reduced(avals):
    """The axes over which all operands are reduced."""
    found = {axes for axes in map(reduced_axes, avals) if axes}
    if not found:
        return _NONE
    if len(found) > 1:
        raise ShardingTypeError(f"All inputs should be reduced across the same mesh axes. Got specs: {found}")
    (reduced,) = found
    manual = any(a.reduced or a.varying for a in avals)  # inside of `shard_map`
    for aval in avals:
        if not aval.shape and len(avals) == 2 and not (unreduced_axes(aval) or reduced_axes(aval) or manual):
            continue  # a whole number becomes reduced
        own = aval.stated_sharding
        split = _NONE if own is None else frozenset(a for entry in own.spec for a in names_in(entry))
        if reduced - (split | unreduced_axes(aval) | reduced_axes(aval) | aval.varying):
            raise ShardingTypeError(
                "Inputs cannot be replicated on the same axes that another input is reduced on. Got input type: "
                f"{aval} and reduced spec: {reduced}"
            )
        if (split | aval.varying) & reduced:
            raise ShardingTypeError(
                "Inputs cannot be sharded/varying on the same axes that another input is reduced on. Reshard the input "
                "which is reduced to be sharded on the mesh axes it is reduced on via `jax.sharding.reshard(inp, "
                f"jax.P(...))`. Got input type: {aval} and reduced spec: {reduced}"
            )
    return reduced


@unreduced_type.rule(add_p)
def _add(name, avals, params):
    reduced = _common_reduced(avals)
    left, right = map(unreduced_axes, avals)
    if left and right and left != right:
        raise ShardingTypeError(
            f"lhs and rhs to `add` must be unreduced along the same mesh axes. Got lhs={left}, rhs={right}"
        )
    if bool(left) != bool(right):
        side, other = ("lhs", "rhs") if left else ("rhs", "lhs")
        raise ShardingTypeError(
            f"{side} is unreduced while {other} is not. `add` operation does not allow this because there will be "
            f"implicit communication. Please reduce {side} via `reshard` before calling `add`."
        )
    return left, reduced


@unreduced_type.rule(mul_p)
def _mul(name, avals, params):
    reduced = _common_reduced(avals)
    left, right = map(unreduced_axes, avals)
    if left and right:
        raise ShardingTypeError(
            f"lhs and rhs to `mul` cannot be unreduced since mul is bilinear. Got lhs={left}, rhs={right}"
        )
    for own, other, sides in ((left, avals[1], ("LHS", "RHS")), (right, avals[0], ("RHS", "LHS"))):
        if own and own != reduced_axes(other):
            raise ShardingTypeError(
                f"{sides[1]} should be reduced along the same axes {sides[0]} is unreduced on. Got lhs={avals[0]} and "
                f"rhs={avals[1]}"
            )
    unreduced = left or right
    return unreduced, _NONE if unreduced else reduced


@unreduced_type.rule(
    convert_element_type_p, device_put_p, unstack_p, split_p, pad_p, squeeze_p, transpose_p, reduce_precision_p,
    slice_p, copy_p, broadcast_in_dim_p, reduce_sum_p, reshape_p, add_any_p, stop_gradient_p,
)  # fmt: skip
def _same(name, avals, params):
    return unreduced_axes(avals[0]), reduced_axes(avals[0])


@unreduced_type.rule(select_n_p)
def _of_cases(name, avals, params):
    return unreduced_axes(avals[1]), reduced_axes(avals[1])


@unreduced_type.rule(dynamic_slice_p)
def _dynamic_slice(name, avals, params):
    _refuse_unreduced(name, avals[:1])
    return _NONE, reduced_axes(avals[0])


@unreduced_type.rule(dynamic_update_slice_p)
def _dynamic_update_slice(name, avals, params):
    found = []
    for kind, axes_of in (("unreduced", unreduced_axes), ("reduced", reduced_axes)):
        own, other = map(axes_of, avals[:2])
        if own != other:
            operand, update = (a.str_short(mesh_axis_types=True) for a in avals[:2])
            raise ShardingTypeError(
                f"dynamic_update_slice operand and update must be {kind} along the same axes. Got operand sharding "
                f"{operand} and update sharding {update}."
            )
        found.append(own)
    return tuple(found)


@unreduced_type.rule(concatenate_p, stack_p)
def _joined(name, avals, params):
    result = []
    for kind, axes_of in (("reduced", reduced_axes), ("unreduced", unreduced_axes)):
        found = {axes for axes in map(axes_of, avals) if axes}
        if len(found) > 1:
            raise ShardingTypeError(
                f"All operands should be {kind} along the same mesh axes. Got {kind} specs: {found}"
            )
        result.insert(0, next(iter(found), _NONE))
    return tuple(result)


@unreduced_type.rule(dot_general_p)
def _dot_general(name, avals, params):
    lhs, rhs = avals
    if unreduced_axes(lhs) or unreduced_axes(rhs):
        raise ShardingTypeError(
            f"lhs or rhs passed to dot_general cannot be unreduced. Got lhs={lhs!r} and rhs={rhs!r}"
        )
    return _NONE, _NONE


def stated_unreduced(primitive, avals, params, stated):
    """Raises an error where the unreduced axes that an operation states for its result are not those of its sum."""
    wanted = stated.spec.unreduced
    if primitive is reshape_p:
        for kind, own, named in (
            ("unreduced", unreduced_axes(avals[0]), wanted), ("reduced", reduced_axes(avals[0]), stated.spec.reduced)
        ):  # fmt: skip
            if own and own != named:
                raise ValueError(
                    f"out_sharding passed to reshape must be {kind} over the same mesh axes as operand. Got "
                    f"out_sharding: {stated.spec} and operand type: {avals[0].str_short(True)}"
                )
            if named and not own:
                raise ValueError(f"out_sharding passed to `reshape` cannot contain {kind} axes. Got {stated}")
    elif primitive is dot_general_p:
        _dot_general(primitive.name, avals, params)
        if wanted:
            _check_contracted(avals, params, wanted)
    elif primitive is reduce_sum_p and wanted:
        own = avals[0].stated_sharding
        summed = unreduced_axes(avals[0]) | frozenset(
            a for i in params["axes"] for a in (names_in(own.spec[i]) if own is not None else ())
        )
        if not wanted <= summed:
            raise ShardingTypeError(
                "out_sharding's unreduced axes should be in operand's specs that were summed over. Got "
                f"operand={avals[0]!r}, axes={frozenset(params['axes'])}, unreduced_spec={wanted}"
            )


def _check_contracted(avals, params, wanted):
    specs = []
    for aval, dims in zip(avals, params["dimension_numbers"][0]):
        own = aval.stated_sharding
        specs.append(tuple(None if own is None else own.spec[i] for i in dims))
    if specs[0] != specs[1]:
        raise ShardingTypeError(
            "lhs and rhs contracting dims should be sharded identically when out_sharding provided to dot_general "
            f"mentions unreduced_axes. Got lhs_contracting_spec={specs[0]}, rhs_contracting_spec={specs[1]}"
        )
    if wanted != frozenset(a for entry in specs[0] for a in names_in(entry)):
        raise ShardingTypeError(
            "out_sharding's unreduced axes should be equal to the contracting specs. Got unreduced "
            f"axes={wanted} and contracting spec={specs[0]}"
        )
