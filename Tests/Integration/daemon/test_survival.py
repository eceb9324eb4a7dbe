"""Transfers continue after a host is killed, and after the daemon is killed. With embedded hosting, the engine runs
inside the host. Otherwise the engine runs in the daemon."""

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from backhaul import Hosting, Request, TaskState
from daemons import daemons_of
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import Host, until


def small(served, limit=150_000):
    """Returns the names of small files."""
    return [name for name in served.names if (served.folder / name).stat().st_size <= limit]


def kill_daemons(place):
    for process in daemons_of(place):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def fields(process):
    """Returns the state, the parent, the process group and the session of a process (proc(5))."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[:4]


def test_transfers_of_a_killed_host_succeed(host, misbehaving, downloads, daemon):
    contents = {str(i): Content(400_000, i) for i in range(8)}
    slow = [Behaviour(pace=400_000)]
    one = host()
    one.session(connections_per_origin=8)
    one.enqueue([Request(misbehaving.serve(f"/{name}", content, slow), downloads / name, key=name)
                 for name, content in contents.items()])
    misbehaving.wait_until(lambda log: len(log) == 8)
    process = daemon()
    one.kill()
    until(lambda: sorted(os.listdir(downloads)), lambda names: names == sorted(contents))
    assert daemon() == process
    again = host()
    again.attach()
    events = again.wait_for()
    assert [event.state for event in events[:-1]] == [TaskState.SUCCEEDED] * 8 and events[-1].is_session_finished
    assert {name: sha256_of(downloads / name) for name in contents} == {
        name: content.sha256 for name, content in contents.items()}


def test_a_daemon_continues_the_transfers_when_the_host_with_the_engine_is_killed(
        host, store, place, misbehaving, downloads, daemon):
    engine = Host(store, hosting=Hosting.EMBEDDED)
    try:
        engine.open()
        one = host()
        one.session(first_delay_ms=10)
        one.download(misbehaving.serve("/a", Content(600_000), [Behaviour(stall_after=300_000)]), downloads / "a")
        misbehaving.wait_until(lambda log: log and log[0].sent == 300_000)
        assert daemons_of(place) == []
        engine.kill()
        assert one.wait_for()[0].state is TaskState.SUCCEEDED
        daemon()
    finally:
        engine.end()


def test_after_a_kill_of_the_daemon_new_downloads_succeed_with_both_kinds_of_hosting(store, daemon, misbehaving,
                                                                                     downloads, one):
    other = Host(store, "org.example.other", hosting=Hosting.EMBEDDED)
    try:
        other.open()
        other.session()
        os.kill(daemon(), signal.SIGKILL)
        for number, each in enumerate((one, other)):
            each.download(misbehaving.serve(f"/{number}", Content(1_000, number)), downloads / str(number))
            assert each.wait_for()[0].state is TaskState.SUCCEEDED
    finally:
        other.end()


def test_a_transfer_continues_after_its_daemon_is_killed_while_a_host_with_embedded_hosting_is_open(
        host, store, daemon, misbehaving, downloads):
    one = host()
    one.session(first_delay_ms=10)
    content = Content(600_000)
    one.download(misbehaving.serve("/a", content, [Behaviour(stall_after=300_000)]), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 300_000)
    other = Host(store, "org.example.other", hosting=Hosting.EMBEDDED)
    try:
        other.open()
        os.kill(daemon(), signal.SIGKILL)
        assert one.wait_for()[0].state is TaskState.SUCCEEDED
        assert sha256_of(downloads / "a") == content.sha256
    finally:
        other.end()


def test_transfers_continue_while_their_host_is_stopped_by_sigstop(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", Content(300_000), [Behaviour(pace=600_000)]), downloads / "a", key="a")
    one.stop()
    until(lambda: os.listdir(downloads), lambda names: names == ["a"])
    one.signal(signal.SIGCONT)
    assert one.wait_for()[0].state is TaskState.SUCCEEDED


def test_the_daemon_has_its_own_process_session_and_its_parent_is_no_host(host, daemon):
    one = host()
    _, parent, group, session = fields(daemon())
    assert int(parent) not in (one.pid, os.getpid())
    assert {group, session}.isdisjoint(fields(one.pid)[2:]) and {group, session}.isdisjoint(fields(os.getpid())[2:])


def test_an_idle_daemon_exits_and_the_next_open_starts_a_new_daemon(place, daemon, one):
    first = daemon()
    one.close()
    until(lambda: daemons_of(place), lambda found: found == [])
    one.open()
    one.attach()
    assert daemon() != first


def test_the_daemon_keeps_running_while_a_task_waits_for_its_next_attempt(host, place, daemon, downloads):
    one = host()
    one.session(first_delay_ms=3_600_000, longest_delay_ms=3_600_000)
    one.download("http://127.0.0.1:9/", downloads / "a", key="a")
    until(one.tasks, lambda tasks: tasks[0].reason.name == "RETRY")
    process = daemon()
    one.kill()
    # The daemon of another store has no task, so it exits after some seconds. The first daemon must run longer than
    # the daemon of the other store.
    other = Host(place / "other", hosting=Hosting.DAEMON)
    try:
        other.open()
    finally:
        other.end()
    until(lambda: daemons_of(place / "other"), lambda found: found == [])
    assert daemons_of(place) == [process]


def test_suspended_tasks_do_not_keep_the_daemon_running(place, downloads, one):
    one.enqueue([Request("http://127.0.0.1:9/", downloads / "a", suspended=True)])
    one.kill()
    until(lambda: daemons_of(place), lambda found: found == [])


def test_frequent_kills_of_the_daemon_lose_no_event_and_repeat_no_event(host, place, nginx, served, downloads):
    generator = random.Random(7)
    sources = small(served)
    names = {str(i): sources[i % len(sources)] for i in range(2_000)}
    one = host()
    # With two connections, the transfers are slow. So the daemon is killed several times, even on a fast machine.
    one.session(first_delay_ms=10, longest_delay_ms=50, connections_per_origin=2)
    requests = [Request(f"{nginx.url}/{name}", downloads / key, key=key) for key, name in names.items()]
    done = threading.Event()
    kills = []

    def kill_again_and_again():
        # The number of kills is limited, because each costs seconds on a busy machine.
        while len(kills) < 60 and not done.wait(generator.uniform(0.1, 0.3)):
            # On a busy machine a daemon may start slowly. So each daemon may run until it has changed the folder.
            while kills and len(os.listdir(downloads)) == kills[-1]:
                if done.wait(0.02):
                    return
            kills.append(len(os.listdir(downloads)))
            kill_daemons(place)

    killer = threading.Thread(target=kill_again_and_again)
    killer.start()
    try:
        # After each of the first kills, the next daemon gets further requests.
        for count in (1, 2, 3):
            one.enqueue(requests[(count - 1) * 500:count * 500])
            until(lambda: len(kills), lambda found, count=count: found >= count)
        one.enqueue(requests[1_500:])
        events = one.wait_for(timeout=60)
    finally:
        done.set()
        killer.join()
    ends = [event for event in events if not event.is_session_finished]
    assert [event.error_message for event in ends if event.state is not TaskState.SUCCEEDED] == []
    assert sorted(event.key for event in ends) == sorted(names)
    assert {key: sha256_of(downloads / key) for key in names} == {key: served.digests[name]
                                                                  for key, name in names.items()}
    assert sorted(os.listdir(downloads)) == sorted(names)
    assert len(kills) >= 3


@pytest.mark.parametrize("seed", range(2))
def test_repeated_kills_of_the_host_and_the_daemon_lose_no_event_and_repeat_no_event(
        host, place, nginx, served, downloads, seed):
    generator = random.Random(seed)
    sources = small(served)
    names = {str(i): sources[i % len(sources)] for i in range(300)}
    requests = [Request(f"{nginx.url}/{name}", downloads / key, key=key) for key, name in names.items()]
    seen = {}
    for life in range(8):
        one = host()
        one.session(first_delay_ms=10, longest_delay_ms=50)
        one.enqueue([request for request in requests if request.key not in seen])
        if life == 7:
            break
        time.sleep(generator.uniform(0.02, 0.3))
        for event in one.poll(timeout=0):
            assert seen.setdefault(event.key, event.id) == event.id
        for victim in generator.sample(("host", "daemon"), 2):
            if victim == "daemon":
                kill_daemons(place)
            else:
                one.kill()
    for event in one.wait_for(timeout=60):
        assert seen.setdefault(event.key, event.id) == event.id
    assert set(seen) - {None} == set(names)
    assert {key: sha256_of(downloads / key) for key in names} == {key: served.digests[name]
                                                                  for key, name in names.items()}


def test_twenty_hosts_attach_to_twenty_sessions_of_one_store_at_the_same_time(host, misbehaving, downloads, daemon):
    maker = host()
    for number in range(20):
        maker.session(f"s{number}")
        maker.close_session()
    maker.close()
    many = [host(opened=False) for _ in range(20)]
    for one in many:
        one.begin("open", one._store, "org.example.hosts", hosting=one._hosting)
    for one in many:
        one.finish()
    for number, one in enumerate(many):
        one.begin("attach", f"s{number}")
    for one in many:
        one.finish()
    for number, one in enumerate(many):
        one.download(misbehaving.serve(f"/{number}", Content(2_000, number)), downloads / str(number), key=str(number))
    for number, one in enumerate(many):
        assert [event.key for event in one.wait_for()[:-1]] == [str(number)]
    daemon()
