"""The three sources of a request body. A referenced file stays where it is, and the engine reads it there. A snapshot
is a copy that the engine makes in the store. A consumed file is a file that the engine moves into the store.

If the upload of a consumed file does not succeed, the engine returns the file to its old path.
"""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress

import pytest

import backhaul
import daemons
from backhaul import BodySource, Part, Request, Status, TaskState
from servers.content import Content
from testbed.host import until

pytestmark = pytest.mark.both_hostings


def bodies(store):
    """Maps the name of each request body in the store to its content."""
    found = {}
    for name in os.listdir(store / "bodies"):
        with suppress(FileNotFoundError):
            found[name] = (store / "bodies" / name).read_bytes()
    return found


def test_a_task_whose_referenced_file_has_changed_fails_with_the_status_body_changed(host, forms, sources):
    (sources / "a").write_bytes(b"before")
    one = host()
    one.session()
    [task] = one.enqueue([Request(forms.url("/a"), body_file=sources / "a", suspended=True)])
    (sources / "a").write_bytes(b"after!")
    one.resume()
    [event, _] = one.wait_for()
    assert event.status is Status.BODY_CHANGED and str(sources / "a") in event.error_message
    assert forms.sent == [] and event.path is None


def test_a_task_whose_referenced_file_is_missing_fails_with_the_status_body_unavailable(host, forms, sources):
    (sources / "a").write_bytes(b"before")
    one = host()
    one.session()
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", suspended=True)])
    (sources / "a").unlink()
    one.resume()
    [event, _] = one.wait_for()
    assert event.status is Status.BODY_UNAVAILABLE and str(sources / "a") in event.error_message


@pytest.mark.parametrize("change", ["written", "appended", "removed"])
def test_a_snapshot_has_the_content_that_the_file_had_at_the_enqueue(host, forms, sources, store, change):
    content = Content(3_000_000)
    (sources / "a").write_bytes(content.data)
    one = host()
    one.session()
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.SNAPSHOT, suspended=True)])
    if change == "written":
        (sources / "a").write_bytes(b"after")
    elif change == "appended":
        with open(sources / "a", "ab") as file:
            file.write(b"more")
    else:
        (sources / "a").unlink()
    assert len(bodies(store)) == 1
    one.resume()
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert [sent.body for sent in forms.sent] == [content.data]
    until(lambda: bodies(store), lambda found: found == {})


def test_a_snapshot_is_removed_with_its_task(host, forms, sources, store):
    (sources / "a").write_bytes(b"a")
    one = host()
    one.session()
    request = {"body_file": sources / "a", "body_source": BodySource.SNAPSHOT}
    forms.statuses[:] = [403]
    one.enqueue([Request(forms.url("/a"), **request)])
    one.enqueue([Request(forms.url("/b"), suspended=True, **request)])
    one.cancel()
    events = one.wait_for()
    assert {event.path for event in events} == {None}
    until(lambda: bodies(store), lambda found: found == {})
    assert (sources / "a").exists()


def test_a_consumed_file_is_moved_at_once_and_removed_after_success(host, forms, sources, store):
    content = Content(2_000_000)
    (sources / "a").write_bytes(content.data)
    one = host()
    one.session()
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME, suspended=True)])
    assert os.listdir(sources) == []
    assert list(bodies(store).values()) == [content.data]
    one.kill_with_engine()
    again = host()
    again.attach()
    again.resume()
    [event, _] = again.wait_for()
    assert event.state is TaskState.SUCCEEDED and event.path is None
    assert [sent.body for sent in forms.sent] == [content.data]
    until(lambda: bodies(store), lambda found: found == {})


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_the_consumed_file_of_a_failed_or_cancelled_task_is_returned_when_its_event_is_acknowledged(
        host, forms, sources, store, end):
    (sources / "a").write_bytes(b"mine")
    one = host()
    one.session()
    forms.statuses[:] = [403]
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME,
                         suspended=end == "cancelled")])
    if end == "cancelled":
        one.cancel()
    [event, finished] = one.wait_for()
    assert event.state is (TaskState.CANCELLED if end == "cancelled" else TaskState.FAILED)
    with open(event.path, "rb") as file:
        assert file.read() == b"mine"
    before = os.stat(event.path)
    one.acknowledge([event, finished])
    assert bodies(store) == {} and os.listdir(sources) == ["a"]
    after = os.stat(sources / "a")
    assert (sources / "a").read_bytes() == b"mine"
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)


def refused(host, forms, source, **options):
    """Enqueues an upload that consumes the file, and waits until the upload has failed. Returns the host and the
    events, which are not acknowledged yet."""
    one = host()
    one.session()
    forms.statuses[:] = [403]
    one.enqueue([Request(forms.url("/a"), body_file=source, body_source=BodySource.CONSUME, **options)])
    return one, one.wait_for()


def test_a_file_in_a_directory_without_write_permission_cannot_be_consumed(host, forms, sources):
    (sources / "a").write_bytes(b"mine")
    one = host()
    one.session()
    sources.chmod(0o555)
    try:
        if os.access(sources, os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(backhaul.BackhaulError) as refused:
            one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME)])
    finally:
        sources.chmod(0o755)
    assert refused.value.status is Status.BODY_UNAVAILABLE
    assert (sources / "a").read_bytes() == b"mine"


def test_if_the_old_name_of_a_consumed_file_cannot_be_removed_the_next_engine_removes_it(host, forms, sources, store):
    """An attribute of the directory (chattr +a) forbids even root to remove the old name. The store records this name
    until it is removed. The test clears the attribute, and then the next engine removes the name."""
    (sources / "a").write_bytes(b"mine")
    one = host()
    one.session()
    try:
        subprocess.run(["chattr", "+a", sources], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no append-only directories here")
    try:
        one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME,
                             suspended=True)])
        assert (sources / "a").exists()
    finally:
        subprocess.run(["chattr", "-a", sources], check=True)
    one.kill_with_engine()
    host().attach()
    until(lambda: os.listdir(sources), lambda names: names == [])


def test_a_returned_file_replaces_no_other_file(host, forms, sources, store):
    (sources / "a").write_bytes(b"mine")
    one, events = refused(host, forms, sources / "a")
    (sources / "a").write_bytes(b"another")
    one.acknowledge(events)
    assert (sources / "a").read_bytes() == b"another"
    assert (sources / f"a.~{events[0].task_id}").read_bytes() == b"mine"
    assert bodies(store) == {}


def test_a_consumed_file_stays_in_the_store_while_its_original_directory_is_missing(host, forms, sources, store):
    (sources / "in").mkdir()
    (sources / "in" / "a").write_bytes(b"mine")
    one, events = refused(host, forms, sources / "in" / "a")
    (sources / "in").rmdir()
    one.acknowledge(events)
    assert list(bodies(store).values()) == [b"mine"]
    one.kill_with_engine()
    again = host()
    again.attach()
    again.enqueue([Request(forms.url("/b"), body_file=__file__, body_source=BodySource.SNAPSHOT)])
    again.acknowledge(again.wait_for())
    until(lambda: bodies(store), lambda found: list(found.values()) == [b"mine"])
    (sources / "in").mkdir()
    again.kill_with_engine()
    host().attach()
    until(lambda: bodies(store), lambda found: found == {})
    assert (sources / "in" / "a").read_bytes() == b"mine"


def test_each_file_of_a_failed_form_is_returned_to_its_own_path(host, forms, sources, store):
    for name in "ab":
        (sources / name).mkdir()
        (sources / name / name).write_bytes(name.encode() * 1_000)
    one = host()
    one.session()
    forms.statuses[:] = [403]
    one.upload(forms.url("/f"), body_source=BodySource.CONSUME,
               parts=[Part("one", file=sources / "a" / "a"), Part("n", "1"), Part("two", file=sources / "b" / "b")])
    one.acknowledge(one.wait_for())
    assert all((sources / name / name).read_bytes() == name.encode() * 1_000 for name in "ab")
    assert bodies(store) == {}


def test_an_invalidated_session_returns_consumed_files(host, forms, sources, store):
    (sources / "a").write_bytes(b"mine")
    one = host()
    one.session()
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME, suspended=True)])
    one.invalidate(cancel=True)
    one.acknowledge(one.wait_for())
    assert (sources / "a").read_bytes() == b"mine" and bodies(store) == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_while_files_are_returned_loses_no_file(host, forms, sources, store, seed):
    contents = {f"{i:03}": Content(1 + i, i) for i in range(200)}
    for name, content in contents.items():
        (sources / name).write_bytes(content.data)
    one = host()
    one.session()
    one.enqueue([Request(forms.url(f"/{name}"), body_file=sources / name, body_source=BodySource.CONSUME,
                         suspended=True) for name in contents])
    assert os.listdir(sources) == []
    one.cancel()
    events = one.wait_for()
    engine = one.engine().process_id
    one.begin("acknowledge", events)
    time.sleep(random.Random(seed).uniform(0.0, 0.03))
    daemons.end(engine, signal.SIGKILL, time.monotonic() + 10)
    one.kill()
    again = host()
    again.attach()
    again.acknowledge(again.poll(timeout=0))
    until(lambda: bodies(store), lambda found: found == {})
    assert {name: (sources / name).read_bytes() for name in os.listdir(sources)} == {
        name: content.data for name, content in contents.items()}


def test_the_consumed_file_of_a_failed_task_can_be_moved_to_another_path(host, forms, sources, store):
    (sources / "a").write_bytes(b"mine")
    one = host()
    one.session()
    forms.statuses[:] = [403]
    one.enqueue([Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME)])
    [event, _] = one.wait_for()
    one.claim(event, sources / "back")
    assert (sources / "back").read_bytes() == b"mine"
    [event, finished] = one.poll(timeout=0)
    assert str(event.path) == str(sources / "back")
    one.acknowledge([event, finished])
    assert (sources / "back").read_bytes() == b"mine" and bodies(store) == {}


def test_a_form_consumes_all_its_files(host, forms, sources, store):
    for name in "ab":
        (sources / name).write_bytes(name.encode() * 1_000)
    one = host()
    one.session()
    one.upload(forms.url("/f"), body_source=BodySource.CONSUME,
               parts=[Part("one", file=sources / "a"), Part("n", "1"), Part("two", file=sources / "b")])
    assert os.listdir(sources) == []
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert [part.content for part in forms.sent[0].parts] == [b"a" * 1_000, b"1", b"b" * 1_000]
    assert [part.file_name for part in forms.sent[0].parts] == ["a", None, "b"]
    until(lambda: bodies(store), lambda found: found == {})


def test_a_second_enqueue_with_the_same_idempotency_key_returns_the_task_of_the_consumed_file(
        host, forms, sources, store):
    (sources / "a").write_bytes(b"once")
    one = host()
    one.session()
    request = Request(forms.url("/a"), body_file=sources / "a", body_source=BodySource.CONSUME, key="k", suspended=True)
    [first] = one.enqueue([request])
    [again] = one.enqueue([request])
    assert (again.task_id, again.is_new) == (first.task_id, False)
    assert len(bodies(store)) == 1
    with pytest.raises(backhaul.BackhaulError) as caught:
        one.enqueue([Request(forms.url("/b"), body_file=sources / "a", key="other")])
    assert caught.value.status is Status.BODY_UNAVAILABLE


@pytest.mark.parametrize("source", [BodySource.SNAPSHOT, BodySource.CONSUME])
@pytest.mark.parametrize("seed", range(3))
def test_a_kill_while_files_are_enqueued_loses_no_file(host, forms, sources, store, source, seed):
    contents = {f"{i:03}": Content(random.Random(i).randrange(2_000), i) for i in range(300)}
    for name, content in contents.items():
        (sources / name).write_bytes(content.data)
    requests = [Request(forms.url(f"/{name}"), body_file=sources / name, body_source=source, key=name)
                for name in contents]
    one = host()
    one.session(connections_per_origin=16, first_delay_ms=10)
    engine = one.engine().process_id
    one.begin("enqueue", requests)
    time.sleep(random.Random(seed).uniform(0.0, 0.12))
    # The host is killed first: while it lives, it could start the next engine and send the enqueue again.
    one.kill()
    daemons.end(engine, signal.SIGKILL, time.monotonic() + 10)
    again = host()
    again.session(connections_per_origin=16, first_delay_ms=10)
    known = {task.key for task in again.tasks()}
    assert all((sources / name).exists() or name in known for name in contents)
    again.enqueue(requests)
    assert source is BodySource.SNAPSHOT or os.listdir(sources) == []
    events = again.wait_for(timeout=60)
    assert [event.error_message for event in events if event.key and event.state is not TaskState.SUCCEEDED] == []
    assert {sent.path[1:]: sent.body for sent in forms.sent} == {
        name: content.data for name, content in contents.items()}
    until(lambda: bodies(store), lambda found: found == {})


def test_a_symbolic_link_and_a_file_of_the_store_cannot_be_consumed(host, forms, sources, store):
    (sources / "a").write_bytes(b"a")
    (sources / "link").symlink_to(sources / "a")
    one = host()
    one.session()
    inside = next(path for path in store.iterdir() if path.is_file())
    for path in [sources / "link", inside]:
        with pytest.raises(backhaul.BackhaulError) as caught:
            one.enqueue([Request(forms.url("/a"), body_file=path, body_source=BodySource.CONSUME)])
        assert caught.value.status is Status.BODY_UNAVAILABLE
        assert path.exists()
    assert bodies(store) == {}
