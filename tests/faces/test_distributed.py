"""One process: it begins once and ends."""

import pytest

import onax


def test_one_process_begins_and_ends():
    onax.distributed.initialize("localhost:1234", num_processes=1, process_id=0)
    try:
        assert onax.distributed.is_initialized()
        with pytest.raises(RuntimeError, match="once"):
            onax.distributed.initialize()
    finally:
        onax.distributed.shutdown()
    assert not onax.distributed.is_initialized()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_processes": 2}, NotImplementedError, "one process, not in 2"),
        ({"process_id": 1}, ValueError, "process_id 1 of 1"),
    ],
)
def test_more_processes_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        onax.distributed.initialize(**options)
    assert not onax.distributed.is_initialized()
