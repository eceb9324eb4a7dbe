"""Streams and tickets end at once if their session or application is closed by another coroutine or thread."""

import asyncio
import os
import threading

import pytest

from backhaul import Application, Hosting, Invalidated, InvalidHandle

#: A limit for the case that a stream does not end. The tests do not wait for it.
LONG = 60


async def first(stream):
    async for _ in stream:
        break


STREAMS = {
    "events": lambda application, session: session.events(),
    "progress": lambda application, session: session.progress(),
    "attention": lambda application, session: application.attention(),
}
#: The streams that a close of the session ends.
OF_SESSIONS = ["events", "progress"]


def in_this_thread(close):
    close()


def in_another_thread(close):
    thread = threading.Thread(target=close)
    thread.start()
    thread.join()


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


def after_close(store, stream, closed, closing):
    """Starts to read a stream, closes the session or the application, and returns the exception of the stream."""

    async def scenario():
        async with await Application.open_async("org.example.closing", store, hosting=Hosting.EMBEDDED) as application:
            session = await application.start.session("s")
            reading = asyncio.ensure_future(first(STREAMS[stream](application, session)))
            # The stream's first poll has no result, and the stream then waits for its descriptor.
            for _ in range(3):
                await application.start.sessions()
            closing(application.close if closed == "application" else session.close)
            done, _ = await asyncio.wait((reading,), timeout=LONG)
            assert done, "the stream does not end"
            return reading.exception()

    return asyncio.run(scenario())


@pytest.mark.parametrize("closing", [in_this_thread, in_another_thread])
@pytest.mark.parametrize(("stream", "closed"), [*((name, "session") for name in OF_SESSIONS),
                                                *((name, "application") for name in STREAMS)])
def test_a_stream_of_asyncio_ends_with_an_exception_if_its_session_or_application_is_closed(
        store, stream, closed, closing):
    error = after_close(store, stream, closed, closing)
    assert isinstance(error, InvalidHandle)
    assert str(error) == f"the {closed} is closed; open it again"


@pytest.mark.parametrize("closed", ["session", "application"])
@pytest.mark.parametrize("stream", OF_SESSIONS)
def test_a_blocking_stream_ends_with_an_exception_if_another_thread_closes_its_session_or_application(
        store, stream, closed):
    application = Application("org.example.closing", store, hosting=Hosting.EMBEDDED)
    session = application.session("s")
    found = []

    def read():
        try:
            next(STREAMS[stream](application, session))
        except InvalidHandle as error:
            found.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    (application if closed == "application" else session).close()
    thread.join(LONG)
    session.close()
    application.close()
    assert len(found) == 1


def test_an_awaited_ticket_ends_with_an_exception_if_its_application_is_closed(store):
    async def scenario():
        application = await Application.open_async("org.example.closing", store, hosting=Hosting.EMBEDDED)
        holder = await application.start.session("s")
        waiting = asyncio.ensure_future(application.start.attach("s", holder.role.CONSUME_WHEN_FREE)._wait_for_reply())
        await application.start.sessions()
        application.close()
        done, _ = await asyncio.wait((waiting,), timeout=LONG)
        assert done
        return waiting.exception()

    assert isinstance(asyncio.run(scenario()), InvalidHandle)


def test_the_result_of_a_ticket_of_a_closed_application_says_that_the_application_is_closed(store):
    with Application("org.example.closing", store, hosting=Hosting.EMBEDDED) as application:
        ticket = application.start.sessions()
    with pytest.raises(InvalidHandle, match="^the application is closed; open it again$"):
        ticket.result()


def test_a_stream_that_waits_uses_a_copy_of_the_descriptor_and_closes_it_after_the_wait(store):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    async def scenario():
        async with await Application.open_async("org.example.closing", store, hosting=Hosting.EMBEDDED) as application:
            session = await application.start.session("s")
            before = descriptors()
            for _ in range(20):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(first(session.events()), 0.01)
            return before, descriptors()

    before, after = asyncio.run(scenario())
    assert after == before


@pytest.mark.parametrize("stream", OF_SESSIONS)
def test_a_stream_ends_with_an_exception_if_its_session_is_removed(store, stream):
    """A session is removed when it is invalidated, and has neither tasks nor events."""

    async def scenario():
        async with await Application.open_async("org.example.closing", store, hosting=Hosting.EMBEDDED) as application:
            session = await application.start.session("s")
            reading = asyncio.ensure_future(first(STREAMS[stream](application, session)))
            for _ in range(3):
                await application.start.sessions()
            await session.start.invalidate()
            done, _ = await asyncio.wait((reading,), timeout=LONG)
            assert done, "the stream does not end"
            return reading.exception()

    assert isinstance(asyncio.run(scenario()), Invalidated)
