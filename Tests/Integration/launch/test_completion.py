"""The possible orders of four steps: enqueue, finish (the end of a task), acknowledge and complete. Each row of the
table in docs/completion.md has a test with the number of the row."""

import os
import re
import signal
from pathlib import Path

import pytest

from backhaul import BackhaulError, Completed, EventsOutstanding, Hosting, LaunchState, Role, Status
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import stop, until
from testbed.rounds import finish_round, finish_round_and_kill, only_launch

QUIET_SECONDS = 1.2


@pytest.fixture
def hosting():
    return Hosting.DAEMON


@pytest.fixture
def launched(launch_listener, hosts):
    """A host that was launched for one finished round of the session "gallery", and has attached this session. Two
    events are unread."""
    finish_round_and_kill(hosts, launch_listener.command())
    host = launch_listener.next().open()
    host.attach("gallery")
    return host


def enqueue(host):
    return host.download("http://127.0.0.1:9/file", suspended=True)


def finish(host, task):
    assert host.cancel([task]) == 1


# MARK: without a launch


def test_row_1_a_session_without_tasks_can_be_completed_twice(hosts):
    host = hosts.start()
    host.session()
    host.complete()
    host.complete()
    host.configuration()


def test_row_2_a_host_can_complete_while_a_task_continues(hosts):
    host = hosts.start()
    host.session()
    task = enqueue(host)
    host.complete()
    finish(host, task)
    assert len(host.wait_for()) == 2


def test_row_3_complete_fails_while_polled_events_are_not_acknowledged(hosts):
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


def test_row_4_the_handle_of_a_host_that_was_not_launched_stays_valid_after_complete(hosts):
    host = hosts.start()
    host.session()
    finish(host, enqueue(host))
    host.acknowledge(host.wait_for())
    host.complete()
    host.complete()
    enqueue(host)


def test_row_5_a_producer_cannot_complete(hosts):
    host = hosts.start()
    host.session(role=Role.PRODUCE)
    with pytest.raises(BackhaulError) as raised:
        host.complete()
    assert raised.value.status == Status.WRONG_ROLE


# MARK: with a launch


def test_row_6_complete_ends_a_launch_after_all_events_are_acknowledged(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    assert launched.current_launch() is None
    launched.exit()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_7_a_launch_continues_while_polled_events_are_not_acknowledged(launch_listener, launched):
    launched.wait_for()
    with pytest.raises(EventsOutstanding) as raised:
        launched.complete()
    assert raised.value.detail == 2
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.configuration()


def test_row_8_a_host_that_completes_before_its_first_poll_is_launched_again(launch_listener, launched):
    launched.complete()
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.exit()
    again = launch_listener.next()
    assert again.open().current_launch().launches == 2
    assert len(again.finish_session("gallery")) == 2


def test_row_9_a_launched_host_acknowledges_events_without_a_poll_and_then_completes(launch_listener, launched):
    newest = launched.all_sessions()[0].events
    assert launched.acknowledge_through(newest) == 2
    launched.complete()
    launched.exit()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_10_complete_ends_the_handle_of_a_launched_host(launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    for verb in (launched.configuration, launched.tasks, lambda: enqueue(launched), launched.wait_for):
        with pytest.raises(Completed):
            verb()
    launched.complete()
    launched.close_session()


def test_row_11_the_same_process_can_attach_the_session_again_after_complete(launched):
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.attach("gallery")
    finish(launched, enqueue(launched))
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.configuration()


def test_row_12_another_process_can_attach_the_session_after_complete(hosts, launched):
    user = hosts.start()
    launched.acknowledge(launched.wait_for())
    launched.complete()
    assert user.session() is False
    finish(user, enqueue(user))
    assert len(user.wait_for()) == 2


def test_row_13_a_waiting_process_gets_the_session_after_complete(hosts, launched):
    user = hosts.start()
    user.begin("attach", "gallery", role=Role.CONSUME_WHEN_FREE)
    assert not user.has_result_within(0.3)
    launched.acknowledge(launched.wait_for())
    launched.complete()
    user.finish()
    user.configuration()


def test_row_14_a_round_that_finishes_after_complete_causes_a_new_launch(
        launch_listener, hosts, launched):
    task = enqueue(launched)
    # The enqueue withdrew the event that the first round has finished.
    launched.acknowledge(launched.wait_for(1))
    launched.complete()
    launched.exit()
    assert launch_listener.no_launch_within(QUIET_SECONDS), "launched although the round has not ended"
    producer = hosts.start(observes=True)
    producer.attach("gallery", role=Role.PRODUCE)
    finish(producer, task)
    again = launch_listener.next()
    assert again.open().current_launch().launches == 1


def test_row_15_events_that_were_not_polled_before_complete_cause_a_new_launch(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    finish(launched, enqueue(launched))
    launched.complete()
    assert [session.identifier for session in launched.current_launch().sessions] == ["gallery"]
    launched.exit()
    assert len(launch_listener.next().open().finish_session("gallery")) == 2


def test_row_16_complete_fails_if_the_host_has_not_acknowledged_the_polled_events_of_a_new_round(launched):
    launched.acknowledge(launched.wait_for())
    finish(launched, enqueue(launched))
    assert len(launched.wait_for()) == 2
    with pytest.raises(EventsOutstanding):
        launched.complete()


def test_row_17_a_launch_continues_until_all_its_sessions_are_completed(launch_listener, hosts):
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


def test_row_18_a_host_that_the_user_started_completes_the_session_and_ends_the_launch(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command())
    launched = launch_listener.next().open()
    user = hosts.start()
    user.attach("gallery")
    user.acknowledge(user.wait_for())
    user.complete()
    assert launched.current_launch() is None
    user.configuration()
    user.kill()
    launched.exit()
    assert launch_listener.no_launch_within(QUIET_SECONDS)


def test_row_19_an_open_challenge_with_an_acknowledged_event_causes_no_further_launch(
        launch_listener, hosts, misbehaving, downloads):
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
    launched.exit()
    assert launch_listener.no_launch_within(QUIET_SECONDS)
    observer = hosts.start(observes=True)
    session, = observer.all_sessions()
    assert (session.open_challenges, session.launch_state) == (1, LaunchState.NONE)


def test_row_20_complete_is_applied_one_time_if_the_engine_dies_before_its_reply(launch_listener, hosts, launched):
    launched.acknowledge(launched.wait_for())
    engine = hosts.engine_process(launched)
    stop(engine)
    launched.begin("complete")
    os.kill(engine, signal.SIGKILL)
    launched.finish()
    launched.complete()
    with pytest.raises(Completed):
        launched.configuration()
    launched.attach("gallery")
    assert launched.current_launch() is None
    until(lambda: only_launch(launched).state, lambda state: state is LaunchState.NONE)


def test_each_row_of_the_table_in_the_document_has_a_test():
    table = (Path(__file__).resolve().parents[3] / "docs" / "completion.md").read_text(encoding="utf-8")
    rows = {int(number) for number in re.findall(r"^\| (\d+) \|", table, flags=re.M)}
    tests = {int(match[1]) for name in globals() if (match := re.match(r"test_row_(\d+)_", name))}
    assert rows == tests
