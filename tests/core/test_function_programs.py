"""Programs that are kept with a function: who shares them, and when they are forgotten."""

import copy
import functools
import pickle

from onax._core.function_programs import Programs, clear_programs, programs_of


def test_all_share_the_programs_of_a_function():
    def f():
        return 1

    kept = programs_of(f, "a")
    kept.table["key"] = 3
    assert programs_of(f, "a") is kept and programs_of(f, "b") is not kept
    assert type(programs_of(f, "c", dict)) is dict
    clear_programs()
    assert programs_of(f, "a") is kept and kept.table == {}


def test_copies_and_other_callables_have_their_own():
    def f():
        return 1

    @functools.wraps(f)
    def g():
        return 2

    first = programs_of(f, "a")
    copy = functools.wraps(f)(lambda: 3)
    assert programs_of(g, "a") is not first and programs_of(copy, "a") is not first
    partial = functools.partial(f)
    assert programs_of(partial, "a") is not programs_of(partial, "a") and isinstance(programs_of(len, "a"), Programs)


def test_pickled_functions_leave_their_programs_behind():
    def f():
        return 1

    programs_of(f, "a").table["key"] = lambda: 1  # which cannot be pickled
    again = pickle.loads(pickle.dumps(f.__dict__))

    def g():
        return 2

    g.__dict__.update(again)
    assert programs_of(g, "a").table == {}
    assert copy.deepcopy(f.__dict__).keys() == again.keys()
