"""Launches while the user starts the same program, or while a host is stopped by SIGSTOP."""

import signal
import time

import pytest

from backhaul import Attention, Hosting, InUse, LaunchState, Role
from testbed.host import until
from testbed.rounds import finish_round, finish_round_and_kill, only_launch


@pytest.fixture
def hosting():
    return Hosting.DAEMON


# MARK: the user starts the program


def test_the_users_program_gets_the_session_when_the_launched_program_completes_it(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command())
    launched = launch_listener.next().open()
    launched.attach("gallery")
    user = hosts.start()
    assert user.current_launch() is None
    with pytest.raises(InUse) as raised:
        user.attach("gallery")
    assert raised.value.detail == launched.pid
    user.begin("attach", "gallery", role=Role.CONSUME_WHEN_FREE)
    asked = until(launched.attention, lambda infos: infos and Attention.YIELD in infos[0].attention)
    assert asked[0].waiting_consumers == 1
    launched.acknowledge(launched.wait_for())
    launched.complete()
    user.finish()
    user.close()
    user.exit()
    launched.exit()
    assert launch_listener.no_launch_within(1.2)


def test_a_launched_program_is_not_ended_while_another_host_uses_its_session(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=12_000))
    launched = launch_listener.next()
    user = hosts.start()
    user.attach("gallery")
    launched.open()
    with pytest.raises(InUse) as raised:
        launched.attach("gallery")
    assert raised.value.detail == user.pid
    assert launch_listener.no_launch_within(13)
    assert not launched.has_ended(), "the launched program was ended although the session was in use"
    user.acknowledge(user.wait_for())
    user.complete()
    user.close()
    assert launched.current_launch() is None
    launched.exit()
    assert launch_listener.no_launch_within(1.2)


def test_a_launched_program_that_waited_for_the_session_counts_as_a_program_that_attached_it(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=12_000))
    launched = launch_listener.next()
    user = hosts.start()
    user.attach("gallery")
    launched.open()
    launched.begin("attach", "gallery", role=Role.CONSUME_WHEN_FREE)
    until(user.attention, lambda infos: infos and Attention.YIELD in infos[0].attention)
    user.kill()
    launched.finish()
    launched.close()
    assert launch_listener.no_launch_within(13)
    assert not launched.has_ended(), "the launched program was ended although it had attached"


def test_the_launched_program_can_use_the_session_if_the_users_program_does_not_attach_it(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command())
    launched = launch_listener.next()
    user = hosts.start()
    user.kill()
    launched.open().finish_session("gallery")
    launched.exit()
    assert launch_listener.no_launch_within(1.2)


def test_a_removed_launch_command_causes_no_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    finish_round(host)
    host.set_launch(None)
    assert host.launches() == []
    host.kill()
    assert launch_listener.no_launch_within(2)
    late = hosts.start(launch=launch_listener.command())
    late.kill()
    launch_listener.next()


def test_a_command_that_a_launched_program_registers_keeps_the_state_and_the_count_of_launches(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(environment={"WHO": "first"}))
    launched = launch_listener.next()
    launched.open(launch=launch_listener.command(environment={"WHO": "second"}))
    info = only_launch(launched)
    assert (info.environment["WHO"], info.state, info.launches) == ("second", LaunchState.RUNNING, 1)
    launched.kill()
    assert launch_listener.next().environment["WHO"] == "second"


# MARK: stopped hosts


def test_a_listing_shows_the_time_at_which_a_consumer_was_stopped(launch_listener, hosts):
    host, observer = hosts.start(launch=launch_listener.command()), hosts.start(observes=True)
    host.session()
    assert observer.all_sessions()[0].consumer_stopped_ms == 0
    host.stop()
    first = observer.all_sessions()[0].consumer_stopped_ms
    assert abs(first - time.time() * 1_000) < 10_000
    time.sleep(0.05)
    assert observer.all_sessions()[0].consumer_stopped_ms == first
    host.signal(signal.SIGCONT)
    until(lambda: observer.all_sessions()[0].consumer_stopped_ms, lambda moment: moment == 0)


def test_the_listed_time_of_a_stop_is_the_time_of_the_first_event_after_the_stop(launch_listener, hosts):
    host, other = hosts.start(), hosts.start()
    host.session()
    other.attach(role=Role.PRODUCE)
    host.stop()
    task = other.download("http://127.0.0.1:9/file", suspended=True)
    before = time.time() * 1_000
    other.cancel([task])
    # When the reply to this call has arrived, the engine has sent the event, and has checked the consumer.
    other.tasks()
    after = time.time() * 1_000
    time.sleep(1)
    assert before - 1 <= hosts.start(observes=True).all_sessions()[0].consumer_stopped_ms <= after


def test_a_stopped_consumer_prevents_a_launch_by_default(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    host.session()
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    other = hosts.start()
    other.attach(role=Role.PRODUCE)
    host.stop()
    other.cancel([task])
    other.kill()
    assert launch_listener.no_launch_within(2)


def test_a_consumer_that_is_stopped_for_longer_than_the_limit_does_not_prevent_a_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    host.session(launch_if_stopped_ms=2_000)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    other = hosts.start()
    other.attach(role=Role.PRODUCE)
    began = time.monotonic()
    host.stop()
    other.cancel([task])
    other.kill()
    launched = launch_listener.next()
    assert time.monotonic() - began > 1.9, "launched before the limit"
    launched.open()
    with pytest.raises(InUse) as raised:
        launched.attach("gallery")
    assert raised.value.detail == host.pid
    session, = launched.current_launch().sessions
    assert session.consumer_stopped_ms > 0


def test_a_consumer_that_is_stopped_after_a_finished_round_causes_a_launch_without_a_new_event(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    host.session(launch_if_stopped_ms=1_000)
    host.cancel([host.download("http://127.0.0.1:9/file", suspended=True)])
    assert launch_listener.no_launch_within(2.5), "launched although the consumer runs"
    host.stop()
    launch_listener.next()
