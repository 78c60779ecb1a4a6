"""The arguments of a call of a custom_jvp or custom_vjp function, and its staging as one equation."""

import functools
from collections.abc import Callable, Sequence
from typing import Generic

from onax._core.paths import keystr, placeholders, tree_leaves_with_path
from onax._core.refs import Ref, is_ref
from onax._core.trace import Tracer, as_array, typeof, valid_jaxtype
from onax._ground import errors
from onax._ground.typing import Arguments, Result
from onax._native.array import ArrayImpl
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from onax._prims.elementwise import stop_gradient_p
from onax._transforms.flatten import (
    argument_names,
    debug_info,
    debug_info_of,
    fun_name,
    fun_signature,
    infer_argnums_and_argnames,
)
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


class CustomFunction(Generic[Arguments, Result]):
    """A function with user-defined derivatives; arguments at `nondiff_argnums` and `nondiff_argnames` have none."""

    kind = ""

    def __init__(
        self,
        fun: Callable[Arguments, Result],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        without: set[int] = set()
        if nondiff_argnames:
            signature = fun_signature(fun)
            if signature is None:
                raise TypeError(f"{self.kind}: {fun_name(fun)} has no signature: use nondiff_argnums")
            without.update(infer_argnums_and_argnames(signature, None, nondiff_argnames)[0])
        if nondiff_argnums:  # an array of several has no truth value
            without.update(nondiff_argnums)
        self.nondiff_argnums = tuple(sorted(without))

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name):
        return forward_rule_setter(self, name)


def forward_rule_setter(custom, name):
    """The method of this name, such as `def_vmap`, of the function with a rule of its own inside another one."""
    if not name.startswith("def") or "fun" not in vars(custom):
        raise AttributeError(f"{type(custom).__name__!r} object has no attribute {name!r}")
    return getattr(custom.fun, name)


def resolve_arguments(fun, kind, args, kwargs):
    """All arguments by position, including defaults; those of a `functools.partial` as they are given.

    Raises TypeError, with the kind of rule that the function has, if there is no such position.
    """
    signature = None if isinstance(fun, functools.partial) else fun_signature(fun)
    if not kwargs and (signature is None or len(args) == len(signature.parameters)):
        return args
    where = (
        f"The input arguments to the {kind}-decorated function {fun_name(fun)} could not be resolved to "
        "positional-only arguments"
    )
    if signature is None:
        if not isinstance(fun, functools.partial):
            raise TypeError(f"{where}: the function has no signature")
        positional, named = args, kwargs
    else:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{where}. Binding failed with the error:\n{error}") from None
        bound.apply_defaults()
        positional, named = bound.args, bound.kwargs
    if named:
        raise TypeError(
            f"{where}. Binding failed with the error:\n"
            f"The following keyword arguments could not be resolved to positions: {', '.join(named)}"
        )
    return positional


def call_plainly(custom, args, kwargs):
    """Calls the function without its rule; TypeError for arguments that are no arrays or have no position."""
    if kwargs:
        flatten_call(custom, args, kwargs)  # which checks them
    for x in args:
        if type(x) is not ArrayImpl:
            call, leaves = flatten_call(custom, args, kwargs)  # one call checks all
            if any(type(leaf) is Ref for leaf in leaves):
                outs = call.fun(*leaves)
                return tree_unflatten(call.out_tree, outs)
            break
    try:
        return _arrays_alone(custom.fun(*args, **kwargs))
    except TypeError:
        resolve_arguments(
            custom.fun, custom.kind, args, kwargs
        )  # raises an error with the name of the rule's kind if it is this
        raise


def _arrays_alone(out):
    """The result of a function; TypeError if there is a leaf in it that no array can be."""
    if type(out) is not ArrayImpl:
        for leaf in tree_leaves(out):
            if not valid_jaxtype(leaf):
                as_array(leaf)
    return out


class Call:
    """One call: the differentiated arguments as flat values, the others as they were given.

    Programs that hold the rules keep it after the call, so it keeps no differentiated values.  `out_tree` is set when
    the function, or the rule that replaces it, has run.
    """

    __slots__ = ("_given", "_out_type", "custom", "fixed", "in_tree", "out_tree")

    def __init__(self, custom, given, in_tree):
        self.custom = custom
        self._given = given  # for each argument (value,) if it is not differentiated, else None
        self.in_tree = in_tree
        self.fixed = tuple([argument[0] for argument in given if argument is not None])
        self.out_tree = None
        self._out_type = None  # (tree, types) of what the function returned, if it has run

    def arguments(self, leaves):
        """All arguments; the differentiated ones are unflattened from flat values."""
        dynamic = iter(tree_unflatten(self.in_tree, leaves))
        return [next(dynamic) if argument is None else argument[0] for argument in self._given]

    def fun(self, *leaves):
        """The function on flat values."""
        outs, self.out_tree = tree_flatten(self.custom.fun(*self.arguments(leaves)))
        refuse_returned_refs(f"{self.custom.kind} primal function", self.custom.fun, outs, self.out_tree)
        self._out_type = self.out_tree, [typeof(x) for x in outs if valid_jaxtype(x)]
        return outs

    def debug_info(self):
        """What messages say of the staged function, with the names of the differentiated arguments."""
        fixed = [i for i, argument in enumerate(self._given) if argument is not None]
        find_arguments = lambda: (self.arguments(placeholders(self.in_tree)), {})
        return debug_info_of(f"{self.custom.kind} fun", self.custom.fun, find_arguments, fixed)

    def refuse_same_reference(self, leaves):
        """Raises ValueError if two of the differentiated arguments are the same mutable array reference."""
        refuse_same_reference(self.custom, self.arguments(leaves), self._given)

    def check_rule_result(self, rule, out_tree, outs):
        """Raises TypeError if what the rule returns in the place of the function's result differs from that in type."""
        if self._out_type is None:
            return
        expected_tree, expected = self._out_type
        got = [typeof(x) for x in outs]
        same_tree = out_tree == expected_tree
        if same_tree and all((a.shape, a.dtype) == (b.shape, b.dtype) for a, b in zip(got, expected)):
            return
        fun = fun_name(self.custom.fun)
        differs = "shapes/dtypes of" if same_tree else "container/pytree structure"
        if self.custom.kind == "custom_jvp":
            shared = "with leaves of the same shape/dtype" if same_tree else "of the same container/pytree structure"
            kind, what = "JVP", "JVP rule"
            equal = f"(equal in value to the output of the custom_jvp-decorated function {fun}, and in particular "
            equal += f"{shared})"
        else:
            kind, what = "VJP fwd", "fwd rule"
            equal = (
                f"(equal to the output of the custom_vjp-decorated function {fun}) and the second element represents "
                "residuals (i.e. values stored from the forward pass for use on the backward pass)"
            )
        shown, shown_expected = _show_types(out_tree, got), _show_types(expected_tree, expected)
        raise TypeError(
            f"Custom {kind} rule {fun_name(rule)} for function {fun} must produce a pair (list or tuple of length two) "
            f"where the first element represents the primal output {equal}, but instead the {what} output's first "
            f"element had {differs}:\n    {shown}\nwhile the {self.custom.kind}-decorated function {fun} had output "
            f"{differs}:\n    {shown_expected}{'' if same_tree else '.'}"
        )


def _show_types(tree, avals):
    return str(tree_unflatten(tree, [a.str_short() for a in avals])).replace("'", "")


def flatten_call(custom, args, kwargs):
    """(Call, flat differentiated arguments); raises TypeError for arguments that are not arrays or have no position."""
    args = resolve_arguments(custom.fun, custom.kind, args, kwargs)
    fixed = {n % len(args) for n in custom.nondiff_argnums}
    if custom.kind == "custom_vjp" and fixed:
        _refuse_tracers([args[i] for i in fixed])
    elif fixed:
        args = [stop_tracers(a) if i in fixed else a for i, a in enumerate(args)]
    given = tuple([(a,) if i in fixed else None for i, a in enumerate(args)])
    leaves, in_tree = tree_flatten(tuple([a for i, a in enumerate(args) if i not in fixed]))
    for leaf in leaves:
        if not valid_jaxtype(leaf):
            raise TypeError(_invalid_argument(custom, leaf, leaves))
    if custom.kind == "custom_vjp" and any(type(x) is Ref for x in leaves):
        refuse_same_reference(custom, args, given)
    return Call(custom, given, in_tree), leaves


def _invalid_argument(custom, leaf, leaves):
    where = f"\nIt is in a call of {fun_name(custom.fun)}."
    if custom.kind == "custom_vjp":
        return f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type{where}"
    position = next(i for i, x in enumerate(leaves) if x is leaf)
    return (
        f"Error interpreting argument to custom_jvp_call as a JAX value. The problematic value is of type {type(leaf)} "
        f"and was passed to custom_jvp_call at position {position}.{where}"
    )


def refuse_returned_refs(what, fun, outs, tree, allowed=()):
    """Raises ValueError if a flat result is a mutable array reference other than the allowed ones."""
    for i, x in enumerate(outs):
        if is_ref(x) and not any(x is ref for ref in allowed):
            path = keystr(tree_leaves_with_path(tree_unflatten(tree, range(len(outs))))[i][0])
            raise ValueError(
                f"{what} {fun_name(fun)} returned a mutable array reference of type {typeof(x).str_short()}"
                f"{f' at output tree path {path}' if path else ''} that was not an argument."
            )


def refuse_same_reference(custom, args, given):
    """Raises ValueError if two differentiated arguments of a call are the same mutable array reference."""
    fixed = {i for i, x in enumerate(given) if x is not None}
    names = argument_names(fun_signature(custom.fun), args, {}, fixed)
    first = {}
    for name, x in zip(names, tree_flatten([a for a, fixed in zip(args, given) if fixed is None])[0]):
        if type(x) is Ref and first.setdefault(id(x), name) is not name:
            raise ValueError(
                "only one reference to a mutable array may be passed as an argument to a function, but custom_vjp "
                f"function {fun_name(custom.fun)} got the same mutable array reference of type {x.aval.str_short()} at "
                f"{first[id(x)]} and {name}."
            )


def stop_tracers(tree):
    """An argument without derivative: its traced leaves are constants to differentiation."""
    return tree_map(lambda x: stop_gradient_p.bind(x) if isinstance(x, Tracer) else x, tree)


def _refuse_tracers(values):
    if any(isinstance(x, Tracer) for x in tree_flatten(values)[0]):
        raise errors.UnexpectedTracerError(
            "Found a JAX Tracer object passed as an argument to a custom_vjp function in a position indicated by "
            "nondiff_argnums as non-differentiable. Tracers cannot be passed as non-differentiable arguments to "
            "custom_vjp functions; instead, nondiff_argnums should only be used for arguments that can't be or contain "
            "JAX tracers, e.g. function-valued arguments. In particular, array-valued arguments should typically not "
            "be indicated as nondiff_argnums."
        )


def stage_call(kind, fun, params, args):
    """(jaxpr of the function on flat values, its operands, how many of these it closes over)."""
    info = params["call"].debug_info() if "call" in params else debug_info(f"{kind} fun", params["fun"])
    args = [x if isinstance(x, (bool, int, float, complex)) else as_array(x) for x in args]
    closed = trace_to_jaxpr(fun, [typeof(x) for x in args], info)
    closed, hoisted = hoist_tracers(closed)
    return closed, [*hoisted, *args], len(hoisted)


def shown_consts(params):
    """The parameter `num_consts` as it is printed: only where the function closes over values."""
    return {"num_consts": params["num_consts"]} if params["num_consts"] else {}


def refuse_closed_over(name, kind, nonzero):
    """Raises TypeError for a derivative with respect to a value that the function closes over."""
    if any(nonzero):
        raise TypeError(
            f"{name}: differentiating with respect to a value the {kind} function closes over; pass it as an argument"
        )
