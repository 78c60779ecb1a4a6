"""A program a device: what it gives, and that it is what the one program of all devices gives.

`tests/golden/test_shard_map_cases.py` runs all programs compared with JAX in both ways; here are those in which the
could part: branches and loops whose condition differs between devices that meet inside, calls of Python, what fails on
one.
"""

import random

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile import pipeline
from onax._compile.devices import partition, rendezvous
from onax.sharding import AxisType
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

X = np.arange(12, dtype=np.float32).reshape(4, 3) / 4
Z = np.arange(32, dtype=np.float32).reshape(8, 4) / 16
W = np.arange(4, dtype=np.float32) / 2
RING = [(i, (i + 1) % 4) for i in range(4)]


def pmap(f, **options):
    return jax.pmap(f, axis_name="i", **options)


def mapped(f, i, o, **options):
    mesh = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Auto,) * 2)
    return jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **options)


def free(f, i, o):
    return mapped(f, i, o, check_vma=False)


def programs():
    """name -> (function, arguments)."""
    return {**_branches_and_loops(), **_values(), **_calls(), **_around(), **_within()}


def _branches_and_loops():
    total = lambda a: lax.psum(a, "i")
    until = lambda limit: lambda c: c[0] < limit
    both = P(("x", "y"))
    return {
        "cond that differs, with a sum": (
            pmap(lambda x: lax.cond(x[0] > 1, lambda a: total(a) + a, lambda a: a * 2, x)),
            (X,),
        ),
        "cond that differs, with sums": (
            pmap(lambda x: lax.cond(x[0] > 1, total, lambda a: lax.pmax(a, "i"), x)),
            (X,),
        ),
        "cond that is the same": (
            pmap(lambda x: lax.cond(lax.pmax(x[0], "i") > 1, total, lambda a: a, x)),
            (X,),
        ),
        "cond that differs, without sums": (pmap(lambda x: lax.cond(x[0] > 1, jnp.sin, jnp.cos, x) + total(x)), (X,)),
        "cond of weak types": (pmap(lambda x: lax.cond(x[0] > 1, lambda: total(x[0]) * 0 + 1, lambda: 2.0)), (X,)),
        "switch that differs": (
            pmap(
                lambda x: lax.switch(
                    lax.axis_index("i"), [total, lambda a: a, lambda a: lax.ppermute(a, "i", RING), lambda a: -a], x
                )
            ),
            (X,),
        ),
        "cond that differs along the other axis": (
            free(
                lambda x: lax.cond(x[0, 0] > 0.2, lambda a: lax.psum(a, "x"), lambda a: a, x[:, :1]), P(None, "y"), both
            ),
            (Z,),
        ),
        "while that differs, with a sum": (
            pmap(lambda x: lax.while_loop(until(9), lambda c: c + total(c), x + 1)),
            (X,),
        ),
        "while whose condition sums": (
            pmap(lambda x: lax.while_loop(lambda c: total(c)[0] + c[1] < 40, lambda c: c * 2 + 0.5, x)),
            (X,),
        ),
        "while that is the same": (
            pmap(lambda x: lax.while_loop(lambda c: lax.pmax(c[0], "i") < 9, lambda c: c + total(c), x + 1)),
            (X,),
        ),
        "while that differs along the other axis": (
            free(lambda x: lax.while_loop(lambda c: c[0, 0] < 5, lambda c: c + lax.psum(c, "x"), x), P("x", "y"), both),
            (Z,),
        ),
        "while without a step": (pmap(lambda x: lax.while_loop(until(-1), lambda c: c + total(c), x)), (X,)),
        "while of examples": (
            pmap(lambda x: jax.vmap(lambda a: lax.while_loop(lambda c: c < 9, lambda c: c + total(c), a))(x + 1)),
            (X,),
        ),
        "loops in loops": (
            pmap(
                lambda x: lax.scan(
                    lambda c, a: (
                        lax.fori_loop(0, 2, lambda i, d: d + lax.cond(a > 1, total, jnp.sin, d) * i, c),
                        c.sum(),
                    ),
                    x,
                    x,
                )
            ),
            (X,),
        ),
        "scan from behind": (pmap(lambda x: lax.scan(lambda c, a: (c * total(a), c), 1.0, x, reverse=True)), (X,)),
        "scan of nothing": (
            pmap(lambda x: lax.scan(lambda c, a: (c + total(a), total(a)), 1.0, x[:0])),
            (X,),
        ),
        "scan without slices": (
            pmap(lambda x: lax.scan(lambda c, _: (lax.ppermute(c, "i", RING), c), x, None, length=3)),
            (X,),
        ),
        "an index in a loop": (pmap(lambda x: lax.fori_loop(0, 3, lambda i, c: c + lax.axis_index("i") * i, x)), (X,)),
        "steps by a ring": (
            free(
                lambda x: lax.fori_loop(0, 3, lambda i, c: lax.ppermute(c, ("x", "y"), [(0, 7), (7, 1)]) + x, x),
                both,
                both,
            ),
            (Z,),
        ),
        "map in batches": (pmap(lambda x: lax.map(lambda a: total(a) * a, x, batch_size=2)), (X,)),
        "associative_scan": (pmap(lambda x: lax.associative_scan(lambda a, b: a + total(b), x)), (X,)),
    }


def _values():
    total = lambda a: lax.psum(a, "i")
    gathered = lambda a: lax.all_gather(a, "i")
    return {
        "no collective": (pmap(lambda x: jnp.sort(x)[::-1] @ x), (X,)),
        "an argument and a number": (pmap(lambda x: (x, x, 1.0, jnp.float32(2))), (X,)),
        "unused": (pmap(lambda x, y: total(x)), (X, X)),
        "no elements": (pmap(lambda x: (total(x), gathered(x), x.sum())), (X[:, :0],)),
        "complex": (pmap(lambda x: (total(x), gathered(x) * 1j, jnp.abs(lax.pmean(x, "i")))), (X * (1 + 2j),)),
        "small dtypes": (
            pmap(lambda x: [total(x.astype(d)) for d in ("bfloat16", "float16", "int8", "uint8", "bool", "int16")]),
            (X,),
        ),
        "keys": (
            pmap(
                lambda k: (
                    jax.random.normal(k, (3,)) + total(jax.random.uniform(k)),
                    jax.random.key_data(lax.ppermute(k, "i", RING)),
                    jax.random.key_data(lax.scan(lambda c, _: (lax.ppermute(c, "i", RING), c), k, None, length=2)[1]),
                )
            ),
            (jax.random.split(jax.random.key(0), 4),),
        ),
        "keys by index": (
            pmap(lambda x: jax.random.normal(jax.random.fold_in(jax.random.key(1), lax.axis_index("i")), (2,))),
            (X,),
        ),
        "a sum of what is the same": (pmap(lambda x: total(jnp.sin(jnp.arange(3.0)) / 3) + x), (X,)),
        "a sum of a constant": (pmap(lambda x: total(jnp.asarray(W)) * x[0]), (X,)),
        "groups": (pmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]])), (X,)),
        "broadcasts": (pmap(lambda x: lax.pbroadcast(x, "i", 2) * x), (X,)),
        "an array of the call itself": (free(lambda x: x, P(), P()), (Z,)),
        "sums along one axis": (
            mapped(
                lambda x: (lax.psum(x, "x"), lax.pmean(x, "y"), lax.psum(x, ("y", "x"))),
                P("x", "y"),
                (P(None, "y"), P("x"), P()),
            ),
            (Z,),
        ),
        "index of both": (
            free(lambda x: x + lax.axis_index(("y", "x")) * lax.axis_index("y"), P("x", "y"), P("x", "y")),
            (Z,),
        ),
        "of some axes": (mapped(lambda x: lax.psum(x, "y") + x, P(None, "y"), P(None, "y"), axis_names={"y"}), (Z,)),
        "linear algebra": (pmap(lambda x: jnp.linalg.qr(jnp.outer(x, x) + total(jnp.eye(3)))[1]), (X,)),
    }


@jax.custom_vjp
def _doubled(x):
    return lax.psum(x, "i") * 2


_doubled.defvjp(lambda x: (_doubled(x), x), lambda x, ct: (ct * x + lax.psum(ct, "i"),))


def _calls():
    total = lambda a: lax.psum(a, "i")
    loss = lambda w, x: lax.psum(jnp.sum(jnp.sin(x * w)), "x")
    looped = lambda w, x: lax.psum(
        lax.scan(lambda c, a: (c + jnp.sum(jnp.sin(a * w)), None), lax.pcast(0.0, "x", to="varying"), x)[0], "x"
    )
    by = lambda f, **options: mapped(jax.grad(f, **options), (P(), P("x")), P())
    matvec = lambda a: lambda v: lax.psum(a @ v, "x")
    python = lambda a: jax.pure_callback(np.sin, a, a, vmap_method="sequential")
    return {
        "grad of custom_vjp": (pmap(jax.grad(lambda x: _doubled(x).sum())), (X,)),
        "grad of a checkpoint": (pmap(jax.grad(jax.checkpoint(lambda x: jnp.sum(total(jnp.sin(x)) * x)))), (X,)),
        "grad of a loop": (pmap(jax.grad(lambda x: lax.scan(lambda c, a: (c * total(a), c), 1.0, x)[1].sum())), (X,)),
        "grad, checked": (by(loss), (W, Z)),
        "grad through a loop, checked": (by(looped), (W, Z)),
        "jit in it": (pmap(lambda x: jax.jit(lambda a: jnp.where(a > 1, total(a), a))(x)), (X,)),
        "relu": (pmap(lambda x: jax.nn.relu(total(x - 1))), (X,)),
        "a linear solve": (
            free(
                lambda a, b: lax.custom_linear_solve(
                    matvec(a), b, lambda mv, v: jnp.linalg.solve(jax.jacobian(mv)(v), v), symmetric=True
                ),
                (P(None, None), P()),
                P(),
            ),
            (np.eye(3, dtype=np.float32) + 1, np.arange(3, dtype=np.float32)),
        ),
        "python": (pmap(lambda x: jax.pure_callback(np.sin, x, x, vmap_method="expand_dims") + total(x)), (X,)),
        "python in a branch": (
            pmap(lambda x: lax.cond(x[0] > 1, python, total, x)),
            (X,),
        ),
        "reducers": (pmap(lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + b, (0,)) + total(x)), (X,)),
    }  # fmt: skip


def _around():
    f = lambda: pmap(lambda x: x * lax.psum(x, "i"))
    return {
        "work around it": (lambda x: jnp.cumsum(f()(x * 2), 0).T @ x, (X,)),
        "two of them": (lambda x: f()(f()(x)) + f()(x), (X,)),
        "in a loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: f()(c) / 10 + i, x), (X,)),
        "in a scan": (lambda x: lax.scan(lambda c, a: (f()(c) / 10, c.sum() * a), x, jnp.arange(3.0)), (X,)),
        "in a while loop": (lambda x: lax.while_loop(lambda c: c.sum() < 1e6, f(), x + 1), (X,)),
        "in a branch": (lambda x: lax.cond(x[0, 0] > 1, f(), lambda a: a, x), (X + 2,)),
        "in a linear solve": (
            lambda b: lax.custom_linear_solve(
                lambda v: pmap(lambda a: a * 2)(v), b, lambda mv, v: v / (mv(jnp.ones(4)) + 0), symmetric=True
            ),
            (W,),
        ),
        "mapped": (lambda x: jax.vmap(f())(jnp.stack([x, x + 1])), (X,)),
        "grad of it": (lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(f()(x)) ** 2))(x), (X,)),
        "hessian of it": (lambda x: jax.hessian(lambda x: jnp.sum(f()(x) ** 2))(x), (X[:2, :2],)),
        "jit of it": (lambda x: jax.jit(f())(x) + 1, (X,)),
    }


def _within():
    """Regions within regions, over other axes of the same devices."""

    def inner(f, i, o, **options):
        return jax.shard_map(f, in_specs=i, out_specs=o, axis_names={"y"}, **options)

    def outer(f, **options):
        return mapped(f, P("x"), P("x"), axis_names={"x"}, **options)

    def trained(x):
        summed = lambda w: inner(lambda v: lax.psum(jnp.sin(v * w), "y"), P(None, "y"), P())
        loss = lambda w: jnp.sum(summed(w)(x))
        return jax.grad(loss)(W[:1]) * jnp.ones_like(x)

    def both(v):
        return lax.psum(v, "y") + lax.axis_index("x") * lax.psum(v, ("x", "y")) + lax.axis_index("y")

    python = lambda a: jax.pure_callback(np.sin, a, a)
    free, columns = {"check_vma": False}, P(None, "y")
    return {
        "a sum": (outer(lambda x: inner(lambda v: lax.psum(v, "y"), columns, P())(x)[:, :1] * x), (Z,)),
        "sums along both": (outer(inner(both, columns, columns, **free), **free), (Z,)),
        "two, one after the other": (
            outer(lambda x: inner(both, P("y"), P("y"), **free)(jnp.sin(inner(both, P(), P(), **free)(x))), **free),
            (Z,),
        ),
        "within a loop": (
            outer(lambda x: lax.fori_loop(0, 3, lambda i, c: inner(both, columns, columns, **free)(c) / 9, x), **free),
            (Z,),
        ),
        "within a branch that differs": (
            outer(
                lambda x: lax.cond(
                    x[0, 0] > 1, inner(lambda v: v + lax.pmax(v, "y"), columns, columns, **free), jnp.sin, x
                ),
                **free,
            ),
            (Z,),
        ),
        "gradients within": (outer(trained), (Z,)),
        "gradients of both": (
            lambda z: jax.grad(lambda z: jnp.sum(outer(inner(jnp.sin, columns, columns))(z) ** 2))(z),
            (Z,),
        ),
        "python within": (
            outer(inner(lambda v: python(v) + lax.psum(v, "y"), columns, columns, **free), **free),
            (Z,),
        ),
        "python beside": (
            outer(lambda x: python(x) + inner(both, columns, columns, **free)(x), **free),
            (Z,),
        ),
    }  # fmt: skip


def leaves_of(function, args):
    return jax.tree_util.tree_leaves(function(*args))


def same(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape and a.weak_type == b.weak_type
        assert np.allclose(a, b, rtol=2e-5, atol=1e-5, equal_nan=True), (np.asarray(a), np.asarray(b))
        pieces = [{s.device.id: (s.index, np.asarray(s.data)) for s in x.addressable_shards} for x in (a, b)]
        assert pieces[0].keys() == pieces[1].keys()
        for device, (index, piece) in pieces[0].items():
            assert index == pieces[1][device][0] and np.allclose(piece, pieces[1][device][1], rtol=2e-5, atol=1e-5)


with eight_devices():
    TOGETHER = programs()
with eight_devices(separate=True):
    APART = programs()


@pytest.mark.parametrize("way", ["eager", "jit"])
@pytest.mark.parametrize("name", APART)
def test_agrees_with_the_one_program(name, way, monkeypatch):
    through = (lambda f: f) if way == "eager" else jax.jit
    regions, run = [], partition.PartitionedRegion.run
    counted = lambda region, values: (regions.append(1), run(region, values))[1]
    monkeypatch.setattr(partition.PartitionedRegion, "run", counted)
    with eight_devices():
        want = leaves_of(through(TOGETHER[name][0]), TOGETHER[name][1])
    assert not regions
    with eight_devices(separate=True):
        same(leaves_of(through(APART[name][0]), APART[name][1]), want)
    assert regions


# ---- random nests


def _leaves(axes, size):
    """Operations on vectors of three numbers along some axes, over which there are `size` devices."""
    ring = [(i, (i + 1) % size) for i in range(size)]
    return [
        lambda v: jnp.sin(v) * v,
        jnp.cumsum,
        lambda v: lax.psum(v, axes) / size,
        lambda v: lax.psum(jnp.arange(3.0) / 7, axes) * v / size,
        lambda v: v - lax.pmean(jnp.tanh(v), axes),
        lambda v: lax.pmax(lax.stop_gradient(v), axes) - v,
        lambda v: lax.ppermute(v, axes, ring),
        lambda v: lax.ppermute(v, axes, ring[:1]),
        lambda v: v * 0.5 + lax.axis_index(axes) * 0.1,
        lambda v: lax.all_gather(v, axes, tiled=True)[-3:],
        lambda v: lax.psum_scatter(jnp.tile(v, size), axes, tiled=True) * 0.3,
        lambda v: lax.all_to_all(jnp.stack([v] * size), axes, 0, 0).sum(0) / size,
    ]


def _conditions(axes):
    return [
        lambda v: v[0] > 0,
        lambda v: lax.pmax(lax.stop_gradient(v)[0], axes) > 0.3,
        lambda v: lax.axis_index(axes) % 2 == 0,
    ]


def _nest(rng, depth, varying, loops):
    """A random function of a vector; `varying` makes results of one type where types say what varies."""

    def operation():
        axes = rng.choice(["x", "y", ("x", "y"), ("y", "x")])
        kind = rng.choice(["leaf", "cond", "scan", "while", "fori", "checkpoint"]) if depth else "leaf"
        if kind == "leaf" or (kind == "while" and not loops):
            return rng.choice(_leaves(axes, {"x": 4, "y": 2}.get(axes, 8)))
        f, g = (_nest(rng, depth - 1, varying, loops) for _ in range(2))
        holds = rng.choice(_conditions(axes))
        return {
            "cond": lambda v: lax.cond(holds(v), f, g, v),
            "scan": lambda v: lax.scan(lambda c, i: (f(c) * 0.5 + i, c.sum()), v, jnp.arange(2.0))[0],
            "while": lambda v: lax.while_loop(
                lambda c: (c[0] < 3) & holds(c[1]), lambda c: (c[0] + 1, f(c[1])), (varying(0), v)
            )[1],
            "fori": lambda v: lax.fori_loop(0, 2, lambda i, c: f(c) + i, v),
            "checkpoint": jax.checkpoint(f),
        }[kind]

    operations = [operation() for _ in range(rng.randint(1, 3))]

    def run(v):
        for each in operations:
            v = varying(each(v))
        return v

    return run


def _to_varying(v):
    return v + lax.axis_index(("x", "y")) * 0


def nest(seed):
    """A random program over eight devices."""
    rng = random.Random(seed)
    checked, inside, outside = rng.random() < 0.4, rng.choice(["", "grad", "jvp"]), rng.choice(["", "grad", "jit"])
    f = _nest(rng, 2, _to_varying if checked else lambda v: v, loops="grad" not in (inside, outside))
    body = {
        "": f,
        "grad": jax.grad(lambda v: jnp.sum(f(v) * jnp.arange(3.0))),
        "jvp": lambda v: jax.jvp(f, (v,), (v,))[1],
    }[inside]
    spread = mapped(lambda x: body(x[0])[None], P(("x", "y")), P(("x", "y")), check_vma=checked)
    return {"": spread, "jit": jax.jit(spread), "grad": jax.grad(lambda x: jnp.sum(spread(x) ** 2))}[outside]


# In seed 283 a branch asks whether a sum over the devices of differences that cancel is positive: rounding decides.
SEEDS = [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 400) if seed != 283)]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_nests(seed):
    x, found = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3), []
    for separate in (False, True):
        with eight_devices(separate):
            found.append(np.asarray(nest(seed)(x)))
    assert np.allclose(*found, rtol=1e-4, atol=1e-5, equal_nan=True)


# ---- errors and options


def test_what_python_raises_comes_out():
    def check(a):
        if (a > 2).any():
            raise KeyError("a line of the user's")
        return a

    with eight_devices(separate=True), pytest.raises(KeyError, match="a line of the user's"):
        pmap(lambda x: lax.psum(jax.pure_callback(check, x, x, vmap_method="sequential"), "i"))(X)


def test_messages_are_printed_in_the_order_of_the_one_program(capsys):
    def f(x):
        jax.debug.print("first {}", x[0], ordered=True)
        y = lax.psum(x, "i")
        jax.debug.print("then {}", y[0], ordered=True)
        return lax.scan(lambda c, a: (jax.debug.print("step {}", a), (c, None))[1], y, x)[0]

    printed = []
    for separate in (False, True):
        with eight_devices(separate):
            jax.block_until_ready(pmap(f)(X))
            jax.effects_barrier()
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and printed[0].count("\n") == 4 + 1 + 12


def test_regions_within_use_all_devices():
    name, names_of_runs = "sums along both", []
    with eight_devices(separate=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            partition,
            "run_together",
            lambda programs, names, *rest: (names_of_runs.append(names), rendezvous.run_together(programs, names))[1],
        )
        function, args = programs()[name]
        function(*args)
        devices = [str(d) for d in jax.devices()]
    assert devices in names_of_runs


def test_64_bits_reach_the_devices():
    wide = X.astype(np.float64)
    with eight_devices(separate=True), jax.enable_x64(True):
        out = pmap(lambda x: lax.psum(jnp.cumsum(x / 3), "i") + lax.axis_index("i"))(wide)
    assert out.dtype == np.float64
    assert np.allclose(out, np.cumsum(wide / 3, 1).sum(0) + np.arange(4)[:, None], rtol=1e-14)


def test_a_segment_is_compiled_once():
    compiled, compile_one = [], pipeline.compile_for_session
    with eight_devices(separate=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "compile_for_session", lambda *args: (compiled.append(1), compile_one(*args))[1])
        f = pmap(lambda x: jnp.sin(lax.psum(jnp.sin(x), "i")) + 1)
        first, again = f(X), f(X + 0)
    assert len(compiled) == 2 and np.array_equal(first, again)


def test_a_result_shares_no_memory_with_an_argument():
    mine = Z.copy()
    with eight_devices(separate=True):
        outs = [
            free(lambda x: x, P(), P())(mine),
            jax.jit(lambda x: lax.cond(x[0, 0] < 9, pmap(lambda a: a), lambda a: a, x[:4]))(mine),
        ]
    mine[:] = -1
    assert not any((np.asarray(out) == -1).any() for out in outs)


def test_lowered_and_compiled():
    with eight_devices(separate=True):
        lowered = pmap(lambda x: x * lax.psum(x, "i")).lower(X)
        assert "ReduceSum" in lowered.as_text()
        assert np.allclose(lowered.compile()(X), X * X.sum(0))


def test_without_jit():
    with eight_devices(separate=True), jax.disable_jit():
        assert np.allclose(pmap(lambda x: x * lax.psum(x, "i"))(X), X * X.sum(0))


def test_nans_are_found():
    with (
        eight_devices(separate=True),
        jax.debug_nans(True),
        pytest.raises(FloatingPointError, match=r"(?s)\(nan\) .*the operation is log"),
    ):
        pmap(lambda x: jnp.log(lax.psum(x, "i") - 9))(X)
