"""The order of the three rewrites: loops first, then keys, then regions; and bodies of other loops and branches."""

import numpy as np

import onax as jax
import onax.numpy as jnp
from native_passes import check, names
from onax import lax, random
from onax._compile.passes.form_regions import form_regions

X = np.linspace(0.1, 1, 6, dtype=np.float32)


def test_a_loop_keys_and_a_region_in_one_program():
    def f(key, x):
        x = lax.fori_loop(0, 3, lambda i, c: c * 0.5 + i, x)
        return x * random.bits(key, (6,)).astype(np.float32) * 2 + jnp.sort(x)

    program = check(f, random.key(0), X)
    assert {"looped", "fused", "sort"} <= set(names(program))
    assert not {"while", "scan", "random_bits", "mul"} & set(names(program))


def test_bodies_of_loops_that_stay_hold_regions():
    program = check(lambda x: lax.scan(lambda c, y: (c + jnp.sort(c * 2 + 1) * y, None), x, x)[0], X)
    (scan,) = [eqn for eqn in program.eqns if eqn.primitive is lax.scan_p]
    assert "fused" in names(scan.params["jaxpr"]) and "mul" not in names(scan.params["jaxpr"])


def test_a_program_is_rewritten_once():
    jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(X)
    assert form_regions(jaxpr) is form_regions(jaxpr)
