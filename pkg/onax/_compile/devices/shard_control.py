"""Rules of the slot `shard`: branches and loops.

Their programs are partitioned with the shardings of the operands.  A carry gets the sharding that a step gives it if
that is a fixed point after some rounds; otherwise the step brings it back into the sharding of the last round.
"""

from onax._compile.devices.sharding_propagation import fixed_point
from onax._compile.devices.spmd import shard
from onax._control.cond import cond_p
from onax._control.scan_rules import scan_p
from onax._control.while_loop import while_p


@shard.rule(cond_p)
def _cond(p, operands, eqn):
    index, *rest = operands
    axes = [x.axes for x in rest]
    found = [p.body(branch, axes)[1] for branch in eqn.params["branches"]]
    out_axes = [next((own for own in column if any(own)), column[0]) for column in zip(*found)]
    branches = tuple(p.body(branch, axes, out_axes)[0] for branch in eqn.params["branches"])
    blocks = [p.whole(index), *map(p.block_of, rest)]
    return p.bind(eqn, blocks, out_axes, branches=branches)


@shard.rule(while_p)
def _while(p, operands, eqn):
    params = eqn.params
    n, m = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body, init = operands[:n], operands[n : n + m], operands[n + m :]
    axes = [x.axes for x in of_body]
    carry = fixed_point([x.axes for x in init], lambda own: p.body(params["body_jaxpr"], [*axes, *own])[1])
    body, _ = p.body(params["body_jaxpr"], [*axes, *carry], carry)
    condition, _ = p.body(params["cond_jaxpr"], [*(x.axes for x in of_condition), *carry])
    blocks = [*map(p.block_of, (*of_condition, *of_body)), *map(p.block_of, init, carry)]
    return p.bind(eqn, blocks, carry, cond_jaxpr=condition, body_jaxpr=body)


@shard.rule(scan_p)
def _scan(p, operands, eqn):
    """The scanned dimension is gathered, because all devices go through all steps."""
    n, m = eqn.params["num_consts"], eqn.params["num_carry"]
    consts, init, xs = operands[:n], operands[n : n + m], operands[n + m :]
    outer, slices = [x.axes for x in consts], [x.axes[1:] for x in xs]
    step = lambda carry: p.body(eqn.params["jaxpr"], [*outer, *carry, *slices])[1]
    carry = fixed_point([x.axes for x in init], lambda own: step(own)[:m])
    stacked = step(carry)[m:]
    body, _ = p.body(eqn.params["jaxpr"], [*outer, *carry, *slices], [*carry, *stacked])
    blocks = [*map(p.block_of, consts), *map(p.block_of, init, carry), *(p.block_of(x, ((), *x.axes[1:])) for x in xs)]
    return p.bind(eqn, blocks, [*carry, *(((), *own) for own in stacked)], jaxpr=body)
