"""Tickets: verbs that were started. Blocking code asks for the result, asyncio code awaits it."""

from __future__ import annotations

import time
from collections.abc import Generator
from ctypes import byref, c_uint64
from typing import Any, Callable, Generic, TypeVar

from ._constants import Status
from ._ctypes import bh_batch, bh_ticket
from ._errors import BackhaulError, error_for, error_from
from ._handles import ApplicationHandle, BatchHandle, TicketHandle, call, new_error, start, take
from ._library import library
from ._copying import released
from ._waiting import DEFAULT_SECONDS, Deadline, Patience, readable

Result = TypeVar("Result")

#: While a verb is awaited its ticket is looked at this often even if the descriptor tells nothing: another thread may
#: have fetched the news.
_LOOK_SECONDS = 0.25

_PROBE_MS = 10

#: How long an engine may take to answer although the host's own wait is over.
_ANSWER_SECONDS = 5.0


class Ticket(Generic[Result]):
    """A verb that was started. It goes on whatever happens to the ticket."""

    def __init__(
        self, application: ApplicationHandle, handle: TicketHandle, read: Callable[[TicketHandle], Result]
    ) -> None:
        self._application = application
        self._handle = handle
        self._read = read
        self._outcome: Callable[[], Result] | None = None

    @classmethod
    def start(
        cls,
        application: ApplicationHandle,
        read: Callable[[TicketHandle], Result],
        function: Callable[..., int],
        *arguments: Any,
    ) -> Ticket[Result]:
        """Starts the operation of a function; ``read`` takes the result out of the ended ticket."""
        return cls(application, start(function, *arguments), read)

    def _is_answered(self, wait_ms: int = 0) -> bool:
        if self._outcome is not None:
            return True
        status = library.bh_ticket_wait(self._handle.pointer, wait_ms, None)
        if status == Status.ENGINE_UNRESPONSIVE:
            return self._has_failed()
        return bool(status != Status.TIMEOUT)

    def _has_failed(self) -> bool:
        # The status of a verb that failed so, or of one that is not answered because the engine is stopped: an answered
        # ticket does not wait.
        start = time.monotonic()
        library.bh_ticket_wait(self._handle.pointer, _PROBE_MS, None)
        return time.monotonic() - start < _PROBE_MS / 2000

    def _take(self) -> Result:
        # Sessions and batches can be taken once, so the outcome is kept.
        if self._outcome is None:
            self._outcome = self._first_take()
            self._handle.close()
        return self._outcome()

    def _first_take(self) -> Callable[[], Result]:
        try:
            result = self._read(self._handle)
        except Exception as error:
            caught = error

            def fail() -> Result:
                raise caught

            return fail
        return lambda: result

    @property
    def done(self) -> bool:
        """Whether the answer is there."""
        return self._is_answered()

    def result(self, timeout: float | None = None) -> Result:
        """Waits for the answer, up to ``timeout`` seconds (default 30), and returns or raises it. May be repeated."""
        deadline = Deadline(DEFAULT_SECONDS if timeout is None else timeout)
        while not self._is_answered(deadline.slice_ms()):
            if deadline.is_over:
                raise self._unanswered()
        return self._take()

    def result_soon(self, deadline: Deadline) -> Result:
        """The answer to a question of which the engine need not wait for anything. One that is slow has a few seconds
        beyond the deadline, so that a wait of no time gets what is there; one whose process is stopped has none."""
        remaining = deadline.remaining
        latest = Deadline(DEFAULT_SECONDS if remaining is None else max(_ANSWER_SECONDS, remaining))
        while not self._is_answered(latest.slice_ms()):
            if deadline.is_over and self._is_stopped or latest.is_over:
                raise self._unanswered()
        return self._take()

    @property
    def _is_stopped(self) -> bool:
        return bool(library.bh_ticket_wait(self._handle.pointer, 0, None) == Status.ENGINE_UNRESPONSIVE)

    def _unanswered(self) -> BackhaulError:
        details = new_error()
        status = library.bh_ticket_wait(self._handle.pointer, 0, byref(details))
        # Between the last look and this one the answer may have come; who asks the ticket gets it.
        error = error_from(status, details) if status != Status.OK else error_for(Status.TIMEOUT)
        error.ticket = self
        return error

    def __await__(self) -> Generator[Any, None, Result]:
        return self._answer().__await__()

    async def _answer(self) -> Result:
        patience = Patience(0.02)
        while not self._is_answered():
            await readable(self._application.descriptor, _LOOK_SECONDS)
            if _fetch(self._application) == 0 and not self._is_answered():
                await patience.pause()
        return self._take()


def _fetch(application: ApplicationHandle) -> int:
    """Fetches all answered tickets, so that they no longer make the descriptor readable. Every waiting coroutine was
    woken by the descriptor and looks at its own ticket."""
    fetched = 0
    while take(bh_ticket, library.bh_application_next_ticket, application.pointer).value is not None:
        fetched += 1
    return fetched


class AnsweredTicket(Ticket[Result]):
    """For a verb that had nothing to do."""

    def __init__(self, result: Result) -> None:
        self._outcome = lambda: result


def from_batch(read: Callable[[BatchHandle], Result]) -> Callable[[TicketHandle], Result]:
    """Reads a ticket whose verb answers with a batch."""

    def reader(ticket: TicketHandle) -> Result:
        return released(BatchHandle(take(bh_batch, library.bh_ticket_batch, ticket.pointer)), read)

    return reader


def count_only(ticket: TicketHandle) -> int:
    """Reads a ticket whose verb counts what it changed."""
    count = c_uint64()
    call(library.bh_ticket_count, ticket.pointer, byref(count))
    return count.value


def wait_only(ticket: TicketHandle) -> None:
    """Reads a ticket whose verb has no result but success."""
    details = new_error()
    status = library.bh_ticket_wait(ticket.pointer, 0, byref(details))
    if status != Status.OK:
        raise error_from(status, details)
