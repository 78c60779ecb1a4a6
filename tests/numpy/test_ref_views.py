"""Views of mutable array references: they read and write the same elements as views of ndarrays."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax.test_util import check_grads

VALUES = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)

# A view of a reference with the shape (2, 3, 4), and the same part of an ndarray; all can be written.
VIEWS = {
    "row": (lambda ref, i: ref.at[i], lambda a, i: a[i]),
    "row of a part": (lambda ref, i: ref.at[:, 1:].at[i], lambda a, i: a[:, 1:][i]),
    "strided": (lambda ref, i: ref.at[i, :, ::2].at[1:], lambda a, i: a[i, :, ::2][1:]),
    "dynamic slice": (lambda ref, i: ref.at[0].at[onax.ds(i, 2)], lambda a, i: a[0, i : i + 2]),
    "reshaped": (lambda ref, i: ref.at[i].reshape(2, -1), lambda a, i: a[i].reshape(2, 6)),
    "flat": (lambda ref, i: ref.reshape(-1), lambda a, i: a.reshape(24)),
    "transposed": (lambda ref, i: ref.T.at[i], lambda a, i: a.T[i]),
    "permuted": (lambda ref, i: ref.transpose((1, 2, 0)).at[i], lambda a, i: a.transpose(1, 2, 0)[i]),
    "bits": (lambda ref, i: ref.at[i].bitcast(np.int32), lambda a, i: a[i].view(np.int32)),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("known", [False, True])
def test_a_view_reads_and_writes_its_part(name, known):
    view, part = VIEWS[name]
    expected = VALUES.copy()
    part(expected, 1)[0] += 1
    part(expected, 1)[...] = part(expected, 1) * 2

    def f(ref, i):
        v = view(ref, 1 if known else i)
        v[0] = v[0] + v.dtype.type(1)
        v[...] *= v.dtype.type(2)
        return v.get(), v.shape + v.at[0].shape

    ref = onax.new_ref(jnp.asarray(VALUES))
    value, shape = onax.jit(f)(ref, 1)
    np.testing.assert_array_equal(value, part(expected, 1))
    np.testing.assert_array_equal(ref[...], expected)
    assert tuple(map(int, shape)) == value.shape + value.shape[1:]


def test_views_of_wider_and_narrower_elements():
    values = np.arange(8, dtype=np.int16).reshape(4, 2)
    ref = onax.new_ref(jnp.asarray(values))
    wide = onax.jit(lambda ref: ref.bitcast(np.int32)[...])(ref)
    np.testing.assert_array_equal(wide, [[0 + (2 << 16), 1 + (3 << 16)], [4 + (6 << 16), 5 + (7 << 16)]])

    @onax.jit
    def narrow(x):
        return onax.new_ref(x).bitcast(np.int16)[...]

    np.testing.assert_array_equal(narrow(wide), values)


def test_views_print_as_their_steps():
    def f(ref):
        row = ref.at[1]
        row[0] = row[0] * 2
        onax.ref.addupdate(row.reshape(12), 3, 1.0)

    text = str(onax.make_jaxpr(f)(onax.new_ref(jnp.asarray(VALUES))))
    assert "b:f32[4] <- a[1,:,:][0,:]" in text
    assert "a[1,:,:][0,:] <- c" in text
    assert "a[1,:,:]{reshape([12])}[3] += 1.0" in text


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda ref: ref.reshape(5, 2), r"cannot reshape shape \(2, 3, 4\) into shape \(5, 2\)"),
        (lambda ref: ref.reshape(-1, -1), r"At most one dimension can be -1, but got \(-1, -1\)"),
        (lambda ref: ref.reshape(5, -1), "do not evenly divide the size of the ref"),
        (lambda ref: ref.transpose((0, 1)), r"Permutation \(0, 1\) does not match the rank of the type \(3\)"),
        (lambda ref: ref.at[0, 0, 0, 0], "`indices` must not be longer than `shape`"),
    ],
)
def test_views_that_do_not_suit_are_refused(view, message):
    with pytest.raises(ValueError, match=message):
        onax.jit(lambda ref: view(ref)[...])(onax.new_ref(jnp.asarray(VALUES)))


def test_views_are_differentiated_and_batched():
    def f(x, i):
        ref = onax.new_ref(x)
        row = ref.at[i]
        row[...] = jnp.sin(row[...])
        return (ref[...] ** 2).sum()

    f = onax.jit(f)
    check_grads(lambda x: f(x, 1), (jnp.asarray(VALUES),), order=1)
    alone = [f(jnp.asarray(VALUES), i) for i in (0, 1)]
    np.testing.assert_allclose(onax.vmap(f, in_axes=(None, 0))(jnp.asarray(VALUES), jnp.arange(2)), alone, rtol=1e-6)


CALLS = {
    "jit": onax.jit,
    "cond": lambda f: lambda view: onax.lax.cond(True, f, f, view),
    "checkpoint": onax.checkpoint,
    "shard_map": lambda f: onax.shard_map(f, mesh=onax.make_mesh((1,), ("x",)), in_specs=onax.P(), out_specs=onax.P()),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("view", [lambda ref, i: ref.at[i, 1:], lambda ref, i: ref.T.at[2:].at[..., i]])
def test_views_are_arguments_of_traced_functions(name, view):
    def double(view):
        view[...] = view[...] * 2
        return view[...]

    @onax.jit
    def f(x, i):
        ref = onax.new_ref(x)
        return CALLS[name](double)(view(ref, i)), ref[...]

    @onax.jit
    def plain(x, i):
        ref = onax.new_ref(x)
        return double(view(ref, i)), ref[...]

    for got, want in zip(f(VALUES, 1), plain(VALUES, 1), strict=True):
        np.testing.assert_array_equal(got, want)


REFUSED = {
    "vmap": (lambda ref: onax.vmap(lambda v: v[...])(ref.at[0]), TypeError, "TransformedRefs are not allowed"),
    "result": (lambda ref: onax.jit(lambda v: v)(ref.at[0]), ValueError, "returned a mutable array reference"),
    "two views": (lambda ref: onax.jit(lambda v, w: v[0])(ref.at[0], ref.at[1]), ValueError, "appeared at both"),
    "twice": (lambda ref: onax.jit(lambda v, w: v[0])(ref, ref), ValueError, "appeared at both v and w"),
    "cond": (lambda ref: onax.lax.cond(True, lambda v, w: 0, lambda v, w: 1, ref, ref), ValueError, "at both v and w"),
    "closed over": (lambda ref: onax.jit(lambda v: v[0] + ref[0])(ref), ValueError, "both closed over and passed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_references_in_programs_are_distinct(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        onax.jit(lambda x: call(onax.new_ref(x)))(VALUES)
