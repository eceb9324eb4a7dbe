"""Functions that wait until sessions need attention, for example because of new events. They are for blocking code and
for asyncio."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator

from . import _reading
from ._constants import Status
from ._copying import released
from ._ctypes import bh_batch
from ._errors import BackhaulError
from ._handles import ApplicationHandle, BatchHandle, take
from ._library import library
from ._values import SessionInfo
from ._waiting import DEFAULT_SECONDS, RECHECK_SECONDS, Backoff, Deadline, seconds


def poll_attention(handle: ApplicationHandle, timeout: float | None) -> list[SessionInfo]:
    """Returns the sessions that have begun to need attention since the previous call with this handle."""
    deadline, lateness = Deadline(timeout), _Lateness()
    while True:
        try:
            found = _poll(handle, deadline.slice_ms())
        except BackhaulError as error:
            if not lateness.tolerates(error, deadline):
                raise
            continue
        lateness.reset()
        if found or deadline.is_over:
            return found


def _poll(handle: ApplicationHandle, timeout_ms: int) -> list[SessionInfo]:
    batch = take(bh_batch, library.bh_application_poll, handle.pointer, timeout_ms)
    return released(BatchHandle(batch), _reading.sessions)


class _Lateness:
    """Tolerates errors while the engine (the process that runs the tasks) does not reply. A later poll may get a
    reply. An error is raised if it comes more than 30 seconds after the first error of a series. A poll without an
    error ends the series."""

    def __init__(self) -> None:
        self._end: Deadline | None = None

    def reset(self) -> None:
        self._end = None

    def tolerates(self, error: BackhaulError, deadline: Deadline) -> bool:
        """Returns False if the error has another reason, or if a limit is over."""
        self._end = self._end or Deadline(DEFAULT_SECONDS)
        is_late = error.status in (Status.TIMEOUT, Status.ENGINE_UNRESPONSIVE)
        return is_late and not deadline.is_over and not self._end.is_over


class AttentionStream(Iterator[SessionInfo], AsyncIterator[SessionInfo]):
    """An iterator for ``for`` and ``async for``. It yields a session when the session begins to need attention."""

    def __init__(self, handle: ApplicationHandle, timeout: float | None) -> None:
        self._handle = handle
        self._timeout = seconds(timeout)
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
        deadline, backoff, lateness = Deadline(self._timeout), Backoff(0.25), _Lateness()
        while True:
            if not self._found:
                try:
                    self._found.extend(_poll(self._handle, 0))
                    lateness.reset()
                except BackhaulError as error:
                    if not lateness.tolerates(error, deadline):
                        raise
            if self._found:
                return self._found.popleft()
            if deadline.is_over:
                raise StopAsyncIteration
            # The descriptor is also readable while there are events or results of commands, which this loop does not
            # read. The pause prevents a busy loop.
            remaining = deadline.remaining
            wait = RECHECK_SECONDS if remaining is None else min(RECHECK_SECONDS, remaining)
            if await self._handle.readable(wait):
                await backoff.pause()
