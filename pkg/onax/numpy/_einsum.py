"""einsum: sums of products by named axes, as a chain of dot_general.

One or two operands are contracted directly; for more, opt_einsum finds the order.  Three steps for each contraction:
sum out names that occur once, take diagonals of names repeated within an operand, then one dot_general.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from onax import lax
from onax._ground import dims, dtypes
from onax._ground.lazy import opt_einsum
from onax._ground.typing import DTypeLike, PrecisionLike, ShardingLike
from onax._native.array import Array
from onax._prims.convert import convert
from onax._prims.placement import stated_sharding, with_out_sharding
from onax.numpy._promotion import check_arraylike, ensure_arraylikes, is_arraylike

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: str | bool | list[tuple[int, ...]] = "auto",
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    _dot_general=lax.dot_general,
    out_sharding: ShardingLike | None = None,
) -> Array:
    """Returns sums of products of arrays in Einstein's notation.

    The form `einsum(a, [0, 1], b, [1, 2], [0, 2])`, with ints as names of axes, is understood too.

    Args:
      subscripts: a string such as 'ij,jk->ik'; '...' stands for leading axes that broadcast.  Without '->' the result
        has the names that occur once, in alphabetical order.
      *operands: arrays, one for each group of names.
      out: must be None.
      optimize: how to choose the order of products of three or more operands, as opt_einsum takes it; default: "auto".
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the promoted operands.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array with the axes that the subscripts name.

    Raises:
      ValueError: the subscripts do not fit the operands.
      NotImplementedError: `out` is given, or `optimize` asks for a product of more than two operands at once.

    Examples:
      >>> jnp.einsum("ij,j->i", jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([1.0, 1.0]))
      Array([3., 7.], dtype=float32)
    """
    if out_sharding is not None:
        out_sharding = stated_sharding(out_sharding, "einsum")
    if out_sharding is not None and not _is_one_product(subscripts, operands):
        options = {"precision": precision, "preferred_element_type": preferred_element_type}
        return with_out_sharding(out_sharding, einsum, subscripts, *operands, optimize=optimize, **options)
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.einsum is not supported.")
    subscripts, operands = _normalize_subscripts(subscripts, operands)
    if not all(map(is_arraylike, operands)):
        _check_ranks(subscripts, operands)
    operands = check_arraylike("einsum", *operands)
    dtype, weak = dtypes.result_type(*operands, return_weak_type_flag=True)
    if preferred_element_type is not None:
        dtype, weak = dtypes.check_user_dtype(preferred_element_type, "einsum"), False
    inputs, result, remaining = _parse(subscripts, ensure_arraylikes("einsum", *operands))
    steps = _contraction_steps(inputs, result, remaining, optimize)

    def product(a, b, numbers, names):
        stated = {} if out_sharding is None else {"out_sharding": _in_order(out_sharding, result, names)}
        return _dot_general(a, b, numbers, precision, preferred_element_type=dtype, **stated)

    for indices, contracted, names_in, names_out in steps:
        if len(indices) == 1:
            x, names = _contract_one(remaining.pop(indices[0]), names_in[0], contracted, names_out, dtype)
        elif len(indices) == 2:
            pair = [remaining.pop(i) for i in indices]
            x, names = _contract_two(pair, names_in, contracted, names_out, dtype, product)
        else:
            raise NotImplementedError(
                "jax.numpy.einsum does not support simultaneous contraction of 3 or more operands: pass another "
                "`optimize`"
            )
        if names != names_out:
            x = lax.transpose(x, tuple(names.index(n) for n in names_out))
        remaining.append(x)
    return convert(remaining[0], dtype, weak)


def _is_one_product(subscripts, operands):
    """Whether an einsum is one product of two operands, which can itself state where its result lies."""
    text = subscripts.replace(" ", "") if isinstance(subscripts, str) else ""
    inputs, arrow, result = text.partition("->")
    parts = inputs.split(",")
    if not arrow or len(parts) != 2 or len(operands) != 2 or "." in text:
        return False
    if any(len(set(part)) != len(part) for part in (*parts, result)):
        return False
    return all(name in other or name in result for part, other in (parts, parts[::-1]) for name in part)


def _in_order(sharding, names, wanted):
    """The sharding of an array with these names of axes, for the axes in another order."""
    entries = dict(zip(names, sharding.spec))
    return sharding.update(spec=sharding.spec.update(partitions=[entries.get(name) for name in wanted]))


def _check_ranks(subscripts, operands):
    """Raises ValueError for operands that are not arrays and whose rank is unknown or does not fit."""
    for i, (part, x) in enumerate(zip(subscripts.partition("->")[0].split(","), operands)):
        if x is None:
            raise ValueError("einsum: Cannot determine the shape of None, can only determine that of array-likes")
        if "." not in part and isinstance(x, (list, tuple)) and np.ndim(x) != len(part):
            raise ValueError(
                f"Einstein sum subscript '{part}' does not contain the correct number of indices for operand {i}."
            )


# --- reading the subscripts ---------------------------------------------------------------------------------------


def _normalize_subscripts(subscripts, operands):
    """Returns (subscripts string, operands) for both ways to call `einsum`."""
    if isinstance(subscripts, str):
        return subscripts.replace(" ", ""), operands
    if not operands:
        raise TypeError(f"einsum: subscripts must be a string, or operands and lists of axes; got {type(subscripts)}")
    rest = [subscripts, *operands]
    result = rest.pop() if len(rest) % 2 else None
    arrays_in, lists = rest[0::2], rest[1::2]
    try:
        axis_ids = sorted({x for part in lists for x in part if x is not Ellipsis})
    except TypeError:
        raise TypeError(
            "einsum: lists of axes must contain Ellipsis or values that compare, such as integers"
        ) from None
    labels = dict(zip(axis_ids, _LETTERS))

    def text(part):
        return "".join("..." if x is Ellipsis else labels[x] for x in part)

    inputs = ",".join(map(text, lists))
    return (inputs if result is None else f"{inputs}->{text(result)}"), tuple(arrays_in)


def _parse(subscripts, operands):
    """The axis names of each operand and of the result; replaces '...' by unused letters and drops axes of length 1."""
    left, arrow, right = subscripts.partition("->")
    parts = left.split(",")
    if len(parts) != len(operands):
        raise ValueError(
            f"Number of einsum subscripts, {len(parts)}, must be equal to the number of operands, {len(operands)}."
        )
    used = set(subscripts)
    unused = [c for c in _LETTERS if c not in used]
    inputs, widest = [], 0
    for i, (part, x) in enumerate(zip(parts, operands)):
        before, dots, after = part.partition("...")
        hidden = x.ndim - len(before) - len(after)
        if hidden < 0 or (hidden and not dots):
            raise ValueError(
                f"Einstein sum subscript '{part}' does not contain the correct number of indices for operand {i}."
            )
        widest = max(widest, hidden if dots else 0)
        inputs.append((before, hidden if dots else 0, after))
    hidden_names = "".join(unused[:widest])
    names = [before + hidden_names[widest - n :] + after for before, n, after in inputs]
    if arrow:
        result = right.replace("...", hidden_names)
    else:
        counts = collections.Counter("".join(parts).replace(".", ""))
        result = hidden_names + "".join(sorted(n for n, k in counts.items() if k == 1))
    _check_sizes(names, result, operands)
    return *_squeeze_broadcast_axes(names, operands, result), operands


def _check_sizes(names, result, operands):
    """Raises ValueError unless sizes agree and the result names existing axes, each once."""
    sizes = {}
    for i, (part, x) in enumerate(zip(names, operands)):
        for name, n in zip(part, x.shape):
            size = sizes.setdefault(name, n)
            if not dims.equal(size, n):
                if type(size) is int and size == 1:
                    sizes[name] = n
                elif not (type(n) is int and n == 1):
                    raise ValueError(
                        f"Size of label '{name}' for operand {i} ({n}) does not match previous terms ({size})."
                    )
    for name in result:
        if name not in sizes:
            raise ValueError(f"Output character '{name}' did not appear in the input")
        if result.count(name) > 1:
            raise ValueError(f"Output character '{name}' appeared more than once in the output.")


def _squeeze_broadcast_axes(names, operands, result):
    """Squeezes axes of length 1 whose name has another length elsewhere, because they broadcast."""
    sizes = {}
    for part, x in zip(names, operands):
        for name, n in zip(part, x.shape):
            if sizes.get(name, 1) == 1:
                sizes[name] = n
    for i, (part, x) in enumerate(zip(names, operands)):
        ones = tuple(j for j, (name, n) in enumerate(zip(part, x.shape)) if type(n) is int and n == 1 != sizes[name])
        if ones:
            operands[i] = lax.squeeze(x, ones)
            names[i] = "".join(name for j, name in enumerate(part) if j not in ones)
    return names, result


def _order(optimize, count):
    """`optimize` as opt_einsum takes it: True is the best order, False contracts the first two operands each time."""
    if optimize is True:
        return "optimal"
    return [(0, 1)] * (count - 1) if optimize is False else optimize


_LENGTH = 64  # of symbolic dimensions, where the order of contractions is chosen


def _contraction_steps(names, result, operands, optimize):
    """The steps: (operand indices, contracted names, names of the operands, names of the result)."""
    if len(operands) <= 2:
        indices = tuple(range(len(operands)))[::-1]
        return [(indices, set("".join(names)) - set(result), [names[i] for i in indices], result)]
    text = ",".join(names) + "->" + result
    order = _order(optimize, len(operands))
    shapes = [tuple(d if dims.is_constant(d) else _LENGTH for d in x.shape) for x in operands]
    _, steps = opt_einsum.contract_path(text, *shapes, shapes=True, einsum_call=True, optimize=order)
    out = []
    for indices, contracted, step, *_ in steps:
        left, _, right = step.partition("->")
        out.append((indices, set(contracted), left.split(","), right))
    return out


# --- one contraction ----------------------------------------------------------------------------------------------


def _sum(x, axes, dtype):
    """Sums x over axes, in the dtype of the result if that is the wider one; bools are joined by "or"."""
    if dtypes.promote_types(x.dtype, dtype) != x.dtype:
        x = lax.convert_element_type(x, dtype)
    return lax.reduce_or(x, axes) if x.dtype == np.bool_ else lax.reduce_sum(x, axes)


def _sum_axes(x, names, summed, dtype):
    """Sums x over the named axes, each of which occurs once."""
    if not summed:
        return x, names
    x = _sum(x, tuple(names.index(n) for n in summed), dtype)
    return x, "".join(n for n in names if n not in summed)


def _take_diagonals(x, names, keep, dtype):
    """Reduces repeated names of x to their diagonal and sums over names that are not in `keep`."""
    for name, count in collections.Counter(names).items():
        if count == 1:
            continue
        axes = tuple(i for i, n in enumerate(names) if n == name)
        square = tuple(x.shape[i] for i in axes)
        iotas = [lax.broadcasted_iota(np.uint32, square, i) for i in range(count)]
        mask = lax.eq(iotas[0], iotas[1])
        for a, b in zip(iotas[1:], iotas[2:]):
            mask = lax.bitwise_and(mask, lax.eq(a, b))
        mask = lax.broadcast_in_dim(mask, x.shape, axes)
        x = lax.select(mask, x, lax.full_like(x, 0))
        if name in keep:
            x = _sum(x, axes[:-1], dtype)
            names = names.replace(name, "", count - 1)
        else:
            x = _sum(x, axes, dtype)
            names = names.replace(name, "")
    return x, names


def _contract_one(x, names, contracted, result, dtype):
    counts = collections.Counter(names)
    x, names = _sum_axes(x, names, [n for n in sorted(contracted) if counts[n] == 1], dtype)
    return _take_diagonals(x, names, result, dtype)


def _contract_two(pair, names_in, contracted, result, dtype, product):
    (lhs, rhs), (ln, rn) = pair, names_in
    left, right = collections.Counter(ln), collections.Counter(rn)
    ordered = sorted(contracted)
    lhs, ln = _sum_axes(lhs, ln, [n for n in ordered if left[n] == 1 and right[n] == 0], dtype)
    rhs, rn = _sum_axes(rhs, rn, [n for n in ordered if right[n] == 1 and left[n] == 0], dtype)
    lhs, ln = _take_diagonals(lhs, ln, result + rn, dtype)
    rhs, rn = _take_diagonals(rhs, rn, result + ln, dtype)
    both = set(ln) & set(rn)
    summed = [n for n in ordered if n in both]
    batch = [n for n in result if n in both]
    shared = {*summed, *batch}
    lhs_free = "".join(n for n in ln if n not in shared)
    rhs_free = "".join(n for n in rn if n not in shared)
    lc, lb = tuple(ln.index(n) for n in summed), tuple(ln.index(n) for n in batch)
    rc, rb = tuple(rn.index(n) for n in summed), tuple(rn.index(n) for n in batch)
    names = "".join(batch) + rhs_free + lhs_free
    if names == result:  # this order spares a transposition
        return product(rhs, lhs, ((rc, lc), (rb, lb)), names), names
    names = "".join(batch) + lhs_free + rhs_free
    return product(lhs, rhs, ((lc, rc), (lb, rb)), names), names


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: str | bool | list[tuple[int, ...]] = "auto"
) -> tuple[list[tuple[int, ...]], Any]:
    """Returns the order in which `einsum` multiplies its operands, with a report.

    Args:
      subscripts: a string, as for `einsum`.
      *operands: arrays, of which only the shapes count.
      optimize: how to choose the order, as opt_einsum takes it; default: "auto".

    Returns:
      Tuple (list with the positions of the operands of each product, opt_einsum's report).

    Examples:
      >>> jnp.einsum_path("ij,jk,kl->il", jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 5)))[0]
      [(0, 1), (0, 1)]
    """
    subscripts, operands = _normalize_subscripts(subscripts, operands)
    return opt_einsum.contract_path(subscripts, *operands, optimize=_order(optimize, len(operands)))
