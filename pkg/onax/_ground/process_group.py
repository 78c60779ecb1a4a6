"""The processes of a program that runs in several, and the messages between them, which MPI carries.

All messages are nonblocking; whoever waits for them polls (`ProcessGroup.wait`), so Ctrl-C and the watchdog
(`watchdog.py`) can end the waiting.  `connect` imports mpi4py.  A program of one process never imports this module.
"""

import hashlib
import json
import os
import threading
import time

import numpy as np

from onax._ground import lazy, processes
from onax._ground.errors import JaxRuntimeError
from onax._ground.watchdog import Timeouts, start_watchdog


def connect(num_processes, process_id, address, timeouts):
    """Makes this process one of `num_processes`; the others do so, too.

    Args:
      address: "host:port" at which the first process listens for the watchdogs of the others; None for any free port.
      timeouts: a `watchdog.Timeouts`.

    Raises ImportError without mpi4py, RuntimeError if MPI started another number of processes.
    """
    mpi = lazy.mpi
    world = mpi.COMM_WORLD
    if (world.size, world.rank) != (num_processes, process_id):
        raise RuntimeError(
            f"process {process_id} of {num_processes} was asked for, but MPI runs it as process {world.rank} of "
            f"{world.size}: start all processes with MPI's launcher (`mpiexec -n {num_processes} python program.py`, "
            "`srun --mpi=pmi2` or `--mpi=pmix` under SLURM), the launcher of the MPI library that mpi4py loads"
        )
    processes.set_current(ProcessGroup(mpi, world.Dup(), start_watchdog(world, address, timeouts)))


class ProcessGroup:
    """All processes, as this one sees them.

    Attributes:
      index, count: the number of this process, and how many there are.
      world: a communicator over all processes, for exchanges outside programs.
      watchdog: what ends all processes when one has ended.
      turns: for the key of each communicator over devices, the Turns of their collectives.
    """

    def __init__(self, mpi, world, watchdog):
        self.mpi = mpi
        self.world = world
        self.watchdog = watchdog
        self.index, self.count = world.rank, world.size
        self._thread = threading.get_ident()
        self._lock = threading.RLock()
        self.turns = {}
        self._communicators = {}
        self._calls = {}
        self._abandoned = []  # exchanges that an error interrupted: MPI may still write to their memory

    def leave(self):
        """Tells the other processes that this one takes no part any more, and waits until they say so, too."""
        self.watchdog.leave()

    def check_thread(self):
        """Raises RuntimeError in another thread than the one that connected, unless MPI allows several."""
        if threading.get_ident() != self._thread and self.mpi.Query_thread() < self.mpi.THREAD_MULTIPLE:
            raise RuntimeError(
                "MPI was not started with MPI_THREAD_MULTIPLE, so programs over several processes run in the thread "
                "that called jax.distributed.initialize"
            )

    def communicator(self, key, processes):
        """A communicator over some processes, made once for a key; all of them make theirs in the same order."""
        if key not in self._communicators:
            group = self.world.group.Incl(list(processes))
            made = self.world.Create_group(group, int(hashlib.sha256(repr(key).encode()).hexdigest()[:6], 16) % 32768)
            self._communicators[key] = made
            group.Free()
        return self._communicators[key]

    def call(self, name, digest, processes=None):
        """Context manager for a program that some processes (by default all) run together: counts and names it."""
        return _Call(self, name, digest, tuple(range(self.count)) if processes is None else tuple(processes))

    def wait(self, requests, text, processes):
        """Completes MPI requests.  Raises JaxRuntimeError if one of the processes ends before."""
        pause = self.pause(lambda: text, processes)
        try:
            while not self.mpi.Request.Testall(requests):
                pause()
        except BaseException:
            self._abandoned.append(requests)
            raise
        finally:
            pause.end()

    def pause(self, text, processes):
        """The Pause of a loop that waits for messages of some processes; `text()` says in what."""
        return Pause(self, text, processes)

    def keep(self, exchange):
        """Keeps what an interrupted exchange refers to."""
        self._abandoned.append(exchange)

    def allgather(self, array, text):
        """Stacks an ndarray of each process, all of one shape and dtype, along a new leading axis."""
        array = np.asarray(array, order="C")
        out = np.empty((self.count, *array.shape), array.dtype)
        if array.nbytes:
            sent, received = array.reshape(-1).view(np.uint8), out.reshape(-1).view(np.uint8)
            with self.call(text, text):
                self.wait([self.world.Iallgather(sent, received)], text, range(self.count))
        return out

    def allgather_bytes(self, data, text):
        """The bytes of each process, as a list."""
        sizes = self.allgather(np.array(len(data), np.int64), text)
        padded = np.zeros(max(int(sizes.max()), 1), np.uint8)
        padded[: len(data)] = np.frombuffer(data, np.uint8)
        return [row[:n].tobytes() for row, n in zip(self.allgather(padded, text), sizes)]

    def allgather_json(self, value, text):
        """A value that JSON holds of each process, as a list."""
        return [json.loads(data) for data in self.allgather_bytes(json.dumps(value).encode(), text)]

    def have_same(self, data, text):
        """Whether all processes have the same bytes."""
        return len(set(self.allgather_bytes(hashlib.sha256(data).digest(), text))) == 1

    def broadcast(self, array, source, text):
        """The ndarray of the source process, whose shape and dtype all arrays have."""
        out = np.array(array, order="C")
        if out.nbytes:
            with self.call(text, text):
                self.wait([self.world.Ibcast(out.reshape(-1).view(np.uint8), source)], text, range(self.count))
        return out

    def agree(self, text, what, processes):
        """Raises RuntimeError, which shows both texts, unless all of the processes have the same text."""
        everyone = len(processes) == self.count
        communicator = self.world if everyone else self.communicator(("agree", *processes), processes)
        digests = np.empty((len(processes), 32), np.uint8)
        own = np.frombuffer(hashlib.sha256(text.encode()).digest(), np.uint8)
        self.wait([communicator.Iallgather(own, digests)], f"the comparison of {what}", processes)
        if (digests == own).all():
            return
        size = np.array(len(text.encode()))
        sizes = np.empty(len(processes), size.dtype)
        self.wait([communicator.Iallgather(size, sizes)], f"the comparison of {what}", processes)
        room = np.zeros(int(sizes.max()), np.uint8)
        room[:size] = np.frombuffer(text.encode(), np.uint8)
        texts = np.empty((len(processes), len(room)), np.uint8)
        self.wait([communicator.Iallgather(room, texts)], f"the comparison of {what}", processes)
        other = next(i for i in range(len(processes)) if (digests[i] != digests[0]).any())
        shown = [bytes(texts[i][: sizes[i]]).decode() for i in (0, other)]
        raise JaxRuntimeError(
            f"The processes run different programs, so their collectives would not meet ({what}).\n\n"
            f"Process {processes[0]} runs\n{shown[0]}\n\nProcess {processes[other]} runs\n{shown[1]}"
        )


class _Call:
    """A program that processes run together.

    While it runs, they compare what it is: 16 bytes, whose reduction nobody waits for until the program has ended.
    """

    _LENGTH = 256  # bytes of a name that an error shows

    def __init__(self, group, name, digest, processes):
        self.group, self.name, self.digest, self.processes = group, name, digest, processes
        self.requests, self.sent, self.found = [], None, np.empty(2, np.int64)

    def __enter__(self):
        group = self.group
        group.check_thread()
        group._lock.acquire()
        self.before = group.watchdog.place
        if self.before is not None and len(self.processes) > 1:  # within another, which is compared as a whole
            return
        number = group._calls[self.processes] = group._calls.get(self.processes, 0) + 1
        group.watchdog.place = [list(self.processes), number, self.name, self.digest]
        if len(self.processes) > 1:
            code = int(hashlib.sha256(f"{number} {self.name} {self.digest}".encode()).hexdigest()[:12], 16)
            self.sent = np.array([code, -code])
            self.requests = [self._communicator().Iallreduce(self.sent, self.found, group.mpi.MAX)]

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.requests:
                self.group.wait(self.requests, f"the end of {self.name}", self.processes)
                if self.found[0] != -self.found[1]:
                    raise self._error()
        finally:
            if self.requests and kind is not None:
                self.group.keep(self)
            self.group.watchdog.place = self.before
            self.group._lock.release()

    def _communicator(self):
        return self.group.communicator(("calls", *self.processes), self.processes)

    def _error(self):
        """The error that shows what each process ran."""
        own = f"{self.name} (program {self.digest})".encode()[: self._LENGTH]
        sent = np.zeros(self._LENGTH, np.uint8)
        sent[: len(own)] = np.frombuffer(own, np.uint8)
        rows = np.empty((len(self.processes), self._LENGTH), np.uint8)
        self.group.wait([self._communicator().Iallgather(sent, rows)], "the comparison of programs", self.processes)
        lines = [f"  process {p} ran {bytes(r).rstrip(bytes(1)).decode()}" for p, r in zip(self.processes, rows)]
        return JaxRuntimeError("The processes ran different programs, or in different orders:\n" + "\n".join(lines))


_yield = getattr(os, "sched_yield", lambda: time.sleep(0))  # Windows has no such call


class Pause:
    """Paces a loop that polls MPI: it yields the processor first, then sleeps up to a millisecond.

    Calling it raises JaxRuntimeError if a process for which the loop waits has ended, or all wait for one another.
    """

    __slots__ = ("_count", "_ended_since", "_group", "_processes", "_reported", "_seconds", "_started", "_text")
    YIELDS = 0.05  # seconds: messages only move while MPI is called
    REPORT_AFTER = 3.0  # seconds until others learn that this process waits
    GRACE = 5.0  # seconds that messages of an ended process may take

    def __init__(self, group, text, processes):
        self._group, self._text, self._processes = group, text, frozenset(processes)
        self._count, self._started, self._reported, self._ended_since = 0, time.monotonic(), False, None
        self._seconds = 0.0

    def __call__(self):
        self._count += 1
        if self._seconds:
            time.sleep(self._seconds)
        else:
            _yield()
        if self._count % 64:
            return
        watchdog, now = self._group.watchdog, time.monotonic()
        self._seconds = min(max(now - self._started - self.YIELDS, 0.0) / 100, 1e-3)
        if watchdog.mismatch is not None:
            raise JaxRuntimeError(watchdog.mismatch)
        ended = sorted(self._processes & watchdog.ended)
        if ended:
            self._ended_since = self._ended_since or now
            if now - self._ended_since > self.GRACE:
                raise JaxRuntimeError(
                    f"process {ended[0]} has ended, but process {self._group.index} waits for it in {self._text()}"
                )
        if not self._reported and now - self._started > self.REPORT_AFTER:
            self._reported = True
            watchdog.report_waiting(self._text())

    def end(self):
        """The loop has ended."""
        if self._reported:
            self._group.watchdog.report_going()


__all__ = ["Pause", "ProcessGroup", "Timeouts", "connect"]
