"""Partitions a program over sharded values: the per-device program, with explicit collectives.

    partition(program, mesh, specs of arguments) -> (program with one shard_map equation, specs of results)

One walk through the program propagates shardings and stages what a device does: each equation is a rule of the slot
`shard`, which gets its operands as `ShardedValue`s, asks for the blocks that the operation needs (this is where
collectives come from, `sharded_values.py`), and binds the primitive on blocks.  Branches and loops are partitioned with
the shardings of their operands; those of a carry are a fixed point.  Everything is decided by the program and the
specs alone, so all processes that partition the same program get the same one.

The results get the shardings that `sharding_propagation.py` gives those of the same program on virtual devices.

An equation without a rule gathers its operands, and every device computes the whole result: `gathers_of` names these
equations and the bytes that each device receives for them.
"""

from dataclasses import dataclass

from onax._compile.devices.sharded_values import (
    Resharder,
    ShardedValue,
    axes_of_spec,
    spec_of_axes,
    usable_axes,
)
from onax._compile.devices.sharding_propagation import propagate, sharding_of, sliced_part
from onax._compile.devices.wanted_shardings import axes_of_operands, block, wanted_axes
from onax._compile.placement import makes_shards, states_sharding
from onax._control.manual_region import ManualRegion
from onax._control.shard_map import shard_map_p, stated_meshes
from onax._core.facts import CALLS_PYTHON, ELEMENTWISE
from onax._core.jaxpr import ClosedJaxpr, Literal, convert_constvars_jaxpr, jaxprs_in_params
from onax._core.meshes import Mesh, PartitionSpec
from onax._core.programs import called_program, programs
from onax._core.rewrite import dce_jaxpr
from onax._core.sharding import NamedSharding
from onax._core.slots import Slot
from onax._core.trace import as_array, typeof
from onax._ground.errors import LoweringError
from onax._ground.source import SHARED, here, summarize
from onax._native.array import ArrayImpl, make_array
from onax._prims.convert import convert_element_type_p
from onax._prims.placement import fit_sharding, reshard_p, sharding_constraint_p, stated_for_result
from onax._transforms.discharge import discharge_refs
from onax._transforms.sharding_types import without_sharding_types
from onax._transforms.staging import derive_jaxpr

shard = Slot(
    "shard",
    "rule(partitioner, operands, eqn) -> [ShardedValue for each result]",
    "An elementwise operation keeps the axes of its operands, a call is inlined; any other operation gathers its "
    "operands, and every device computes the whole result.",
    "onax._compile.devices",
)


@dataclass(frozen=True, slots=True)
class Gather:
    """An equation without a rule: its operation, the user's line, and the bytes that each device receives for it."""

    operation: str
    source_info: object
    bytes: int


def partition(jaxpr, mesh, in_specs, out_specs=None):
    """(program with one shard_map equation that computes a ClosedJaxpr, PartitionSpecs of its results).

    Args:
      jaxpr: the program on global values.
      mesh: the Mesh over whose axes arguments are sharded; the body sees all of them.
      in_specs: a PartitionSpec for each argument; axes that do not divide a dimension do not shard it.
      out_specs: a PartitionSpec for each result, or None: those that propagation gives.

    The new program is cached with the given one.
    """
    jaxpr = without_sharding_types(discharge_refs(jaxpr))
    in_axes = [usable_axes(mesh, axes_of_spec(s, v.aval.ndim), v.aval.shape) for s, v in zip(in_specs, jaxpr.invars)]
    key = ("partitioned", mesh, tuple(in_axes), None if out_specs is None else tuple(out_specs))
    if key not in jaxpr.cache:
        if out_specs is None:
            out_specs = _propagated_specs(jaxpr, mesh, in_axes)
        jaxpr.cache[key] = _partition(jaxpr, mesh, in_axes, out_specs)
    return jaxpr.cache[key]


def partition_call(jaxpr, leaves, shardings):
    """The partitioned program of a call on values whose results get these NamedShardings.

    A program that states shardings over several meshes stays as it is: its regions run on their devices, and what is
    between them on the first device.
    """
    mesh = shardings[0].mesh
    if not all(_same_mesh(mesh, m) for m in stated_meshes(jaxpr)):
        return jaxpr
    given = [sharding_of(x) for x in leaves]
    in_specs = [PartitionSpec() if s is None or not _same_mesh(s.mesh, mesh) else s.spec for s in given]
    return partition(jaxpr, mesh, in_specs, [s.spec for s in shardings])[0]


def _propagated_specs(jaxpr, mesh, in_axes):
    given = [NamedSharding(mesh, spec_of_axes(axes)) if any(axes) else None for axes in in_axes]
    found = propagate(jaxpr, given)
    return [PartitionSpec() if s is None or not _same_mesh(s.mesh, mesh) else s.spec for s in found]


def _same_mesh(mesh, other):
    """Whether two meshes have the same axes over the same devices; the types of the axes do not count."""
    if mesh is other:
        return True
    same_axes = mesh.axis_names == other.axis_names and mesh.axis_sizes == other.axis_sizes
    return same_axes and list(mesh.devices.flat) == list(other.devices.flat)


def _partition(jaxpr, mesh, in_axes, out_specs):
    partitioner = Partitioner(mesh)
    out_axes = [usable_axes(mesh, axes_of_spec(s, v.aval.ndim), v.aval.shape) for s, v in zip(out_specs, jaxpr.outvars)]
    with partitioner.region.scope():
        closed, _ = partitioner.body(jaxpr, in_axes, out_axes)
    live, _ = dce_jaxpr(convert_constvars_jaxpr(closed), True, instantiate=True)
    body = ClosedJaxpr(live, ())
    specs = [spec_of_axes(axes) for axes in out_axes]
    params = {
        "jaxpr": body,
        "mesh": mesh,
        "in_specs": (*[PartitionSpec()] * len(closed.consts), *map(spec_of_axes, in_axes)),
        "out_specs": tuple(specs),
        "newly_manual_axes": frozenset(mesh.axis_names),
        "check_vma": False,
    }
    fun = lambda *args: shard_map_p.bind(*closed.consts, *args, **params)
    program = derive_jaxpr(fun, [v.aval for v in jaxpr.invars], jaxpr)
    program.cache["gathers"] = tuple(partitioner.gathers.values())
    return program, specs


def gathers_of(program):
    """The Gathers of a program that `partition` made: its equations whose operands had to be gathered."""
    return program.cache.get("gathers", ())


class Partitioner(Resharder):
    """Stages the program of one device; rules of the slot `shard` call it."""

    def __init__(self, mesh):
        super().__init__(mesh)
        self.region = ManualRegion(mesh, frozenset(mesh.axis_names), False)
        self.gathers = {}  # equation -> Gather
        self.bodies = {}
        self.slices = {}  # part of a value along a split dimension -> what `sliced_part` says of it
        self.wanted = {}  # variable of the program that is walked through -> the axes that all its readers want

    # ---- programs

    def body(self, jaxpr, in_axes, out_axes=None):
        """(the program on blocks, the axes of its results).  `out_axes` None: as they come; else for each result its
        axes, or None."""
        key = (jaxpr, tuple(map(tuple, in_axes)), None if out_axes is None else tuple(out_axes))
        if key not in self.bodies:
            self.bodies[key] = self._stage_body(jaxpr, in_axes, out_axes)
        return self.bodies[key]

    def _stage_body(self, jaxpr, in_axes, out_axes):
        found = []

        def fun(*args):
            given = [ShardedValue(x, v.aval, axes) for x, v, axes in zip(args, jaxpr.invars, in_axes)]
            outs = self.run(jaxpr, given, out_axes)
            wanted = [None] * len(outs) if out_axes is None else out_axes
            found[:] = [x.axes if axes is None else axes for x, axes in zip(outs, wanted)]
            return [self._result_block(x, axes, v.aval) for x, axes, v in zip(outs, found, jaxpr.outvars)]

        avals = [self.block_aval(v.aval, axes) for v, axes in zip(jaxpr.invars, in_axes)]
        return derive_jaxpr(fun, avals, jaxpr), found

    def _result_block(self, x, axes, aval):
        """The block of a result, with the weak type that the program states (sums over devices lose it)."""
        block = self.block_of(x, axes)
        if typeof(block).weak_type == aval.weak_type:
            return block
        return convert_element_type_p.bind(block, new_dtype=aval.dtype, weak_type=aval.weak_type, sharding=None)

    def run(self, jaxpr, operands, result_axes=None):
        """The results of a program, as ShardedValues; `result_axes` has for each the axes that its reader wants, or
        None."""
        env = dict(zip(jaxpr.invars, operands))
        env.update((v, self.constant(c, v.aval)) for v, c in zip(jaxpr.constvars, jaxpr.consts))
        read = lambda atom: self.constant(atom.array, atom.aval) if type(atom) is Literal else env[atom]
        outer, outer_wanted = here.record, self.wanted
        result_axes = (None,) * len(jaxpr.outvars) if result_axes is None else tuple(result_axes)
        self.wanted = wanted_axes(jaxpr, self.mesh, [x.axes for x in operands], result_axes)
        try:
            for eqn in jaxpr.eqns:
                here.record = eqn.source_info or outer
                env.update(zip(eqn.outvars, self.apply(eqn, list(map(read, eqn.invars)))))
        finally:
            here.record, self.wanted = outer, outer_wanted
        return list(map(read, jaxpr.outvars))

    def constant(self, value, aval):
        """A value that every device holds; the body of the program has no shardings in its types."""
        value = as_array(value)
        if type(value) is ArrayImpl and value.aval.stated_sharding is not None and value.is_fully_addressable:
            value = make_array(value._value, value.dtype, value.weak_type)
        return ShardedValue(value, aval)

    def apply(self, eqn, operands):
        """The results of an equation, which lie as it states."""
        primitive, stated = eqn.primitive, stated_for_result(eqn.params)
        if stated is None or primitive is reshard_p or primitive is sharding_constraint_p or primitive in programs:
            return self._apply(eqn, operands)
        plain = {name: None for name in ("out_sharding", "sharding") if name in eqn.params}
        found, *others = self._apply(eqn.replace(params={**eqn.params, **plain}), operands)
        if others:
            return [found, *others]
        if isinstance(stated.mesh, Mesh):
            self.check_mesh(stated.mesh, eqn)
        axes = axes_of_spec(fit_sharding(stated, found.aval.shape).spec, found.aval.ndim)
        return [self.constrained(found, self.usable(axes, found.aval.shape))]

    def _apply(self, eqn, operands):
        """The results of an equation, by its rule."""
        if all(x.is_whole and x not in self.slices for x in operands) and not _places(eqn):
            return self._from_whole_values(eqn, operands)
        return self._by_rule(eqn, operands)

    def _from_whole_values(self, eqn, operands):
        """The results of an equation on whole operands: blocks if all readers want the same ones."""
        axes = self.wanted_of(eqn)
        if not any(axes):
            return self.on_whole_values(eqn, operands)
        rule = block.get(eqn.primitive)
        if rule is not None:
            return rule(self, operands, eqn, axes[0]) or self.on_whole_values(eqn, operands)
        if called_program(eqn) is None:
            own = axes_of_operands(eqn, axes)
            operands = [x if a is None else self._block_of_whole(x, a) for x, a in zip(operands, own)]
            if all(x.is_whole for x in operands):
                return self.on_whole_values(eqn, operands)
        return self._by_rule(eqn, operands)

    def _block_of_whole(self, x, axes):
        axes = self.usable(axes, x.aval.shape)
        return self.constrained(x, axes) if any(axes) else x

    def _by_rule(self, eqn, operands):
        rule = shard.get(eqn.primitive)
        if rule is not None:
            return rule(self, operands, eqn)
        callee = called_program(eqn)
        if callee is not None:
            return self.run(callee, operands, self.wanted_of(eqn))
        if ELEMENTWISE in eqn.primitive.facts:
            return self.elementwise(eqn, operands)
        if CALLS_PYTHON not in eqn.primitive.facts:
            self._note_gather(eqn, operands)
        return self.on_whole_values(eqn, operands)

    def record_slice(self, x, eqn, results):
        """The results of a slice of `x`; a concatenation may find that it joins two of them to a rotation."""
        part = sliced_part(eqn, x)
        if part is not None and x.axes[part[1]] and not x.pending:
            self.slices[results[0]] = part
        return results

    def wanted_of(self, eqn):
        """For each result of an equation the axes that all its readers want, or None."""
        return [self.wanted.get(v) for v in eqn.outvars]

    def _note_gather(self, eqn, operands):
        received = 0
        for x in operands:
            if not x.is_whole:
                whole = x.aval.size * x.aval.dtype.itemsize
                received += whole if x.pending else whole - whole // self.count(a for own in x.axes for a in own)
        location = here.record if here.record is not SHARED else None  # in library functions that of the call
        self.gathers[eqn] = Gather(eqn.primitive.name, location, received)

    # ---- equations

    def on_whole_values(self, eqn, operands):
        """Every device computes the results from whole operands."""
        return self.bind(eqn, list(map(self.whole, operands)), [None] * len(eqn.outvars))

    def bind(self, eqn, blocks, result_axes, pending=(), **changes):
        """Binds the primitive on blocks; `result_axes` has an entry for each result; `changes` are of parameters."""
        out = eqn.primitive.bind(*blocks, **{**eqn.params, **changes})
        outs = out if eqn.primitive.multiple_results else [out]
        return [ShardedValue(x, v.aval, own, pending) for x, v, own in zip(outs, eqn.outvars, result_axes)]

    def bind_like(self, eqn, operands, operand_axes, out_axes=None, **changes):
        """Binds on blocks of the operands with these axes; all results have the axes `out_axes`, by default those of
        the first operand."""
        blocks = [self.block_of(x, own) for x, own in zip(operands, operand_axes)]
        out_axes = operand_axes[0] if out_axes is None else out_axes
        return self.bind(eqn, blocks, [out_axes] * len(eqn.outvars), **changes)

    def elementwise(self, eqn, operands):
        """Results have the axes of the operands; dimensions of length 1, which are repeated, and scalars have none."""
        shape = eqn.outvars[0].aval.shape
        axes = self.merge([x for x in operands if x.aval.ndim == len(shape)], shape)
        own = [self.axes_within(axes, shape, x.aval) for x in operands]
        return self.bind_like(eqn, operands, own, axes)

    def merge(self, operands, shape):
        """For each dimension the axes of the first operand that is sharded there and has this length there."""
        merged = [()] * len(shape)
        for x in operands:
            merged = [m or (a if n == size else ()) for m, a, n, size in zip(merged, x.axes, x.aval.shape, shape)]
        return usable_axes(self.mesh, merged, shape)

    def constrained(self, x, axes):
        """The value with the axes that the program states."""
        return ShardedValue(self.block_of(x, axes), x.aval, axes)

    def check_mesh(self, mesh, eqn):
        """Raises LoweringError for an equation over other devices, or the same in another order, than the program's."""
        if not _same_mesh(mesh, self.mesh):
            raise LoweringError(
                f"{eqn.primitive.name} at {summarize(eqn.source_info)} states a sharding over {mesh}, in a program "
                f"that is partitioned over {self.mesh}; a program over separate devices has one mesh: use the same "
                "mesh for all its shardings, or one jitted function for each mesh"
            )

    def axes_within(self, axes, shape, aval):
        """The axes of an operand that is broadcast to a shape with these axes."""
        if aval.ndim != len(shape):
            return ((),) * aval.ndim
        return tuple(own if n == size else () for own, n, size in zip(axes, aval.shape, shape))

    def usable(self, axes, shape):
        """The axes for each dimension without those that are repeated or that do not divide the dimension."""
        return usable_axes(self.mesh, axes, shape)

    def block_shape(self, shape, axes):
        """The shape of a block of a value of this shape."""
        return tuple(n // self.count(own) for n, own in zip(shape, axes))

    def block_aval(self, aval, axes):
        """The type of a block of a value of this type."""
        return aval.update(shape=self.block_shape(aval.shape, axes)) if any(axes) else aval


def _places(eqn):
    """Whether an equation or a program inside it states the sharding of a value."""
    return states_sharding(eqn) or any(map(makes_shards, jaxprs_in_params(eqn.params)))
