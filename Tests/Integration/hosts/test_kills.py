"""Hosts are killed with SIGKILL at seeded random times. Tests/Soak/kills.py does this for a longer time. To
acknowledge an event is to confirm that it was processed. A kept file is a downloaded file that stays in the store,
because the host has given no path for it. A large enqueue is sent in chunks of requests."""

import os
import random
import time

import pytest

from backhaul import Request, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import until
from testbed.journal import violations
from testbed.soak_run import soak


@pytest.mark.both_hostings
def test_no_kill_in_a_short_soak_run_loses_or_repeats_an_event_or_damages_a_file(place, hosting):
    result = soak(place, rounds=12, seed=20_250, hosting=hosting)
    assert result.violations == []
    assert result.kills == 12


@pytest.mark.parametrize("seed", range(3))
def test_no_kill_leaves_a_chunk_of_an_enqueue_partly_stored_and_a_repetition_adds_the_missing_tasks(host, place, seed):
    generator = random.Random(seed)
    folder = place / "many"
    folder.mkdir()
    requests = [Request(f"http://127.0.0.1:9/{i}", folder / str(i), key=str(i), suspended=True) for i in range(20_000)]
    one = host()
    one.session()
    one.begin("enqueue", requests, chunk=1_000)
    time.sleep(generator.uniform(0.0, 0.8))
    one.kill()

    again = host()
    again.attach()
    stored = again.tasks()
    before = {info.key: info.id for info in stored}
    assert len(before) == len(stored), "a task was enqueued twice"
    assert len(before) % 1_000 == 0, "a chunk was applied only in part"
    results = again.enqueue(requests)
    assert [not result.is_new for result in results] == [request.key in before for request in requests]
    assert {request.key: result.task_id for request, result in zip(requests, results) if not result.is_new} == before
    assert len(again.tasks()) == 20_000


def test_a_confirmed_enqueue_is_kept_after_an_immediate_kill(host, misbehaving, downloads):
    for number in range(5):
        one = host()
        one.session()
        one.download(misbehaving.serve(f"/{number}", Content(5_000, number)), downloads / str(number), key=str(number))
        one.kill()
    last = host()
    last.attach()
    ended = set()
    while len(ended) < 5:
        ended |= {event.key for event in last.poll(timeout=30) if event.state is TaskState.SUCCEEDED}
    assert {name: sha256_of(downloads / name) for name in os.listdir(downloads)} == {
        str(number): Content(5_000, number).sha256 for number in range(5)}


def test_a_confirmed_acknowledgement_is_kept_after_an_immediate_kill(host, misbehaving, downloads):
    one = host()
    one.session()
    one.enqueue([Request(misbehaving.serve(f"/{i}", Content(100, i)), downloads / str(i)) for i in range(7)])
    events = one.wait_for()
    for event in events:
        one.acknowledge([event])
        one.kill()
        one = host()
        one.attach()
        left = one.poll(timeout=0)
        assert left == [other for other in events if other.id > event.id]


def test_a_finished_file_is_not_fetched_again_after_a_kill(host, misbehaving, downloads):
    """The process of the host also runs the transfers. The test kills this process after the end of the task is
    committed to the database, and before the host reads the event about this end."""
    one = host()
    one.session()
    one.download(misbehaving.serve("/a", Content(100_000)), downloads / "a")
    watcher = host()
    assert watcher.attention(timeout=30)
    watcher.close()
    one.kill()
    again = host()
    again.attach()
    assert again.wait_for()[0].state is TaskState.SUCCEEDED
    assert len(misbehaving.log()) == 1


@pytest.mark.parametrize("seed", range(4))
def test_kills_during_the_last_steps_of_downloads_lose_no_event_and_repeat_no_event(host, misbehaving, downloads, seed):
    """The files are tiny, so most kills happen between the steps that finish a file."""
    generator = random.Random(seed)
    contents = {str(i): Content(generator.randrange(1, 3_000), i) for i in range(400)}
    requests = [Request(misbehaving.serve(f"/{name}", content), downloads / name, key=name)
                for name, content in contents.items()]
    one = host()
    one.session(first_delay_ms=10, connections_per_origin=32)
    one.enqueue(requests)
    for _ in range(6):
        time.sleep(generator.uniform(0.01, 0.15))
        one.kill()
        one = host()
        one.attach()
    events = one.wait_for()
    ends = [event for event in events if not event.is_session_finished]
    assert [event.error_message for event in ends if event.state is not TaskState.SUCCEEDED] == []
    assert sorted(event.key for event in ends) == sorted(contents)
    assert {name: sha256_of(downloads / name) for name in contents} == {
        name: content.sha256 for name, content in contents.items()}
    assert sorted(os.listdir(downloads)) == sorted(contents)


def test_kept_files_stay_after_a_kill_until_their_events_are_acknowledged(host, misbehaving, store):
    one = host()
    one.session(first_delay_ms=10)
    slow = Behaviour(stall_after=1_200_000)
    one.enqueue([Request(misbehaving.serve(f"/{i}", Content(2_000_000, i), [slow]), key=str(i)) for i in range(4)])
    misbehaving.wait_until(lambda log: sum(asked.sent == 1_200_000 for asked in log) == 4)
    one.kill()
    again = host()
    again.attach()
    events = again.wait_for()
    assert {event.key: sha256_of(event.path) for event in events[:-1]} == {
        str(i): Content(2_000_000, i).sha256 for i in range(4)}
    again.acknowledge(events)
    until(lambda: os.listdir(store / "kept"), lambda names: names == [])


def test_the_checker_of_the_kill_tests_finds_each_violation():
    def seen(event, key, **changes):
        return {"fact": "seen", "event": event, "key": key, "task": event, "whole": True, "finished": False, **changes}

    start, acknowledged = {"fact": "started"}, {"fact": "acknowledged", "events": [1]}
    assert list(violations([start, seen(1, "a"), acknowledged, start, seen(2, "b")])) == []
    assert list(violations([start, seen(1, "a"), start, seen(1, "a")])) == []
    assert len(list(violations([start, seen(1, "a"), acknowledged, start, seen(1, "a")]))) == 1
    assert len(list(violations([start, seen(1, "a"), seen(2, "a")]))) == 1
    assert len(list(violations([start, seen(2, "b"), seen(1, "a")]))) == 1
    assert len(list(violations([start, seen(1, "a", whole=False)]))) == 1
    acknowledging, completed = {"fact": "acknowledging", "events": [1]}, {"fact": "completed"}
    assert list(violations([start, seen(1, "a"), acknowledging, start, completed])) == []
    assert len(list(violations([start, seen(1, "a"), start, completed]))) == 1
    twice = [{"fact": "enqueued", "key": "a", "task": task, "new": True} for task in (1, 2)]
    assert len(list(violations(twice))) == 1
