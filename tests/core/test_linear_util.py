"""Layers of transformations around functions: order, equality, auxiliary values, the cache."""

import pytest

from onax._core import linear_util as lu


@lu.transformation2
def scaled(f, factor, *args):
    return f(*args) * factor


@lu.transformation
def shifted(amount, *args):
    result = yield [x + amount for x in args], {}
    yield result


@lu.transformation_with_aux2
def counted(f, store, *args):
    store.store(len(args))
    return f(*args)


@lu.transformation_with_aux
def named(*args):
    result = yield args, {}
    yield result, f"result {result}"


def add(x, y, bias=0):
    return x + y + bias


def test_layers_run_from_the_outermost_in():
    wrapped = scaled(shifted(lu.wrap_init(add), 1), 10)
    assert wrapped.call_wrapped(2, 3) == 70 and wrapped.__name__ == "add"
    assert lu.wrap_init(add, {"bias": 5}).call_wrapped(1, 1) == 7
    assert "scaled (10,)" in repr(wrapped) and "Core: add" in repr(wrapped)


def test_functions_with_equal_layers_are_equal():
    make = lambda factor: scaled(shifted(lu.wrap_init(add), 1), factor)
    assert make(2) == make(2) and hash(make(2)) == hash(make(2))
    assert make(2) != make(3) and make(2) != lu.wrap_init(add)
    assert lu.wrap_init(add, {"bias": 1}) != lu.wrap_init(add, {"bias": 2})


@pytest.mark.parametrize("layer, aux", [(counted, 2), (named, "result 5")])
def test_auxiliary_values(layer, aux):
    wrapped, value = layer(lu.wrap_init(add))
    with pytest.raises(lu.StoreException, match="empty"):
        value()
    assert wrapped.call_wrapped(2, 3) == 5 and value() == aux
    with pytest.raises(lu.StoreException, match="occupied"):
        wrapped.call_wrapped(2, 3)


def test_stores():
    store = lu.Store(reusable=True)
    assert not store
    store.store(3), store.store(3)
    assert store and store.val == 3
    with pytest.raises(lu.StoreException):
        store.store(4)
    store.reset()
    assert not store


def test_one_of_two_auxiliary_values():
    first, one = counted(lu.wrap_init(add))
    second, two = named(lu.wrap_init(add))
    with pytest.raises(lu.StoreException, match="neither"):
        lu.merge_linear_aux(one, two)
    second.call_wrapped(1, 2)
    assert lu.merge_linear_aux(one, two) == (False, "result 3")
    first.call_wrapped(1, 2)
    with pytest.raises(lu.StoreException, match="both"):
        lu.merge_linear_aux(one, two)
    third, three = counted(lu.wrap_init(add))
    third.call_wrapped(1, 2)
    assert lu.merge_linear_aux(three, named(lu.wrap_init(add))[1]) == (True, 2)


def test_calls_are_remembered_with_their_auxiliary_values():
    calls = []

    @lu.cache
    def run(fun, *args):
        calls.append(args)
        return fun.call_wrapped(*args)

    for _ in range(2):
        wrapped, value = counted(lu.wrap_init(add))
        assert run(wrapped, 1, 2) == 3 and value() == 2
    assert len(calls) == 1
    run(counted(lu.wrap_init(add))[0], 4, 5)
    run.cache_clear()
    run(counted(lu.wrap_init(add))[0], 4, 5)
    assert calls == [(1, 2), (4, 5), (4, 5)]
