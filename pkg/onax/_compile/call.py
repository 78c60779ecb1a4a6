"""A call of a jitted function: its arguments, flattened once, with their types; and its program, staged once."""

import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass

from onax._compile import cache_misses
from onax._compile.placement import mesh_of_other_devices
from onax._control.jit_call import bind_jit, call_params
from onax._core.axes import axes_key, mesh_of_arguments
from onax._core.hitypes import type_of_value
from onax._core.lists import insert_bounded
from onax._core.meshes import pjit_scope, with_mesh_in_context
from onax._core.paths import skeleton
from onax._core.refs import AbstractRef, check_distinct
from onax._core.trace import Tracer, eval_trace, find_cur_trace, typeof
from onax._ground import logs, monitoring
from onax._ground.config import config
from onax._native import context
from onax._native.jit_function import check_hashable, find_program
from onax._native.tree import register_pytree_node, tree_flatten, tree_structure, tree_unflatten
from onax._transforms.abstract import argument_avals, bind_static, stage_flat
from onax._transforms.flatten import LazyDebugInfo, argument_names, fun_name, fun_signature
from onax._transforms.lower_hitypes import flat, lower_program, lower_values
from onax._transforms.staging import hoist_tracers

_NO_STATICS = (), (), ()


@dataclass(slots=True, eq=False)
class Call:
    """One call and its flat arguments; all steps of a first call share it.

    Attributes:
      fun, options: the function and its JitOptions.
      leaves: the dynamic arguments, flat; `in_tree` is their structure, that of (args, kwargs) without static ones.
      statics: (types, positions and names, values) of the static arguments, or None.
      num_args: how many positional arguments there are, static ones included.
      avals: the types of the leaves.
    """

    fun: object
    options: object
    leaves: list
    in_tree: object
    statics: tuple | None
    num_args: int
    avals: list

    @classmethod
    def of(cls, jitted, leaves, in_tree, statics, num_args):
        """The Call of some arguments.  Raises TypeError or OverflowError for a leaf that is not an array."""
        options = jitted._options
        if options.uses_with_mesh or options.device is not None:
            options = options.in_context(in_tree)
        call = cls(jitted.fun, options, leaves, in_tree, statics, num_args, [])
        call.avals = argument_avals(call.fun, leaves, call.arg_names)
        return call

    @property
    def name(self):
        """The function's name."""
        return fun_name(self.fun)

    @property
    def qualified_name(self):
        """The function's name with those of the functions in which it is defined."""
        return getattr(self.fun, "__qualname__", None) or self.name

    @property
    def dynamic_positions(self):
        """The positions of the positional arguments that are not static."""
        static = _NO_STATICS if self.statics is None else self.statics
        return [i for i in range(self.num_args) if i not in static[1]]

    def arg_names(self):
        """A path for each leaf, for messages."""
        return _name_finder(self)()

    def dynamic_arguments(self):
        """(positional arguments without the static ones, keyword arguments without them)."""
        return self.in_tree.unflatten(self.leaves)

    def run_eagerly(self, leaves):
        """Runs the function without `jit` on other leaves of the same structure."""
        args, kwargs = self.in_tree.unflatten(leaves)
        return self._function()(*args, **kwargs)

    def _function(self):
        """The function of the dynamic arguments."""
        if self.statics is None:
            return self.fun
        fixed = dict(zip(self.statics[1], self.statics[2]))
        by_name = {name: value for name, value in fixed.items() if isinstance(name, str)}
        by_position = {i: value for i, value in fixed.items() if not isinstance(i, str)}
        return bind_static(self.fun, self.num_args, by_position, by_name)

    def donated_flags(self):
        """For each leaf whether its argument was donated."""
        n, options = self.num_args, self.options
        donated = {i % n for i in options.donate_argnums if -n <= i < n}
        args, kwargs = self.in_tree.children()
        flags = []
        for i, tree in zip(self.dynamic_positions, args.children()):
            flags += [i in donated] * tree.num_leaves
        for name, tree in zip(kwargs.node_data()[1], kwargs.children()):
            flags += [name in options.donate_argnames] * tree.num_leaves
        return flags


def _name_finder(call):
    """A function that computes the paths of a call's leaves; it holds neither the arguments nor the function."""
    signature, in_tree = fun_signature(call.fun), call.in_tree
    num_args, positions = call.num_args, call.dynamic_positions
    fixed = () if call.statics is None else [name for name in call.statics[1] if isinstance(name, str)]

    def find_names():
        dynamic, kwargs = skeleton(in_tree)
        kwargs = {**kwargs, **dict.fromkeys(fixed)}  # without them the call would not fit the signature
        args = [None] * num_args
        for i, tree in zip(positions, dynamic):
            args[i] = tree
        return argument_names(signature, args, kwargs, set(range(num_args)) - set(positions), fixed)

    return find_names


@dataclass(slots=True, eq=False)
class Staged:
    """The program of a call; `hoisted` are tracers of enclosing traces and references, its first arguments.

    In `closed` these are constants.
    """

    closed: object
    jaxpr: object
    out_tree: object
    hoisted: list


@dataclass(slots=True, eq=False)
class ArraysOf:
    """Stands in a tree for a value that is no array, by its arrays; unflattened, it is that value."""

    aval: object
    arrays: list


register_pytree_node(ArraysOf, lambda value: (value.arrays, value.aval), lambda aval, arrays: aval.raise_val(*arrays))


def flatten_values(leaves, tree):
    """(leaves, tree) in which arrays stand for values that are not arrays."""
    hitypes = list(map(type_of_value, leaves))
    if all(a is None for a in hitypes):
        return leaves, tree
    nodes = [x if a is None else ArraysOf(a, lower_values([x])[0]) for a, x in zip(hitypes, leaves)]
    return tree_flatten(tree_unflatten(tree, nodes))


def call_on_arrays(call, staged):
    """The call and its program in which arrays stand for values that are not arrays."""
    leaves, in_tree = flatten_values(call.leaves, call.in_tree)
    lowered = Call(call.fun, call.options, leaves, in_tree, call.statics, call.num_args, [])
    lo_avals = [list(map(typeof, lower_values([x])[0])) if a.is_high else [a] for a, x in zip(call.avals, call.leaves)]
    lowered.avals = flat(lo_avals)
    jaxpr = lower_program(staged.jaxpr, [*([typeof(x)] for x in staged.hoisted), *lo_avals])
    nodes = [ArraysOf(a, [0] * len(a.lo_ty())) if a.is_high else 0 for a in staged.jaxpr.out_avals]
    out_tree = tree_structure(tree_unflatten(staged.out_tree, nodes))
    return lowered, Staged(staged.closed, jaxpr, out_tree, staged.hoisted)


def stage_call(call, programs):
    """The Staged form of a call; `_stage_call` over the mesh over which arguments lie."""
    mesh = mesh_of_other_devices(call.leaves)
    if mesh is None:
        return _stage_call(call, programs)
    with mesh_of_arguments(mesh):
        return _stage_call(call, programs)


def _stage_call(call, programs):
    """The Staged form of a call; cached in `programs`, a dictionary of the function.

    That of a function which closes over tracers is kept by the current trace.
    """
    if call.statics is not None:
        check_hashable(call.statics[2])
    key = (call.in_tree, tuple(call.avals), call.statics, context.option_word(), axes_key())
    known = find_program(programs, key, 2)
    if known is not None:
        return known
    trace = find_cur_trace()
    if (id(programs), key) in trace.calls:
        return trace.calls[id(programs), key][1]
    if config.jax_no_tracing:
        raise RuntimeError(f"re-tracing function {call.fun} for `jit`, but 'no_tracing' is set")
    if config.jax_explain_cache_misses:
        text = cache_misses.explain(call.fun, key, programs, call.arg_names, lambda i: _static_name(call.fun, i))
        logs.logger("onax").warning("%s", text)
    started = time.perf_counter()
    with monitoring.timed(monitoring.TRACE, call.name):
        info = LazyDebugInfo("jit", call.fun, _name_finder(call))
        with pjit_scope() if call.options.uses_with_mesh and with_mesh_in_context() else nullcontext():
            closed, out_tree = stage_flat(call._function(), call.in_tree, call.avals, info)
    log_time("tracing %s for jit", call.name, started)
    jaxpr, hoisted = hoist_tracers(closed)
    staged = Staged(closed, jaxpr, out_tree, hoisted)
    if config.jax_check_tracer_leaks:
        return staged
    if any(isinstance(x, Tracer) for x in hoisted):
        if trace is not eval_trace:
            trace.calls[id(programs), key] = programs, staged
        return staged
    return insert_bounded(programs, key, staged)


def takes_refs(jaxpr):
    """Whether a program has references to mutable arrays among its arguments, or closes over some."""
    return any(type(v.aval) is AbstractRef for v in jaxpr.invars)


def run_on_refs(jaxpr, out_tree, hoisted, leaves, name, keep_unused):
    """The result of a call with references, which the program changes."""
    check_distinct(jaxpr.debug_info, leaves, hoisted)
    params = call_params(jaxpr, name, keep_unused=keep_unused)
    return tree_unflatten(out_tree, bind_jit([*hoisted, *leaves], params))


def _static_name(fun, argument):
    """The name of a static argument, given by its name or position."""
    signature = fun_signature(fun)
    names = [] if signature is None else list(signature.parameters)
    return names[argument] if isinstance(argument, int) and argument < len(names) else argument


def log_time(what, name, started):
    """Logs the time since `started`."""
    log_step("onax.dispatch", f"Finished {what} in %.9f sec", name, time.perf_counter() - started)


def log_step(logger, text, *args):
    """Logs a step of a compilation: as a warning if `jax_log_compiles` is on, else for debugging.

    Where nobody has imported `logging`, nobody waits for messages.
    """
    if config.jax_log_compiles:
        logs.logger(logger).warning(text, *args)
    elif "logging" in sys.modules:
        logs.logger(logger).debug(text, *args)
