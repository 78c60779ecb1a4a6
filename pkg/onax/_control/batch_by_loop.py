"""Batching by a loop over the examples: for calls of Python, and for what holds some and differs between devices."""

from onax._control.scan import scan
from onax._prims.shaping import bdim_at_front
from onax._transforms.batching import axes_named_in


def batch_by_loop(primitive, axis_data, operands, dims, params, unroll=1):
    """The results of an operation carried out for one mapped example after the other, along a leading axis."""
    mapped = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, dims) if d is not None]

    def step(carry, slices):
        rest = iter(slices)
        return carry, primitive.bind(*[x if d is None else next(rest) for x, d in zip(operands, dims)], **params)

    _, outs = scan(step, (), mapped, length=axis_data.size, unroll=unroll)
    return outs, [0] * len(outs)


def must_loop_over_devices(axis_data, jaxprs):
    """Whether devices have to go through programs one by one: these have effects, which then only some may want.

    Programs that name axes are gone through together all the same.
    """
    return axis_data.of_devices and any(j.effects for j in jaxprs) and not any(map(axes_named_in, jaxprs))
