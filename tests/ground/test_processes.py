"""Without `initialize` there is one process."""

from onax._ground import processes


def test_one_process():
    assert processes.current() is None
    assert (processes.process_index(), processes.process_count()) == (0, 1)
