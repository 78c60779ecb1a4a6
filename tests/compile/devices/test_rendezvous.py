"""Programs that run side by side and meet."""

import threading

import pytest

from onax._compile.devices.rendezvous import Rendezvous, run_together
from onax._ground.errors import JaxRuntimeError


class Exchange:
    """A collective that gives each what all brought."""

    def __init__(self, name):
        self.name = name

    def exchange(self, values):
        return [list(values)] * len(values)

    def text(self):
        return self.name


def meet(exchange, group, value):
    return (yield Rendezvous(exchange, group, value))


def test_programs_meet():
    pairs, everyone = Exchange("pairs"), Exchange("everyone")

    def program(i):
        mine = yield lambda: i * 10
        pair = yield from meet(pairs, [i // 2 * 2, i // 2 * 2 + 1], mine)
        return (yield from meet(everyone, [0, 1, 2, 3], sum(pair)))

    assert run_together(map(program, range(4)), "abcd") == [[10, 10, 50, 50]] * 4


def test_devices_work_at_the_same_time():
    both = threading.Barrier(2, timeout=30)

    def program(i):
        yield both.wait
        return i

    assert run_together([program(0), program(1)], "ab") == [0, 1]


def test_a_rendezvous_that_some_do_not_reach_is_an_error():
    one, other = Exchange("psum at here.py:1"), Exchange("psum at here.py:2")

    def program(i):
        yield lambda: None
        if i < 2:
            yield from meet((one, other)[i], [0, 1, 2], i)

    text = (
        "A collective was reached by some of its devices only, so they would wait for ever:\n"
        "  cpu:0 waits in psum at here.py:1\n  cpu:1 waits in psum at here.py:2\n  cpu:2 has come to the end"
    )
    with pytest.raises(JaxRuntimeError, match=text):
        run_together(map(program, range(3)), ["cpu:0", "cpu:1", "cpu:2"])


def test_an_error_on_one_device_releases_the_others():
    closed, everyone = [], Exchange("everyone")

    def fail():
        raise ValueError("of the second")

    def program(i):
        try:
            yield fail if i == 1 else lambda: i
            yield from meet(everyone, [0, 1, 2], i)
        finally:
            closed.append(i)

    with pytest.raises(ValueError, match="of the second"):
        run_together(map(program, range(3)), "abc")
    assert sorted(closed) == [0, 1, 2]
