"""The engine is killed with SIGKILL exactly between two durable steps, such as a rename of a file and a commit.

In debug builds the environment variable BACKHAUL_CRASH_AT names the point of the kill. With "NAME:4", the process is
killed when it reaches the point for the fourth time. The engine runs the transfers, here in the process of a host.
To acknowledge an event is to confirm that it was processed.
"""

import os
import re
import tempfile
from pathlib import Path

import pytest

from backhaul import NotFound, Request, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import HostEnded, until

ROOT = Path(__file__).resolve().parents[3]
POINTS = re.findall(r"^    case (\w+)$", (ROOT / "Sources/BackhaulPlatform/CrashPoint.swift").read_text(), re.MULTILINE)

#: The steps of a claim. To claim a file is to move it out of the store.
CLAIM_POINTS = {point for point in POINTS if point.startswith("afterClaim")}

#: No download reaches these steps. The tests in Tests/Integration/activities cover afterActivity.
POINTS = [point for point in POINTS if point not in CLAIM_POINTS | {"afterActivity"}]

#: After these steps the store has a record that the file is complete, so the file is not fetched again.
AFTER_THE_TRANSFER = {"afterIntent", "afterRename", "afterPlace", "afterEnd"}


def work(one, requests):
    """Opens the application, enqueues the requests, and acknowledges all events, until all tasks have ended or the host
    is killed. Returns the ids of the acknowledged events, all seen events by id, and whether all tasks have ended."""
    acknowledged, seen = set(), {}
    try:
        one.open()
        one.session(first_delay_ms=10)
        known = {info.key for info in one.tasks()}
        one.enqueue([request for request in requests if request.key not in known])
        while True:
            for event in one.poll(timeout=60):
                seen[event.id] = event
                one.acknowledge([event])
                acknowledged.add(event.id)
                if event.is_session_finished:
                    return acknowledged, seen, True
    except HostEnded:
        return acknowledged, seen, False


@pytest.mark.timeout(600, func_only=True)
@pytest.mark.parametrize("passing", [1, 4])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_step_loses_no_task_and_repeats_no_acknowledged_event(
        debug_library, host, misbehaving, downloads, point, passing):
    contents = {str(number): Content(20_000, number) for number in range(8)}
    # These files are large and slow enough for at least one checkpoint each. A checkpoint is a stored record of the
    # received bytes.
    contents.update({f"large-{number}": Content(5_000_000, 100 + number) for number in range(4)})
    requests = [
        Request(misbehaving.serve(f"/{name}", content, otherwise=Behaviour(pace=4_000_000)), downloads / name, key=name)
        for name, content in contents.items()]
    library = {"BACKHAUL_LIBRARY": str(debug_library)}
    if point == "afterEnqueue" and passing > 1:
        pytest.skip("there is one enqueue")

    first = host(opened=False, environment={**library, "BACKHAUL_CRASH_AT": f"{point}:{passing}"})
    acknowledged, seen, finished = work(first, requests)
    assert not finished, f"{point} was not passed {passing} times"
    ended = {event.key for event in seen.values() if event.task_id}

    left = [request for request in requests if request.key not in ended]
    again = host(opened=False, environment=library)
    _, seen_later, finished = work(again, left)
    assert finished

    assert not acknowledged & set(seen_later), "an acknowledged event came back"
    events = {**seen, **seen_later}
    ends = [event for event in events.values() if event.task_id]
    assert sorted(event.key for event in ends) == sorted(contents), "not every task ended exactly once"
    assert {event.state for event in ends} == {TaskState.SUCCEEDED}
    assert {name: sha256_of(downloads / name) for name in os.listdir(downloads)} == {
        name: content.sha256 for name, content in contents.items()}


@pytest.mark.timeout(600, func_only=True)
@pytest.mark.parametrize("point", sorted(AFTER_THE_TRANSFER))
def test_a_complete_file_is_not_fetched_again_after_a_kill(debug_library, host, misbehaving, downloads, point):
    content = Content(20_000)
    requests = [Request(misbehaving.serve("/a", content), downloads / "a", key="a")]
    library = {"BACKHAUL_LIBRARY": str(debug_library)}
    work(host(opened=False, environment={**library, "BACKHAUL_CRASH_AT": point}), requests)
    _, seen, finished = work(host(opened=False, environment=library), requests)
    assert finished
    assert [event.state for event in seen.values() if event.task_id] == [TaskState.SUCCEEDED]
    assert sha256_of(downloads / "a") == content.sha256
    assert len(misbehaving.log()) == 1


@pytest.mark.timeout(600, func_only=True)
def test_a_completely_received_file_keeps_its_etag_after_a_kill_and_is_not_fetched_again(
        debug_library, host, misbehaving, downloads):
    content = Content(5_000_000)
    url = misbehaving.serve("/a", content, [Behaviour(pace=8_000_000), Behaviour(status=304)])
    library = {"BACKHAUL_LIBRARY": str(debug_library)}
    requests = [Request(url, downloads / "a", key="a", if_changed=True, if_exists="replace")]
    work(host(opened=False, environment={**library, "BACKHAUL_CRASH_AT": "afterSeal"}), requests)
    after = host(opened=False, environment=library)
    _, seen, finished = work(after, requests)
    assert finished
    (event,) = (event for event in seen.values() if event.task_id)
    assert (event.state, event.final_url, event.header("ETag")) == (TaskState.SUCCEEDED, url, content.etag)
    assert len(misbehaving.log()) == 1, "the second engine sent a request"
    after.enqueue([Request(url, downloads / "a", key="again", if_changed=True, if_exists="replace")])
    (event,) = (event for event in after.poll(timeout=60) if event.task_id)
    assert event.http_status == 304
    assert misbehaving.log()[-1].headers["if-none-match"] == content.etag


@pytest.fixture(params=["same file system", "other file system"])
def target(request, downloads):
    """The path to which the file is claimed."""
    if request.param == "same file system":
        yield downloads / "claimed"
        return
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("there is no second file system to write to")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        yield Path(elsewhere) / "claimed"


def killed_claim(debug_library, host, misbehaving, content, target, point):
    """Downloads a file without a destination, and claims it. The host is killed at the point. Returns the task, the
    kept file's path, and the next host."""
    library = {"BACKHAUL_LIBRARY": str(debug_library)}
    first = host(environment={**library, "BACKHAUL_CRASH_AT": point})
    first.session()
    task = first.download(misbehaving.serve("/a", content))
    (event, *_) = first.wait_for()
    with pytest.raises(HostEnded):
        first.claim(task, target)
    second = host(environment=library)
    second.session()
    return task, Path(event.path), second


@pytest.mark.parametrize("point", ["afterClaimIntent", "afterClaimIntent:2", "afterClaimCopy", "afterClaimMove"])
def test_a_claim_that_is_repeated_after_a_kill_moves_the_file_one_time(
        debug_library, host, misbehaving, target, point):
    if target.parent.parent != Path("/dev/shm") and point in ("afterClaimIntent:2", "afterClaimCopy"):
        pytest.skip("only a claim across file systems makes a copy")
    content = Content(200_000)
    task, kept, second = killed_claim(debug_library, host, misbehaving, content, target, point)
    second.claim(task, target)
    assert sha256_of(target) == content.sha256
    assert not kept.exists()
    assert os.listdir(target.parent) == [target.name]


def test_the_copy_of_a_claim_that_is_not_repeated_after_a_kill_is_removed(
        debug_library, host, misbehaving, target):
    if target.parent.parent != Path("/dev/shm"):
        pytest.skip("only a claim across file systems makes a copy")
    _, kept, second = killed_claim(debug_library, host, misbehaving, Content(200_000), target, "afterClaimIntent:2")
    assert len(os.listdir(target.parent)) == 1
    second.acknowledge(second.wait_for())
    until(lambda: os.listdir(target.parent), lambda names: names == [])
    until(kept.exists, lambda exists: not exists)


def test_a_foreign_file_is_not_taken_for_the_claimed_file_after_a_kill(
        debug_library, host, misbehaving, target):
    content = Content(200_000)
    task, _, second = killed_claim(debug_library, host, misbehaving, content, target, "afterClaimMove")
    target.rename(target.with_name("moved"))
    target.write_bytes(bytes(200_000))
    with pytest.raises(NotFound):
        second.claim(task, target)
    assert target.read_bytes() == bytes(200_000)
