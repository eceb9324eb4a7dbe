"""The numbers of include/backhaul.h that say how transfers are made, as enumerations."""

from __future__ import annotations

from enum import IntFlag

from ._open_enum import OpenEnum


class IfExists(OpenEnum):
    """What to do when a file with the destination's name exists."""

    FAIL = 0
    REPLACE = 1
    #: When the file there has the request's checksum and expected size, of which at least one must be given, the task
    #: succeeds without a request; else it is replaced.
    SKIP = 2


class BodySource(OpenEnum):
    """What a file of a request's body is to the engine."""

    #: Read where it is; a change after the enqueue is Status.BODY_CHANGED.
    REFERENCE = 0
    #: Copied into the store at the enqueue, by reflink where the file system can.
    SNAPSHOT = 1
    #: Moved into the store at the enqueue, removed after success. Of a task that ends otherwise it lies at the path
    #: that its event tells until that is acknowledged; then it is given back.
    CONSUME = 2


class Refresh(OpenEnum):
    """What expires, and what is asked for when it has, by a challenge of ChallengeKind.REFRESH."""

    NONE = 0
    #: One challenge for all tasks of the session and origin, answered with headers.
    HEADERS = 1
    #: One challenge for each task, answered with a URL or headers.
    URL = 2


class HTTPVersion(OpenEnum):
    """Which version of HTTP is spoken."""

    #: 2 over TLS where the server can, else 1.1.
    DEFAULT = 0
    HTTP_1_1 = 1
    #: Over TLS as the default; without TLS by an upgrade from 1.1.
    HTTP_2 = 2
    #: Also without TLS and without asking.
    HTTP_2_PRIOR_KNOWLEDGE = 3


class Redirects(OpenEnum):
    """What becomes of a redirect. None ever leads from https to http."""

    FOLLOW = 1
    #: Others fail with Status.REDIRECT_REFUSED.
    SAME_ORIGIN = 2
    #: Each is an answer like any other, accepted or not by its status.
    NONE = 3


class RetryErrors(IntFlag):
    """Which errors are tried again. The default is all but BAD_RESPONSE."""

    #: Status.NAME_NOT_RESOLVED.
    NAME = 1
    #: Status.CONNECTION_FAILED.
    CONNECTION = 2
    #: Status.CONNECTION_LOST and Status.TLS_TRUNCATED.
    LOST = 4
    #: Status.REQUEST_TIMEOUT.
    TIMEOUT = 8
    #: A handshake that broke off; a certificate that does not verify never is.
    TLS = 16
    #: An answer whose status is one of ``retry_statuses``.
    STATUS = 32
    #: Status.BAD_RESPONSE.
    BAD_RESPONSE = 64
    #: None of them: alone.
    NOTHING = 128


class Tolerances(IntFlag):
    """Faults of servers that a session accepts. The default is none."""

    #: Over TLS, a response body that ends with the connection is whole, although the server sent no close_notify.
    #: Without it the task fails with Status.TLS_TRUNCATED, because an attacker can cut such a body.
    MISSING_CLOSE_NOTIFY = 1
    #: A response of success to an upload counts, although it came before the request's body was sent.
    EARLY_RESPONSE = 2


class Cookies(OpenEnum):
    """Where a session's cookies live."""

    NONE = 1
    #: In the engine, until it leaves.
    MEMORY = 2
    #: In the store, but those without an expiry, which live in the engine.
    PERSISTENT = 3


class TLSVersion(OpenEnum):
    """The lowest version of TLS that is spoken."""

    TLS_1_2 = 12
    TLS_1_3 = 13


class Next(OpenEnum):
    """What came after an attempt."""

    #: The task ended.
    END = 1
    #: Another attempt, at ``next_attempt``.
    RETRY = 2
    #: A challenge.
    CHALLENGE = 3
    #: None by itself: it was suspended, or its engine ended.
    STOPPED = 4
