"""vmap: against a loop, its axes as trees, and its errors."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

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
