"""Programs derived from the body of a scan, and cached with it.

jaxpr: (*constants, *carry, *slices) -> (*carry, *ys)
"""

from onax._control.loops import fixed_point
from onax._core import jaxpr as core
from onax._core.explicit_axes import cotangent_type
from onax._core.lists import merge_lists, reject, select, split_list
from onax._core.rewrite import close, used_inputs
from onax._core.zeros import UndefinedPrimal, Zero
from onax._prims.creation import instantiate_zeros
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.staging import derive_jaxpr
from onax._transforms.transpose import backward_pass


def stack_avals(avals, length, num_carry):
    """The types of a scan's results, from those of the results of its body."""
    return [a if i < num_carry else _stack_aval(a, length) for i, a in enumerate(avals)]


def _stack_aval(aval, length):
    if aval.is_high:
        return aval.inc_rank(length, aval.leading_axis_spec())
    return aval.update(shape=(length, *aval.shape))


def drop_forwarded(jaxpr, num_consts, num_carry):
    """Drops results that are arguments; returns (body, which parts of the carry stay, for each y its slice or None).

    The parts of the carry that stay become the first constants of the new body.
    """
    key = ("without forwarded", num_consts, num_carry)
    if key not in jaxpr.cache:
        consts, carry, xs = split_list(jaxpr.invars, [num_consts, num_carry])
        new, ys = jaxpr.outvars[:num_carry], jaxpr.outvars[num_carry:]
        same = [old is out for old, out in zip(carry, new)]
        positions = {v: i for i, v in enumerate(xs)}
        slices = [None if type(y) is core.Literal else positions.get(y) for y in ys]
        body = jaxpr
        if any(same) or any(i is not None for i in slices):
            invars = [*select(carry, same), *consts, *reject(carry, same), *xs]
            body = close(jaxpr, invars, [*reject(new, same), *(y for y, i in zip(ys, slices) if i is None)])
        jaxpr.cache[key] = body, same, slices
    return jaxpr.cache[key]


def derive_at_fixed_point(derive, jaxpr, flags, sizes, position):
    """(what `derive` returns, the flags of the arguments) where the flags of the carry are the same before and after.

    Args:
      derive: a function of (jaxpr, flags of its arguments, flags of the results that must be set) to a tuple.
      flags: the flags of the arguments before the first step.
      sizes: [number of constants, number of parts of the carry].
      position: the position in the tuple of the flags of the results.
    """
    consts, carry, xs = split_list(flags, sizes)
    num_carry = sizes[1]
    ys = [False] * (len(jaxpr.outvars) - num_carry)

    def step(carry):
        result = derive(jaxpr, [*consts, *carry, *xs], (*carry, *ys))
        return result, result[position][:num_carry]

    result, carry = fixed_point(step, carry)
    return result, [*consts, *carry, *xs]


def jvp_body(jaxpr, nonzeros, sizes):
    """(body on primals and tangents, which arguments and which results have a tangent).

    Each group of arguments and results has its primals before its tangents.
    """
    (derived, out_nz), nonzeros = derive_at_fixed_point(jvp_jaxpr, jaxpr, nonzeros, sizes, 1)
    n_in, n_out, n = len(jaxpr.invars), len(jaxpr.outvars), sizes[1]
    sizes_dot = [sum(group) for group in split_list(nonzeros, sizes)[:2]]
    consts, carry, xs = split_list(derived.invars[:n_in], sizes)
    consts_dot, carry_dot, xs_dot = split_list(derived.invars[n_in:], sizes_dot)
    outs, outs_dot = derived.outvars[:n_out], derived.outvars[n_out:]
    m = len(carry_dot)
    outvars = [*outs[:n], *outs_dot[:m], *outs[n:], *outs_dot[m:]]
    return close(derived, [*consts, *consts_dot, *carry, *carry_dot, *xs, *xs_dot], outvars), nonzeros, out_nz


def linear_body(linear, is_constant, num_consts, num_carry):
    """(body of a linear scan, which constants and which slices it reads).

    `linear` maps (residuals, constants, carry, slices) to results; the body maps (constant residuals, constants, carry,
    slices, stacked residuals) to them, without the constants and slices that it does not read.
    """
    residuals, consts, carry, xs = split_list(linear.invars, [len(is_constant), num_consts, num_carry])
    used = dict(zip(linear.invars, used_inputs(linear)))
    reads_const, reads_x = [used[v] for v in consts], [used[v] for v in xs]
    invars = [*select(residuals, is_constant), *select(consts, reads_const), *carry]
    invars += [*select(xs, reads_x), *reject(residuals, is_constant)]
    return close(linear, invars, linear.outvars), reads_const, reads_x


def transpose_body(jaxpr, linear_consts, num_carry, linear_xs, ys_nonzero):
    """(plain consts, sums, carry cotangents, y cotangents, plain slices) -> (sums, carry cotangents, x cotangents)."""
    key = ("transposed scan", tuple(linear_consts), tuple(linear_xs), tuple(ys_nonzero))
    if key in jaxpr.cache:
        return jaxpr.cache[key]
    n_consts = len(linear_consts)
    const_avals, carry_avals, x_avals = split_list(jaxpr.in_avals, [n_consts, num_carry])
    y_avals = jaxpr.out_avals[num_carry:]
    linear = [*linear_consts, *[True] * num_carry, *linear_xs]
    # Cotangents of constants keep the weak types of these; those of a carry do not, since they change with each step.
    undefined = [UndefinedPrimal(cotangent_type(a)) for a in select(const_avals, linear_consts)]
    others = map(cotangent_type, select(jaxpr.in_avals, linear)[len(undefined) :])
    undefined += [UndefinedPrimal(a.strip_weak_type()) for a in others]
    groups = [
        reject(const_avals, linear_consts),
        list(map(cotangent_type, select(const_avals, linear_consts))),
        list(map(cotangent_type, carry_avals)),
        list(map(cotangent_type, select(y_avals, ys_nonzero))),
        reject(x_avals, linear_xs),
    ]

    def fun(*args):
        consts, sums, ct_carry, given, slices = split_list(args, [len(group) for group in groups[:-1]])
        primals = merge_lists(linear, [*consts, *slices], undefined)
        given, sums = iter(given), merge_lists(linear_consts, [None] * len(consts), sums)
        ct_ys = [next(given) if nonzero else Zero(cotangent_type(a)) for a, nonzero in zip(y_avals, ys_nonzero)]
        cts = backward_pass(jaxpr, jaxpr.consts, primals, [*ct_carry, *ct_ys], sums)
        return [instantiate_zeros(ct) for ct in select(cts, linear)]

    jaxpr.cache[key] = derive_jaxpr(fun, [a for group in groups for a in group], jaxpr)
    return jaxpr.cache[key]
