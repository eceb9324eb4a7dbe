"""The server of one run. A *run* is a list of tasks, with the responses and the junk that the server sends for each
task. *Junk* is bytes that belong to no request. If the run has a proxy, this object is also the proxy. The server has
no thread: the worker, which performs the run, calls `process_events` repeatedly."""

import heapq
import select
import socket
import time
from contextlib import suppress

from desync.junk import junk
from desync.peer import PeerConnection
from desync.record import BytesInjected, Record, RequestReceived, ResponseSent
from desync.responses import respond
from desync.runs import (
    ACCEPT,
    BEFORE_TUNNEL,
    BEHIND,
    BEHIND_TUNNEL,
    CERTIFICATE_REQUEST,
    FORWARD,
    HANDSHAKE,
    IDLE,
    PLAIN,
    TLS12,
    TUNNEL,
    WITH,
)

_CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"
_INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
#: Tasks that are enqueued together get their responses when the requests of all these tasks have arrived. After this
#: time in seconds, the server does not wait for missing requests any more.
_TOGETHER = 0.5
_LIMIT = 10


class Server:
    """``with Server(run, contexts) as server: server.process_events(seconds)``"""

    def __init__(self, run, contexts):
        self._run, self._contexts = run, contexts
        self.record = Record()
        self._peers, self._tickets = {}, {}
        self._count = self._marks = self._early = 0
        #: A heap of actions, each with the time at which it is due.
        self._due = []
        self._waiting = []
        #: `live` has the running tasks. `together` has the tasks of the current group that have sent no request yet.
        #: The server waits until `together` is empty, and then responds to all tasks of the group.
        self.live, self.together = set(), set()
        self._injected = set()
        self._watched = None
        self._received = {}

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self._poll = select.poll()
        self._poll.register(self._listener, select.POLLIN)
        return self

    def __exit__(self, *_):
        self._listener.close()
        for peer in self._peers.values():
            if peer.is_open:
                with suppress(OSError):
                    peer.reset()

    @property
    def url(self):
        if self._run.transport == FORWARD:
            return f"http://origin{self._run.number}.test"
        return f"{'http' if self._run.transport == PLAIN else 'https'}://127.0.0.1:{self.port}"

    def watch(self, descriptor):
        """Makes `process_events` also return when this descriptor is readable."""
        self._watched = descriptor
        self._poll.register(descriptor, select.POLLIN)

    # The loop

    def process_events(self, seconds):
        """Waits until a connection is ready, an action is due, the watched descriptor is readable, or the time is over.
        Then handles all ready connections and due actions. Returns whether there was a ready connection or a due
        action."""
        if self._due:
            seconds = max(0, min(seconds, self._due[0][0] - time.monotonic()))
        ready = {descriptor for descriptor, _ in self._poll.poll(seconds * 1_000)}
        if self._listener.fileno() in ready:
            self._accept()
        for number, peer in list(self._peers.items()):
            if peer.is_open and peer.socket.fileno() in ready:
                self._ignoring_disconnect(self._read, number, peer)
        is_busy = bool(ready - {self._watched})
        while self._due and self._due[0][0] <= time.monotonic():
            _, _, action, number, arguments = heapq.heappop(self._due)
            self._ignoring_disconnect(action, number, self._peers[number], *arguments)
            is_busy = True
        return is_busy

    def settle(self):
        """Waits until each request has its response, and the client's kernel has all bytes that were sent."""
        deadline = time.monotonic() + _LIMIT
        while time.monotonic() < deadline:
            if self.process_events(0.2 if self._due else 0) or self._due:
                continue
            for peer in self._peers.values():
                if peer.is_open:
                    peer.settle()
            if not self.process_events(0) and not self._due:
                return

    def _ignoring_disconnect(self, action, number, peer, *arguments):
        """Runs the action. If the action fails, forgets the connection, because the client may have closed it."""
        if not peer.is_open:
            return
        try:
            action(number, peer, *arguments)
        except (OSError, ValueError):
            self._forget(peer)

    def _later(self, seconds, action, number, *arguments):
        self._count += 1
        heapq.heappush(self._due, (time.monotonic() + seconds, self._count, action, number, arguments))

    def _forget(self, peer, close=PeerConnection.close):
        with suppress(KeyError, ValueError):
            self._poll.unregister(peer.socket)
        close(peer)

    # Connections

    def _accept(self):
        connection, _ = self._listener.accept()
        number, peer = len(self._peers), PeerConnection(connection)
        self._peers[number] = peer
        self._poll.register(connection, select.POLLIN)
        if self._run.transport not in (PLAIN, FORWARD, TUNNEL):
            peer.encrypt(self._contexts[self._run.transport])
        if self._takes_early(ACCEPT):
            self._ignoring_disconnect(self._inject_early, number, peer, b"", False)

    def _takes_early(self, point):
        early = self._run.early
        if early is None or early.point != point or self._early >= early.connections:
            return False
        self._early += 1
        return True

    def _inject_early(self, number, peer, before, is_atomic, after=b""):
        data, mark = self._junk(self._run.early.kind)
        peer.send(before + peer.encoded_record(data) + after)
        self._note(number, mark, f"{self._run.early.kind} at {self._run.early.point}", is_atomic)

    def _read(self, number, peer):
        if not peer.receive():
            return self._forget(peer)
        if peer.is_in_handshake and not self._continue_handshake(number, peer):
            return None
        while peer.is_open and (request := peer.next_request()) is not None:
            if request.method == "CONNECT":
                self._connect(number, peer)
            else:
                self._receive_request(number, peer, request)
        return None

    def _connect(self, number, peer):
        if self._takes_early(BEFORE_TUNNEL):
            self._inject_early(number, peer, b"", True, _CONNECTED)
        elif self._takes_early(BEHIND_TUNNEL):
            self._inject_early(number, peer, _CONNECTED, True)
        else:
            peer.send(_CONNECTED)
        peer.encrypt(self._contexts[self._run.transport])

    def _continue_handshake(self, number, peer):
        last = peer.continue_handshake()
        if last is None:
            return False
        if self._run.late_tickets and self._run.transport != TLS12:
            self._tickets[number] = last
        # In TLS 1.2 the server sends the last message only in a full handshake, so `last` may be empty.
        elif last and self._takes_early(HANDSHAKE):
            self._inject_early(number, peer, last, self._run.transport == TLS12)
        else:
            peer.send(last)
        return True

    # Requests

    def _receive_request(self, number, peer, request):
        self.record.entries.append(RequestReceived(number, request.task))
        attempt = self._received.get(request.task, 0)
        self._received[request.task] = attempt + 1
        response = respond(self._run, request, attempt)
        late = self._step(request.task).late_ms / 1_000
        self.together.discard(request.task)
        if self.together:
            self._waiting.append((number, request.task, response))
            self._later(_TOGETHER, self._respond, number, request.task, response)
        else:
            self._later(late, self._respond, number, request.task, response)
            for other in self._waiting:
                self._later(late, self._respond, *other)
            self._waiting = []

    def _step(self, task):
        return self._run.steps[int(task.rpartition("t")[2])]

    def _respond(self, number, peer, task, response):
        if any(isinstance(entry, ResponseSent) and entry.response is response for entry in self.record.entries):
            return
        step = self._step(task)
        self.record.entries.append(ResponseSent(number, task, response, frozenset(self.live)))
        pieces = self._pieces(step, response)
        tickets = self._tickets.pop(number, b"")
        for piece in pieces[:-1]:
            peer.send(tickets + peer.encoded_record(piece))
            tickets = b""
        injection = step.injection if response.is_final and task not in self._injected else None
        if injection is not None and injection.point == WITH:
            self._inject(number, peer, task, injection, pieces[-1], True, tickets)
        else:
            peer.send(tickets + peer.encoded_record(pieces[-1]))
            if injection is not None and injection.point == BEHIND:
                self._inject(number, peer, task, injection, b"", False)
        if response.drop_after is not None and peer.is_open:
            self._forget(peer)

    @staticmethod
    def _pieces(step, response):
        head, body = response.encoded()
        interim = _INTERIM * step.interim
        if step.pieces == 1:
            return [interim + head + body]
        if step.pieces == 2 or len(body) < 2:
            return [interim + head, body] if body else [interim, head]
        return [interim + head, body[:len(body) // 2], body[len(body) // 2:]]

    # Junk

    def inject_idle(self, task):
        """Sends the task's junk on each connection. All connections are idle at this time."""
        injection = self._step(task).injection
        if injection is None or injection.point != IDLE or task in self._injected:
            return
        for number, peer in list(self._peers.items()):
            self._ignoring_disconnect(self._inject, number, peer, task, injection, b"", True)

    def _inject(self, number, peer, task, injection, before, is_atomic, tickets=b""):
        self._injected.add(task)
        if injection.kind == CERTIFICATE_REQUEST:
            peer.send(peer.certificate_request())
            return self._note(number, CERTIFICATE_REQUEST, f"{CERTIFICATE_REQUEST} {injection.point} {task}", is_atomic)
        data, mark = self._junk(injection.kind)
        if injection.shares_record:
            data = peer.encoded_record(before + data)
        else:
            data = peer.encoded_record(before) + (data if injection.is_raw else peer.encoded_record(data))
        peer.send(tickets + data)
        where = " below TLS" if injection.is_raw else " in its record" if injection.shares_record else ""
        self._note(number, mark, f"{injection.kind} {injection.point} {task}{where}", is_atomic)
        if injection.closes:
            self._forget(peer)
        return None

    def _junk(self, kind):
        self._marks += 1
        mark = f"{self._run.number}.{self._marks}"
        return junk(kind, mark), mark

    def _note(self, number, mark, what, is_atomic):
        self.record.entries.append(BytesInjected(number, mark, what, is_atomic, frozenset(self.live)))
