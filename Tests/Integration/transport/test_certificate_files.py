"""Certificate files that hang (a read of the file does not return), are invalid, or change. Such a file affects only
the sessions that name it."""

import os
import shutil
import signal

import pytest

from backhaul import Hosting, Proxy, Status, TaskState

from servers.hung import hung_mount
from testbed.host import until
from transport.conftest import QUICK, Authority
from transport.silence import SilentTunnel

OPTIONS = ["ca_file", "client_certificate", "client_key"]


@pytest.fixture
def options(authority):
    return {"ca_file": authority.file, "client_certificate": authority.client("owner"),
            "client_key": authority.client("owner")}


@pytest.fixture
def hung(tmp_path):
    with hung_mount(tmp_path / "hung") as folder:
        yield folder / "file.pem"


class RenewingTunnel(SilentTunnel):
    """A proxy that calls `renew` before it opens a tunnel. The engine has read the certificate files before that."""

    def __init__(self, renew):
        super().__init__()
        self._renew = renew

    def _serve(self, connection):
        self._renew()
        super()._serve(connection)


def ended(one):
    return next(event for event in one.wait_for() if event.task_id)


@pytest.mark.parametrize("option", OPTIONS)
def test_a_task_with_a_hung_certificate_file_fails_with_the_name_of_the_file(
        fetch, serve, authority, options, hung, option):
    server = serve(authority.context())
    event = fetch(server.url + "/a", **{**options, option: hung}, request_timeout_ms=1_000)
    assert (event.state, event.status) == (TaskState.FAILED, Status.REQUEST_TIMEOUT), event
    assert event.error_message == (
        f"{option} {hung} cannot be read: its file system has not responded for 1000 ms")


@pytest.mark.parametrize("option", OPTIONS)
def test_a_hung_certificate_file_does_not_delay_tasks_of_other_sessions(
        host, serve, authority, options, downloads, hung, option):
    server = serve(authority.context())
    one = host()
    for number in range(20):
        one.session(f"stuck {number}", **QUICK, **{**options, option: hung})
        stuck = one.download(server.url + "/a", downloads / f"stuck {number}")
    one.session("free", **QUICK, **options)
    one.download(server.url + "/a", downloads / "free")
    assert ended(one).state is TaskState.SUCCEEDED
    one.select_session("stuck 19")
    one.cancel([stuck])
    assert ended(one).state is TaskState.CANCELLED


def test_an_engine_can_close_while_a_certificate_file_hangs(host, serve, authority, downloads, hung):
    server = serve(authority.context())
    one = host()
    one.session(ca_file=hung, **QUICK)
    one.download(server.url + "/a", downloads / "stuck")
    one.close()
    # The store is free, so a new engine can start in the same process.
    one.open()
    one.session("other", ca_file=authority.file, **QUICK)
    one.download(server.url + "/a", downloads / "free")
    assert ended(one).state is TaskState.SUCCEEDED


def test_a_daemon_exits_on_sigterm_while_a_certificate_file_hangs(host, serve, authority, downloads, hung):
    server = serve(authority.context())
    one = host(hosting=Hosting.DAEMON)
    one.session(ca_file=hung, **QUICK)
    stuck = one.download(server.url + "/a", downloads / "stuck")
    until(one.tasks, lambda found: found[0].state is TaskState.RUNNING)
    process = one.engine().process_id
    os.kill(process, signal.SIGTERM)
    until(lambda: os.path.exists(f"/proc/{process}/exe"), lambda there: not there)
    # The next daemon performs the host's next call.
    one.cancel([stuck])
    assert ended(one).state is TaskState.CANCELLED


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("make, reason", [
    (lambda path: os.mkfifo(path), "is no regular file"),
    (lambda path: os.mkdir(path), "is no regular file"),
    (lambda path: os.symlink("/dev/zero", path), "is no regular file"),
    (lambda path: path.write_bytes(bytes(5 << 20)), "has more than 4 MiB"),
    (lambda path: os.symlink(path, path), "cannot be read"),
], ids=["FIFO", "directory", "device", "5 MiB", "endless link"])
def test_a_task_with_an_invalid_certificate_file_fails_at_once(
        fetch, serve, authority, options, tmp_path, option, make, reason):
    path = tmp_path / "odd.pem"
    make(path)
    event = fetch(serve(authority.context()).url + "/a", **{**options, option: path})
    assert (event.state, event.status, event.attempts) == (TaskState.FAILED, Status.TLS_FAILED, 1), event
    assert event.error_message.startswith(f"{option} {path} {reason}")


def test_the_error_has_the_number_of_the_damaged_certificate_in_the_file(fetch, serve, authority, tmp_path):
    path = tmp_path / "damaged.pem"
    path.write_bytes(authority.file.read_bytes() + b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    event = fetch(serve(authority.context()).url + "/a", ca_file=path)
    assert event.status is Status.TLS_FAILED
    assert event.error_message == (
        f"ca_file {path} cannot be read as certificates in PEM: the one behind the first 1 is damaged")


def test_a_corrected_certificate_file_is_read_again(host, serve, authority, downloads, tmp_path):
    path = tmp_path / "changing.pem"
    shutil.copy(Authority(tmp_path).file, path)
    server = serve(authority.context())
    one = host()
    one.session(ca_file=path, **{**QUICK, "maximum_attempts": 1})
    one.download(server.url + "/a", downloads / "a")
    assert ended(one).status is Status.TLS_FAILED
    shutil.copy(authority.file, path)
    one.session("again", ca_file=path, **{**QUICK, "maximum_attempts": 1})
    one.download(server.url + "/a", downloads / "b")
    assert ended(one).state is TaskState.SUCCEEDED


def test_a_key_that_is_renewed_after_its_certificate_fails_no_attempt(fetch, serve, authority, tmp_path):
    key = tmp_path / "key.pem"
    shutil.copy(authority.client("before"), key)
    renewed = authority.client("renewed")
    with RenewingTunnel(lambda: shutil.copy(renewed, key)) as proxy:
        event = fetch(serve(authority.context()).url + "/a", ca_file=authority.file, client_certificate=renewed,
                      client_key=key, proxy=Proxy(url=proxy.url))
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event


def test_an_authority_that_was_removed_from_its_file_is_no_longer_trusted(host, serve, authority, downloads, tmp_path):
    """Connections that were made with the old file are not used again."""
    path = tmp_path / "changing.pem"
    shutil.copy(authority.file, path)
    server = serve(authority.context())
    one = host()

    def status(name):
        one.session(name, ca_file=path, **{**QUICK, "maximum_attempts": 1})
        one.download(server.url + "/a", downloads / name)
        return ended(one).status

    assert status("before") is Status.OK
    shutil.copy(Authority(tmp_path).file, path)
    # The engine checks a file at most once a second.
    found = []
    while not found or found[-1] is Status.OK:
        found.append(status(f"after {len(found)}"))
        assert len(found) < 1_000
    assert found[-1] is Status.TLS_FAILED
