"""Iterating over events, blocking or in asyncio."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from ._reading import Events
from ._values import Event
from ._waiting import Deadline, Patience, readable

if TYPE_CHECKING:
    from ._session import Session


class EventStream(Iterator[Event], AsyncIterator[Event]):
    """The events of a session in the order of commit, each once. For ``for`` and for ``async for``.

    It remembers its place, and acknowledges nothing: what was not acknowledged comes again in another stream, also in
    another process.
    """

    def __init__(self, session: Session, after: int, timeout: float | None, maximum: int) -> None:
        self._session = session
        self._timeout = timeout
        self._maximum = maximum
        self._fetched: deque[Event] = deque()
        self._fetched_through = after
        #: Id of the last event that was given out.
        self.cursor = after

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> Event:
        if not self._fetched:
            self._keep(self._session.poll(self._fetched_through, self._maximum, timeout=self._timeout))
        if not self._fetched:
            raise StopIteration
        return self._next()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        deadline, patience = Deadline(self._timeout), Patience(0.25)
        while True:
            if not self._fetched:
                self._keep(await self._session.start.poll(self._fetched_through, self._maximum))
            if self._fetched:
                return self._next()
            if deadline.is_over:
                raise StopAsyncIteration
            # The descriptor may be readable for events before this stream's place: then wait a little, do not spin.
            if await readable(self._session.fileno(), deadline.remaining):
                await patience.pause()

    def _keep(self, events: Events) -> None:
        self._fetched.extend(events.items)
        if events.items:
            self._fetched_through = events.items[-1].id

    def _next(self) -> Event:
        event = self._fetched.popleft()
        self.cursor = event.id
        return event
