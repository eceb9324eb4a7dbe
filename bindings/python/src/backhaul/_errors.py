"""Exceptions: one class for each group of statuses. A table maps the C names of the statuses to the classes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from ._constants import Domain, Status
from ._ctypes import bh_error
from ._library import library
from ._logging import log
from ._messages import in_python
from ._numbers import NO_INDEX
from ._requests import Enqueued


class Outcome(Protocol):
    """The methods of a ``Ticket`` that a program can call on ``error.ticket``."""

    @property
    def done(self) -> bool:
        """Whether the reply has arrived."""

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the reply up to ``timeout`` seconds (30 by default). Returns the result, or raises the error."""

    def __await__(self) -> Generator[Any, None, Any]: ...


class BackhaulError(Exception):
    """An error that the library returned. The message is one sentence that says what was wrong and what to do."""

    def __init__(
        self,
        status: Status,
        message: str,
        *,
        domain: Domain = Domain.NONE,
        detail: int = 0,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        #: The status that the call returned.
        self.status = status
        #: The message, which is one sentence.
        self.message = message
        #: What the number in ``detail`` is: an errno, a CURLcode, an HTTP status, a process id…
        self.domain = domain
        #: A number that describes the error more precisely, or 0.
        self.detail = detail
        #: If an argument was a list, the index of its first invalid item. Otherwise None.
        self.index = index
        #: If the call timed out, the ticket that gives the result later. The engine (the process that runs the tasks)
        #: continues the command, so do not repeat the call: read the result from the ticket.
        self.ticket: Outcome | None = None
        #: If the engine refused a request of an enqueue: the results of the requests that were applied, in the order of
        #: the requests.
        self.applied: Sequence[Enqueued] = ()

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: value for name, value in vars(self).items() if name != "ticket"}
        return (_rebuild, (type(self), {**fields, "ticket": None}))


def _rebuild(kind: type[BackhaulError], fields: dict[str, Any]) -> BackhaulError:
    error = kind(fields["status"], fields["message"])
    vars(error).update(fields)
    return error


class InvalidArgument(BackhaulError, ValueError):
    """An argument is missing, malformed or out of range."""


class InvalidHandle(BackhaulError, ValueError):
    """The application, session or ticket is closed."""


class Forked(BackhaulError):
    """The process was forked after its parent had opened an application. Use the library in the parent only, or start
    processes with the method "spawn" or "forkserver" of multiprocessing."""


class NotFound(BackhaulError, LookupError):
    """The session, task, challenge or activity does not exist."""


class Conflict(BackhaulError):
    """Another task or object already has the requested key, destination or name."""


class AlreadyExists(Conflict, FileExistsError):
    """A file exists at the destination, or another object already has this name."""


class InUse(BackhaulError):
    """Another consumer (a reader of the session's events) is attached to the session."""

    @property
    def process(self) -> int | None:
        """The process id of the attached consumer, or None if the error does not have it."""
        return self.detail if self.domain is Domain.PROCESS else None


class Timeout(BackhaulError, TimeoutError):
    """The call timed out before its command ended. The engine continues the command, and ``ticket`` returns the result
    later."""


class WrongState(BackhaulError):
    """The state of the session or task, or the role in which this program is attached, does not allow the call."""


class EventsOutstanding(WrongState):
    """Some delivered events are not acknowledged. ``detail`` is the number of these events."""


class Invalidated(WrongState):
    """The session was ended by ``invalidate``."""


class Completed(WrongState):
    """The session was completed, so this object can no longer be used. Attach to the session again."""


class StoreError(BackhaulError):
    """The store (the directory with all durable data) cannot be used. It is unavailable, read-only, full or damaged,
    was written by a newer library, or is on a network file system."""


class EngineError(BackhaulError):
    """The engine does not reply, uses another protocol version, or has stopped because of an error."""

    @property
    def process(self) -> int | None:
        """The process id of the engine if the engine does not reply, otherwise None. If the error has a ``ticket``, the
        command continues when the engine runs again."""
        return self.detail if self.domain is Domain.PROCESS else None


class DaemonUnavailable(EngineError):
    """The daemon (the program that runs the tasks) was not found, or cannot be started. The message has the searched
    paths, or the reason."""


class ResourceError(BackhaulError):
    """A limit of the library or of the process is reached."""


class TransferError(BackhaulError):
    """The reason why a task did not succeed, as in ``Event.error`` and ``Attempt.error``. No method raises it: a task
    fails after its enqueue. ``status`` is the reason as a constant, ``message`` says what happened. For a task whose
    destination exists, the error is an ``AlreadyExists`` instead."""


class AuthenticationRequired(TransferError):
    """The server or proxy demands a credential, and has received no credential that it accepts."""


_FAMILIES: dict[str, type[BackhaulError]] = {
    "BH_INVALID_ARGUMENT": InvalidArgument,
    "BH_INVALID_HANDLE": InvalidHandle,
    "BH_FORKED": Forked,
    "BH_NOT_FOUND": NotFound,
    "BH_ALREADY_EXISTS": AlreadyExists,
    "BH_KEY_CONFLICT": Conflict,
    "BH_DESTINATION_IN_USE": Conflict,
    "BH_IN_USE": InUse,
    "BH_TIMEOUT": Timeout,
    "BH_WRONG_STATE": WrongState,
    "BH_WRONG_ROLE": WrongState,
    "BH_INVALIDATED": Invalidated,
    "BH_EVENTS_OUTSTANDING": EventsOutstanding,
    "BH_TOO_MANY": ResourceError,
    "BH_COMPLETED": Completed,
    "BH_STORE_UNAVAILABLE": StoreError,
    "BH_STORE_READ_ONLY": StoreError,
    "BH_STORE_FULL": StoreError,
    "BH_STORE_DAMAGED": StoreError,
    "BH_STORE_NEWER": StoreError,
    "BH_STORE_ON_NETWORK_FILE_SYSTEM": StoreError,
    "BH_ENGINE_UNRESPONSIVE": EngineError,
    "BH_ENGINE_INCOMPATIBLE": EngineError,
    "BH_ENGINE_FAILED": EngineError,
    "BH_OUT_OF_RESOURCES": ResourceError,
    "BH_DAEMON_UNAVAILABLE": DaemonUnavailable,
    "BH_DESTINATION_EXISTS": AlreadyExists,
    "BH_CANCELLED": TransferError,
    "BH_NAME_NOT_RESOLVED": TransferError,
    "BH_CONNECTION_FAILED": TransferError,
    "BH_CONNECTION_LOST": TransferError,
    "BH_REQUEST_TIMEOUT": TransferError,
    "BH_RESOURCE_TIMEOUT": TransferError,
    "BH_TLS_FAILED": TransferError,
    "BH_HTTP_STATUS": TransferError,
    "BH_REDIRECT_REFUSED": TransferError,
    "BH_BAD_RESPONSE": TransferError,
    "BH_DESTINATION_UNAVAILABLE": TransferError,
    "BH_DISK_FULL": TransferError,
    "BH_DISK_FAILED": TransferError,
    "BH_TOO_LARGE": TransferError,
    "BH_AUTHENTICATION_REQUIRED": AuthenticationRequired,
    "BH_CHECKSUM_MISMATCH": TransferError,
    "BH_SIZE_MISMATCH": TransferError,
    "BH_BODY_UNAVAILABLE": TransferError,
    "BH_BODY_CHANGED": TransferError,
    "BH_TLS_TRUNCATED": TransferError,
    "BH_STORAGE_AWAY": TransferError,
    "BH_UNEXPECTED_TYPE": TransferError,
    "BH_ADDRESS_REFUSED": TransferError,
    "BH_DEPENDENCY_FAILED": TransferError,
}


def error_for(
    status: int, message: str = "", *, domain: int = 0, detail: int = 0, index: int | None = None
) -> BackhaulError:
    """Returns the exception for a status. If the status has no class of its own, such as a status of a newer library,
    returns a BackhaulError."""
    name: bytes = library.bh_status_name(status)
    family = _FAMILIES.get(name.decode(), BackhaulError)
    text = in_python(message) or library.bh_status_text(status).decode()
    log.debug("error %s: %s", name.decode(), text)
    return family(Status(status), text, domain=Domain(domain), detail=detail, index=index)


def invalid(message: str, index: int | None = None) -> BackhaulError:
    """Returns the exception for a value that cannot be passed to C, such as a string with a NUL."""
    return error_for(Status.INVALID_ARGUMENT, message, index=index)


def error_from(status: int, details: bh_error) -> BackhaulError:
    """Returns the exception for a call that returned ``status`` and filled ``details``."""
    return error_for(
        status,
        details.message.decode("utf-8", "replace"),
        domain=details.domain,
        detail=details.detail,
        index=None if details.index == NO_INDEX else details.index,
    )
