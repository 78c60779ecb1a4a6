"""Transposition: running a linear program backward, from cotangents of results to cotangents of arguments."""

from onax._core import jaxpr as core
from onax._core.evaluate import staging_contexts
from onax._core.explicit_axes import cotangent_type, seen
from onax._core.rules import add_tangents
from onax._core.trace import find_cur_trace
from onax._core.zeros import UndefinedPrimal, Zero, is_undefined_primal
from onax._ground.source import TRANSPOSE, backward, here
from onax._native.avals import ShapedArray
from onax._prims.placement import lie_as_type
from onax._transforms.staging import derive_jaxpr


def backward_pass(jaxpr, consts, primals, cotangents, sums=(), scopes=()):
    """Cotangents of the linear arguments.

    `primals` has a value for each argument, an UndefinedPrimal if the argument is linear.  `cotangents` has one for
    each result, possibly Zero.  Returns one for each argument (possibly Zero; None for arguments that are not linear).
    `sums` are values to which the cotangents of the first arguments are added, or None.  Equations of the backward pass
    are within `scopes`: `(TRANSPOSE,)` unless they are of a program of their own, which an equation holds.
    """
    env = dict(zip(jaxpr.constvars, consts))
    env.update((v, p) for v, p in zip(jaxpr.invars, primals) if not is_undefined_primal(p))
    linear_eqns = _run_nonlinear(jaxpr, env)
    linear = {v: p for v, p in zip(jaxpr.invars, primals) if is_undefined_primal(p)}
    sums = dict(zip(jaxpr.invars, sums))
    cts = _transpose_eqns(linear_eqns, env, jaxpr.outvars, cotangents, scopes, linear, sums)
    return [None if v in env else _cotangent(cts, v) for v in jaxpr.invars]


def pull_back(jaxpr, residuals, cotangents):
    """Cotangents of the arguments of a linear program whose every equation touches one of them."""
    env = dict(zip(jaxpr.constvars, residuals))
    cts = _transpose_eqns(jaxpr.eqns, env, jaxpr.outvars, cotangents, (TRANSPOSE,))
    return [_cotangent(cts, v) for v in jaxpr.invars]


def keep_arguments(jaxpr, kept):
    """A linear program without the equations on which the cotangents of the arguments to keep (flags) do not depend."""
    needed, eqns = {v for v, keep in zip(jaxpr.invars, kept) if keep}, []
    for eqn in jaxpr.eqns:
        if any(type(a) is not core.Literal and a in needed for a in eqn.invars):
            needed.update(eqn.outvars)
            eqns.append(eqn)
    return core.Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug_info)


def _cotangent(cts, var):
    ct = cts.get(var)
    return Zero(cotangent_type(var.aval)) if ct is None else ct


def _run_nonlinear(jaxpr, env):
    """Evaluates the equations that read no linear variable (one without a value in env); returns the others."""
    remaining, trace = [], find_cur_trace()
    with staging_contexts() as contexts:
        for eqn in jaxpr.eqns:
            if any(type(a) is not core.Literal and a not in env for a in eqn.invars):
                remaining.append(eqn)
                continue
            contexts.enter(eqn)
            args = [a.array if type(a) is core.Literal else env[a] for a in eqn.invars]
            out = trace.process_primitive(eqn.primitive, args, eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return remaining


def _transpose_eqns(eqns, env, outvars, cotangents, scopes, linear=None, sums=None):
    """Runs linear equations backward; returns the cotangents of the variables that no equation binds.

    `linear` maps linear arguments to UndefinedPrimals, for those whose types differ from those of the variables.
    """
    linear = linear or {}
    cts = {v: x for v, x in sums.items() if x is not None} if sums else {}
    for atom, ct in zip(outvars, cotangents):
        if type(atom) is not core.Literal and atom not in env and type(ct) is not Zero:
            known = cts.get(atom)
            cts[atom] = ct if known is None else add_tangents(known, ct)
    record, entered = here.record, here.scopes
    scopes = entered + scopes
    try:
        for eqn in reversed(eqns):
            here.record = backward(eqn.source_info, scopes) if eqn.source_info else record
            here.scopes = scopes + eqn.source_info.scopes
            _transpose_eqn(eqn, env, cts, linear)
    finally:
        here.record, here.scopes = record, entered
    return cts


def _transpose_eqn(eqn, env, cts, linear):
    primitive = eqn.primitive
    if primitive.multiple_results:
        cotangents = [cts.pop(v, None) for v in eqn.outvars]
        if all(ct is None for ct in cotangents):
            return
        ct = [Zero(cotangent_type(v.aval)) if ct is None else ct for v, ct in zip(eqn.outvars, cotangents)]
    else:
        ct = cts.pop(eqn.outvars[0], None)
        if ct is None:
            return
    if primitive.transpose is None:
        raise NotImplementedError(
            f"Transpose rule (for reverse-mode differentiation) for '{primitive.name}' not implemented"
        )
    operands = []
    for atom in eqn.invars:
        if type(atom) is core.Literal:
            operands.append(atom.array)
        else:
            value = env.get(atom)
            if value is None:
                value = linear.get(atom) or UndefinedPrimal(cotangent_type(atom.aval))
            operands.append(value)
    outs = primitive.transpose(ct, *operands, **eqn.params)
    for atom, operand, out in zip(eqn.invars, operands, outs):
        if type(operand) is UndefinedPrimal and out is not None and type(out) is not Zero:
            if seen.explicit_axes and type(operand.aval) is ShapedArray:
                out = lie_as_type(out, operand.aval)
            known = cts.get(atom)
            cts[atom] = out if known is None else add_tangents(known, out)


def transpose_jaxpr(jaxpr, linear, nonzero_cts):
    """The jaxpr of (non-linear arguments, nonzero cotangents) -> cotangents of the linear arguments that do not vanish.

    Returns it with a list that says, for each linear argument, whether it has a cotangent; cached with the jaxpr.
    """
    key = ("transpose", tuple(linear), tuple(nonzero_cts))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _make_transpose_jaxpr(jaxpr, linear, nonzero_cts)
    return jaxpr.cache[key]


def _make_transpose_jaxpr(jaxpr, linear, nonzero_cts):
    nonzeros_out = []
    plain_avals = [v.aval for v, is_linear in zip(jaxpr.invars, linear) if not is_linear]
    ct_avals = [cotangent_type(v.aval) for v, nonzero in zip(jaxpr.outvars, nonzero_cts) if nonzero]

    def fun(*args):
        plain, given = iter(args[: len(plain_avals)]), iter(args[len(plain_avals) :])
        primals = [
            UndefinedPrimal(cotangent_type(v.aval)) if is_linear else next(plain)
            for v, is_linear in zip(jaxpr.invars, linear)
        ]
        cts = [
            next(given) if nonzero else Zero(cotangent_type(v.aval)) for v, nonzero in zip(jaxpr.outvars, nonzero_cts)
        ]
        outs = backward_pass(jaxpr, jaxpr.consts, primals, cts)
        outs = [ct for ct, is_linear in zip(outs, linear) if is_linear]
        nonzeros_out.extend(type(ct) is not Zero for ct in outs)
        return [ct for ct in outs if type(ct) is not Zero]

    return derive_jaxpr(fun, [*plain_avals, *ct_avals], jaxpr), nonzeros_out
