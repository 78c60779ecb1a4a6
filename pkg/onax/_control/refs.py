"""References in loops, branches and regions: how what reads and writes them becomes pure (slot `discharge`).

A loop carries the values of the references that its step uses.  A region returns those of the references that it is
given, sharded as these are.
"""

from onax._control.cond import cond_p
from onax._control.scan_bodies import stack_avals
from onax._control.scan_rules import scan_p
from onax._control.shard_map import pure_region, shard_map_p
from onax._control.while_loop import while_p
from onax._core.evaluate import eval_jaxpr, write_out
from onax._core.lists import merge_lists, reject, select, split_list
from onax._core.refs import discharge, is_ref
from onax._core.trace import find_cur_trace, is_concrete
from onax._core.zeros import Zero
from onax._prims.creation import instantiate_zeros
from onax._prims.slicing import index_in_dim
from onax._prims.stacking import stack
from onax._transforms.discharge import discharge_refs, split_results
from onax._transforms.staging import derive_jaxpr


@discharge.rule(cond_p)
def _cond(values, refs, *, branches):
    outs = cond_p.bind(*values, branches=tuple(map(discharge_refs, branches)))
    return split_results(outs, len(branches[0].outvars), refs)


@discharge.rule(scan_p)
def _scan(values, refs, *, jaxpr, num_consts, num_carry, **params):
    """References among the constants are carried; slices of those that are scanned over are results of the steps."""
    n, pure = num_consts, discharge_refs(jaxpr)
    held_here = [ref is not None for ref in refs[:n]]
    m, scanned = sum(held_here), sum(ref is not None for ref in refs[n:])

    def step(*args):
        plain, held, carry, xs = split_list(args, [n - m, m, num_carry])
        outs = eval_jaxpr(pure, pure.consts, *merge_lists(held_here, plain, held), *carry, *xs)
        outs, last, slices = split_list(outs, [len(outs) - m - scanned, m])
        return [*last, *outs, *slices]

    constants, rest = values[:n], values[n:]
    avals = pure.in_avals
    body = derive_jaxpr(step, [*reject(avals[:n], held_here), *select(avals[:n], held_here), *avals[n:]], jaxpr)
    outs = scan_p.bind(
        *reject(constants, held_here),
        *select(constants, held_here),
        *rest,
        jaxpr=body,
        num_consts=n - m,
        num_carry=m + num_carry,
        **params,
    )
    last, outs, stacked = split_list(outs, [m, len(outs) - m - scanned])
    return split_results([*outs, *last, *stacked], len(outs), refs)


@write_out.rule(scan_p)
def _scan_steps(args, *, jaxpr, length, reverse, num_consts, num_carry, **_):
    """The steps of a scan one after the other."""
    consts, carry, xs = split_list(args, [num_consts, num_carry])
    rows = []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        slices = [_slice_of(x, i) for x in xs]
        outs = eval_jaxpr(jaxpr, jaxpr.consts, *consts, *carry, *slices)
        carry = outs[:num_carry]
        rows.append(outs[num_carry:])
        for x, part in zip(xs, slices):
            if is_ref(x):
                x[i] = part[...]
    if not rows:
        y_avals = stack_avals(jaxpr.out_avals, length, num_carry)[num_carry:]
        return [*carry, *(instantiate_zeros(Zero(a)) for a in y_avals)]
    columns = zip(*reversed(rows) if reverse else rows)
    return [*carry, *(stack(column, 0) for column in columns)]


def _slice_of(x, i):
    return find_cur_trace().make_ref(x[i]) if is_ref(x) else index_in_dim(x, i, 0, False)


@write_out.rule(cond_p)
def _chosen_branch(args, *, branches):
    """The branch that runs, if that is known; None otherwise."""
    index, *operands = args
    if not is_concrete(index):
        return None
    branch = branches[int(index)]
    return eval_jaxpr(branch, branch.consts, *operands)


@discharge.rule(shard_map_p)
def _shard_map(values, refs, *, jaxpr, **params):
    pure, pure_params = pure_region(jaxpr, params)
    return split_results(shard_map_p.bind(*values, jaxpr=pure, **pure_params), len(jaxpr.outvars), refs)


@discharge.rule(while_p)
def _while(values, refs, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
    """The condition and the body may use the same reference, which is carried once."""
    n = cond_nconsts + body_nconsts
    carried = {id(ref): value for ref, value in zip(refs, values) if ref is not None}
    position = {key: i for i, key in enumerate(carried)}
    m = len(carried)
    plain = [value for ref, value in zip(refs, values[:n]) if ref is None]
    n_plain = sum(ref is None for ref in refs[:cond_nconsts])

    def constants_of(part, plain, held):
        rest = iter(plain)
        return [next(rest) if ref is None else held[position[id(ref)]] for ref in part]

    condition, step = discharge_refs(cond_jaxpr), discharge_refs(body_jaxpr)
    cond_refs, body_refs = refs[:cond_nconsts], refs[cond_nconsts:n]

    def holds(*args):
        given, held, carry = split_list(args, [n_plain, m])
        return eval_jaxpr(condition, condition.consts, *constants_of(cond_refs, given, held), *carry)[:1]

    def next_carry(*args):
        given, held, carry = split_list(args, [len(plain) - n_plain, m])
        outs = eval_jaxpr(step, step.consts, *constants_of(body_refs, given, held), *carry)
        last, held = iter(outs[len(body_jaxpr.outvars) :]), list(held)
        for ref in body_refs:
            if ref is not None:
                held[position[id(ref)]] = next(last)
        return [*held, *outs[: len(body_jaxpr.outvars)]]

    avals = _value_avals(condition, cond_refs, step, body_refs, position)
    carry_avals = [*avals, *step.in_avals[body_nconsts:]]
    plain_avals = lambda jaxpr, part: [a for a, ref in zip(jaxpr.in_avals, part) if ref is None]
    outs = while_p.bind(
        *plain,
        *carried.values(),
        *values[n:],
        cond_jaxpr=derive_jaxpr(holds, [*plain_avals(condition, cond_refs), *carry_avals], cond_jaxpr),
        cond_nconsts=n_plain,
        body_jaxpr=derive_jaxpr(next_carry, [*plain_avals(step, body_refs), *carry_avals], body_jaxpr),
        body_nconsts=len(plain) - n_plain,
    )
    last = outs[:m]
    return outs[m:], [None if ref is None else last[position[id(ref)]] for ref in refs]


def _value_avals(condition, cond_refs, step, body_refs, position):
    """The types of the values of the references, each once."""
    avals = [None] * len(position)
    for jaxpr, part in ((condition, cond_refs), (step, body_refs)):
        for aval, ref in zip(jaxpr.in_avals, part):
            if ref is not None:
                avals[position[id(ref)]] = aval
    return avals
