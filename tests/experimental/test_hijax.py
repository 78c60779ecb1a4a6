"""Operations with rules of the user's own, as objects; values that have a state are refused."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.experimental import hijax
from onax.experimental.hijax import VJPHiPrimitive, Zero, instantiate_zeros


class Effect:
    pass


class Power(VJPHiPrimitive):
    """x ** power, with all rules, each of which counts its runs."""

    runs: list = []

    def __init__(self, aval, *, power):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {"power": power}
        super().__init__()

    def expand(self, x):
        return x**self.power

    def jvp(self, primals, tangents):
        self.runs.append("jvp")
        return self(*primals), self.power * power(primals[0], self.power - 1) * tangents[0]

    def vjp_fwd(self, nzs_in, x):
        self.runs.append("vjp_fwd")
        return self(x), x

    def vjp_bwd(self, x, ct, accum):
        accum.accum(ct * self.power * power(x, self.power - 1))

    def batch(self, axis_data, args, dims):
        return power(args[0], self.power), dims[0]


def power(x, n):
    return Power(onax.typeof(x), power=n)(x)


class Product(VJPHiPrimitive):
    """x * y, with the mapped axes of the result as the only rule of batching."""

    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval, aval), aval, {}
        super().__init__()

    def expand(self, x, y):
        return x * y

    def batch_dim_rule(self, axis_data, dims):
        return dims[1] if dims[0] is None else dims[0]

    def vjp_fwd(self, nzs_in, x, y):
        return self(x, y), (x, y)

    def vjp_bwd_retval(self, residuals, ct):
        x, y = residuals
        return ct * y, x * ct

    def jvp(self, primals, tangents):
        (x, y), (x_dot, y_dot) = primals, map(instantiate_zeros, tangents)
        return self(x, y), x_dot * y + x * y_dot


def product(x, y):
    return Product(onax.typeof(x))(x, y)


class Cube(VJPHiPrimitive):
    """x ** 3 with a rule for `linearize`."""

    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {}
        super().__init__()

    def expand(self, x):
        return x**3

    def lin(self, nzs_in, x):
        return self(x), x

    def linearized(self, x, tangent):
        return 3 * x * x * tangent


class Pair(VJPHiPrimitive):
    """Trees of arguments and results."""

    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = ({"a": aval, "b": [aval]},), (aval, {"sum": aval}), {}
        super().__init__()

    def expand(self, tree):
        return tree["a"] * 2, {"sum": tree["a"] + tree["b"][0]}

    def vjp_fwd(self, nzs_in, tree):
        return self(tree), (None, nzs_in)

    def vjp_bwd_retval(self, residuals, ct):
        double, rest = ct
        return ({"a": 2 * instantiate_zeros(double) + instantiate_zeros(rest["sum"]), "b": [rest["sum"]]},)


def pair(a, b):
    return Pair(onax.typeof(a))({"a": a, "b": [b]})


@pytest.mark.parametrize("decorate", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_values_derivatives_and_batches(decorate):
    cube = decorate(lambda x: power(x, 3))
    assert cube(2.0) == 8
    assert onax.grad(cube)(2.0) == 12
    assert onax.grad(onax.grad(cube))(2.0) == 12
    assert onax.jvp(cube, (2.0,), (1.0,)) == (8, 12)
    assert onax.hessian(cube)(2.0) == 12
    xs = jnp.arange(3.0)
    np.testing.assert_array_equal(onax.vmap(cube)(xs), [0, 1, 8])
    np.testing.assert_array_equal(onax.vmap(onax.grad(cube))(xs), [0, 3, 12])
    np.testing.assert_array_equal(onax.jacrev(cube)(xs), np.diag([0, 3, 12]))
    np.testing.assert_array_equal(onax.jacfwd(cube)(xs), np.diag([0, 3, 12]))


@pytest.mark.parametrize("derive", [onax.grad, lambda f: lambda x: onax.jvp(f, (x,), (1.0,))[1]])
def test_one_rule_runs_once(derive):
    Power.runs.clear()
    onax.jit(derive(onax.checkpoint(lambda x: Power(onax.typeof(x), power=1)(x))))(2.0)
    assert len(Power.runs) == 1


def test_it_prints_and_compares_as_its_parameters():
    aval = onax.typeof(1.0)
    assert repr(Power(aval, power=2)) == "Power[{'power': 2}]"
    assert Power(aval, power=2) == Power(aval, power=2) != Power(aval, power=3)
    assert hash(Power(aval, power=2)) == hash(Power(aval, power=2))
    text = str(onax.make_jaxpr(lambda x: power(x, 2))(1.0))
    assert "b:f32[] = call_hi_primitive[_prim=Power[{'power': 2}]] a" in text


def test_batching_from_the_mapped_axes_of_the_result():
    x, y = jnp.arange(24.0).reshape(2, 3, 4), jnp.arange(3.0) + 1
    f = onax.vmap(onax.vmap(product, in_axes=(0, None)), in_axes=(2, None), out_axes=2)
    for g in (f, onax.jit(f)):
        np.testing.assert_array_equal(g(x, y), x * y[None, :, None])
    total = lambda x, y: onax.vmap(product, in_axes=(0, None))(x, y).sum()
    dx, dy = onax.grad(total, (0, 1))(x[0, :, 0], 2.0)
    np.testing.assert_array_equal(dx, [2, 2, 2])
    assert dy == x[0, :, 0].sum()
    dots = onax.jvp(lambda x: onax.vmap(product)(x, y), (y,), (jnp.ones(3),))[1]
    np.testing.assert_array_equal(dots, y)


def test_arguments_that_are_not_differentiated():
    assert onax.grad(product)(2.0, 3.0) == 3
    assert onax.grad(product, 1)(2.0, 3.0) == 2
    assert onax.jit(onax.grad(product, (0, 1)))(2.0, 3.0) == (3, 2)


def test_a_rule_for_linearize():
    y, push = onax.linearize(lambda x: Cube(onax.typeof(x))(x), 2.0)
    assert (y, push(1.0)) == (8, 12)
    with pytest.raises(NotImplementedError, match="for linearize support, subclass"):
        onax.linearize(lambda x: power(x, 3), 2.0)[1](1.0)


def test_trees():
    double, rest = onax.jit(pair)(1.0, 2.0)
    assert (double, rest["sum"]) == (2, 3)
    assert onax.grad(lambda a, b: pair(a, b)[0] + pair(a, b)[1]["sum"], (0, 1))(1.0, 2.0) == (3, 1)
    assert onax.jit(onax.grad(lambda a: pair(a, 1.0)[0]))(1.0) == 2


def test_in_loops_branches_and_other_rules():
    assert lax.scan(lambda c, x: (product(c, x), c), 1.0, jnp.arange(1.0, 4.0))[0] == 6
    grad = onax.grad(lambda c: lax.scan(lambda c, x: (product(c, x), c), c, jnp.arange(1.0, 4.0))[0])
    assert grad(2.0) == 6
    assert onax.jit(lambda p, x: lax.cond(p, lambda x: power(x, 2), lambda x: x, x))(True, 3.0) == 9
    assert onax.grad(lambda x: lax.cond(True, lambda x: power(x, 2), lambda x: x, x))(3.0) == 6

    @onax.custom_vjp
    def f(x):
        return power(x, 2)

    f.defvjp(lambda x: (power(x, 2), x), lambda x, ct: (7 * ct,))
    assert onax.jit(onax.grad(f))(3.0) == 7


def test_references():
    class Add(VJPHiPrimitive):
        def __init__(self, ref, aval):
            self.in_avals, self.out_aval, self.params = (ref, aval), None, {}
            super().__init__()

        def expand(self, ref, x):
            ref[...] += x

    add = lambda ref, x: Add(onax.typeof(ref), onax.typeof(x))(ref, x)
    ref = onax.new_ref(1.0)
    add(ref, 2.0)
    onax.jit(add)(ref, 5.0)
    assert ref[...] == 8


def test_zeros_are_symbolic():
    seen = []

    class Second(Product):
        def jvp(self, primals, tangents):
            seen.append([type(t) is Zero for t in tangents])
            return self(*primals), tangents[1]

    onax.jvp(lambda y: Second(onax.typeof(y))(2.0, y), (3.0,), (1.0,))
    assert seen == [[True, False]]


class Incomplete(VJPHiPrimitive):
    def __init__(self, **fields):
        self.__dict__.update(fields)
        super().__init__()


class Twice(Power):
    def vjp_bwd_retval(self, x, ct):
        return (ct,)


AVAL = onax.typeof(1.0)
FIELDS = {"in_avals": (AVAL,), "out_aval": AVAL, "params": {}}


class Bare(Incomplete):
    def expand(self, x):
        return x


class Wrong(Incomplete):
    def expand(self, x):
        return jnp.ones(2)


ERRORS = {
    "no arguments": (lambda: Incomplete(), AttributeError, "should set `self.in_avals`"),
    "no result": (lambda: Incomplete(in_avals=()), AttributeError, "should set `self.out_aval`"),
    "no params": (lambda: Incomplete(in_avals=(), out_aval=()), AttributeError, "should set `self.params`"),
    "two rules": (lambda: Twice(AVAL, power=2), AttributeError, "should not override both `vjp_bwd`"),
    "expand": (lambda: Incomplete(**FIELDS)(1.0), NotImplementedError, "must implement `expand`"),
    "grad": (lambda: onax.grad(Bare(**FIELDS))(1.0), NotImplementedError, "for grad support"),
    "jvp": (lambda: onax.jvp(Bare(**FIELDS), (1.0,), (1.0,)), NotImplementedError, "for jvp support"),
    "vmap": (lambda: onax.vmap(Bare(**FIELDS))(jnp.ones(2)), NotImplementedError, "for vmap support"),
    "tree": (lambda: Bare(**FIELDS)(1.0, 2.0), TypeError, "the arguments of Bare"),
    "shape": (lambda: onax.jit(Wrong(**FIELDS))(1.0), TypeError, "`expand` gave a float32"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    call, error, message = ERRORS[name]
    with pytest.raises(error, match=message):
        call()


def test_effects():
    hijax.control_flow_allowed_effects.add_type(Effect)
    assert hijax.control_flow_allowed_effects.contains(Effect())
    assert not hijax.control_flow_allowed_effects.contains(3)


def test_what_has_a_state_is_refused():
    with pytest.raises(NotImplementedError, match="cur_qdd"):
        hijax.cur_qdd(1)
