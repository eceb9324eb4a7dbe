"""Live progress of running tasks, in blocking code and in asyncio. A *reading* is the progress of one task at one time.
A new reading replaces an unread reading of the same task."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from . import _reading
from ._copying import released
from ._ctypes import bh_batch
from ._handles import BatchHandle, SessionHandle, take
from ._library import library
from ._session_verbs import SessionVerbs
from ._values import Progress
from ._waiting import Backoff, Deadline, seconds


def poll_progress(handle: SessionHandle, timeout: float | None) -> list[Progress]:
    """Returns the newest readings of all tasks whose progress has changed since the previous call with this handle."""
    deadline = Deadline(timeout)
    while True:
        batch = take(bh_batch, library.bh_session_poll_progress, handle.pointer, deadline.slice_ms())
        found = released(BatchHandle(batch), _reading.progress)
        if found or deadline.is_over:
            return found


class ProgressStream(Iterator["list[Progress]"], AsyncIterator["list[Progress]"]):
    """An iterator for ``for`` and ``async for``. It yields the progress of a session's running tasks.

    Each step waits until the progress of a task has changed. It yields a list with the newest readings of all tasks
    whose progress has changed since the previous step. At the first step, the engine (the process that runs the tasks)
    begins to send readings.
    """

    def __init__(self, verbs: SessionVerbs, handle: SessionHandle, interval: float, timeout: float | None) -> None:
        self._verbs = verbs
        self._handle = handle
        self._interval = interval
        self._timeout = seconds(timeout)
        self._is_watching = False

    def __iter__(self) -> ProgressStream:
        return self

    def __next__(self) -> list[Progress]:
        if not self._is_watching:
            self._verbs.watch_progress(self._interval).result()
            self._is_watching = True
        found = poll_progress(self._handle, self._timeout)
        if not found:
            raise StopIteration
        return found

    def __aiter__(self) -> ProgressStream:
        return self

    async def __anext__(self) -> list[Progress]:
        if not self._is_watching:
            await self._verbs.watch_progress(self._interval)
            self._is_watching = True
        deadline, backoff = Deadline(self._timeout), Backoff(0.25)
        while True:
            found = poll_progress(self._handle, 0)
            if found:
                return found
            if deadline.is_over:
                raise StopAsyncIteration
            # The descriptor may become readable, and another coroutine or thread may take the readings first. Without
            # the pause, this loop would then be a busy loop.
            if await self._handle.progress_readable(deadline.remaining):
                await backoff.pause()
