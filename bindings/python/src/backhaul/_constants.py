"""The numbers of include/backhaul.h, as enumerations. The import compares them with those of the loaded library."""

from __future__ import annotations

from enum import IntEnum, IntFlag

__all__ = [
    "Attention",
    "Disposition",
    "Domain",
    "EventKind",
    "IfExists",
    "Reason",
    "Role",
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


class Domain(_OpenEnum):
    """What the ``detail`` of an error counts in."""

    NONE = 0
    SYSTEM = 1
    CURL = 2
    SQLITE = 3
    HTTP = 4
    PROCESS = 5


class Role(_OpenEnum):
    """What a session handle may do."""

    CONSUME = 1
    PRODUCE = 2
    OBSERVE = 3


class SessionDisposition(_OpenEnum):
    """What creating a session did."""

    CREATED = 1
    ATTACHED = 2


class Attention(IntFlag):
    """Why a session needs attention."""

    EVENTS = 1
    FINISHED = 2


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
    ("BH_DOMAIN_", Domain),
    ("BH_ROLE_", Role),
    ("BH_SESSION_", SessionDisposition),
    ("BH_ATTENTION_", Attention),
    ("BH_IF_EXISTS_", IfExists),
    ("BH_ENQUEUE_", Disposition),
    ("BH_EVENT_", EventKind),
    ("BH_TASK_", TaskState),
    ("BH_REASON_", Reason),
)


def by_header_name() -> dict[str, int]:
    """Every constant of this module under its name in the header, such as ``BH_ROLE_CONSUME``."""
    names = {prefix + member.name: int(member) for prefix, kind in _PREFIXES for member in kind if member.name}
    plain = {"BH_" + name: value for name, value in globals().items() if name.isupper() and isinstance(value, int)}
    return {**names, **plain}
