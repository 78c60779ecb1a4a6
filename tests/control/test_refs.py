"""Loops, branches and regions over references: what their equations become, and what they compute."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax._transforms.discharge import discharge_refs
from onax.sharding import AxisType, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices


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


# ---- shard_map: references of its body, and given to it; JAX 0.10.2 gives the same under `jit`

X = np.arange(16, dtype=np.float32)
WHERE, WHOLE = P("x"), P()


def _set(x):
    r = onax.new_ref(x)
    r[...] += 1
    r[0] = 5.0
    return r[...]


def _sum(x):
    r = onax.new_ref(x)
    r[...] += lax.psum(r[...], "x")
    return onax.freeze(r)


def _loop(x):
    r = onax.new_ref(jnp.zeros_like(x))

    def step(i, c):
        r[i] += x[i] * c
        return c + 1

    lax.fori_loop(0, 2, step, 1)
    lax.cond(x[0] > 4, lambda: r.__setitem__(0, -1.0), lambda: None)
    return r[...]


def _index(x):
    r = onax.new_ref(x)
    r[lax.axis_index("x") % 2] = 7.0
    return r[...]


def _shards(f):
    return np.concatenate([f(i, x) for i, x in enumerate(X.reshape(8, 2))])


INSIDE = {
    "set": (_set, _shards(lambda i, x: [5, x[1] + 1])),
    "psum": (_sum, _shards(lambda i, x: x + X.reshape(8, 2).sum(0))),
    "loop": (_loop, _shards(lambda i, x: [-1 if x[0] > 4 else x[0], 2 * x[1]])),
    "index": (_index, _shards(lambda i, x: [7, x[1]] if i % 2 == 0 else [x[0], 7])),
    "vmap": (onax.vmap(lambda y: _set(y[None])[0]), np.full(16, 5)),
}


@pytest.fixture(params=["auto", "explicit", "separate", "unchecked"])
def over(request):
    """A function (body, in_specs, out_specs) -> mapped function over eight devices, with its mesh."""
    kind = AxisType.Explicit if request.param == "explicit" else AxisType.Auto
    with eight_devices(request.param == "separate"):
        mesh = onax.make_mesh((8,), ("x",), (kind,))

        def mapped(f, in_specs, out_specs=WHERE):
            check = request.param != "unchecked"
            return onax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check)

        mapped.place = lambda x, spec=WHERE: onax.device_put(x, NamedSharding(mesh, spec))
        yield mapped


@pytest.mark.parametrize("way", [lambda f: f, onax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", INSIDE)
def test_references_of_the_body(name, way, over):
    body, want = INSIDE[name]
    assert np.array_equal(way(over(body, WHERE))(over.place(X)), want)


def _double(r, y):
    r[...] = r[...] * 2 + y
    return y + r[0]


def _total(r, y):
    r[...] += lax.psum(y, "x")
    return y * 1


def _steps(r, y):
    def step(i, c):
        r[...] = r[...] * 2 + y
        return c + r[0]

    return y + lax.fori_loop(0, 3, step, y[0])


GIVEN = {  # (body, the reference's first value, its spec, its last value, result)
    "sharded": (_double, X, WHERE, 3 * X, _shards(lambda i, x: x + 3 * x[0])),
    "replicated": (_total, X[:2], WHOLE, X[:2] + X.reshape(8, 2).sum(0), X),
    "loop": (_steps, X, WHERE, 15 * X, _shards(lambda i, x: x + x[0] * (1 + 3 + 7 + 15))),
    "only read": (lambda r, y: r[...] + y, X[:2], WHOLE, X[:2], _shards(lambda i, x: x + X[:2])),
}


@pytest.mark.parametrize("way", [lambda f: f, onax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", GIVEN)
def test_references_that_are_arguments(name, way, over):
    body, first, spec, last, result = GIVEN[name]
    ref = onax.new_ref(over.place(first, spec))
    out = way(over(body, (spec, WHERE)))(ref, over.place(X))
    assert np.array_equal(out, result) and np.array_equal(ref[...], last)


@pytest.mark.parametrize("way", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_references_that_the_body_closes_over(way, over):
    ref = onax.new_ref(over.place(X[:2], WHOLE))

    def body(y):
        ref[...] += 1
        return ref[...] * y

    assert np.array_equal(way(over(body, WHERE))(over.place(X)), _shards(lambda i, x: (X[:2] + 1) * x))
    assert np.array_equal(ref[...], X[:2] + 1)


def _made_outside(over):
    def f(y):
        ref = onax.new_ref(y * 1)
        out = over(lambda r, x: (r.__setitem__(..., r[...] + x), x * r[...])[1], (WHERE, WHERE))(ref, y)
        return ref[...], out

    return f


@pytest.mark.parametrize("way", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_transformations_of_references_made_outside(way, over):
    f, x = _made_outside(over), over.place(X)
    want = 2 * X, 2 * X * X
    assert all(map(np.array_equal, way(f)(x), want))
    out, tangents = way(lambda y: onax.jvp(f, (y,), (y,)))(x)
    assert all(map(np.array_equal, (*out, *tangents), (*want, 2 * X, 4 * X * X)))
    assert np.array_equal(way(onax.grad(lambda y: sum(map(jnp.sum, f(y)))))(x), 2 + 4 * X)


def test_what_is_refused(over):
    ref = onax.new_ref(over.place(X))
    with pytest.raises(ValueError, match="only one reference to a mutable array may be passed"):
        over(lambda r, s: r[...] + s[...], (WHERE, WHERE))(ref, ref)


@pytest.mark.parametrize("way", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_a_replicated_reference_gets_no_varying_value(way):
    with eight_devices():
        mesh = onax.make_mesh((8,), ("x",), (AxisType.Auto,))
        ref = onax.new_ref(onax.device_put(X[:2], NamedSharding(mesh, WHOLE)))
        mapped = onax.shard_map(_double, mesh=mesh, in_specs=(WHOLE, WHERE), out_specs=WHERE)
        with pytest.raises(ValueError, match="could not infer replication over any axes"):
            way(mapped)(ref, jnp.asarray(X))
        assert np.array_equal(ref[...], X[:2])


def test_specs_are_those_of_the_value():
    with eight_devices():
        mesh = onax.make_mesh((8,), ("x",), (AxisType.Explicit,))
        x = onax.device_put(X, NamedSharding(mesh, WHERE))
        ref = onax.new_ref(x)
        out = onax.jit(onax.shard_map(_double, mesh=mesh, out_specs=WHERE))(ref, x)
        assert np.array_equal(out, GIVEN["sharded"][4]) and np.array_equal(ref[...], 3 * X)
