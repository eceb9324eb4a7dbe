"""Owners of C handles, which are references to objects of the library. Each object owns one handle and closes it one
time. After that, the object no longer returns the handle."""

from __future__ import annotations

import warnings
from ctypes import byref, c_int, c_void_p, sizeof
from typing import Any, Callable, Generic, TypeVar

from ._constants import Status
from ._ctypes import bh_application, bh_batch, bh_error, bh_session, bh_ticket
from ._errors import BackhaulError, error_for, error_from
from ._library import library
from ._numbers import START
from ._waiting import Waiters

Pointer = TypeVar("Pointer", bound=c_void_p)


def new_error() -> bh_error:
    """Returns a bh_error with the initial values of BH_INIT."""
    return bh_error(sizeof(bh_error))


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose result is a bh_status and whose last parameter is a bh_error. Raises an exception if the
    status is not BH_OK."""
    details = new_error()
    status = function(*arguments, byref(details))
    if status != Status.OK:
        raise error_from(status, details)


def start(function: Callable[..., int], *arguments: Any) -> TicketHandle:
    """Sends a command to the engine (the process that runs the tasks), and does not wait for the result. For this, the
    function gets BH_START as the time-out, and NULL for each result."""
    details = new_error()
    # In all functions, the parameters for results and for the error follow the time-out.
    results = len(function.argtypes) - len(arguments) - 2  # type: ignore[attr-defined]
    status = function(*arguments, START, *[None] * results, byref(details))
    if status != Status.STARTED:
        raise error_from(status, details)
    return TicketHandle(details.ticket)


class Handle(Generic[Pointer]):
    """One C handle. Several threads and the garbage collector may close it: only the first close has an effect.

    No object to which a handle refers may refer to the handle. Without such a cycle, a dropped handle is closed at
    once, and not only when the cyclic garbage collector runs.
    """

    #: The word for the object in messages.
    noun = "handle"
    #: Whether the garbage collection of an open handle causes a ResourceWarning, as it does for an open file.
    warns = False

    def __init__(self, pointer: Pointer, release: Callable[[Pointer], None]) -> None:
        self._pointer = pointer
        self._release = release

    @property
    def pointer(self) -> Pointer:
        """The C handle. If another thread closes the handle before the caller uses the pointer, the library returns
        BH_INVALID_HANDLE."""
        pointer: Pointer | None = self.__dict__.get("_pointer")
        if pointer is None:
            raise self.closed_error()
        return pointer

    def closed_error(self) -> BackhaulError:
        return error_for(Status.INVALID_HANDLE, f"the {self.noun} is closed; open it again")

    @property
    def closed(self) -> bool:
        return "_pointer" not in self.__dict__

    def close(self) -> None:
        # The removal of the attribute is one atomic step, so no mutex is needed.
        pointer: Pointer | None = self.__dict__.pop("_pointer", None)
        if pointer is not None:
            self._wake()
            self._release(pointer)

    def _wake(self) -> None:
        """Wakes the coroutines that wait for this handle, which is closed."""

    def __del__(self) -> None:
        if self.closed:
            return
        try:
            if self.warns:  # If the program treats the warning as an error, `warn` raises it.
                warnings.warn(f"a Backhaul {self.noun} was not closed", ResourceWarning, source=self, stacklevel=2)
        finally:
            self.close()


class ApplicationHandle(Handle[bh_application]):
    noun = "application"
    warns = True

    def __init__(self, pointer: bh_application) -> None:
        super().__init__(pointer, library.bh_application_close)
        #: The coroutines that wait for this handle, or for a session of this application.
        self.all_waiters: set[tuple[Waiters, Any]] = set()
        self._waiters = Waiters(self.all_waiters)

    @property
    def descriptor(self) -> int:
        """The event descriptor of the application. The library owns it."""
        return _descriptor(library.bh_application_event_fd, self.pointer)

    async def readable(self, limit: float | None) -> bool:
        """Waits until the descriptor is readable, or this handle is closed. Returns False after ``limit`` seconds."""
        return await self._waiters.readable(self.descriptor, limit, lambda: self.closed)

    def _wake(self) -> None:
        for waiters, loop in list(self.all_waiters):
            waiters.wake_in(loop)


class SessionHandle(Handle[bh_session]):
    noun = "session"
    warns = True

    def __init__(self, pointer: bh_session, application: ApplicationHandle) -> None:
        super().__init__(pointer, library.bh_session_close)
        self._application = application
        self._event_waiters = Waiters(application.all_waiters)
        self._progress_waiters = Waiters(application.all_waiters)

    def __del__(self) -> None:
        # The close of the application has closed the session.
        self.warns = not self._application.closed
        super().__del__()

    @property
    def pointer(self) -> bh_session:
        _ = self._application.pointer  # raises an exception if the application is closed
        return super().pointer

    @property
    def descriptor(self) -> int:
        """The event descriptor of the session. The library owns it."""
        return _descriptor(library.bh_session_event_fd, self.pointer)

    @property
    def progress_descriptor(self) -> int:
        """The descriptor for the progress of the session. The library owns it."""
        return _descriptor(library.bh_session_progress_fd, self.pointer)

    async def readable(self, limit: float | None) -> bool:
        """Waits until there are events, or until this handle or the application is closed. Returns False after
        ``limit`` seconds."""
        return await self._event_waiters.readable(self.descriptor, limit, self._is_unusable)

    async def progress_readable(self, limit: float | None) -> bool:
        """Does the same as ``readable``, but for progress."""
        return await self._progress_waiters.readable(self.progress_descriptor, limit, self._is_unusable)

    def _is_unusable(self) -> bool:
        return self.closed or self._application.closed

    def _wake(self) -> None:
        self._event_waiters.wake()
        self._progress_waiters.wake()


class TicketHandle(Handle[bh_ticket]):
    noun = "ticket"

    def __init__(self, pointer: bh_ticket) -> None:
        super().__init__(pointer, library.bh_ticket_release)


class BatchHandle(Handle[bh_batch]):
    noun = "batch"

    def __init__(self, pointer: bh_batch) -> None:
        super().__init__(pointer, library.bh_batch_release)


def _descriptor(function: Callable[..., int], pointer: c_void_p) -> int:
    number = c_int(-1)
    call(function, pointer, byref(number))
    return number.value


def take(kind: type[Pointer], function: Callable[..., int], *arguments: Any) -> Pointer:
    """Calls a function whose last output parameter is a handle, and returns this handle."""
    pointer = kind()
    call(function, *arguments, byref(pointer))
    return pointer
