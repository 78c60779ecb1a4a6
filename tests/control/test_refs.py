"""Loops and branches over references: what their equations become."""

import numpy as np

import onax
import onax.numpy as jnp
from onax import lax
from onax._transforms.discharge import discharge_refs


def equation(jaxpr, name):
    """The first equation of a primitive."""
    return next(e for e in jaxpr.eqns if e.primitive.name == name)


def test_a_scan_carries_the_values_of_its_references():
    def f(a, b, xs):
        def step(carry, x):
            b[0] += x
            return carry + a[1], b[0]

        return lax.scan(step, 0.0, xs)

    refs = onax.new_ref(jnp.ones(2)), onax.new_ref(jnp.zeros(2))
    jaxpr = onax.make_jaxpr(f)(*refs, jnp.arange(3.0))
    assert equation(jaxpr, "scan").params["num_carry"] == 1
    assert equation(discharge_refs(jaxpr), "scan").params["num_carry"] == 3
    carry, ys = onax.jit(f)(*refs, jnp.arange(3.0))
    assert float(carry) == 3
    np.testing.assert_array_equal(ys, [0, 1, 3])
    np.testing.assert_array_equal(refs[1][...], [3, 0])


def test_branches_return_the_values_of_all_references():
    def f(index, a, b):
        def write(ref, value):
            ref[...] = value
            return 0

        return lax.switch(index, [lambda: write(a, 1.0), lambda: write(b, 2.0), lambda: 0])

    a, b = onax.new_ref(0.0), onax.new_ref(0.0)
    for index, expected in enumerate([(1, 0), (1, 2), (1, 2)]):
        onax.jit(f)(index, a, b)
        assert (float(a[...]), float(b[...])) == expected
    jaxpr = discharge_refs(onax.make_jaxpr(f)(1, a, b))
    assert all(len(branch.outvars) == 3 for branch in equation(jaxpr, "cond").params["branches"])


def test_a_while_loop_carries_a_reference_of_condition_and_body_once():
    def f(limit, ref, other):
        def step(i):
            ref[0] = ref[0] * 2 + other[0]
            return i + 1

        return lax.while_loop(lambda i: ref[0] < limit[0], step, 0)

    refs = [onax.new_ref(jnp.array([x])) for x in (20.0, 1.0, 1.0)]
    assert int(onax.jit(f)(*refs)) == 4
    assert [float(r[0]) for r in refs] == [20, 31, 1]
    loop = equation(discharge_refs(onax.make_jaxpr(f)(*refs)), "while")
    assert loop.params["cond_nconsts"] == loop.params["body_nconsts"] == 0 and len(loop.invars) == 4
    assert int(f(*refs)) == 0
