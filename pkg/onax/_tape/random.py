"""Random keys, bits and draws from the gamma distribution (`tape_random.c`), for keys of threefry2x32.

Keys are buffers of words: all words of a key lie side by side, so that wrapping and unwrapping cost nothing.
"""

from math import prod

from onax._prims.random import (
    random_bits_p,
    random_clone_p,
    random_fold_in_p,
    random_gamma_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
    threefry2x32_p,
)
from onax._prims.random_generators import threefry_impl
from onax._prims.special import random_gamma_grad_p
from onax._tape.rules import Unsupported, tape, type_number

_KEYS = 0  # the width of a number that is a key


def _check_threefry(impl):
    if impl is not threefry_impl:
        raise Unsupported(f"keys of {impl.name} have no instructions")


def _step(x, out):
    """1 if an operand has an element for each of the result, 0 if it has one."""
    if x.size == prod(out.shape):
        return 1
    if x.size == 1:
        return 0
    raise Unsupported("operands are broadcast along some axes only")


# ---- keys and their words


@tape.rule(random_wrap_p, random_unwrap_p)
def _view(b, out, x, *, impl=threefry_impl):
    return b.bind(x, out)


@tape.rule(random_clone_p)
def _clone(b, out, x):
    return b.bind(x, out)


@tape.rule(random_seed_p)
def _seed(b, out, seeds, *, impl):
    _check_threefry(impl)
    result = b.buffer(out)
    b.emit("random_seed", [result], [seeds], (type_number(seeds.dtype), seeds.size))
    return result


# ---- draws


def _draw(b, out, keys, width, shape, partitionable):
    result = b.buffer(out)
    b.emit("random_bits", [result], [keys], (width, keys.size, prod(shape), not partitionable))
    return result


@tape.rule(random_bits_p)
def _bits(b, out, keys, *, bit_width, shape, partitionable=True, impl=threefry_impl):
    _check_threefry(impl)
    return _draw(b, out, keys, bit_width, shape, partitionable)


@tape.rule(random_split_p)
def _split(b, out, keys, *, shape, partitionable=True, impl=threefry_impl):
    _check_threefry(impl)
    return _draw(b, out, keys, _KEYS, shape, partitionable)


@tape.rule(random_fold_in_p)
def _fold_in(b, out, keys, data, *, impl=threefry_impl):
    _check_threefry(impl)
    result = b.buffer(out)
    b.emit("random_fold_in", [result], [keys, data], (prod(out.shape), _step(keys, out), _step(data, out)))
    return result


@tape.rule(threefry2x32_p)
def _threefry(b, outs, *words):
    steps = [_step(x, outs[0]) for x in words]
    results = [b.buffer(out) for out in outs]
    b.emit("threefry", results, words, (prod(outs[0].shape), *steps))
    return results


# ---- the gamma distribution


@tape.rule(random_gamma_p)
def _gamma(b, out, keys, alpha, *, log_space, partitionable=True, impl=threefry_impl):
    _check_threefry(impl)
    if not partitionable or out.dtype not in ("float32", "float64"):
        raise Unsupported("gamma draws have instructions for float32, float64 and partitionable counters")
    result = b.buffer(out)
    each = prod(out.shape[len(keys.shape) :])
    b.emit("random_gamma", [result], [keys, alpha], (type_number(alpha.dtype), keys.size, each, log_space))
    return result


@tape.rule(random_gamma_grad_p)
def _gamma_grad(b, out, alpha, number):
    steps = _step(alpha, out), _step(number, out)
    result = b.buffer(out)
    b.emit("gamma_grad", [result], [alpha, number], (type_number(out.dtype), prod(out.shape), *steps))
    return result
