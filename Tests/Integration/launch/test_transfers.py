"""Launches with real transfers. A host enqueues downloads, and is killed. The engine, which is in another process,
finishes the transfers. Then the engine launches (starts) the host's program, which reads the events. A round ends
when all tasks of a session have ended."""

import os
import signal

import pytest

from backhaul import Hosting, Role, Status
from daemons import daemons_of
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import until
from testbed.rounds import finish_round, only_launch

CONTENT = Content(2_000_000)


def test_a_host_that_is_killed_during_transfers_is_launched_when_its_files_have_arrived(
        launch_listener, hosts, misbehaving, downloads):
    host = hosts.start(launch=launch_listener.command())
    host.session()
    for name in "abc":
        url = misbehaving.serve(f"/{name}", CONTENT, otherwise=Behaviour(pace=1_500_000))
        host.download(url, downloads / name, user_data=name.encode())
    misbehaving.wait_until(lambda log: len(log) == 3 and all(asked.sent > 100_000 for asked in log))
    host.kill()
    launched = launch_listener.next().open()
    events = launched.finish_session("gallery")
    assert sorted(event.user_data for event in events[:-1]) == [b"a", b"b", b"c"]
    assert {event.status for event in events} == {Status.OK}
    assert all(sha256_of(downloads / name) == CONTENT.sha256 for name in "abc")
    assert [asked.range for asked in misbehaving.log()] == [None] * 3, "a download was requested again"
    launched.exit()


@pytest.mark.parametrize("hosting", [Hosting.DAEMON], ids=["daemon"])
def test_repeated_kills_of_the_engine_cause_no_second_launch(launch_listener, hosts):
    host = hosts.start(launch=launch_listener.command(first_delay_ms=30_000, longest_delay_ms=30_000))
    finish_round(host)
    engine = hosts.engine_process(host)
    host.kill()
    launched = launch_listener.next().open()
    launched.attach("gallery")
    observer = hosts.start("org.example.engine")
    for _ in range(5):
        os.kill(engine, signal.SIGKILL)
        engine = until(lambda: hosts.engine_process(observer), lambda process, before=engine: process != before)
    assert launch_listener.no_launch_within(2)
    assert only_launch(observer).launches == 1
    launched.acknowledge(launched.wait_for())
    launched.complete()
    observer.close()
    launched.exit()
    assert launch_listener.no_launch_within(1)


@pytest.mark.parametrize("hosting", [Hosting.DAEMON], ids=["daemon"])
def test_a_daemon_without_clients_waits_for_a_due_launch_and_exits_after_it(launch_listener, hosts, place):
    host = hosts.start(launch=launch_listener.command(first_delay_ms=6_000, longest_delay_ms=6_000))
    finish_round(host)
    daemon = hosts.engine_process(host)
    host.kill()
    launch_listener.next().kill()
    launched = launch_listener.next().open()
    assert launched.engine().process_id == daemon
    launched.finish_session("gallery")
    launched.exit()
    until(lambda: daemons_of(place), lambda found: found == [])
    after = hosts.start()
    after.attach("gallery", role=Role.OBSERVE)
    assert after.all_sessions()[0].events == 0
