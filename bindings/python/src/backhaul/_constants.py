"""The numbers of include/backhaul.h, as enumerations. The import compares them with those of the loaded library."""

from __future__ import annotations

from enum import IntFlag

from ._condition_constants import (
    ConditionKind,
    Connectivity,
    NetworkKind,
    Preset,
    QualityOfService,
    Reason,
    ThermalState,
)
from ._open_enum import OpenEnum
from ._transfer_constants import (
    BodySource,
    Cookies,
    HTTPVersion,
    IfExists,
    Next,
    Redirects,
    Refresh,
    RetryErrors,
    TLSVersion,
    Tolerances,
)

__all__ = [
    "Attention",
    "BodySource",
    "ChallengeKind",
    "Choice",
    "ConditionKind",
    "Connectivity",
    "Cookies",
    "Disposition",
    "Domain",
    "EventKind",
    "HTTPVersion",
    "Hosting",
    "IfExists",
    "LaunchState",
    "NetworkKind",
    "Next",
    "Preset",
    "QualityOfService",
    "Reason",
    "Redirects",
    "Refresh",
    "ResponseKind",
    "RetryErrors",
    "Role",
    "Scheme",
    "SessionDisposition",
    "Status",
    "TLSVersion",
    "TaskKind",
    "TaskState",
    "ThermalState",
    "Tolerances",
]


class Status(OpenEnum):
    """What a call answers, and why a task failed."""

    OK = 0
    INVALID_ARGUMENT = 1
    INVALID_HANDLE = 2
    FORKED = 3
    NOT_FOUND = 4
    ALREADY_EXISTS = 5
    KEY_CONFLICT = 6
    DESTINATION_IN_USE = 7
    IN_USE = 8
    TIMEOUT = 9
    WRONG_STATE = 10
    WRONG_ROLE = 11
    INVALIDATED = 12
    EVENTS_OUTSTANDING = 13
    TOO_MANY = 14
    COMPLETED = 15
    STORE_UNAVAILABLE = 20
    STORE_READ_ONLY = 21
    STORE_FULL = 22
    STORE_DAMAGED = 23
    STORE_NEWER = 24
    STORE_ON_NETWORK_FILE_SYSTEM = 25
    ENGINE_UNRESPONSIVE = 30
    ENGINE_INCOMPATIBLE = 31
    ENGINE_FAILED = 32
    OUT_OF_RESOURCES = 33
    INTERNAL = 34
    DAEMON_UNAVAILABLE = 35
    CANCELLED = 40
    NAME_NOT_RESOLVED = 41
    CONNECTION_FAILED = 42
    CONNECTION_LOST = 43
    REQUEST_TIMEOUT = 44
    RESOURCE_TIMEOUT = 45
    TLS_FAILED = 46
    HTTP_STATUS = 47
    REDIRECT_REFUSED = 48
    BAD_RESPONSE = 49
    DESTINATION_EXISTS = 50
    DESTINATION_UNAVAILABLE = 51
    DISK_FULL = 52
    DISK_FAILED = 53
    TOO_LARGE = 54
    AUTHENTICATION_REQUIRED = 55
    CHECKSUM_MISMATCH = 56
    SIZE_MISMATCH = 57
    BODY_UNAVAILABLE = 58
    BODY_CHANGED = 59
    TLS_TRUNCATED = 60


class Domain(OpenEnum):
    """What the ``detail`` of an error counts in."""

    NONE = 0
    SYSTEM = 1
    CURL = 2
    SQLITE = 3
    HTTP = 4
    PROCESS = 5


class Choice(OpenEnum):
    """A choice whose default is documented where it is made. In Python None, True and False."""

    DEFAULT = 0
    YES = 1
    NO = 2


class Hosting(OpenEnum):
    """Where the engine runs when nobody holds the store yet. Whoever holds it is used, wherever he runs."""

    #: DAEMON.
    DEFAULT = 0
    #: In backhauld, which the library starts: transfers go on whatever happens to this program.
    DAEMON = 1
    #: In threads of this process: for tests, containers, hosts that must not start processes.
    EMBEDDED = 2


class LaunchState(OpenEnum):
    """How the launch of an application fares."""

    #: No command is registered, or no session needs its host.
    NONE = 0
    #: At ``next_launch_ms``, unless a host connects before.
    DUE = 1
    #: A launched host lives and has not completed yet.
    RUNNING = 2
    #: Launched too often without completing: until a host connects of itself.
    LEFT_ALONE = 3


class Role(OpenEnum):
    """What a session handle may do."""

    #: Receives the events, one at a time; may also do all the others may.
    CONSUME = 1
    #: Enqueues, controls and cancels tasks, answers challenges.
    PRODUCE = 2
    #: Lists and watches only.
    OBSERVE = 3
    #: As CONSUME, and waits while another handle consumes: that one is asked to yield (Attention.YIELD).
    CONSUME_WHEN_FREE = 4


class SessionDisposition(OpenEnum):
    """What creating a session did."""

    CREATED = 1
    ATTACHED = 2


class Attention(IntFlag):
    """Why a session needs attention."""

    #: Events wait to be acknowledged.
    EVENTS = 1
    #: Among them a finished session.
    FINISHED = 2
    #: A challenge is open.
    CHALLENGE = 4
    #: Another handle waits to consume the session: finish, complete and close.
    YIELD = 8
    #: Among its events is one of an activity.
    ACTIVITY = 16


class Disposition(OpenEnum):
    """What an enqueue did with one request."""

    NOT_APPLIED = 0
    NEW = 1
    EXISTING = 2


class EventKind(OpenEnum):
    """What an event tells."""

    TASK_ENDED = 1
    SESSION_FINISHED = 2
    #: A server or proxy asks for a credential: ``session.respond``.
    CHALLENGE = 3
    #: The last live task of a group has ended.
    GROUP_FINISHED = 4
    #: An activity without a request is due: do its work.
    ACTIVITY = 5


class ChallengeKind(OpenEnum):
    """Who asks for a credential."""

    #: The origin server: 401.
    SERVER = 1
    #: The proxy: 407.
    PROXY = 2
    #: Ourselves: what a request's ``refresh`` names has expired, or got a 401 or 403.
    REFRESH = 3


class Scheme(IntFlag):
    """How a credential may be given: the schemes of WWW-Authenticate or Proxy-Authenticate."""

    BASIC = 1
    BEARER = 2
    DIGEST = 4
    NEGOTIATE = 8
    OTHER = 16


class ResponseKind(OpenEnum):
    """How a challenge is answered."""

    REFUSE = 1
    CREDENTIAL = 2
    HEADERS = 3
    DEFAULT = 4
    URL = 5


class TaskKind(OpenEnum):
    """Which way a task moves its file."""

    DOWNLOAD = 1
    UPLOAD = 2


class TaskState(OpenEnum):
    """Where a task stands."""

    WAITING = 1
    RUNNING = 2
    SUSPENDED = 3
    SUCCEEDED = 4
    FAILED = 5
    CANCELLED = 6

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to the task."""
        return self in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.CANCELLED)
