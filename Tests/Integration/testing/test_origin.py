"""What the origin of the test kit scripts is what the engine meets, in real transfers."""

import hashlib
from datetime import timedelta

from backhaul import Status

CONTENT = bytes(range(256)) * 1_000


def download(bed, session, resource, **options):
    """Enqueues a download, waits until it has made its first request, and lets the delay after a failure pass. Returns
    the event at the end of the task."""
    session.download(resource.url, bed.directory / "file", **options)
    resource.wait_for_requests(1)
    bed.pass_time(timedelta(minutes=2))
    return next(event for event in session.events() if event.is_task_ended)


def asked(resource):
    return [(request.status, request.offset) for request in resource.requests]


def content(bed):
    return (bed.directory / "file").read_bytes()


def test_a_dropped_transfer_continues_where_it_was(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.drop(at=100_000)
    assert download(backhaul_testbed, session, file).succeeded
    assert asked(file) == [(200, 0), (206, 100_000)]
    assert content(backhaul_testbed) == CONTENT


def test_a_stalled_transfer_waits_until_it_is_released(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.stall(at=100_000)
    task = session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_bytes(100_000)
    backhaul_testbed.pass_time(1)
    assert (task.info().offset, task.info().ended_ms) == (100_000, 0)
    file.release()
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert asked(file) == [(200, 0)]


def test_before_time_passes_the_daemon_has_what_was_released(backhaul_testbed, session):
    for turn in range(3):
        files = [backhaul_testbed.serve(f"/{turn}-{number}", CONTENT) for number in range(6)]
        for file in files:
            file.stall(at=100_000)
        tasks = [session.download(file.url, backhaul_testbed.directory / file.url[-3:]) for file in files]
        for file in files:
            file.wait_for_bytes(100_000)
        for file in files:
            file.release()
        backhaul_testbed.pass_time(timedelta(hours=100))
        assert [asked(file) for file in files] == [[(200, 0)]] * 6
        assert {task.info().state.name for task in tasks} == {"SUCCEEDED"}


def test_after_a_minute_without_a_byte_the_request_is_sent_again(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.stall(at=100_000)
    assert download(backhaul_testbed, session, file).succeeded
    assert asked(file) == [(200, 0), (206, 100_000)]


def test_two_hours_of_retry_after_pass_at_once(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.refuse(503, {"Retry-After": "7200"})
    task = session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_requests(1)
    backhaul_testbed.pass_time(timedelta(minutes=119))
    assert (asked(file), task.info().attempts) == ([(503, 0)], 1)
    backhaul_testbed.pass_time(timedelta(minutes=1))
    assert next(event for event in session.events() if event.is_task_ended).succeeded


def test_a_redirect_is_followed(backhaul_testbed, session):
    first, file = backhaul_testbed.serve("/first", b""), backhaul_testbed.serve("/file", CONTENT)
    first.redirect("/file")
    assert download(backhaul_testbed, session, first).succeeded
    assert (asked(first), asked(file)) == ([(302, 0)], [(200, 0)])


def test_wrong_bytes_fail_the_checksum(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    for turn in range(3):
        file.corrupt(at=1_000)
    checksum = "sha-256:" + hashlib.sha256(CONTENT).hexdigest()
    event = download(backhaul_testbed, session, file, checksum=checksum)
    assert (event.succeeded, event.status) == (False, Status.CHECKSUM_MISMATCH)


def test_a_file_that_changes_in_between_is_received_from_the_start(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.stall(at=100_000)
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_bytes(100_000)
    file.replace(CONTENT[::-1])
    backhaul_testbed.pass_time(timedelta(minutes=2))
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert asked(file)[0] == (200, 0) and asked(file)[1][0] == 200
    assert content(backhaul_testbed) == CONTENT[::-1]


def test_a_credential_is_demanded_until_it_is_right(backhaul_testbed):
    with backhaul_testbed.application("org.example.test") as application, \
            application.session("s", asks_for_credentials=True) as session:
        file = backhaul_testbed.serve("/file", CONTENT)
        file.require("me", "secret")
        session.download(file.url, backhaul_testbed.directory / "file")
        file.wait_for_requests(1)
        backhaul_testbed.pass_time(1)
        (challenge,) = session.challenges()
        session.respond(challenge, user="me", password="secret")
        assert next(event for event in session.events() if event.is_task_ended).succeeded
        assert asked(file) == [(401, 0), (200, 0)]


def test_the_body_of_an_upload_arrives(backhaul_testbed, session):
    target = backhaul_testbed.serve("/upload", b"")
    session.upload(target.url, body=CONTENT)
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    (request,) = target.requests
    assert (request.method, request.body) == ("PUT", CONTENT)


def test_the_next_daemon_continues_after_a_kill(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.stall(at=100_000)
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_bytes(100_000)
    assert backhaul_testbed.kill_daemon()
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert content(backhaul_testbed) == CONTENT
