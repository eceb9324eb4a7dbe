"""Launched hosts that fail: the engine launches them again with growing delays. After some failures, the engine stops
launching them.

A launch has failed if the program attaches no session of the launch in time. A launch has also failed if the program
ends before it has processed all events of at least one of these sessions.
"""

import signal
import time

import pytest

from backhaul import Hosting, LaunchState, Role
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until
from testbed.rounds import finish_round, finish_round_and_kill, only_launch


@pytest.fixture
def hosting():
    return Hosting.DAEMON


def test_the_launch_delay_doubles_up_to_its_limit_and_then_the_engine_stops_launching(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(
        first_delay_ms=400, longest_delay_ms=1_000, maximum_launches=4))
    observer = hosts.start(observes=True)
    ended, pauses = None, []
    for number in range(1, 5):
        launched = launch_listener.next()
        if ended is not None:
            pauses.append(time.monotonic() - ended)
        launched.open()
        assert launched.current_launch().launches == number
        launched.attach("gallery")
        # The engine may notice the end before this process runs again.
        ended = time.monotonic()
        launched.kill()
    # On a busy machine the engine may start the next launch late, so only the lower bounds of the pauses are checked.
    assert all(least <= pause for least, pause in zip((0.35, 0.75, 0.95), pauses)), pauses
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    assert only_launch(observer).launches == 4
    assert only_launch(observer).error_message == "the launched program ended without completing its sessions"
    session, = observer.all_sessions()
    assert (session.launch_state, session.events) == (LaunchState.GAVE_UP, 2)
    assert launch_listener.no_launch_within(1.5)


def test_the_connection_of_a_host_that_the_user_started_resets_the_count_of_launches(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(
        first_delay_ms=60_000, longest_delay_ms=60_000, maximum_launches=1))
    observer = hosts.start(observes=True)
    launch_listener.next().kill()
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    user = hosts.start()
    assert (only_launch(observer).launches, only_launch(observer).state) == (0, LaunchState.NONE)
    user.kill()
    assert launch_listener.next().open().current_launch().launches == 1


def test_a_launch_counts_as_failed_if_its_host_completes_only_other_sessions(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(first_delay_ms=300, longest_delay_ms=300, maximum_launches=3))
    observer = hosts.start(observes=True)
    for number in range(1, 4):
        launched = launch_listener.next().open()
        assert launched.current_launch().launches == number
        launched.session("another")
        launched.complete()
        launched.kill()
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    assert launch_listener.no_launch_within(1.0)


def test_a_new_command_for_a_delayed_launch_runs_at_once_and_resets_the_count_of_launches(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(first_delay_ms=60_000, longest_delay_ms=60_000))
    observer = hosts.start(observes=True)
    launch_listener.next().kill()
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.DUE)
    observer.set_launch(launch_listener.command(first_delay_ms=50_000, longest_delay_ms=60_000))
    assert only_launch(observer).error_message is None
    assert launch_listener.next().open().current_launch().launches == 1


def test_a_listing_shows_the_time_of_the_next_launch(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(first_delay_ms=60_000, longest_delay_ms=60_000))
    observer = hosts.start(observes=True)
    launch_listener.next().kill()
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.DUE)
    session, = observer.all_sessions()
    assert session.launch_state is LaunchState.DUE
    for next_launch_ms in (only_launch(observer).next_launch_ms, session.next_launch_ms):
        assert 0 < next_launch_ms - time.time() * 1_000 < 60_100
    assert only_launch(observer).error_message == "the launched program ended before it attached a session"


@pytest.mark.parametrize("program, reason", [
    ("/nowhere/photos", "/nowhere/photos cannot be run: No such file or directory"),
    ("/etc/passwd", "/etc/passwd cannot be run: Permission denied"),
    ("/etc", "/etc cannot be run: Permission denied"),
], ids=["missing", "no program", "a directory"])
def test_a_launch_of_a_program_that_cannot_run_counts_as_failed_and_the_reason_is_listed(
        launch_listener, hosts, program, reason):
    finish_round_and_kill(hosts, launch_listener.command(program=program, arguments=[], maximum_launches=2))
    observer = hosts.start(observes=True)
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    info = only_launch(observer)
    assert (info.launches, info.process_id) == (2, None)
    assert reason in info.error_message


def test_a_missing_working_directory_is_reported(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(working_directory="/nowhere", maximum_launches=1))
    observer = hosts.start(observes=True)
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    assert "in the directory /nowhere: No such file or directory" in only_launch(observer).error_message


def test_a_corrected_launch_command_runs_after_the_engine_has_stopped_launching(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(program="/nowhere/photos", maximum_launches=1))
    observer = hosts.start(observes=True)
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    host = hosts.start(launch=launch_listener.command())
    host.kill()
    launch_listener.next().open().finish_session("gallery")


def test_a_launch_counts_as_failed_if_its_program_exits_at_once(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(
        program="/bin/false", arguments=[], first_delay_ms=50, maximum_launches=3))
    observer = hosts.start(observes=True)
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    assert only_launch(observer).launches == 3
    assert only_launch(observer).error_message == "the launched program ended before it attached a session"


def test_a_program_that_attaches_no_session_gets_sigterm_and_is_launched_again(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=10_000))
    observer = hosts.start(observes=True)
    launched = launch_listener.next()
    launched.wait(60)
    until(lambda: only_launch(observer).error_message, bool)
    assert only_launch(observer).error_message == \
        "the launched program attached no session within 10000 ms and was ended"
    assert launch_listener.next().pid != launched.pid


def test_a_program_that_ignores_sigterm_is_killed_after_ten_seconds(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command(
        program="/bin/sh", arguments=launch_listener.shell("trap '' TERM; exec \"$@\""), attach_timeout_ms=4_000))
    finish_round(host)
    # The engine launches the program when the host is killed.
    began = time.monotonic()
    host.kill()
    launched = launch_listener.next()
    launched.wait(60)
    assert 13.9 < time.monotonic() - began
    launch_listener.next()


def test_a_stopped_program_that_attaches_no_session_is_killed(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=10_000))
    launched = launch_listener.next()
    launched.signal(signal.SIGSTOP)
    launched.wait(60)
    launch_listener.next()


def test_a_program_that_has_attached_a_session_may_close_its_connection_and_continue_to_run(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=12_000))
    launched = launch_listener.next()
    launched.open()
    launched.attach("gallery")
    launched.close()
    assert launch_listener.no_launch_within(13)
    assert not launched.has_ended()
    launched.exit()
    launch_listener.next()


def test_a_launched_program_is_ended_if_it_attaches_a_session_without_the_right_to_read_events(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(attach_timeout_ms=10_000))
    launched = launch_listener.next()
    launched.open()
    launched.attach("gallery", role=Role.PRODUCE)
    launched.wait(60)


@pytest.mark.parametrize("script", ['"$@" & exit 0', '"$@"; exit 3', '(sleep 0.5; exec "$@") & exit 0'],
                         ids=["leaves at once", "waits", "starts it later"])
def test_a_shell_script_and_the_host_that_it_starts_count_as_one_launch(launch_listener, hosts, script):
    finish_round_and_kill(hosts, launch_listener.command(
        program="/bin/sh", arguments=launch_listener.shell(script), first_delay_ms=3_000, longest_delay_ms=3_000))
    launched = launch_listener.next()
    launched.open()
    assert launched.current_launch().launches == 1
    launched.attach("gallery")
    assert launch_listener.no_launch_within(4)
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.exit()
    observer = hosts.start(observes=True)
    assert (only_launch(observer).state, only_launch(observer).launches) == (LaunchState.NONE, 0)


def test_a_host_that_acknowledged_all_events_is_not_launched_again(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command())
    launched = launch_listener.next()
    launched.open()
    launched.attach("gallery")
    launched.acknowledge(launched.wait_for())
    launched.kill()
    assert launch_listener.no_launch_within(1.5)
    observer = hosts.start(observes=True)
    assert (only_launch(observer).state, only_launch(observer).launches) == (LaunchState.NONE, 0)


def test_the_exit_of_a_launched_host_causes_a_launch_at_once_if_another_round_has_finished(launch_listener, hosts):
    command = launch_listener.command(first_delay_ms=60_000, longest_delay_ms=60_000)
    finish_round_and_kill(hosts, command, "first")
    launched = launch_listener.next()
    launched.open()
    finish_round(launched, "second")
    launched.finish_session("first")
    launched.exit()
    again = launch_listener.next().open()
    assert [session.identifier for session in again.current_launch().sessions] == ["second"]


def test_a_host_with_a_wrong_value_of_backhaul_launch_does_not_count_as_launched(launch_listener, hosts):
    finish_round_and_kill(hosts, launch_listener.command(program="/bin/sh", arguments=launch_listener.shell(
        'BACKHAUL_LAUNCH=1-abc; export BACKHAUL_LAUNCH; exec "$@"')))
    launched = launch_listener.next()
    launched.open()
    assert launched.current_launch() is None
    launched.attach("gallery")
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.complete()
    launched.configuration()


def launches_have_stopped(observer, killed):
    """Waits until another program than the killed one runs or the engine has stopped launching. Returns whether the
    engine has stopped launching."""
    def is_settled(info):
        return info.state is LaunchState.GAVE_UP or (
            info.state is LaunchState.RUNNING and info.process_id != killed.pid)
    return until(lambda: only_launch(observer), is_settled).state is LaunchState.GAVE_UP


def test_launches_count_as_failed_if_their_hosts_repeat_wrong_credentials(
        launch_listener, hosts, misbehaving, downloads):
    asks = Behaviour(status=401, headers={"WWW-Authenticate": 'Basic realm="vault"'})
    url = misbehaving.serve("/secret", Content(10), otherwise=asks)
    host = hosts.start(launch=launch_listener.command(first_delay_ms=300, longest_delay_ms=300, maximum_launches=2))
    host.session("gallery", asks_for_credentials=True, first_delay_ms=10, longest_delay_ms=10)
    host.download(url, downloads / "secret")
    until(lambda: host.all_sessions()[0].open_challenges, lambda count: count == 1)
    host.kill()
    observer = hosts.start(observes=True)
    launched = None
    # Each challenge causes a launch. If the first launched host completes its session before the server refuses the
    # credential, the first launch does not count as failed. Then the next challenge causes a launch at once. If the
    # server refuses the credential earlier, the first launch counts as failed. Each later launch always counts as
    # failed.
    for number in range(3):
        if number == 2 and launches_have_stopped(observer, launched):
            break
        launched = launch_listener.next().open()
        launched.attach("gallery")
        challenge, = launched.challenges()
        launched.respond(challenge.id, user="me", password="wrong")
        launched.complete()
        launched.kill()
    until(lambda: only_launch(observer).state, lambda state: state is LaunchState.GAVE_UP)
    assert launch_listener.no_launch_within(1.0)
