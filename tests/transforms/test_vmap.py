"""vmap: against a loop, its axes as trees, and its errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax.sharding import AxisType, NamedSharding
from onax.sharding import PartitionSpec as P
from virtual_devices import eight_devices

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
V = np.array([1.0, -2.0, 0.5], np.float32)

# function, in_axes, arguments; compared with a loop over the mapped axis
CASES = {
    "front": (lambda x: jnp.sum(x, axis=0), 0, (A,)),
    "last": (lambda x: jnp.tanh(x).sum(), -1, (A,)),
    "two axes": (lambda x, y: x @ y, (1, 0), (A, np.ones((3, 4), np.float32))),
    "one mapped": (lambda x, y: x * y, (None, 0), (V, A.transpose(1, 0, 2).copy()[:, :, :3])),
    "tree": (lambda p, x: p["w"] * x + p["b"], ({"w": 0, "b": None}, 0), ({"w": V, "b": V[0]}, V)),
    "jit inside": (lambda x: jax.jit(jnp.cos)(x) + x[0], 1, (A,)),
    "where": (lambda x: jnp.where(x > 2, x, 0.0), 2, (A,)),
    "index": (lambda x, i: x[i], (0, 0), (A, np.array([2, 0]))),
    "update": (lambda x, v: x.at[0].add(v), (1, 0), (A, V)),
    "softmax": (lambda x: jax.nn.softmax(x, axis=0), 0, (A,)),
    "unmapped result": (lambda x: jnp.ones(2), 0, (A,)),
    "concatenate": (lambda x: jnp.concatenate([x, x[:1] * 2]), 1, (A,)),
    "reshape": (lambda x: x.reshape(-1)[::-1], 1, (A,)),
}


def loop(f, in_axes, args):
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    flat_axes, flat = [], []
    for axis, arg in zip(axes, args):
        leaves, tree = jax.tree_util.tree_flatten(arg)
        flat.append((leaves, tree))
        if isinstance(axis, dict):
            flat_axes.append([axis[k] for k in sorted(axis)])
        else:
            flat_axes.append([axis] * len(leaves))
    size = next(x.shape[a] for (leaves, _), ax in zip(flat, flat_axes) for x, a in zip(leaves, ax) if a is not None)
    outs = []
    for i in range(size):
        one = [
            jax.tree_util.tree_unflatten(
                tree, [x if a is None else jnp.asarray(np.take(x, i, axis=a)) for x, a in zip(leaves, ax)]
            )
            for (leaves, tree), ax in zip(flat, flat_axes)
        ]
        outs.append(np.asarray(f(*one)))
    return np.stack(outs)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("way", ["eager", "jit(vmap)", "vmap(jit)"])
def test_equals_a_loop(name, way):
    f, in_axes, args = CASES[name]
    mapped = {
        "eager": lambda: jax.vmap(f, in_axes),
        "jit(vmap)": lambda: jax.jit(jax.vmap(f, in_axes)),
        "vmap(jit)": lambda: jax.vmap(jax.jit(f), in_axes),
    }[way]()
    np.testing.assert_allclose(np.asarray(mapped(*args)), loop(f, in_axes, args), rtol=2e-6, atol=1e-6)


def test_nested_and_out_axes():
    out = jax.vmap(jax.vmap(lambda x: x * 2, out_axes=-1), in_axes=1, out_axes=1)(A)
    np.testing.assert_array_equal(np.asarray(out), np.moveaxis(A.transpose(1, 2, 0) * 2, 0, 1))
    tree = jax.vmap(lambda x: {"a": x, "b": 1.0}, out_axes={"a": 1, "b": None})(A)
    np.testing.assert_array_equal(np.asarray(tree["a"]), A.transpose(1, 0, 2))
    assert float(tree["b"]) == 1.0


def test_axis_size_and_keyword_arguments():
    assert jax.vmap(lambda: jnp.ones(2), axis_size=5)().shape == (5, 2)
    assert jax.vmap(lambda x, y: x + y)(V, y=V).shape == (3,)


ERRORS = {
    "sizes": (
        lambda: jax.vmap(lambda x, y: x)(jnp.ones(3), jnp.ones(4)),
        ValueError,
        "  * one axis had size 3: axis 0 of argument x of type float32[3];\n"
        "  * one axis had size 4: axis 0 of argument y of type float32[4]",
    ),
    "most": (
        lambda: jax.vmap(lambda x, y: x)({"a": jnp.ones(3), "b": jnp.ones((3, 2))}, jnp.ones(4)),
        ValueError,
        "most axes (2 of them) had size 3, e.g. axis 0 of argument x['a'] of type float32[3]",
    ),
    "nothing mapped": (lambda: jax.vmap(lambda x: x, in_axes=None)(V), ValueError, "at least one non-None value"),
    "scalar": (lambda: jax.vmap(lambda x: x)(1.0), ValueError, "its rank should be at least 1, but is only 0"),
    "axis": (lambda: jax.vmap(lambda x: x, in_axes=2)(V), ValueError, "at least 3, but is only 1 (its shape is (3,))"),
    "count": (lambda: jax.vmap(lambda x, y: x, in_axes=(0,))(V, V), ValueError, "len(in_axes)=1, len(args)=2"),
    "kind": (lambda: jax.vmap(lambda x: x, in_axes="a")(V), TypeError, "but got a."),
    "bool": (
        lambda: jax.vmap(lambda x: x, in_axes=False)(V),
        TypeError,
        "vmap in_axes must be an int, None, or a tuple",
    ),
    "bools": (lambda: jax.vmap(lambda x: x, in_axes=(True,))(V), TypeError, "types as leaves, but got (True,)."),
    "bool out": (lambda: jax.vmap(lambda x: x, out_axes=False)(V), TypeError, "vmap out_axes must be an int, None"),
    "static method": (lambda: jax.vmap(staticmethod(abs)), TypeError, "staticmethod arguments are not supported"),
    "keywords": (
        lambda: jax.vmap(lambda x, y, **more: x)(V, y=jnp.ones((3, 2)), z={"a": jnp.ones(4)}),
        ValueError,
        "most axes (2 of them) had size 3, e.g. axis 0 of argument x of type float32[3];\n"
        "  * one axis had size 4: axis 0 of kwargs['z']['a'] of type float32[4]",
    ),
    "out None": (
        lambda: jax.vmap(lambda x: {"a": x}, out_axes=None)(V),
        ValueError,
        "at vmap out_axes['a'], got axis spec None but output was batched on axis 0",
    ),
    "out None of a named axis": (
        lambda: jax.vmap(lambda x: x, out_axes=None, axis_name="i")(V),
        ValueError,
        "vmap has mapped output (axis_name=i) but out_axes is None",
    ),
    "out tree": (lambda: jax.vmap(lambda x: x, out_axes=(0, 1))(V), ValueError, "must be a tree prefix"),
    "no arguments": (lambda: jax.vmap(lambda: 1)(), ValueError, "got empty *args=() and **kwargs={}"),
    "object": (
        lambda: jax.vmap(lambda x: x)({1}),
        TypeError,
        "Argument '{1}' of type '<class 'set'>' is not a valid JAX type",
    ),
    "string out": (lambda: jax.vmap(lambda x: "a")(V), TypeError, "is not a valid JAX type"),
    "out axis": (lambda: jax.vmap(lambda x: x, out_axes=5)(V), ValueError, "axis 5 is out of bounds"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_what_is_wrong(name):
    call, error, text = ERRORS[name]
    with pytest.raises(error) as caught:
        call()
    assert text in str(caught.value)


def test_the_docstring_of_a_mapped_function():
    def documented(x):
        """Says something."""

    first, _, title, _, text = jax.vmap(documented).__doc__.split("\n")
    assert first.startswith("Vectorized version of documented") and (title, text) == (
        "Original documentation:",
        "Says something.",
    )
    assert "\n" not in jax.vmap(lambda x: x).__doc__


def test_what_is_not_mapped_reaches_the_function_as_it_is():
    seen = []

    def function(given, x):
        seen.append(given)
        return x

    for given in (jnp.sin, 3, 2.5, "text", V, object(), [1, "a", None]):
        assert jax.vmap(function, in_axes=(None, 0))(given, V).tolist() == V.tolist()
        assert seen.pop() is given or given == [1, "a", None]
    assert jax.vmap(lambda f, x: f(x), (None, 0))(jnp.tanh, V).tolist() == jnp.tanh(V).tolist()
    assert jax.vmap(lambda n, x: jnp.ones(n) * x, (None, 0))(2, V).shape == (3, 2)
    number, repeated = jax.vmap(lambda n, x: (n, n), (None, 0), (None, 0))(3, V)
    assert type(number) is int and repeated.tolist() == [3, 3, 3] and repeated.weak_type


# ---- explicit axes of a mesh, as JAX 0.10.2 treats them


@pytest.fixture
def explicit():
    """Makes arrays of shape (8, 4, 6) over a mesh of two explicit axes, which is in context."""
    with eight_devices():
        mesh = jax.make_mesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)
        with jax.set_mesh(mesh):
            yield lambda *spec: jax.device_put(
                np.arange(192, dtype=np.float32).reshape(8, 4, 6), NamedSharding(mesh, P(*spec))
            )


EXPLICIT = {  # (spec, options of vmap, function, types that it sees and gives, type of the result)
    "mapped": (("x",), {}, lambda v: v * 2, ["float32[4,6]", "float32[4,6]"], "float32[8@x,4,6]"),
    "both": (("x", "y"), {}, lambda v: v * 2, ["float32[4@y,6]", "float32[4@y,6]"], "float32[8@x,4@y,6]"),
    "other": ((None, "y"), {}, lambda v: v.T, ["float32[4@y,6]", "float32[6,4@y]"], "float32[8,6,4@y]"),
    "axes": (
        ("x",), {"in_axes": 1, "out_axes": 1}, lambda v: v + 1, ["float32[8@x,6]", "float32[8@x,6]"],
        "float32[8@x,4,6]",
    ),
    "out": (("x",), {"out_axes": 2}, lambda v: v + 1, ["float32[4,6]", "float32[4,6]"], "float32[4,6,8@x]"),
    "sum": (("x", None, "y"), {}, lambda v: v.sum(0), ["float32[4,6@y]", "float32[6@y]"], "float32[8@x,6@y]"),
    "two axes": ((("x", "y"),), {}, lambda v: v + 1, ["float32[4,6]", "float32[4,6]"], "float32[8@(x,y),4,6]"),
    "jit": (("x", "y"), {}, jax.jit(lambda v: v * 2), ["float32[4@y,6]", "float32[4@y,6]"], "float32[8@x,4@y,6]"),
    "the same spmd_axis_name": (
        ("x",), {"spmd_axis_name": "x"}, lambda v: v, ["float32[4,6]", "float32[4,6]"], "float32[8@x,4,6]",
    ),
    "not mapped": (("x",), {}, lambda v: jnp.ones(3), ["float32[4,6]", "float32[3]"], "float32[8@x,3]"),
    "named axis": (
        ("x",), {"axis_name": "b"}, lambda v: jax.lax.psum(v, "b"), ["float32[4,6]", "float32[4,6]"],
        "float32[8@x,4,6]",
    ),
    "reshard": (
        ("x",), {}, lambda v: jax.sharding.reshard(v, P("y")), ["float32[4,6]", "float32[4@y,6]"], "float32[8@x,4@y,6]",
    ),
    "grad": (
        ("x", "y"), {}, jax.grad(lambda v: jnp.sum(v * v)), ["float32[4@y,6]", "float32[4@y,6]"], "float32[8@x,4@y,6]",
    ),
    "scan": (
        ("x", None, "y"), {}, lambda v: jax.lax.scan(lambda c, y: (c + y, c), v[0], v)[1],
        ["float32[4,6@y]", "float32[4,6@y]"], "float32[8@x,4,6@y]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("name", EXPLICIT)
def test_types_over_explicit_axes(name, way, explicit):
    spec, options, f, seen, result = EXPLICIT[name]
    found = []

    def body(v):
        out = f(v)
        found[:] = [str(jax.typeof(v)), str(jax.typeof(out))]
        return out

    out = way(jax.vmap(body, **options))(explicit(*spec))
    assert found == seen and str(jax.typeof(out)) == result
    assert np.array_equal(out, jax.vmap(f, **options)(np.asarray(explicit())))


REFUSED = {
    "inconsistent": (
        lambda put: jax.vmap(jnp.add)(put("x"), put()), ValueError,
        "should be sharded the same. Got inconsistent axis specs: x vs None",
    ),
    "spmd_axis_name": (
        lambda put: jax.vmap(jnp.sin, spmd_axis_name="y")(put("x")), ValueError,
        r"Got spmd_axis_name=\('y',\) and arrays sharded on explicit_mesh_axis=\('x',\)",
    ),
    "constraint": (
        lambda put: jax.vmap(lambda v: jax.lax.with_sharding_constraint(v, P("y")))(put("x")), AssertionError,
        r"The array sharding: P\(None, None\) did not match the sharding provided",
    ),
    "map in groups": (
        lambda put: jax.lax.map(jnp.sin, put("x"), batch_size=4), ValueError,
        r"should be replicated. Got f32\[8@x,4,6\]\(\{Explicit: \('x', 'y'\)\}\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_over_explicit_axes(name, explicit):
    call, kind, text = REFUSED[name]
    with pytest.raises(kind, match=text):
        call(explicit)


@pytest.mark.parametrize("use", [lambda x: jnp.zeros((2, x)), bool, int, np.asarray, lambda x: [1, 2][x]])
def test_errors_say_where_a_mapped_value_was_made(use):
    message = r"BatchTracer with object id \d+ was created on line:\n  .*test_vmap.py"
    with pytest.raises(TypeError, match=message):
        jax.vmap(use)(jnp.ones(1, int))
    with pytest.raises(TypeError, match=message):
        jax.jit(jax.vmap(use))(jnp.ones(1, int))
