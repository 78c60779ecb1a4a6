"""Flat functions, names of arguments and results, signatures, static arguments."""

import functools
import gc
import inspect
import weakref

import pytest

from onax._native.tree import tree_flatten
from onax._transforms.flatten import (
    FlatFunction,
    argument_names,
    check_callable,
    debug_info,
    fun_name,
    fun_signature,
    fun_source_info,
    normalize_argnums,
    record_results,
    split_aux,
)


def pair(x, y, *rest, k=1, **more):
    return {"sum": x + y}, [k]


class Callable:
    def __call__(self, x):
        return x

    def method(self, x):
        return x


HERE = f"{__file__}:{pair.__code__.co_firstlineno}"


def test_flat_functions():
    leaves, tree = tree_flatten(((1, 2), {"k": 5}))
    flat = FlatFunction(pair, tree)
    assert flat(*leaves) == [3, 5] and repr(flat.out_tree) == "PyTreeDef(({'sum': *}, [*]))"
    with_aux = FlatFunction(pair, tree, has_aux=True)
    assert with_aux(*leaves) == [3] and with_aux.aux == [5]


@pytest.mark.parametrize(
    "out, text", [(3, "got type <class 'int'> with value 3"), ((1, 2, 3), "got type <class 'tuple'> with value")]
)
def test_auxiliary_output_is_half_of_a_pair(out, text):
    with pytest.raises(TypeError, match=text):
        split_aux(out)
    assert split_aux([1, 2]) == [1, 2]


NAMES = [  # function, its name, what messages say of it
    (pair, "pair", f"pair at {HERE}"),
    (functools.partial(functools.partial(pair, 1), 2), "pair", f"pair at {HERE}"),
    (functools.wraps(pair)(lambda *a: 0), "pair", f"pair at {HERE}"),
    (Callable().method, "method", f"method at {__file__}:{Callable.method.__code__.co_firstlineno}"),
    (Callable(), "Callable", "<unknown>"),
    (functools.partial(max, 1), "max", "max"),
    (max, "max", "max"),
]


@pytest.mark.parametrize("fun, name, text", NAMES)
def test_names_of_functions(fun, name, text):
    assert (fun_name(fun), fun_source_info(fun)) == (name, text)


def generator(x):
    yield x


@pytest.mark.parametrize(
    "fun, text", [(3, "Expected a callable value, got 3, in a call of f"), (generator, "got a generator function")]
)
def test_what_is_no_function(fun, text):
    with pytest.raises(TypeError, match=text):
        check_callable(fun, "f")


def test_names_of_arguments():
    signature = inspect.signature(pair)
    tree = {"a": [0, 0]}
    assert argument_names(signature, (0, tree, 0, 0), {"k": 0, "z": (0,)}) == (
        "x", "y['a'][0]", "y['a'][1]", "rest[0]", "rest[1]", "k", "more['z'][0]",
    )  # fmt: skip
    assert argument_names(signature, (0, tree), {"k": 0}, static_argnums=(1,), static_argnames=("k",)) == ("x",)
    assert argument_names(signature, (0, 0), {}, static_argnums=(-1,)) == ("x",)
    assert argument_names(None, (0, 0), {}) == ("args[0]", "args[1]")
    one = inspect.signature(lambda x, *, k=0: x)
    for args, kwargs in (((0, 0), {"k": 0}), ((0,), {"other": 0}), ((), {"k": 0})):  # that do not fit the signature
        names = (*[f"args[{i}]" for i in range(len(args))], *[f"kwargs['{k}']" for k in kwargs])
        assert argument_names(one, args, kwargs) == names


def test_debug_info_keeps_no_values_alive():
    class Value:
        pass

    value = Value()
    info, alive = debug_info("jit", pair, (value, [value]), {}), weakref.ref(value)
    del value
    gc.collect()
    assert alive() is None
    assert info.arg_names == ("x", "y[0]") and info.result_paths == () and info.func_src_info == f"pair at {HERE}"
    record_results(info, tree_flatten(({"a": 0}, 0))[1])
    assert info.result_paths == ("result[0]['a']", "result[1]")


def test_signatures():
    assert fun_signature(pair) is fun_signature(pair) and list(fun_signature(Callable()).parameters) == ["x"]
    assert fun_signature(dict) is None


STATIC = [  # function, positions, names, what they come to
    (pair, 1, None, ((1,), ("y",))),
    (pair, None, "y", ((1,), ("y",))),
    (pair, None, ["y", "k"], ((1,), ("y", "k"))),
    (pair, (0, 1), (), ((0, 1), ())),
    (pair, -1, None, ((-1,), ("y",))),
    (pair, 7, None, ((7,), ())),
    (pair, None, None, ((), ())),
    (dict, 1, "a", ((1,), ("a",))),
]


@pytest.mark.parametrize("fun, nums, names, wanted", STATIC)
def test_static_arguments_by_position_and_by_name(fun, nums, names, wanted):
    assert normalize_argnums(fun, nums, names) == wanted
