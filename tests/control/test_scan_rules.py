"""The rules of `scan_p`: what each does with the equation."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._control.scan_rules import scan_p
from onax._core.jaxpr import jaxprs_in_params
from onax._core.programs import LOOP, held_programs
from onax._core.rewrite import eliminate_dead_code

XS = np.linspace(0.1, 0.9, 4, dtype=np.float32)
W = np.float32(0.5)


def scans(jaxpr):
    """The scans of a program, those inside calls too."""
    out = []
    for eqn in jaxpr.eqns:
        if eqn.primitive is scan_p:
            out.append(eqn)
        else:
            for inner in jaxprs_in_params(eqn.params):
                out += scans(inner)
    return out


def product(w, xs):
    return lax.scan(lambda c, x: (c * jnp.sin(w) + x, c * x), np.float32(1), xs)


def loop(w, xs):
    c, ys = np.float32(1), []
    for x in xs:
        c, y = c * np.sin(w) + x, c * x
        ys.append(y)
    return c, np.stack(ys)


@pytest.mark.parametrize("reverse", [False, True])
def test_impl_runs_the_steps_in_order(reverse):
    carry, ys = lax.scan(lambda c, x: (c * W + x, c), np.float32(1), XS, reverse=reverse)
    order = XS[::-1] if reverse else XS
    c, want = np.float32(1), []
    for x in order:
        want.append(c)
        c = c * W + x
    np.testing.assert_allclose(carry, c, rtol=1e-6)
    np.testing.assert_allclose(ys, want[::-1] if reverse else want, rtol=1e-6)


def test_the_linear_scan_stacks_no_residual_that_is_the_same_in_every_step():
    carry = lambda w: lax.scan(lambda c, x: (c * jnp.sin(w) + x, None), np.float32(1), XS)[0]
    jaxpr = onax.make_jaxpr(onax.grad(carry))(W)
    forward, backward = scans(jaxpr)
    assert "sin" not in str(forward.params["jaxpr"])  # sin(w) is computed once, before the scan
    assert "cos" not in str(backward.params["jaxpr"])
    rows = [v.aval for v in forward.outvars[forward.params["num_carry"] :]]
    assert len(rows) == 1  # the carry alone: x is a slice of the scan, sin(w) and cos(w) are constants


def test_gradient_agrees_with_differences():
    f = lambda w: product(w, XS)[1].sum()
    eps = 1e-3
    want = (loop(W + eps, XS)[1].sum() - loop(W - eps, XS)[1].sum()) / (2 * eps)
    np.testing.assert_allclose(onax.grad(f)(W), want, rtol=1e-2)


def test_unused_results_and_the_carry_that_only_they_read_are_dropped():
    def f(xs):
        (a, _), _ = lax.scan(lambda c, x: ((c[0] + x, c[1] * x), c[1]), (np.float32(0), np.float32(1)), xs)
        return a

    (eqn,) = scans(eliminate_dead_code(onax.make_jaxpr(f)(XS)))
    assert eqn.params["num_carry"] == 1
    assert len(eqn.outvars) == 1
    assert "mul" not in str(eqn.params["jaxpr"])


def test_a_mapped_constant_maps_the_carry_and_leaves_the_slices():
    jaxpr = onax.make_jaxpr(onax.vmap(lambda w: product(w, XS)))(np.ones(3, np.float32))
    (eqn,) = scans(jaxpr)
    assert [v.aval.shape for v in eqn.outvars] == [(3,), (4, 3)]
    assert eqn.invars[-1].aval.shape == (4,)
    ws = np.array([0.1, 0.2, 0.3], np.float32)
    carry, ys = onax.vmap(lambda w: product(w, XS))(ws)
    for i, w in enumerate(ws):
        want = loop(w, XS)
        np.testing.assert_allclose(carry[i], want[0], rtol=1e-6)
        np.testing.assert_allclose(ys[i], want[1], rtol=1e-6)


@pytest.mark.parametrize("saved", [0, 1])
def test_a_policy_decides_what_each_step_stacks(saved):
    policy = onax.checkpoint_policies.everything_saveable if saved else onax.checkpoint_policies.nothing_saveable
    f = onax.checkpoint(lambda w, xs: product(w, xs)[0], policy=policy)
    got, want = (onax.grad(g)(W, XS) for g in (f, lambda w, xs: product(w, xs)[0]))
    np.testing.assert_allclose(got, want, rtol=1e-6)
    stacked = [v for eqn in scans(onax.make_jaxpr(onax.grad(f))(W, XS))[:1] for v in eqn.outvars if v.aval.shape]
    assert bool(stacked) is bool(saved)


def test_the_equation_tells_which_arguments_are_constants_and_carry():
    (eqn,) = scans(onax.make_jaxpr(product)(W, XS))
    (held,) = held_programs(eqn)
    assert (held.kind, held.num_consts, held.num_carry) == (LOOP, 1, 1)


@pytest.mark.parametrize("length", [0, 1])
def test_no_steps_and_one_step(length):
    carry, ys = lax.scan(lambda c, x: (c + x, c), np.float32(2), XS[:length])
    assert ys.shape == (length,)
    np.testing.assert_allclose(carry, 2 + XS[:length].sum(), rtol=1e-6)
