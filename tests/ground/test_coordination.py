"""Keys, values and barriers: three clients of one service in this process, then two processes."""

import textwrap
import threading

import pytest

import processes
from onax._ground.coordination import Client, Service
from onax._ground.errors import JaxRuntimeError


@pytest.fixture
def clients():
    made, lock = [], threading.Lock()
    service = Service(3, lambda process, number, value, error: made[process].receive(number, value, error))

    def sender(process):
        def send(number, operation, arguments):
            with lock:
                service.handle(process, number, operation, arguments)

        return send

    made += [Client(sender(process)) for process in range(3)]
    return made


def in_thread(function, *args):
    """Runs a function in a thread; returns a function that waits for its result."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function(*args)), daemon=True)
    thread.start()

    def join():
        thread.join(10)
        assert found, "it still waits"
        return found[0]

    return join


def test_keys_and_values(clients):
    first, second, _ = clients
    first.key_value_set("a/x", "1")
    first.key_value_set("a/y", 2)
    first.key_value_set("ab", "3")
    assert second.key_value_try_get("a/x") == "1"
    assert second.key_value_dir_get("a") == second.key_value_dir_get("a/") == [("a/x", "1"), ("a/y", "2")]
    with pytest.raises(JaxRuntimeError, match="ALREADY_EXISTS: key a/x"):
        second.key_value_set("a/x", "4")
    second.key_value_set("a/x", "4", allow_overwrite=True)
    assert first.key_value_try_get("a/x") == "4"
    first.key_value_delete("a")
    assert second.key_value_dir_get("a") == [] and second.key_value_try_get("ab") == "3"
    with pytest.raises(JaxRuntimeError, match="NOT_FOUND: key a/x"):
        second.key_value_try_get("a/x")


def test_counters(clients):
    assert [client.key_value_increment("n") for client in clients] == [1, 2, 3]
    assert clients[0].key_value_increment("n", 10) == 13
    assert clients[1].key_value_try_get("n") == "13"


def test_a_key_is_waited_for(clients):
    first, second, third = clients
    waiting = [in_thread(c.blocking_key_value_get, "later", 10_000) for c in (second, third)]
    first.key_value_set("later", "now")
    assert [join() for join in waiting] == ["now", "now"]
    assert second.blocking_key_value_get("later", 1) == "now"


def test_waiting_ends(clients):
    first, second, third = clients
    with pytest.raises(JaxRuntimeError, match="DEADLINE_EXCEEDED: get never timed out after 10 ms"):
        first.blocking_key_value_get("never", 10)
    with pytest.raises(JaxRuntimeError, match="DEADLINE_EXCEEDED: meet here"):
        first.wait_at_barrier("here", 10)
    late = in_thread(first.wait_at_barrier, "here", 10_000)  # who left does not count
    waiting = in_thread(second.wait_at_barrier, "here", 10_000)
    third.wait_at_barrier("here", 10_000)
    late(), waiting()


def test_barriers(clients):
    first, second, third = clients
    some = in_thread(first.wait_at_barrier, "two", 10_000, [0, 2])
    third.wait_at_barrier("two", 10_000, [0, 2])
    some()
    for _ in range(2):  # a name can be used again
        waiting = [in_thread(c.wait_at_barrier, "all", 10_000) for c in (first, second)]
        third.wait_at_barrier("all", 10_000)
        for join in waiting:
            join()


def test_two_processes():
    program = """
        from onax._ground.processes import coordination_client
        client = coordination_client()
        client.key_value_set(f"from/{jax.process_index()}", jax.process_index())
        found["other"] = client.blocking_key_value_get(f"from/{1 - jax.process_index()}", 60_000)
        client.wait_at_barrier("end", 60_000)
        found["all"] = client.key_value_dir_get("from")
    """
    found = processes.in_each(2, textwrap.dedent(program))
    assert [one["other"] for one in found] == ["1", "0"]
    assert [one["all"] for one in found] == [[("from/0", "0"), ("from/1", "1")]] * 2
