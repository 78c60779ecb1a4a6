"""Batching: operations on values with one more axis."""

from onax._core import leaks
from onax._core.axes import names_of
from onax._core.evaluate import eval_jaxpr
from onax._core.explicit_axes import with_mapped_axis, without_mapped_axis
from onax._core.facts import NAMED_AXIS
from onax._core.hitypes import MappingSpec
from onax._core.jaxpr import jaxprs_in_params
from onax._core.refs import RefWriteError
from onax._core.sharding import NamedSharding
from onax._core.trace import (
    Trace,
    Tracer,
    find_cur_trace,
    set_current_trace,
    typeof,
)
from onax._core.zeros import SymbolicZero
from onax._ground.errors import compose
from onax._native.source_info import user_location
from onax._prims.placement import constrain
from onax._prims.shaping import bdim_at_front, broadcast_bdim, broadcast_typed, moveaxis
from onax._transforms.flatten import fun_name
from onax._transforms.staging import derive_jaxpr


class BatchTracer(Tracer):
    """A value with a mapped axis that its `aval` does not show."""

    __slots__ = ("batch_dim", "val")

    def __init__(self, trace, val, batch_dim):
        self._trace = trace
        self.val = val
        self.batch_dim = batch_dim
        self._location = user_location()

    @property
    def aval(self):
        """The type of one example."""
        return without_mapped_axis(typeof(self.val), self.batch_dim, self._trace.axis_data.size)

    def __repr__(self):
        return f"VmapTracer(aval={self.aval.str_short()}, batched={typeof(self.val).str_short()})"

    def _origin_msg(self):
        """That of the batched value, and where the axis was mapped."""
        text = (isinstance(self.val, Tracer) and self.val._origin_msg()) or super()._origin_msg()
        return compose(text, self._creation_msg())


class BatchRefTracer(BatchTracer):
    """A mutable array reference that a mapped function made; it gets a mapped axis with the first mapped value."""

    __slots__ = ()

    @property
    def aval(self):
        """The type of one example."""
        return typeof(self.val) if self.batch_dim is None else super().aval


class BatchTrace(Trace):
    """Replaces each operation by its batching rule, under the parent.

    Traces with equal `tag` belong to one transformation: a rule that runs in a trace of its own may close over values
    of the trace of the function.
    """

    __slots__ = ("axis_data", "tag")
    transformation = "vmap"

    def __init__(self, parent_trace, axis_data, tag=None):
        super().__init__(parent_trace)
        self.axis_data = axis_data
        self.tag = object() if tag is None else tag

    main = property(lambda self: self.tag)

    def unpack(self, x):
        """(value, position of the mapped axis or None)."""
        if isinstance(x, BatchTracer) and x._trace.tag is self.tag:
            return x.val, x.batch_dim
        return x, None

    def pack(self, val, dim):
        """A tracer, unless nothing is mapped."""
        return val if dim is None else BatchTracer(self, val, dim)

    def process_primitive(self, primitive, args, params):
        pairs = [self.unpack(x) for x in args]
        vals, dims = [v for v, _ in pairs], [d for _, d in pairs]
        if all(d is None for d in dims) and not self._uses_own_axis(primitive, params):
            return primitive.bind_with_trace(self.parent_trace, vals, params)
        if primitive.batch is None:
            raise NotImplementedError(f"Batching rule for '{primitive.name}' not implemented")
        with set_current_trace(self.parent_trace):
            out, dims_out = primitive.batch(self.axis_data, vals, dims, **params)
        if not primitive.multiple_results:
            return self.pack(out, dims_out)
        if dims_out is None or isinstance(dims_out, int):
            dims_out = [dims_out] * len(out)
        return [self.pack(v, d) for v, d in zip(out, dims_out)]

    def make_ref(self, init):
        value, dim = self.unpack(init)
        return BatchRefTracer(self, self.parent_trace.make_ref(value), dim)

    def read_ref(self, ref):
        ref, dim = self.unpack(ref)
        return self.pack(self.parent_trace.read_ref(ref), dim)

    def write_ref(self, ref, value):
        target, dim = self.unpack(ref)
        value, value_dim = self.unpack(value)
        if dim is not None:
            with set_current_trace(self.parent_trace):
                value = move_mapped_axis(value, value_dim, dim, self.axis_data.size)
        elif target is ref:  # from outside; raised for any value, as in JAX
            raise RefWriteError("vmapped", "an unbatched", "to the vmapped", ref)
        elif value_dim is not None:
            ref.val, ref.batch_dim = self.parent_trace.make_ref(value), value_dim
            return
        self.parent_trace.write_ref(target, value)

    def _uses_own_axis(self, primitive, params):
        """Whether the operation, or one in a program that it holds, uses the axis name of this trace."""
        name = self.axis_data.name
        if name is None:
            return False
        if NAMED_AXIS in primitive.facts:
            return name in names_of(params["axes"] if "axes" in params else params["axis_name"])
        return any(name in used_axis_names(inner) for inner in jaxprs_in_params(params))

    def process_custom_jvp_call(self, primitive, fun, jvp, args, *, symbolic_zeros, params):
        pairs = [self.unpack(x) for x in args]
        vals, dims = [v for v, _ in pairs], [d for _, d in pairs]
        axis_data, dims_out = self.axis_data, []

        def batched_fun(*xs):
            outs, out_dims = batch_flat(fun, axis_data, xs, dims, self.tag)
            dims_out[:] = out_dims
            return outs

        batched_jvp = batch_custom_jvp(jvp, axis_data, dims, dims_out, self.tag)
        with set_current_trace(self.parent_trace):
            outs = self.parent_trace.process_custom_jvp_call(
                primitive, batched_fun, batched_jvp, vals, symbolic_zeros=symbolic_zeros, params=params
            )
        return [self.pack(v, d) for v, d in zip(outs, dims_out)]

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, args, *, out_trees, symbolic_zeros, params):
        pairs = [self.unpack(x) for x in args]
        vals, dims = [v for v, _ in pairs], [d for _, d in pairs]
        batched = primitive.batch_functions(self.axis_data, fun, fwd, bwd, out_trees, dims, self.tag)
        batched_fun, batched_fwd, batched_bwd, dims_out = batched
        with set_current_trace(self.parent_trace):
            outs = self.parent_trace.process_custom_vjp_call(
                primitive,
                batched_fun,
                batched_fwd,
                batched_bwd,
                vals,
                out_trees=out_trees,
                symbolic_zeros=symbolic_zeros,
                params=params,
            )
        return [self.pack(v, d) for v, d in zip(outs, dims_out)]


def used_axis_names(jaxpr):
    """The axis names that collectives in a program use; cached with the program."""
    result = jaxpr.cache.get("named axes")
    if result is None:
        names = set()
        for eqn in jaxpr.eqns:
            if NAMED_AXIS in eqn.primitive.facts:
                names.update(names_of(eqn.params["axes"] if "axes" in eqn.params else eqn.params["axis_name"]))
            for inner in jaxprs_in_params(eqn.params):
                names |= used_axis_names(inner)
        result = jaxpr.cache["named axes"] = frozenset(names)
    return result


def batch_flat(fun, axis_data, vals, dims, tag=None):
    """Runs a function on flat values under a new BatchTrace; returns results and their mapped axes."""
    trace = BatchTrace(find_cur_trace(), axis_data, tag)
    trace.function = fun
    args = [trace.pack(v, d) for v, d in zip(vals, dims)]
    try:
        with set_current_trace(trace):
            outs = fun(*args)
        pairs = [trace.unpack(x) for x in outs]
    finally:
        trace.invalidate()
    if leaks.checking():
        watched = leaks.watch(trace)
        del args, outs, trace
        leaks.check(watched)
    return [v for v, _ in pairs], [d for _, d in pairs]


def batch_custom_jvp(jvp, axis_data, dims, dims_out, tag=None, fixed_dims=None):
    """A user's rule on batched primals and tangents; sets `dims_out` to the mapped axes of the results when it runs.

    A result and its tangent are mapped along their first axis if one of them is mapped, or, with `fixed_dims`, where
    these say so.
    """

    def batched_jvp(*xs):
        xs, in_dims = zip(*map(unbatch_symbolic_zero, xs, [*dims, *dims])) if xs else ((), ())
        outs, out_dims = batch_flat(jvp, axis_data, xs, in_dims, tag)
        half = len(outs) // 2
        joint = fixed_dims
        if joint is None:
            joint = [None if p is None and t is None else 0 for p, t in zip(out_dims[:half], out_dims[half:])]
        dims_out[:] = joint
        return [bring_to_front(v, d, j, axis_data.size) for v, d, j in zip(outs, out_dims, [*joint, *joint])]

    batched_jvp.__name__ = fun_name(jvp)
    return batched_jvp


def bring_to_front(val, dim, target_dim, size):
    """A value whose mapped axis is the first one, or that is not mapped if `target_dim` is None."""
    if target_dim is None:
        if dim is not None:
            raise ValueError("a custom derivative rule has a mapped result where that of its function is not mapped")
        return val
    if isinstance(val, SymbolicZero):
        return SymbolicZero(val.aval.update(shape=(size, *val.shape)))
    return bdim_at_front(val, dim, size)


def unbatch_symbolic_zero(value, dim):
    """The symbolic zero of one example, which is not mapped; other values are returned as they are."""
    if isinstance(value, SymbolicZero):
        shape = value.shape if dim is None else (*value.shape[:dim], *value.shape[dim + 1 :])
        return SymbolicZero(value.aval.update(shape=shape)), None
    return value, dim


def move_mapped_axis(val, source, target, size):
    """Moves the mapped axis of a value to `target`; broadcasts a value that is not mapped."""
    if source is None:
        return broadcast_bdim(val, size, target)
    return val if source == target else moveaxis(val, source, target)


def give_mapped_axis(val, source, target, axis_data):
    """`move_mapped_axis` that gives a value which is not mapped the explicit axes of the mapped ones."""
    if source is not None or axis_data.explicit_mesh_axis is None:
        return move_mapped_axis(val, source, target, axis_data.size)
    aval = with_mapped_axis(typeof(val), target, axis_data)
    if not isinstance(val, Tracer):
        spec = aval.stated_sharding.spec
        return constrain(broadcast_bdim(val, axis_data.size, target), NamedSharding(axis_data.mesh, spec))
    return broadcast_typed(val, aval, tuple(i for i in range(aval.ndim) if i != target))


class _ZeroIfMapped:
    """The marker for a result that is mapped over its first axis if it depends on a mapped argument."""

    __slots__ = ()

    def __repr__(self):
        return "zero_if_mapped"


zero_if_mapped = _ZeroIfMapped()


def batch_jaxpr(jaxpr, axis_data, in_dims, instantiate=False):
    """The jaxpr on batched arguments (with the mapped axes `in_dims`), and the mapped axes of its results (0 or None).

    `instantiate`: a bool, or one for each result: makes the result batched even if it depends on nothing batched.
    """
    if isinstance(instantiate, bool):
        instantiate = (instantiate,) * len(jaxpr.outvars)
    return batch_jaxpr_to_axes(jaxpr, axis_data, in_dims, [0 if make else zero_if_mapped for make in instantiate])


def batch_jaxpr_to_axes(jaxpr, axis_data, in_dims, out_dims):
    """As `batch_jaxpr`; `out_dims` says for each result where its mapped axis is to be, or `zero_if_mapped`."""
    key = ("batch", axis_data, tuple(in_dims), tuple(out_dims))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _make_batch_jaxpr(jaxpr, axis_data, in_dims, out_dims)
    return jaxpr.cache[key]


def _make_batch_jaxpr(jaxpr, axis_data, in_dims, out_dims):
    dims_out = []

    def fun(*args):
        outs, dims = batch_flat(lambda *xs: eval_jaxpr(jaxpr, jaxpr.consts, *xs), axis_data, args, in_dims)
        moved = []
        for val, dim, target in zip(outs, dims, out_dims):
            if target is zero_if_mapped:
                target = None if dim is None else 0
            if isinstance(dim, MappingSpec):
                target = dim
            moved.append(val if target is None else give_mapped_axis(val, dim, target, axis_data))
            dims_out.append(target)
        return moved

    avals = [v.aval if d is None else with_mapped_axis(v.aval, d, axis_data) for v, d in zip(jaxpr.invars, in_dims)]
    return derive_jaxpr(fun, avals, jaxpr), dims_out
