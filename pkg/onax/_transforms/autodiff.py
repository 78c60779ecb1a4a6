"""The public entry points of differentiation: jvp, linearize, vjp, grad, value_and_grad."""

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from onax._core import jaxpr as core
from onax._core.axes import manual_axes
from onax._core.evaluate import eval_jaxpr
from onax._core.explicit_axes import cotangent_type
from onax._core.meshes import PartitionSpec, mesh_of_specs
from onax._core.paths import equality_errors_pytreedef, keystr
from onax._core.refs import AbstractRef
from onax._core.rewrite import eliminate_dead_code
from onax._core.sharding import NamedSharding
from onax._core.trace import as_array, find_cur_trace, typeof, valid_jaxtype
from onax._core.trees import Partial
from onax._core.zeros import UndefinedPrimal, Zero
from onax._ground import dtypes, source
from onax._ground.typing import AnyFunction
from onax._native.array import make_array
from onax._native.tree import register_pytree_node, tree_flatten, tree_leaves, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.placement import constrain
from onax._prims.varying import vary_as
from onax._transforms.abstract import abstractify
from onax._transforms.cotangent_refs import DontWant, store_cotangent
from onax._transforms.flatten import FlatFunction, check_callable, debug_info, fun_name
from onax._transforms.jvp import jvp_flat
from onax._transforms.linearize import Linearized, linearize_flat
from onax._transforms.staging import trace_to_jaxpr
from onax._transforms.transpose import backward_pass, keep_arguments, pull_back

Arguments = ParamSpec("Arguments")
_Result = TypeVar("_Result")
_Auxiliary = TypeVar("_Auxiliary")
Argnums = int | Sequence[int]


def check_argument(x):
    if not valid_jaxtype(x):
        raise TypeError(f"Argument '{x}' of type {type(x)} is not a valid JAX type.")


def _flat_arguments(fun, args, has_aux=False):
    """(flat function, flat arguments as arrays) for a call with positional arguments."""
    leaves, tree = tree_flatten((args, {}))
    return FlatFunction(fun, tree, has_aux), [_as_argument(x) for x in leaves]


def _as_argument(x):
    if not valid_jaxtype(x):
        typeof(x)  # raises the error
    return as_array(x)


def _check_results(leaves):
    for x in leaves:
        if not valid_jaxtype(x):
            raise TypeError(
                f"Argument '{x}' of type {type(x)} is not a valid JAX type\nIt is a result of the function that is "
                "differentiated."
            )


# ---- forward mode ----


@source.api_boundary
@overload
def jvp(
    fun: Callable[Arguments, _Result], primals: Any, tangents: Any, has_aux: Literal[False] = False
) -> tuple[_Result, _Result]: ...
@overload
def jvp(
    fun: Callable[Arguments, tuple[_Result, _Auxiliary]], primals: Any, tangents: Any, has_aux: Literal[True]
) -> tuple[_Result, _Result, _Auxiliary]: ...
def jvp(fun: AnyFunction, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Returns a function's results, and their derivative along tangents of the arguments (forward mode).

    Args:
      fun: a function of arrays.
      primals: a tuple of arguments.
      tangents: a tuple of tangents, of the structure, shapes and dtypes of `primals` (float0 for integers).
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.

    Returns:
      (out, tangent_out), or (out, tangent_out, aux).

    Raises:
      TypeError: structures or dtypes that do not match.
      ValueError: shapes that do not match.

    Examples:
      >>> onax.jvp(lambda x: x * x, (3.0,), (1.0,))
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    for given in (primals, tangents):
        if not isinstance(given, (tuple, list)):
            raise TypeError(
                "primal and tangent arguments to jax.jvp must be tuples or lists; "
                f"found {type(primals).__name__} and {type(tangents).__name__}."
            )
    primal_tree, tangent_tree = tree_structure(primals), tree_structure(tangents)
    if primal_tree != tangent_tree:
        raise TypeError(
            "primal and tangent arguments to jax.jvp must have the same tree structure; primals have tree structure "
            f"{primal_tree} whereas tangents have tree structure {tangent_tree}."
        )
    flat_fun, flat_primals = _flat_arguments(fun, tuple(primals), has_aux)
    flat_tangents = [_as_argument(t) for t in tree_flatten(tuple(tangents))[0]]
    for p, t in zip(flat_primals, flat_tangents):
        _check_tangent(typeof(p), typeof(t))
    flat_tangents = [Zero(typeof(t)) if typeof(t).dtype == dtypes.float0 else t for t in flat_tangents]
    arguments = _with_checked_results(flat_fun), flat_primals, flat_tangents, flat_fun.strip_aux
    outs, tangents_out = source.call_within(source.JVP, jvp_flat, *arguments)
    out = tree_unflatten(flat_fun.out_tree, outs)
    tangent_out = tree_unflatten(flat_fun.out_tree, [instantiate_zeros(t) for t in tangents_out])
    return (out, tangent_out, flat_fun.aux) if has_aux else (out, tangent_out)


def _with_checked_results(flat_fun):
    def run(*flat):
        leaves = flat_fun(*flat)
        _check_results(leaves)
        return leaves

    run.fun = flat_fun  # for messages
    return run


def _check_tangent(primal, tangent):
    if primal.is_high:
        return
    expected = primal.to_tangent_aval()
    if expected.dtype != tangent.dtype:
        raise TypeError(
            "primal and tangent arguments to jax.jvp do not match; dtypes must be equal, or in case of int/bool "
            f"primal dtype the tangent dtype must be float0.Got primal dtype {primal.dtype} and so expected tangent "
            f"dtype {expected.dtype}, but got tangent dtype {tangent.dtype} instead."
        )
    if primal.shape != tangent.shape:
        raise ValueError(
            "jvp called with different primal and tangent shapes;"
            f"Got primal shape {primal.shape} and tangent shape as {tangent.shape}"
        )


@source.api_boundary
def linearize(fun: AnyFunction, *primals: Any, has_aux: bool = False) -> Any:
    """Returns a function's results, and the linear map from tangents of the arguments to those of the results.

    The map does not run `fun` again.

    Args:
      fun: a function of arrays.
      primals: its arguments.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.

    Returns:
      (out, map), or (out, map, aux); ``map(*tangents)`` returns a tree like `out`.

    Examples:
      >>> y, push = onax.linearize(lambda x: x * x, 3.0)
      >>> push(1.0)
      Array(6., dtype=float32, weak_type=True)
    """
    check_callable(fun)
    flat_fun, flat_primals = _flat_arguments(fun, primals, has_aux)
    info = debug_info("linearize", fun, primals)
    lin = _linearize(flat_fun, flat_primals, info, holds_scalars=True)
    lin.jaxpr = eliminate_dead_code(lin.jaxpr)
    lin.residuals = lin.jaxpr.consts
    out_avals = [typeof(x).to_tangent_aval() for x in lin.outs]
    in_avals = [typeof(p) for p in flat_primals]
    push = _LinearizedFunction(lin, in_avals, out_avals, tree_structure(tuple(primals)), flat_fun.out_tree)
    out, apply = tree_unflatten(flat_fun.out_tree, lin.outs), Partial(push, lin.residuals)
    return (out, apply, flat_fun.aux) if has_aux else (out, apply)


def _linearize(flat_fun, flat_primals, info, holds_scalars=False):
    checked = _with_checked_results(flat_fun)
    return linearize_flat(checked, flat_primals, None, info, flat_fun.strip_aux, holds_scalars, (source.JVP,))


class _LinearizedFunction:
    """A linearized function, given its residuals."""

    __slots__ = ("_in_avals", "_in_tree", "_jaxpr", "_nonzeros", "_out_avals", "_out_tree")

    def __init__(self, lin, in_avals, out_avals, in_tree, out_tree):
        self._jaxpr = _drop_constants(lin.jaxpr)
        self._nonzeros = lin.nonzeros_out
        self._in_avals = in_avals
        self._out_avals = out_avals
        self._in_tree = in_tree
        self._out_tree = out_tree

    def __call__(self, residuals, *tangents):
        leaves, tree = tree_flatten(tangents)
        if tree != self._in_tree:
            raise TypeError(f"expected {self._in_tree}, got {tree}")
        for p, t in zip(self._in_avals, leaves):
            _check_linearized_tangent(p, typeof(t))
        results = iter(eval_jaxpr(self._jaxpr, residuals, *map(as_array, leaves)))
        pairs = zip(self._nonzeros, self._out_avals)
        flat = [next(results) if nonzero else instantiate_zeros(Zero(a)) for nonzero, a in pairs]
        return tree_unflatten(self._out_tree, flat)


def same_types(a, b):
    """Whether two types are equal but for weak types."""
    return a.normalize() == b.normalize()


def _check_linearized_tangent(primal, tangent):
    expected = primal.to_tangent_aval()
    if primal.is_high:
        differs = not same_types(expected, tangent)
    else:
        differs = expected.shape != tangent.shape or expected.dtype != tangent.dtype
    if differs:
        raise ValueError(
            "linearized function called on tangent values inconsistent with the original primal values:\n"
            f"Got tangent aval {tangent} for primal aval {primal} but expected {expected}."
        )


# ---- reverse mode ----


@dataclasses.dataclass(frozen=True, slots=True)
class NotNeeded:
    """In `VJP.args_res`, an argument that the backward pass does not read."""


register_pytree_node(NotNeeded, lambda _: ((), None), lambda _, __: NotNeeded())


@source.api_class
class VJP:
    """The function from cotangents of the results to cotangents of the arguments.

    `args_res` has an item for each argument: its leaves that the backward pass reads, `NotNeeded()` for the others.
    `opaque_residuals` lists what else the backward pass reads.  Both can be replaced by other values of the same types.
    It is a pytree of them, so transformed functions may take and return it.
    """

    __slots__ = ("__weakref__", "_static", "args_res", "opaque_residuals")

    def __init__(self, static, args_res, opaque_residuals):
        self._static = static
        self.args_res = args_res
        self.opaque_residuals = opaque_residuals

    jaxpr = property(lambda self: self._static.jaxpr)
    _info = property(lambda self: self._static.info)
    in_tree = property(lambda self: self._static.in_tree)
    out_tree = property(lambda self: self._static.out_tree)

    def with_refs(self, *destinations):
        """The function from cotangents of the results for which `destinations`, a tree like the arguments, says what
        becomes of the arguments' cotangents (`onax.ad`)."""
        wanted, tree = tree_flatten(destinations)
        if tree != self.in_tree:
            raise ValueError(f"with_refs takes a tree of the arguments' structure {self.in_tree}, got {tree}")
        jaxpr = keep_arguments(self.jaxpr, [not isinstance(x, DontWant) for x in wanted])

        def pull_back(cotangent):
            return tree_unflatten(self.in_tree, map(store_cotangent, wanted, self._pull_back(jaxpr, cotangent)))

        return pull_back

    def __repr__(self):
        held = f"args_res={self.args_res}, opaque_residuals={self.opaque_residuals}"
        return f"VJP(fun={self._info.func_src_info}, in_tree={self.in_tree}, out_tree={self.out_tree}, {held})"

    def __call__(self, *cotangents):
        if len(cotangents) != 1:
            raise TypeError(
                f"The function returned by `jax.vjp` applied to {self._info.func_name} was called with "
                f"{len(cotangents)} arguments,\nbut functions returned by `jax.vjp` must be called with a single "
                "argument: the cotangent of the one value that the function returns, a tuple if it returns several."
            )
        return tree_unflatten(self.in_tree, self._pull_back(self.jaxpr, cotangents[0]))

    def _pull_back(self, jaxpr, cotangent):
        """The flat cotangents of the arguments; `jaxpr` is the linear program or a part of it."""
        leaves, tree = tree_flatten(cotangent)
        if tree != self.out_tree:
            faults = [
                f"  * out{keystr(path)} was {one} in the original output, but {other} here, {why}."
                for path, one, other, why in equality_errors_pytreedef(self.out_tree, tree)
            ]
            raise ValueError(
                "unexpected tree structure.\n\nThe argument to a VJP function returned by `jax.vjp` must match the "
                f"pytree\nstructure of the differentiated function {self._info.func_src_info}.\n\n"
                "But the tree structures differ:\n" + "\n".join(faults)
            )
        avals = self._static.out_avals
        checked = map(self._check, map(as_array, leaves), avals, [a.to_ct_aval() for a in avals])
        return _apply_vjp(self._linearized(jaxpr), list(checked))

    def _linearized(self, jaxpr):
        arguments = tree_flatten(self.args_res, _is_not_needed)[0]
        sources = (arguments, self.opaque_residuals)
        residuals = [sources[opaque][index] for opaque, index in self._static.residual_sources]
        return Linearized(None, jaxpr, residuals, self._static.nonzeros_out)

    def _check(self, ct, primal, expected):
        aval = typeof(ct)
        if aval.is_high or expected.is_high:
            if same_types(aval, expected):
                return ct
        elif aval.shape == expected.shape:
            if expected.dtype == dtypes.float0:
                return Zero(expected)  # whatever the dtype is, as in JAX
            if aval.dtype == expected.dtype and aval.varying == expected.varying and _same_sums(aval, expected):
                return ct
        raise ValueError(
            "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got "
            f"{aval.str_short()}, but expected {expected.str_short()} because the corresponding output of the "
            f"differentiated function had JAX type {primal.str_short()}"
        )


def _drop_constants(jaxpr):
    """The program without its constants: residuals are children of the pytree, whose structure must hold no values."""
    return core.Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)


def _is_not_needed(x):
    return isinstance(x, NotNeeded)


class _VJPStatics:
    """The auxiliary data of the VJP pytree, compared by identity."""

    __slots__ = ("in_tree", "info", "jaxpr", "nonzeros_out", "out_avals", "out_tree", "residual_sources")

    def __init__(self, info, lin, in_tree, out_tree, residual_sources):
        self.info = info  # of the function, which itself may close over values
        self.jaxpr = _drop_constants(lin.jaxpr)
        self.nonzeros_out = lin.nonzeros_out
        self.out_avals = [typeof(x) for x in lin.outs]
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.residual_sources = residual_sources  # (whether it is opaque, index), for each residual


def _make_vjp(info, lin, flat_primals, in_tree, out_tree):
    """The VJP of a linearized function, whose residuals are divided into arguments and others."""
    positions = {id(x): k for k, x in enumerate(flat_primals)}
    sources, opaque, read = [], [], set()
    for residual in lin.residuals:
        at = positions.get(id(residual))
        sources.append((True, len(opaque)) if at is None else (False, at))
        if at is None:
            opaque.append(residual)
        else:
            read.add(at)
    kept = [x if k in read else NotNeeded() for k, x in enumerate(flat_primals)]
    static = _VJPStatics(info, lin, in_tree, out_tree, sources)
    return VJP(static, list(tree_unflatten(in_tree, kept)), opaque)


register_pytree_node(
    VJP,
    lambda pull: ((pull.args_res, pull.opaque_residuals), pull._static),
    lambda static, children: VJP(static, *children),
)


def _apply_vjp(lin, cts):
    """Cotangents of the arguments of a linearized function, from those of its results."""
    cts = [ct for ct, nonzero in zip(cts, lin.nonzeros_out) if nonzero]
    return [instantiate_zeros(ct) for ct in pull_back(lin.jaxpr, lin.residuals, cts)]


@source.api_boundary
@overload
def vjp(
    fun: Callable[Arguments, _Result], *primals: Any, has_aux: Literal[False] = False, reduce_axes=()
) -> tuple[_Result, Callable[[_Result], tuple]]: ...
@overload
def vjp(
    fun: Callable[Arguments, tuple[_Result, _Auxiliary]], *primals: Any, has_aux: Literal[True], reduce_axes=()
) -> tuple[_Result, Callable[[_Result], tuple], _Auxiliary]: ...
def vjp(fun: AnyFunction, *primals: Any, has_aux: bool = False, reduce_axes: Sequence[Any] = ()) -> Any:
    """Returns a function's results, and the map from their cotangents to those of the arguments (reverse mode).

    Args:
      fun: a function of arrays.
      primals: its arguments.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      reduce_axes: must be empty.

    Returns:
      (out, pull), or (out, pull, aux); ``pull(ct)`` takes a tree like `out` and returns a tuple with one tree for each
      argument (float0 for integers).

    Raises:
      TypeError: `fun` is not callable.

    Examples:
      >>> y, pull = onax.vjp(lambda x, y: x * y, 3.0, 4.0)
      >>> pull(1.0)
      (Array(4., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    _refuse_reduce_axes("vjp", reduce_axes)
    for x in tree_leaves(primals):
        check_argument(x)
    flat_fun, flat_primals = _flat_arguments(fun, primals, has_aux)
    info = debug_info("vjp", fun, primals)
    lin = _linearize(flat_fun, flat_primals, info, holds_scalars=True)
    in_tree = tree_structure(tuple(primals))
    pull = _make_vjp(info, lin, flat_primals, in_tree, flat_fun.out_tree)
    out = tree_unflatten(flat_fun.out_tree, lin.outs)
    return (out, pull, flat_fun.aux) if has_aux else (out, pull)


def grad(
    fun: Callable[Arguments, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[Arguments, Any]:
    """Returns a function that computes the gradient of a scalar-valued function.

    Args:
      fun: a function of trees of arrays whose result is a real number.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      holomorphic: True: `fun` is holomorphic, and arguments and results are complex; default False.
      allow_int: True: arguments may be integers; their derivatives have dtype float0.  Default False.
      reduce_axes: must be empty.

    Returns:
      A function of the arguments of `fun` that returns a tree like the argument, a tuple of trees for several
      `argnums`, and (gradient, aux) with `has_aux`.

    Raises:
      TypeError: at a call, a result that is no real scalar, or an argument of integers unless allowed.

    Examples:
      >>> onax.grad(lambda x: jnp.sum(x**2))(jnp.arange(3.0))
      Array([0., 2., 4.], dtype=float32)
    """
    check_callable(fun)
    _refuse_reduce_axes("grad", reduce_axes)
    argnums = index_or_tuple(argnums)

    @functools.wraps(fun)
    @source.api_boundary
    def gradient(*args, **kwargs):
        value, g = _value_and_gradient(fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)
        return (g, value[1]) if has_aux else g

    gradient.__doc__ = describe_derivative("Gradient", fun, argnums)
    return gradient


def value_and_grad(
    fun: Callable[Arguments, _Result],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence[Any] = (),
) -> Callable[Arguments, tuple[_Result, Any]]:
    """Returns a function that computes a scalar-valued function and its gradient.

    Args:
      fun: a function of trees of arrays whose result is a real number.
      argnums: the index, or indices, of the arguments to differentiate by; default 0.
      has_aux: True: `fun` returns (result, auxiliary data), which is handed on; default False.
      holomorphic: True: `fun` is holomorphic, and arguments and results are complex; default False.
      allow_int: True: arguments may be integers; their derivatives have dtype float0.  Default False.
      reduce_axes: must be empty.

    Returns:
      A function of the arguments of `fun` that returns (value, gradient); with `has_aux` the value is (value, aux).

    Raises:
      TypeError: at a call, a result that is no real scalar, or an argument of integers unless allowed.

    Examples:
      >>> onax.value_and_grad(lambda x: x**2)(3.0)
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    _refuse_reduce_axes("grad", reduce_axes)
    argnums = index_or_tuple(argnums)

    @functools.wraps(fun)
    @source.api_boundary
    def value_and_gradient(*args, **kwargs):
        return _value_and_gradient(fun, argnums, has_aux, holomorphic, allow_int, args, kwargs)

    value_and_gradient.__doc__ = describe_derivative("Value and gradient", fun, argnums)
    return value_and_gradient


def _value_and_gradient(fun, argnums, has_aux, holomorphic, allow_int, args, kwargs):
    """((value, aux) or the value, gradient) of a call."""
    check_argnums(argnums, len(args), "differentiating")
    partial, dynamic = argnums_partial(fun, args, kwargs, argnums)
    leaves, tree = tree_flatten((dynamic, {}))
    for x in leaves:
        check_grad_input("grad", x, holomorphic, allow_int)
    info = debug_info("value_and_grad", fun, args, kwargs, _remaining_argnums(argnums, len(args)))
    flat_fun = FlatFunction(partial, tree, has_aux)
    flat_primals = [as_array(x) for x in leaves]
    lin = _linearize(flat_fun, flat_primals, info)
    value = tree_unflatten(flat_fun.out_tree, lin.outs)
    _check_scalar(value)
    check_grad_output("grad", typeof(value), holomorphic)
    grads = tree_unflatten(tree, _apply_vjp(lin, [_one_like(typeof(value))]))[0]
    g = grads[0] if isinstance(argnums, int) else grads
    return ((value, flat_fun.aux), g) if has_aux else (value, g)


def describe_derivative(what, fun, argnums):
    """The docstring of a derivative of a function."""
    return f"{what} of {fun_name(fun)} with respect to positional argument(s) {argnums}, for the same arguments."


def _one_like(aval):
    one, mesh = make_array(np.ones((), aval.dtype), aval.dtype, aval.weak_type), mesh_of_specs()
    if find_cur_trace().staging and mesh.explicit_axes and mesh.are_all_axes_explicit and not manual_axes():
        spec = PartitionSpec() if aval.stated_sharding is None else aval.to_ct_aval().stated_sharding.spec
        return constrain(one, NamedSharding(mesh, spec))
    return vary_as(one, aval)


def _same_sums(aval, other):
    """Whether values of two types are unreduced and reduced over the same axes."""
    sets = [(own.spec.unreduced, own.spec.reduced) if own is not None else None for own in map(_stated, (aval, other))]
    return (sets[0] or _NO_SETS) == (sets[1] or _NO_SETS)


_NO_SETS = (frozenset(), frozenset())
_stated = operator.attrgetter("stated_sharding")


def index_or_tuple(argnums):
    if isinstance(argnums, (tuple, list)):
        return tuple(operator.index(a) for a in argnums)
    return operator.index(argnums)


def check_argnums(argnums, count, doing=None):
    """Raises an error if a call lacks an argument; `doing` describes what is done with it."""
    nums = (argnums,) if isinstance(argnums, int) else argnums
    needed = max((n + 1 for n in nums), default=0)
    if doing is not None and needed > count:
        raise TypeError(
            f"{doing} with respect to argnums={argnums} requires at least {needed} positional arguments to be passed "
            f"by the caller, but got only {count} positional arguments."
        )
    beyond = [n for n in nums if not -count <= n < count]
    if beyond:
        raise ValueError(
            "Positional argument indices, e.g. for `static_argnums`, must have value greater than or equal to "
            f"-len(args) and less than len(args), but got value {beyond[0]} for len(args) == {count}."
        )


def argnums_partial(fun, args, kwargs, argnums):
    """(function of the arguments at `argnums`, those arguments)."""
    nums = (argnums,) if isinstance(argnums, int) else argnums

    def partial(*dynamic):
        full = list(args)
        for n, value in zip(nums, dynamic):
            full[n] = value
        return fun(*full, **kwargs)

    partial.__name__ = fun_name(fun)
    partial.__wrapped__ = fun
    return partial, tuple([args[n] for n in nums])


def _remaining_argnums(argnums, count):
    """Positions of the arguments that are not at `argnums`."""
    nums = (argnums,) if isinstance(argnums, int) else argnums
    chosen = {n % count for n in nums}
    return tuple([n for n in range(count) if n not in chosen])


def check_grad_input(name, x, holomorphic, allow_int):
    check_argument(x)
    if type(typeof(x)) is AbstractRef:
        raise TypeError(
            f"{name} cannot differentiate with respect to a Ref-typed argument, because its gradient is accumulated in "
            "a reference: use `jax.vjp` and give the function that it returns one with `with_refs`"
        )
    dtype = typeof(x).dtype
    if typeof(x).is_high and not holomorphic:
        return
    if holomorphic:
        if not dtypes.issubdtype(dtype, np.complexfloating):
            raise TypeError(f"{name} with holomorphic=True requires inputs with complex dtype, but got {dtype}.")
    elif dtypes.is_extended(dtype) or dtypes.is_integer(dtype) or dtype == np.bool_:
        if not allow_int:
            raise TypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), "
                f"but got {dtype}. If you want to use Boolean- or integer-valued inputs, use vjp or set allow_int "
                "to True."
            )


def _refuse_reduce_axes(name, reduce_axes):
    if reduce_axes:
        raise NotImplementedError(f"reduce_axes argument to {name} is deprecated")


def _check_scalar(value):
    if not valid_jaxtype(value):
        raise TypeError(f"Gradient only defined for scalar-output functions. Output was {value}.")
    if typeof(value).is_high:
        fault = f"Output had abstract value {typeof(value)}."
        raise TypeError(f"Gradient only defined for scalar-output functions. {fault}")
    shape = typeof(value).shape
    if shape != ():
        raise TypeError(f"Gradient only defined for scalar-output functions. Output had shape: {shape}.")


def check_grad_output(name, aval, holomorphic):
    dtype = aval.dtype
    if dtypes.is_extended(dtype):
        raise TypeError(f"{name} with output element type {dtype}")
    if holomorphic:
        check_holomorphic_output(name, dtype)
    elif dtypes.is_complex(dtype):
        raise TypeError(
            f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {dtype}. "
            "For holomorphic differentiation, pass holomorphic=True. For differentiation of non-holomorphic "
            "functions involving complex outputs, use jax.vjp directly."
        )
    elif not dtypes.is_float(dtype):
        raise TypeError(
            f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {dtype}. "
            "For differentiation of functions with integer outputs, use jax.vjp directly."
        )


def check_holomorphic_output(name, dtype):
    if not dtypes.issubdtype(dtype, np.complexfloating):
        raise TypeError(f"{name} with holomorphic=True requires outputs with complex dtype, but got {dtype}.")


@source.api_boundary
def vjp_forward(fun, argnums, has_aux=False):
    """A function of the arguments of `fun` that returns its `vjp` with respect to those at `argnums`."""
    check_callable(fun)
    argnums = index_or_tuple(argnums)

    @functools.wraps(fun, updated=())
    def forward(*args, **kwargs):
        check_argnums(argnums, len(args), "differentiating")
        partial, dynamic = argnums_partial(fun, args, kwargs, argnums)
        out, pull, *aux = vjp(partial, *dynamic, has_aux=has_aux)
        return (out, pull, *aux)

    return forward


def linear_transpose(fun: AnyFunction, *primals: Any, reduce_axes: Sequence[Any] = ()) -> Callable[..., Any]:
    """Returns the transpose of a linear function.

    Args:
      fun: a function that is linear in its arguments.
      primals: arguments of `fun`, or their types; their values do not matter.
      reduce_axes: must be empty.

    Returns:
      A function of a tree like the results that returns a tuple of trees like the arguments.

    Raises:
      TypeError: dtypes that are neither all inexact nor all integers; at a call, a tree of another structure or type.

    Examples:
      >>> transpose = onax.linear_transpose(lambda x: 2 * x, 1.0)
      >>> transpose(3.0)
      (Array(6., dtype=float32, weak_type=True),)
    """
    check_callable(fun)
    _refuse_reduce_axes("transpose", reduce_axes)
    leaves, tree = tree_flatten((primals, {}))
    avals = [abstractify(x) for x in leaves]
    flat_fun = FlatFunction(fun, tree)
    jaxpr = trace_to_jaxpr(flat_fun, avals, debug_info("linear_transpose", fun, primals))
    _check_linear_dtypes([a.dtype for a in avals], [a.dtype for a in jaxpr.out_avals])
    transposed = _TransposedFunction(_drop_constants(jaxpr), tree_structure(tuple(primals)), flat_fun.out_tree)
    return Partial(transposed, jaxpr.consts)


@dataclasses.dataclass(slots=True, eq=False)
class _TransposedFunction:
    """The transpose of a linear function, given the constants of its program."""

    jaxpr: core.Jaxpr
    in_tree: object
    out_tree: object

    def __call__(self, consts, cotangents):
        cts, ct_tree = tree_flatten(cotangents)
        if ct_tree != self.out_tree:
            raise TypeError(
                f"cotangent tree does not match function output, expected {self.out_tree} but got {ct_tree}"
            )
        out_avals = [v.aval for v in self.jaxpr.outvars]
        for ct, expected in zip(cts, out_avals):
            if (typeof(ct).shape, typeof(ct).dtype) != (expected.shape, expected.dtype):
                raise TypeError(
                    f"cotangent type does not match function output, expected {tuple(out_avals)} but got {cts}"
                )
        undefined = [UndefinedPrimal(cotangent_type(v.aval)) for v in self.jaxpr.invars]
        cts = [as_array(ct) for ct in cts]
        outs = backward_pass(self.jaxpr, consts, undefined, cts, scopes=(source.TRANSPOSE,))
        return tree_unflatten(self.in_tree, [instantiate_zeros(ct) for ct in outs])


def _check_linear_dtypes(given, results):
    inexact = [all(dtypes.issubdtype(d, np.inexact) for d in some) for some in (given, results)]
    integers = [all(dtypes.issubdtype(d, np.integer) for d in some) for some in (given, results)]
    if not (all(inexact) or all(integers)):
        raise TypeError(
            "linear_transpose only supports [float or complex] -> [float or complex], and integer -> integer "
            f"functions, but got {given} -> {results}."
        )
