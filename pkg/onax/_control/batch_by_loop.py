"""Batching by a loop over the examples, for callbacks and for effects that only some devices perform."""

from onax._control.scan import scan
from onax._prims.shaping import bdim_at_front
from onax._transforms.batching import used_axis_names


def batch_by_loop(primitive, axis_data, operands, dims, params, unroll=1):
    """Applies a primitive to one mapped example after the other; the results are stacked along a leading axis."""
    mapped = [bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, dims) if d is not None]

    def step(carry, slices):
        rest = iter(slices)
        return carry, primitive.bind(*[x if d is None else next(rest) for x, d in zip(operands, dims)], **params)

    _, outs = scan(step, (), mapped, length=axis_data.size, unroll=unroll)
    return outs, [0] * len(outs)


def must_loop_over_devices(axis_data, jaxprs):
    """Whether devices must run branches or a loop one after the other, because only some may perform their effects.

    Devices run programs that name axes together, since a collective needs all of them.
    """
    return axis_data.of_devices and any(j.effects for j in jaxprs) and not any(map(used_axis_names, jaxprs))
