"""Ends all processes of a program when one of them has ended, and finds out when they wait for one another.

Each process has a TCP connection to the first one, the coordinator, served by a thread that makes no call of MPI.

    an exception leaves a process      it says so on stderr in one line, and MPI_Abort ends all
    a process dies                     its connection ends without a farewell: the coordinator ends all
    a process ends                     others that wait for it raise an error
    processes wait for seconds         they tell the coordinator where; if they are in different programs, it tells them

The same connections carry what libraries ask of the coordinator (`coordination.py`).

Lines of JSON are the messages.  A connection begins with a token that the processes exchange through MPI.
"""

import atexit
import json
import os
import secrets
import selectors
import socket
import sys
import threading
import time
from dataclasses import dataclass

from onax._ground.coordination import Client, Service

STUCK = 20.0  # seconds after which processes that wait at different places are taken to wait for ever


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, without a sign of life of another machine, to wait at the end for other processes."""

    initialization: float = 300
    heartbeat: float = 100
    shutdown: float = 300


def start_watchdog(world, address, timeouts):
    """The Watchdog of this process; `world` is MPI's communicator, used only here and when an exception ends all."""
    server, told = None, None
    if world.rank == 0:
        host, _, port = (address or "").rpartition(":")
        server = socket.create_server(("", int(port or 0)), backlog=world.size)
        told = [host or socket.gethostname(), server.getsockname()[1], secrets.token_hex(16), socket.gethostname()]
    host, port, token, machine = world.bcast(told, 0)
    watchdog = (
        _Coordinator(world, server, token, timeouts)
        if world.rank == 0
        else _Member(world, "127.0.0.1" if machine == socket.gethostname() else host, port, token, timeouts)
    )
    watchdog.start()
    return watchdog


class Watchdog:
    """What a process knows of the others.

    Attributes:
      ended: the processes that have ended as they should.
      mismatch: the text of an error, if processes wait for one another in different programs.
      place: [processes, number of the call, name, digest] of the program that this process runs with others.
      client: what libraries ask of the coordinator, as JAX's client of a distributed runtime.
    """

    def __init__(self, world, timeouts):
        self.world, self.timeouts = world, timeouts
        self.index, self.count = world.rank, world.size
        self.ended = set()
        self.mismatch = None
        self.place = None
        self.left = self.ending = False
        self.client = Client(self._request)
        self._previous_hook = sys.excepthook

    def start(self):
        """Begins to watch."""
        threading.Thread(target=self.serve, name="onax-watchdog", daemon=True).start()
        sys.excepthook = self._ended_by_exception
        atexit.register(self.leave)

    def _request(self, number, operation, arguments):
        self.tell({"kind": "request", "number": number, "operation": operation, "arguments": arguments})

    def report_waiting(self, text):
        """Tells the coordinator that this process has waited for some time."""
        self.tell({"kind": "waiting", "place": self.place, "text": text})

    def report_going(self):
        """Tells the coordinator that this process waits no more."""
        self.tell({"kind": "going"})

    def leave(self):
        """Says that this process takes no part any more, and waits for the others to say so, too."""
        if self.left or self.ending:
            return
        self.left = True
        self.ended.add(self.index)
        self.tell({"kind": "ended"})
        until = time.monotonic() + self.timeouts.shutdown
        while len(self.ended) < self.count and time.monotonic() < until and not self.ending:
            self.world.Iprobe()  # MPI moves messages that others still wait for
            time.sleep(1e-3)

    def _ended_by_exception(self, kind, error, trace):
        """Replaces `sys.excepthook`: all processes end."""
        self.ending = True  # from here on only this function ends the process, so that its line is said
        self._previous_hook(kind, error, trace)
        lines = str(error).strip().splitlines()
        text = f"{kind.__name__}: {lines[0]}" if lines else kind.__name__
        say(f"onax: process {self.index} of {self.count} ended with {text}; all processes end")
        self.tell({"kind": "failed", "text": text})
        sys.stdout.flush()
        time.sleep(0.2)  # the coordinator passes it on, so that processes end that MPI does not reach
        self.world.Abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

    def end_now(self, line=None):
        """Ends this process at once; prints a line before, if it is this process that says why."""
        if not self.ending:
            self.ending = True
            if line is not None:
                say(line)
            os._exit(1)


def say(line):
    """Writes a line to stderr in one piece."""
    sys.stderr.flush()
    os.write(2, (line + "\n").encode())


def _keep_alive(connection, seconds):
    """Has the system notice within some seconds that the other machine does not answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", seconds / 2), ("TCP_KEEPINTVL", seconds / 8), ("TCP_KEEPCNT", 4)):
        if name in vars(socket):  # not every system has them
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), max(int(value), 1))


def _line(message):
    return (json.dumps(message) + "\n").encode()


class _Member(Watchdog):
    """The watchdog of a process other than the first."""

    def __init__(self, world, host, port, token, timeouts):
        super().__init__(world, timeouts)
        self._connection = socket.create_connection((host, port), timeout=timeouts.initialization)
        self._connection.settimeout(None)
        _keep_alive(self._connection, timeouts.heartbeat)
        self._sending = threading.Lock()
        self.tell({"kind": "hello", "token": token, "process": self.index})

    def tell(self, message):
        """Sends a message to the coordinator; one that has gone will be noticed by `serve`."""
        with self._sending:
            try:
                self._connection.sendall(_line(message))
            except OSError:
                self._connection.close()

    def serve(self):
        """Reads what the coordinator says until it ends."""
        try:
            for line in self._connection.makefile("rb"):
                self._receive(json.loads(line))
        except (OSError, ValueError):  # a connection that broke ends like one that was closed
            self._connection.close()
        if 0 not in self.ended and not self.left:
            text = f"onax: process 0 of {self.count} has died; all processes end"
            self.end_now(text if self.index == 1 else None)

    def _receive(self, message):
        kind = message["kind"]
        if kind == "ended":
            self.ended.add(message["process"])
        elif kind == "mismatch":
            self.mismatch = message["text"]
        elif kind == "answer":
            self.client.receive(message["number"], message["value"], message["error"])
        elif kind == "abort":
            self.end_now()


class _Coordinator(Watchdog):
    """The watchdog of the first process, to which all others speak."""

    def __init__(self, world, server, token, timeouts):
        super().__init__(world, timeouts)
        self._server, self._token = server, token
        self._selector = selectors.DefaultSelector()
        self._processes = {}  # connection -> process, once it has said the token
        self._unread = {}  # connection -> bytes of an unfinished line
        self._waiting = {}  # process -> (since when, place, text)
        self._lock = threading.RLock()
        self._service = Service(self.count, self._answer)
        self._selector.register(server, selectors.EVENT_READ)

    def tell(self, message):
        """Takes a message of the first process itself."""
        with self._lock:
            self._receive(0, message)

    def serve(self):
        """Takes connections and messages."""
        while True:
            for key, _ in self._selector.select(1.0):
                with self._lock:
                    self._accept() if key.fileobj is self._server else self._read(key.fileobj)
            with self._lock:
                self._look_for_mismatch()

    def _accept(self):
        connection, _ = self._server.accept()
        _keep_alive(connection, self.timeouts.heartbeat)
        self._unread[connection] = b""
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection):
        try:
            data = connection.recv(1 << 16)
        except OSError:  # reset: the process died
            data = b""
        if not data:
            self._selector.unregister(connection)
            connection.close()
            process = self._processes.pop(connection, None)
            if process is not None and process not in self.ended and not self.left:
                self._end_all(f"onax: process {process} of {self.count} has died; all processes end")
            return
        *lines, self._unread[connection] = (self._unread[connection] + data).split(b"\n")
        for line in lines:
            self._take_line(connection, json.loads(line))

    def _take_line(self, connection, message):
        if connection in self._processes:
            self._receive(self._processes[connection], message)
        elif message.get("token") == self._token:
            self._processes[connection] = message["process"]
            for process in self.ended:
                connection.sendall(_line({"kind": "ended", "process": process}))

    def _send(self, message):
        for connection in list(self._processes):
            try:
                connection.sendall(_line(message))
            except OSError:  # it has ended meanwhile, which its own connection tells
                continue

    def _answer(self, process, number, value, error):
        if process == 0:
            self.client.receive(number, value, error)
            return
        connection = next((c for c, i in self._processes.items() if i == process), None)
        if connection is not None:
            try:
                connection.sendall(_line({"kind": "answer", "number": number, "value": value, "error": error}))
            except OSError:  # it has ended meanwhile, which its own connection tells
                return

    def _receive(self, process, message):
        kind = message["kind"]
        if kind == "request":
            self._service.handle(process, message["number"], message["operation"], message["arguments"])
        elif kind == "waiting":
            self._waiting[process] = time.monotonic(), message["place"], message["text"]
            self._look_for_mismatch()
        elif kind == "going":
            self._waiting.pop(process, None)
        elif kind == "ended":
            self.ended.add(process)
            self._send({"kind": "ended", "process": process})
        elif kind == "failed":
            self._send({"kind": "abort"})
            if process != 0:
                time.sleep(0.1)
                self.end_now()

    def _end_all(self, line):
        if not self.ending:
            self._send({"kind": "abort"})
            self.end_now(line)

    def _look_for_mismatch(self):
        """Tells all processes if they wait at different places and none goes on."""
        if self.mismatch is not None or len(self._waiting) < 2:
            return
        text = _mismatch_of(self._waiting)
        if (
            text is None
            and len(self._waiting) == self.count
            and len({str(p) for _, p, _ in self._waiting.values()}) > 1
        ):
            since = max(at for at, _, _ in self._waiting.values())
            if time.monotonic() - since > STUCK:
                text = "All processes wait, at different places, so they would wait for ever"
        if text is not None:
            lines = [f"  process {i} waits in {name(p)}{t}" for i, (_, p, t) in sorted(self._waiting.items())]
            self.mismatch = "\n".join([text + ":", *lines])
            self._send({"kind": "mismatch", "text": self.mismatch})


def name(place):
    """The program that a place names, for a message."""
    return "" if place is None else f"program {place[2]} (call {place[1]} of these processes): "


def _mismatch_of(waiting):
    """The text of an error, if processes count the same call with each other but run different programs."""
    programs = {}
    for _, place, _ in waiting.values():
        if place is not None:
            programs.setdefault((tuple(place[0]), place[1]), set()).add(place[3])
    if any(len(digests) > 1 for digests in programs.values()):
        return "The processes run different programs, or in different orders, so their collectives do not meet"
    return None
