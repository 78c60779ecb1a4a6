"""checkify: errors that depend on values, as results of a function.

`checkify(f)` stages f and carries its program out once more with the state of its errors beside the values: under jit,
vmap, scan, while_loop, cond and grad alike, because that state is arrays.

    state:  key -> (failed: bool[], code: int32[], payload)
    key:    (class of the error, types of the payload, shape of `failed`: that of the devices of a shard_map)
    code:   identifies the operation that failed; a table beside the state holds its message

What fails first in a key keeps its code and payload.  Inner programs (branches, bodies, calls) start with an empty
state, and what they report is merged into the state outside: into the carry of a loop, into the results of a branch.
"""

import functools
import itertools
import operator
import string
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from onax._control.checkpoint import remat_p
from onax._control.closed_call import closed_call_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_vjp_call_p
from onax._control.jit_call import jit_p
from onax._control.manual_region import ManualRegion
from onax._control.scan_rules import scan_p
from onax._control.shard_map import add_unit_axes, shard_map_p
from onax._control.while_loop import while_p
from onax._core import jaxpr as core
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.evaluate import eval_jaxpr, staging_contexts
from onax._core.facts import MAKES_NAN
from onax._core.meshes import PartitionSpec
from onax._core.programs import replace_programs
from onax._core.rewrite import close
from onax._core.slots import Slot
from onax._core.trace import Tracer, as_array, trace_state_clean, typeof
from onax._ground import dtypes, source
from onax._ground.typing import AnyFunction, ArrayLike
from onax._native.array import Array
from onax._native.tree import register_pytree_node, tree_flatten, tree_structure, tree_unflatten
from onax._prims.checks import check_p, last_failure
from onax._prims.convert import convert_element_type
from onax._prims.creation import full
from onax._prims.elementwise import div_p, eq, gt, lt, ne, select_n, stop_gradient
from onax._prims.elementwise_bits import bitwise_not, bitwise_or
from onax._prims.indexing import gather_p, scatter_add_p, scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p
from onax._prims.indexing_records import window_sizes
from onax._prims.reductions import argmax, reduce_or
from onax._prims.shaping import broadcast_in_dim, reshape
from onax._prims.slicing import concatenate, dynamic_slice, dynamic_slice_p, dynamic_update_slice_p
from onax._transforms.abstract import CheckedFlatFunction
from onax._transforms.flatten import debug_info
from onax._transforms.staging import trace_to_jaxpr

# ---- kinds of errors ----

_rules = Slot(
    "checkify",
    "rule(state, eqn, values) -> results; the rule adds failures to the state",
    "checkify runs the operation, and checks its results for NaNs if the operation can make one.",
    "onax.experimental.checkify",
)


class JaxRuntimeError(ValueError):
    """A check failed: raised by `check_error`, `Error.throw` and an eager `check`."""


class JaxException(Exception):
    """Base of the kinds of errors that a checkified function reports."""


class NaNError(JaxException):
    """An operation produced a NaN."""


class DivisionByZeroError(JaxException):
    """A divisor was zero."""


class OOBError(JaxException):
    """An index was out of bounds."""


class FailedCheckError(JaxException):
    """A `check` did not hold."""


class BatchedError(JaxException):
    """Errors of several examples; `error_mapping` gives the exception of each index."""

    def __init__(self, error_mapping):
        self.error_mapping = error_mapping
        super().__init__("\n".join(f"at mapped index {', '.join(map(str, i))}: {e}" for i, e in error_mapping.items()))


ErrorCategory = type[JaxException]

user_checks = frozenset({FailedCheckError})
nan_checks = frozenset({NaNError})
index_checks = frozenset({OOBError})
div_checks = frozenset({DivisionByZeroError})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


# ---- locations that can fail ----

_codes = itertools.count()


@dataclass(slots=True, eq=False, repr=False)
class Sites:
    """Codes, and what each means: (kind of error, function from the payload to the message, source location)."""

    by_code: dict

    def exception(self, code, payload):
        """The error to raise for a failed check."""
        return _thrown(self.described(code, payload))

    def described(self, code, payload):
        """The error of a code, of the code's class."""
        kind, message, location = self.by_code[code]
        error = kind(message(payload))
        if location:
            error.add_note(f"The operation is at {source.summarize(location)}.")
        return error

    def __repr__(self):
        return f"<{len(self.by_code)} checks>"


def _new_site(kind, message, location):
    """(code, Sites) of a new location."""
    code = next(_codes)
    return code, Sites({code: (kind, message, location)})


def _thrown(exception):
    error = JaxRuntimeError(str(exception))
    for note in getattr(exception, "__notes__", ()):
        error.add_note(note)
    return error


# ---- the error as users see it ----


class Error:
    """The errors that occurred in a checkified function, its first result.  A pytree of arrays.

    Args:
      slots: the state of each check.
      sites: the places of the checks.

    Examples:
      >>> from onax.experimental import checkify
      >>> err, _ = checkify.checkify(lambda x: x)(1.0)
      >>> err.get() is None
      True
    """

    __slots__ = ("_sites", "_slots")

    def __init__(self, slots, sites):
        self._slots = slots
        self._sites = sites

    def get(self):
        """The message of the first error; None if there was none."""
        error = self.get_exception()
        return None if error is None else str(error)

    def get_exception(self):
        """The first error as an exception (a BatchedError for mapped functions); None if there was none."""
        if not self._slots:
            return None
        known = [(np.asarray(f), np.asarray(c), list(map(np.asarray, p))) for f, c, p in self._slots.values()]
        shape = max((failed.shape for failed, _, _ in known), key=len)
        if not shape:
            return self._at((), known)
        errors = {}
        while known:  # the errors of one example, or device, are those at a beginning of its index
            here = [slot for slot in known if slot[0].shape == shape[: slot[0].ndim]]
            known = [slot for slot in known if slot[0].shape != shape[: slot[0].ndim]]
            errors |= {i: error for i in np.ndindex(shape) if (error := self._at(i, here)) is not None}
            shape = max((failed.shape for failed, _, _ in known), key=len, default=())
        return BatchedError(errors) if errors else None

    def _at(self, index, known):
        """The error of one example: the one that comes first in the program."""
        failed = []
        for flag, code, payload in known:
            i = index[: flag.ndim]
            if flag[i]:
                failed.append((int(code[i]), [x[i] for x in payload]))
        if not failed:
            return None
        return Sites(self._sites).described(*min(failed, key=lambda pair: pair[0]))

    def throw(self):
        """Raises JaxRuntimeError if there was an error."""
        check_error(self)

    def __repr__(self):
        if any(isinstance(failed, Tracer) for failed, _, _ in self._slots.values()):
            return f"Error(traced, {len(self._slots)} kinds)"
        return f"Error({self.get()})"


def _flatten_error(error):
    slots = error._slots
    codes = tuple(sorted(error._sites.items(), key=lambda item: item[0]))
    return list(slots.values()), (tuple(slots), codes)


def _unflatten_error(aux, values):
    keys, codes = aux
    return Error(dict(zip(keys, values)), dict(codes))


register_pytree_node(Error, _flatten_error, _unflatten_error)
init_error = Error({}, {})


# ---- stating checks ----


def check(pred: ArrayLike, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Checks that a condition holds.

    An eager check raises JaxRuntimeError; under `jit` and in loops it needs `checkify` around the function.  Unlike in
    JAX a placeholder without its argument is refused whether the check holds or not (KeyError, IndexError).

    Args:
      pred: a bool scalar.
      msg: the message, a format.
      fmt_args: values for the format, trees of arrays.
      debug: True: the check counts inside of a checkified function only; default False.
      fmt_kwargs: values by name.

    Returns:
      None.

    Raises:
      TypeError: `pred` is not a bool scalar.

    Examples:
      >>> from onax.experimental import checkify
      >>> def f(x):
      ...     checkify.check(x > 0, "x is {}", x)
      ...     return x
      >>> err, _ = onax.jit(checkify.checkify(f))(-1.0)
      >>> "x is -1.0" in err.get()
      True
    """
    if not _is_scalar_bool(pred):
        raise TypeError(f"{'debug_check' if debug else 'check'} takes a scalar pred as argument, got {pred}")
    leaves, tree = tree_flatten((fmt_args, fmt_kwargs))
    for x in leaves:
        if not isinstance(x, (Array, np.ndarray, np.generic)):
            raise TypeError(
                f"Formatting arguments to checkify.check need to be PyTrees of arrays, but got {x!r} of type {type(x)}."
            )
    msg = str(msg)
    _check_placeholders(msg, fmt_args, fmt_kwargs)

    def message(payload):
        args, kwargs = tree_unflatten(tree, [x[()] for x in payload])
        return f"{msg.format(*args, **kwargs)} (`check` failed)"

    code, sites = _new_site(FailedCheckError, message, source.user_location())
    check_p.bind(as_array(pred), np.int32(code), *leaves, sites=sites, debug=bool(debug))


def debug_check(pred: ArrayLike, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """Checks that a condition holds inside of a checkified function; elsewhere it does nothing.

    Args:
      pred: a bool scalar.
      msg: the message, a format.
      fmt_args: values for the format, trees of arrays.
      fmt_kwargs: values by name.

    Returns:
      None.

    Examples:
      >>> from onax.experimental import checkify
      >>> checkify.debug_check(False, "not checked here")
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def _is_scalar_bool(x):
    if isinstance(x, (bool, np.bool_)):
        return True
    return isinstance(x, (Array, np.ndarray)) and x.dtype == np.bool_ and x.shape == ()


def _check_placeholders(msg, args, kwargs):
    """Every placeholder of the message must have its argument."""
    automatic = 0
    for _, name, _, _ in string.Formatter().parse(msg):
        if name is None:
            continue
        name = name.split(".")[0].split("[")[0]
        if not name:
            name, automatic = str(automatic), automatic + 1
        if name.isdigit():
            if int(name) >= len(args):
                raise IndexError(f"check: the message {msg!r} has more placeholders than the check has arguments")
        elif name not in kwargs:
            raise KeyError(f"check: the message {msg!r} names {name!r}, which is not among the arguments")


def check_error(error: Any) -> None:
    """Raises JaxRuntimeError if an Error holds one; in a checkified function it becomes that function's error.

    Args:
      error: an Error.

    Returns:
      None.

    Raises:
      TypeError: the argument is no Error.

    Examples:
      >>> from onax.experimental import checkify
      >>> err, _ = checkify.checkify(lambda x: x)(1.0)
      >>> checkify.check_error(err)
    """
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes an Error as argument, got type {type(error)} instead.")
    if error._slots and all(not isinstance(f, Tracer) for f, _, _ in error._slots.values()):
        exception = error.get_exception()
        if isinstance(exception, BatchedError):
            exception = [*exception.error_mapping.values()][-1]
        if exception is not None and trace_state_clean():
            raise _thrown(exception)
    for failed, code, payload in error._slots.values():
        ok, others = bitwise_not(failed), [code, *payload]
        while typeof(ok).ndim:
            ok, others = last_failure(ok, others)
        check_p.bind(ok, *others, sites=Sites(error._sites), debug=False)


# ---- the state of errors while a program is carried out ----


class _State:
    """Error slots by key, and the table of error codes."""

    __slots__ = ("enabled", "sites", "slots")

    def __init__(self, enabled):
        self.enabled = enabled
        self.slots = {}
        self.sites = {}

    def add(self, failed, code, payload, sites):
        """Reports that something may have failed; an earlier report takes precedence."""
        key = (sites.by_code[next(iter(sites.by_code))][0], tuple(_type_of(x) for x in payload), ())
        self.sites.update(sites.by_code)
        self._put(key, failed, code, payload)

    def _put(self, key, failed, code, payload):
        new = (failed, _strong(code), [_strong(x) for x in payload])
        old = self.slots.get(key)
        if old is not None:
            was = old[0]
            selected = [select_n(_spread(was, n), n, o) for n, o in zip(new[2], old[2])]
            new = (bitwise_or(was, failed), select_n(was, new[1], old[1]), selected)
        self.slots[key] = new

    def report(self, kind, failed, message, eqn, payload=()):
        """Reports a failure of an operation."""
        code, sites = _new_site(kind, message, eqn.source_info)
        self.add(failed, np.int32(code), payload, sites)

    def merge(self, keys, flat, sites):
        """Takes over the flat state of an inner program."""
        self.sites.update(sites)
        values = iter(flat)
        for key in keys:
            failed, code = next(values), next(values)
            self._put(key, failed, code, [next(values) for _ in key[1]])

    def flat(self, keys=None):
        """The arrays of the slots, in the order of `keys`; those that are missing have not failed."""
        out = []
        for key in self.slots if keys is None else keys:
            failed, code, payload = self.slots.get(key) or _nothing(key)
            out += [failed, code, *payload]
        return out

    def run(self, jaxpr, consts, args):
        """The results of a program; failures are added to the state."""
        env = dict(zip(jaxpr.constvars, consts))
        env.update(zip(jaxpr.invars, args))
        with staging_contexts() as contexts:
            for eqn in jaxpr.eqns:
                contexts.enter(eqn)
                values = [a.array if type(a) is core.Literal else env[a] for a in eqn.invars]
                rule = _rules.get(eqn.primitive)
                outs = rule(self, eqn, values) if rule else _plain(self, eqn, values)
                env.update(zip(eqn.outvars, outs))
        return [a.array if type(a) is core.Literal else env[a] for a in jaxpr.outvars]


def _type_of(x):
    aval = typeof(x)
    return aval.shape, aval.dtype


def _strong(x):
    """The value without a weak type, so that carries keep theirs."""
    aval = typeof(x)
    return convert_element_type(x, aval.dtype) if aval.weak_type else as_array(x)


def _nothing(key):
    _, types, batch = key
    payload = [full((*batch, *shape), 0, dtype) for shape, dtype in types]
    return full(batch, False, np.bool_), full(batch, -1, np.int32), payload


def _spread(failed, payload):
    """Flags with which `select_n` chooses a payload: a scalar, or one flag for each element."""
    ndim = typeof(failed).ndim
    return broadcast_in_dim(failed, typeof(payload).shape, range(ndim)) if ndim else failed


def _any(mask):
    return reduce_or(mask, tuple(range(typeof(mask).ndim)))


def _bind(eqn, values, **changes):
    outs = eqn.primitive.bind(*values, **{**eqn.params, **changes})
    return list(outs) if eqn.primitive.multiple_results else [outs]


# ---- checks of single operations ----


def _plain(state, eqn, values):
    """An operation without a rule: its results are checked for NaNs if it can make one.

    Those that only pass a NaN on are not named in errors.
    """
    outs = _bind(eqn, values)
    name = eqn.primitive.name
    if NaNError in state.enabled and MAKES_NAN in eqn.primitive.facts:
        for x in outs:
            if dtypes.issubdtype(typeof(x).dtype, np.inexact) and typeof(x).size:
                state.report(NaNError, _any(ne(x, x)), lambda _: f"nan generated by primitive: {name}.", eqn)
    return outs


@_rules.rule(div_p)
def _div(state, eqn, values):
    divisor = values[1]
    if DivisionByZeroError in state.enabled and typeof(divisor).size:
        zero = _any(eq(divisor, np.zeros((), typeof(divisor).dtype)))
        state.report(DivisionByZeroError, zero, lambda _: "division by zero", eqn)
    return _plain(state, eqn, values)


def _check_indices(state, eqn, shape, indices, axes, sizes):
    """Reports the first component of the index vectors (last axis) whose window leaves the operand."""
    aval = typeof(indices)
    if OOBError not in state.enabled or not aval.size:
        return
    if aval.dtype.itemsize < 4:
        indices, aval = convert_element_type(indices, np.int32), aval.update(dtype=np.dtype(np.int32))
    limits = np.array([shape[a] - sizes[a] for a in axes], aval.dtype)
    bad = gt(indices, np.broadcast_to(limits, aval.shape))
    if aval.dtype.kind == "i":
        bad = bitwise_or(bad, lt(indices, np.zeros((), aval.dtype)))
    bad = reshape(bad, (aval.size,))
    position = argmax(bad, 0, np.int32)
    index = reshape(dynamic_slice(reshape(indices, (aval.size,)), [position], (1,)), ())
    axis = reshape(dynamic_slice(np.resize(np.array(axes, np.int32), aval.size), [position], (1,)), ())

    def message(payload):
        index, axis = map(int, payload)
        return (
            f"out-of-bounds indexing for array of shape {shape}: index {index} is out of bounds for axis {axis} with "
            f"size {shape[axis]}. "
        )

    state.report(OOBError, _any(bad), message, eqn, [convert_element_type(index, np.int32), axis])


@_rules.rule(gather_p)
def _gather(state, eqn, values):
    x, indices = values
    axes = eqn.params["dimension_numbers"].start_index_map
    _check_indices(state, eqn, typeof(x).shape, indices, axes, eqn.params["slice_sizes"])
    return _plain(state, eqn, values)


@_rules.rule(scatter_p, scatter_add_p, scatter_mul_p, scatter_min_p, scatter_max_p)
def _scatter(state, eqn, values):
    x, indices, updates = values
    numbers, shape = eqn.params["dimension_numbers"], typeof(x).shape
    sizes = window_sizes(len(shape), numbers, typeof(updates).shape)
    _check_indices(state, eqn, shape, indices, numbers.scatter_dims_to_operand_dims, sizes)
    return _plain(state, eqn, values)


@_rules.rule(dynamic_slice_p, dynamic_update_slice_p)
def _one_window(state, eqn, values):
    x, *starts = values
    sizes = eqn.params["slice_sizes"] if eqn.primitive is dynamic_slice_p else typeof(starts.pop(0)).shape
    if starts:
        vector, shape = concatenate([reshape(s, (1,)) for s in starts], 0), typeof(x).shape
        _check_indices(state, eqn, shape, vector, tuple(range(len(shape))), sizes)
    return _plain(state, eqn, values)


@_rules.rule(check_p)
def _check(state, eqn, values):
    """A `check`: its failure becomes part of the state; it is dropped, as in JAX, where user checks are off."""
    if FailedCheckError not in state.enabled:
        return []
    ok, code, *payload = values
    state.add(bitwise_not(ok), code, payload, eqn.params["sites"])
    return []


# ---- programs inside programs ----


def _reporting(state, jaxpr):
    """(program whose first results are the flat state of its errors, keys of the state, sites), kept with the jaxpr."""
    where = ("checkified", state.enabled)
    if where not in jaxpr.cache:
        found = []

        def fun(*args):
            inner = _State(state.enabled)
            outs = inner.run(jaxpr, jaxpr.consts, args)
            found[:] = tuple(inner.slots), inner.sites
            return [*inner.flat(), *outs]

        derived = trace_to_jaxpr(fun, jaxpr.in_avals, jaxpr.debug_info)
        jaxpr.cache[where] = (derived, *found)
    return jaxpr.cache[where]


def _width(keys):
    """How many arrays a flat state of these keys has."""
    return sum(2 + len(key[1]) for key in keys)


@_rules.rule(jit_p, remat_p, closed_call_p)
def _call(state, eqn, values):
    """A call: the state of its errors comes first among its results."""
    name = "jaxpr" if "jaxpr" in eqn.params else "call_jaxpr"
    derived, keys, sites = _reporting(state, eqn.params[name])
    if not keys:
        return _bind_without_checks(eqn, values)
    changes = {name: () for name in ("donated_invars", "in_shardings", "out_shardings") if name in eqn.params}
    outs = _bind(eqn, values, **{name: derived}, **changes)
    n = _width(keys)
    state.merge(keys, outs[:n], sites)
    return outs[n:]


@_rules.rule(shard_map_p)
def _shard_map(state, eqn, values):
    """The state leaves the region with one more axis in front, which is divided over the devices."""
    region = ManualRegion.of(eqn.params)
    with region.scope():
        derived, keys, sites = _reporting(state, eqn.params["jaxpr"])
        if not keys:
            return _bind_without_checks(eqn, values)
        n, count = _width(keys), region.size(region.names)
        derived = add_unit_axes(derived, range(n), True)
    specs = (PartitionSpec(region.names),) * n
    outs = _bind(eqn, values, jaxpr=derived, out_specs=(*specs, *eqn.params["out_specs"]))
    state.merge([(kind, types, (count, *batch)) for kind, types, batch in keys], outs[:n], sites)
    return outs[n:]


@_rules.rule(cond_p)
def _cond(state, eqn, values):
    """Every branch returns the slots of all branches."""
    branches = [_reporting(state, b) for b in eqn.params["branches"]]
    keys = tuple(dict.fromkeys(key for _, some, _ in branches for key in some))
    if not keys:
        return _bind_without_checks(eqn, values)
    padded = tuple(_padded(state.enabled, derived, some, keys) for derived, some, _ in branches)
    outs = _bind(eqn, values, branches=padded)
    n = _width(keys)
    state.merge(keys, outs[:n], {code: s for _, _, sites in branches for code, s in sites.items()})
    return outs[n:]


def _padded(enabled, derived, own, keys):
    """The branch with the slots that only others have."""

    def fun(*args):
        outs = eval_jaxpr(derived, derived.consts, *args)
        inner, n = _State(enabled), _width(own)
        inner.merge(own, outs[:n], {})
        return [*inner.flat(keys), *outs[n:]]

    return trace_to_jaxpr(fun, derived.in_avals, derived.debug_info)


def _merging(enabled, keys, derived, before, split):
    """A loop's body that carries the state: `split(args)` gives (arguments of `derived`, flat state so far)."""

    def fun(*args):
        own, flat = split(args)
        outs = eval_jaxpr(derived, derived.consts, *own)
        inner, n = _State(enabled), _width(keys)
        inner.merge(keys, flat, {})
        inner.merge(keys, outs[:n], {})
        return [*inner.flat(keys), *outs[n:]]

    return trace_to_jaxpr(fun, before, derived.debug_info)


@_rules.rule(scan_p)
def _scan(state, eqn, values):
    """The state is carried."""
    params = eqn.params
    derived, keys, sites = _reporting(state, params["jaxpr"])
    if not keys:
        return _bind_without_checks(eqn, values)
    n, n_consts = _width(keys), params["num_consts"]
    empty = _State(state.enabled).flat(keys)
    avals = params["jaxpr"].in_avals
    body = _merging(
        state.enabled,
        keys,
        derived,
        [*avals[:n_consts], *map(typeof, empty), *avals[n_consts:]],
        lambda args: ([*args[:n_consts], *args[n_consts + n :]], args[n_consts : n_consts + n]),
    )
    operands = [*values[:n_consts], *empty, *values[n_consts:]]
    outs = _bind(eqn, operands, jaxpr=body, num_carry=params["num_carry"] + n)
    state.merge(keys, outs[:n], sites)
    return outs[n:]


@_rules.rule(while_p)
def _while(state, eqn, values):
    """The state is carried; the condition is looked at once before the loop and after each step."""
    cond, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    nc, nb = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    if cond.out_avals[0].shape:
        raise ValueError(
            "Checkify does not support batched while-loops (checkify-of-vmap-of-while). \nHint: if possible, move "
            "the vmap to the outer level to get vmap-of-checkify-of-while."
        )
    checked_cond, cond_keys, cond_sites = _reporting(state, cond)
    checked_body, body_keys, body_sites = _reporting(state, body)
    keys = tuple(dict.fromkeys([*cond_keys, *body_keys]))
    if not keys:
        return _bind_without_checks(eqn, values)
    sites = {**cond_sites, **body_sites}
    n, n_cond = _width(keys), _width(cond_keys)
    before = _State(state.enabled)
    if cond_keys:
        first = eval_jaxpr(checked_cond, checked_cond.consts, *values[:nc], *values[nc + nb :])
        before.merge(cond_keys, first[:n_cond], {})
    start = before.flat(keys)

    def split(args):
        return args[:nc], args[nc : nc + nb], args[nc + nb : nc + nb + n], args[nc + nb + n :]

    def step(*args):
        cond_consts, body_consts, flat, carry = split(args)
        inner = _State(state.enabled)
        inner.merge(keys, flat, {})
        outs = eval_jaxpr(checked_body, checked_body.consts, *body_consts, *carry)
        carry = outs[_width(body_keys) :]
        inner.merge(body_keys, outs[: _width(body_keys)], {})
        if cond_keys:
            holds = eval_jaxpr(checked_cond, checked_cond.consts, *cond_consts, *carry)
            inner.merge(cond_keys, holds[:n_cond], {})
        return [*inner.flat(keys), *carry]

    def condition(*args):
        return eval_jaxpr(checked_cond, checked_cond.consts, *args[:nc], *args[nc + n :])[n_cond:]

    state_avals = [typeof(x) for x in start]
    cond_avals, body_avals = cond.in_avals, body.in_avals
    outs = while_p.bind(
        *values[:nc],
        *values[: nc + nb],
        *start,
        *values[nc + nb :],
        cond_jaxpr=trace_to_jaxpr(condition, [*cond_avals[:nc], *state_avals, *cond_avals[nc:]], cond.debug_info),
        cond_nconsts=nc,
        body_jaxpr=trace_to_jaxpr(
            step, [*cond_avals[:nc], *body_avals[:nb], *state_avals, *body_avals[nb:]], body.debug_info
        ),
        body_nconsts=nc + nb,
    )
    state.merge(keys, outs[:n], sites)
    return list(outs[n:])


@_rules.rule(custom_jvp_call_p, custom_vjp_call_p)
def _custom(state, eqn, values):
    """A function with its own derivative: the call keeps its rule; its errors come from carrying it out beside."""
    jaxpr = eqn.params["call_jaxpr"]
    derived, keys, sites = _reporting(state, jaxpr)
    if not keys:
        return _bind_without_checks(eqn, values)
    fixed = [stop_gradient(x) for x in values]
    flat = eval_jaxpr(derived, derived.consts, *fixed)[: _width(keys)]
    state.merge(keys, flat, sites)
    return _bind(eqn, values, call_jaxpr=_without_checks(jaxpr))


def _bind_without_checks(eqn, values):
    """The results of an equation whose programs report nothing: a `check` in them is not asked for."""
    return _bind(replace_programs(eqn, _without_checks), values)


def _without_checks(jaxpr):
    """The program without `check`, at any depth; itself where there is none.  Kept with the program."""
    where = "without checks"
    if where not in jaxpr.cache:
        eqns = [replace_programs(eqn, _without_checks) for eqn in jaxpr.eqns if eqn.primitive is not check_p]
        whole = len(eqns) == len(jaxpr.eqns) and all(map(operator.is_, eqns, jaxpr.eqns))
        jaxpr.cache[where] = None if whole else close(jaxpr, jaxpr.invars, jaxpr.outvars, eqns)
    return jaxpr.cache[where] or jaxpr


# ---- the transformation ----


def checkify(f: AnyFunction, errors: Any = user_checks) -> Callable[..., Any]:
    """Returns a function that returns its errors together with its result, and does not raise them.

    It may be jitted, mapped, differentiated and scanned.  `f` gets its arguments as they are given: an operation on
    numbers of Python or NumPy arrays alone is not checked.

    Args:
      f: a function.
      errors: a set of kinds: `user_checks` (calls of `check`, the default), `nan_checks`, `div_checks`, `index_checks`,
        or unions (`float_checks`, `automatic_checks`, `all_checks`).

    Returns:
      A function of the arguments of `f` that returns (Error, result).

    Raises:
      TypeError: `errors` is no collection of kinds.
      ValueError: at a call, a while loop whose condition is mapped.

    Examples:
      >>> from onax.experimental import checkify
      >>> err, out = checkify.checkify(lambda x: x / 0.0, errors=checkify.div_checks)(jnp.ones(3))
      >>> "division by zero" in err.get()
      True
    """
    if not callable(f):
        raise TypeError(f"checkify: the function must be callable, got {f!r}")
    if not isinstance(errors, Collection) or isinstance(errors, str):
        raise TypeError(f"checkify: errors is a set of kinds of errors, got {errors!r}")
    enabled = frozenset(errors)

    @functools.wraps(f, updated=())
    @source.api_boundary
    def checked_fun(*args, **kwargs):
        # As in JAX the function sees its arguments as they are, numbers of Python included.
        flat = CheckedFlatFunction(functools.partial(f, *args, **kwargs), tree_structure(((), {})), "checkify")
        closed = trace_to_jaxpr(flat, (), debug_info("checkify", f, args, kwargs))
        state = _State(enabled)
        outs = state.run(closed, closed.consts, ())
        return Error(state.slots, state.sites), tree_unflatten(flat.out_tree, outs)

    return checked_fun


_wrap_api_functions(globals(), __name__, globals().keys())
