"""Exceptions: one class for each family of statuses, chosen in one table by the status's name in the header."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Protocol

from ._constants import Domain, Status
from ._ctypes import bh_error
from ._library import library
from ._numbers import NO_INDEX
from ._requests import Enqueued


class Outcome(Protocol):
    """What an error tells of a verb that goes on: a ``Ticket``."""

    @property
    def done(self) -> bool: ...

    def result(self, timeout: float | None = None) -> Any: ...

    def __await__(self) -> Generator[Any, None, Any]: ...


class BackhaulError(Exception):
    """Anything the library refuses or reports. The message is one sentence: what was wrong, and what to do."""

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
        #: The status that was answered.
        self.status = status
        #: One sentence.
        self.message = message
        #: What ``detail`` counts in: errno, CURLcode, an HTTP status, a process id…
        self.domain = domain
        #: The code below the status, or 0.
        self.detail = detail
        #: Number of the first wrong item, where several were given.
        self.index = index
        #: Of a verb that was not answered in time, which goes on: ask it for the outcome, do not repeat the verb.
        self.ticket: Outcome | None = None
        #: For an enqueue that was refused: the results of the requests that were applied, in their order.
        self.applied: Sequence[Enqueued] = ()

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.status, self.message, self.domain, self.detail, self.index))


def _rebuild(
    kind: type[BackhaulError], status: Status, message: str, domain: Domain, detail: int, index: int | None
) -> BackhaulError:
    return kind(status, message, domain=domain, detail=detail, index=index)


class InvalidArgument(BackhaulError, ValueError):
    """An argument is missing, malformed or out of range."""


class InvalidHandle(BackhaulError, ValueError):
    """The application, session or ticket is closed."""


class Forked(BackhaulError):
    """The object belongs to the parent process; open the application again in this one."""


class NotFound(BackhaulError, LookupError):
    """There is no such session, task or event."""


class Conflict(BackhaulError):
    """Something else has what was asked for: a key, a destination, a name."""


class AlreadyExists(Conflict, FileExistsError):
    """A file with the destination's name, or something else, is already there."""


class InUse(BackhaulError):
    """Another consumer has the session."""

    @property
    def process(self) -> int | None:
        """Process id of the consumer."""
        return self.detail if self.domain is Domain.PROCESS else None


class Timeout(BackhaulError, TimeoutError):
    """The wait ended before the operation did. The operation goes on: ask its ``ticket`` for the outcome."""


class WrongState(BackhaulError):
    """The session, task or handle is not in a state or role that allows this."""


class EventsOutstanding(WrongState):
    """Events were handed out and not acknowledged; ``detail`` is their number."""


class Invalidated(WrongState):
    """The session was invalidated."""


class Completed(WrongState):
    """The session was completed, which ended this object; attach again."""


class StoreError(BackhaulError):
    """The store cannot be used: unavailable, read-only, full, damaged, newer or on a network file system."""


class EngineError(BackhaulError):
    """The engine does not answer, speaks another protocol or stopped."""

    @property
    def process(self) -> int | None:
        """Process id of an engine that does not answer; with a ``ticket`` the verb goes on once it does."""
        return self.detail if self.domain is Domain.PROCESS else None


class DaemonUnavailable(EngineError):
    """The daemon is not found or cannot be started; the message names the places that were searched, or the reason."""


class ResourceError(BackhaulError):
    """A limit of the library or of the process is reached."""


class TransferError(BackhaulError):
    """Why a task did not succeed."""


class AuthenticationRequired(TransferError):
    """The server or proxy asks for a credential that was refused or does not serve."""


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
}


def error_for(
    status: int, message: str = "", *, domain: int = 0, detail: int = 0, index: int | None = None
) -> BackhaulError:
    """The exception of a status. A status without a family, such as one of a newer library, is the base class."""
    name: bytes = library.bh_status_name(status)
    family = _FAMILIES.get(name.decode(), BackhaulError)
    text = message or library.bh_status_text(status).decode()
    return family(Status(status), text, domain=Domain(domain), detail=detail, index=index)


def invalid(message: str, index: int | None = None) -> BackhaulError:
    """For what cannot even be said in C, such as a string with a NUL inside."""
    return error_for(Status.INVALID_ARGUMENT, message, index=index)


def error_from(status: int, details: bh_error) -> BackhaulError:
    """The exception of a call that answered ``status`` and filled ``details``."""
    return error_for(
        status,
        details.message.decode("utf-8", "replace"),
        domain=details.domain,
        detail=details.detail,
        index=None if details.index == NO_INDEX else details.index,
    )
