"""Launches from end to end."""

import os
import signal
import time

from backhaul import Attention, LaunchState, Role
from testbed.host import until
from testbed.rounds import finish_round


def test_a_finished_round_launches_the_application_if_no_host_is_connected(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command(environment={"COLOUR": "blue green"}))
    finish_round(host)
    assert launch_listener.no_launch_within(1.5), "launched although its host is connected"
    host.kill()
    launched = launch_listener.next()
    launched.open()
    launch = launched.current_launch()
    assert (launch.launches, launch.attention) == (1, Attention.FINISHED)
    assert [session.identifier for session in launch.sessions] == ["gallery"]
    assert launch.sessions[0].launch_state is LaunchState.RUNNING
    events = launched.finish_session("gallery")
    assert [event.is_session_finished for event in events] == [False, True]
    assert launched.current_launch() is None
    launched.close()
    launched.exit()
    assert launch_listener.no_launch_within(1)
    observer = hosts.start(observes=True)
    info, = observer.launches()
    assert (info.state, info.launches, info.error_message) == (LaunchState.NONE, 0, None)


def test_a_launched_host_has_a_clean_environment(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command(environment={"COLOUR": "blue green"}))
    finish_round(host)
    host.kill()
    launched = launch_listener.next()
    environment = launched.environment
    assert environment["COLOUR"] == "blue green"
    assert environment["BACKHAUL_STORE"] == str(hosts.store)
    assert environment["HOME"] == os.environ["HOME"]
    assert environment["PATH"] == os.environ["PATH"]
    assert environment["BACKHAUL_LAUNCH"].startswith("1-")
    known = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "COLOUR", "PYTHONPATH", "LC_CTYPE",
             *(f"BACKHAUL_{name}" for name in ("APPLICATION", "DAEMON", "LAUNCH", "LIBRARY", "STORE"))}
    others = {name for name in environment if not name.startswith(("LC_", "XDG_"))} - known
    assert others == set()
    assert launched.about["directory"] == os.environ["HOME"]
    assert launched.about["session"] != os.getsid(0)
    assert launched.about["descriptors"] == [0, 1, 2]


def test_a_connected_host_is_notified_and_no_program_is_launched(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    other = hosts.start()
    finish_round(host)
    assert [info.identifier for info in until(other.attention, bool)] == ["gallery"]
    host.kill()
    assert launch_listener.no_launch_within(1.5)
    other.kill()
    launch_listener.next()


def test_the_end_of_a_task_causes_no_launch_before_its_round_has_finished(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    host.session()
    host.download("http://127.0.0.1:9/file", suspended=True)
    first = host.download("http://127.0.0.1:9/other", suspended=True)
    host.cancel([first])
    host.kill()
    assert launch_listener.no_launch_within(2)
    observer = hosts.start(observes=True)
    assert observer.all_sessions()[0].launch_state is LaunchState.NONE


def test_a_session_whose_launch_events_are_disabled_causes_no_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    finish_round(host, sends_launch_events=False)
    host.kill()
    assert launch_listener.no_launch_within(2)


def test_a_connected_observer_does_not_prevent_a_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    observer = hosts.start(observes=True)
    finish_round(host)
    host.kill()
    launched = launch_listener.next()
    session, = observer.all_sessions()
    assert session.launch_state is LaunchState.RUNNING
    info, = observer.launches()
    assert (info.process_id, info.launches) == (launched.pid, 1)
    assert abs(info.started_ms / 1000 - time.time()) < 60


def test_a_launch_also_lists_a_session_that_begins_to_need_its_host_after_the_launch_has_started(
        launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    finish_round(host, "first")
    finish_round(host, "second")
    host.session("third", role=Role.PRODUCE)
    late = host.download("http://127.0.0.1:9/file", suspended=True)
    host.kill()
    launched = launch_listener.next()
    launched.open()
    assert [session.identifier for session in launched.current_launch().sessions] == ["first", "second"]
    launched.finish_session("first")
    launched.attach("third", role=Role.PRODUCE)
    launched.cancel([late])
    until(lambda: [session.identifier for session in launched.current_launch().sessions],
          lambda names: names == ["second", "third"])
    launched.finish_session("second")
    launched.finish_session("third")
    assert launched.current_launch() is None
    launched.exit()
    assert launch_listener.no_launch_within(1)


def test_two_applications_are_launched_separately(launch_listener, hosts):
    for name in ("org.example.hosts", "org.example.other"):
        host = hosts.start(name, launch=launch_listener.command(environment={"WHO": name}))
        finish_round(host, name)
        host.kill()
    launched = {one.environment["WHO"]: one for one in (launch_listener.next(), launch_listener.next())}
    assert set(launched) == {"org.example.hosts", "org.example.other"}
    for name, one in launched.items():
        one.open(name)
        assert [session.identifier for session in one.current_launch().sessions] == [name]
        one.finish_session(name)
    assert [info.state for info in hosts.start(observes=True).launches()] == [LaunchState.NONE] * 2


def test_the_next_engine_performs_a_pending_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command(first_delay_ms=20_000, longest_delay_ms=20_000))
    finish_round(host)
    engine = hosts.engine_process(host)
    host.kill()
    launch_listener.next().kill()
    observer = hosts.start(observes=True)
    until(lambda: observer.launches()[0].state, lambda state: state is LaunchState.DUE)
    due = observer.launches()[0].next_launch_ms
    os.kill(engine, signal.SIGKILL)
    after = hosts.start("org.example.engine")
    until(lambda: hosts.engine_process(after), lambda process: process != engine)
    info, = after.launches()
    assert (info.state, info.launches) == (LaunchState.DUE, 1)
    assert abs(info.next_launch_ms - due) < 1_500
    launched = launch_listener.next(60)
    assert launched.open().current_launch().launches == 2
    launched.finish_session("gallery")


def test_a_new_engine_continues_to_watch_the_launched_host(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command())
    finish_round(host)
    engine = hosts.engine_process(host)
    host.kill()
    launched = launch_listener.next()
    launched.open()
    launched.attach("gallery")
    os.kill(engine, signal.SIGKILL)
    observer = hosts.start("org.example.engine")
    until(lambda: hosts.engine_process(observer), lambda process: process != engine)
    assert launch_listener.no_launch_within(2), "launched again although the launched host lives"
    assert [(info.state, info.process_id) for info in observer.launches()] == [(LaunchState.RUNNING, launched.pid)]
    launched.kill()
    again = launch_listener.next()
    assert again.open().current_launch().launches == 2
