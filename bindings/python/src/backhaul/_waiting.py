"""Waiting in blocking code and in asyncio. Blocking code waits in short slices, so that Python can handle signals."""

from __future__ import annotations

import os
import select
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Callable

from ._errors import invalid

if TYPE_CHECKING:
    # This module does not load asyncio, because that would double the time to import the package. Only programs that
    # use asyncio load it.
    import asyncio

#: The longest wait of one C call, in seconds. Python runs signal handlers, such as the handler of Ctrl-C, only between
#: C calls.
SLICE_SECONDS = 0.2

#: The longest time between two polls. Each poll makes the library search for an engine. By itself, it searches only
#: after pauses of up to a minute, and not before it has had an engine.
RECHECK_SECONDS = 5.0

#: The time-out for which BH_WAIT_DEFAULT stands, in seconds.
DEFAULT_SECONDS = 30.0


def seconds(value: float | None, what: str = "timeout") -> float | None:
    """Checks a number of seconds that a caller gives."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0):
        raise invalid(f"the {what} is {value!r}; give seconds from 0 on, or None")
    return value


class Deadline:
    """The time until which a call may wait. If ``limit`` is None, the call may wait without a limit."""

    def __init__(self, limit: float | None) -> None:
        limit = seconds(limit)
        self._end = None if limit is None else time.monotonic() + limit

    @property
    def remaining(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def slice_ms(self) -> int:
        """Returns how long the next C call may wait, in milliseconds. The result is 0 only if the deadline is over."""
        remaining = self.remaining
        limit = SLICE_SECONDS if remaining is None else min(SLICE_SECONDS, remaining)
        return max(1, round(limit * 1000)) if limit > 0 else 0


class Waiters:
    """The coroutines that wait for one descriptor of the library. They may run in the event loops of several threads.

    An event loop watches a copy of the descriptor. So if the library closes the descriptor, and the process uses its
    number for another file, the event loop does not watch that file.
    """

    def __init__(self, all_waiters: set[tuple[Waiters, asyncio.AbstractEventLoop]]) -> None:
        #: The waiters of all descriptors of an application, with the event loops in which coroutines wait.
        self._all = all_waiters
        self._watches: dict[asyncio.AbstractEventLoop, tuple[int, set[asyncio.Future[None]]]] = {}

    async def readable(self, descriptor: int, limit: float | None, is_closed: Callable[[], bool]) -> bool:
        """Waits until the descriptor is readable, or until ``wake`` is called. Returns False if neither happens within
        ``limit`` seconds."""
        import asyncio

        loop = asyncio.get_running_loop()
        if loop not in self._watches:
            try:
                copy = os.dup(descriptor)
            except OSError:
                if is_closed():  # meanwhile, by another thread
                    return True
                raise
            self._watches[loop] = (copy, set())
            self._all.add((self, loop))
            loop.add_reader(copy, self._wake, loop)
        watch = self._watches[loop]
        future: asyncio.Future[None] = loop.create_future()
        watch[1].add(future)
        try:
            # The close of the handle wakes all futures of this moment. This check finds an earlier close.
            if is_closed():
                return True
            # `asyncio.wait_for` cannot be used: before Python 3.12, it ignores a cancellation that comes at the same
            # time as the result.
            done, _ = await asyncio.wait((future,), timeout=limit)
            return bool(done)
        finally:
            watch[1].discard(future)
            if not watch[1] and self._watches.get(loop) is watch:
                self._wake(loop)

    def wake(self) -> None:
        """Wakes all coroutines. Any thread may call this method."""
        for loop in list(self._watches):
            self.wake_in(loop)

    def wake_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wakes the coroutines of one event loop. Any thread may call this method."""
        with suppress(RuntimeError):  # A closed event loop has no coroutines to wake.
            loop.call_soon_threadsafe(self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wakes the coroutines of an event loop. The loop then stops watching the descriptor, because the descriptor
        stays readable until the coroutines have read their data."""
        copy, futures = self._watches.pop(loop, (None, ()))
        if copy is None:
            return
        self._all.discard((self, loop))
        loop.remove_reader(copy)
        os.close(copy)
        for future in futures:
            if not future.done():
                future.set_result(None)


def wait_readable(descriptor: int, limit: float) -> bool:
    """Waits until the descriptor is readable, for blocking code. Python handles signals during the wait. Returns False
    if the descriptor does not become readable within ``limit`` seconds."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(limit * 1000))


class Backoff:
    """Growing pauses for a loop that waits for a descriptor. The descriptor may stay readable for a reason that does
    not concern the loop. The pauses then prevent a busy loop."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = 0.001

    async def pause(self) -> None:
        import asyncio

        await asyncio.sleep(self._grow())

    def sleep(self, deadline: Deadline) -> None:
        """Does the same as ``pause``, but for blocking code. The pause ends at the deadline at the latest."""
        remaining = deadline.remaining
        time.sleep(self._grow() if remaining is None else min(self._grow(), remaining))

    def _grow(self) -> float:
        pause, self._next = self._next, min(self._longest, self._next * 2)
        return pause
