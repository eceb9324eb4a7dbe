"""Sessions are stored, listed and invalidated. Hosts are notified of sessions with events. The tasks of a session end
in rounds."""

import dataclasses
import os

import pytest

from backhaul import (
    TLS,
    Attention,
    Cookies,
    EventsOutstanding,
    InUse,
    InvalidArgument,
    Invalidated,
    NotFound,
    Reason,
    Redirects,
    ResumableUploads,
    Request,
    RetryErrors,
    RetryPolicy,
    Role,
    SessionConfiguration,
    TLSVersion,
    TaskState,
    TransferRules,
    WrongState,
)
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.counting import CountingServer
from testbed.host import until

pytestmark = pytest.mark.both_hostings

CONTENT = Content(50_000)


def test_the_configuration_is_stored_and_attach_needs_only_the_identifier(host):
    one = host()
    assert one.session(connections_per_origin=3, request_timeout_ms=5_000) is True
    one.kill()
    again = host()
    again.attach()
    remembered = again.configuration()
    assert remembered == SessionConfiguration(
        "gallery",
        retry=RetryPolicy(first_delay_ms=1_000, longest_delay_ms=600_000, jitter_percent=50, errors=RetryErrors(63),
                          unsafe_methods=False, statuses="408,425,429,500,502-504,520-530"),
        rules=TransferRules(request_timeout_ms=5_000, resource_timeout_ms=604_800_000, accepted_statuses="200-299",
                            redirects=Redirects.FOLLOW, maximum_redirects=20, refuses_private_addresses=False,
                            resumable_uploads=ResumableUploads.AUTOMATIC),
        tls=TLS(minimum_version=TLSVersion.TLS_1_2), connections_per_origin=3, maximum_running_tasks=64,
        sends_launch_events=True, asks_for_credentials=False, cookies=Cookies.NONE, history_limit=1_000,
        slow_after_ms=60_000, slow_pause_ms=300_000, discretionary_if_launched=False)


def test_creating_a_session_that_exists_attaches_to_the_session_and_does_not_change_it(host):
    one = host()
    one.session(connections_per_origin=3)
    one.close_session()
    assert one.session(connections_per_origin=9) is False
    assert one.configuration().connections_per_origin == 3


def test_the_configuration_can_be_updated(host, one):
    one.set_configuration(dataclasses.replace(one.configuration(), connections_per_origin=12))
    one.kill()
    again = host()
    again.attach()
    assert again.configuration().connections_per_origin == 12


def test_an_unknown_session_is_not_found(host):
    with pytest.raises(NotFound):
        host().attach("never made")


def test_a_session_identifier_may_be_any_text_and_belongs_to_its_application(host):
    one, other = host(), host(identifier="org.example.other")
    name = "Galerie d'été 📷 " + "x" * 200
    one.session(name)
    with pytest.raises(NotFound):
        other.attach(name)
    assert [info.identifier for info in one.all_sessions()] == [name]
    assert other.all_sessions() == []


def test_a_listing_counts_the_unfinished_tasks_and_the_events_of_each_session(host, misbehaving, downloads):
    one = host()
    one.session("waiting")
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", suspended=True)
    one.session("done")
    one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    one.wait_for()
    infos = {info.identifier: info for info in one.all_sessions()}
    waiting, done = infos["waiting"], infos["done"]
    assert (waiting.live_tasks, waiting.events, waiting.attention, waiting.round) == (1, 0, 0, 1)
    assert (done.live_tasks, done.events, done.attention) == (0, 2, Attention.EVENTS | Attention.FINISHED)
    assert {info.consumer for info in infos.values()} == {one.pid}


def test_a_host_is_notified_about_a_session_that_it_has_not_attached(host, misbehaving, downloads):
    one, other = host(), host()
    one.session()
    one.close_session()
    assert other.attention() == []
    one.attach(role=Role.PRODUCE)
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    infos = other.attention(timeout=30)
    assert [info.identifier for info in infos] == ["gallery"]
    assert infos[0].attention & Attention.EVENTS


def test_each_round_ends_with_one_event_and_all_events_of_the_round_have_its_number(misbehaving, downloads, one):
    seen = []
    for number in (1, 2, 3):
        names = [f"{number}-{i}" for i in range(3)]
        one.enqueue([Request(misbehaving.serve(f"/{name}", CONTENT), downloads / name) for name in names])
        events = one.wait_for()
        assert [event.round for event in events] == [number] * 4
        assert [event.is_session_finished for event in events] == [False] * 3 + [True]
        one.acknowledge(events)
        one.complete()
        seen += events
    assert [event.id for event in seen] == sorted({event.id for event in seen})


def test_a_new_task_belongs_to_the_next_round_even_if_the_last_round_is_not_acknowledged(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    first = one.wait_for()
    one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    second = one.wait_for(count=3)
    assert [(event.round, event.is_session_finished) for event in first] == [(1, False), (1, True)]
    assert [(event.round, event.is_session_finished) for event in second] == [(1, False), (2, False), (2, True)]


def test_a_host_that_reads_until_the_session_is_finished_waits_for_the_tasks_that_it_has_added(
        host, misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    one.wait_for()
    one.kill()
    again = host()
    again.attach()
    again.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    assert [event.round for event in again.wait_for(count=3)] == [1, 2, 2]
    assert (downloads / "b").read_bytes() == (downloads / "a").read_bytes()


def test_the_keys_of_a_round_are_free_after_an_event_of_the_next_round_is_acknowledged(misbehaving, downloads, one):
    def is_new(name, key):
        [result] = one.enqueue([Request(misbehaving.serve(f"/{name}", CONTENT), downloads / name, key=key)])
        return result.is_new

    assert is_new("a", "a")
    one.acknowledge(one.wait_for()[:1])
    assert is_new("b", "b") and not is_new("a", "a")
    one.acknowledge([event for event in one.wait_for() if event.key == "b"])
    assert is_new("c", "a")


def test_polling_again_returns_the_same_events_until_they_are_acknowledged(misbehaving, downloads, one):
    one.enqueue([Request(misbehaving.serve(f"/{i}", CONTENT), downloads / str(i)) for i in range(4)])
    events = one.wait_for()
    assert one.poll(timeout=0) == events
    assert one.poll(events[1].id, timeout=0) == events[2:]
    assert one.poll(0, 2, timeout=0) == events[:2]
    assert one.acknowledge(events[1:2]) == 1
    assert one.acknowledge(events[1:2]) == 0
    assert one.poll(timeout=0) == [events[0], *events[2:]]
    assert one.acknowledge_through(events[-1]) == 4
    assert one.poll(timeout=0) == []


def test_unacknowledged_events_are_delivered_to_the_next_process(host, misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", key="a", user_data=b"1")
    events = one.wait_for()
    one.kill()
    again = host()
    again.attach()
    assert again.poll(timeout=0) == events
    again.acknowledge_through(events[-1])
    again.kill()
    last = host()
    last.attach()
    assert last.poll(timeout=0) == []


def test_events_can_be_acknowledged_by_a_stored_id_without_polling(host, misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    cursor = one.wait_for()[-1].id
    one.kill()
    again = host()
    again.attach()
    assert again.acknowledge_through(cursor) == 2
    assert again.poll(timeout=0) == []


def test_acknowledging_an_acknowledged_event_again_has_no_effect(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    events = one.wait_for()
    assert one.acknowledge(events) == 2
    assert one.acknowledge(events) == 0
    assert one.acknowledge_through(events[-1].id) == 0


def test_acknowledging_an_event_that_does_not_exist_yet_is_refused(one):
    with pytest.raises(InvalidArgument, match="no event"):
        one.acknowledge([1])
    with pytest.raises(InvalidArgument, match="no event"):
        one.acknowledge_through(2**62)


def test_completing_a_session_with_unacknowledged_events_fails_and_reports_their_number(misbehaving, downloads, one):
    one.complete()
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    events = one.wait_for()
    with pytest.raises(EventsOutstanding) as caught:
        one.complete()
    assert caught.value.detail == 2
    one.acknowledge(events)
    one.complete()
    one.complete()


def test_a_session_has_one_consumer_and_many_producers_and_observers(host, misbehaving, downloads):
    one, other = host(), host()
    one.session()
    with pytest.raises(InUse) as caught:
        other.attach()
    assert caught.value.process == one.pid
    other.attach(role=Role.PRODUCE)
    other.download(misbehaving.serve("/a", CONTENT), downloads / "a")
    with pytest.raises(WrongState):
        other.poll(timeout=0)
    other.attach(role=Role.OBSERVE)
    assert len(other.tasks()) == 1
    with pytest.raises(WrongState):
        other.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    with pytest.raises(WrongState):
        other.cancel()
    one.close_session()
    # Closing does not wait. A later call of the same host gets its reply after the close has been applied.
    one.all_sessions()
    other.attach()
    assert [event.is_session_finished for event in other.wait_for()] == [False, True]


def test_a_listing_shows_the_state_of_each_task_and_why_a_task_does_not_run(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    slow = Behaviour(stall_after=20_000)
    moving = one.download(misbehaving.serve("/a", CONTENT, otherwise=slow), downloads / "a", priority=1)
    waiting = one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    held = one.download(misbehaving.serve("/c", CONTENT), downloads / "c", suspended=True)
    misbehaving.wait_until(lambda log: log and log[0].sent == 20_000)
    until(lambda: one.task(moving), lambda info: info.size)
    infos = {info.id: info for info in one.tasks()}
    assert sorted(infos) == [moving, waiting, held]
    assert infos[moving].state is TaskState.RUNNING
    assert infos[moving].size == CONTENT.size
    assert (infos[waiting].state, infos[waiting].reason) == (TaskState.WAITING, Reason.SLOT)
    assert (infos[held].state, infos[held].reason) == (TaskState.SUSPENDED, Reason.SUSPENDED)
    assert infos[waiting].reason_text and infos[held].reason_text
    assert [info.id for info in one.tasks(states=[TaskState.SUSPENDED])] == [held]
    assert [info.id for info in one.tasks([waiting, held])] == [waiting, held]
    assert one.task(held).user_data == b""


def test_suspended_tasks_keep_their_bytes_and_resume_from_them(host, misbehaving, downloads):
    content = Content(3_000_000)
    url = misbehaving.serve("/a", content, [Behaviour(stall_after=2_500_000)])
    one = host()
    one.session()
    task = one.download(url, downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 2_500_000)
    until(lambda: one.task(task), lambda info: info.offset >= 2_000_000)
    assert one.suspend([task]) == 1
    assert one.suspend([task]) == 0
    assert one.task(task).state is TaskState.SUSPENDED
    assert one.resume([task]) == 1
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert misbehaving.log()[1].offset >= 2_000_000
    assert sha256_of(downloads / "a") == content.sha256


def test_cancelled_tasks_end_as_cancelled_without_a_file(misbehaving, downloads, one):
    tasks = [one.download(misbehaving.serve(f"/{i}", CONTENT, otherwise=Behaviour(stall_after=10_000)),
                          downloads / str(i)) for i in range(3)]
    misbehaving.wait_until(lambda log: len(log) == 3)
    assert one.cancel(tasks[:1]) == 1
    assert one.cancel(tasks[:1]) == 0
    assert one.cancel() == 2
    events = one.wait_for()
    assert [(event.state, event.status.name) for event in events[:-1]] == [(TaskState.CANCELLED, "CANCELLED")] * 3
    # The engine removes the part files after it has sent the events.
    until(lambda: os.listdir(downloads), lambda names: names == [])


def test_tasks_with_a_higher_priority_run_first(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1, maximum_running_tasks=1)
    blocker = Behaviour(stall_after=0)
    first = one.download(misbehaving.serve("/blocker", CONTENT, otherwise=blocker), downloads / "blocker")
    misbehaving.wait_until(lambda log: len(log) == 1)
    for name, priority in {"low": -5, "normal": 0, "high": 5}.items():
        one.download(misbehaving.serve(f"/{name}", CONTENT), downloads / name, priority=priority)
    late = one.download(misbehaving.serve("/late", CONTENT), downloads / "late", priority=-100)
    one.set_priority(100, [late])
    one.cancel([first])
    one.wait_for()
    assert [asked.path for asked in misbehaving.log()] == ["/blocker", "/late", "/high", "/normal", "/low"]


def test_connections_to_an_origin_obey_the_configured_limit(host, downloads):
    one = host()
    one.session(connections_per_origin=3)
    with CountingServer(CONTENT) as server:
        one.enqueue([Request(f"{server.url}/{i}", downloads / str(i)) for i in range(12)])
        until(lambda: server.open_requests, lambda count: count >= 3)
        # When the reply has arrived, each task that could start has started.
        assert len(one.tasks(states=[TaskState.RUNNING])) == 3
        server.release()
        one.wait_for()
        assert server.most_requests == 3


def test_an_invalidated_session_is_removed_after_all_its_events_are_acknowledged(host, misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(pace=200_000)), downloads / "a")
    one.invalidate()
    with pytest.raises(Invalidated):
        one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    events = one.wait_for()
    assert events[0].state is TaskState.SUCCEEDED
    assert one.all_sessions()[0].is_invalidated
    one.acknowledge(events)
    assert one.all_sessions() == []
    assert host().session() is True


def test_invalidating_a_session_can_also_cancel_its_tasks(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(stall_after=10)), downloads / "a")
    one.invalidate(cancel=True)
    events = one.wait_for()
    assert events[0].state is TaskState.CANCELLED
    # The engine removes the part files after it has sent the events.
    until(lambda: os.listdir(downloads), lambda names: names == [])


def test_only_the_user_can_read_the_store(misbehaving, downloads, store, one):
    one.download(misbehaving.serve("/a", CONTENT))
    one.wait_for()
    assert store.stat().st_mode & 0o777 == 0o700
    modes = {path.relative_to(store): path.stat().st_mode & 0o777 for path in store.rglob("*")}
    assert all(mode & 0o077 == 0 for path, mode in modes.items() if path.parts[0] != "kept"), modes


def test_a_round_ends_without_a_task_that_is_set_aside_and_the_next_engine_continues_the_task(host, misbehaving, one):
    kept, other = (misbehaving.serve(path, Content(100)) for path in ("/kept", "/other"))
    task = one.enqueue([Request(kept, suspended=True)])[0].task_id
    one.enqueue([Request(other)])
    assert one.set_aside([task]) == 1
    events = one.wait_for(2)
    assert [event.round for event in events] == [1, 1]
    one.acknowledge(events)
    assert (one.task(task).state, one.task(task).reason) == (TaskState.WAITING, Reason.SUSPENDED)
    one.kill_with_engine()
    again = host()
    again.attach()
    assert again.resume([task]) == 1
    events = again.wait_for()
    assert [event.round for event in events] == [2, 2] and events[0].task_id == task
