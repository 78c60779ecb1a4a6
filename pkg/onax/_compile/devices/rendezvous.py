"""Runs the programs of several devices concurrently; they meet to exchange values.

A program is a generator.  It yields what it waits for, and receives the outcome:

    a function without arguments    work for its device: a thread runs it, so that devices work at the same time
    Rendezvous                      values for the others of its group: it resumes when all of them have arrived
    a list of Rendezvous            several at a time: it resumes, with a list, when all are complete

One thread resumes the programs in turn, so there is no lock, and a deadlock is detected: if no device works and some
wait for others that cannot arrive, that is an error at once.

A group may have devices in other processes, whose programs run there.  When those of this process have arrived, its
collective begins an exchange of messages, a generator that yields requests of MPI; the thread polls them.
"""

import os
import queue
from collections import deque
from concurrent import futures
from dataclasses import dataclass

from onax._ground import processes
from onax._ground.errors import JaxRuntimeError
from onax._native import context

_WHOLE_WORD = 2**64 - 1  # a thread that works for another overrides every option


@dataclass(slots=True, eq=False)
class Rendezvous:
    """A program waits for the other programs of its group.

    Attributes:
      collective: `collective.exchange(values)` takes the values of each program of the group, in order, and returns
        what each one receives; `collective.text()` names it in an error.  If some of the group run in other processes,
        `collective.begin(values by index)` begins the exchange with them, and `collective.processes(index)` are these.
      group: the indices of all programs that take part, including its own.
      values: the values of this program.
    """

    collective: object
    group: list
    values: object


@dataclass(slots=True, eq=False)
class _Exchange:
    """A collective that exchanges messages with other processes: its generator, and the requests it waits for."""

    collective: object
    index: int
    steps: object
    requests: list | None = None


class _Workers:
    """The worker threads of this process, as many as any call needed so far."""

    def __init__(self):
        self.process = self.size = self.pool = None

    def pool_of_at_least(self, n):
        """A pool of n threads or more."""
        if self.process != os.getpid() or self.size < n:
            self.pool = futures.ThreadPoolExecutor(n, "onax-device")
            self.process, self.size = os.getpid(), n
        return self.pool


_workers = _Workers()


class _Scheduler:
    """The programs of one call, and the state of each."""

    def __init__(self, programs, names, indices):
        self.programs = programs
        self.names = names
        self.indices = indices  # of the participants that the programs are
        self.positions = {index: i for i, index in enumerate(indices)}
        self.exchanges = []  # with other processes
        self.pause = None
        self.results = [None] * len(programs)
        self.ready = deque((i, None) for i in range(len(programs)))
        self.waiting = {}  # index -> {collective: Rendezvous} of those that are not complete
        self.due = {}  # index -> (what it asked for, {collective: result})
        self.failed = {}  # index -> error
        self.working = 0
        self.done = queue.SimpleQueue()
        self.word = context.option_word()

    def run(self):
        """Returns the results in order, or raises the error of the first program that fails when all have stopped."""
        try:
            while self.working or ((self.ready or self.exchanges) and not self.failed):
                if self.ready and not self.failed:
                    self._resume(*self.ready.popleft())
                elif self.exchanges and not self.failed:
                    self._poll()
                else:
                    self._take_outcome()
            if self.failed:
                raise self.failed[min(self.failed)]
            if self.waiting:
                raise self._deadlock_error()
            return self.results
        finally:
            while self.working:
                self._take_outcome()
            if self.exchanges:
                processes.current().keep(self.exchanges)
            if self.pause is not None:
                self.pause.end()
            for program in self.programs:
                program.close()

    def _resume(self, i, outcome):
        try:
            request = self.programs[i].send(outcome)
        except StopIteration as end:
            self.results[i] = end.value
            return
        if type(request) is Rendezvous or type(request) is list:
            self._arrive(self.indices[i], request)
        elif len(self.programs) == 1:
            self.ready.append((i, request()))
        else:
            self.working += 1
            future = _workers.pool_of_at_least(len(self.programs)).submit(_with_options, self.word, request)
            future.add_done_callback(lambda future: self.done.put((i, future)))

    def _take_outcome(self, timeout=None):
        """Takes what a thread has computed; raises queue.Empty after `timeout` seconds."""
        i, future = self.done.get(timeout=timeout)
        self.working -= 1
        error = future.exception()
        if error is None:
            self.ready.append((i, future.result()))
        else:
            self.failed[i] = error

    def _arrive(self, index, asked):
        requests = asked if type(asked) is list else [asked]
        self.waiting[index] = {request.collective: request for request in requests}
        self.due[index] = asked, {}
        for request in requests:
            self._meet(request)

    def _meet(self, request):
        """Carries a collective out if all programs of this process have arrived, or begins to."""
        collective, local = request.collective, [j for j in request.group if j in self.positions]
        here = [self.waiting.get(j, {}).get(collective) for j in local]
        if None in here:
            return
        for j in local:
            del self.waiting[j][collective]
        values = [w.values for w in here]
        if len(local) == len(request.group):
            self._deliver(collective, dict(zip(local, collective.exchange(values))))
        else:
            self._advance(_Exchange(collective, local[0], collective.begin(dict(zip(local, values)))))

    def _deliver(self, collective, results):
        """Hands out the results of a collective; programs of which all are there are ready."""
        for j, result in results.items():
            asked, found = self.due[j]
            found[collective] = result
            if self.waiting[j] or (type(asked) is list and len(found) < len(asked)):
                continue
            del self.waiting[j], self.due[j]
            outcome = [found[request.collective] for request in asked] if type(asked) is list else result
            self.ready.append((self.positions[j], outcome))

    def _advance(self, exchange):
        """Resumes an exchange until it waits for messages, or its results are there."""
        try:
            exchange.requests = next(exchange.steps)
        except StopIteration as end:
            self._deliver(exchange.collective, end.value)
        else:
            self.exchanges.append(exchange)

    def _poll(self):
        """Resumes the exchanges whose messages have arrived; pauses if there are none."""
        testall = processes.current().mpi.Request.Testall
        complete = [exchange for exchange in self.exchanges if testall(exchange.requests)]
        for exchange in complete:
            self.exchanges.remove(exchange)
            self._advance(exchange)
        if complete:
            if self.pause is not None:
                self.pause.end()
            self.pause = None
        elif self.working:
            try:
                self._take_outcome(timeout=5e-4)
            except queue.Empty:
                return
        else:
            self.pause = self.pause or self._new_pause()
            self.pause()

    def _new_pause(self):
        collectives = [exchange.collective for exchange in self.exchanges]
        texts = lambda: ", ".join(sorted({collective.text() for collective in collectives}))
        others = {p for exchange in self.exchanges for p in exchange.collective.processes(exchange.index)}
        return processes.current().pause(texts, others)

    def _deadlock_error(self):
        lines = []
        for i, name in zip(self.indices, self.names):
            if i in self.waiting:
                texts = dict.fromkeys(collective.text() for collective in self.waiting[i])
                lines.append(f"  {name} waits in {', '.join(texts)}")
            else:
                lines.append(f"  {name} has come to the end")
        return JaxRuntimeError(
            "A collective was reached by some of its devices only, so they would wait for ever:\n" + "\n".join(lines)
        )


def _with_options(word, work):
    """Runs work in another thread under the caller's options."""
    previous = context.swap_thread_word(_WHOLE_WORD, word)
    try:
        return work()
    finally:
        context.swap_thread_word(*previous)


def run_together(programs, names, indices=None):
    """Runs programs concurrently and returns their results; `names` are those of their devices, for errors.

    `indices` are the programs' numbers among the participants, if some of these run in other processes.

    Raises what a program raises (the error of the first device, if several fail before all have stopped), and
    JaxRuntimeError for a rendezvous that not all of its group reach.
    """
    programs = list(programs)
    return _Scheduler(programs, names, list(range(len(programs))) if indices is None else indices).run()
