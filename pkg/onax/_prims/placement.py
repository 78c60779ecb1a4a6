"""The devices on which values lie: device_put places arrays, sharding_constraint and reshard state a sharding."""

import enum
import functools
import itertools

from onax._core.axes import manual_axes
from onax._core.explicit_axes import automatic_axes, explicit_sharding, seen
from onax._core.facts import BRINGS_VALUES, DATA_MOVEMENT, LINEAR
from onax._core.meshes import (
    UNCONSTRAINED,
    AxisType,
    Mesh,
    PartitionSpec,
    concrete_mesh,
    get_abstract_mesh,
    mesh_of_specs,
)
from onax._core.rules import deflinear
from onax._core.sharding import (
    NamedSharding,
    Sharding,
    SingleDeviceSharding,
    divisible_sharding,
    insert_spec_entry,
    is_abstract,
    names_in,
    over_devices,
    resolve_spec,
    with_whole_spec,
)
from onax._core.shards import shard_array
from onax._core.trace import Tracer, as_array, typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._native.array import ArrayImpl
from onax._native.dispatch import Primitive

# ---- device_put ----


class ArrayCopySemantics(enum.Enum):
    """The copy semantics of `device_put`: arrays are immutable, so the operand's memory is shared in any case."""

    REUSE_INPUT = enum.auto()
    ALWAYS_COPY = enum.auto()

    def __repr__(self):
        return str(self)


REUSE_INPUT, ALWAYS_COPY = ArrayCopySemantics


def _device_put(x, device):
    x = as_array(x)
    if isinstance(device, Sharding):
        return shard_array(x, device)
    return x if device is None else x._with(device=device, committed=True)


def _device_put_impl(*xs, devices, srcs, copy_semantics):
    return [_device_put(x, d) for x, d in zip(xs, devices)]


def _device_put_abstract(*avals, **_):
    return list(avals)


def _device_put_jvp(primals, tangents, **params):
    outs = device_put_p.bind(*primals, **params)
    tangents_out = [
        t if type(t) is Zero else device_put_p.bind(t, devices=(d,), srcs=(s,), copy_semantics=(REUSE_INPUT,))[0]
        for t, d, s in zip(tangents, params["devices"], params["srcs"])
    ]
    return outs, tangents_out


def _single_device(sharding):
    """The device of the sharding over a single one; any other as it is, and None for None."""
    return next(iter(sharding.device_set)) if isinstance(sharding, SingleDeviceSharding) else sharding


def _device_put_transpose(cts, *operands, devices, srcs, copy_semantics):
    return [
        None
        if not is_undefined_primal(x)
        else Zero(x.aval)
        if type(ct) is Zero
        else device_put_p.bind(ct, devices=(_single_device(s),), srcs=(d,), copy_semantics=(ALWAYS_COPY,))[0]
        for ct, x, d, s in zip(cts, operands, devices, srcs)
    ]


def _device_put_batch(axis_data, operands, dims, **params):
    return device_put_p.bind(*operands, **params), dims


device_put_p = Primitive(
    "device_put",
    multiple_results=True,
    impl=_device_put_impl,
    abstract_eval=_device_put_abstract,
    jvp=_device_put_jvp,
    transpose=_device_put_transpose,
    batch=_device_put_batch,
    facts=frozenset({LINEAR, DATA_MOVEMENT, BRINGS_VALUES}),
)


# ---- sharding_constraint ----


def _constraint_impl(x, *, sharding, unconstrained_dims, kept=lambda sharding, own, ndim: sharding, **_):
    x = as_array(x)
    own = x.sharding if isinstance(x.sharding, NamedSharding) else None
    if is_of_type_alone(sharding, unconstrained_dims, x.ndim):
        return x if own is None else shard_array(x, with_axis_types(own, sharding))
    mesh = concrete_mesh() if own is None else own.mesh
    if mesh.empty and is_abstract(sharding):
        return x
    sharding = over_devices(sharding, mesh)
    sharding = kept(keep_unconstrained(sharding, x.sharding, unconstrained_dims, x.ndim), own, x.ndim)
    return shard_array(x, with_whole_spec(fit_sharding(sharding, x.shape), x.ndim))


def is_of_type_alone(sharding, unconstrained, ndim):
    """Whether a constraint, which leaves these dimensions open, only changes which axes are in the type of a value."""
    return is_abstract(sharding) and len(unconstrained) == ndim


def with_axis_types(own, sharding):
    """The sharding that a value has, over a mesh with the axis types of another one."""
    return NamedSharding(own.mesh.update(axis_types=sharding.mesh.axis_types), own.spec)


def free_axes(names, used):
    """The mesh axes of a dimension up to the first one that is used elsewhere."""
    return tuple(itertools.takewhile(lambda name: name not in used, names))


def keep_unconstrained(sharding, own, unconstrained, ndim):
    """A stated sharding with a value's own axes, as far as they are free, in the dimensions that it leaves open."""
    if not unconstrained or not (isinstance(own, NamedSharding) and isinstance(sharding, NamedSharding)):
        return sharding
    if own.mesh != sharding.mesh:
        return sharding
    entries, given = ([*s.spec, *[None] * (ndim - len(s.spec))] for s in (sharding, own))
    used = {name for entry in entries for name in names_in(entry)}
    for i in unconstrained:
        entries[i] = free_axes(names_in(given[i]), used)
    return NamedSharding(sharding.mesh, PartitionSpec(*entries), memory_kind=sharding._memory_kind)


def keep_automatic(sharding, own, ndim):
    """The sharding of a value that is moved: beside what is stated, it stays split by the automatic axes of the mesh,
    which a move over explicit axes does not state."""
    if not isinstance(sharding, NamedSharding) or not isinstance(own, NamedSharding) or not sharding.mesh.auto_axes:
        return sharding
    if own.mesh.shape_tuple != sharding.mesh.shape_tuple:
        return sharding
    stated, given = ([*map(names_in, s.spec), *[()] * (ndim - len(s.spec))] for s in (sharding, own))
    free = set(sharding.mesh.auto_axes) - {a for names in stated for a in names}
    entries = [(*names, *(a for a in more if a in free)) for names, more in zip(stated, given, strict=True)]
    return sharding.update(spec=sharding.spec.update(partitions=entries))


def fit_sharding(sharding, shape):
    """The sharding that a value of this shape gets; mesh axes that do not divide a dimension do not shard it."""
    if not isinstance(sharding, NamedSharding):
        return sharding
    cuts = [names_in(entry) for entry in sharding.spec]
    fitting = divisible_sharding(sharding.mesh, [*cuts, *[()] * (len(shape) - len(cuts))], shape)
    sets = sharding.spec.unreduced, sharding.spec.reduced
    return fitting.update(spec=fitting.spec.update(unreduced=sets[0], reduced=sets[1])) if any(sets) else fitting


def _constraint_abstract(x, **_):
    return x


def _check_spread(axis_data, sharding):
    """Raises ValueError where the spec of a constraint names axes over which the mapped axis is sharded."""
    spread = names_in(axis_data.spmd_name)
    if axis_data.spmd_name is not None and not isinstance(sharding, NamedSharding):
        raise ValueError(
            "If you are using spmd_axis_name parameter of jax.vmap, please make sure to run your jitted function "
            "inside the mesh context manager. Only `jax.lax.with_sharding_constraint` with `jax.sharding.NamedSharding`"
            " as an input can be transformed with spmd_axis_name batching rules outside of an explicit mesh context "
            f"manager scope {sharding!r}"
        )
    if isinstance(sharding, NamedSharding) and not set(spread).isdisjoint(
        a for entry in sharding.spec for a in names_in(entry)
    ):
        raise ValueError(
            f"vmap spmd_axis_name {tuple(spread)} cannot appear in with_sharding_constraint spec, but got spec "
            f"{sharding.spec}"
        )


def _constraint_batch(axis_data, operands, dims, *, sharding, unconstrained_dims, **params):
    names, dim = axis_data.explicit_mesh_axis if axis_data.spmd_name is None else axis_data.spmd_name, dims[0]
    _check_spread(axis_data, sharding)
    is_open = names is None and isinstance(sharding, NamedSharding) and bool(sharding.mesh.auto_axes)
    unconstrained = {i + (dim <= i) for i in unconstrained_dims} | ({dim} if is_open else set())
    sharding = insert_spec_entry(sharding, dim, UNCONSTRAINED if is_open else names)
    params.update(sharding=sharding, unconstrained_dims=frozenset(unconstrained))
    return sharding_constraint_p.bind(operands[0], **params), dim


def _constraint_pretty(eqn, names):
    """Shows all parameters; an empty set of unconstrained dimensions prints as JAX prints it."""
    shown = {key: eqn.params[key] for key in sorted(eqn.params)}
    return {**shown, "unconstrained_dims": f"frozenset({set(shown['unconstrained_dims']) or '{}'})"}


sharding_constraint_p = deflinear(
    Primitive(
        "sharding_constraint",
        impl=_constraint_impl,
        abstract_eval=_constraint_abstract,
        batch=_constraint_batch,
        pretty=_constraint_pretty,
        facts=frozenset({LINEAR, DATA_MOVEMENT}),
    ),
    lambda ct, x, **params: sharding_constraint_p.bind(ct, **params),
)


# ---- reshard: the sharding that a value gets, which its type shows


def _reshard_transpose(ct, x, **params):
    """The cotangent lies as the type of cotangents of the operand says."""
    params["sharding"], aval = _sharding_of_type(x.aval, params["sharding"]), x.aval
    alone = len(params["unconstrained_dims"]) == aval.ndim and aval.ndim
    return reshard_p.bind(ct, **{**params, "unconstrained_dims": frozenset(range(aval.ndim)) if alone else frozenset()})


def _sharding_of_type(aval, other):
    """The sharding that a type states; where it states none, that of a whole value over the mesh of another one."""
    stated = aval.stated_sharding
    if not isinstance(other, NamedSharding):
        return stated or other
    if stated is not None:
        known = isinstance(other.mesh, Mesh) and other.mesh.abstract_mesh == stated.mesh
        return NamedSharding(other.mesh, stated.spec) if known else stated
    return NamedSharding(other.mesh, PartitionSpec(*[None] * aval.ndim))


def _reshard_batch(axis_data, operands, dims, *, sharding, unconstrained_dims, **params):
    names, dim = axis_data.explicit_mesh_axis if axis_data.spmd_name is None else axis_data.spmd_name, dims[0]
    moved = frozenset(i + (dim <= i) for i in unconstrained_dims)
    if len(unconstrained_dims) == typeof(operands[0]).ndim - 1 and unconstrained_dims:
        moved |= {dim}  # it is of the type alone
    params.update(sharding=insert_spec_entry(sharding, dim, names), unconstrained_dims=moved)
    return reshard_p.bind(operands[0], **params), dim


reshard_p = deflinear(
    Primitive(
        "reshard",
        impl=functools.partial(_constraint_impl, kept=keep_automatic),
        abstract_eval=_constraint_abstract,
        batch=_reshard_batch,
        pretty=lambda eqn, names: {},
        facts=frozenset({LINEAR, DATA_MOVEMENT}),
    ),
    _reshard_transpose,
)


# ---- results that are stated to lie somewhere


def sharding_of_cotangent(aval, *operands):
    """The sharding that the type of a cotangent has: that of its value's type, or, where another operand of the
    transposed operation has explicit axes, replicated over them; None without explicit axes."""
    if aval.stated_sharding is not None:
        return aval.stated_sharding
    given = [typeof(x).stated_sharding for x in operands]
    entries = [None] * aval.ndim
    return next((NamedSharding(s.mesh, PartitionSpec(*entries)) for s in given if s is not None), None)


def lie_as_type(x, aval):
    """x as a type says that it is split over explicit axes: a concrete array only if the mesh in context has them."""
    own, stated = typeof(x).stated_sharding, aval.stated_sharding
    if own == stated:
        return x
    stated = _sharding_of_type(aval, own)
    if type(x) is not ArrayImpl:
        return constrain(x, stated, type_alone=not stated.mesh.are_all_axes_explicit)
    mesh = mesh_of_specs()
    known = isinstance(mesh, Mesh) and mesh.abstract_mesh == stated.mesh
    return shard_array(x, NamedSharding(mesh, stated.spec)) if known else x


def over_context_mesh(sharding):
    """A sharding; of a PartitionSpec the one over the mesh in context.  Raises ValueError if there is no mesh."""
    return resolve_spec(
        sharding,
        ValueError,
        "Using PartitionSpec when you are not under a mesh context is not allowed. Please pass a NamedSharding "
        f"instance or enter into a mesh context via `jax.set_mesh`. Got {sharding}",
    )


def with_out_sharding(out_sharding, function, *args, **kwargs):
    """`function(*args, **kwargs)` laid out as `out_sharding` says: a NamedSharding, or a PartitionSpec over the mesh in
    context.  What the types of the operands say of explicit axes does not matter."""
    target = stated_sharding(out_sharding, function.__name__)
    if target is None:
        return function(*args, **kwargs)
    with automatic_axes():
        out = function(*args, **kwargs)
    return constrain(as_array(out), target)


def stated_sharding(out_sharding, name):
    """The NamedSharding that a function of this name gets as `out_sharding`; None for one over a mesh without axes."""
    if isinstance(out_sharding, NamedSharding) and out_sharding.mesh.empty:
        return None
    if isinstance(out_sharding, NamedSharding):
        _check_context_mesh(out_sharding, name)
    target = over_context_mesh(out_sharding)
    if not isinstance(target, NamedSharding):
        raise TypeError(
            f"`out_sharding` argument of {name} only supports instances of `NamedSharding` or `PartitionSpec`. Got "
            f"{target} of type: {type(target)}"
        )
    check_explicit_axes(target, name)
    seen.explicit_axes |= bool(target.mesh.explicit_axes)  # from now on types are looked at
    return target


def _check_context_mesh(sharding, name):
    """Raises ValueError where a function of this name gets a sharding over another mesh than that in context."""
    context, own = get_abstract_mesh(), sharding.mesh.abstract_mesh
    if context.empty or own == context or (own.are_all_axes_auto and context.are_all_axes_auto):
        return
    raise ValueError(f"Context mesh {context} should match the mesh of sharding {own} passed to {name}.")


def stated_for_result(params):
    """The sharding that the parameters of an operation state for its result; None without one."""
    for name in ("out_sharding", "sharding"):
        if isinstance(params.get(name), NamedSharding):
            return params[name]
    return None


def placed(out, sharding):
    """The result of an operation that states a sharding, or None: it lies there, if it is a value."""
    return out if sharding is None or isinstance(out, Tracer) else constrain(out, sharding)


def check_explicit_axes(sharding, name):
    """Raises ValueError where a sharding that a function gets, of this name, is over axes that are not explicit."""
    kinds = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
    kinds.update(dict.fromkeys(manual_axes(), AxisType.Manual))
    for axis in (axis for entry in sharding.spec for axis in names_in(entry)):
        if kinds[axis] is not AxisType.Explicit:
            raise ValueError(
                f"PartitionSpec passed to {name} cannot contain axis names that are of type Auto or Manual. Got "
                f"PartitionSpec: {sharding.spec} with axis name: {axis} of type: {kinds[axis]}."
            )


def constrain(x, sharding, type_alone=False, primitive=reshard_p):
    """An array with this sharding, which its type shows as far as the mesh has explicit axes.

    With `type_alone` it lies where it did; `primitive` may be `sharding_constraint_p`, which leaves types as they are.
    """
    explicit_sharding(sharding, x.ndim)  # from now on types are looked at
    spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
    unconstrained = frozenset(i for i, entry in enumerate(spec) if entry is UNCONSTRAINED)
    return primitive.bind(
        x,
        sharding=sharding,
        context_mesh=mesh_of_specs(),
        layout=None,
        unconstrained_dims=frozenset(range(x.ndim)) if type_alone else unconstrained,
    )
