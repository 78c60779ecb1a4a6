"""Programs over devices of several processes: each process runs those of its own devices.

Arguments and results are arrays of which this process has the shards of its devices.  Before a program runs for the
first time, the processes compare what they are about to run.
"""

import hashlib
import re

from onax._compile import placement
from onax._compile.devices import sharding_propagation
from onax._compile.devices.partition import partition_region
from onax._control.jit_call import jit_p
from onax._control.shard_map import shard_map_p
from onax._core.explicit_axes import sharded_array, spanning_array
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.lists import insert_bounded
from onax._core.programs import called_program
from onax._core.redistribution import is_spanning, redistribute
from onax._core.rewrite import eliminate_dead_code
from onax._core.sharding import Sharding
from onax._core.shards import shard_array
from onax._core.trace import as_array, typeof
from onax._ground import processes
from onax._native.array import make_array
from onax._transforms.staging import trace_to_jaxpr


def run_program(jaxpr, args, name, in_shardings=(), out_shardings=()):
    """The results of a program of which some values lie in several processes; all of these call it together."""
    args = list(map(as_array, args))
    given = tuple(None if x._shards is None else x.sharding for x in args)
    key = ("in processes", *given, *in_shardings, *out_shardings)
    prepared = jaxpr.cache.get(key)
    if prepared is None:
        stated = [s for s in (*given, *in_shardings, *out_shardings) if isinstance(s, Sharding)]
        prepared = _Prepared(jaxpr, name, sorted(_processes_in(jaxpr).union(*map(_processes_of, stated))))
    with processes.current().call(prepared.name, prepared.digest, prepared.members):
        if prepared.program is None:
            text = f"{prepared.text}\nwith arguments over {given}, results over {out_shardings}"
            processes.current().agree(text, f"jit({name})", prepared.members)
            shardings = placement.shardings_of_results(jaxpr, args, in_shardings, out_shardings)
            prepared.program = eliminate_dead_code(placement.partitioned(jaxpr, args, shardings))
            prepared.shardings = shardings or [None] * len(jaxpr.outvars)
            jaxpr.cache[key] = prepared
        outs = _run(prepared.program, args, name)
        return [x if s is None else _placed(x, s) for x, s in zip(outs, prepared.shardings)]


class _Prepared:
    """A program for arguments with certain shardings.

    Attributes:
      name, text, digest: what processes compare.
      members: the processes that run it.
      program, shardings: the partitioned program, and the shardings of its results; None until processes agree.
    """

    __slots__ = ("digest", "members", "name", "program", "shardings", "text")

    def __init__(self, jaxpr, name, members):
        types = ", ".join(v.aval.str_short() for v in jaxpr.invars[:8])
        self.name = f"jit({name})({types})"
        self.text, self.digest = _text_of(jaxpr)
        self.members = members
        self.program = self.shardings = None


def _placed(x, sharding):
    """A value with a sharding; most have it already."""
    if x._shards is not None and x.sharding.is_equivalent_to(sharding, x.ndim):
        return x
    return shard_array(x, sharding)


def _processes_of(sharding):
    return {device.process_index for device in sharding.device_set}


def _processes_in(jaxpr):
    """The processes of the meshes in a program; cached with it."""
    if "processes" not in jaxpr.cache:
        found = set()
        for eqn in jaxpr.eqns:
            if eqn.primitive is shard_map_p:
                found |= {device.process_index for device in eqn.params["mesh"].devices.flat}
            for stated in placement.stated_shardings(eqn):
                found |= _processes_of(stated)
            found = found.union(*map(_processes_in, jaxprs_in_params(eqn.params)))
        jaxpr.cache["processes"] = found
    return jaxpr.cache["processes"]


def _text_of(jaxpr):
    """(the text of a program, a digest of it), the same in all processes; cached with the program."""
    if "text" not in jaxpr.cache:
        text = re.sub(r"0x[0-9a-f]+", "0x", str(jaxpr))  # addresses of functions
        text = re.sub(r"\{('[^{}]*')\}", lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)  # sets
        jaxpr.cache["text"] = text, hashlib.sha256(text.encode()).hexdigest()[:16]
    return jaxpr.cache["text"]


def _run(jaxpr, args, name):
    """Runs the equations of a program one after the other: regions on their devices, others by `evaluate`."""
    values = dict(zip(jaxpr.invars, args))
    values.update((v, as_array(c)) for v, c in zip(jaxpr.constvars, jaxpr.consts))
    read = lambda atom: atom.array if type(atom) is Literal else values[atom]
    for eqn in jaxpr.eqns:
        operands, callee = list(map(read, eqn.invars)), called_program(eqn)
        if eqn.primitive is shard_map_p and eqn.params["mesh"].is_multi_process:
            outs = run_region(eqn.params, operands, name)
        elif callee is not None and eqn.primitive is jit_p:
            outs = _run(callee, operands, name)
        else:
            outs = eqn.primitive.bind(*operands, **eqn.params)
            outs = outs if eqn.primitive.multiple_results else [outs]
        values.update(zip(eqn.outvars, outs))
    return list(map(read, jaxpr.outvars))


def evaluate(primitive, operands, params):
    """The result of an operation on values of which some lie in several processes."""
    operands = list(map(as_array, operands))
    sharding_propagation.check_devices(primitive, operands)
    outs = run_program(_program_of(primitive, [typeof(x) for x in operands], params), operands, primitive.name)
    return outs if primitive.multiple_results else outs[0]


_programs = {}  # (primitive, types, parameters) -> program


def _program_of(primitive, avals, params):
    """The program of one operation."""
    key = (primitive, tuple(avals), tuple(params.items()))
    known = _programs.get(key) if _is_hashable(key) else None
    if known is None:
        known = trace_to_jaxpr(lambda *args: _as_list(primitive.bind(*args, **params)), avals)
        if _is_hashable(key):
            insert_bounded(_programs, key, known)
    return known


def _as_list(out):
    return out if isinstance(out, (list, tuple)) else [out]


def _is_hashable(key):
    try:
        hash(key)
    except TypeError:  # some operation has an array among its parameters
        return False
    return True


def run_region(params, values, name):
    """The results of a shard_map equation, as arrays over the devices of its mesh."""
    rest = {k: v for k, v in params.items() if k != "jaxpr"}
    body = params["jaxpr"]
    key = ("partitioned", *rest.values())
    if key not in body.cache:
        body.cache[key] = partition_region(body, rest, name, None)
    region = body.cache[key]
    shards = [_shards_in(x, sharding) for x, sharding in zip(values, region.in_shardings)]

    def shards_of(participant):
        return [make_array(own[participant.device], x.dtype, x.weak_type) for own, x in zip(shards, values)]

    results = region.run_on_shards(shards_of)
    devices = [p.device for p in region.participants]
    outs = []
    for i, (sharding, aval) in enumerate(zip(region.out_shardings, region.out_avals)):
        own = [(device, found[i]._value) for device, found in zip(devices, results)]
        if sharding.is_fully_replicated and own:
            outs.append(sharded_array(own[0][1], own, sharding, aval.dtype, aval.weak_type))
        else:
            outs.append(spanning_array(aval, own, sharding))
    return outs


def _shards_in(x, sharding):
    """The shards of a value for the devices of this process, by device."""
    if is_spanning(x):
        same = x.sharding.is_equivalent_to(sharding, x.ndim)
        return dict((x if same else redistribute(x, sharding))._shards)
    value = x._value
    return {device: value[index] for device, index in sharding.addressable_devices_indices_map(x.shape).items()}
