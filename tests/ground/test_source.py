"""Places: records, their text, and tracebacks without frames of onax."""

import traceback

import pytest

from onax._ground import source
from onax._ground.config import traceback_filtering
from onax._ground.dims import parse_dims


def test_location_is_ours():
    record = source.user_location()
    filename, line, column, function = source.resolve(record)
    assert filename == __file__ and function == "test_location_is_ours"
    assert open(__file__).readlines()[line - 1][column - 1 :].startswith("source.user_location()")
    assert source.summarize(record) == f"{__file__}:{line}:{column} (test_location_is_ours)"


def test_unknown_place():
    assert source.summarize(None) == "<unknown>"


def test_registered_files_are_skipped():
    assert source.is_internal(source.__file__) and not source.is_internal(__file__)
    source.register_exclusion(__file__)
    try:
        record = source.user_location()
        assert record is None or source.resolve(record)[0] != __file__
    finally:
        source._files.discard(__file__)
        source._is_internal.clear()
    assert source.resolve(source.user_frames(1)[-1])[0] == __file__


def test_function_location():
    def f():
        pass

    assert source.function_location(f) == f"f at {__file__}:{f.__code__.co_firstlineno}"
    assert source.function_location(len) == "len"


@pytest.mark.parametrize("mode, hidden", [("auto", True), ("off", False)])
def test_tracebacks(mode, hidden, monkeypatch):
    monkeypatch.delenv("ONAX_FULL_TRACEBACK", raising=False)
    guarded = source.api_boundary(parse_dims)
    with traceback_filtering(mode):
        try:
            guarded("a +")
        except ValueError as error:
            files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
            assert __file__ in files
            assert any(source.is_internal(name) for name in files) is not hidden
            assert bool(getattr(error, "__notes__", ())) is hidden
