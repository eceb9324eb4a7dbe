"""Functions that wait until sessions need attention, for example because of new events. They are for blocking code and
for asyncio."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator

from . import _reading
from ._copying import released
from ._constants import Status
from ._ctypes import bh_batch
from ._errors import BackhaulError
from ._handles import ApplicationHandle, BatchHandle, take
from ._library import library
from ._values import SessionInfo
from ._waiting import Backoff, Deadline, readable


def poll_attention(handle: ApplicationHandle, timeout: float | None) -> list[SessionInfo]:
    """Returns the sessions that have begun to need attention since the previous call with this handle."""
    deadline = Deadline(timeout)
    while True:
        try:
            found = _poll(handle, deadline.slice_ms())
        except BackhaulError as error:
            if deadline.is_over or not _is_late(error):
                raise
            continue
        if found or deadline.is_over:
            return found


def _poll(handle: ApplicationHandle, timeout_ms: int) -> list[SessionInfo]:
    batch = take(bh_batch, library.bh_application_poll, handle.pointer, timeout_ms)
    return released(BatchHandle(batch), _reading.sessions)


def _is_late(error: BackhaulError) -> bool:
    """Returns whether the engine (the process that runs the tasks) has not replied in time. A later poll may get a
    reply."""
    return error.status in (Status.TIMEOUT, Status.ENGINE_UNRESPONSIVE)


class AttentionStream(Iterator[SessionInfo], AsyncIterator[SessionInfo]):
    """An iterator for ``for`` and ``async for``. It yields a session when the session begins to need attention."""

    def __init__(self, handle: ApplicationHandle, timeout: float | None) -> None:
        self._handle = handle
        self._timeout = timeout
        self._found: deque[SessionInfo] = deque()

    def __iter__(self) -> AttentionStream:
        return self

    def __next__(self) -> SessionInfo:
        if not self._found:
            self._found.extend(poll_attention(self._handle, self._timeout))
        if not self._found:
            raise StopIteration
        return self._found.popleft()

    def __aiter__(self) -> AttentionStream:
        return self

    async def __anext__(self) -> SessionInfo:
        deadline, backoff = Deadline(self._timeout), Backoff(0.25)
        while True:
            if not self._found:
                try:
                    self._found.extend(_poll(self._handle, 0))
                except BackhaulError as error:
                    if deadline.is_over or not _is_late(error):
                        raise
            if self._found:
                return self._found.popleft()
            if deadline.is_over:
                raise StopAsyncIteration
            # The descriptor is also readable while there are events or results of commands, which this loop does not
            # read. The pause prevents a busy loop.
            if await readable(self._handle.descriptor, deadline.remaining):
                await backoff.pause()
