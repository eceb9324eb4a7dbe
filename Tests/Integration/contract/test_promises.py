"""Promises of docs/contract.md that no other suite tests on its own."""

import re
import threading
from pathlib import Path

from backhaul import Attention, EventKind, Role, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.paced import PacedServer
from testbed.host import until
from testbed.rounds import finish_round

PROJECT = Path(__file__).resolve().parents[3]
QUICK = {"first_delay_ms": 20, "longest_delay_ms": 50}


def test_the_application_is_launched_when_all_tasks_have_ended_even_if_some_failed_or_were_cancelled(
        launch_listener, hosts, misbehaving, downloads):
    host = hosts.start(launch=launch_listener.command())
    host.session(role=Role.PRODUCE, **QUICK)
    # This task is enqueued first. So the other tasks belong to its round, even if they end early.
    given_up = host.download("http://127.0.0.1:9/never", downloads / "never", suspended=True)
    host.download(misbehaving.serve("/good", Content(5_000)), downloads / "good")
    host.download(misbehaving.serve("/bad", Content(5), otherwise=Behaviour(status=404, body=b"no")), downloads / "bad")
    host.kill()
    assert launch_listener.no_launch_within(0.5), "launched although a task has not ended"
    tool = hosts.start(observes=True)
    tool.attach(role=Role.PRODUCE)
    tool.cancel([given_up])
    launched = launch_listener.next()
    launched.open()
    *ends, last = launched.finish_session("gallery")
    assert sorted(event.state.name for event in ends) == ["CANCELLED", "FAILED", "SUCCEEDED"]
    assert last.is_session_finished


def test_a_poll_for_events_reports_whether_more_committed_events_exist(hosts, nginx, served, downloads):
    host = hosts.start()
    host.session(asks_for_credentials=True, **QUICK)
    # This task is enqueued first. It keeps the round open. Without this task, the round could end before all other
    # tasks are enqueued.
    host.download(f"{nginx.url}/private/{served.names[3]}", downloads / "private")
    for name in served.names[:3]:
        host.download(f"{nginx.url}/{name}", downloads / name)
    until(host.all_sessions, lambda sessions: sessions[0].events == 4)
    handed_out, more = [], True
    while more:
        events, more = host.page(handed_out[-1].id if handed_out else 0, 2)
        handed_out += events
    assert len(handed_out) == 4, "the last poll came before all events"
    assert sum(event.kind is EventKind.CHALLENGE for event in handed_out) == 1


def test_a_host_that_attaches_to_a_session_gets_the_current_progress_and_later_progress(hosts, downloads):
    content, sends_rest = Content(4_000_000), threading.Event()
    host = hosts.start()
    host.session(role=Role.PRODUCE, **QUICK)
    with PacedServer(
            content, 10_000_000, lambda delivery: delivery.sent > 500_000 and not sends_rest.wait(60)) as server:
        host.download(server.url, downloads / "a", user_data=b"which picture this is")
        until(host.tasks, lambda tasks: tasks[0].offset > 0)
        host.kill()
        again = hosts.start()
        again.attach()
        task, = again.tasks()
        assert (task.state, task.size, task.user_data) == (TaskState.RUNNING, content.size, b"which picture this is")
        sends_rest.set()
        first = until(again.tasks, lambda tasks: not tasks or tasks[0].offset > task.offset)
        assert first[0].offset > task.offset > 0
        assert again.wait_for()[0].state is TaskState.SUCCEEDED
        assert sha256_of(downloads / "a") == content.sha256


def test_an_attached_host_receives_events_without_a_new_poll(hosts, misbehaving, downloads):
    host = hosts.start()
    host.session(**QUICK)
    host.begin("wait_for")
    other = hosts.start()
    other.attach(role=Role.PRODUCE)
    other.download(misbehaving.serve("/a", Content(5_000)), downloads / "a")
    ended, finished = host.finish()
    assert ended.path == str(downloads / "a")
    assert finished.is_session_finished


def test_an_open_challenge_launches_the_host_and_the_tasks_end_when_the_host_gives_a_credential(
        launch_listener, hosts, nginx, served, downloads):
    name = served.names[0]
    host = hosts.start(launch=launch_listener.command())
    host.session(role=Role.PRODUCE, asks_for_credentials=True, **QUICK)
    host.download(f"{nginx.url}/private/{name}", downloads / name)
    host.kill()
    launched = launch_listener.next()
    launched.open()
    assert launched.current_launch().attention & Attention.CHALLENGE
    launched.attach()
    asked, = launched.challenges()
    launched.respond(asked.id, user="user", password="password")
    events = [event for event in launched.wait_for() if event.kind is not EventKind.CHALLENGE]
    launched.acknowledge(events)
    launched.complete()
    assert sha256_of(downloads / name) == served.digests[name]


def test_a_host_that_was_not_launched_may_call_complete_twice_for_its_session(hosts):
    host = hosts.start()
    finish_round(host)
    consumer = hosts.start()
    consumer.attach()
    consumer.complete()
    events = consumer.wait_for()
    consumer.acknowledge(events)
    consumer.complete()
    consumer.complete()


def test_no_function_of_the_api_takes_a_callback():
    header = (PROJECT / "include" / "backhaul.h").read_text()
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    assert not re.search(r"\(\s*\*\s*\w*\s*\)\s*\(", code)
