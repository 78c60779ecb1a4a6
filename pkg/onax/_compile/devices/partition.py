"""Partitions programs for separate devices, and for operations that only the host can run.

    a program with shard_maps over separate devices  -> ThunkSequence of compiled segments and regions
    the body of a region                             -> ThunkSequence that each device runs on its shards
    a program with operations that a provider lacks  -> ThunkSequence in which the host runs these operations

A program is split at its *boundaries*: operations that devices do together, and operations that the host runs.  The
equations between two boundaries are one compiled segment, the same for all devices.  Calls that hold boundaries are
inlined; branches and loops that hold boundaries become thunks (`thunks.py`), others are part of a segment.  Any other
operation that names axes is one collective as a whole, and so is a callback, so that callbacks keep their order.
Devices exchange values through the host.

A collective applies the batching rule of its operation to the stacked values of a group.  The rule needs to know along
which axes a value varies; the batching rules of earlier operations tell it before anything runs.
"""

import itertools
from dataclasses import dataclass
from functools import partial

import numpy as np

from onax._compile import pipeline, sessions
from onax._compile.computation import Computation
from onax._compile.devices.rendezvous import run_together
from onax._compile.devices.rounds import order_in_rounds
from onax._compile.devices.thunks import (
    AnyReduction,
    AxisIndexThunk,
    CollectiveThunk,
    ConditionalThunk,
    HostThunk,
    Participant,
    ReplicaGroups,
    ScanThunk,
    SegmentThunk,
    ThunkSequence,
    WhileThunk,
    array_of,
    buffer_for,
)
from onax._control.batch_by_loop import must_loop_over_devices
from onax._control.cond import cond_p
from onax._control.manual_region import ManualRegion, global_program, has_separate_devices, stacked_program
from onax._control.nested_shard_map import nested_program
from onax._control.scan_rules import scan_p
from onax._control.shard_map import shard_map_p
from onax._control.shard_values import on_whole_values
from onax._control.while_loop import while_p, with_scalar_condition
from onax._core.axes import AxisData, names_of
from onax._core.evaluate import interpreter_of
from onax._core.facts import CALLS_PYTHON, CASTS_AXES, NAMED_AXIS
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, Literal, Var, jaxprs_in_params
from onax._core.programs import called_program
from onax._core.rewrite import eliminate_dead_code
from onax._core.sharding import NamedSharding
from onax._core.slots import Slot
from onax._core.trace import as_array
from onax._ground.devices import current_default, get_backend
from onax._ground.errors import LoweringError
from onax._native.array import make_array
from onax._native.jit_function import Executable
from onax._prims.collectives import axis_index_p
from onax._prims.varying import preduced_p
from onax.export.graph.transfers import loops_that_bounce

_NO_AXES = frozenset()

thunk_rules = Slot(
    "thunk",
    "rule(builder, eqn) -> thunk, or None if one computation runs the equation for all devices",
    "An equation that holds a boundary and is not a call becomes one thunk.",
    "onax._compile.devices",
)


def compile_partitioned(computation, name, compiler_options=None, device=None):
    """The Executable of a Computation that is partitioned into thunks, for a device.

    Raises LoweringError for an operation that has no ONNX form and that the host cannot run, BackendError for a model
    that the runtime rejects.
    """
    core = computation.core
    outer = _ProgramPartitioner(name, compiler_options, current_default() if device is None else device)
    sequence = outer.partition(core, [_NO_AXES] * len(core.invars))
    avals = core.in_avals

    def run(arrays):
        args = [array_of(a.view(), aval) for a, aval in zip(arrays, avals)]  # the user's arrays stay writable
        (outs,) = run_together([sequence.run(args, outer.participant)], [str(outer.participant.device)])
        return [_copy_if_shared(x._value, arrays) for x in outs]

    return Executable(
        run, computation.kept, computation.outs, n_args=len(computation.jaxpr.invars), constants=computation.constants
    )


def _copy_if_shared(result, arrays):
    """Copies a result if the user may be able to write to its memory."""
    return result.copy() if any(np.may_share_memory(result, a) for a in arrays) else result


# ---- partitioning


class _Partitioner:
    """Finds the boundaries of programs, and makes thunks of them."""

    def __init__(self, name, options_by_key, compiler_options):
        self.name = name
        self.options_by_key = options_by_key  # of the devices: compiler options, by a key for each kind of device
        self.has_other_providers = any(o is not compiler_options for o in options_by_key.values())
        self.host_helps = False  # whether the host runs operations that the provider lacks
        self.boundaries = {}  # jaxpr -> whether it holds a boundary
        self.lowered = {}  # expression -> (its parameters, whether it has a form that all devices can run)

    def partition(self, jaxpr, varying):
        """The ThunkSequence of a whole program.  Raises LoweringError for an operation that the host cannot run."""
        try:
            return self.sequence(jaxpr, varying)
        except LoweringError:
            if not self.has_other_providers:
                raise
        self.host_helps = True
        self.boundaries.clear()
        return self.sequence(jaxpr, varying)

    def sequence(self, jaxpr, varying):
        """The ThunkSequence of a ClosedJaxpr; `varying`: for each argument the axes along which it varies."""
        return _SequenceBuilder(self, jaxpr, varying).sequence()

    def holds_boundary(self, eqn):
        """Whether an equation is a boundary, or a program that it holds has one."""
        inner = list(jaxprs_in_params(eqn.params))
        return self.is_boundary(eqn) or any(map(self._has_boundary, inner)) or (not inner and self.runs_on_host(eqn))

    def runs_on_host(self, eqn):
        """Whether the host must run an equation, because it has no form that all devices can run."""
        if not self.host_helps:
            return False
        key = (eqn.primitive, id(eqn.params), *(x.aval for x in eqn.invars))
        if key not in self.lowered:
            self.lowered[key] = eqn.params, _is_portable(eqn)  # holds the parameters, so that no others get their id
        return not self.lowered[key][1]

    def keeps_whole(self, eqn):
        """Whether the host runs an equation with programs as a whole, though devices could run it."""
        return False

    def add_host_thunk(self, builder, eqn):
        """Adds an operation that the host evaluates as it does eagerly."""
        return builder.add_thunk(
            HostThunk(eqn.replace(invars=_variables(eqn)), partial(_evaluate, _program_of_equation(eqn)))
        )

    def _has_boundary(self, jaxpr):
        has_boundary = self.boundaries.get(jaxpr)
        if has_boundary is None:
            has_boundary = self.boundaries[jaxpr] = any(map(self.holds_boundary, jaxpr.eqns))
        return has_boundary

    def compile_segment(self, jaxpr):
        """The executables of a segment, by the keys of compiler options."""
        computation = pipeline.optimize(jaxpr, self.name)
        return {
            key: pipeline.compile_for_session(computation, self.name, options)
            for key, options in self.options_by_key.items()
        }


class _ProgramPartitioner(_Partitioner):
    """Partitions the program around regions, which one device runs."""

    def __init__(self, name, compiler_options, device):
        super().__init__(name, {None: sessions.options_for_device(compiler_options, device)}, compiler_options)
        self.compiler_options = compiler_options
        self.participant = Participant(device, {}, 0, None)
        self.kept_whole = {}  # id of parameters -> (the parameters, whether the host runs the loop)

    def is_boundary(self, eqn):
        """Whether the equation is a region over separate devices, or a loop that the host runs as a whole."""
        if eqn.primitive is shard_map_p and has_separate_devices(eqn.params["mesh"]):
            return True
        return self.keeps_whole(eqn)

    def keeps_whole(self, eqn):
        """Whether an equation is control flow with a loop in whose steps the provider would copy values to the host."""
        if not self.has_other_providers or not any(jaxprs_in_params(eqn.params)):
            return False
        key = id(eqn.params)
        if key not in self.kept_whole:
            self.kept_whole[key] = eqn.params, _bounces(eqn)
        return self.kept_whole[key][1]

    def add_boundary(self, builder, eqn):
        """Adds a region, or an equation that holds one and is neither a call nor a loop: its kernel then evaluates
        the region."""
        if eqn.primitive is shard_map_p:
            params = {k: v for k, v in eqn.params.items() if k != "jaxpr"}
            region = partition_region(eqn.params["jaxpr"], params, self.name, self.compiler_options)
            return builder.add_thunk(HostThunk(eqn, region.run))
        if self.has_other_providers and self.keeps_whole(eqn):
            program = pipeline.compile_jaxpr(
                _program_of_equation(eqn), self.name, device=get_backend("cpu").devices()[0]
            )
            return builder.add_thunk(HostThunk(eqn.replace(invars=_variables(eqn)), program.run))
        return self.add_host_thunk(builder, eqn)

    def varying_results(self, eqn, varying):
        """The results do not vary, because there are no axes."""
        return [_NO_AXES] * len(eqn.outvars)


class _RegionPartitioner(_Partitioner):
    """Partitions the body of a region, which all of its devices run."""

    def __init__(self, name, region, options_by_key, compiler_options, spreads_inner, devices=None):
        super().__init__(name, options_by_key, compiler_options)
        self.region = region
        self.devices = devices  # of all participants, if other processes have some of them
        self.spreads_inner = spreads_inner  # whether inner regions have devices of their own

    def is_boundary(self, eqn):
        """Whether the equation uses axis names, calls Python, or is an inner region."""
        primitive = eqn.primitive
        if NAMED_AXIS in primitive.facts:
            return bool(_axis_names(eqn) & set(self.region.names))
        return CALLS_PYTHON in primitive.facts or primitive is shard_map_p

    def add_boundary(self, builder, eqn):
        """Adds a collective, or another operation that the devices do together."""
        primitive, varying = eqn.primitive, builder.varying_of(eqn)
        if primitive is shard_map_p:
            return self._add_inner_region(builder, eqn)
        if primitive is axis_index_p:
            axes = names_of(eqn.params["axis_name"])
            builder.varying[eqn.outvars[0]] = frozenset(axes)
            return builder.add_thunk(AxisIndexThunk(eqn.outvars[0], axes, [self.region.size((a,)) for a in axes]))
        if CASTS_AXES in primitive.facts:
            axes = () if primitive is preduced_p else eqn.params["axes"]
            return [builder.alias(eqn.invars[0], varying[0].union(axes))]
        if not self.is_boundary(eqn) and not any(jaxprs_in_params(eqn.params)):
            builder.varying.update(zip(eqn.outvars, self.varying_results(eqn, varying)))
            return self.add_host_thunk(builder, eqn)
        names = _axis_names(eqn) if NAMED_AXIS in primitive.facts else self.region.names
        return self._add_collective(builder, eqn, tuple(a for a in self.region.names if a in names))

    def _add_inner_region(self, builder, eqn):
        """Adds an inner region: devices run it if there is one for each of its shards, else it is one program."""
        params = {k: v for k, v in eqn.params.items() if k != "jaxpr"}
        names = set(ManualRegion.of(params).names)
        if not (self.spreads_inner and names <= set(self.region.names)):
            return builder.inline(global_program(eqn.params["jaxpr"], params), eqn.invars)
        outs = builder.inline(nested_program(eqn.params["jaxpr"], params), eqn.invars)
        return [builder.alias(x, builder.axes_of(x) - names) for x in outs]

    def _add_collective(self, builder, eqn, axes):
        """Adds a CollectiveThunk along some axes, unless its operands are the same along them."""
        varying = [v & set(axes) for v in _of_variables(eqn, builder.varying_of(eqn))]
        region = self.region.restrict(axes)
        single = _program_of_equation(eqn)
        program, mapped = stacked_program(region, single, varying)
        elsewhere = _NO_AXES.union(*builder.varying_of(eqn)) - set(axes)
        outs = [elsewhere | set(own) for own in mapped]
        if NAMED_AXIS in eqn.primitive.facts and not any(varying) and not any(mapped):
            return [builder.alias(x, own) for x, own in zip(builder.inline(program, _variables(eqn)), outs)]
        builder.varying.update(zip(eqn.outvars, outs))
        eqn = eqn.replace(invars=_variables(eqn))
        return builder.add_thunk(CollectiveThunk(eqn, self.groups(axes), single, program, varying, mapped))

    def is_meeting(self, eqn):
        """Whether devices wait for one another in an equation."""
        primitive = eqn.primitive
        return primitive is not axis_index_p and CASTS_AXES not in primitive.facts and self.holds_boundary(eqn)

    def groups(self, axes):
        """The groups of devices that meet along some axes."""
        return ReplicaGroups(self.region, axes, self.devices)

    def runs_devices_in_turn(self, eqn):
        """Whether the batching rule of a branch or loop runs the devices one after the other."""
        axis = AxisData(self.region.names[0], 1, of_devices=True)
        return must_loop_over_devices(axis, list(jaxprs_in_params(eqn.params)))

    def varying_results(self, eqn, varying):
        """For each result of an equation the axes along which it varies, by its batching rule."""
        axes = _NO_AXES.union(*varying)
        if not self.holds_boundary(eqn):
            if not axes:
                return [_NO_AXES] * len(eqn.outvars)
            if len(eqn.outvars) == 1 and not any(jaxprs_in_params(eqn.params)):
                return [axes]
        region = self.region if self.holds_boundary(eqn) else self.region.restrict(axes)
        return list(map(frozenset, stacked_program(region, _program_of_equation(eqn), _of_variables(eqn, varying))[1]))


def _is_portable(eqn):
    """Whether an equation has a form in ONNX's own operators."""
    try:
        pipeline.lower_portable(Computation(_program_of_equation(eqn)))
    except LoweringError:
        return False
    return True


def _bounces(eqn):
    """Whether an equation's form in ONNX has a loop whose steps copy values between the host and a CUDA device."""
    try:
        return loops_that_bounce(pipeline.lower_portable(Computation(_program_of_equation(eqn))))
    except LoweringError:
        return False


def _evaluate(jaxpr, args):
    """Evaluates a closed jaxpr eagerly."""
    return interpreter_of(jaxpr).run(jaxpr.consts, args)


def _axis_names(eqn):
    """The axis names of a collective."""
    params = eqn.params
    return set(names_of(params["axes"] if "axes" in params else params["axis_name"]))


def _variables(eqn):
    """The operands of an equation that are variables."""
    return [x for x in eqn.invars if type(x) is not Literal]


def _of_variables(eqn, per_operand):
    return [own for own, x in zip(per_operand, eqn.invars) if type(x) is not Literal]


def _program_of_equation(eqn):
    """A program of this one equation, on its operands that are variables."""
    invars = [x if type(x) is Literal else Var(x.aval) for x in eqn.invars]
    outvars = [Var(v.aval) for v in eqn.outvars]
    taken = [x for x in invars if type(x) is not Literal]
    return ClosedJaxpr(Jaxpr([], taken, outvars, [eqn.replace(invars=invars, outvars=outvars)]))


class _SequenceBuilder:
    """Builds the ThunkSequence of one program."""

    def __init__(self, partitioner, jaxpr, varying):
        self.partitioner = partitioner
        self.jaxpr = jaxpr
        self.thunks = []
        self.pending = []  # equations of the next segment
        self.made = set()  # their results
        self.consts = {}
        self.varying = {}  # variable -> axes
        self.aliases = {}  # variable -> the atom that it is an alias of
        self.invars = [Var(v.aval) for v in jaxpr.invars]
        self.varying.update(zip(self.invars, map(frozenset, varying)))

    def sequence(self):
        """The ThunkSequence."""
        outs = self.inline(self.jaxpr, self.invars)
        varying = [self.axes_of(x) for x in outs]
        self._end_segment()
        outs = list(map(self._root, outs))
        return ThunkSequence(self.invars, self.consts, self._live_thunks(outs), outs, varying)

    # ---- variables

    def axes_of(self, atom):
        """The axes along which a value varies."""
        return _NO_AXES if type(atom) is Literal else self.varying.get(atom, _NO_AXES)

    def varying_of(self, eqn):
        """For each operand the axes along which it varies."""
        return list(map(self.axes_of, eqn.invars))

    def _root(self, atom):
        while type(atom) is not Literal and atom in self.aliases:
            atom = self.aliases[atom]
        return atom

    def alias(self, atom, axes):
        """A new variable for the same value, which varies along other axes."""
        if axes == self.axes_of(atom):
            return atom
        new = Var(atom.aval)
        self.aliases[new] = atom
        self.varying[new] = axes
        return new

    # ---- equations

    def inline(self, jaxpr, operands):
        """Adds the equations of a program; returns the atoms of its results."""
        jaxpr = eliminate_dead_code(jaxpr, bodies=False)
        env = dict(zip(jaxpr.invars, operands))
        for v, c in zip(jaxpr.constvars, jaxpr.consts):
            env[v] = Var(v.aval)
            self.consts[env[v]] = as_array(c)
        for eqn in jaxpr.eqns:
            invars = [x if type(x) is Literal else env[x] for x in eqn.invars]
            outvars = [Var(v.aval) for v in eqn.outvars]
            env.update(zip(eqn.outvars, self._add_equation(eqn.replace(invars=invars, outvars=outvars))))
        return [x if type(x) is Literal else env[x] for x in jaxpr.outvars]

    def _add_equation(self, eqn):
        """Adds an equation; returns the atoms of its results."""
        partitioner = self.partitioner
        if not partitioner.holds_boundary(eqn):
            self.varying.update(zip(eqn.outvars, partitioner.varying_results(eqn, self.varying_of(eqn))))
            self.pending.append(eqn.replace(invars=list(map(self._root, eqn.invars))))
            self.made.update(eqn.outvars)
            return eqn.outvars
        callee = called_program(eqn)
        if callee is not None:
            return self.inline(callee, eqn.invars)
        if partitioner.keeps_whole(eqn):
            return partitioner.add_boundary(self, eqn)
        thunk_of = thunk_rules.get(eqn.primitive)
        if thunk_of is not None:
            self.varying.update(zip(eqn.outvars, partitioner.varying_results(eqn, self.varying_of(eqn))))
            thunk = thunk_of(self, eqn)
            return partitioner.add_boundary(self, eqn) if thunk is None else self.add_thunk(thunk)
        return partitioner.add_boundary(self, eqn)

    def add_thunk(self, thunk):
        """Adds a thunk that is not a segment; returns its results."""
        thunk.operands = list(map(self._root, thunk.operands))
        if not self.made.isdisjoint(_variables_of(thunk.operands)) or any(e.effects for e in self.pending):
            self._end_segment()
        self.thunks.append(thunk)
        return thunk.results

    def _end_segment(self):
        if self.pending:
            self.thunks.append(SegmentThunk(self.pending))
        self.pending, self.made = [], set()

    # ---- finishing

    def _live_thunks(self, outs):
        """The thunks whose results are used; compiles their segments."""
        live, live_thunks = set(_variables_of(outs)), []
        for thunk in reversed(self.thunks):
            live_results = [v for v in thunk.results if v in live]
            if not live_results and not thunk.effects:
                continue
            if type(thunk) is SegmentThunk:
                self._compile(thunk, live_results)
            thunk.last_reads = [x for x in dict.fromkeys(_variables_of(thunk.operands)) if x not in live]
            live.update(_variables_of(thunk.operands))
            live_thunks.append(thunk)
        return live_thunks[::-1]

    def _compile(self, segment, results):
        """Compiles the equations of a segment; only some of their results are used outside it."""
        made = {v for e in segment.eqns for v in e.outvars}
        read = dict.fromkeys(x for e in segment.eqns for x in _variables_of(e.invars) if x not in made)
        constvars, invars = [v for v in read if v in self.consts], [v for v in read if v not in self.consts]
        inner = Jaxpr(constvars, invars, results, segment.eqns, segment.effects, self.jaxpr.debug_info)
        segment.executables = self.partitioner.compile_segment(ClosedJaxpr(inner, [self.consts[v] for v in constvars]))
        segment.operands, segment.results = invars, results


def _variables_of(atoms):
    return [x for x in atoms if type(x) is not Literal]


# ---- branches and loops that hold boundaries
#
# The rules return None for an equation that the devices run one after the other, because only some may want its
# effects: it is one collective as a whole.


@thunk_rules.rule(cond_p)
def _conditional(builder, eqn):
    index, *operands = builder.varying_of(eqn)
    if index and builder.partitioner.runs_devices_in_turn(eqn):
        return None
    operands = [own | index for own in operands]  # the batching rule of `cond` broadcasts these operands too
    branches = [builder.partitioner.sequence(b, operands) for b in eqn.params["branches"]]
    return ConditionalThunk(eqn, branches, index)


@thunk_rules.rule(while_p)
def _while(builder, eqn):
    p = eqn.params
    condition, body = with_scalar_condition(p["cond_jaxpr"], p["body_jaxpr"], p["cond_nconsts"], p["body_nconsts"])
    n = p["cond_nconsts"] + p["body_nconsts"]
    varying = [*builder.varying_of(eqn)[:n], *(builder.varying[v] for v in eqn.outvars)]
    condition = builder.partitioner.sequence(condition, varying)
    if condition.varying[0] and builder.partitioner.runs_devices_in_turn(eqn):
        return None
    body = builder.partitioner.sequence(body, varying)
    axes, any_goes_on = condition.meeting_axes | body.meeting_axes, None
    if axes & condition.varying[0]:
        region = builder.partitioner.region
        any_goes_on = AnyReduction(eqn, builder.partitioner.groups(tuple(a for a in region.names if a in axes)))
    return WhileThunk(eqn, condition, body, n, any_goes_on)


@thunk_rules.rule(scan_p)
def _scan(builder, eqn):
    n, m = eqn.params["num_consts"], eqn.params["num_carry"]
    varying = builder.varying_of(eqn)
    varying[n : n + m] = [builder.varying[v] for v in eqn.outvars[:m]]
    return ScanThunk(eqn, builder.partitioner.sequence(eqn.params["jaxpr"], varying))


# ---- regions


@dataclass(slots=True, eq=False)
class PartitionedRegion:
    """A region as its devices run it: what each runs, the devices of this process, and what crosses its boundary."""

    sequence: ThunkSequence
    participants: list
    in_shardings: list
    out_shardings: list
    out_avals: list

    def run_on_shards(self, args_of):
        """The results of each device of this process; `args_of(participant)` are its shards."""
        programs = [self.sequence.run(args_of(p), p) for p in self.participants]
        return run_together(programs, [str(p.device) for p in self.participants], [p.index for p in self.participants])

    def run(self, values):
        """The assembled global results of global values, of a region whose devices are all in this process."""
        maps = [sharding.devices_indices_map(x.shape) for sharding, x in zip(self.in_shardings, values)]

        def shards_of(participant):
            shards = [x._value[indices[participant.device]] for x, indices in zip(values, maps)]
            return [make_array(shard, x.dtype, x.weak_type) for shard, x in zip(shards, values)]

        results = self.run_on_shards(shards_of)
        return [
            _assemble(self.participants, [outs[i] for outs in results], sharding, aval)
            for i, (sharding, aval) in enumerate(zip(self.out_shardings, self.out_avals))
        ]


def partition_region(jaxpr, params, name, compiler_options):
    """The PartitionedRegion of a shard_map equation.

    If other processes have some of its devices, all of them do this together.  Then all devices of the mesh take part;
    else, along axes that the region does not have, the first ones.
    """
    region = ManualRegion.of(params)
    mesh, in_specs, out_specs = params["mesh"], params["in_specs"], params["out_specs"]
    inner, spans = _inner_axes(jaxpr, region, set(region.names)), mesh.is_multi_process
    region = region.restrict(mesh.axis_names if spans else {*region.names, *(inner or ())})
    participants = _participants(mesh, region)
    own = [p for p in participants if p.device._addressable]
    options_by_key = {p.options_key: sessions.options_for_device(compiler_options, p.device) for p in own}
    devices = [p.device for p in participants] if spans else None
    partitioner = _RegionPartitioner(name, region, options_by_key, compiler_options, bool(inner), devices)
    with region.scope():
        if len(participants) == 1:
            jaxpr = global_program(jaxpr, params)
        else:
            jaxpr = on_whole_values(ManualRegion.of(params), jaxpr, in_specs, out_specs)
        if spans:
            jaxpr = order_in_rounds(jaxpr, partitioner.is_meeting)
        varying = [frozenset(a for a in region.names if a not in region.unmentioned_axes(spec)) for spec in in_specs]
        sequence = partitioner.partition(jaxpr, varying)
    in_shardings, out_shardings = ([NamedSharding(mesh, spec) for spec in specs] for specs in (in_specs, out_specs))
    wholes = [region.unshard_aval(v.aval, spec) for v, spec in zip(jaxpr.outvars, out_specs)]
    return PartitionedRegion(sequence, own, in_shardings, out_shardings, wholes)


def _inner_axes(jaxpr, region, used):
    """The axes of the inner regions over the same devices; None if an inner region has other devices."""
    axes = set()
    for eqn in jaxpr.eqns:
        own = set()
        if eqn.primitive is shard_map_p:
            inner = ManualRegion.of(eqn.params)
            own = set(inner.names)
            if inner.mesh != region.mesh or inner.checked != region.checked or used & own:
                return None
        for body in jaxprs_in_params(eqn.params):
            deeper = _inner_axes(body, region, used | own)
            if deeper is None:
                return None
            axes |= own | deeper
    return axes


def _participants(mesh, region):
    """A Participant for each device of a region; along other axes of the mesh only the first devices take part."""
    chosen = mesh.devices[tuple(slice(None) if a in region.names else 0 for a in mesh.axis_names)]
    participants = []
    for index, coordinate in enumerate(itertools.product(*map(range, region.sizes))):
        device = chosen[coordinate]
        key = None if device.platform == "cpu" else device
        participants.append(Participant(device, dict(zip(region.names, coordinate)), index, key))
    return participants


def _assemble(participants, shards, sharding, aval):
    """Assembles a value from the shards of devices; of devices with the same shard, the first one counts."""
    whole = buffer_for(aval.shape, aval.dtype)
    indices = sharding.devices_indices_map(aval.shape)
    for participant, shard in zip(reversed(participants), reversed(shards)):
        whole[indices[participant.device]] = shard._value
    return array_of(whole, aval)
