"""Collectives under one named axis against what they mean in NumPy; their adjoints; mapped axes anywhere."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import onax as jax
import onax.numpy as jnp
from onax import lax
from virtual_devices import eight_devices

N = 4


def stacked(results):
    return np.stack(list(results))


def _exchange(xs, split, concat):
    """What all_to_all gives each of N examples: its piece of every other one, along `concat`."""
    pieces = [np.split(x, N, split) for x in xs]
    return stacked(np.concatenate([pieces[j][i] for j in range(N)], concat) for i in range(N))


def _scatter(xs, d):
    return stacked(np.split(xs.sum(0), N, d))


def _permuted(xs, perm):
    out = np.zeros_like(xs)
    for a, b in perm:
        out[b] = xs[a]
    return out


PERM = ((0, 2), (3, 0), (1, 1))
# name -> (collective of one example, shape of one, what it means for all examples together)
MEANINGS = {
    "psum": (lambda x: lax.psum(x, "i"), (2, 3), lambda xs: stacked([xs.sum(0)] * N)),
    "pmean": (lambda x: lax.pmean(x, "i"), (2, 3), lambda xs: stacked([xs.mean(0)] * N)),
    "all_gather": (lambda x: lax.all_gather(x, "i", axis=1), (2, 3), lambda xs: stacked([xs.swapaxes(0, 1)] * N)),
    "all_gather tiled": (
        lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
        (2, 3),
        lambda xs: stacked([np.concatenate(list(xs), 1)] * N),
    ),
    "psum_scatter": (
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1),
        (2, N),
        lambda xs: _scatter(xs, 1)[..., 0],
    ),
    "psum_scatter tiled": (
        lambda x: lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
        (2, 2 * N),
        lambda xs: _scatter(xs, 1),
    ),
    "all_to_all": (
        lambda x: lax.all_to_all(x, "i", 0, 1),
        (N, 3),
        lambda xs: np.stack([xs[:, i].T for i in range(N)]),
    ),
    "all_to_all tiled": (
        lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True),
        (3, 2 * N),
        lambda xs: _exchange(xs, 1, 0),
    ),
    "all_to_all tiled, in place": (
        lambda x: lax.all_to_all(x, "i", 1, 1, tiled=True),
        (3, 2 * N),
        lambda xs: _exchange(xs, 1, 1),
    ),
    "ppermute": (lambda x: lax.ppermute(x, "i", PERM), (2, 3), lambda xs: _permuted(xs, PERM)),
    "pbroadcast": (lambda x: lax.pbroadcast(x, "i", 1), (2, 3), lambda xs: stacked([xs[1]] * N)),
}


def examples(shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, (N, *shape)).astype(np.float32)


def mapped(f, **options):
    return jax.vmap(f, axis_name="i", **options)


@pytest.mark.parametrize("name", MEANINGS)
def test_means(name):
    collective, shape, meaning = MEANINGS[name]
    xs = examples(shape)
    assert np.array_equal(mapped(collective)(xs), meaning(xs))


@pytest.mark.parametrize("name", MEANINGS)
@given(axis=st.integers(0, 2), inner=st.integers(0, 2), seed=st.integers(0, 99))
@settings(max_examples=10, deadline=None)
def test_under_another_vmap(name, axis, inner, seed):
    """An unnamed vmap outside or inside, mapped over any axis, changes nothing."""
    collective, shape, meaning = MEANINGS[name]
    both = np.stack([examples(shape, seed), examples(shape, seed + 1)])
    want = stacked(meaning(xs) for xs in both)
    outside = np.moveaxis(both, 0, axis)
    assert np.array_equal(jax.vmap(mapped(collective), in_axes=axis)(outside), want)
    inside = np.moveaxis(both, 0, inner + 1)
    assert np.array_equal(mapped(jax.vmap(collective, in_axes=inner, out_axes=0))(inside), want.swapaxes(0, 1))


@pytest.mark.parametrize("name", MEANINGS)
def test_transpose_is_the_adjoint(name):
    """The pull-back inside the axis, against the whole linear map's transpose."""
    collective, shape, meaning = MEANINGS[name]
    xs = examples(shape)
    cts = np.random.default_rng(1).integers(-9, 10, meaning(xs).shape).astype(np.float32)
    pulled = mapped(lambda x, ct: jax.vjp(collective, x)[1](ct)[0])(xs, cts)
    assert np.isclose(np.vdot(meaning(xs), cts), np.vdot(xs, pulled), rtol=1e-5)
    outside = jax.vjp(mapped(collective), xs)[1](cts)[0]
    assert np.allclose(outside, pulled, rtol=1e-6)


@given(st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
def test_pshuffle(order):
    xs = np.arange(6.0, dtype=np.float32)
    assert np.array_equal(mapped(lambda x: lax.pshuffle(x, "i", list(order)))(xs), xs[list(order)])


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8))
@settings(max_examples=20, deadline=None)
def test_groups(labels):
    groups = [g for g in ([i for i, label in enumerate(labels) if label == k] for k in range(4)) if g]
    xs = np.arange(8.0, dtype=np.float32) ** 2
    own = [next(g for g in groups if i in g) for i in range(8)]
    for collective, meaning in ((lax.psum, np.sum), (lax.pmax, np.max), (lax.pmin, np.min)):
        out = mapped(lambda x, c=collective: c(x, "i", axis_index_groups=groups))(xs)
        assert np.array_equal(out, [meaning(xs[g]) for g in own])


@pytest.mark.parametrize("names", [("i", "j"), ("j", "i")])
def test_two_axes_are_one(names):
    """A tuple of names is one axis, the first name the slowest."""
    xs = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    flat = xs if names == ("i", "j") else xs.swapaxes(0, 1)
    flat = flat.reshape(6, 4)
    perm = [(0, 5), (5, 2), (3, 3)]

    def body(x):
        return (
            lax.all_gather(x, names), lax.axis_index(names), lax.ppermute(x, names, perm),
            lax.psum_scatter(jnp.tile(x, 3), names, tiled=True),
            lax.all_to_all(jnp.arange(6) + x[0], names, 0, 0),
        )  # fmt: skip

    gathered, index, permuted, scattered, exchanged = jax.vmap(jax.vmap(body, axis_name="j"), axis_name="i")(xs)
    order = lambda out: np.asarray(out if names == ("i", "j") else out.swapaxes(0, 1)).reshape(6, *out.shape[2:])
    assert all(np.array_equal(g, flat) for g in order(gathered))
    assert np.array_equal(order(index), np.arange(6))
    want = np.zeros_like(flat)
    for a, b in perm:
        want[b] = flat[a]
    assert np.array_equal(order(permuted), want)
    assert np.array_equal(order(scattered), np.tile(flat.sum(0), 3).reshape(6, 2))
    assert np.array_equal(order(exchanged), (np.arange(6)[None] + flat[:, :1]).T)


def test_derivative_of_a_sum_of_what_is_not_mapped():
    """In a branch chosen example by example the operand is mapped, and still one value (JAX 0.10.2 forgets this)."""
    signs = np.array([1.0, -1.0, 2.0], np.float32)
    branch = lambda a, b: lax.cond(a > 0, lambda b: lax.psum(jnp.tanh(b), "i"), lambda b: b, b)
    total = lambda b: jnp.sum(mapped(branch, in_axes=(0, None))(signs, b))
    want = 2 * 3 * (1 - np.tanh(0.3) ** 2) + 1
    assert np.isclose(jax.grad(total)(0.3), want) and np.isclose(jax.jvp(total, (0.3,), (1.0,))[1], want)


def test_all_to_all_of_what_is_not_mapped():
    """Every example holds the same; JAX 0.10.2 gives these a dimension too many."""
    same = np.arange(4, dtype=np.float32)
    out = mapped(lambda x: lax.all_to_all(jnp.asarray(same), "i", 0, 0) + 0 * x)(np.zeros(4, np.float32))
    assert np.array_equal(out, np.broadcast_to(same[:, None], (4, 4)))


# ---- groups of examples along several axes

GROUPS = {
    "pairs": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "mixed": [[0, 4, 2, 6], [7, 3, 5, 1]],
    "singles": [[i] for i in range(8)],
}
AXES = {"one": ("i",), "two": ("i", "j"), "two, reversed": ("j", "i")}


def _swapped(xs, split, concat):
    """For each member of a group what `all_to_all` gives it."""
    chunks = [np.split(x, len(xs), split) for x in xs]
    return [np.concatenate([own[k] for own in chunks], concat) for k in range(len(xs))]


IN_GROUPS = {  # name: (collective, what it gives the members of one group)
    "psum": (lax.psum, lambda xs: [sum(xs)] * len(xs)),
    "pmax": (lax.pmax, lambda xs: [np.max(xs, 0)] * len(xs)),
    "all_gather": (lambda *a, **k: lax.all_gather(*a, axis=1, **k), lambda xs: [np.stack(xs, 1)] * len(xs)),
    "all_gather, tiled": (
        lambda *a, **k: lax.all_gather(*a, tiled=True, **k),
        lambda xs: [np.concatenate(xs)] * len(xs),
    ),
    "psum_scatter, tiled": (
        lambda *a, **k: lax.psum_scatter(*a, scatter_dimension=1, tiled=True, **k),
        lambda xs: np.split(sum(xs), len(xs), 1),
    ),
    "all_to_all, tiled": (lambda x, n, **k: lax.all_to_all(x, n, 0, 0, tiled=True, **k), lambda xs: _swapped(xs, 0, 0)),
    "all_to_all, up": (lambda x, n, **k: lax.all_to_all(x, n, 0, 1, tiled=True, **k), lambda xs: _swapped(xs, 0, 1)),
    "all_to_all, down": (lambda x, n, **k: lax.all_to_all(x, n, 1, 0, tiled=True, **k), lambda xs: _swapped(xs, 1, 0)),
}


def _over_axes(f, names, way):
    """A function of eight stacked examples that maps f over axes of these names."""
    sizes = {"i": 8} if names == ("i",) else {"i": 2, "j": 4}
    if way == "vmap":
        mapped = jax.vmap(f, axis_name="i") if len(names) == 1 else jax.vmap(jax.vmap(f, axis_name="j"), axis_name="i")
        split = lambda xs: xs.reshape(*sizes.values(), *xs.shape[1:])
        return lambda xs: (lambda out: out.reshape(8, *out.shape[len(sizes) :]))(mapped(split(xs)))
    mesh, spec = jax.make_mesh(tuple(sizes.values()), tuple(sizes)), jax.sharding.PartitionSpec(tuple(sizes))
    body = lambda x: f(x[0])[None]
    if way == "vmap in shard_map":
        body = lambda x: jax.vmap(f, in_axes=-1, out_axes=-1)(x[0, ..., None])[None, ..., 0]
    mapped = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=way != "unchecked")
    return jax.jit(mapped) if way == "jit" else mapped


@pytest.mark.parametrize("way", ["vmap", "shard_map", "unchecked", "jit", "vmap in shard_map", "separate"])
@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("name", IN_GROUPS)
def test_groups_along_axes(name, groups, axes, way):
    (collective, meaning), groups, names = IN_GROUPS[name], GROUPS[groups], AXES[axes]
    xs = np.arange(8 * 8 * 4, dtype=np.float32).reshape(8, 8, 4) ** 2
    order = np.arange(8).reshape(2, 4).T.reshape(-1) if names == ("j", "i") else np.arange(8)
    want = np.empty(8, object)
    for members in groups:
        for i, x in zip(members, meaning([xs[order[i]] for i in members])):
            want[order[i]] = x
    body = lambda x: collective(x, names if len(names) > 1 else "i", axis_index_groups=groups)
    with eight_devices(way == "separate"):
        assert np.array_equal(_over_axes(body, names, way)(xs), np.stack(list(want)))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("name", [n for n in IN_GROUPS if n != "pmax"])
def test_the_transpose_in_groups_is_the_adjoint(name, axes):
    collective, names = IN_GROUPS[name][0], AXES[axes]
    xs = np.arange(8 * 8 * 4, dtype=np.float32).reshape(8, 8, 4)
    body = lambda x: collective(x, names if len(names) > 1 else "i", axis_index_groups=GROUPS["mixed"])
    with eight_devices():
        out, pull = jax.vjp(_over_axes(body, names, "unchecked"), xs)
        ct = np.random.default_rng(0).integers(-9, 10, out.shape).astype(np.float32)
        assert np.isclose(np.vdot(out, ct), np.vdot(xs, pull(ct)[0]), rtol=1e-5)
