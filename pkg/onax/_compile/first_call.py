"""The first call with arguments of certain types: stages, compiles and runs the program.

`pipeline.py` is the compiler.  This module prepares a call for it: it finds the device, the donated arguments and the
shardings of the results, and caches the executable with the program.
"""

import functools
import time
from dataclasses import dataclass

from onax._compile import pipeline, placement, sessions
from onax._compile.call import call_on_arrays, log_step, log_time, run_on_refs, stage_call, takes_refs
from onax._compile.debug_nans import check_special
from onax._compile.donation import (
    delete_moved,
    moved_donations,
    read_donations,
    refuse_double_donation,
    usable_donations,
    warn_of_unused,
)
from onax._compile.jit_options import hashable
from onax._compile.lazy_import import multi_device
from onax._compile.stages import Traced
from onax._control.jit_call import bind_jit, call_params
from onax._core.hitypes import holds_hitypes
from onax._core.new_arrays import on_mesh
from onax._core.result_checks import SPECIAL
from onax._core.transfer_guards import report_moves
from onax._ground import spans
from onax._ground.config import KEY_REUSE, config, guard_state
from onax._ground.devices import current_default
from onax._native import context
from onax._native.array import ArrayImpl
from onax._native.jit_function import CacheEntry
from onax._native.tree import tree_map, tree_unflatten
from onax._transforms import key_reuse
from onax._transforms.abstract import ShapeDtypeStruct


def traced_stage(call, staged):
    """The Traced of a call."""
    return Traced(call, staged)


def run_first_call(call, programs):
    """(result, CacheEntry) of a call on values; the CacheEntry is None if the next call must come here again."""
    options, moved = call.options, []
    for i, x in enumerate(call.leaves):
        if isinstance(x, ShapeDtypeStruct):
            raise TypeError(
                f"Argument '{call.arg_names()[i]}' of shape {call.avals[i].str_short()} of type {type(x)} is not a "
                "valid JAX type."
            )
    if options.in_shardings is not None:
        given, call.leaves = call.leaves, multi_device().call_shardings.put_arguments(call)
        moved = moved_donations(call.donated_flags(), given, call.leaves)
    unite = options.device is not None and (guard_state.used or any(map(placement.has_shards, call.leaves)))
    if unite:
        call.leaves = multi_device().call_shardings.moved_to_device(call.leaves, options.device)
    staged = stage_call(call, programs)
    if config.jax_no_execution:
        raise RuntimeError(f"JAX tried to execute function jit({call.name}), but the no_execution config option is set")
    if holds_hitypes(staged.jaxpr):
        given = call.leaves, staged
        call, staged = call_on_arrays(call, staged)
        if placement.shardings_of_results(staged.jaxpr, call.leaves, (), ()) is not None:  # placed one by one
            params = call_params(given[1].jaxpr, call.name, keep_unused=options.keep_unused)
            return tree_unflatten(given[1].out_tree, bind_jit([*staged.hoisted, *given[0]], params)), None
    if takes_refs(staged.jaxpr):
        rest = staged.hoisted, call.leaves, call.name, options.keep_unused
        return run_on_refs(staged.jaxpr, staged.out_tree, *rest), None
    stated = ()
    if options.out_shardings is not None:
        stated = multi_device().call_shardings.shardings_of_leaves(options, staged.out_tree, staged.jaxpr)
    if guard_state.used:
        report_moves(call.leaves, stated)
    if placement.spans_processes(staged.jaxpr, call.leaves, stated):
        return _run_in_processes(call, staged, stated), None
    shardings = placement.shardings_of_results(staged.jaxpr, call.leaves, (), stated)
    mesh = placement.mesh_of_call(options)
    if shardings is not None or stated or mesh is not None:
        placement.check_devices_of_call(staged.jaxpr, call, stated, mesh)
    entry = _compile_call(call, staged, shardings)
    watched = context.option_word() & (SPECIAL | KEY_REUSE)
    if key_reuse.checking():
        run = functools.partial(entry.run, call.leaves)
        result = key_reuse.check_call(f"jit({call.name})", staged.jaxpr, call.leaves, run)
    else:
        with spans.span(f"jit_{call.name}"):
            result = entry.run(call.leaves)
    delete_moved(moved)
    if watched & SPECIAL:
        check_special(call, result)
    if options.out_shardings is not None:
        result = multi_device().call_shardings.put_results(result, options, shardings)
    elif shardings is not None:
        result = multi_device().sharding_propagation.place_tree(result, shardings)
    elif mesh is not None:
        return tree_map(lambda x: on_mesh(x, mesh), result), None
    stated = options.in_shardings is not None or options.out_shardings is not None
    if watched or shardings is not None or stated or unite:
        return result, None  # every call needs Python code to check or move arguments or results
    return result, entry


def _run_in_processes(call, staged, out_shardings):
    """The result of a call of which some values lie in several processes."""
    placement.committed_device(call.leaves, call.qualified_name, call.arg_names)  # raises its error
    with spans.span(f"jit_{call.name}"):
        results = multi_device().multi_process.run_program(staged.jaxpr, call.leaves, call.name, (), out_shardings)
    for leaf, donated in zip(call.leaves, call.donated_flags()):
        if donated and type(leaf) is ArrayImpl and not any(leaf is x for x in results):
            leaf.delete()
    return tree_unflatten(staged.out_tree, results)


def _compile_call(call, staged, shardings):
    """The CacheEntry of a call whose results get these shardings."""
    options, jaxpr = call.options, placement.partitioned(staged.jaxpr, call.leaves, shardings)
    if options.device is None:
        device, committed = placement.committed_device(call.leaves, call.qualified_name, call.arg_names)
    else:
        device, committed = options.device, True
    executable = executable_of(
        jaxpr, call.name, options.keep_unused, options.compiler_options, device or placement.first_device(call.leaves)
    )
    donated = ()
    if (options.donate_argnums or options.donate_argnames) and not context.option_word() & SPECIAL:  # may run twice
        flags = read_donations(call.donated_flags(), staged.jaxpr, options.keep_unused)
        donated = usable_donations(flags, call.avals, jaxpr.out_avals)
        warn_of_unused(flags, call.avals, jaxpr.out_avals)
    return CacheEntry(
        executable,
        staged.out_tree,
        device=device,
        committed=committed,
        donated=donated,
        refuse_donation=refuse_double_donation,
    )


@dataclass(slots=True, eq=False)
class _TypesText:
    """Types as text, which is written only where the message that has it is."""

    avals: list

    def __str__(self):
        return ", ".join(a.str_short() for a in self.avals)


def executable_of(jaxpr, name, keep_unused=False, compiler_options=None, device=None):
    """The compiled form of a closed jaxpr for a device, the default one if None; cached with it."""
    device = current_default() if device is None else device
    key = (
        "executable",
        keep_unused,
        context.option_word(),
        hashable(sessions.options_for_device(compiler_options, device)),
    )
    executable = jaxpr.cache.get(key)
    if executable is None:
        types = _TypesText(jaxpr.in_avals)
        log_step("onax.compile", "Compiling jit(%s) with global shapes and types (%s).", name, types)
        started = time.perf_counter()
        executable = jaxpr.cache[key] = pipeline.compile_jaxpr(jaxpr, name, keep_unused, compiler_options, device)
        log_time("compilation of jit(%s) by ONNX Runtime", name, started)
    return executable


def run_jaxpr(args, jaxpr, name, keep_unused, in_shardings, out_shardings, donated=()):
    """Compiles and runs a closed jaxpr on values, of which those donated are deleted where a result can take their
    memory."""
    results = _run_jaxpr(args, jaxpr, name, keep_unused, in_shardings, out_shardings)
    if any(donated):
        results = list(results)
        for i in usable_donations(read_donations(donated, jaxpr, keep_unused), jaxpr.in_avals, jaxpr.out_avals):
            if type(args[i]) is ArrayImpl:
                results = [x._with() if x is args[i] else x for x in results]
                args[i].delete()
    return results


def _run_jaxpr(args, jaxpr, name, keep_unused, in_shardings, out_shardings):
    device, committed = placement.committed_device(args, name, lambda: jaxpr.debug_info.arg_names)
    if placement.spans_processes(jaxpr, args, (*in_shardings, *out_shardings)):
        return multi_device().multi_process.run_program(jaxpr, args, name, in_shardings, out_shardings)
    shardings = placement.shardings_of_results(jaxpr, args, in_shardings, out_shardings)
    jaxpr = placement.partitioned(jaxpr, args, shardings)
    executable = executable_of(jaxpr, name, keep_unused, device=device or placement.first_device(args))
    with spans.span(f"jit_{name}"):
        results = executable.run(args, device, committed)
    return results if shardings is None else multi_device().sharding_propagation.place(results, shardings)
