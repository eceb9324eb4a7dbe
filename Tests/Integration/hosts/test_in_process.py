"""The Python package in the test's own process: threads, closed handles, tickets and waits. A ticket stands for a
command that was sent to the engine."""

import gc
import os
import select
import signal
import threading
import time
import warnings

import pytest

import backhaul
from backhaul import Hosting
from servers.content import Content


def test_several_threads_can_use_one_session_at_the_same_time(store, misbehaving, downloads):
    failures = []

    def work(number):
        try:
            for i in range(25):
                name = f"{number}-{i}"
                session.download(misbehaving.serve(f"/{name}", Content(100, i)), downloads / name, key=name)
                list(session.tasks())
        except Exception as error:  # checked below, in the test's own thread
            failures.append(error)

    with backhaul.Application("org.example.threads", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failures == []
            ended = set()
            for event in session.events(timeout=30):
                ended |= {event.key} - {None}
                if len(ended) == 200:
                    break
            assert len(ended) == 200
            assert len(os.listdir(downloads)) == 200


def test_handles_can_be_closed_in_any_order_and_twice(store, misbehaving):
    application = backhaul.Application("org.example.order", store, hosting=Hosting.EMBEDDED)
    session = application.session("s")
    ticket = session.start.configuration()
    application.close()
    session.close()
    application.close()
    session.close()
    for use in (session.configuration, application.sessions, ticket.result, session.fileno):
        with pytest.raises(backhaul.InvalidHandle):
            use()


def test_dropping_the_unread_result_of_a_poll_makes_the_descriptor_readable_again(store):
    with backhaul.Application("org.example.unread", store, hosting=Hosting.EMBEDDED) as application:
        session = application.session("s")
        task = session.download("http://127.0.0.1:1/")
        session.cancel([task])
        assert select.select([session], [], [], 30)[0]
        unread, read = session.start.poll(), session.start.poll()
        assert len(read.result().items) == 2
        assert unread.done
        assert not select.select([session], [], [], 0)[0]
        del read
        gc.collect()
        assert not select.select([session], [], [], 0)[0]
        del unread
        gc.collect()
        assert select.select([session, application], [], [], 0)[0] == [session, application]
        assert len(session.poll(timeout=0).items) == 2
        assert not select.select([session], [], [], 0)[0]


def test_a_wait_ends_when_another_thread_closes_the_session(store):
    with backhaul.Application("org.example.close", store, hosting=Hosting.EMBEDDED) as application:
        session = application.session("s")
        timer = threading.Timer(0.3, session.close)
        timer.start()
        with pytest.raises(backhaul.InvalidHandle):
            next(session.events())
        timer.join()


def test_a_call_that_times_out_is_applied_one_time_and_its_result_can_be_read_later(store, host, downloads):
    engine = host(identifier="org.example.slow")
    engine.all_sessions()
    with backhaul.Application("org.example.slow", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            engine.stop()
            with pytest.raises((backhaul.Timeout, backhaul.EngineError)) as caught:
                session.download("http://127.0.0.1:9/a", downloads / "a", suspended=True, timeout=0.5)
            ticket = caught.value.ticket
            assert not ticket.done
            with pytest.raises((backhaul.Timeout, backhaul.EngineError)):
                ticket.result(0.1)
            engine.signal(signal.SIGCONT)
            task = ticket.result()
            assert ticket.result() is task
            assert [one.id for one in session.tasks()] == [task.id]


def test_a_started_call_is_applied_even_if_the_program_drops_its_ticket(store, downloads):
    with backhaul.Application("org.example.tickets", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            session.start.download("http://127.0.0.1:9/a", downloads / "a", suspended=True)
            assert len(list(session.tasks())) == 1
            opened = application.start.attach("s", backhaul.Role.OBSERVE)
            del opened
            assert session.configuration().identifier == "s"


def test_an_object_that_the_program_does_not_close_is_closed_with_a_resource_warning(store):
    with pytest.warns(ResourceWarning, match="application was not closed"):
        backhaul.Application("org.example.dropped", store, hosting=Hosting.EMBEDDED)
        gc.collect()
    with backhaul.Application("org.example.dropped", store, hosting=Hosting.EMBEDDED) as application:
        with pytest.warns(ResourceWarning, match="session was not closed"):
            application.session("s")
            gc.collect()
        application.attach("s").close()


def test_a_session_whose_application_was_closed_is_dropped_without_a_warning(store):
    with backhaul.Application("org.example.dropped", store, hosting=Hosting.EMBEDDED) as application:
        session = application.session("s")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del session
        gc.collect()
    assert [str(one.message) for one in caught if "session" in str(one.message)] == []


def test_a_wait_without_an_event_lasts_for_its_timeout(store):
    with backhaul.Application("org.example.waits", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            start = time.monotonic()
            assert session.poll(timeout=0.7) == ([], False)
            assert list(session.events(timeout=0)) == []
            assert application.poll(timeout=0.3) == []
            assert time.monotonic() - start >= 1.0


def test_a_stream_of_events_keeps_its_position_and_a_new_stream_starts_at_the_first_event(store, misbehaving):
    with backhaul.Application("org.example.streams", store, hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            task = session.download(misbehaving.serve("/a", Content(10)))
            stream = session.events(maximum=1)
            first = next(stream)
            assert (first.task_id, stream.cursor) == (task.id, first.id)
            second = next(stream)
            assert second.is_session_finished
            assert [event.id for event in session.events(timeout=0)] == [first.id, second.id]
            assert [event.id for event in session.events(after=first.id, timeout=0)] == [second.id]
            first.acknowledge()
            assert session.acknowledge([second.id, second]) == 1
            assert list(session.events(timeout=0)) == []
