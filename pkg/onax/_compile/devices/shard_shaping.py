"""Rules of the slot `shard`: shapes, reductions, placement, and other operations that keep whole dimensions."""

from onax._compile.devices.sharded_values import ShardedValue, axes_of_spec
from onax._compile.devices.sharding_propagation import factor_groups
from onax._compile.devices.spmd import shard
from onax._control.jit_call import jit_p
from onax._control.manual_region import ManualRegion
from onax._control.optimization_barrier import optimization_barrier_p
from onax._control.reducers import reduce_p
from onax._control.shard_alike import shard_alike_p
from onax._control.shard_map import shard_map_p
from onax._control.shard_values import on_whole_values
from onax._core.evaluate import eval_jaxpr
from onax._core.sharding import NamedSharding
from onax._prims.collectives import all_gather_p, pbroadcast_p, pmax_p, pmin_p
from onax._prims.creation import copy_p
from onax._prims.placement import device_put_p, fit_sharding, free_axes, reshard_p, sharding_constraint_p
from onax._prims.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
    reduce_xor_p,
)
from onax._prims.shaping import broadcast_in_dim_p, reduce_sum_p, reshape_p, squeeze_p, transpose_p
from onax._prims.stacking import stack_p, tile_p, unstack_p

# ---- operations that keep dimensions


def without(axes, dims):
    """The axes with those of some dimensions removed."""
    return tuple(() if i in dims else own for i, own in enumerate(axes))


def dropped(axes, dims):
    """The axes without some dimensions."""
    return tuple(own for i, own in enumerate(axes) if i not in dims)


def inserted(axes, dim):
    """The axes with one more dimension, which is whole."""
    return (*axes[:dim], (), *axes[dim:])


@shard.rule(optimization_barrier_p)
def _each_on_its_own(p, operands, eqn):
    return p.bind(eqn, list(map(p.block_of, operands)), [x.axes for x in operands])


@shard.rule(shard_alike_p)
def _alike(p, operands, eqn):
    axes = next((x.axes for x in reversed(operands) if any(x.axes)), operands[0].axes)
    return p.bind_like(eqn, operands, [axes, axes])


@shard.rule(copy_p)
def _identity(p, operands, eqn):
    return p.bind_like(eqn, operands, [operands[0].axes])


@shard.rule(transpose_p)
def _transpose(p, operands, eqn):
    (x,) = operands
    return p.bind_like(eqn, operands, [x.axes], [x.axes[i] for i in eqn.params["permutation"]])


@shard.rule(squeeze_p)
def _squeeze(p, operands, eqn):
    (x,) = operands
    axes = without(x.axes, eqn.params["dimensions"])
    return p.bind_like(eqn, operands, [axes], dropped(axes, eqn.params["dimensions"]))


@shard.rule(broadcast_in_dim_p)
def _broadcast(p, operands, eqn):
    x, shape, dims = operands[0], eqn.params["shape"], eqn.params["broadcast_dimensions"]
    axes = [own if n == shape[d] else () for own, n, d in zip(x.axes, x.aval.shape, dims)]
    out = [()] * len(shape)
    for own, d in zip(axes, dims):
        out[d] = own
    return p.bind_like(eqn, operands, [axes], out, shape=p.block_shape(shape, out), sharding=None)


@shard.rule(reshape_p)
def _reshape(p, operands, eqn):
    """Merged dimensions keep the axes of the first one; of split dimensions the first one gets them, if they divide
    it."""
    x, shape = operands[0], eqn.outvars[0].aval.shape
    if eqn.params["dimensions"] is not None or 0 in shape:
        return p.on_whole_values(eqn, operands)
    axes, out = [()] * x.aval.ndim, [()] * len(shape)
    for olds, news in factor_groups(x.aval.shape, shape):
        own = x.axes[olds[0]] if olds and news else ()
        if own and shape[news[0]] % p.count(own) == 0:
            axes[olds[0]] = out[news[0]] = own
    return p.bind_like(eqn, operands, [axes], out, new_sizes=p.block_shape(shape, out), sharding=None)


@shard.rule(stack_p)
def _stack(p, operands, eqn):
    axes = p.merge(operands, operands[0].aval.shape)
    return p.bind_like(eqn, operands, [axes] * len(operands), inserted(axes, eqn.params["axis"]))


@shard.rule(unstack_p)
def _unstack(p, operands, eqn):
    axes = without(operands[0].axes, (eqn.params["axis"],))
    return p.bind_like(eqn, operands, [axes], dropped(axes, (eqn.params["axis"],)))


@shard.rule(tile_p)
def _tile(p, operands, eqn):
    repeated = [i for i, n in enumerate(eqn.params["reps"]) if n != 1]
    return p.bind_like(eqn, operands, [without(operands[0].axes, repeated)])


# ---- reductions


def _own_and_reduced(x, dims):
    """(axes of the result, axes over which the reduced dimensions are sharded)."""
    return dropped(x.axes, dims), tuple(a for d in dims for a in x.axes[d])


@shard.rule(reduce_sum_p)
def _reduce_sum(p, operands, eqn):
    (x,) = operands
    out, summed = _own_and_reduced(x, eqn.params["axes"])
    return p.bind(eqn, [p.block_of(x)], [out], pending=summed, out_sharding=None)


@shard.rule(reduce_max_p, reduce_min_p)
def _reduce_extremum(p, operands, eqn):
    (x,) = operands
    out, reduced = _own_and_reduced(x, eqn.params["axes"])
    if eqn.outvars[0].aval.dtype.kind == "b":
        return _reduce_twice(p, operands, eqn)
    (result,) = p.bind(eqn, [p.block_of(x)], [out])
    if not reduced:
        return [result]
    collective = pmax_p if eqn.primitive is reduce_max_p else pmin_p
    value = collective.bind(result.value, axes=reduced, axis_index_groups=None)
    return [ShardedValue(value, result.aval, out)]


@shard.rule(reduce_prod_p, reduce_and_p, reduce_or_p, reduce_xor_p)
def _reduce_twice(p, operands, eqn):
    """Each device reduces its block; the results of all are gathered and reduced once more."""
    (x,) = operands
    out, reduced = _own_and_reduced(x, eqn.params["axes"])
    (result,) = p.bind(eqn, [p.block_of(x)], [out])
    if not reduced:
        return [result]
    stacked = all_gather_p.bind(
        result.value, all_gather_dimension=0, axis_index_groups=None, axis_name=reduced, axis_size=p.count(reduced),
        tiled=False,
    )  # fmt: skip
    return p.bind(eqn, [stacked], [out], axes=(0,))


@shard.rule(argmax_p, argmin_p, reduce_p)
def _reduce_whole_dimensions(p, operands, eqn):
    """Reductions that need whole dimensions: those that they reduce are gathered."""
    dims = eqn.params["axes"] if "axes" in eqn.params else eqn.params["dimensions"]
    ndim = len(eqn.outvars[0].aval.shape) + len(dims)
    wide = [x for x in operands if x.aval.ndim == ndim]
    axes = without(p.merge(wide, wide[0].aval.shape), dims)
    return p.bind_like(eqn, operands, [axes if x in wide else () for x in operands], dropped(axes, dims))


# ---- placement


@shard.rule(sharding_constraint_p, reshard_p)
def _constrain(p, operands, eqn):
    (x,), stated = operands, eqn.params["sharding"]
    if not isinstance(stated, NamedSharding):
        return operands
    p.check_mesh(stated.mesh, eqn)
    axes = axes_of_spec(fit_sharding(stated, x.aval.shape).spec, x.aval.ndim)
    used, unconstrained = {name for names in axes for name in names}, eqn.params["unconstrained_dims"]
    kept = () if eqn.primitive is reshard_p else stated.mesh.explicit_axes  # which a constraint does not change
    axes = [(*(a for a in now if a in kept and a not in used), *own) for own, now in zip(axes, x.axes)]
    axes = [free_axes(now, used) if i in unconstrained else own for i, (own, now) in enumerate(zip(axes, x.axes))]
    return [p.constrained(x, p.usable(axes, x.aval.shape))]


@shard.rule(device_put_p)
def _device_put(p, operands, eqn):
    """Inside a program `device_put` to a sharding replicates a value, as in JAX."""
    return [
        p.constrained(x, ((),) * x.aval.ndim) if isinstance(d, NamedSharding) else x
        for x, d in zip(operands, eqn.params["devices"])
    ]


@shard.rule(jit_p)
def _jit(p, operands, eqn):
    operands = _stated(p, operands, eqn.params["in_shardings"], eqn)
    stated = eqn.params["out_shardings"] or (None,) * len(eqn.outvars)
    wanted = zip(stated, eqn.outvars, p.wanted_of(eqn))
    wanted = [_stated_axes(p, s, v.aval) if isinstance(s, NamedSharding) else own for s, v, own in wanted]
    return _stated(p, p.run(eqn.params["jaxpr"], operands, wanted), stated, eqn)


def _stated(p, values, shardings, eqn):
    """The values, of which those with a stated sharding get it."""
    if not shardings:
        return values
    result = []
    for x, sharding in zip(values, shardings):
        if isinstance(sharding, NamedSharding):
            p.check_mesh(sharding.mesh, eqn)
            x = p.constrained(x, _stated_axes(p, sharding, x.aval))
        result.append(x)
    return result


def _stated_axes(p, sharding, aval):
    return p.usable(axes_of_spec(sharding.spec, aval.ndim), aval.shape)


@shard.rule(shard_map_p)
def _shard_map(p, operands, eqn):
    """A region inside the program: its body runs on blocks with the specs that it states."""
    params = eqn.params
    p.check_mesh(params["mesh"], eqn)
    region = ManualRegion.of(params)
    blocks = [p.block_of(x, axes_of_spec(spec, x.aval.ndim)) for x, spec in zip(operands, params["in_specs"])]
    body = on_whole_values(region, params["jaxpr"], params["in_specs"], params["out_specs"])
    with region.scope(typed=False):
        outs = eval_jaxpr(body, body.consts, *blocks)
    results = []
    for x, spec, v in zip(outs, params["out_specs"], eqn.outvars):
        unmentioned = region.unmentioned_axes(spec)
        if unmentioned and not region.checked:  # the value of the first device counts
            x = pbroadcast_p.bind(x, axis_name=unmentioned, source=0)
        results.append(ShardedValue(x, v.aval, axes_of_spec(spec, v.aval.ndim)))
    return results
