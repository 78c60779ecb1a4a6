"""Where the microseconds of the commonest eager operations go.

    python scripts/profile_eager.py

For each operation three times, each the least of several batches: the NumPy kernel alone on bare ndarrays; the
primitive's `bind` on Arrays (kernel, plus dispatch, plus wrapping the result); the public call (bind, plus promotion
and argument handling in Python).  The columns `bind` and `call` are differences: what that layer adds.
"""

import time

import numpy as np

import onax.numpy as jnp
from onax import lax


def least(function, seconds=0.3, batches=7):
    """Microseconds of one call."""
    function()
    number = 1
    while True:
        started = time.perf_counter()
        for _ in range(number):
            function()
        elapsed = time.perf_counter() - started
        if elapsed > seconds / batches:
            break
        number *= 2
    best = elapsed / number
    for _ in range(batches - 1):
        started = time.perf_counter()
        for _ in range(number):
            function()
        best = min(best, (time.perf_counter() - started) / number)
    return best * 1e6


def operations():
    """(name, kernel on ndarrays, bind on Arrays, public call)."""
    x = jnp.arange(10, dtype=jnp.float32)
    y, two = x + 1, jnp.float32(2)
    i = jnp.array([1, 3])
    m = jnp.ones((64, 64), jnp.float32)
    a, b, k, c = (v._value for v in (x, y, m, i))
    mask = x > 3
    shape = {"new_sizes": (2, 5), "dimensions": None, "sharding": None}
    cast = {"new_dtype": np.dtype(np.int32), "weak_type": False, "sharding": None}
    total = {"axes": (0,), "out_sharding": None}
    product = {
        "dimension_numbers": (((1,), (0,)), ((), ())),
        "precision": None,
        "preferred_element_type": np.dtype(np.float32),
        "out_sharding": None,
    }
    yield "x + y", lambda: np.add(a, b), lambda: lax.add_p.bind(x, y), lambda: x + y
    yield "x * 2.0", lambda: np.multiply(a, 2.0), lambda: lax.mul_p.bind(x, two), lambda: x * 2.0
    yield "jnp.sin(x)", lambda: np.sin(a), lambda: lax.sin_p.bind(x), lambda: jnp.sin(x)
    yield "x > y", lambda: np.greater(a, b), lambda: lax.gt_p.bind(x, y), lambda: x > y
    yield "jnp.sum(x)", lambda: np.add.reduce(a), lambda: lax.reduce_sum_p.bind(x, **total), lambda: jnp.sum(x)
    yield "x.reshape(2, 5)", lambda: a.reshape(2, 5), lambda: lax.reshape_p.bind(x, **shape), lambda: x.reshape(2, 5)
    yield (
        "x.astype(int32)",
        lambda: a.astype(np.int32),
        lambda: lax.convert_element_type_p.bind(x, **cast),
        lambda: x.astype(jnp.int32),
    )
    yield "m @ m, 64x64", lambda: np.matmul(k, k), lambda: lax.dot_general_p.bind(m, m, **product), lambda: m @ m
    yield (
        "jnp.where(mask, x, y)",
        lambda: np.where(mask._value, a, b),
        lambda: lax.select_n_p.bind(mask, y, x),
        lambda: jnp.where(mask, x, y),
    )
    yield "x[i], two indices", lambda: a[c], None, lambda: x[i]
    yield "x[3]", lambda: a[3], None, lambda: x[3]


def main():
    print(f"{'microseconds':24}{'kernel':>9}{'bind':>9}{'call':>9}{'total':>9}")
    for name, kernel, bind, call in operations():
        inner, outer = least(kernel), least(call)
        middle = least(bind) if bind else None
        layers = f"{middle - inner:9.2f}{outer - middle:9.2f}" if bind else f"{'':9}{outer - inner:9.2f}"
        print(f"{name:24}{inner:9.2f}{layers}{outer:9.2f}")


if __name__ == "__main__":
    main()
