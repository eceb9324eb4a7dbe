"""Several processes use one store. The engine, which runs the transfers, is in one of these processes or in the
daemon. In both cases all processes behave alike. The consumer of a session is the process that reads the session's
events."""

import os
import signal

import pytest

from backhaul import EngineError, Request, Role, Status, TaskState
from fake_engine import FakeEngine
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import until

CONTENT = Content(2_000_000)


def engine_threads(one):
    """Returns the names of the host's threads that belong to an engine."""
    return [name for name in one.thread_names() if name.startswith(("bh-", "backhaul"))]


def test_two_processes_list_the_same_task_and_one_of_them_cancels_it(host, misbehaving, downloads):
    engine, other = host(), host()
    engine.session()
    other.attach(role=Role.PRODUCE)
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(stall_after=10_000))
    task = other.download(url, downloads / "a", user_data=b"from the other")
    seen = until(lambda: engine.task(task), lambda info: info.offset == 10_000)
    assert (seen.state, seen.user_data) == (TaskState.RUNNING, b"from the other")
    assert other.task(task).offset == 10_000
    assert other.cancel([task]) == 1
    assert engine.wait_for()[0].state is TaskState.CANCELLED


def test_a_consumer_outside_the_engines_process_gets_the_events(host, misbehaving, downloads):
    engine, consumer = host(), host()
    consumer.session()
    engine.attach(role=Role.PRODUCE)
    engine.enqueue([Request(misbehaving.serve(f"/{i}", Content(1_000, i)), downloads / str(i)) for i in range(50)])
    events = consumer.wait_for()
    assert len(events) == 51
    assert consumer.acknowledge(events) == 51
    consumer.complete()


def test_a_host_can_enqueue_20_000_tasks_through_the_socket(host, downloads):
    host()
    other = host()
    other.session()
    requests = [Request(f"http://127.0.0.1:9/{i}", downloads / str(i), suspended=True, user_data=b"x" * 500)
                for i in range(20_000)]
    results = other.enqueue(requests)
    assert [result.disposition.name for result in results] == ["NEW"] * 20_000
    assert len({result.task_id for result in results}) == 20_000
    assert len(other.tasks()) == 20_000


@pytest.mark.parametrize("end", ["killed", "closed", "exited"])
def test_another_process_runs_the_engine_when_the_process_of_the_first_engine_ends(host, misbehaving, downloads, end):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=1_500_000)])
    engine, other = host(), host()
    other.session(first_delay_ms=50)
    other.download(url, downloads / "a", key="a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_500_000)
    {"killed": engine.kill, "closed": engine.close, "exited": engine.exit}[end]()
    events = other.wait_for()
    assert [event.status for event in events] == [Status.OK, Status.OK]
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert os.listdir(downloads) == ["a"]
    other.acknowledge(events)
    other.complete()
    newcomer = host()
    newcomer.attach(role=Role.OBSERVE)
    assert newcomer.all_sessions()[0].events == 0


def test_a_started_call_is_applied_exactly_one_time_even_if_the_engine_dies(host, misbehaving, downloads):
    engine, other = host(), host()
    other.session()
    for round_ in range(3):
        engine.stop()
        requests = [Request(f"http://127.0.0.1:9/{round_}/{i}", downloads / f"{round_}-{i}", suspended=True)
                    for i in range(500)]
        other.begin("enqueue", requests)
        engine.kill()
        results = other.finish()
        assert [result.disposition.name for result in results] == ["NEW"] * 500
        assert len(other.tasks()) == 500 * (round_ + 1)
        # The process `other` runs the engine now. In the next pass of the loop, `engine` is this process and `other` is
        # a new process.
        engine, other = other, host()
        engine.close_session()
        # Closing does not wait. A later call of the same host gets its reply after the close has been applied.
        engine.all_sessions()
        other.attach()


def test_a_living_consumer_keeps_its_session_when_the_engine_dies(host):
    engine, consumer, third = host(), host(), host()
    consumer.session()
    engine.kill()
    with pytest.raises(Exception) as caught:
        third.attach()
    assert (caught.value.status, caught.value.detail) == (Status.IN_USE, consumer.pid)
    assert consumer.poll(timeout=0) == []


def test_after_the_death_of_a_consumer_another_process_can_use_its_session(host):
    engine, consumer = host(), host()
    consumer.session()
    consumer.kill()
    engine.attach()


def test_the_error_names_the_process_of_a_stopped_engine(host):
    engine, other = host(), host()
    other.session()
    engine.stop()
    try:
        with pytest.raises(EngineError) as caught:
            other.configuration(timeout=5)
        assert caught.value.status is Status.ENGINE_UNRESPONSIVE
        assert caught.value.process == engine.pid
        newcomer = host(opened=False)
        with pytest.raises(EngineError) as caught:
            newcomer.open(timeout=60)
        assert (caught.value.status, caught.value.process) == (Status.ENGINE_UNRESPONSIVE, engine.pid)
    finally:
        engine.signal(signal.SIGCONT)
    assert until(lambda: outcome(other.configuration), lambda got: got is not None).identifier == "gallery"


def test_the_error_of_a_call_with_a_short_timeout_names_the_stopped_engine(host):
    engine, other, newcomer = host(), host(), host(opened=False)
    other.session()
    engine.stop()
    try:
        for verb in (lambda: other.poll(timeout=1), lambda: newcomer.open(timeout=1)):
            with pytest.raises(EngineError) as caught:
                verb()
            assert (caught.value.status, caught.value.process) == (Status.ENGINE_UNRESPONSIVE, engine.pid)
    finally:
        engine.signal(signal.SIGCONT)
    assert until(lambda: outcome(lambda: other.poll(timeout=0)), lambda got: got is not None) == []


def end_a_task_while_stopped(other, wait, engine, misbehaving, downloads):
    """Begins a wait for attention in `other`, and stops `other`. Then a task ends, so the engine sends a notice, which
    `other` reads when it continues."""
    engine.session()
    other.begin(wait)
    other.stop()
    engine.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    engine.wait_for()


@pytest.mark.parametrize("wait", ["attention_after_edges", "next_attention", "next_attention_async"])
def test_a_session_that_needs_attention_is_reported_even_if_the_engine_replies_late(
        host, misbehaving, downloads, wait):
    engine, other = host(), host()
    end_a_task_while_stopped(other, wait, engine, misbehaving, downloads)
    engine.all_sessions()
    # `other` gets the notice, but no reply to its poll.
    engine.stop()
    other.continue_process()
    assert not other.has_result_within(2)
    engine.continue_process()
    assert other.has_result_within(60)
    found = other.finish()
    assert (found[0] if isinstance(found, list) else found).identifier == "gallery"


@pytest.mark.parametrize("wait", ["next_attention", "next_attention_async"])
def test_a_session_that_needs_attention_is_reported_after_a_process_held_the_store_without_a_reply(
        host, misbehaving, downloads, store, wait):
    engine, other = host(), host()
    end_a_task_while_stopped(other, wait, engine, misbehaving, downloads)
    engine.kill()
    (store / "engine.socket").unlink()
    with FakeEngine(store, b"", exits_on_request=False):
        other.continue_process()
        # The search for an engine fails after five seconds.
        assert not other.has_result_within(7)
    assert other.has_result_within(60)
    assert other.finish().identifier == "gallery"


def outcome(verb):
    try:
        return verb()
    except EngineError:
        return None


def test_two_applications_with_one_engine_get_only_their_own_events(host, misbehaving, downloads):
    one, other = host(), host(identifier="org.example.other")
    for number, each in enumerate((one, other)):
        each.session()
        each.download(misbehaving.serve(f"/{number}", CONTENT), downloads / str(number))
    for number, each in enumerate((one, other)):
        events = each.wait_for()
        assert [event.path for event in events] == [str(downloads / str(number)), None]


def test_no_task_is_lost_when_many_processes_enqueue_at_the_same_time(host, misbehaving, downloads):
    consumer = host()
    consumer.session()
    producers = [host() for _ in range(5)]
    for number, producer in enumerate(producers):
        producer.attach(role=Role.PRODUCE)
        requests = [Request(misbehaving.serve(f"/{number}-{i}", Content(500, i)), downloads / f"{number}-{i}")
                    for i in range(40)]
        producer.begin("enqueue", requests)
    for producer in producers:
        assert len(producer.finish()) == 40
    ended = set()
    while len(ended) < 200:
        events = consumer.poll(timeout=30)
        ended |= {event.path for event in events if not event.is_session_finished}
        consumer.acknowledge_through(events[-1])
    assert len(os.listdir(downloads)) == 200
