"""Keys, values and barriers that the processes of a program share: the service that libraries reach by JAX's client.

`Service` is in the first process; `Client` speaks to it over the watchdogs' connections, from any thread.  No message
goes through MPI.
"""

import itertools
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field

from onax._ground.errors import JaxRuntimeError


@dataclass(slots=True, eq=False)
class Service:
    """The keys and their values, and the requests that wait for a key or for other processes.

    `answer(process, number, value, error)` sends the answer to a request.
    """

    count: int
    answer: object
    values: dict = field(default_factory=dict)
    _waiting: dict = field(default_factory=dict)  # key -> [(process, number)]
    _barriers: dict = field(default_factory=dict)  # name -> {process: number}

    def handle(self, process, number, operation, arguments):
        """Carries out a request of a process, or keeps it until it can be answered."""
        getattr(self, f"_{operation}")(process, number, *arguments)

    def _set(self, process, number, key, value, allow_overwrite):
        if key in self.values and not allow_overwrite:
            self.answer(process, number, None, f"ALREADY_EXISTS: key {key} already exists.")
            return
        self.values[key] = value
        self.answer(process, number, None, None)
        for waiting in self._waiting.pop(key, ()):
            self.answer(*waiting, value, None)

    def _get(self, process, number, key, wait):
        if key in self.values:
            self.answer(process, number, self.values[key], None)
        elif wait:
            self._waiting.setdefault(key, []).append((process, number))
        else:
            self.answer(process, number, None, f"NOT_FOUND: key {key} not found.")

    def _list(self, process, number, folder):
        start = folder.rstrip("/") + "/"
        self.answer(process, number, [[k, v] for k, v in sorted(self.values.items()) if k.startswith(start)], None)

    def _delete(self, process, number, key):
        for name in [k for k in self.values if k == key or k.startswith(key.rstrip("/") + "/")]:
            del self.values[name]
        self.answer(process, number, None, None)

    def _increment(self, process, number, key, amount):
        self.values[key] = str(int(self.values.get(key, 0)) + amount)
        self.answer(process, number, int(self.values[key]), None)

    def _meet(self, process, number, name, members):
        arrived = self._barriers.setdefault(name, {})
        arrived[process] = number
        if set(arrived) >= set(range(self.count) if members is None else members):
            del self._barriers[name]
            for one, its_number in arrived.items():
                self.answer(one, its_number, None, None)

    def _forget(self, process, number, what, name):
        """Withdraws a request whose time is over."""
        if what == "meet":
            self._barriers.get(name, {}).pop(process, None)
        elif name in self._waiting:
            self._waiting[name] = [w for w in self._waiting[name] if w[0] != process]
        self.answer(process, number, None, None)


class Client:
    """What a process asks of the service; the methods are those of JAX's client of a distributed runtime.

    Each raises JaxRuntimeError with the code of the failure: ALREADY_EXISTS, NOT_FOUND, DEADLINE_EXCEEDED.
    """

    def __init__(self, send):
        self._send = send  # send(number, operation, arguments)
        self._numbers = itertools.count()
        self._pending = {}
        self._lock = threading.Lock()

    def receive(self, number, value, error):
        """Takes an answer of the service."""
        with self._lock:
            future = self._pending.pop(number, None)
        if future is None:  # its time was over
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(JaxRuntimeError(error))

    def _ask(self, operation, *arguments, timeout_in_ms=None):
        with self._lock:
            number, future = next(self._numbers), Future()
            self._pending[number] = future
        self._send(number, operation, arguments)
        try:
            return future.result(None if timeout_in_ms is None else timeout_in_ms / 1000)
        except TimeoutError:
            with self._lock:
                self._pending.pop(number, None)
            self._ask("forget", operation, arguments[0])
            raise JaxRuntimeError(
                f"DEADLINE_EXCEEDED: {operation} {arguments[0]} timed out after {timeout_in_ms} ms."
            ) from None

    def key_value_set(self, key, value, allow_overwrite=False):
        """Sets the value of a key, a string."""
        self._ask("set", key, str(value), allow_overwrite)

    def key_value_try_get(self, key):
        """The value of a key that was set."""
        return self._ask("get", key, False)

    def blocking_key_value_get(self, key, timeout_in_ms):
        """The value of a key, as soon as a process has set it."""
        return self._ask("get", key, True, timeout_in_ms=timeout_in_ms)

    def key_value_dir_get(self, key):
        """All (key, value) whose key begins with that of a folder."""
        return [tuple(pair) for pair in self._ask("list", key)]

    def key_value_increment(self, key, increment=1):
        """Adds to the number that is the value of a key, 0 at first; the new number."""
        return self._ask("increment", key, increment)

    def key_value_delete(self, key):
        """Deletes a key, and all keys in it if it is a folder."""
        self._ask("delete", key)

    def wait_at_barrier(self, barrier_id, timeout_in_ms, process_ids=None):
        """Waits until these processes (by default all) wait here."""
        members = None if process_ids is None else sorted(process_ids)
        self._ask("meet", barrier_id, members, timeout_in_ms=timeout_in_ms)
