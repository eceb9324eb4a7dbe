"""Polls for events and iterates over events, in blocking code and in asyncio."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator

from . import _writing
from ._event import Acknowledging, Event
from ._handles import ApplicationHandle, BatchHandle, SessionHandle
from ._library import library
from ._logging import log
from ._reading import Events, events
from ._tickets import Ticket, from_batch
from ._waiting import RECHECK_SECONDS, Backoff, Deadline, seconds, wait_readable


class EventSource:
    """Reads the events of a session. ``Event.acknowledge`` calls the method ``acknowledge`` of ``session``."""

    def __init__(self, session: Acknowledging, application: ApplicationHandle, handle: SessionHandle) -> None:
        self._session = session
        self._application = application
        self._handle = handle

    def _events(self, batch: BatchHandle) -> Events:
        found = events(batch, self._session)
        for event in found.items:
            state = event.state.name if event.state else "-"
            log.debug("event %d: %s, task %d, %s", event.id, event.kind.name, event.task_id, state)
        return found

    async def readable(self, limit: float | None) -> bool:
        """Waits for events that no poll has returned. Returns False if there are none after ``limit`` seconds."""
        return await self._handle.readable(limit)

    def start(self, after: int, maximum: int) -> Ticket[Events]:
        """Starts a poll. The poll returns the available events, and does not wait for further events."""
        cursor, size = _writing.cursor(after), _writing.maximum(maximum)
        read = from_batch(self._events)
        return Ticket._start(self._application, read, library.bh_session_poll, self._handle.pointer, cursor, size)

    def poll(self, after: int, maximum: int, timeout: float | None) -> Events:
        deadline, backoff = Deadline(timeout), Backoff(0.25)
        while True:
            found = self.start(after, maximum)._result_soon(deadline)
            if found.items or deadline.is_over:
                return found
            # Events before ``after`` can make the descriptor readable. The pause prevents a busy loop.
            if self._wait(deadline):
                backoff.sleep(deadline)

    def _wait(self, deadline: Deadline) -> bool:
        """Waits for events that no poll has returned. Returns False if there are none after some seconds. The wait has
        slices, because the close of the handle by another thread does not end a slice."""
        pause = Deadline(RECHECK_SECONDS)
        while not deadline.is_over and not pause.is_over:
            if wait_readable(self._handle.descriptor, deadline.slice_ms() / 1000):
                return True
        return False


class EventStream(Iterator[Event], AsyncIterator[Event]):
    """An iterator for ``for`` and ``async for``. It yields each event of a session one time.

    The events come in the order in which they were stored. The stream acknowledges no event. Until an event is
    acknowledged, each new stream yields the event again, in this process and in other processes. Only one thread or
    coroutine may use a stream at a time.
    """

    def __init__(self, source: EventSource, after: int, timeout: float | None, maximum: int) -> None:
        self._source = source
        self._timeout = seconds(timeout)
        self._maximum = maximum
        self._fetched: deque[Event] = deque()
        self._fetched_through = after
        #: The id of the last event that the stream has yielded.
        self.cursor = after

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> Event:
        if not self._fetched:
            self._keep(self._source.poll(self._fetched_through, self._maximum, self._timeout))
        if not self._fetched:
            raise StopIteration
        return self._next()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        deadline, backoff = Deadline(self._timeout), Backoff(0.25)
        while True:
            if not self._fetched:
                self._keep(await self._source.start(self._fetched_through, self._maximum))
            if self._fetched:
                return self._next()
            if deadline.is_over:
                raise StopAsyncIteration
            # Events before this stream's cursor can make the descriptor readable. The pause prevents a busy loop.
            if await self._source.readable(deadline.remaining):
                await backoff.pause()

    def _keep(self, events: Events) -> None:
        self._fetched.extend(events.items)
        if events.items:
            self._fetched_through = events.items[-1].id

    def _next(self) -> Event:
        event = self._fetched.popleft()
        self.cursor = event.id
        return event
