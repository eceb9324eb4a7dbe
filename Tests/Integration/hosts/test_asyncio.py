"""Hosts on asyncio: nothing blocks the loop, waits use little processor time, and every wait can be cancelled. A
wait record describes a time in which a task waits. To complete a session is to state that the host has processed all
events that it has read."""

import asyncio
import http.server
import threading
import time

import pytest

import backhaul
from backhaul import (
    Activity,
    Application,
    Attention,
    Constraints,
    InUse,
    Limits,
    Network,
    Next,
    Part,
    Reason,
    Request,
    StoreError,
    TaskState,
)
from servers.content import Content, sha256_of
from servers.counting import CountingServer
from testbed.host import Host

pytestmark = pytest.mark.both_hostings

IDENTIFIER = "org.example.asyncio"
CONTENT = Content(100_000)


def test_an_asyncio_host_enqueues_tasks_and_completes_the_session_after_the_events_of_all_tasks(
        store, misbehaving, downloads, hosting):
    urls = [misbehaving.serve(f"/{i}", Content(5_000, i)) for i in range(50)]

    async def scenario():
        seen = []
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            session = await application.start.session("gallery")
            requests = [Request(url, downloads / str(i), key=str(i)) for i, url in enumerate(urls)]
            results = await session.start.enqueue(requests)
            assert all(result.is_new for result in results)
            async for event in session.events():
                seen.append(event)
                await session.start.acknowledge([event])
                if event.is_session_finished:
                    break
            await session.start.complete()
            assert (await application.start.sessions())[0].events == 0
        return seen

    seen = asyncio.run(asyncio.wait_for(scenario(), 60))
    assert [event.is_session_finished for event in seen] == [False] * 50 + [True]
    assert {sha256_of(downloads / str(i)) for i in range(50)} == {Content(5_000, i).sha256 for i in range(50)}


def test_an_asyncio_host_lists_wait_records_conditions_networks_and_activities(store, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            session = await application.start.session("gallery", constraints=Constraints(preset="overnight"))
            later = time.time() + 86_400
            task = await session.start.download("http://127.0.0.1:9/a", earliest_start=later)
            assert (await session.start.task(task)).reason is Reason.EARLIEST_START
            assert [wait.ended for wait in await session.start.waits(task)] == [None]
            assert await application.start.conditions()
            assert [hold.reason for hold in await application.start.holds() if hold.session != "gallery"] == []
            await application.start.set_network(Network("Hotspot", metered=True))
            assert "Hotspot" in {network.name for network in await application.start.networks()}
            await session.start.set_activity(Activity("feed", 3_600_000))
            assert [activity.identifier for activity in await session.start.activities()] == ["feed"]
            await session.start.remove_activity("feed")
            assert await session.start.activities() == []

    asyncio.run(asyncio.wait_for(scenario(), 60))


class Receiver(http.server.BaseHTTPRequestHandler):
    """Sends the received body back."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def receiver():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/form"
        server.shutdown()


def test_an_asyncio_host_uploads_a_form_and_reads_its_attempts_and_the_history(store, receiver, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            await application.start.set_limits(Limits(bytes_per_second=10_000_000))
            assert (await application.start.limits()).bytes_per_second == 10_000_000
            session = await application.start.session("gallery")
            parts = [Part("title", "Gr\u00fc\u00dfe"), Part("data", bytes(1_000))]
            task = await session.start.upload(receiver, parts=parts, group="forms", suspended=True)
            assert await session.start.set_rate(5_000_000, group="forms") == 1
            assert await session.start.resume(group="forms") == 1
            events = []
            async for event in session.events():
                events.append(event)
                await session.start.acknowledge([event])
                if event.is_session_finished:
                    break
            attempts = await session.start.attempts(task)
            return events, attempts, await session.start.history(), task.id

    events, attempts, history, task = asyncio.run(asyncio.wait_for(scenario(), 60))
    ended, group, finished = sorted(events, key=lambda event: event.kind != 1)
    assert ended.succeeded and ended.http_status == 201 and ended.path is None
    assert "Gr\u00fc\u00dfe".encode() in ended.response_body and bytes(1_000) in ended.response_body
    assert ended.bytes_sent == len(ended.response_body)
    assert {group.is_group_finished, finished.is_group_finished} == {True, False}
    assert [(attempt.number, attempt.next, attempt.http_status) for attempt in attempts] == [(1, Next.END, 201)]
    assert attempts[0].request_body_bytes == ended.bytes_sent
    assert [(past.id, past.state, past.group) for past in history] == [(task, TaskState.SUCCEEDED, "forms")]


def test_many_coroutines_call_the_library_and_read_events_at_the_same_time(store, misbehaving, downloads, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            sessions = [await application.start.session(f"s{i}") for i in range(5)]

            async def use(number, session):
                for i in range(10):
                    name = f"{number}-{i}"
                    task = await session.start.download(misbehaving.serve(f"/{name}", CONTENT), downloads / name)
                    assert (await session.start.task(task)).id == task.id
                ended = 0
                async for event in session.events():
                    ended += event.state is TaskState.SUCCEEDED
                    if ended == 10:
                        return ended

            return await asyncio.gather(*(use(*each) for each in enumerate(sessions)))

    assert asyncio.run(asyncio.wait_for(scenario(), 60)) == [10] * 5


def test_waiting_for_events_does_not_block_the_event_loop(store, hosting):
    async def scenario(server):
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            session = await application.start.session("gallery")
            await session.start.download(server.url + "/a")

            async def tick():
                for _ in range(20):
                    await asyncio.sleep(0.01)
                server.release()

            # If the loop is blocked, the response comes after 30 seconds, before the last tick.
            ticking = asyncio.ensure_future(tick())
            async for event in session.events():
                if event.is_session_finished:
                    break
            return ticking.done()

    with CountingServer(CONTENT, 30) as server:
        assert asyncio.run(asyncio.wait_for(scenario(server), 60))


def test_a_wait_uses_little_processor_time_while_another_session_has_unread_events(store, misbehaving, hosting):
    """The events of the other session keep the application's descriptor readable. A wait must not check the descriptor
    in a loop."""

    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            unread = await application.start.session("unread")
            await unread.start.download(misbehaving.serve("/a", CONTENT))
            waiting = await application.start.session("waiting")
            while not (await application.start.sessions())[1 - 1].events:
                await asyncio.sleep(0.01)
            before = time.process_time()
            none = [event async for event in waiting.events(timeout=2)]
            return none, time.process_time() - before

    none, used = asyncio.run(asyncio.wait_for(scenario(), 60))
    assert none == []
    assert used < 0.5


def test_a_stream_of_events_ends_if_no_event_arrives_before_its_timeout(store, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            session = await application.start.session("gallery")
            return [event async for event in session.events(timeout=0.2)]

    assert asyncio.run(asyncio.wait_for(scenario(), 30)) == []


def test_a_cancelled_wait_loses_no_event(store, misbehaving, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            session = await application.start.session("gallery")
            stream = session.events()
            for _ in range(20):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(stream.__anext__(), 0.01)
            await session.start.download(misbehaving.serve("/a", CONTENT))
            return [await stream.__anext__(), await stream.__anext__()]

    events = asyncio.run(asyncio.wait_for(scenario(), 60))
    assert [event.is_session_finished for event in events] == [False, True]


def test_failed_calls_of_an_asyncio_host_raise_exceptions(store, hosting):
    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            await application.start.session("gallery")
            with pytest.raises(backhaul.NotFound):
                await application.start.attach("unknown")
            with pytest.raises(backhaul.InvalidArgument):
                await application.start.session("")

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_an_application_is_notified_if_a_session_needs_a_host_even_without_an_attach(
        store, misbehaving, hosting):
    other = Host(store, IDENTIFIER, hosting=hosting).open()
    other.session()

    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            other.download(misbehaving.serve("/a", CONTENT))
            async for info in application.attention(timeout=30):
                return info.identifier, Attention.EVENTS in info.attention

    try:
        assert asyncio.run(scenario()) == ("gallery", True)
    finally:
        other.end()


def test_open_async_raises_an_error_if_the_store_cannot_be_opened(place, hosting):
    async def scenario():
        with pytest.raises(StoreError):
            await Application.open_async(IDENTIFIER, place / "missing" / "store", hosting=hosting)

    asyncio.run(asyncio.wait_for(scenario(), 30))


def test_the_exception_for_a_session_in_use_has_the_id_of_the_process_that_uses_it(store, host, hosting):
    one = host(identifier=IDENTIFIER)
    one.session()

    async def scenario():
        async with await Application.open_async(IDENTIFIER, store, hosting=hosting) as application:
            with pytest.raises(InUse) as caught:
                await application.start.attach("gallery")
            return caught.value.process

    assert asyncio.run(asyncio.wait_for(scenario(), 30)) == one.pid
    assert isinstance(one, Host)
