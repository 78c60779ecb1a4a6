"""What devices that run a program each exchange, for `onax.explain`: a Step for each collective and each gather."""

import math

from onax._compile.devices.spmd import gathers_of
from onax._compile.explanation import Step
from onax._control.shard_map import shard_map_p
from onax._core.axes import names_of
from onax._core.facts import CASTS_AXES, NAMED_AXIS
from onax._core.jaxpr import jaxprs_in_params
from onax._ground.source import summarize

_GATHERED = "the operation has no rule for split operands, so every device gathers them and computes the whole result"
_REMEDY = (
    "State a sharding for the operands in which it acts on whole members of a stack (vmap over shard_map), or gather "
    "them once before a loop (with_sharding_constraint)"
)


def steps_of(program):
    """The Steps of a program that `partition` made: the bytes are those that one device receives."""
    steps = []
    for eqn in program.eqns:
        if eqn.primitive is shard_map_p:
            _append_collectives(steps, eqn.params["jaxpr"], eqn.params["mesh"], 0)
    for gather in gathers_of(program):
        location = summarize(gather.source_info) if gather.source_info else ""
        equations = [(gather.operation, location)]
        steps.append(
            Step("devices", "gathered operands", equations, location, bytes=gather.bytes, reason=_GATHERED,
                 remedy=_REMEDY)
        )  # fmt: skip
    return steps


def _append_collectives(steps, jaxpr, mesh, depth):
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        location = summarize(eqn.source_info) if eqn.source_info else ""
        facts = eqn.primitive.facts
        if eqn.invars and NAMED_AXIS in facts and CASTS_AXES not in facts:
            steps.append(Step("devices", name, [(name, location)], location, depth, bytes=_bytes_received(eqn, mesh)))
        inner = list(jaxprs_in_params(eqn.params))
        if inner:
            below = []
            for body in inner:
                _append_collectives(below, body, mesh, depth + 1)
            if below:
                steps += [Step("devices", name, [(name, location)], location, depth), *below]


def _bytes_received(eqn, mesh):
    """The bytes that a device receives in a collective, by the best algorithm: the larger side of it, without the part
    that the device holds already; twice that for a sum that all devices get."""
    axes = eqn.params["axes"] if "axes" in eqn.params else eqn.params["axis_name"]
    count = math.prod(mesh.shape[a] for a in names_of(axes))
    sizes = [x.aval.size * x.aval.dtype.itemsize for x in (*eqn.invars, *eqn.outvars)]
    times = 2 if "axes" in eqn.params else 1
    return times * max(sizes) * (count - 1) // count
