"""jit: what happens when a call pattern is new, when a call is traced, and when a staged program is evaluated.

The pattern that was seen before never comes here: `_native.jit_function` runs it.
"""

import functools
import time
import warnings

from onax._compile import by_device, misses, placing
from onax._compile import plan as planning
from onax._compile.cache import cache_for, remember
from onax._compile.deoptimized import check_special
from onax._compile.options import for_device
from onax._compile.stages import Traced
from onax._control.jit_call import bind_jit, call_params, jit_p
from onax._core.axes import named_axes
from onax._core.result_checks import SPECIAL
from onax._core.trace import Tracer, escaped_tracer_error
from onax._ground import monitoring, source, spans
from onax._ground.config import KEY_REUSE, config
from onax._ground.devices import Device, current_default, get_backend
from onax._ground.lazy import LazyModule
from onax._native import context
from onax._native.array import ArrayImpl
from onax._native.jit_function import CacheEntry, JitFunction, check_hashable
from onax._native.tree import tree_flatten, tree_leaves, tree_unflatten
from onax._transforms import key_reuse
from onax._transforms.abstract import ShapeDtypeStruct, argument_avals, stage
from onax._transforms.flatten import check_callable, debug_info, fun_name, fun_signature, normalize_argnums
from onax._transforms.staging import hoist_tracers

logging = LazyModule("logging")


class Options:
    """What jit was told, normalised; hashable, so that equal options share their programs."""

    __slots__ = (
        "backend", "compiler_options", "device", "donate_argnames", "donate_argnums", "in_shardings", "inline",
        "keep_unused", "key", "out_shardings", "static_argnames", "static_argnums",
    )  # fmt: skip

    def __init__(self, fun, given):
        self.static_argnums, self.static_argnames = normalize_argnums(
            fun, given["static_argnums"], given["static_argnames"]
        )
        self.donate_argnums, self.donate_argnames = normalize_argnums(
            fun, given["donate_argnums"], given["donate_argnames"]
        )
        _check_arguments(fun, self, given)
        self.keep_unused = bool(given["keep_unused"])
        self.inline = bool(given["inline"])
        self.device = _device(given["device"], given["backend"])
        self.in_shardings = given["in_shardings"]
        self.out_shardings = given["out_shardings"]
        self.compiler_options = given["compiler_options"]
        self.key = (
            self.static_argnums, self.static_argnames, self.donate_argnums, self.donate_argnames, self.keep_unused,
            self.inline, self.device, _frozen(self.in_shardings), _frozen(self.out_shardings),
            _frozen(self.compiler_options),
        )  # fmt: skip


def _frozen(value):
    """A hashable stand-in for shardings and compiler options; anything else is told apart by identity."""
    if value is None:
        return None
    leaves, tree = tree_flatten(value)
    try:
        hash(tuple(leaves))
    except TypeError:
        return tree, tuple(map(id, leaves))
    return tree, tuple(leaves)


def _device(device, backend):
    if device is not None and backend is not None:
        raise ValueError(f"can't specify both a device and a backend for jit, got {device=} and {backend=}")
    if backend is not None:
        return get_backend(backend).devices()[0]
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"jit: device must be a Device, got {device!r}")
    return device


def _check_arguments(fun, options, given):
    """Static and donated arguments must exist, and be disjoint."""
    signature = fun_signature(fun)
    if signature is not None:
        for kind in ("static", "donate"):
            _check_positions(signature, kind, getattr(options, f"{kind}_argnums"), given[f"{kind}_argnums"])
            _check_names(signature, kind, getattr(options, f"{kind}_argnames"))
    both = set(options.static_argnames) & set(options.donate_argnames)
    if both:
        raise ValueError(
            "static_argnames and donate_argnames cannot intersect. Argument names "
            f"{both} appear in both static_argnames and donate_argnames"
        )
    both = set(options.static_argnums) & set(options.donate_argnums)
    if both:
        raise ValueError(
            "static_argnums and donate_argnums cannot intersect. Argument positions "
            f"{both} appear in both static_argnums and donate_argnums"
        )


def _check_positions(signature, kind, argnums, given):
    parameters = list(signature.parameters.values())
    if given is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return
    count = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    if any(not -count <= n < count for n in argnums):
        raise ValueError(
            f"Jitted function has {kind}_argnums={tuple(argnums)}, but only accepts {count} positional arguments."
        )


def _check_names(signature, kind, argnames):
    parameters = signature.parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    unknown = set(argnames) - {p.name for p in parameters if p.kind is not p.VAR_POSITIONAL}
    if unknown:
        raise ValueError(
            f"Jitted function has invalid argnames {unknown} in {kind}_argnames. Function does not take these args."
        )


class Staged:
    """One call staged: the jaxpr and the trees; `hoisted` are tracers of enclosing traces that it takes first."""

    __slots__ = ("avals", "hoisted", "in_tree", "jaxpr", "leaves", "out_tree")

    def __init__(self, jaxpr, out_tree, in_tree, leaves, avals, hoisted):
        self.jaxpr = jaxpr
        self.out_tree = out_tree
        self.in_tree = in_tree
        self.leaves = leaves
        self.avals = avals
        self.hoisted = hoisted


class PjitFunction(JitFunction):
    """A function as `jit` returns it."""

    def __init__(self, fun, options):
        super().__init__(fun, cache_for(fun, options.key), options.static_argnums, options.static_argnames)
        self._options = options
        functools.update_wrapper(self, fun)

    def __repr__(self):
        return f"<PjitFunction of {self.fun!r}>"

    def __reduce__(self):
        o = self._options
        return _rebuild, (self.fun, {name: getattr(o, name) for name in _JIT_DEFAULTS if name != "backend"})

    @source.api_boundary
    def lower(self, *args, **kwargs):
        """The program for arguments of these types (values or ShapeDtypeStructs), as ONNX: a Lowered."""
        return self.trace(*args, **kwargs).lower()

    @source.api_boundary
    def trace(self, *args, **kwargs):
        """The program for arguments of these types (values or ShapeDtypeStructs), as a jaxpr: a Traced."""
        staged = _stage(self, args, kwargs)
        return Traced(self, staged, fun_name(self.fun), donated_leaves(self, args, kwargs))

    @source.api_boundary
    def eval_shape(self, *args, **kwargs):
        """A tree of ShapeDtypeStruct: the types of the results."""
        staged = _stage(self, args, kwargs)
        structs = [ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in staged.jaxpr.out_avals]
        return tree_unflatten(staged.out_tree, structs)

    def _traced(self, args, kwargs):
        if config.jax_disable_jit:
            return self.fun(*args, **kwargs)
        staged = _stage(self, args, kwargs)
        options = self._options
        params = call_params(staged.jaxpr, fun_name(self.fun), inline=options.inline, keep_unused=options.keep_unused)
        if options.donate_argnums or options.donate_argnames:
            donated = donated_leaves(self, args, kwargs)
            params["donated_invars"] = (False,) * len(staged.hoisted) + tuple(donated)
        if options.in_shardings is not None or options.out_shardings is not None:
            dynamic = () if options.in_shardings is None else placing.dynamic_arguments(self, args, kwargs)
            params.update(placing.stated(options, dynamic, staged))
        return tree_unflatten(staged.out_tree, bind_jit([*staged.hoisted, *staged.leaves], params))

    def _miss(self, args, kwargs):
        if config.jax_disable_jit:
            return self.fun(*args, **kwargs), None
        if spans.recording():
            with spans.span(f"PjitFunction({fun_name(self.fun)})"):
                return self._compile_and_run(args, kwargs)[0], None
        return self._compile_and_run(args, kwargs)

    def _compile_and_run(self, args, kwargs):
        """(result, CacheEntry: None where the next call must come here again)."""
        for leaf in tree_leaves((args, kwargs)):
            if isinstance(leaf, Tracer):
                raise escaped_tracer_error(leaf)
        options = self._options
        if options.in_shardings is not None:
            args = placing.put_arguments(self, args, kwargs, options.in_shardings)
        entry, staged = compile_call(self, args, kwargs)
        places = placing.places_of_results(staged.jaxpr, staged.leaves)
        watched = context.option_word() & (SPECIAL | KEY_REUSE)
        if key_reuse.checking():
            run = functools.partial(entry.run, staged.leaves)
            result = key_reuse.check_call(f"jit({fun_name(self.fun)})", staged.jaxpr, staged.leaves, run)
        else:
            with spans.span(f"jit_{fun_name(self.fun)}"):
                result = entry.run(staged.leaves)
        if watched & SPECIAL:
            check_special(self, args, kwargs, result)
        if options.out_shardings is not None:
            result, places = placing.put_results(result, options.out_shardings, places), ()
        elif places is not None:
            result = placing.place_tree(result, places)
        if watched or places is not None or options.in_shardings is not None:
            return result, None  # arguments and results are looked at, or moved: no call without Python
        return result, entry


def _rebuild(fun, options):
    return jit(fun, **options)


def _stage(jitted, args, kwargs):
    """The Staged form of a call; kept with the function unless it closes over tracers."""
    dynamic, rest, statics = jitted.split(args, kwargs)
    if statics is not None:
        check_hashable(statics[2])
    leaves, in_tree = tree_flatten((dynamic, rest))
    fun = jitted.fun
    argnums, argnames = jitted.static_arguments

    def names():
        return debug_info("jit", fun, args, kwargs, argnums, argnames).arg_names

    avals = argument_avals(fun, leaves, names)
    key = (in_tree, tuple(avals), statics, context.option_word(), named_axes())
    known = jitted.cache.traced.get(key)
    if known is None:
        if config.jax_no_tracing:
            raise RuntimeError(
                f"re-tracing function {source.function_location(fun)} for `jit`, but 'no_tracing' is set"
            )
        if config.jax_explain_cache_misses:
            text = misses.explain(fun, key, jitted.cache.traced, names, lambda place: _static_name(fun, place))
            logging.getLogger("onax").warning("%s", text)
        started = time.perf_counter()
        with monitoring.timed(monitoring.TRACE, fun_name(fun)):
            jaxpr, out_tree, _ = stage(fun, args, kwargs, argnums, argnames)
        _log_time("tracing %s for jit", fun_name(fun), started)
        jaxpr, hoisted = hoist_tracers(jaxpr)
        if hoisted or config.jax_check_tracer_leaks:
            return Staged(jaxpr, out_tree, in_tree, leaves, avals, hoisted)
        known = remember(jitted.cache.traced, key, (jaxpr, out_tree))
    return Staged(*known, in_tree, leaves, avals, [])


def _static_name(fun, place):
    """The name of a static argument, given by its name or position."""
    signature = fun_signature(fun)
    names = [] if signature is None else list(signature.parameters)
    return names[place] if isinstance(place, int) and place < len(names) else place


def _log_time(what, name, started):
    if config.jax_log_compiles:
        seconds = time.perf_counter() - started
        logging.getLogger("onax").warning(f"Finished {what} in %.9f sec", name, seconds)


def donated_leaves(jitted, args, kwargs):
    """For each dynamic leaf whether its argument was given to the call for good."""
    options = jitted._options
    argnums, argnames = jitted.static_arguments
    static = {n % len(args) for n in argnums if -len(args) <= n < len(args)}
    given = {n % len(args) for n in options.donate_argnums if -len(args) <= n < len(args)}
    flags = []
    for i, arg in enumerate(args):
        if i not in static:
            flags += [i in given] * len(tree_leaves(arg))
    for name in sorted(kwargs):
        if name not in argnames:
            flags += [name in options.donate_argnames] * len(tree_leaves(kwargs[name]))
    return flags


def usable_donations(donated, in_avals, out_avals):
    """Positions of donated arguments whose memory a result could take: one of equal shape and dtype for each."""
    wanted = [(a.shape, a.dtype) for a in out_avals]
    used = []
    for i, (flag, aval) in enumerate(zip(donated, in_avals)):
        if flag and (aval.shape, aval.dtype) in wanted:
            wanted.remove((aval.shape, aval.dtype))
            used.append(i)
    return used


def compile_call(jitted, args, kwargs):
    """(CacheEntry, Staged) for a call on values."""
    staged = _stage(jitted, args, kwargs)
    options = jitted._options
    name = fun_name(jitted.fun)
    device, committed = placement(
        staged.leaves, name, lambda: debug_info("jit", jitted.fun, args, kwargs, *jitted.static_arguments).arg_names
    )
    if options.device is not None:
        device, committed = options.device, True
    where = device or placing.first_device_of(staged.leaves)
    executable = executable_of(staged.jaxpr, name, options.keep_unused, options.compiler_options, where)
    donated = ()
    if (options.donate_argnums or options.donate_argnames) and not context.option_word() & SPECIAL:  # may run twice
        flags = donated_leaves(jitted, args, kwargs)
        donated = usable_donations(flags, staged.avals, staged.jaxpr.out_avals)
        unused = [a.str_short() for i, (a, flag) in enumerate(zip(staged.avals, flags)) if flag and i not in donated]
        if unused:
            warnings.warn(f"Some donated buffers were not usable: {', '.join(unused)}.", stacklevel=source.stacklevel())
    entry = CacheEntry(executable, staged.out_tree, device=device, committed=committed, donated=donated)
    return entry, staged


def executable_of(jaxpr, name, keep_unused=False, compiler_options=None, device=None):
    """The compiled form of a closed jaxpr for a device, the default one if None; kept with it."""
    device = current_default() if device is None else device
    key = ("executable", keep_unused, context.option_word(), _frozen(for_device(compiler_options, device)))
    found = jaxpr.cache.get(key)
    if found is None:
        if config.jax_log_compiles:
            shapes = ", ".join(a.str_short() for a in jaxpr.in_avals)
            logging.getLogger("onax").warning("Compiling jit(%s) with global shapes and types (%s).", name, shapes)
        plan = planning.Plan(jaxpr, keep_unused)
        started = time.perf_counter()
        found = jaxpr.cache[key] = by_device.compile_program(plan, name, compiler_options, device=device)
        _log_time("compilation of jit(%s) by ONNX Runtime", name, started)
    return found


def placement(leaves, name, paths):
    """(device, committed) of a program's results: where its committed arguments are.

    Raises ValueError if these are in different places; `paths()` gives the arguments' names.
    """
    first = None
    for i, leaf in enumerate(leaves):
        if type(leaf) is not ArrayImpl:
            if isinstance(leaf, Tracer):
                raise escaped_tracer_error(leaf)
        elif leaf._committed:
            if first is None:
                first = i
            elif leaf.device != leaves[first].device and leaf.devices() != leaves[first].devices():
                raise _incompatible(leaves, first, i, name, paths())
    if first is None or leaves[first]._shards is not None:  # those of several devices are placed afterwards
        return None, False
    return leaves[first].device, True


def _incompatible(leaves, first, second, name, paths):
    texts = []
    for i in (first, second):
        leaf = leaves[i]
        path = paths[i] if i < len(paths) else f"args[{i}]"
        devices = sorted(leaf.devices(), key=lambda d: d.id)
        texts.append(
            f"argument {path} of {name} with shape {leaf.aval.str_short()} and with device ids "
            f"{[d.id for d in devices]} on platform {devices[0].platform.upper()}"
        )
    return ValueError(f"Received incompatible devices for jitted computation. Got {texts[0]} and {texts[1]}")


def _evaluate_jit(*args, jaxpr, name, keep_unused=False, in_shardings=(), out_shardings=(), **_):
    """`jit_p` on values: the compiled program."""
    if config.jax_disable_jit:
        return planning.evaluate(jaxpr, args)
    device, committed = placement(args, name, lambda: jaxpr.debug_info.arg_names)
    places = placing.places_of_results(jaxpr, args, in_shardings, out_shardings)
    where = device or placing.first_device_of(args)
    executable = executable_of(jaxpr, name, keep_unused, device=where)
    with spans.span(f"jit_{name}"):
        results = executable.run(args, device, committed)
    return results if places is None else placing.place(results, places)


def _inline(params):
    """Inside a program that is carried out operation by operation, a call is entered."""
    return params["jaxpr"]


jit_p.impl = _evaluate_jit
jit_p.inline = _inline

_JIT_DEFAULTS = {
    "in_shardings": None,
    "out_shardings": None,
    "static_argnums": None,
    "static_argnames": None,
    "donate_argnums": None,
    "donate_argnames": None,
    "keep_unused": False,
    "device": None,
    "backend": None,
    "inline": False,
    "compiler_options": None,
}


_DECORATOR = object()  # no function given; None would be a wrong one


def jit(
    fun=_DECORATOR,
    /,
    *,
    in_shardings=None,
    out_shardings=None,
    static_argnums=None,
    static_argnames=None,
    donate_argnums=None,
    donate_argnames=None,
    keep_unused=False,
    device=None,
    backend=None,
    inline=False,
    compiler_options=None,
):
    """A function that compiles `fun` for each pattern of arguments and runs the compiled program.

    `fun` must be pure and take and return trees of arrays; it runs once for each combination of tree structure,
    shapes, dtypes and static values.  Static arguments (by position or name) must be hashable and are Python values
    while it runs.  Without `fun` the result is a decorator.  Donated arguments are deleted when a result can take
    their place.  Raises TypeError for what is no function, ValueError for arguments it does not have.
    """
    given = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "keep_unused": keep_unused,
        "device": device,
        "backend": backend,
        "inline": inline,
        "compiler_options": compiler_options,
    }
    if fun is _DECORATOR:
        return functools.partial(jit, **given)
    check_callable(fun)
    if device is not None or backend is not None:
        warnings.warn(
            "the device and backend arguments of jit are deprecated; device_put the arguments instead.",
            DeprecationWarning,
            stacklevel=2,
        )
    return PjitFunction(fun, Options(fun, given))
