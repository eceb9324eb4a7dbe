"""Launched hosts that fail: the engine launches them again with growing delays, and then stops launching them."""

import signal
import time

import pytest

from backhaul import Hosting, LaunchState, Role
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until
from testbed.rounds import finish_round, hand_over, the_launch


@pytest.fixture
def hosting():
    return Hosting.DAEMON


def test_the_launch_delay_doubles_up_to_its_limit_and_then_launches_stop(stage, hosts):
    hand_over(hosts, stage.command(first_delay_ms=400, longest_delay_ms=1_000, maximum_launches=4))
    looker = hosts.start(observes=True)
    ended, pauses = None, []
    for number in range(1, 5):
        launched = stage.next()
        if ended is not None:
            pauses.append(time.monotonic() - ended)
        launched.open()
        assert launched.current_launch().launches == number
        launched.attach("gallery")
        launched.kill()
        ended = time.monotonic()
    # On a busy machine the engine may start the next launch late, so only the lower bounds of the pauses are checked.
    assert all(least <= pause for least, pause in zip((0.35, 0.75, 0.95), pauses)), pauses
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    assert the_launch(looker).launches == 4
    assert the_launch(looker).error_message == "the launched program ended without completing its sessions"
    session, = looker.all_sessions()
    assert (session.launch_state, session.events) == (LaunchState.GAVE_UP, 2)
    assert stage.nobody_comes(1.5)


def test_a_host_that_connects_by_itself_resets_the_launch_backoff(stage, hosts):
    hand_over(hosts, stage.command(first_delay_ms=60_000, longest_delay_ms=60_000, maximum_launches=1))
    looker = hosts.start(observes=True)
    stage.next().kill()
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    user = hosts.start()
    assert (the_launch(looker).launches, the_launch(looker).state) == (0, LaunchState.NONE)
    user.kill()
    assert stage.next().open().current_launch().launches == 1


def test_a_launched_host_that_completes_only_other_sessions_counts_as_failed(stage, hosts):
    hand_over(hosts, stage.command(first_delay_ms=300, longest_delay_ms=300, maximum_launches=3))
    looker = hosts.start(observes=True)
    for number in range(1, 4):
        launched = stage.next().open()
        assert launched.current_launch().launches == number
        launched.session("another")
        launched.complete()
        launched.kill()
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    assert stage.nobody_comes(1.0)


def test_a_new_launch_command_is_launched_at_once_with_a_count_of_one(stage, hosts):
    hand_over(hosts, stage.command(first_delay_ms=60_000, longest_delay_ms=60_000))
    looker = hosts.start(observes=True)
    stage.next().kill()
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.DUE)
    looker.set_launch(stage.command(first_delay_ms=50_000, longest_delay_ms=60_000))
    assert the_launch(looker).error_message is None
    assert stage.next().open().current_launch().launches == 1


def test_a_listing_shows_the_time_of_the_next_launch(stage, hosts):
    hand_over(hosts, stage.command(first_delay_ms=5_000, longest_delay_ms=5_000))
    looker = hosts.start(observes=True)
    stage.next().kill()
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.DUE)
    session, = looker.all_sessions()
    assert session.launch_state is LaunchState.DUE
    for next_launch_ms in (the_launch(looker).next_launch_ms, session.next_launch_ms):
        assert 0 < next_launch_ms - time.time() * 1_000 < 5_100
    assert the_launch(looker).error_message == "the launched program ended before it attached a session"


@pytest.mark.parametrize("program, reason", [
    ("/nowhere/photos", "/nowhere/photos cannot be run: No such file or directory"),
    ("/etc/passwd", "/etc/passwd cannot be run: Permission denied"),
    ("/etc", "/etc cannot be run: Permission denied"),
], ids=["missing", "no program", "a directory"])
def test_a_program_that_cannot_be_run_counts_as_failed_with_the_reason(stage, hosts, program, reason):
    hand_over(hosts, stage.command(program=program, arguments=[], maximum_launches=2))
    looker = hosts.start(observes=True)
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    info = the_launch(looker)
    assert (info.launches, info.process_id) == (2, None)
    assert reason in info.error_message


def test_a_missing_working_directory_is_reported(stage, hosts):
    hand_over(hosts, stage.command(working_directory="/nowhere", maximum_launches=1))
    looker = hosts.start(observes=True)
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    assert "in the directory /nowhere: No such file or directory" in the_launch(looker).error_message


def test_a_launch_command_can_be_corrected_after_launches_stopped(stage, hosts):
    hand_over(hosts, stage.command(program="/nowhere/photos", maximum_launches=1))
    looker = hosts.start(observes=True)
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    host = hosts.start(launch=stage.command())
    host.kill()
    stage.next().open().finish_session("gallery")


def test_a_program_that_crashes_at_once_counts_as_failed(stage, hosts):
    hand_over(hosts, stage.command(program="/bin/false", arguments=[], first_delay_ms=50, maximum_launches=3))
    looker = hosts.start(observes=True)
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    assert the_launch(looker).launches == 3
    assert the_launch(looker).error_message == "the launched program ended before it attached a session"


def test_a_program_that_attaches_no_session_gets_sigterm_and_is_launched_again(stage, hosts):
    hand_over(hosts, stage.command(attach_timeout_ms=4_000))
    looker = hosts.start(observes=True)
    launched = stage.next()
    launched.wait(30)
    until(lambda: the_launch(looker).error_message, bool)
    assert the_launch(looker).error_message == \
        "the launched program attached no session within 4000 ms and was ended"
    assert stage.next().pid != launched.pid


def test_a_program_that_ignores_sigterm_is_killed_after_ten_seconds(stage, hosts):
    hand_over(hosts, stage.command(
        program="/bin/sh", arguments=stage.shell("trap '' TERM; exec \"$@\""), attach_timeout_ms=4_000))
    launched = stage.next()
    began = time.monotonic()
    launched.wait(30)
    assert 8 < time.monotonic() - began
    stage.next()


def test_a_stopped_program_that_attaches_no_session_is_killed(stage, hosts):
    hand_over(hosts, stage.command(attach_timeout_ms=4_000))
    launched = stage.next()
    launched.signal(signal.SIGSTOP)
    launched.wait(30)
    stage.next()


def test_a_program_that_has_attached_may_run_long_and_close_its_connection(stage, hosts):
    hand_over(hosts, stage.command(attach_timeout_ms=4_000))
    launched = stage.next()
    launched.open()
    launched.attach("gallery")
    launched.close()
    assert stage.nobody_comes(5)
    assert not launched.has_ended()
    launched.leave()
    stage.next()


def test_attaching_as_producer_does_not_count_as_attached(stage, hosts):
    hand_over(hosts, stage.command(attach_timeout_ms=4_000))
    launched = stage.next()
    launched.open()
    launched.attach("gallery", role=Role.PRODUCE)
    launched.wait(30)


@pytest.mark.parametrize("script", ['"$@" & exit 0', '"$@"; exit 3', '(sleep 0.5; exec "$@") & exit 0'],
                         ids=["leaves at once", "waits", "starts it later"])
def test_a_wrapper_that_starts_the_host_counts_as_one_launch(stage, hosts, script):
    hand_over(hosts, stage.command(program="/bin/sh", arguments=stage.shell(script), first_delay_ms=3_000,
                                   longest_delay_ms=3_000))
    launched = stage.next()
    launched.open()
    assert launched.current_launch().launches == 1
    launched.attach("gallery")
    assert stage.nobody_comes(4)
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.leave()
    looker = hosts.start(observes=True)
    assert (the_launch(looker).state, the_launch(looker).launches) == (LaunchState.NONE, 0)


def test_a_host_that_acknowledged_all_events_is_not_launched_again(stage, hosts):
    hand_over(hosts, stage.command())
    launched = stage.next()
    launched.open()
    launched.attach("gallery")
    launched.acknowledge(launched.wait_for())
    launched.kill()
    assert stage.nobody_comes(1.5)
    looker = hosts.start(observes=True)
    assert (the_launch(looker).state, the_launch(looker).launches) == (LaunchState.NONE, 0)


def test_new_attention_causes_a_launch_at_once_when_a_launched_host_exits(stage, hosts):
    command = stage.command(first_delay_ms=60_000, longest_delay_ms=60_000)
    hand_over(hosts, command, "first")
    launched = stage.next()
    launched.open()
    finish_round(launched, "second")
    launched.finish_session("first")
    launched.leave()
    again = stage.next().open()
    assert [session.identifier for session in again.current_launch().sessions] == ["second"]


def test_a_host_with_a_wrong_launch_token_is_an_ordinary_host(stage, hosts):
    hand_over(hosts, stage.command(program="/bin/sh", arguments=stage.shell(
        'BACKHAUL_LAUNCH=1-abc; export BACKHAUL_LAUNCH; exec "$@"')))
    launched = stage.next()
    launched.open()
    assert launched.current_launch() is None
    launched.attach("gallery")
    launched.acknowledge(launched.wait_for())
    launched.complete()
    launched.complete()
    launched.configuration()


def left_alone(looker):
    """Waits until a program is launched or launches have stopped. Returns whether launches have stopped."""
    settled = (LaunchState.GAVE_UP, LaunchState.RUNNING)
    return until(lambda: the_launch(looker).state, lambda state: state in settled) is LaunchState.GAVE_UP


def test_repeated_wrong_credentials_grow_the_launch_delay(stage, hosts, misbehaving,
                                                                                          downloads):
    asks = Behaviour(status=401, headers={"WWW-Authenticate": 'Basic realm="vault"'})
    url = misbehaving.serve("/secret", Content(10), otherwise=asks)
    host = hosts.start(launch=stage.command(first_delay_ms=300, longest_delay_ms=300, maximum_launches=2))
    host.session("gallery", asks_for_credentials=True, first_delay_ms=10, longest_delay_ms=10)
    host.download(url, downloads / "secret")
    until(lambda: host.all_sessions()[0].open_challenges, lambda count: count == 1)
    host.kill()
    looker = hosts.start(observes=True)
    # The first credential may be correct, so the new challenge launches the host again at once. But if the server has
    # refused the credential before the host completes, the launch counts as failed. Each later launch counts as
    # failed.
    for number in range(3):
        if number == 2 and left_alone(looker):
            break
        launched = stage.next().open()
        launched.attach("gallery")
        challenge, = launched.challenges()
        launched.respond(challenge.id, user="me", password="wrong")
        launched.complete()
        launched.kill()
    until(lambda: the_launch(looker).state, lambda state: state is LaunchState.GAVE_UP)
    assert stage.nobody_comes(1.0)
