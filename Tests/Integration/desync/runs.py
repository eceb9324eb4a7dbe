"""Describes the runs of the tests as plain values. A run is a list of steps over one transport, such as TLS 1.3. A
step is one task, with the server's response and the junk that the server sends. Junk is bytes that belong to no
request."""

import random
from dataclasses import dataclass, replace

from desync import junk

#: The transports: HTTP/1.1 without TLS; over TLS 1.2; over TLS 1.3; through a forwarding HTTP proxy; over TLS in the
#: tunnel of a proxy.
PLAIN, TLS12, TLS13, FORWARD, TUNNEL = TRANSPORTS = ("plain", "tls12", "tls13", "forward", "tunnel")

#: The kinds of tasks. RESUME is a download that resumes after the server has closed its connection. CHANGED is a
#: download with a conditional request. GET and HEAD are other downloads, and PUT and POST are uploads.
GET, HEAD, RESUME, CHANGED, PUT, POST = METHODS = ("GET", "HEAD", "RESUME", "CHANGED", "PUT", "POST")
UPLOADS = (PUT, POST)

#: The possible responses for each kind of task. A name states how the body ends, or which status the response has.
FRAMINGS = {
    GET: ("length", "empty", "chunked", "trailers", "no-content", "missing", "missing-chunked", "unavailable"),
    HEAD: ("length", "empty", "chunked"),
    RESUME: ("length",),
    CHANGED: ("unchanged", "unchanged-with-length"),
    PUT: ("length", "empty", "chunked", "trailers", "no-content", "missing"),
    POST: ("length", "empty", "chunked", "no-content", "missing"),
}

#: The points at which junk is sent. WITH: in the send call that ends the response. BEHIND: in a separate call after the
#: response. IDLE: after the task has ended.
WITH, BEHIND, IDLE = POINTS = ("with", "behind", "idle")

#: A kind of injection (see `Injection`). The injected bytes are no junk: between two responses, the server sends a TLS
#: 1.3 record that requests a client certificate. The protocol allows this record.
CERTIFICATE_REQUEST = "question"

#: The points at which junk is sent on a new connection. ACCEPT: when the server accepts the connection. HANDSHAKE: with
#: the server's last message of a TLS handshake. BEFORE_TUNNEL and BEHIND_TUNNEL: before or after the response to
#: CONNECT, in the same send call.
ACCEPT, HANDSHAKE, BEFORE_TUNNEL, BEHIND_TUNNEL = ("accept", "handshake", "before-tunnel", "behind-tunnel")
EARLY_POINTS = {
    PLAIN: (ACCEPT,), FORWARD: (ACCEPT,), TLS12: (HANDSHAKE,), TLS13: (HANDSHAKE,),
    TUNNEL: (BEFORE_TUNNEL, BEHIND_TUNNEL, HANDSHAKE),
}
#: A value of `Early.connections`. No run has so many connections, so each connection begins with junk.
ALWAYS = 1_000


@dataclass(frozen=True)
class Injection:
    """Junk, or a record of the kind CERTIFICATE_REQUEST, that the server sends at one point of a step."""

    point: str
    kind: str
    #: Whether the junk is sent directly on the socket, outside of TLS records.
    is_raw: bool = False
    #: Whether the junk is in the same TLS record as the end of the response. The client reads the whole record, so
    #: its socket has no unread byte of the junk. Only used at the point WITH.
    shares_record: bool = False
    #: Whether the server closes the connection after the junk.
    closes: bool = False
    #: How long the connection is idle before the server sends the junk, in milliseconds.
    pause_ms: int = 0


@dataclass(frozen=True)
class Early:
    """Junk on new connections, before their first request."""

    point: str
    kind: str
    #: The number of connections of the run that begin with junk.
    connections: int = 1


@dataclass(frozen=True)
class Step:
    """One task, and the server's response to it."""

    method: str = GET
    framing: str = "length"
    size: int = 100
    #: The number of 1xx responses before the final one.
    interim: int = 0
    #: The number of send calls for the response.
    pieces: int = 1
    #: The delay of the response, in milliseconds.
    late_ms: int = 0
    injection: Injection | None = None
    #: Whether the task is enqueued together with the task of the next step.
    with_next: bool = False
    #: The number of the earlier step that downloads the same file. Only used with the method CHANGED.
    of: int | None = None


@dataclass(frozen=True)
class Run:
    transport: str
    steps: tuple
    connections: int = 1
    early: Early | None = None
    #: Whether ALPN chooses HTTP/1.1. Otherwise the session's http_version chooses HTTP/1.1.
    alpn: bool = False
    #: Whether the session tickets of TLS 1.3 are sent with the first response instead of after the handshake.
    late_tickets: bool = False
    number: int = 0

    def groups(self):
        """Returns groups of step numbers. The tasks of one group are enqueued together."""
        group, groups = [], []
        for number, step in enumerate(self.steps):
            group.append(number)
            # A task with a conditional request is enqueued after the task that downloads the file.
            last = number == len(self.steps) - 1
            if last or not step.with_next or self.steps[number + 1].method == CHANGED:
                groups.append(tuple(group))
                group = []
        return groups

    def task(self, number):
        """Returns the name of a step's task. The name is unique in all runs."""
        return f"r{self.number}t{number}"


def generate(seed, number):
    """Returns a run. The same seed and number give the same run."""
    source = random.Random(f"{seed}:{number}")
    transport = source.choice(TRANSPORTS)
    connections = source.choice((1, 1, 2))
    early = _early(source, transport) if source.random() < 0.15 else None
    steps = []
    count = source.randint(2, 5)
    while len(steps) < count:
        steps.append(_step(source, transport, steps, connections))
    if early is None and all(step.injection is None for step in steps):
        steps[0] = replace(steps[0], injection=_injection(source, transport))
    alpn = transport not in (PLAIN, FORWARD) and source.random() < 0.3
    return Run(transport, tuple(steps), connections, early, alpn, late_tickets=source.random() < 0.2, number=number)


def _early(source, transport):
    return Early(source.choice(EARLY_POINTS[transport]), source.choice(junk.KINDS), source.choice((1, 1, 2, ALWAYS)))


def _injection(source, transport):
    kind = source.choice(junk.KINDS)
    point = source.choice((WITH, BEHIND, IDLE, IDLE))
    if transport in (TLS13, TUNNEL) and source.random() < 0.1:
        return Injection(point if point != WITH else IDLE, CERTIFICATE_REQUEST)
    is_encrypted = transport not in (PLAIN, FORWARD)
    is_raw = is_encrypted and source.random() < 0.2
    return Injection(
        point, kind, is_raw, shares_record=is_encrypted and not is_raw and point == WITH and source.random() < 0.6,
        closes=kind == "too-late" or source.random() < 0.1,
        pause_ms=source.choice((0, 0, 5, 20)) if point == IDLE else 0)


def _step(source, transport, before, connections):
    method, of = source.choice((GET, GET, GET, HEAD, RESUME, CHANGED, PUT, POST)), None
    if method == CHANGED:
        files = [number for number, step in enumerate(before) if step.method == GET and step.framing == "length"]
        method, of = (CHANGED, source.choice(files)) if files else (GET, None)
    framing = "length" if method == GET and source.random() < 0.3 else source.choice(FRAMINGS[method])
    return Step(
        method, framing, source.choice((1, 10, 100, 1_000, 5_000)), interim=source.choice((0, 0, 0, 1, 2)),
        pieces=source.choice((1, 1, 2, 3)), late_ms=source.choice((0, 0, 0, 3, 15)),
        injection=_injection(source, transport) if source.random() < 0.5 else None,
        with_next=connections == 2 and method != CHANGED and source.random() < 0.3, of=of)
