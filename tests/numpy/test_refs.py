"""Mutable array references: reading and writing eagerly and under every transformation, as JAX does."""

import gc
import re
import weakref

import numpy as np
import pytest

import onax
import onax.export
import onax.numpy as jnp
from onax import lax
from onax._core.evaluate import jaxpr_as_fun
from onax.numpy._ref_views import read_index
from onax.test_util import check_grads

VALUES = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)

# An index as NumPy reads it.
INDICES = [
    ...,
    (),
    0,
    -1,
    (1, 2),
    (1, 2, 3),
    slice(None),
    slice(1, None),
    (slice(None), slice(0, 3, 2)),
    (slice(None), -2),
    (..., 1),
    (0, ..., slice(2, 4)),
    np.array([1, 0]),
    (slice(None), np.array([0, 2, 2])),
    (slice(None), np.array([0, 2, 2]), 1),
    (0, slice(None), np.array([3, 1])),
    (np.array([0, 1]), slice(None), np.array([1, 0])),
    (np.array([[0], [1]]), np.array([0, 2])),
    (slice(0, 0),),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("compiled", [False, True])
def test_an_index_reads_and_writes_what_numpys_does(index, compiled):
    decorate = onax.jit if compiled else lambda f: f
    ref = onax.new_ref(jnp.asarray(VALUES))
    expected = VALUES.copy()
    np.testing.assert_array_equal(decorate(lambda ref: ref[index])(ref), expected[index])
    new = np.full(expected[index].shape, 7, np.float32)

    def write(ref):
        ref[index] = jnp.asarray(new)

    decorate(write)(ref)
    expected[index] = new
    np.testing.assert_array_equal(ref[...], expected)
    decorate(lambda ref: onax.ref.addupdate(ref, index, jnp.asarray(new)))(ref)
    np.add.at(expected, index, new)
    np.testing.assert_array_equal(ref[...], expected)


def test_swap_returns_what_was_there():
    ref = onax.new_ref(jnp.arange(3))
    assert onax.ref.swap(ref, 1, 9) == 1
    np.testing.assert_array_equal(onax.ref.swap(ref, None, jnp.zeros(3, int)), [0, 9, 2])
    np.testing.assert_array_equal(onax.ref.get(ref), [0, 0, 0])


def test_a_reference_says_what_it_is():
    ref = onax.new_ref(np.arange(3, dtype=np.float32))
    assert repr(ref) == "Ref([0., 1., 2.], dtype=float32)"
    assert str(onax.typeof(ref)) == "Ref{float32[3]}"
    assert isinstance(ref, onax.Ref) and not isinstance(ref, onax.Array)
    assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((3,), np.float32, 1, 3, 3)
    assert onax.tree.leaves({"a": ref}) == [ref]
    assert repr(onax.new_ref(3.0)) == "Ref(3., dtype=float32, weak_type=True)"


@pytest.mark.parametrize(
    ("index", "value", "error", "text"),
    [
        (0, 5, ValueError, "Invalid shape for `swap`"),
        (
            ...,
            5,
            ValueError,
            "Ref shape: (2, 3, 4). Expected shape: (2, 3, 4). Value shape: (). Transforms: ().",
        ),
        (slice(2, None), 0.0, ValueError, "Out of bound slice: start=2, dim=2."),
        (
            0,
            jnp.ones((3, 4), jnp.int32),
            ValueError,
            "Invalid dtype for `swap`. Ref dtype: float32. Value dtype: int32.",
        ),
        (5, 0.0, ValueError, "Out of bound indexer: idx=5, dim=2."),
        ((0, 0, 0, 0), 0.0, ValueError, "`indices` must not be longer than `shape`"),
        (slice(None, None, -1), 0.0, ValueError, "step >= 1"),
        ("a", 0.0, TypeError, "'a'"),
        (jnp.array([True, False]), 0.0, TypeError, "bool"),
    ],
)
def test_wrong_indices_and_values_are_refused(index, value, error, text):
    ref = onax.new_ref(jnp.asarray(VALUES))
    with pytest.raises(error, match=re.escape(text)):
        ref[index] = value
    np.testing.assert_array_equal(ref[...], VALUES)


def test_positions_out_of_bounds_are_clamped_where_programs_are_staged():
    ref = onax.new_ref(jnp.arange(3.0))
    assert onax.jit(lambda r: r[5])(ref) == 2 and onax.jit(lambda r: r[-5])(ref) == 0 and ref[-5] == 0

    @onax.jit
    def write(r):
        r[7] = 5.0
        onax.ref.addupdate(r, -7, 1.0)

    write(ref)
    assert ref[...].tolist() == [1, 1, 5]
    total, _ = onax.lax.scan(lambda c, _: (c + ref[9], None), 0.0, None, length=2)
    assert total == 10


def test_the_printed_program_is_jaxs():
    def f(r, x, i):
        r[0, :2] = jnp.stack([x, x])
        onax.ref.addupdate(r, (1, i), x)
        return r[i], r[..., 1:], onax.ref.swap(r, (0, 0), x)

    ref = onax.new_ref(jnp.zeros((2, 3)))
    lines = str(onax.make_jaxpr(f)(ref, jnp.float32(1), 1)).splitlines()
    assert lines[0] == "{ lambda ; a:Ref{f32[2,3]} b:f32[] c:i32[]. let"
    assert [line.strip() for line in lines if "a[" in line] == [
        "a[0,:2] <- d",
        "a[1,c] += b",
        "e:f32[3] <- a[c,:]",
        "f:f32[2,2] <- a[:,1:]",
        "g:f32[], a[0,0] <- a[0,0], b",
    ]
    with pytest.raises(TypeError, match="add takes arrays, not mutable array references"):
        onax.make_jaxpr(lambda r: r + 1)(ref)
    with pytest.raises(TypeError):
        ref + 1


def accumulated(xs):
    """The sum of squares, and the partial sums, by a loop that writes a reference."""
    total = onax.new_ref(0.0)

    def step(count, x):
        total[...] += x * x
        return count + 1, total[...]

    _, partial = lax.scan(step, 0, xs)
    return total[...], partial


def powers(x):
    """x ** 4, by a loop that multiplies a reference."""
    product = onax.new_ref(x)

    def multiply(_, carry):
        product[...] = product[...] * x
        return carry

    lax.fori_loop(0, 3, multiply, None)
    return product[...]


def by_branches(x):
    """sin(x) if x is positive, else 2 * x; the branches write a reference, and so does a checkpointed function."""
    ref = onax.new_ref(jnp.zeros(2))

    def positive():
        ref[0] = jnp.sin(x)

    def negative():
        ref[0] = 2 * x

    lax.cond(x > 0, positive, negative)

    @onax.checkpoint
    def copy():
        ref[1] = ref[0]

    copy()
    return ref[1]


def by_while(x):
    """The least x * 2**k that is at least 10; condition and body use one reference."""
    ref = onax.new_ref(x)

    def double(count):
        ref[...] = ref[...] * 2
        return count + 1

    lax.while_loop(lambda count: ref[...] < 10, double, 0)
    return ref[...]


@pytest.mark.parametrize("compiled", [False, True])
def test_loops_and_branches_write_references(compiled):
    decorate = onax.jit if compiled else lambda f: f
    total, partial = decorate(accumulated)(jnp.arange(4.0))
    assert float(total) == 14
    np.testing.assert_array_equal(partial, [0, 1, 5, 14])
    assert float(decorate(powers)(2.0)) == 16
    assert float(decorate(by_branches)(-3.0)) == -6
    assert float(decorate(by_while)(3.0)) == 12
    np.testing.assert_allclose(decorate(by_branches)(1.0), np.sin(1.0), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_and_batches_of_functions_that_use_references(compiled):
    decorate = onax.jit if compiled else lambda f: f
    assert float(decorate(onax.grad(powers))(2.0)) == 32
    assert float(decorate(onax.hessian(powers))(2.0)) == 48
    assert [float(x) for x in decorate(lambda x: onax.jvp(powers, (x,), (1.0,)))(2.0)] == [16, 32]
    np.testing.assert_array_equal(decorate(onax.vmap(onax.grad(powers)))(jnp.arange(3.0)), [0, 4, 32])
    np.testing.assert_array_equal(decorate(onax.grad(lambda xs: accumulated(xs)[0]))(jnp.arange(3.0)), [0, 2, 4])
    np.testing.assert_array_equal(decorate(onax.vmap(by_while))(jnp.array([3.0, 11.0, 5.0])), [12, 11, 10])
    np.testing.assert_allclose(decorate(onax.grad(by_branches))(1.0), np.cos(1.0), rtol=1e-6)
    np.testing.assert_allclose(decorate(onax.vmap(by_branches))(jnp.array([1.0, -1.0])), [np.sin(1), -2], rtol=1e-6)


def test_functions_write_references_that_they_are_given_or_close_over():
    ref = onax.new_ref(jnp.zeros(3))

    @onax.jit
    def add(target, x):
        target[1:] += x
        return target[...].sum()

    @onax.jit
    def scale(x):
        ref[...] = ref[...] * x

    assert float(add(ref, 1.0)) == 2
    scale(3.0)
    scale(2.0)
    assert float(add(ref, 1.0)) == 14
    outer = onax.jit(lambda r: add(r, 2.0) + r[0])
    assert float(outer(ref)) == 18
    onax.vmap(lambda r, x: r.__setitem__(..., x))(ref, jnp.arange(3.0))
    np.testing.assert_array_equal(ref[...], [0, 1, 2])
    np.testing.assert_array_equal(onax.jit(lambda r: 1.0)(ref), 1)


def test_a_backward_rule_writes_a_reference():
    seen = onax.new_ref(0.0)

    @onax.custom_vjp
    def probe(x, ref):
        return x

    def backward(ref, cotangent):
        ref[...] = cotangent
        return cotangent, None

    probe.defvjp(lambda x, ref: (x, ref), backward)
    assert float(onax.grad(lambda x: 3 * probe(x, seen))(2.0)) == 3
    assert float(seen[...]) == 3
    assert float(onax.jit(onax.grad(lambda x: 5 * probe(x, seen)))(2.0)) == 5
    assert float(seen[...]) == 5


def plumbed(ref, x):
    @onax.custom_vjp
    def probe(ref, x):
        return x

    def backward(ref, cotangent):
        ref[...] = cotangent
        return None, cotangent

    probe.defvjp(lambda ref, x: (x, ref), backward)
    return jnp.sin(probe(ref, jnp.sin(x)))


WRAPPED = {
    "grad of jit": lambda: onax.grad(onax.jit(plumbed), 1),
    "jit of grad of jit": lambda: onax.jit(onax.grad(onax.jit(plumbed), 1)),
    "jit inside of jit": lambda: onax.grad(onax.jit(lambda ref, x: onax.jit(plumbed)(ref, x)), 1),
    "vjp of jit": lambda: lambda ref, x: onax.vjp(onax.jit(lambda x: plumbed(ref, x)), x)[1](jnp.float32(1))[0],
    "program": lambda: onax.grad(lambda ref, x: jaxpr_as_fun(onax.make_jaxpr(plumbed)(ref, x))(ref, x)[0], 1),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_backward_rule_of_a_compiled_function_writes_a_reference(name):
    ref, x = onax.new_ref(jnp.float32(0)), jnp.float32(1)
    np.testing.assert_allclose(WRAPPED[name]()(ref, x), np.cos(np.sin(1.0)) * np.cos(1.0), rtol=1e-6)
    np.testing.assert_allclose(ref[...], np.cos(np.sin(1.0)), rtol=1e-6)
    ref[...] = 0.0
    np.testing.assert_allclose(onax.jit(plumbed)(ref, x), np.sin(np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(
        onax.jvp(lambda y: onax.jit(plumbed)(ref, x) * y, (x,), (x,))[1], np.sin(np.sin(1.0)), rtol=1e-6
    )
    assert float(ref[...]) == 0


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("remat", [False, True])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_backward_rule_with_references_is_part_of_a_scan(jit, remat, length):
    ref, x = onax.new_ref(jnp.float32(0)), jnp.float32(1)

    def f(ref, x):
        body = lambda c, _: (plumbed(ref, c), c)
        return lax.scan(onax.checkpoint(body) if remat else body, x, None, length=length)[0]

    value, slopes = np.float64(1), []
    for _ in range(length):
        slopes.append(np.cos(value) * np.cos(np.sin(value)))
        value = np.sin(np.sin(value))
    np.testing.assert_allclose(f(ref, x), value, rtol=1e-6)
    np.testing.assert_allclose((onax.jit(f) if jit else f)(ref, x), value, rtol=1e-6)
    np.testing.assert_allclose(onax.grad(onax.jit(f) if jit else f, 1)(ref, x), np.prod(slopes), rtol=1e-6)


def test_a_backward_rule_with_references_is_part_of_a_branch():
    ref, x = onax.new_ref(jnp.float32(0)), jnp.float32(1)
    f = lambda x, where: lax.cond(where, lambda c: plumbed(ref, c), lambda c: c, x)
    np.testing.assert_allclose(f(x, True), np.sin(np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(onax.grad(f)(x, True), np.cos(1.0) * np.cos(np.sin(1.0)), rtol=1e-6)
    np.testing.assert_allclose(onax.grad(f)(x, False), 1.0)
    with pytest.raises(NotImplementedError, match="takes references and is part of a loop or branch"):
        onax.jit(onax.grad(f))(x, True)  # which branch runs is not known


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("given, wanted", [(lambda g: g, 36.0), (lambda g: None, 18.0)])
def test_a_differentiated_reference_is_the_argument_of_a_custom_rule(jit, given, wanted):
    """A cotangent that the rule returns is that of the value which the reference has at the call; numbers are JAX's."""

    @onax.custom_vjp
    def read(ref):
        return ref[...]

    read.defvjp(lambda ref: (read(ref), None), lambda _, g: (given(g),))

    def f(x):
        ref = onax.new_ref(x)
        ref[...] = ref[...] * 3
        return (onax.jit(read) if jit else read)(ref) * ref[...]

    assert float(read(onax.new_ref(3.5))) == 3.5
    np.testing.assert_allclose(onax.grad(f)(2.0), wanted, rtol=1e-6)


def raise_and_add(total, row):
    row[...] += total
    return total + row[...], 2 * row[...]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("wrap", [lambda f: f, onax.jit], ids=["eager", "jit"])
def test_a_scan_goes_over_the_slices_of_a_reference(reverse, wrap):
    ref, array = onax.new_ref(jnp.arange(6.0).reshape(3, 2)), np.arange(6.0).reshape(3, 2)
    step = lambda c, xs: (lambda out: (out[0], out[1] * xs[1]))(raise_and_add(c, xs[0]))
    total, ys = wrap(lambda r: lax.scan(step, jnp.ones(2), (r, jnp.arange(3.0)), reverse=reverse))(ref)
    wanted, wanted_ys = np.ones(2), np.zeros((3, 2))
    for i in range(2, -1, -1) if reverse else range(3):
        array[i] += wanted
        wanted = wanted + array[i]
        wanted_ys[i] = 2 * array[i] * i
    np.testing.assert_allclose(ref[...], array)
    np.testing.assert_allclose(total, wanted)
    np.testing.assert_allclose(ys, wanted_ys)


def test_transformations_of_a_scan_over_a_reference():
    def f(x):
        ref = onax.new_ref(x)
        total, ys = lax.scan(raise_and_add, 1.0, ref)
        return total + (ys * ref[...]).sum()

    def by_hand(x):
        total, terms = 1.0, []
        for row in x:
            terms.append(2 * (row + total) ** 2)
            total = total + row + total
        return total + sum(terms)

    x = jnp.arange(3.0)
    check_grads(f, (x,), 2, rtol=1e-2)
    np.testing.assert_allclose(f(x), by_hand(x), rtol=1e-6)
    np.testing.assert_allclose(onax.jit(onax.grad(f))(x), onax.grad(by_hand)(x), rtol=1e-6)
    xs = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(onax.vmap(f)(xs), [f(row) for row in xs], rtol=1e-6)
    with onax.disable_jit():
        np.testing.assert_allclose(f(x), by_hand(x), rtol=1e-6)
    lines = [line.strip() for line in str(onax.make_jaxpr(f)(x)).splitlines()]
    assert any(line.startswith("jaxpr={ lambda ;") and line.endswith(":Ref{f32[]}. let") for line in lines)


def test_references_freed_in_a_compiled_function_are_not_used_again():
    def read_freed():
        ref = onax.new_ref(1.0)
        onax.free_ref(ref)
        return ref[...]

    def free_twice(x):
        ref = onax.new_ref(x)
        onax.free_ref(ref)
        onax.free_ref(ref)
        return x

    with pytest.raises(ValueError, match=r"`get` was called on a mutable array reference .* after `free_ref`"):
        onax.jit(read_freed)()
    with pytest.raises(ValueError, match="`free_ref` was called on a mutable array reference"):
        onax.jit(free_twice)(1.0)


def test_tracers_of_references_have_the_methods_of_references():
    def f(r):
        r.addupdate(1.0, 0)
        r.addupdate(jnp.ones(3))
        r.set(7.0, (1,))
        old = r.swap(5.0, 2)
        return old, r.get(0), r.get()

    ref = onax.new_ref(jnp.arange(3.0))
    old, first, rest = onax.jit(f)(ref)
    assert (float(old), float(first), rest.tolist()) == (3.0, 2.0, [2.0, 7.0, 5.0])
    assert ref[...].tolist() == [2.0, 7.0, 5.0]
    onax.vmap(lambda r: r.addupdate(1.0))(ref)
    assert ref[...].tolist() == [3.0, 8.0, 6.0]
    for name in ("addupdate", "get", "set", "swap"):
        with pytest.raises(AttributeError, match=name):
            onax.jit(lambda x, name=name: getattr(x, name))(jnp.ones(3))


def test_custom_vjp_functions_neither_return_references_nor_get_one_twice():
    @onax.custom_vjp
    def primal(ref):
        return ref

    @onax.custom_vjp
    def given(x, ref):
        return x

    @onax.custom_vjp
    def twice(a, b):
        return 0.0

    primal.defvjp(lambda ref: (0.0, None), lambda *_: (None,))
    given.defvjp(lambda x, ref: (x, onax.new_ref(0)), lambda ref, g: (g, None))
    twice.defvjp(lambda a, b: (0.0, None), lambda *_: (None, None))
    ref = onax.new_ref(0.0)
    for wrap in (lambda f: f, onax.jit):
        with pytest.raises(ValueError, match="custom_vjp primal function primal returned a mutable array reference"):
            wrap(primal)(ref)
        with pytest.raises(ValueError, match=r"custom_vjp fwd function .* at output tree path \[1\] that was not an"):
            onax.vjp(wrap(given), 3.0, ref)
        with pytest.raises(ValueError, match=r"a(nd at | and )b"):
            onax.vjp(wrap(twice), ref, ref)


def test_the_type_of_a_whole_value_has_the_sharding_of_the_reference():
    mesh = onax.make_mesh((1,), ("x",), axis_types=(onax.sharding.AxisType.Explicit,))
    with onax.set_mesh(mesh):
        sharding = onax.sharding.NamedSharding(mesh, onax.P("x"))
        ref = onax.new_ref(jnp.zeros((4, 4), device=sharding))
        specs = []
        onax.jit(lambda r: specs.extend([onax.typeof(r).sharding.spec, onax.typeof(r[...]).sharding.spec]))(ref)
    assert specs[0] == specs[1] == onax.P("x", None)


def test_lowerings_of_users_primitives_make_references():
    sums = onax.extend.core.Primitive("sums_of_references")
    sums.def_abstract_eval(lambda x: x)

    def lowering(x):
        ref = onax.new_ref(x)
        ref[...] += 1
        return onax.freeze(ref)

    onax.interpreters.mlir.register_lowering(sums, onax.interpreters.mlir.lower_fun(lowering, multiple_results=False))
    assert float(onax.jit(sums.bind)(3.0)) == 4.0


def test_a_transformation_keeps_its_values_out_of_references_from_outside():
    ref = onax.new_ref(0.0)

    def write(x):
        ref[...] = x
        return x * x

    with pytest.raises(Exception, match="a differentiated value on a non-differentiated array reference of type Ref"):
        onax.grad(write)(1.0)
    with pytest.raises(Exception, match="vmapped value on an unbatched array reference of type Ref"):
        onax.vmap(write)(jnp.arange(3.0))
    with pytest.raises(Exception, match="vmapped value on an unbatched array reference of type Ref"):
        onax.vmap(lambda x: write(1.0))(jnp.arange(3.0))
    with pytest.raises(Exception, match="performing an addupdate operation with vmapped value on an unbatched array"):
        onax.vmap(lambda x: onax.ref.addupdate(ref, ..., x))(jnp.arange(3.0))
    with pytest.raises(Exception, match="performing a set/swap operation with vmapped value on an unbatched array"):
        onax.vmap(lambda x: onax.ref.swap(ref, ..., x))(jnp.arange(3.0))
    assert float(ref[...]) == 0


def test_references_are_neither_returned_nor_passed_twice():
    ref = onax.new_ref(jnp.zeros(3))
    with pytest.raises(ValueError, match="mutable array references cannot be returned"):
        onax.jit(lambda: ref)()
    with pytest.raises(ValueError, match="passed in as the argument r"):
        onax.make_jaxpr(lambda r: r)(ref)
    with pytest.raises(ValueError, match=r"only one reference to a mutable array .* appeared at both a and b"):
        onax.jit(lambda a, b: a[...])(ref, ref)
    with pytest.raises(ValueError, match=r"was created on line .*test_refs.py"):
        onax.jit(lambda x: onax.new_ref(x))(1.0)
    with pytest.raises(ValueError, match=r"for scan .* appeared at both x\[0\] and x\[1\]"):
        lax.scan(lambda c, x: (c, 0), 0, (ref, ref))
    with pytest.raises(ValueError, match=r"for cond .* appeared at both a and b"):
        lax.cond(True, lambda a, b: ..., lambda a, b: ..., ref, ref)
    with pytest.raises(TypeError, match="takes an array"):
        onax.new_ref(ref)


def test_dynamic_slices():
    ref = onax.new_ref(jnp.arange(5))

    @onax.jit
    def move(r, i):
        r[onax.ds(i, 2)] = r[onax.ds(0, 2)] + 10
        return r[onax.ds(i, 2)]

    np.testing.assert_array_equal(move(ref, 3), [10, 11])
    np.testing.assert_array_equal(ref[...], [0, 1, 2, 10, 11])
    assert "a[b:b+2]" in str(onax.make_jaxpr(lambda r, i: r[onax.ds(i, 2)])(ref, 1))


def test_freeze_gives_the_last_value():
    def f(x):
        ref = onax.new_ref(jnp.zeros(2))
        ref[0] = x
        return onax.freeze(ref)

    np.testing.assert_array_equal(f(3.0), [3, 0])
    np.testing.assert_array_equal(onax.jit(f)(3.0), [3, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint32", "bfloat16", "float64", "complex64", "bool"])
def test_every_dtype(dtype):
    with onax.enable_x64(True):
        ref = onax.new_ref(jnp.ones(3, dtype))
        onax.jit(lambda r: r.__setitem__(1, r[0] ^ True if dtype == "bool" else r[0] + r[2]))(ref)
        assert ref.dtype == jnp.dtype(dtype)
        np.testing.assert_array_equal(np.asarray(ref[...], complex), [1, 0 if dtype == "bool" else 2, 1])


def test_functions_with_references_export_and_those_from_outside_are_refused():
    model = onax.export.export(powers)(2.0)
    assert float(model.call(3.0)) == 81
    ref = onax.new_ref(1.0)
    with pytest.raises(onax.errors.ExportError, match="from outside"):
        onax.export.export(lambda x: x + ref[...])(2.0)


def test_a_reference_is_freed():
    ref = onax.new_ref(jnp.zeros(3))
    watched = weakref.ref(ref)
    onax.jit(lambda r: r.__setitem__(0, 1.0))(ref)
    del ref
    gc.collect()
    assert watched() is None


def test_an_index_expression_becomes_entries_and_operands():
    ref = onax.new_ref(jnp.zeros((2, 3)))
    index, operands = read_index(ref, (-1, jnp.array([0, 1])))
    assert index == (1, "array") and len(operands) == 1


@pytest.mark.parametrize("compiled", [False, True])
def test_strided_slices(compiled):
    decorate = onax.jit if compiled else lambda f: f
    ref = onax.new_ref(jnp.arange(10.0), kind="buffer")
    assert decorate(lambda i: ref[onax.ds(i, 4, 2)])(1).tolist() == [1, 3, 5, 7]
    assert decorate(lambda: ref[onax.ds(2, 3, stride=3)])().tolist() == [2, 5, 8]
    assert decorate(lambda: ref[onax.ds(2)])().tolist() == [0, 1]

    def write(i):
        ref[onax.ds(i, 2, 4)] = jnp.array([-1.0, -2.0])

    decorate(write)(3)
    assert ref[...].tolist() == [0, 1, 2, -1, 4, 5, 6, -2, 8, 9]
    assert repr(onax.ds(0, 4, stride=2)) == "Slice(start=0, size=4, stride=2)"
    with pytest.raises(ValueError, match="slice must have a step >= 1"):
        ref[onax.ds(0, 4, 0)]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_reference_without_a_first_value_that_is_freed(compiled):
    def f(x):
        ref = onax.empty_ref(onax.ShapeDtypeStruct((3,), "float32"))
        ref[...] = x
        value = ref[...]
        onax.free_ref(ref)
        return 2 * value

    assert (onax.jit(f) if compiled else f)(jnp.arange(3.0)).tolist() == [0, 2, 4]
    assert onax.grad(lambda x: f(x).sum())(jnp.arange(3.0)).tolist() == [2, 2, 2]
    assert "free_ref" in str(onax.make_jaxpr(f)(jnp.arange(3.0)))


def test_methods_of_a_reference():
    ref = onax.new_ref(jnp.zeros((2, 2)))
    assert ref.addupdate(jnp.ones((2, 2))) is None
    ref.addupdate(2.0, (0, 1))
    assert ref[...].tolist() == [[1, 3], [1, 1]]
    assert ref.format.sharding == ref.sharding and ref.committed is False
    assert ref.unsafe_buffer_pointer() == ref[...].unsafe_buffer_pointer()
    with pytest.raises(NotImplementedError, match=r"use ref\[index\]"):
        ref.at[0]


def test_the_type_of_a_reference():
    spec = onax.ShapeDtypeStruct((3,), jnp.float32, is_ref=True)
    assert repr(spec) == "ShapeDtypeStruct(shape=(3,), dtype=float32, is_ref=True)"
    assert spec != onax.ShapeDtypeStruct((3,), jnp.float32)
    assert onax.eval_shape(lambda ref: ref[...], spec) == onax.ShapeDtypeStruct((3,), jnp.float32)


def _reader():
    f = onax.custom_vjp(lambda a, b: a[...])
    f.defvjp(lambda a, b: (None, None), lambda _, g: (None, None))
    return f


BOTH = "only one reference to a mutable array may be passed as an argument to a function, but "
SHARED = {
    "cond": (lambda r: lax.cond(True, lambda a, b: 1, lambda a, b: 2, r, r), BOTH, " for cond ", "at both a and b."),
    "scan": (
        lambda r: lax.scan(lambda c, _: (None, None), (r, r), None, 1),
        BOTH,
        " for scan ",
        "at both c[0] and c[1].",
    ),
    "vmap": (lambda r: onax.vmap(lambda a, b: None)(r, r), BOTH, " for vmap ", "at both a and b."),
    "custom_vjp": (lambda r: _reader()(r, r), BOTH, "custom_vjp function ", " of type Ref{float32[2]} at a and b."),
    "cond closes over it": (
        lambda r: lax.cond(True, lambda a: r[0] + a[0], lambda a: 1.0, r),
        "when tracing ",
        " for cond, ",
        "was both closed over and passed as the argument a",
    ),
    "scan closes over it": (
        lambda r: lax.scan(lambda c, _: (r[...] + c[...], None), r, None, 1),
        "when tracing ",
        " for scan, ",
        "was both closed over and passed as the argument c",
    ),
    "jit closes over it": (
        lambda r: onax.jit(lambda a: r[...] + a[...])(r),
        "when tracing ",
        " for jit, ",
        "was both closed over and passed as the argument a",
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_a_function_has_a_reference_under_one_name(name):
    call, *texts = SHARED[name]
    with pytest.raises(ValueError) as caught:
        call(onax.new_ref(jnp.zeros(2)))
    text = str(caught.value)
    assert text.startswith(texts[0]) and all(part in text for part in texts), text


@pytest.mark.parametrize("value", ["a", [1], object()])
def test_references_hold_arrays(value):
    with pytest.raises(TypeError, match=r"^Error interpreting argument to new_ref as a JAX value.*at position 0"):
        onax.new_ref(value)


def test_a_memory_space_is_shown_in_programs():
    with pytest.raises(NotImplementedError, match="only works inside of a `jit`"):
        onax.new_ref(1.0, memory_space="fast")
    program = str(onax.make_jaxpr(lambda x: onax.new_ref(x, memory_space="fast", kind="sum")[...])(1.0))
    assert "b:Ref<fast>{f32[]} = new_ref[kind=sum memory_space=fast] a" in program
    assert float(onax.jit(onax.grad(lambda x: onax.new_ref(x * x, memory_space="fast")[...]))(3.0)) == 6.0


@pytest.mark.parametrize("use", [lambda x: onax.ref.get(x, 0), lambda x: onax.ref.swap(x, 0, 1.0)])
def test_only_references_are_read_and_written(use):
    with pytest.raises(ValueError, match=r"Can only call `ref_(get|swap)` on a `Ref`"):
        use(jnp.ones(2))


def test_errors_of_returned_references_name_the_place():
    with pytest.raises(ValueError, match=r"at output tree path result\['hi'\], but mutable array references cannot"):
        onax.jit(lambda ref: {"hi": ref})(onax.new_ref(1.0))
    with pytest.raises(ValueError, match=r"at output tree path result\[0\], but mutable"):
        lax.scan(lambda c, x: (onax.new_ref(c), x), 0, jnp.arange(3))


@pytest.mark.parametrize("i", [7, -1, -9])
def test_computed_positions_out_of_bounds_are_clamped(i):
    """Reads and writes meet the same elements, as in JAX."""
    at = max(i + 4, 0) if i < 0 else 3

    def f(ref, i):
        ref[0, 0, i] = 50.0
        onax.ref.addupdate(ref, (1, slice(1, 3), i), jnp.ones(2))
        return ref[0, 0, i]

    ref, expected = onax.new_ref(jnp.asarray(VALUES)), VALUES.copy()
    expected[0, 0, at] = 50
    expected[1, 1:3, at] += 1
    assert onax.jit(f)(ref, i) == 50
    np.testing.assert_array_equal(ref[...], expected)
