"""Coroutines that wait in asyncio can share a descriptor. When no coroutine waits for the descriptor any more, no event
loop watches it."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from backhaul import InvalidArgument, _waiting
from backhaul._waiting import Deadline, Waiters


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.fixture
def waiters():
    """Waiters of one descriptor. After the test, no event loop watches the descriptor."""
    everything = set()
    before = len(os.listdir("/proc/self/fd"))
    yield Waiters(everything)
    assert everything == set()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def readable(waiters, pipe):
    """Waits for the pipe. The handle of the pipe is not closed."""
    return lambda seconds: waiters.readable(pipe[0], seconds, lambda: False)


def test_a_readable_descriptor_wakes_all_its_waiters(pipe, readable):
    async def scenario():
        waiting = [asyncio.ensure_future(readable(10)) for _ in range(3)]
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        return await asyncio.gather(*waiting)

    assert asyncio.run(scenario()) == [True, True, True]


def test_a_wait_ends_after_its_time(readable):
    assert asyncio.run(readable(0.01)) is False


def test_a_cancelled_waiter_does_not_affect_the_other_waiters(pipe, readable):
    async def scenario():
        impatient = asyncio.ensure_future(readable(10))
        patient = asyncio.ensure_future(readable(10))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        return await patient

    assert asyncio.run(scenario()) is True


@pytest.mark.parametrize("seconds", [10, None])
def test_a_waiter_is_cancelled_even_if_its_descriptor_becomes_readable(pipe, readable, seconds):
    async def scenario():
        waiting = asyncio.ensure_future(readable(seconds))
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        # In its next iteration, the event loop finds that the descriptor is readable. One iteration later, the test
        # cancels the waiter before the waiter runs.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, waiting.cancel)
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(scenario())


def test_another_thread_can_wake_the_waiters_of_all_event_loops(waiters, readable):
    def wait(started):
        async def scenario():
            waiting = asyncio.ensure_future(readable(None))
            await asyncio.sleep(0)
            started.set()
            return await waiting

        return asyncio.run(scenario())

    with ThreadPoolExecutor() as pool:
        started = [threading.Event() for _ in range(3)]
        found = [pool.submit(wait, event) for event in started]
        for event in started:
            event.wait()
        waiters.wake()
        assert [future.result() for future in found] == [True] * 3


def test_a_wait_for_a_closed_handle_ends_at_once(waiters, pipe):
    assert asyncio.run(waiters.readable(pipe[0], None, lambda: True)) is True
    # The library has closed the descriptor of a closed handle.
    assert asyncio.run(waiters.readable(1 << 20, None, lambda: True)) is True


def test_a_wait_does_not_watch_another_file_that_gets_the_number_of_the_closed_descriptor(waiters):
    (first, unused), (second, writer) = os.pipe(), os.pipe()

    async def scenario():
        waiting = asyncio.ensure_future(waiters.readable(first, 0.1, lambda: False))
        await asyncio.sleep(0)
        os.dup2(second, first)
        os.write(writer, b"x")
        return await waiting

    assert asyncio.run(scenario()) is False
    for descriptor in (first, unused, second, writer):
        os.close(descriptor)


def test_each_part_of_a_long_wait_is_short_and_ends_at_the_deadline_at_the_latest():
    assert Deadline(None).slice_ms() == _waiting.SLICE_SECONDS * 1000
    assert Deadline(1e9).slice_ms() == _waiting.SLICE_SECONDS * 1000
    assert 1 <= Deadline(0.05).slice_ms() <= 50
    assert Deadline(0).slice_ms() == 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), True, "1"])
def test_a_deadline_needs_a_number_of_seconds_from_0_on(seconds):
    with pytest.raises(InvalidArgument, match="give seconds from 0 on"):
        Deadline(seconds)
