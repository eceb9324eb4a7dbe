"""A file that exists at the destination is kept if it has the stated checksum or size, or if the server has no newer
representation."""

import os

import pytest

from backhaul import BackhaulError, EventKind, Request, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of

CONTENT = Content(300_000, seed=1)
NEWER = Content(310_000, seed=2)


def ends(events):
    return [event for event in events if event.kind is EventKind.TASK_ENDED]


@pytest.fixture
def one(host):
    made = host()
    made.session(first_delay_ms=50, longest_delay_ms=100)
    return made


def acknowledge_all(host):
    host.acknowledge_through(host.wait_for()[-1].id)


# Files with the stated checksum or size


@pytest.mark.both_hostings
@pytest.mark.parametrize("known", [
    {"checksum": f"sha-256:{CONTENT.sha256}"}, {"expected_size": CONTENT.size},
    {"checksum": f"sha-256:{CONTENT.sha256}", "expected_size": CONTENT.size},
])
def test_an_existing_file_with_the_stated_checksum_or_size_is_kept(one, misbehaving, downloads, known):
    (downloads / "a").write_bytes(CONTENT.data)
    before = os.stat(downloads / "a")
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="skip", **known)
    [event] = ends(one.wait_for())
    assert (event.state, event.attempts, event.http_status) == (TaskState.SUCCEEDED, 0, 0)
    assert str(event.path) == str(downloads / "a") and event.size == CONTENT.size
    assert event.checksum == known.get("checksum")
    assert os.stat(downloads / "a").st_mtime_ns == before.st_mtime_ns
    assert not misbehaving.log() and len(list(downloads.iterdir())) == 1


@pytest.mark.parametrize("there", [b"", CONTENT.data[:-1], NEWER.data, b"x" * CONTENT.size, None, "link", "secret"])
def test_an_existing_file_without_the_stated_checksum_is_replaced(one, misbehaving, downloads, place, there):
    destination = downloads / "a"
    if there == "link":
        (place / "elsewhere").write_bytes(CONTENT.data)
        destination.symlink_to(place / "elsewhere")
    elif there is not None:
        destination.write_bytes(CONTENT.data if there == "secret" else there)
        if there == "secret":
            destination.chmod(0)
    one.download(misbehaving.serve("/a", CONTENT), destination, if_exists="skip",
                 checksum=f"sha-256:{CONTENT.sha256}")
    [event] = ends(one.wait_for())
    assert event.state is TaskState.SUCCEEDED
    # Root can read a file without permissions.
    assert event.attempts == (0 if there == "secret" and os.geteuid() == 0 else 1)
    assert sha256_of(destination) == CONTENT.sha256 and not destination.is_symlink()


def test_enqueueing_the_same_list_of_requests_again_fetches_no_file_again(host, nginx, served, downloads):
    def hand_over(one):
        one.enqueue([
            Request(f"{nginx.url}/{name}", downloads / name, if_exists="skip", key=name,
                    checksum=f"sha-256:{served.digests[name]}")
            for name in served.names[:50]])

    first = host()
    first.session()
    hand_over(first)
    acknowledge_all(first)
    first.kill_with_engine()
    before = len(nginx.log())
    second = host()
    second.session()
    hand_over(second)
    again = ends(second.wait_for())
    assert len(again) == 50
    assert {(event.state, event.attempts, event.http_status) for event in again} == {(TaskState.SUCCEEDED, 0, 0)}
    assert len(nginx.log()) == before


def test_skipping_an_existing_file_needs_a_checksum_or_a_size(one, misbehaving, downloads):
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="skip")
    assert raised.value.status is Status.INVALID_ARGUMENT and "checksum" in str(raised.value)


# Two paths to one file


def test_another_path_to_the_destination_of_a_task_is_refused(one, misbehaving, downloads, place):
    (place / "link").symlink_to(downloads)
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", suspended=True)
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/b", CONTENT), place / "link" / "a", suspended=True)
    assert raised.value.status is Status.DESTINATION_IN_USE and str(downloads / "a") in str(raised.value)
    one.download(misbehaving.serve("/b", CONTENT), place / "link" / "b", suspended=True)
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/c", CONTENT), downloads / "b")
    assert raised.value.status is Status.DESTINATION_IN_USE


# Conditional requests


def if_changed(one, url, destination, **options):
    one.download(url, destination, if_exists="replace", if_changed=True, **options)
    [event] = ends(one.wait_for())
    acknowledge_all(one)
    return event


NOT_MODIFIED = Behaviour(status=304)


@pytest.mark.both_hostings
@pytest.mark.parametrize("etag, date, field", [
    ("\"v1\"", None, "if-none-match"), ("W/\"v1\"", None, "if-none-match"),
    (None, "Mon, 05 Oct 2026 08:00:00 GMT", "if-modified-since"),
])
def test_a_file_that_has_not_changed_is_not_fetched_again(one, misbehaving, downloads, etag, date, field):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(), NOT_MODIFIED, NOT_MODIFIED], etag=etag, last_modified=date)
    assert if_changed(one, url, downloads / "a").http_status == 200
    before = os.stat(downloads / "a")
    for _ in range(2):
        event = if_changed(one, url, downloads / "a")
        assert (event.state, event.http_status, event.size) == (TaskState.SUCCEEDED, 304, CONTENT.size)
        assert str(event.path) == str(downloads / "a")
    assert os.stat(downloads / "a").st_ino == before.st_ino
    assert [asked.headers.get(field) for asked in misbehaving.log("/a")] == [None, etag or date, etag or date]
    assert len(list(downloads.iterdir())) == 1


def test_a_newer_representation_replaces_the_file_and_its_validators_are_stored(one, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour()])
    if_changed(one, url, downloads / "a")
    misbehaving.serve("/a", NEWER, [Behaviour(), NOT_MODIFIED])
    assert if_changed(one, url, downloads / "a").http_status == 200
    assert sha256_of(downloads / "a") == NEWER.sha256
    assert if_changed(one, url, downloads / "a").http_status == 304
    assert [asked.headers.get("if-none-match") for asked in misbehaving.log("/a")] == [
        None, CONTENT.etag, NEWER.etag]


@pytest.mark.parametrize("change", ["gone", "written", "replaced"])
def test_a_file_that_was_changed_locally_is_fetched_with_an_unconditional_request(one, misbehaving, downloads, change):
    url = misbehaving.serve("/a", CONTENT)
    if_changed(one, url, downloads / "a")
    if change == "written":
        with open(downloads / "a", "r+b") as file:
            file.write(b"other")
    else:
        os.unlink(downloads / "a")
    if change == "replaced":
        (downloads / "a").write_bytes(CONTENT.data)
    assert if_changed(one, url, downloads / "a").http_status == 200
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert all("if-none-match" not in asked.headers for asked in misbehaving.log("/a"))


def test_a_task_with_another_url_or_in_another_session_makes_no_conditional_request(one, misbehaving, downloads):
    if_changed(one, misbehaving.serve("/a", CONTENT), downloads / "a")
    if_changed(one, misbehaving.serve("/b", CONTENT), downloads / "a")
    one.close_session()
    one.session("another")
    if_changed(one, misbehaving.serve("/b", CONTENT), downloads / "a")
    assert all("if-none-match" not in asked.headers for asked in misbehaving.log())


def test_the_next_engine_uses_the_stored_validators_after_a_kill(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(), NOT_MODIFIED])
    first = host()
    first.session()
    if_changed(first, url, downloads / "a")
    first.kill_with_engine()
    second = host()
    second.session()
    assert if_changed(second, url, downloads / "a").http_status == 304


def test_a_task_without_the_option_if_changed_stores_no_validators(one, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT)
    one.download(url, downloads / "a")
    acknowledge_all(one)
    if_changed(one, url, downloads / "a")
    assert "if-none-match" not in misbehaving.log("/a")[1].headers


def test_a_304_response_to_an_unconditional_request_fails_the_task(one, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=NOT_MODIFIED)
    event = if_changed(one, url, downloads / "a")
    assert event.status is Status.HTTP_STATUS and event.http_status == 304
