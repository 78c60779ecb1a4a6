"""The `jit` primitive (a call of a staged function) with its rules, and `staged` for functions of the library.

`jit_p.impl`, which runs a staged function, is set by `onax._compile.jit`.
"""

import functools
from collections.abc import Callable

from onax._core.api_functions import check_hashable, compiled_code
from onax._core.evaluate import bind_with_refs, inline_call
from onax._core.jaxpr import Literal
from onax._core.lists import merge_lists, partition_list, reject, select
from onax._core.programs import Call, programs
from onax._core.rewrite import LIBRARY_CALL, close, dce_call
from onax._core.sharding import insert_spec_entry
from onax._core.trace import Tracer, find_cur_trace, typeof
from onax._core.zeros import Zero, drop_zeros, insert_zeros, is_undefined_primal, nonzero_flags
from onax._ground.typing import Function
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.library_function import LibraryFunction
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms.batching import batch_jaxpr
from onax._transforms.discharge import discharge_call
from onax._transforms.flatten import FlatFunction, debug_info, normalize_argnums
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.lower_hitypes import flat, lower_call, raise_values, to_lo
from onax._transforms.partial_eval import partial_eval_call_custom, partial_eval_custom_rules, partial_eval_jaxpr
from onax._transforms.staging import trace_shared
from onax._transforms.transpose import transpose_jaxpr

# Parameters other than `jaxpr` and `name`, with the values that do not print.
DEFAULTS = {
    "donated_invars": (),
    "in_shardings": (),
    "inline": False,
    "keep_unused": False,
    "out_shardings": (),
}


def call_params(jaxpr, name, **changes):
    """The parameters of a `jit` equation."""
    return {**DEFAULTS, "jaxpr": jaxpr, "name": name, **changes}


def _abstract_eval(*avals, jaxpr, **_):
    return list(jaxpr.out_avals)


def _derive_params(params, jaxpr, arguments, results):
    """The parameters of a call of a derived program; `arguments` and `results` are shardings or None."""
    stated = lambda given: tuple(given) if any(s is not None for s in given) else ()
    shardings = {"in_shardings": stated(arguments), "out_shardings": stated(results)}
    return {**params, **shardings, "jaxpr": jaxpr, "donated_invars": ()}


def _shardings(params, jaxpr):
    """(shardings of the arguments, shardings of the results) of a call; None for each that it does not state."""
    arguments, results = (None,) * len(jaxpr.invars), (None,) * len(jaxpr.outvars)
    return params["in_shardings"] or arguments, params["out_shardings"] or results


def _jvp(primals, tangents, *, jaxpr, **params):
    nonzeros = nonzero_flags(tangents)
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    arguments, results = _shardings(params, jaxpr)
    both_in, both_out = [*arguments, *select(arguments, nonzeros)], [*results, *select(results, nonzeros_out)]
    outs = jit_p.bind(*primals, *drop_zeros(tangents), **_derive_params(params, derived, both_in, both_out))
    n = len(jaxpr.outvars)
    return outs[:n], insert_zeros(outs[n:], nonzeros_out, jaxpr.out_avals)


def _linearize(nonzeros, *primals, jaxpr, **params):
    forward, linear, nonzeros_out, forwarded = linearize_jaxpr(jaxpr, nonzeros)
    arguments, results = _shardings(params, jaxpr)
    n = len(jaxpr.outvars)
    shorter, origins = _drop_forwarded(forward, n)
    stated = {i: r for r, (is_argument, i) in zip(results, origins) if not is_argument}
    forward_out = [stated.get(i) for i in range(len(shorter.outvars))]
    bound = jit_p.bind(*primals, **_derive_params(params, shorter, arguments, forward_out))
    outs = [primals[i] if is_argument else bound[i] for is_argument, i in origins]
    computed = iter(outs[n:])
    residuals = [next(computed) if f is None else primals[f] for f in forwarded]
    linear_in = [*[None] * len(residuals), *select(arguments, nonzeros)]

    def apply(residuals, *tangents):
        linear_params = _derive_params(params, linear, linear_in, select(results, nonzeros_out))
        outs = jit_p.bind(*residuals, *drop_zeros(tangents), **linear_params) if any(nonzeros_out) else ()
        return insert_zeros(outs, nonzeros_out, jaxpr.out_avals)

    return outs[:n], nonzeros_out, residuals, apply


def _drop_forwarded(forward, n):
    """Drops results that are arguments, and residuals that are results; returns (program, origins).

    The origin of each result and residual is (True, position of the argument) or (False, position of the result of the
    shorter program).
    """
    key = ("without given", n)
    if key not in forward.cache:
        arguments = {v: i for i, v in enumerate(forward.invars)}
        remaining, seen, origins = [], {}, []
        for i, v in enumerate(forward.outvars):
            known = type(v) is not Literal
            if i < n and known and v in arguments:
                origins.append((True, arguments[v]))
                continue
            if i < n or not known or v not in seen:
                if i < n and known:
                    seen.setdefault(v, len(remaining))
                origins.append((False, len(remaining)))
                remaining.append(v)
            else:
                origins.append((False, seen[v]))
        shorter = forward if len(remaining) == len(forward.outvars) else close(forward, forward.invars, remaining)
        forward.cache[key] = shorter, origins
    return forward.cache[key]


def _transpose(cts, *operands, jaxpr, **params):
    linear = [is_undefined_primal(x) for x in operands]
    nonzero_cts = nonzero_flags(cts)
    derived, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzero_cts)
    arguments, results = _shardings(params, jaxpr)
    shardings_in = [*reject(arguments, linear), *select(results, nonzero_cts)]
    shardings_out = select(select(arguments, linear), nonzeros_out)
    outs = jit_p.bind(
        *reject(operands, linear), *drop_zeros(cts), **_derive_params(params, derived, shardings_in, shardings_out)
    )
    plain, undefined = partition_list(linear, operands)
    cotangents = merge_lists(nonzeros_out, [Zero(x.aval) for x in reject(undefined, nonzeros_out)], outs)
    return merge_lists(linear, [None] * len(plain), cotangents)


def _partial_eval(linear, *args, jaxpr, **params):
    """A call of the known part and a call of the rest; None where the call can be recorded as it is."""
    depends, divisible = _dependence(jaxpr, linear)
    if all(depends) and not divisible:
        return None
    forward, rest, unknown, forwarded = partial_eval_jaxpr(jaxpr, linear)
    arguments, results = _shardings(params, jaxpr)
    n = unknown.count(False)
    forward_out = [*reject(results, unknown), *[None] * (len(forward.outvars) - n)]
    known, outs = reject(args, linear), []
    if forward.outvars or forward.effects:
        outs = jit_p.bind(*known, **_derive_params(params, forward, reject(arguments, linear), forward_out))
    computed = iter(outs[n:])
    residuals = [next(computed) if f is None else known[f] for f in forwarded]
    rest_in = [*[None] * len(residuals), *select(arguments, linear)]
    rest_params = _derive_params(params, rest, rest_in, select(results, unknown))
    rest_outs = find_cur_trace().record_whole(jit_p, [*residuals, *select(args, linear)], rest_params)
    return merge_lists(unknown, outs[:n], rest_outs)


def _dependence(jaxpr, given):
    """(which results depend on the given arguments, whether operations on them have partial evaluation rules).

    It looks into calls, but not into loops and branches.  The outcome is cached with the jaxpr.
    """
    key = ("reach", tuple(given))
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    reached, divisible = {v for v, is_given in zip(jaxpr.invars, given) if is_given}, False
    for eqn in jaxpr.eqns:
        operands = [type(a) is not Literal and a in reached for a in eqn.invars]
        if any(operands):
            inner, inside = [True] * len(eqn.outvars), eqn.primitive.partial_eval is not None
            if eqn.primitive is jit_p:
                inner, inside = _dependence(eqn.params["jaxpr"], operands)
            divisible = divisible or inside
            reached.update(v for v, depends in zip(eqn.outvars, inner) if depends)
    jaxpr.cache[key] = [type(a) is not Literal and a in reached for a in jaxpr.outvars], divisible
    return jaxpr.cache[key]


def _batch(axis_data, operands, dims, *, jaxpr, **params):
    derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    batched = [
        [s if d is None else insert_spec_entry(s, d, axis_data.spmd_name) for s, d in zip(shardings, axes)]
        for shardings, axes in zip(_shardings(params, jaxpr), (dims, dims_out))
    ]
    return jit_p.bind(*operands, **_derive_params(params, derived, *batched)), dims_out


def _pretty(eqn, names):
    inner = eqn.params["jaxpr"]
    if id(inner) not in names.shared:  # a program that is printed separately has names of its own
        for atoms in (zip(inner.invars, eqn.invars), zip(inner.outvars, eqn.outvars)):
            names.share([(a, b) for a, b in atoms if type(a) is not Literal and type(b) is not Literal])
    shown = {"name": eqn.params["name"]}
    for key in sorted(("jaxpr", *DEFAULTS)):
        value = eqn.params[key]
        if key == "jaxpr" or (value and value != DEFAULTS[key] and (not isinstance(value, tuple) or any(value))):
            shown[key] = value
    return shown


def _resize(params, used_inputs, used_outputs):
    """The parameters of a call with some of the arguments and results (None: with other ones)."""
    jaxpr = params["jaxpr"]
    if used_inputs is None:
        return _derive_params(params, jaxpr, (), ())
    arguments, results = _shardings(params, jaxpr)
    return _derive_params(params, jaxpr, select(arguments, used_inputs), select(results, used_outputs))


jit_p = Primitive(
    "jit",
    multiple_results=True,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    partial_eval=_partial_eval,
    transpose=_transpose,
    batch=_batch,
    dce=dce_call,
    pretty=_pretty,
    weak=NEVER,
)


@to_lo.rule(jit_p)
def _to_lo(args, *, jaxpr, **params):
    program, lowered = lower_call(jaxpr, args)
    arguments, results = _shardings(params, jaxpr)
    arguments = [s for s, group in zip(arguments, lowered) for _ in group]
    results = [s for s, aval in zip(results, jaxpr.out_avals) for _ in aval.lo_ty()]
    outs = jit_p.bind(*flat(lowered), **_derive_params(params, program, arguments, results))
    return raise_values(jaxpr.out_avals, outs)


programs.set(jit_p, Call("jaxpr", divisible=True, resize=_resize))
discharge_call(jit_p)
partial_eval_custom_rules.set(jit_p, partial_eval_call_custom)


def bind_jit(args, params):
    """Calls a staged function; with `inline`, its equations go into the program being staged."""
    if params["inline"]:
        trace = context.get_trace()
        if trace is not None and trace.staging:
            return inline_call(params["jaxpr"], args)
    return bind_with_refs(jit_p, args, params)


# ---- library functions that JAX stages as a named call ----


TRANSFORMED_CALLS = 8  # a program and its derivative take some 10 ms, a call saves 0.5 to 5
LARGE = 4096  # elements of an array below which a few operations cost less than it takes to compile their program
FEW = 2  # the same for functions of so many operations that a call with ten elements takes 15 µs or more, a program 1


def staged(name=None, static_argnames=(), compiled_from=LARGE) -> Callable[[Function], Function]:
    """Decorator for library functions that JAX wraps in `jax.jit`, so that jaxprs hold `jit[name=...]` equations.

    A call is one `jit` equation with the given name while a program is staged.  While operations are evaluated it is a
    call of the function, or of its compiled form (`_native/library_function`) if an array among the positional
    arguments has `compiled_from` elements; None: never.  With `compiled_from` 1, where any program pays, a call under a
    transformation is a `jit` equation, too, from the TRANSFORMED_CALLS-th of its types on.  Arguments in
    `static_argnames` must be hashable; the others are pytrees of arrays.
    """

    def decorate(fun):
        staging = _StagedFunction(fun, name or fun.__name__, frozenset(static_argnames))
        transform = staging.transform if compiled_from == 1 else None
        wrapped = _library_function(fun, staging.call, static_argnames, compiled_from, transform)
        wrapped.static_argnames = wrapped.static
        compiled_code.add(fun.__code__)
        return wrapped

    return decorate


def compiled_when_large(static_argnames=(), compiled_from=LARGE) -> Callable[[Function], Function]:
    """Decorator for library functions that have a compiled form as those of `staged`, but are no `jit` equations."""
    return lambda fun: _library_function(fun, None, static_argnames, compiled_from)


def _library_function(fun, stage, static, compiled_from, transform=None):
    wrapped = LibraryFunction(fun, stage, static, -1 if compiled_from is None else compiled_from, transform)
    return functools.update_wrapper(wrapped, fun)


_STAGED_CACHE_SIZE = 512
_staged_functions = []


def clear_staged_programs():
    """Clears the caches of all staged functions together, because their programs hold programs of each other."""
    for staged_function in _staged_functions:
        staged_function.cache.clear()


class _StagedFunction:
    """A function that is staged under a name; `cache` holds its programs by types, statics and options."""

    __slots__ = ("cache", "fun", "label", "positions", "static", "waiting")

    def __init__(self, fun, label, static):
        self.fun = fun
        self.label = label
        self.static = static
        self.positions = (
            None if static else ()
        )  # of the static arguments; found at the first call, because signatures are slow
        self.cache = {}
        self.waiting = {}  # calls under transformations, by types, statics and options
        _staged_functions.append(self)

    def call(self, args, kwargs):
        """Binds one `jit` equation."""
        leaves, key, pattern = self._read(args, kwargs)
        return self._bind(leaves, key, pattern)

    def transform(self, args, kwargs):
        """Binds one `jit` equation if there were calls of these types before; otherwise calls the function."""
        leaves, key, pattern = self._read(args, kwargs)
        try:
            known = key in self.cache
        except TypeError:  # a static argument that cannot be hashed
            return self.fun(*args, **kwargs)
        if not known:
            calls = self.waiting.pop(key, 0) + 1
            if calls < TRANSFORMED_CALLS:
                if len(self.waiting) >= _STAGED_CACHE_SIZE:
                    self.waiting.clear()
                self.waiting[key] = calls
                return self.fun(*args, **kwargs)
        return self._bind(leaves, key, pattern)

    def _read(self, args, kwargs):
        """(leaves, key of the program, what it is staged from) of a call."""
        static = self.static
        if self.positions is None:
            self.positions = frozenset(normalize_argnums(self.fun, None, static)[0])
        fixed = {k: v for k, v in kwargs.items() if k in static}
        dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in static}
        static_values = tuple([(x,) if i in self.positions else None for i, x in enumerate(args)])  # None: dynamic
        dynamic = tuple([x for x, s in zip(args, static_values) if s is None])
        leaves, tree = tree_flatten((dynamic, dynamic_kwargs))
        avals = tuple([typeof(x) for x in leaves])
        key = (tree, avals, static_values, tuple(sorted(fixed.items())), context.option_word())
        return leaves, key, (tree, avals, static_values, fixed)

    def _bind(self, leaves, key, pattern):
        try:
            staged_call = self.cache.get(key)
        except TypeError as error:
            *_, static_values, fixed = pattern
            check_hashable([*(x for v in static_values if v is not None for x in v), *fixed.values()])
            raise error
        if staged_call is None:
            staged_call = _stage_call(self.fun, *pattern)
            if len(self.cache) >= _STAGED_CACHE_SIZE:
                clear_staged_programs()
            self.cache[key] = staged_call
            staged_call[0].cache[LIBRARY_CALL] = self.label, *pattern[2:]
        jaxpr, out_tree = staged_call
        return tree_unflatten(out_tree, jit_p.bind(*leaves, **call_params(jaxpr, self.label)))


def library_call(jaxpr, name):
    """The static arguments of the library function of this name whose body a program is; None if it is none.

    A program that a transformation derives from the body is another one.
    """
    label, values, fixed = jaxpr.cache.get(LIBRARY_CALL, (None, (), {}))
    return [*[s[0] for s in values if s is not None], *fixed.values()] if label == name else None


def _stage_call(fun, tree, avals, static_values, fixed):
    def run(*dynamic, **kwargs):
        rest = iter(dynamic)
        return fun(
            *[next(rest) if s is None else s[0] for s in static_values],
            **fixed,
            **kwargs,
        )

    flat_fun = FlatFunction(run, tree)
    jaxpr = trace_shared(flat_fun, avals, debug_info("jit", fun))
    if any(isinstance(c, Tracer) for c in jaxpr.consts):
        raise TypeError(f"{fun.__name__} closes over a value that is being traced; pass it as an argument")
    return jaxpr, flat_fun.out_tree


__all__ = ["FEW", "bind_jit", "call_params", "compiled_when_large", "jit_p", "library_call", "staged"]
