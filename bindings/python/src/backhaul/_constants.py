"""The numbers of include/backhaul.h, as enumerations. The import compares them with those of the loaded library."""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = [
    "Attention",
    "ChallengeKind",
    "Choice",
    "Disposition",
    "Domain",
    "EventKind",
    "Hosting",
    "IfExists",
    "LaunchState",
    "Reason",
    "ResponseKind",
    "Role",
    "Scheme",
    "SessionDisposition",
    "Status",
    "TaskState",
]


class _OpenEnum(IntEnum):
    """An enumeration that also takes values which only a newer library knows."""

    @classmethod
    def _missing_(cls, value: object) -> _OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member


class Status(_OpenEnum):
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


class Domain(_OpenEnum):
    """What the ``detail`` of an error counts in."""

    NONE = 0
    SYSTEM = 1
    CURL = 2
    SQLITE = 3
    HTTP = 4
    PROCESS = 5


class Choice(_OpenEnum):
    """A choice whose default is documented where it is made. In Python None, True and False."""

    DEFAULT = 0
    YES = 1
    NO = 2


class Hosting(_OpenEnum):
    """Where the engine runs when nobody holds the store yet. Whoever holds it is used, wherever he runs."""

    #: DAEMON.
    DEFAULT = 0
    #: In backhauld, which the library starts: transfers go on whatever happens to this program.
    DAEMON = 1
    #: In threads of this process: for tests, containers, hosts that must not start processes.
    EMBEDDED = 2


class LaunchState(_OpenEnum):
    """How the launch of an application fares."""

    #: No command is registered, or no session needs its host.
    NONE = 0
    #: At ``next_launch_ms``, unless a host connects before.
    DUE = 1
    #: A launched host lives and has not completed yet.
    RUNNING = 2
    #: Launched too often without completing: until a host connects of itself.
    LEFT_ALONE = 3


class Role(_OpenEnum):
    """What a session handle may do."""

    #: Receives the events, one at a time; may also do all the others may.
    CONSUME = 1
    #: Enqueues, controls and cancels tasks, answers challenges.
    PRODUCE = 2
    #: Lists and watches only.
    OBSERVE = 3
    #: As CONSUME, and waits while another handle consumes: that one is asked to yield (Attention.YIELD).
    CONSUME_WHEN_FREE = 4


class SessionDisposition(_OpenEnum):
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


class IfExists(_OpenEnum):
    """What to do when a file with the destination's name exists."""

    FAIL = 0
    REPLACE = 1


class Disposition(_OpenEnum):
    """What an enqueue did with one request."""

    NOT_APPLIED = 0
    NEW = 1
    EXISTING = 2


class EventKind(_OpenEnum):
    """What an event tells."""

    TASK_ENDED = 1
    SESSION_FINISHED = 2
    #: A server or proxy asks for a credential: ``session.respond``.
    CHALLENGE = 3


class ChallengeKind(_OpenEnum):
    """Who asks for a credential."""

    #: The origin server: 401.
    SERVER = 1
    #: The proxy: 407.
    PROXY = 2


class Scheme(IntFlag):
    """How a credential may be given: the schemes of WWW-Authenticate or Proxy-Authenticate."""

    BASIC = 1
    BEARER = 2
    DIGEST = 4
    NEGOTIATE = 8
    OTHER = 16


class ResponseKind(_OpenEnum):
    """How a challenge is answered."""

    REFUSE = 1
    CREDENTIAL = 2
    HEADERS = 3


class TaskState(_OpenEnum):
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


class Reason(_OpenEnum):
    """Why a task is not moving."""

    NONE = 0
    TURN = 1
    SUSPENDED = 2
    RETRY = 3
    CONNECTING = 4
    STALLED = 5
    FINISHING = 6
    DISK_FULL = 7
    #: Until its challenge is answered.
    CREDENTIAL = 8


APPLICATION_OBSERVES = 1
INVALIDATE_FINISH = 1
INVALIDATE_CANCEL = 2
REQUEST_STARTS_SUSPENDED = 1
NO_INDEX = 2**64 - 1
SIZE_UNKNOWN = 2**64 - 1
ERROR_MESSAGE_SIZE = 512
WAIT_DEFAULT = -1
WAIT_MAXIMUM = 86_400_000
URL_SIZE_MAXIMUM = 16_384
USER_DATA_SIZE_MAXIMUM = 65_536
HEADER_COUNT_MAXIMUM = 100
HEADERS_SIZE_MAXIMUM = 65_536
ENQUEUE_COUNT_MAXIMUM = 10_000_000

_PREFIXES: tuple[tuple[str, type[IntEnum] | type[IntFlag]], ...] = (
    ("BH_", Status),
    ("BH_", Choice),
    ("BH_DOMAIN_", Domain),
    ("BH_HOSTING_", Hosting),
    ("BH_LAUNCH_", LaunchState),
    ("BH_ROLE_", Role),
    ("BH_SESSION_", SessionDisposition),
    ("BH_ATTENTION_", Attention),
    ("BH_IF_EXISTS_", IfExists),
    ("BH_ENQUEUE_", Disposition),
    ("BH_EVENT_", EventKind),
    ("BH_CHALLENGE_", ChallengeKind),
    ("BH_SCHEME_", Scheme),
    ("BH_RESPOND_", ResponseKind),
    ("BH_TASK_", TaskState),
    ("BH_REASON_", Reason),
)


def by_header_name() -> dict[str, int]:
    """Every constant of this module under its name in the header, such as ``BH_ROLE_CONSUME``."""
    names = {prefix + member.name: int(member) for prefix, kind in _PREFIXES for member in kind if member.name}
    plain = {"BH_" + name: value for name, value in globals().items() if name.isupper() and isinstance(value, int)}
    return {**names, **plain}
