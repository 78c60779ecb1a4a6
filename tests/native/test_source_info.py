"""Source locations found in C are those that a walk over Python's frames finds."""

import itertools
import sys
import threading

import pytest

import onax as jax
from onax._ground import source
from onax._native import source_info
from onax._native.source_info import SourceInfo, here, user_location, user_locations


def walk(frame):
    """(code, offset of the instruction) of each frame outside onax, innermost first."""
    while frame is not None:
        if not source.is_internal(frame.f_code.co_filename):
            yield frame.f_code, frame.f_lasti
        frame = frame.f_back


def found():
    """What C and Python find from here; both run on the same line, at different instructions."""
    return user_locations(), user_location(), list(itertools.islice(walk(sys._getframe()), 5))


def through_onax(function):
    """Calls a function from within several transformations of onax, whose frames are left out."""
    kept = []
    jax.make_jaxpr(lambda x: jax.vmap(lambda y: (kept.append(function()), y)[1])(x[None]))(1.0)
    return kept[0]


def nested(depth):
    return found() if depth == 0 else nested(depth - 1)


CALLS = {
    "directly": found,
    "nested": lambda: nested(3),
    "deeply nested": lambda: nested(12),
    "through onax": lambda: through_onax(found),
    "from a generator": lambda: next(found() for _ in range(1)),
    "from a sort": lambda: (lambda kept: (sorted([1], key=lambda _: kept.append(found())), kept[0])[1])([]),
}


@pytest.mark.parametrize("name", CALLS)
def test_frames_are_pythons(name):
    with_callers, alone, wanted = CALLS[name]()
    chain = [with_callers, *with_callers.callers]
    assert [info.code for info in chain] == [code for code, _ in wanted]
    assert [info.instruction for info in chain[1:]] == [instruction for _, instruction in wanted[1:]]
    assert alone.code is with_callers.code and alone.callers is None
    lines = [source.resolve(info)[1] for info in (with_callers, alone)]
    assert lines[0] == lines[1] == found.__code__.co_firstlineno + 2


def test_no_frame_outside_onax(monkeypatch):
    for code, _ in walk(sys._getframe()):
        monkeypatch.setitem(source_info.internal_files, code.co_filename, True)
    assert user_location() is None and user_locations() is None


def test_files_are_classified_once():
    name = "<a file that is not there>"
    assert name not in source_info.internal_files
    kept = []
    exec(compile("kept.append(user_location())", name, "exec"), {"kept": kept, "user_location": user_location})
    assert kept[0].code.co_filename == name and source_info.internal_files[name] is False
    del source_info.internal_files[name]


def test_the_location_of_an_equation_goes_first_in_its_thread():
    info, seen = SourceInfo(found.__code__, 0), []
    here.record = info
    try:
        assert user_location() is info is user_locations() is here.record
        thread = threading.Thread(target=lambda: seen.append((here.record, user_location() is info)))
        thread.start()
        thread.join()
        here.record = source.SHARED
        assert user_location() is None
    finally:
        here.record = None
    assert seen == [(None, False)] and user_location() is not info


def test_equality():
    code, other = found.__code__, nested.__code__
    same = SourceInfo(code, 4, callers=(SourceInfo(other, 2),))
    assert SourceInfo(code, 4) == same and hash(SourceInfo(code, 4)) == hash(same)
    assert len({SourceInfo(code, 4), SourceInfo(code, 6), SourceInfo(other, 4), SourceInfo(code, 4, True)}) == 4
    assert same != (code, 4) and not same.backward and SourceInfo(code, 4, True).backward


def test_equal_chains_are_one_object():
    def locations():
        return [user_locations() for _ in range(3)]

    first, *others = locations()
    assert all(info.callers is first.callers for info in others)
