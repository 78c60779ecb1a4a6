"""What processes exchange outside programs, and that they find out when they run different ones."""

import pytest

import processes

EXCHANGES = """
from onax._ground import processes
group = processes.current()
i = group.index
found["numbers"] = group.allgather(np.array(i * 10), "t").tolist()
found["matrices"] = group.allgather(np.full((2, 3), i, np.float16), "t").shape
found["texts"] = group.allgather_bytes(b"x" * i, "t")
found["values"] = group.allgather_json({"process": i}, "t")
found["broadcast"] = group.broadcast(np.arange(3) + i, 2, "t").tolist()
found["same"] = group.have_same(b"a", "t"), group.have_same(b"a" * i, "t")
some = [0, 2]
if i in some:
    with group.call("a program of two", "digest", some):
        group.agree("text", "a program", some)
group.agree("same", "a program", range(group.count))
try:
    group.agree(f"program {i // 2}", "jit(f)", range(group.count))
except RuntimeError as error:
    found["error"] = str(error)
try:
    with group.call(f"f{i}", "digest"):
        pass
except RuntimeError as error:
    found["order"] = str(error)
"""


@pytest.fixture(scope="module")
def found():
    return processes.in_each(3, EXCHANGES)


def test_exchanges(found):
    for own in found:
        assert own["numbers"] == [0, 10, 20]
        assert own["matrices"] == (3, 2, 3)
        assert own["texts"] == [b"", b"x", b"xx"]
        assert own["values"] == [{"process": i} for i in range(3)]
        assert own["broadcast"] == [2, 3, 4]
        assert own["same"] == (True, False)


def test_different_programs_are_shown(found):
    for own in found:
        assert "Process 0 runs\nprogram 0" in own["error"]
        assert "Process 2 runs\nprogram 1" in own["error"]


def test_another_order_is_an_error(found):
    for own in found:
        assert all(f"process {i} ran f{i}" in own["order"] for i in range(3))
