"""Tickets. Each ticket stands for a command that was sent to the engine, the process that runs the tasks. Blocking code
calls ``result``. asyncio code awaits the ticket."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import suppress
from copy import copy
from ctypes import byref, c_uint64
from threading import Lock
from typing import Any, Callable, Generic, TypeVar

from ._constants import Status
from ._copying import released
from ._ctypes import bh_batch, bh_ticket
from ._errors import BackhaulError, InvalidHandle, error_for, error_from
from ._handles import ApplicationHandle, BatchHandle, TicketHandle, call, new_error, start, take
from ._library import library
from ._waiting import DEFAULT_SECONDS, Backoff, Deadline

Result = TypeVar("Result")

#: The longest time between two checks of an awaited ticket, in seconds. The checks are necessary because another thread
#: may have fetched the notification. Then the descriptor does not become readable.
_CHECK_SECONDS = 0.25

_STATUS_WAIT_MS = 10

#: The minimum time, in seconds, for which `_result_soon` waits for a slow engine.
_REPLY_SECONDS = 5.0


class Ticket(Generic[Result]):
    """A command that was sent to the engine. The engine performs the command even if the program drops the ticket."""

    def __init__(
        self,
        application: ApplicationHandle,
        handle: TicketHandle,
        read: Callable[[TicketHandle], Result],
        otherwise: Callable[[], Ticket[Result]] | None = None,
    ) -> None:
        self._application = application
        self._handle = handle
        self._read = read
        #: Starts the command that follows if this command fails with NOT_FOUND.
        self._otherwise = otherwise
        #: The result, or the error. Empty until the reply was read.
        self._outcome: tuple[Result, None] | tuple[None, BackhaulError] | tuple[()] = ()
        #: Held by the thread that reads the reply or starts the command that follows.
        self._lock = Lock()

    @classmethod
    def _start(
        cls,
        application: ApplicationHandle,
        read: Callable[[TicketHandle], Result],
        function: Callable[..., int],
        *arguments: Any,
    ) -> Ticket[Result]:
        """Calls a function of the library, which sends a command to the engine. ``read`` converts the result of the
        command."""
        return cls(application, start(function, *arguments), read)

    def _or_else(self, otherwise: Callable[[], Ticket[Result]]) -> Ticket[Result]:
        """Returns a ticket with the result of this command. If this command fails with NOT_FOUND, ``otherwise`` starts
        a second command, and the ticket has the result of the second command."""
        return Ticket(self._application, self._handle, self._read, otherwise)

    def __repr__(self) -> str:
        return f"<Ticket {'done' if self.done else 'pending'}>"

    def _has_reply(self, wait_ms: int = 0) -> bool:
        if self._outcome:
            return True
        handle = self._handle
        status = self._wait(wait_ms)
        if status == Status.ENGINE_UNRESPONSIVE:
            return self._has_failed()
        if status == Status.NOT_FOUND and self._follows(handle):
            return False
        return status != Status.TIMEOUT

    def _wait(self, wait_ms: int, details: Any = None) -> int:
        """Waits for the reply, and returns its status. Returns OK if another thread has read the reply."""
        status: int = Status.OK
        handle = self._handle  # Another thread may replace it. This reference keeps it open.
        with suppress(InvalidHandle):  # The thread that has read the reply has closed the handle.
            status = library.bh_ticket_wait(handle.pointer, wait_ms, details)
        return Status.OK if self._outcome else status

    def _follows(self, failed: TicketHandle) -> bool:
        """Starts the command that follows the failed command, unless another thread has started it. Returns False if no
        command follows."""
        with self._lock:
            if self._handle is failed and self._otherwise is not None:
                second, self._otherwise = self._otherwise(), None
                # Other threads may still wait for the first handle. It is closed when no thread uses it.
                self._handle, self._read = second._handle, second._read
            return self._handle is not failed

    def _has_failed(self) -> bool:
        # BH_ENGINE_UNRESPONSIVE has two meanings: the command has failed with this status, or the engine's process is
        # stopped and has not replied yet. If the command has failed, bh_ticket_wait returns immediately.
        start = time.monotonic()
        self._wait(_STATUS_WAIT_MS)
        return time.monotonic() - start < _STATUS_WAIT_MS / 2000

    def _take(self) -> Result:
        # The library returns the session or batch of a ticket only one time, so the result is stored here.
        with self._lock:
            if not self._outcome:
                try:
                    self._outcome = (self._read(self._handle), None)
                except BackhaulError as error:
                    # The library's message names the ticket, but the close of the application has closed the ticket.
                    is_closed = isinstance(error, InvalidHandle) and self._application.closed
                    reason = self._application.closed_error() if is_closed else error.with_traceback(None)
                    self._outcome = (None, reason)
                self._handle.close()
        result, failure = self._outcome
        if failure is not None:
            # The traceback of an exception refers to the variables of its callers, such as this ticket. So a copy is
            # raised: the ticket must not refer to itself.
            raise copy(failure)
        return result  # type: ignore[return-value]

    @property
    def done(self) -> bool:
        """Whether the reply has arrived."""
        return self._has_reply()

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the reply up to ``timeout`` seconds (30 by default). Returns the result of the command, or raises
        its error. The method can be called more than one time."""
        deadline = Deadline(DEFAULT_SECONDS if timeout is None else timeout)
        while not self._has_reply(deadline.slice_ms()):
            if deadline.is_over:
                raise self._timeout_error()
        return self._take()

    def _result_soon(self, deadline: Deadline) -> Result:
        """Waits for the reply to a command that the engine can perform immediately.

        The method waits at least five seconds for a slow engine, even if the deadline is earlier. So a call with a
        time-out of 0 returns the available data. If the process of the engine is stopped, the wait ends at the
        deadline.
        """
        remaining = deadline.remaining
        latest = Deadline(DEFAULT_SECONDS if remaining is None else max(_REPLY_SECONDS, remaining))
        while not self._has_reply(latest.slice_ms()):
            if deadline.is_over and self._is_stopped or latest.is_over:
                raise self._timeout_error()
        return self._take()

    @property
    def _is_stopped(self) -> bool:
        return self._wait(0) == Status.ENGINE_UNRESPONSIVE

    def _timeout_error(self) -> BackhaulError:
        details = new_error()
        status = self._wait(0, byref(details))
        # The reply may have come since the last check. Even then the error is a time-out, and the ticket has the reply.
        error = error_from(status, details) if status != Status.OK else error_for(Status.TIMEOUT)
        error.ticket = self
        return error

    def __await__(self) -> Generator[Any, None, Result]:
        return self._wait_for_reply().__await__()

    async def _wait_for_reply(self) -> Result:
        backoff = Backoff(0.02)
        while not self._has_reply():
            await self._application.readable(_CHECK_SECONDS)
            if _fetch(self._application) == 0 and not self._has_reply():
                await backoff.pause()
        return self._take()


def _fetch(application: ApplicationHandle) -> int:
    """Fetches all tickets that have a reply, so that these tickets no longer make the descriptor readable. Returns
    their number. The tickets themselves are not needed: the descriptor has woken all waiting coroutines, and each
    coroutine checks its own ticket."""
    fetched = 0
    while take(bh_ticket, library.bh_application_next_ticket, application.pointer).value is not None:
        fetched += 1
    return fetched


class CompletedTicket(Ticket[Result]):
    """A ticket whose result is already known, because there is nothing to do."""

    def __init__(self, result: Result) -> None:
        self._outcome, self._lock = (result, None), Lock()


def from_batch(read: Callable[[BatchHandle], Result]) -> Callable[[TicketHandle], Result]:
    """Returns a reader for tickets of commands whose reply is a batch, which is a list in C."""

    def reader(ticket: TicketHandle) -> Result:
        return released(BatchHandle(take(bh_batch, library.bh_ticket_batch, ticket.pointer)), read)

    return reader


def count_only(ticket: TicketHandle) -> int:
    """Reads the result of a command that returns a count."""
    count = c_uint64()
    call(library.bh_ticket_count, ticket.pointer, byref(count))
    return count.value


def wait_only(ticket: TicketHandle) -> None:
    """Reads the outcome of a command without a result. Raises the error if the command failed."""
    details = new_error()
    status = library.bh_ticket_wait(ticket.pointer, 0, byref(details))
    if status != Status.OK:
        raise error_from(status, details)
