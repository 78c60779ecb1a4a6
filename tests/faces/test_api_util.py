"""Functions of leaves, positions of arguments: static ones, donated ones."""

import numpy as np
import pytest

from onax import api_util
from onax import numpy as jnp
from onax.core import ShapedArray
from onax.extend.linear_util import wrap_init
from onax.tree_util import tree_flatten, tree_structure

ARGS, KWARGS = ({"a": 1, "b": (2, 3)}, 4), {"scale": 10}


def weighted(tree, x, scale=1):
    return {"sum": (tree["a"] + tree["b"][1] + x) * scale}


def test_functions_of_leaves():
    leaves, in_tree = tree_flatten((ARGS, KWARGS))
    flat, out_tree = api_util.flatten_fun(wrap_init(weighted), in_tree)
    assert flat.call_wrapped(*leaves) == [80] and out_tree() == tree_structure({"sum": 0})
    leaves, in_tree = tree_flatten(ARGS)
    flat, out_tree = api_util.flatten_fun_nokwargs(wrap_init(weighted), in_tree)
    assert flat.call_wrapped(*leaves) == [8] and out_tree() == tree_structure({"sum": 0})


def test_axes_of_leaves():
    tree = tree_structure(({"a": 0, "b": (0, 0)}, 0))
    assert api_util.flatten_axes("test", tree, (1, None)) == [1, 1, 1, None]
    assert api_util.flatten_axes("test", tree_structure((ARGS, KWARGS)), (2, 1), kws=True) == [2, 2, 2, 1, 0]
    with pytest.raises(ValueError, match=r"^test"):
        api_util.flatten_axes("test", tree, (1, 2, 3))


@pytest.mark.parametrize(
    "x, wanted",
    [
        (np.ones((2, 3), np.int8), ShapedArray((2, 3), np.dtype("int8"))),
        (1.5, ShapedArray((), np.dtype("float32"), weak_type=True)),
        (jnp.ones(2), ShapedArray((2,), np.dtype("float32"))),
        (ShapedArray((4,), np.dtype("bool")), ShapedArray((4,), np.dtype("bool"))),
    ],
)
def test_types_of_values(x, wanted):
    assert api_util.shaped_abstractify(x) == wanted


def test_what_has_no_type():
    with pytest.raises(TypeError):
        api_util.shaped_abstractify("text")


def test_functions_of_some_arguments():
    function = lambda a, b, c: (a, b, c)
    part, dynamic = api_util.argnums_partial(wrap_init(function), (0, -1), (1, "static", 3))
    assert dynamic == (1, 3) and part.call_wrapped(10, 30) == (10, "static", 30)
    again, _ = api_util.argnums_partial(wrap_init(function), (0, 2), (1, "static", 3))
    assert part == again and hash(part) == hash(again)
    other, _ = api_util.argnums_partial(wrap_init(function), (0, 2), (1, "another", 3))
    assert part != other
    true, _ = api_util.argnums_partial(wrap_init(function), 0, (0, True, 1))
    one, _ = api_util.argnums_partial(wrap_init(function), 0, (0, 1, 1))
    assert true != one  # they compare by type, too


def test_static_arguments_have_hashes():
    with pytest.raises(ValueError, match=r"Non-hashable static arguments .*\(index 1\)"):
        api_util.argnums_partial(wrap_init(weighted), 0, (1, [2]))
    part, _ = api_util.argnums_partial(wrap_init(lambda a, b: (a, b)), 0, (1, [2]), require_static_args_hashable=False)
    assert part.call_wrapped(5) == (5, [2])
    with pytest.raises(ValueError, match=r"got value 2 for len\(args\) == 2"):
        api_util.argnums_partial(wrap_init(weighted), 2, (1, 2))


def test_donated_leaves():
    tree = tree_structure((ARGS, KWARGS))
    assert api_util.donation_vector((0,), (), tree) == (True, True, True, False, False)
    assert api_util.donation_vector((1,), ("scale",), tree) == (False, False, False, True, True)
    assert api_util.donation_vector((1,), (), tree_structure(ARGS), kws=False) == (False, False, False, True)
    assert api_util.rebase_donate_argnums((1, 4), (0, 2)) == (0, 2)
    assert api_util.rebase_donate_argnums((4, 4, 3), (0, 0)) == (2, 3)
    with pytest.raises(ValueError, match="cannot intersect"):
        api_util.rebase_donate_argnums((1,), (1, 2))


def test_map_of_equally_long_sequences():
    assert api_util.safe_map(lambda x, y: x - y, [5, 6], (1, 2)) == [4, 4]
    assert api_util.safe_map(str, []) == []
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        api_util.safe_map(max, [1, 2], [3])
    with pytest.raises(TypeError, match="callable"):
        api_util.safe_map(3, [1])
