"""Devices that are machines of their own: programs cut where these meet, and where the host has to help.

    a program with such regions -> Block of compiled segments and regions
    the body of a region        -> Block that every device runs on its pieces, in sessions of its own
    a program for a provider that has no form for some operation    -> Block in which the host carries it out

Between two meetings lies one compiled segment, the same for all devices.  Calls that hold meetings are opened; branches
and loops that hold some are gone through by us (`steps.py`), others are part of a segment.  Any other operation that
names axes is a meeting in which the whole of it is done, as is a call of Python, so that its order is that of the one
program.  What is exchanged are values of the host.

A meeting is the batching rule of its operation, on the values of a group stacked.  The rule asks over which axes a
value varies; that is known before anything runs, from the batching rules of the operations before it.
"""

import itertools
from functools import partial

import numpy as np

from onax._compile import options
from onax._compile import plan as planning
from onax._compile.rendezvous import together
from onax._compile.steps import (
    Block,
    Choice,
    Group,
    Index,
    Meeting,
    Repeat,
    Runner,
    Scan,
    Segment,
    Vote,
    Work,
    array_of,
    buffer_for,
)
from onax._control.checkpoint import remat_p
from onax._control.closed_call import closed_call_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_vjp_call_p
from onax._control.custom_vmap import custom_vmap_p
from onax._control.inner_regions import spread_program
from onax._control.jit_call import jit_p
from onax._control.one_by_one import each_by_itself
from onax._control.parallel import (
    Region,
    is_separate,
    shard_map_p,
    stacked_program,
    whole_program,
)
from onax._control.scan import scan_p
from onax._control.while_loop import settled, while_p
from onax._core.axes import AxisData, names_of
from onax._core.facts import CALLS_PYTHON, NAMED_AXIS
from onax._core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxprs_in_params
from onax._core.rewrite import eliminate_dead_code
from onax._core.sharding import NamedSharding
from onax._core.trace import as_array
from onax._ground.devices import current_default
from onax._ground.errors import LoweringError
from onax._native.array import make_array
from onax._native.jit_function import Executable
from onax._prims.collectives import (
    axis_index_p,
    match_varying_p,
    pvary_p,
    sum_varying_p,
)

_CALLS = {
    jit_p: "jaxpr",
    remat_p: "jaxpr",
    custom_jvp_call_p: "call_jaxpr",
    custom_vjp_call_p: "call_jaxpr",
    closed_call_p: "call_jaxpr",
}
_CALLS[custom_vmap_p] = "call"
_NOWHERE = frozenset()


def compile_program(plan, name, compiler_options=None, graph=None, device=None):
    """The Executable of a plan for a device; raises as `plan.compile_plan` does.

    With regions over devices that are machines of their own, `graph` (the one program of all) is not what runs.
    """
    given = options.for_device(compiler_options, device)
    if plan.core is None or not has_separate_regions(plan.core):
        try:
            return planning.compile_plan(plan, name, given, graph)
        except LoweringError:
            if given is compiler_options:  # the user asked for this provider
                raise
    outer = Outside(name, compiler_options, current_default() if device is None else device)
    block = outer.program(plan.core, [_NOWHERE] * len(plan.core.invars))
    avals = plan.core.in_avals

    def run(arrays):
        args = [array_of(a.view(), aval) for a, aval in zip(arrays, avals)]  # the user's own arrays stay writable
        (outs,) = together([block.run(args, outer.runner)], [str(outer.runner.device)])
        return [_unshared(x._value, arrays) for x in outs]

    return Executable(run, plan.kept, plan.outs, n_args=len(plan.jaxpr.invars), constants=plan.constants)


def _unshared(result, arrays):
    """The result; a copy of it if it may be memory that the user can write."""
    return result.copy() if any(np.may_share_memory(result, a) for a in arrays) else result


def has_separate_regions(jaxpr):
    """Whether a program holds a region that runs as one program a device; kept with it."""
    found = jaxpr.cache.get("separate regions")
    if found is None:
        found = jaxpr.cache["separate regions"] = any(map(_is_separate, jaxpr.eqns))
    return found


def _is_separate(eqn):
    if eqn.primitive is shard_map_p and is_separate(eqn.params["mesh"]):
        return True
    return any(map(has_separate_regions, jaxprs_in_params(eqn.params)))


# ---- cutting


class _Cutter:
    """How programs are cut in some place: which equations are cut out, and what becomes of them."""

    def __init__(self, name, settings, compiler_options):
        self.name = name
        self.settings = settings  # of the devices: what sessions are made with, as keys
        self.has_other_providers = any(s is not compiler_options for s in settings.values())
        self.hosted = False  # whether the host carries out what other providers have no form for
        self.special = {}  # jaxpr -> whether one of its equations is cut out
        self.lowered = {}  # what an equation is -> (its parameters, whether it has a form that all devices can run)

    def program(self, jaxpr, varying):
        """The Block of a whole program; the host helps if it must.  Raises LoweringError where it cannot."""
        try:
            return self.block(jaxpr, varying)
        except LoweringError:
            if not self.has_other_providers:
                raise
        self.hosted = True
        self.special.clear()
        return self.block(jaxpr, varying)

    def block(self, jaxpr, varying):
        """The Block of a ClosedJaxpr; `varying`: for each argument the axes over which it varies."""
        return _Cut(self, jaxpr, varying).block()

    def is_special(self, eqn):
        """Whether an equation is cut out, or holds one that is."""
        inner = list(jaxprs_in_params(eqn.params))
        return self.is_cut_out(eqn) or any(map(self._holds_special, inner)) or (not inner and self.is_hosted(eqn))

    def is_hosted(self, eqn):
        """Whether an equation has no form that all devices can run, and is carried out on the host."""
        if not self.hosted:
            return False
        key = (eqn.primitive, id(eqn.params), *(x.aval for x in eqn.invars))
        if key not in self.lowered:
            self.lowered[key] = eqn.params, _is_portable(eqn)  # with the parameters, so that no others get their id
        return not self.lowered[key][1]

    def on_host(self, cut, eqn):
        """An operation carried out as it is when nothing is compiled."""
        return cut.emit(Work(eqn.replace(invars=_variables(eqn)), partial(planning.evaluate, _alone(eqn))))

    def _holds_special(self, jaxpr):
        found = self.special.get(jaxpr)
        if found is None:
            found = self.special[jaxpr] = any(map(self.is_special, jaxpr.eqns))
        return found

    def compiled(self, jaxpr):
        """The executables of a segment, by settings."""
        plan = planning.Plan(jaxpr)
        return {key: planning.compile_plan(plan, self.name, given) for key, given in self.settings.items()}


class Outside(_Cutter):
    """Around regions: a program of one device."""

    def __init__(self, name, compiler_options, device):
        super().__init__(name, {None: options.for_device(compiler_options, device)}, compiler_options)
        self.compiler_options = compiler_options
        self.runner = Runner(device, {}, 0, None)

    def is_cut_out(self, eqn):
        """Regions of their own devices."""
        return eqn.primitive is shard_map_p and is_separate(eqn.params["mesh"])

    def take(self, cut, eqn):
        """A region, or what holds one and is neither call nor loop: then its kernel, which comes to the region."""
        if eqn.primitive is shard_map_p:
            params = {k: v for k, v in eqn.params.items() if k != "jaxpr"}
            program = _all_devices(eqn.params["jaxpr"], params, self.name, self.compiler_options)
            return cut.emit(Work(eqn, program))
        return self.on_host(cut, eqn)

    def varying_results(self, eqn, varying):
        """Nothing varies."""
        return [_NOWHERE] * len(eqn.outvars)


class Inside(_Cutter):
    """In a region: a program that all of its devices run."""

    def __init__(self, name, region, settings, compiler_options, spread):
        super().__init__(name, settings, compiler_options)
        self.region = region
        self.spread = spread  # whether regions within have devices of their own

    def is_cut_out(self, eqn):
        """What names axes, calls Python, or brings axes of its own."""
        primitive = eqn.primitive
        if NAMED_AXIS in primitive.facts:
            return bool(_names(eqn) & set(self.region.names))
        return CALLS_PYTHON in primitive.facts or primitive is shard_map_p

    def take(self, cut, eqn):
        """A collective, or another operation done together."""
        primitive, varying = eqn.primitive, cut.varying_of(eqn)
        if primitive is shard_map_p:
            return self._inner_region(cut, eqn)
        if primitive is axis_index_p:
            axes = names_of(eqn.params["axis_name"])
            cut.varying[eqn.outvars[0]] = frozenset(axes)
            return cut.emit(Index(eqn.outvars[0], axes, [self.region.size((a,)) for a in axes]))
        if primitive is pvary_p:
            return [cut.alias(eqn.invars[0], varying[0] | set(eqn.params["axes"]))]
        if primitive is sum_varying_p or primitive is match_varying_p:
            return [self._sum(cut, eqn, varying)]
        if not self.is_cut_out(eqn) and not any(jaxprs_in_params(eqn.params)):
            cut.varying.update(zip(eqn.outvars, self.varying_results(eqn, varying)))
            return self.on_host(cut, eqn)
        names = _names(eqn) if NAMED_AXIS in primitive.facts else self.region.names
        return self._meet(cut, eqn, tuple(a for a in self.region.names if a in names))

    def _inner_region(self, cut, eqn):
        """A region within: spread over devices if this one has a device for each of its pieces, else one program."""
        params = {k: v for k, v in eqn.params.items() if k != "jaxpr"}
        names = set(Region.of(params).names)
        if not (self.spread and names <= set(self.region.names)):
            return cut.enter(whole_program(eqn.params["jaxpr"], params), eqn.invars)
        outs = cut.enter(spread_program(eqn.params["jaxpr"], params), eqn.invars)
        return [cut.alias(x, cut.axes_of(x) - names) for x in outs]

    def _sum(self, cut, eqn, varying):
        """`sum_varying` or `match_varying`: a sum over those axes over which the operand varies and must not."""
        axes, target = set(eqn.params["axes"]), _NOWHERE if len(varying) == 1 else varying[1]
        summed = tuple(a for a in self.region.names if a in (axes & varying[0]) - target)
        out = eqn.invars[0]
        if summed:
            new = JaxprEqn(eqn.invars[:1], eqn.outvars, sum_varying_p, {"axes": summed}, source_info=eqn.source_info)
            (out,) = self._meet(cut, new, summed)
        return cut.alias(out, (varying[0] - set(summed)) | (axes & target))

    def _meet(self, cut, eqn, axes):
        """A Meeting along some axes; no meeting, if a collective is about values that are the same along them."""
        varying = [v & set(axes) for v in _of_variables(eqn, cut.varying_of(eqn))]
        region = self.region.along(axes)
        program, mapped = stacked_program(region, _alone(eqn), varying)
        elsewhere = frozenset().union(*cut.varying_of(eqn)) - set(axes)
        outs = [elsewhere | set(own) for own in mapped]
        if NAMED_AXIS in eqn.primitive.facts and not any(varying) and not any(mapped):
            return [cut.alias(x, own) for x, own in zip(cut.enter(program, _variables(eqn)), outs)]
        cut.varying.update(zip(eqn.outvars, outs))
        eqn = eqn.replace(invars=_variables(eqn))
        return cut.emit(Meeting(eqn, Group(self.region, axes), program, varying, mapped))

    def is_done_one_by_one(self, eqn):
        """Whether batching a branch or loop whose condition varies is a loop over the devices."""
        axis = AxisData(self.region.names[0], 1, of_devices=True)
        return each_by_itself(axis, list(jaxprs_in_params(eqn.params)))

    def varying_results(self, eqn, varying):
        """For each result of an equation the axes over which it varies, by its batching rule."""
        axes = frozenset().union(*varying)
        if not self.is_special(eqn):
            if not axes:
                return [_NOWHERE] * len(eqn.outvars)
            if len(eqn.outvars) == 1 and not any(jaxprs_in_params(eqn.params)):
                return [axes]
        region = self.region if self.is_special(eqn) else self.region.along(axes)
        return list(map(frozenset, stacked_program(region, _alone(eqn), _of_variables(eqn, varying))[1]))


def _is_portable(eqn):
    """Whether an equation has a form in ONNX's own operators."""
    try:
        planning.lower_plan(planning.Plan(_alone(eqn)), "portable")
    except LoweringError:
        return False
    return True


def _names(eqn):
    """The axes that a collective names."""
    params = eqn.params
    return set(names_of(params["axes"] if "axes" in params else params["axis_name"]))


def _variables(eqn):
    """The operands of an equation that are not written in it."""
    return [x for x in eqn.invars if type(x) is not Literal]


def _of_variables(eqn, per_operand):
    return [own for own, x in zip(per_operand, eqn.invars) if type(x) is not Literal]


def _alone(eqn):
    """The program that is this one equation, on its operands that are variables."""
    invars = [x if type(x) is Literal else Var(x.aval) for x in eqn.invars]
    outvars = [Var(v.aval) for v in eqn.outvars]
    taken = [x for x in invars if type(x) is not Literal]
    return ClosedJaxpr(Jaxpr([], taken, outvars, [eqn.replace(invars=invars, outvars=outvars)]))


class _Cut:
    """One program being cut."""

    def __init__(self, cutter, jaxpr, varying):
        self.cutter = cutter
        self.jaxpr = jaxpr
        self.steps = []
        self.pending = []  # equations of the next segment
        self.made = set()  # their results
        self.consts = {}
        self.varying = {}  # variable -> axes
        self.aliases = {}  # variable -> the atom that it is
        self.invars = [Var(v.aval) for v in jaxpr.invars]
        self.varying.update(zip(self.invars, map(frozenset, varying)))

    def block(self):
        """The Block."""
        outs = self.enter(self.jaxpr, self.invars)
        varying = [self.axes_of(x) for x in outs]
        self.flush()
        outs = list(map(self._root, outs))
        return Block(self.invars, self.consts, self._finished(outs), outs, varying)

    # ---- variables

    def axes_of(self, atom):
        """The axes over which a value varies."""
        return _NOWHERE if type(atom) is Literal else self.varying.get(atom, _NOWHERE)

    def varying_of(self, eqn):
        """For each operand the axes over which it varies."""
        return list(map(self.axes_of, eqn.invars))

    def _root(self, atom):
        while type(atom) is not Literal and atom in self.aliases:
            atom = self.aliases[atom]
        return atom

    def alias(self, atom, axes):
        """A variable for the same value that varies over other axes."""
        if axes == self.axes_of(atom):
            return atom
        new = Var(atom.aval)
        self.aliases[new] = atom
        self.varying[new] = axes
        return new

    # ---- equations

    def enter(self, jaxpr, operands):
        """Adds the equations of a program; returns what its results are."""
        jaxpr = eliminate_dead_code(jaxpr, bodies=False)
        env = dict(zip(jaxpr.invars, operands))
        for v, c in zip(jaxpr.constvars, jaxpr.consts):
            env[v] = Var(v.aval)
            self.consts[env[v]] = as_array(c)
        for eqn in jaxpr.eqns:
            invars = [x if type(x) is Literal else env[x] for x in eqn.invars]
            outvars = [Var(v.aval) for v in eqn.outvars]
            env.update(zip(eqn.outvars, self._add(eqn.replace(invars=invars, outvars=outvars))))
        return [x if type(x) is Literal else env[x] for x in jaxpr.outvars]

    def _add(self, eqn):
        """Adds an equation; returns what its results are."""
        cutter, primitive = self.cutter, eqn.primitive
        if not cutter.is_special(eqn):
            self.varying.update(zip(eqn.outvars, cutter.varying_results(eqn, self.varying_of(eqn))))
            self.pending.append(eqn.replace(invars=list(map(self._root, eqn.invars))))
            self.made.update(eqn.outvars)
            return eqn.outvars
        if primitive in _CALLS:
            return self.enter(eqn.params[_CALLS[primitive]], eqn.invars)
        if primitive in _HELD:
            self.varying.update(zip(eqn.outvars, cutter.varying_results(eqn, self.varying_of(eqn))))
            step = _HELD[primitive](self, eqn)
            return cutter.take(self, eqn) if step is None else self.emit(step)
        return cutter.take(self, eqn)

    def emit(self, step):
        """Adds a step that is not part of a segment."""
        step.operands = list(map(self._root, step.operands))
        if not self.made.isdisjoint(_read(step.operands)) or any(e.effects for e in self.pending):
            self.flush()
        self.steps.append(step)
        return step.results

    def flush(self):
        """Ends the segment."""
        if self.pending:
            effects = frozenset().union(*(e.effects for e in self.pending))
            self.steps.append(Segment(self.pending, [v for e in self.pending for v in e.outvars], effects))
        self.pending, self.made = [], set()

    # ---- the end

    def _finished(self, outs):
        """The steps whose results somebody reads; segments compiled."""
        needed, kept = set(_read(outs)), []
        for step in reversed(self.steps):
            wanted = [v for v in step.results if v in needed]
            if not wanted and not step.effects:
                continue
            if type(step) is Segment:
                self._compile(step, wanted)
            step.last = [x for x in dict.fromkeys(_read(step.operands)) if x not in needed]
            needed.update(_read(step.operands))
            kept.append(step)
        return kept[::-1]

    def _compile(self, segment, results):
        """Turns equations into what runs them."""
        made = {v for e in segment.operands for v in e.outvars}
        read = dict.fromkeys(x for e in segment.operands for x in _read(e.invars) if x not in made)
        constvars, invars = [v for v in read if v in self.consts], [v for v in read if v not in self.consts]
        inner = Jaxpr(constvars, invars, results, segment.operands, segment.effects, self.jaxpr.debug_info)
        segment.executables = self.cutter.compiled(ClosedJaxpr(inner, [self.consts[v] for v in constvars]))
        segment.operands, segment.results = invars, results


def _read(atoms):
    return [x for x in atoms if type(x) is not Literal]


# ---- branches and loops that hold what is cut out


#
# None for one that the devices go through one by one, because it has effects that only some may want: the whole of it
# is done in a meeting.


def _choice(cut, eqn):
    index, *operands = cut.varying_of(eqn)
    if index and cut.cutter.is_done_one_by_one(eqn):
        return None
    operands = [own | index for own in operands]  # as the rule of `cond` repeats what is the same
    return Choice(eqn, [cut.cutter.block(b, operands) for b in eqn.params["branches"]], index)


def _repeat(cut, eqn):
    p = eqn.params
    condition, body = settled(p["cond_jaxpr"], p["body_jaxpr"], p["cond_nconsts"], p["body_nconsts"])
    n = p["cond_nconsts"] + p["body_nconsts"]
    varying = [*cut.varying_of(eqn)[:n], *(cut.varying[v] for v in eqn.outvars)]
    condition = cut.cutter.block(condition, varying)
    if condition.varying[0] and cut.cutter.is_done_one_by_one(eqn):
        return None
    body = cut.cutter.block(body, varying)
    meets, vote = condition.meets | body.meets, None
    if meets & condition.varying[0]:
        region = cut.cutter.region
        vote = Vote(eqn, Group(region, tuple(a for a in region.names if a in meets)))
    return Repeat(eqn, condition, body, n, vote)


def _scan(cut, eqn):
    n, m = eqn.params["num_consts"], eqn.params["num_carry"]
    varying = cut.varying_of(eqn)
    varying[n : n + m] = [cut.varying[v] for v in eqn.outvars[:m]]
    return Scan(eqn, cut.cutter.block(eqn.params["jaxpr"], varying))


_HELD = {cond_p: _choice, while_p: _repeat, scan_p: _scan}


# ---- regions


def _all_devices(jaxpr, params, name, compiler_options):
    """The program of a region, from whole values to whole values."""
    region = Region.of(params)
    mesh, in_specs, out_specs = params["mesh"], params["in_specs"], params["out_specs"]
    inner = _inner_axes(jaxpr, region, set(region.names))
    region = region.along({*region.names, *(inner or ())})
    runners = _runners(mesh, region)
    settings = {r.settings: options.for_device(compiler_options, r.device) for r in runners}
    cutter = Inside(name, region, settings, compiler_options, bool(inner))
    with region.scope():
        if len(runners) == 1:
            jaxpr = whole_program(jaxpr, params)
        varying = [frozenset(a for a in region.names if a not in region.unnamed(spec)) for spec in in_specs]
        block = cutter.program(jaxpr, varying)
    placed = [NamedSharding(mesh, spec) for spec in out_specs]
    cuts = [NamedSharding(mesh, spec) for spec in in_specs]
    wholes = [region.whole(v.aval, spec) for v, spec in zip(jaxpr.outvars, out_specs)]
    return partial(_run_region, block, runners, cuts, placed, wholes)


def _inner_axes(jaxpr, region, used):
    """The axes of the regions within one over the same devices; None if some region there is of another kind."""
    found = set()
    for eqn in jaxpr.eqns:
        own = set()
        if eqn.primitive is shard_map_p:
            inner = Region.of(eqn.params)
            own = set(inner.names)
            if inner.mesh != region.mesh or inner.checked != region.checked or used & own:
                return None
        for body in jaxprs_in_params(eqn.params):
            deeper = _inner_axes(body, region, used | own)
            if deeper is None:
                return None
            found |= own | deeper
    return found


def _runners(mesh, region):
    """A Runner for each device that a region is spread over: along other axes of the mesh the first."""
    chosen = mesh.devices[tuple(slice(None) if a in region.names else 0 for a in mesh.axis_names)]
    found = []
    for place, coordinate in enumerate(itertools.product(*map(range, region.sizes))):
        device = chosen[coordinate]
        key = None if device.platform == "cpu" else device
        found.append(Runner(device, dict(zip(region.names, coordinate)), place, key))
    return found


def _run_region(block, runners, cuts, placed, wholes, values):
    """The whole results: each device runs its pieces, and what they give is put together."""
    maps = [cut.devices_indices_map(x.shape) for cut, x in zip(cuts, values)]
    programs = []
    for runner in runners:
        pieces = [x._value[indices[runner.device]] for x, indices in zip(values, maps)]
        args = [make_array(piece, x.dtype, x.weak_type) for piece, x in zip(pieces, values)]
        programs.append(block.run(args, runner))
    results = together(programs, [str(r.device) for r in runners])
    return [
        _put_together(runners, [outs[i] for outs in results], sharding, aval)
        for i, (sharding, aval) in enumerate(zip(placed, wholes))
    ]


def _put_together(runners, pieces, sharding, aval):
    """The value of which devices have these pieces; of several that have the same one, the first's counts."""
    whole = buffer_for(aval.shape, aval.dtype)
    indices = sharding.devices_indices_map(aval.shape)
    for runner, piece in zip(reversed(runners), reversed(pieces)):
        whole[indices[runner.device]] = piece._value
    return array_of(whole, aval)
