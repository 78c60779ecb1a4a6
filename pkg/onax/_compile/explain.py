"""onax.explain: compiles a function, runs it on its arguments, and tells where each step runs and how long it takes.

The measured program is the one that `jit` runs, but that the instructions of its tapes are timed, and that its session
writes a profile.
"""

import functools
import glob
import json
import os
import tempfile
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._compile import pipeline, placement, sessions
from onax._compile.direct import direct_program
from onax._compile.explanation import Explanation, Step
from onax._compile.first_call import executable_of
from onax._compile.jit import PjitFunction, jit
from onax._compile.lazy_import import multi_device
from onax._compile.passes.bodies import map_bodies
from onax._compile.passes.form_tapes import obstacle
from onax._compile.placement import has_separate_regions
from onax._control.fused import fused_p
from onax._core.facts import CALLS_PYTHON
from onax._core.jaxpr import ClosedJaxpr, Jaxpr
from onax._core.programs import held_programs
from onax._ground import source
from onax._ground.devices import current_default
from onax._ground.onnx_runtime import attach_runtime
from onax._ground.typing import AnyFunction
from onax._native.tape import TapeNode
from onax._native.tree import tree_flatten
from onax._tape.recording import with_recorded_tape
from onax._tape.tape_call import tape_p
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export.graph.value import Graph
from onax.export.lower import driver

SECONDS = 0.2  # spent on measuring, at least three calls
MOST_CALLS = 200


def explain(fun: AnyFunction) -> Any:
    """Returns a function of the same arguments that tells where a compiled call of `fun` spends its time.

    The returned function compiles `fun` as `jit` does, calls it several times (once if it has effects) and returns an
    Explanation: a table with a row for each step of the compiled program, which names the equations that the step
    computes, where it runs (on a tape of onax's instructions, in ONNX Runtime, or in Python), the line of the user's
    source, its share of the time, and for what is slow the reason and a way out.  JAX has no such function.

    Args:
      fun: a function, jitted or not, of arrays or pytrees of them.

    Returns:
      A function that takes the arguments of `fun` (arrays, or ShapeDtypeStructs: then nothing is measured) and returns
      an Explanation.  Measuring adds about 30 ns to each run of a step, so shares of steps that take less
      are too large; the time of the whole call is measured without that.

    Raises:
      NotImplementedError: the call runs on several devices, or on another than the CPU.

    Examples:
      >>> import onax, onax.numpy as jnp
      >>> explanation = onax.explain(lambda x: jnp.tanh(x) * 2)(jnp.ones(3))
      >>> explanation.runner
      'tape'
      >>> [step.operation for step in explanation.steps]
      ['blocks']
    """
    jitted = fun if isinstance(fun, PjitFunction) else jit(fun)

    @functools.wraps(jitted)
    @source.api_boundary
    def explained(*args, **kwargs):
        traced = jitted.trace(*args, **kwargs)
        leaves = jitted._call(args, kwargs).leaves
        return explain_program(traced._signature, leaves)

    return explained


def explain_program(signature, leaves=None):
    """The Explanation of a staged call; without leaves, or if one is a ShapeDtypeStruct, nothing is measured."""
    exchanged = _explain_partitioned(signature, leaves)
    if exchanged is not None:
        return exchanged
    computation = pipeline.optimize(signature.jaxpr, signature.fun_name, signature.options.keep_unused)
    explanation = Explanation(signature.fun_name, "nothing")
    if computation.core is None:
        return explanation
    if current_default().platform != "cpu" or has_separate_regions(computation.core):
        raise NotImplementedError("onax.explain measures programs on one device, the CPU")
    program, recordings = _record_tapes(pipeline.native_program(computation))
    direct = direct_program(program)
    explanation.runner = "session" if direct is None else "tape"
    given = leaves is not None and not any(isinstance(x, ShapeDtypeStruct) for x in leaves)
    run = _Runs(signature, computation, leaves if given else None)
    if direct is not None:
        run.measure(computation.executable(direct.runner, is_session=False), recordings)
        (recording,) = recordings
        explanation.steps = _tape_steps(recording, run, 0, 0)
    else:
        attach_runtime()
        graph = driver.lower_jaxpr(program, opset=sessions.OPSET, target="native")
        profile = _profile_session(run, graph, signature.fun_name, recordings)
        by_tape = {id(r.tape): r for r in recordings}
        explanation.steps = _node_steps(graph, _Nodes(run, profile, by_tape, _reasons(program)), 0)
    explanation.calls, explanation.seconds = run.calls, run.time_of_call()
    return explanation


def _explain_partitioned(signature, leaves):
    """The Explanation of a call whose devices run a program each: what they exchange; None for any other call."""
    if leaves is None or any(isinstance(x, ShapeDtypeStruct) for x in leaves):
        return None
    shardings = placement.shardings_of_results(signature.jaxpr, leaves)
    program = placement.partitioned(signature.jaxpr, leaves, shardings)
    if program is signature.jaxpr:
        return None
    return Explanation(signature.fun_name, "devices", steps=multi_device().communication.steps_of(program))


def _record_tapes(jaxpr):
    """(the program with recorded tapes, their Recordings)."""
    recordings = []

    def record(program):
        eqns = []
        for eqn in program.eqns:
            if eqn.primitive is tape_p:
                eqn, recording = with_recorded_tape(eqn)
                recordings.append(recording)
            else:
                eqn = map_bodies(record, eqn)
            eqns.append(eqn)
        inner = Jaxpr(program.constvars, program.invars, program.outvars, eqns, program.effects, program.debug_info)
        return ClosedJaxpr(inner, program.consts)

    return record(jaxpr), recordings


class _Runs:
    """Runs of a program: how many calls, and what its recorded tapes measured in them."""

    def __init__(self, signature, computation, leaves):
        self.signature = signature
        self.leaves = leaves
        self.has_effects = bool(computation.core.effects)
        self.calls = 0
        self.timings = {}  # id of a Recording -> [[(runs in all calls, least nanoseconds of a call)]] by part

    def measure(self, executable, recordings):
        """Calls an Executable once to warm up and then several times, unless it has effects."""
        if self.leaves is None:
            return
        self.calls = 1
        if not self.has_effects:
            started = time.perf_counter()
            executable.run(self.leaves)
            once = time.perf_counter() - started
            self.calls = int(min(max(3, SECONDS / max(once, 1e-9)), MOST_CALLS))
        before = {id(r): r.timings() for r in recordings}
        for _ in range(self.calls):
            executable.run(self.leaves)
            for r in recordings:
                after = r.timings()
                self.timings[id(r)] = _added(self.timings.get(id(r)), before[id(r)], after)
                before[id(r)] = after

    def time_of_call(self):
        """The least time of a call of the program as `jit` compiles it, in seconds; None if it was not measured."""
        if self.leaves is None or self.has_effects:
            return None
        s = self.signature
        executable = executable_of(s.jaxpr, s.fun_name, s.options.keep_unused)
        executable.run(self.leaves)
        least = np.inf
        for _ in range(self.calls):
            started = time.perf_counter()
            executable.run(self.leaves)
            least = min(least, time.perf_counter() - started)
        return least

    def of_instruction(self, recording, part, i):
        """(runs, seconds) of an instruction in one call, with what it holds; (None, None) if nothing was measured."""
        if not self.calls:
            return None, None
        runs, nanoseconds = self.timings[id(recording)][part][i]
        return runs / self.calls, nanoseconds * 1e-9


def _added(measured, before, after):
    """What was measured with one more call, which other programs on the machine may have disturbed."""
    call = [[(r - q, n - m) for (_, q, m), (_, r, n) in zip(*parts)] for parts in zip(before, after)]
    if measured is None:
        return call
    return [[(r + q, min(n, m)) for (r, n), (q, m) in zip(*parts)] for parts in zip(measured, call)]


# ---- steps of tapes


_INSIDE_PYTHON = (
    "Write it with operations that have instructions (`python -m onax.primitives NAME` lists a primitive's rules), "
    "or take it out of the loop"
)


def _tape_steps(recording, run, number, depth):
    """The Steps of a part of a tape."""
    steps = []
    for i, instruction in enumerate(recording.parts[number]):
        runs, seconds = run.of_instruction(recording, number, i)
        for part in instruction.parts:
            if seconds is not None:
                seconds -= sum(run.of_instruction(recording, part, k)[1] for k in range(len(recording.parts[part])))
        steps.append(_instruction_step(instruction, depth, runs, seconds))
        for part in instruction.parts:
            steps += _tape_steps(recording, run, part, depth + 1)
    return steps


def _instruction_step(instruction, depth, runs, seconds):
    eqn, kernel = instruction.eqn, instruction.kernel
    step = Step(
        where="tape" if kernel is None else "Python",
        operation=instruction.operation,
        equations=_equations(eqn) if eqn is not None else [],
        location=_location(eqn) or _summary(instruction.location),
        depth=depth,
        runs=runs,
        seconds=None if seconds is None else max(seconds, 0.0),
        bytes=instruction.bytes,
    )
    if kernel is not None:
        calls = CALLS_PYTHON in eqn.primitive.facts
        step.reason = "it calls Python" if calls else f"its NumPy kernel is called, because {kernel.reason}"
        step.remedy = "" if calls else _INSIDE_PYTHON
    return step


def _equations(eqn):
    """(primitive, source location) of what an equation stands for."""
    inner = eqn.params["jaxpr"].eqns if eqn.primitive is fused_p else [eqn]
    return [(e.primitive.name, _location(e)) for e in inner]


def _location(eqn):
    if eqn is not None and eqn.primitive is fused_p:
        eqn = next((e for e in eqn.params["jaxpr"].eqns if e.source_info), eqn)
    return _summary(eqn and eqn.source_info)


def _summary(location):
    return source.summarize(location) if location else ""


# ---- steps of sessions


def _profile_session(run, graph, name, recordings):
    """{name of a node: (operator, [microseconds of each run])} of the measured calls; empty if nothing is measured."""
    if run.leaves is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        _run_session(run, graph, name, recordings, os.path.join(folder, "profile"))
        (path,) = glob.glob(os.path.join(folder, "profile*"))
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
    events = sorted((e for e in events if e.get("cat") == "Node"), key=lambda e: e["ts"])
    profile = {}
    for event in events:
        node, kind, _ = event["name"].rpartition("_kernel_time")
        if kind:
            profile.setdefault(node.split("/")[0], (event["args"]["op_name"], []))[1].append(event["dur"])
    warm = run.calls if run.has_effects else run.calls + 1  # the first call is not counted
    return {
        node: (op, durations[len(durations) // warm * (warm - run.calls) :])
        for node, (op, durations) in profile.items()
    }


def _run_session(run, graph, name, recordings, path):
    """Runs a graph in a session of its own; the profile is written when the session is deleted, at the end of this."""
    session, explain_error = sessions.open_session(graph, name, {"profile": path})
    computation = pipeline.optimize(run.signature.jaxpr, name, run.signature.options.keep_unused)
    run.measure(computation.executable(session, explain_error), recordings)


@dataclass(slots=True)
class _Nodes:
    """What is known about the nodes of a graph.

    Attributes:
      run: the _Runs.
      profile: name of a node -> (operator, microseconds of each run).
      recordings: id of a Tape -> its Recording.
      reasons: id of a source location -> why the loop there is not a tape.
    """

    run: object
    profile: dict
    recordings: dict
    reasons: dict

    def time(self, node):
        """(runs, seconds) of a node in one call, with what it holds; (None, None) if nothing was measured."""
        if not self.run.calls:
            return None, None
        _, durations = self.profile.get(node.name, ("", []))
        runs = len(durations) // self.run.calls
        calls = [sum(durations[i * runs : (i + 1) * runs]) for i in range(self.run.calls)]
        return len(durations) / self.run.calls, min(calls) * 1e-6


def _node_steps(graph, nodes, depth):
    """The Steps of a graph; nodes that the runtime removed are left out."""
    steps = []
    for node in graph.nodes:
        runs, seconds = nodes.time(node)
        if runs == 0:
            continue
        bodies = [x for x in node.attributes.values() if type(x) is Graph]
        inside = [step for body in bodies for step in _node_steps(body, nodes, depth + 1)]
        inside += _steps_of_tape_node(node, nodes, depth + 1)
        if seconds is not None:
            seconds = max(seconds - sum([s.seconds or 0 for s in inside]), 0.0)
        steps += [_node_step(node, nodes, depth, runs, seconds, bool(bodies)), *inside]
    return steps


def _steps_of_tape_node(node, nodes, depth):
    kernel = node.attributes["kernel"].kernel if node.domain == "onax" else None
    return _tape_steps(nodes.recordings[id(kernel.tape)], nodes.run, 0, depth) if type(kernel) is TapeNode else []


def _node_step(node, nodes, depth, runs, seconds, holds_graphs):
    kernel = node.attributes["kernel"].kernel if node.domain == "onax" else None
    name = node.name.rpartition("_")[0]
    step = Step(
        where="runtime",
        operation=node.op_type,
        equations=[(name, _summary(node.location))] if kernel is None else [],
        location=_summary(node.location),
        depth=depth,
        runs=runs,
        seconds=seconds,
        bytes=sum([v.aval.size * v.dtype.itemsize for v in (*node.inputs, *node.outputs) if v is not None]),
    )
    if type(kernel) is TapeNode:
        step.operation = "Tape"
    elif kernel is not None:
        step.operation = kernel.name
        step.where = "native" if kernel.function is None else "Python"
        if kernel.function is not None:
            step.reason = "ONNX Runtime calls its NumPy kernel or your Python function"
            step.remedy = "Each call takes Python's lock and copies: keep it out of loops"
    elif holds_graphs:
        step.reason = nodes.reasons.get(id(node.location), "")
        step.remedy = "Each node of its body costs the runtime one to three microseconds a step" if step.reason else ""
    return step


def _reasons(jaxpr):
    """{id of a source location: why the branch or loop there is not a tape}."""
    reasons = {}
    for eqn in jaxpr.eqns:
        why = obstacle(eqn) if held_programs(eqn) and eqn.primitive is not tape_p else None
        if why is not None:
            reasons[id(eqn.source_info)] = why
            for held in held_programs(eqn):
                reasons.update(_reasons(held.program))
    return reasons


def explain_compiled(signature, args, kwargs):
    """The Explanation of a Compiled for arguments; not measured if there are none although it takes some."""
    leaves, tree = tree_flatten((args, kwargs))
    return explain_program(signature, leaves if tree == signature.in_tree else None)
