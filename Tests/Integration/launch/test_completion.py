"""The possible orders of enqueue, finish, acknowledge and complete. Each row of the table in docs/completion.md has a
test with its number."""

import os
import re
import signal
from pathlib import Path

import pytest

from backhaul import BackhaulError, Completed, EventsOutstanding, Hosting, LaunchState, Role, Status
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until
from testbed.rounds import finish_round, finish_round_and_kill, only_launch

QUIET_SECONDS = 1.2


@pytest.fixture
def hosting():
    return Hosting.DAEMON


@pytest.fixture
def launched(launch_listener, hosts):
    """A host that was launched for one finished round of "gallery" and has attached it. Two events are unread."""
    finish_round_and_kill(hosts, launch_listener.command())
    host = launch_listener.next().open()
    host.attach("gallery")
    return host


def enqueue(host):
    return host.download("http://127.0.0.1:9/file", suspended=True)


def finish(host, task):
    assert host.cancel([task]) == 1


# MARK: without a launch


def test_row_1_nothing_was_ever_enqueued(hosts):
    host = hosts.start()
    host.session()
    host.complete()
    host.complete()
    host.configuration()


def test_row_2_enqueue_complete(hosts):
    host = hosts.start()
    host.session()
    task = enqueue(host)
    host.complete()
    finish(host, task)
    assert len(host.wait_for()) == 2


def test_row_3_enqueue_finish_hand_out_complete(hosts):
    host = hosts.start()
    host.session()
    finish(host, enqueue(host))
    events = host.wait_for()
    with pytest.raises(EventsOutstanding) as raised:
        host.complete()
    assert raised.value.detail == len(events) == 2
    host.acknowledge(events[:1])
    with pytest.raises(EventsOutstanding) as raised:
        host.complete()
    assert raised.value.detail == 1


def test_row_4_enqueue_finish_hand_out_acknowledge_complete(hosts):
    host = hosts.start()
    host.session()
    finish(host, enqueue(host))
    host.acknowledge(host.wait_for())
    host.complete()
    host.complete()
    enqueue(host)


def test_row_5_complete_by_a_producer(hosts):
    host = hosts.start()
    host.session(role=Role.PRODUCE)
    with pytest.raises(BackhaulError) as raised:
        host.complete()
    assert raised.value.status == Status.WRONG_ROLE


# MARK: by a launched host


def test_row_6_launched_acknowledge_complete(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    assert launched.current_launch() is None
    launched.leave()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_7_launched_hand_out_complete(launch_listener, launched):
    launched.wait_for()
    with pytest.raises(EventsOutstanding) as raised:
        launched.complete()
    assert raised.value.detail == 2
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.configuration()


def test_row_8_launched_complete_before_anything_was_handed_out(launch_listener, launched):
    launched.complete()
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.leave()
    again = launch_listener.next()
    assert again.open().current_launch().launches == 2
    assert len(again.finish_session("gallery")) == 2


def test_row_9_launched_acknowledge_by_a_kept_cursor_complete(launch_listener, launched):
    newest = launched.all_sessions()[0].events
    assert launched.acknowledge_through(newest) == 2
    launched.complete()
    launched.leave()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_10_launched_complete_then_the_handle(launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    for verb in (launched.configuration, launched.tasks, lambda: enqueue(launched), launched.wait_for):
        with pytest.raises(Completed):
            verb()
    launched.complete()
    launched.close_session()


def test_row_11_launched_complete_then_attach_in_this_process(launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.attach("gallery")
    finish(launched, enqueue(launched))
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.configuration()


def test_row_12_launched_complete_then_create_in_another_process(hosts, launched):
    user = hosts.start()
    launched.acknowledge(launched.wait_for())
    launched.complete()
    assert user.session() is False
    finish(user, enqueue(user))
    assert len(user.wait_for()) == 2


def test_row_13_launched_complete_while_another_waits_for_the_session(hosts, launched):
    user = hosts.start()
    user.begin("attach", "gallery", role=Role.CONSUME_WHEN_FREE)
    assert not user.has_result_within(0.3)
    launched.acknowledge(launched.wait_for())
    launched.complete()
    user.finish()
    user.configuration()


def test_row_14_launched_enqueue_acknowledge_complete_and_the_next_round_finishes_later(
        launch_listener, hosts, launched):
    task = enqueue(launched)
    launched.acknowledge(launched.wait_for(2))
    launched.complete()
    launched.leave()
    assert launch_listener.no_launch_within(QUIET_SECONDS), "launched although the round has not ended"
    producer = hosts.start(observes=True)
    producer.attach("gallery", role=Role.PRODUCE)
    finish(producer, task)
    again = launch_listener.next()
    assert again.open().current_launch().launches == 1


def test_row_15_launched_acknowledge_enqueue_finish_complete(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    finish(launched, enqueue(launched))
    launched.complete()
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.leave()
    assert len(launch_listener.next().open().finish_session("gallery")) == 2


def test_row_16_launched_acknowledge_enqueue_finish_hand_out_complete(launched):
    launched.acknowledge(launched.wait_for())
    finish(launched, enqueue(launched))
    assert len(launched.wait_for()) == 2
    with pytest.raises(EventsOutstanding):
        launched.complete()


def test_row_17_launched_for_two_and_one_is_completed(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    finish_round(host, "first")
    finish_round(host, "second")
    host.kill()
    launched = launch_listener.next().open()
    launched.attach("second")
    launched.finish_session("first")
    launched.close_session()
    launched.configuration()
    assert [session.identifier for session in launched.current_launch().sessions] == ["second"]
    launched.kill()
    again = launch_listener.next().open()
    assert [session.identifier for session in again.current_launch().sessions] == ["second"]


def test_row_18_the_users_host_completes_what_the_launched_one_has_not_attached(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command())
    launched = launch_listener.next().open()
    user = hosts.start()
    user.attach("gallery")
    user.acknowledge(user.wait_for())
    user.complete()
    assert launched.current_launch() is None
    user.configuration()
    user.kill()
    launched.leave()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_19_a_challenge_is_seen_and_left_open(launch_listener, hosts, misbehaving, downloads):
    asks = Behaviour(status=401, headers={"WWW-Authenticate": 'Basic realm="gallery"'})
    host = hosts.start(launch=launch_listener.command())
    host.session(asks_for_credentials=True)
    host.download(misbehaving.serve("/a", Content(10), otherwise=asks), downloads / "a")
    until(lambda: host.all_sessions()[0].open_challenges, lambda count: count == 1)
    assert launch_listener.no_launch_within(QUIET_SECONDS), "launched although its host is connected"
    host.kill()
    launched = launch_listener.next().open()
    assert launched.current_launch().attention.name == "CHALLENGE"
    launched.attach("gallery")
    launched.acknowledge(launched.wait_for(1))
    launched.complete()
    launched.leave()
    assert launch_listener.no_launch_within(QUIET_SECONDS)
    observer = hosts.start(observes=True)
    session, = observer.all_sessions()
    assert (session.open_challenges, session.launch_state) == (1, LaunchState.NONE)


def test_row_20_the_engine_dies_in_between(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    engine = hosts.engine_process(launched)
    os.kill(engine, signal.SIGSTOP)
    launched.begin("complete")
    os.kill(engine, signal.SIGKILL)
    launched.finish()
    launched.complete()
    with pytest.raises(Completed):
        launched.configuration()
    launched.attach("gallery")
    assert launched.current_launch() is None
    until(lambda: only_launch(launched).state, lambda state: state is LaunchState.NONE)


def test_each_row_of_the_table_has_its_test():
    table = (Path(__file__).resolve().parents[3] / "docs" / "completion.md").read_text(encoding="utf-8")
    rows = {int(number) for number in re.findall(r"^\| (\d+) \|", table, flags=re.M)}
    tests = {int(match[1]) for name in globals() if (match := re.match(r"test_row_(\d+)_", name))}
    assert rows == tests
