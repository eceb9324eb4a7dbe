"""Other programs remove, replace or move the store while a daemon and its hosts use the store. In other tests, a
resource is missing, such as space on the disk or descriptors."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

from backhaul import Application, BackhaulError, Hosting, Request, Role, Status
from testbed.host import until


def removed(place):
    place.unlink()


def a_file(place):
    place.unlink()
    place.write_text("no socket")


def a_link(place):
    place.unlink()
    place.symlink_to("/etc/passwd")


def moved_over(place):
    other = place.parent.parent / "other"
    other.write_text("no socket")
    other.rename(place)


@pytest.mark.parametrize("hosting", [Hosting.DAEMON, Hosting.EMBEDDED])
@pytest.mark.parametrize("act", [removed, a_file, a_link, moved_over])
def test_a_removed_or_replaced_socket_is_created_again(host, store, act, hosting):
    one = host(opened=False).open(hosting=hosting)
    one.session()
    act(store / "engine.socket")
    two = host(opened=False).open(hosting=hosting, timeout=60)
    two.attach(role=Role.PRODUCE)
    assert two.engine().process_id == one.engine().process_id


def test_if_a_directory_replaces_the_socket_a_log_message_asks_to_remove_the_directory(host, store, one):
    (store / "engine.socket").unlink()
    (store / "engine.socket").mkdir()
    until(lambda: (store / "daemon.log").read_text(), lambda text: "has a directory engine.socket; remove it" in text)
    (store / "engine.socket").rmdir()
    assert host().engine().process_id == one.engine().process_id


def swapped(store):
    store.rename(store.parent / "elsewhere")
    store.mkdir(mode=0o700)


@pytest.mark.parametrize("act", [
    lambda store: store.rename(store.parent / "elsewhere"), lambda store: shutil.rmtree(store, ignore_errors=True),
    swapped])
def test_a_host_whose_store_was_moved_or_removed_gets_an_error_and_makes_no_new_store(host, store, daemon, act, one):
    first = daemon()
    while store.exists() and not (store.parent / "elsewhere").exists():
        act(store)
    until(lambda: os.path.exists(f"/proc/{first}/exe"), lambda there: not there)
    for _ in range(2):
        for verb in ("all_sessions", "configuration", "tasks"):
            with pytest.raises(BackhaulError, match="open") as raised:
                getattr(one, verb)()
            assert raised.value.status is Status.STORE_UNAVAILABLE, verb
    assert not (store / "lock").exists()
    # Another host makes a new store at this path, with another session of the same name.
    two = host()
    assert two.session() is True
    with pytest.raises(BackhaulError) as raised:
        one.enqueue([Request("http://127.0.0.1:9/", suspended=True)])
    assert raised.value.status is Status.STORE_UNAVAILABLE
    assert two.tasks() == []


def test_a_store_that_is_moved_back_works_again(store, daemon, one):
    first = daemon()
    store.rename(store.parent / "elsewhere")
    until(lambda: os.path.exists(f"/proc/{first}/exe"), lambda there: not there)
    (store.parent / "elsewhere").rename(store)
    assert one.tasks() == []


OPENING = """
import sys
from backhaul import Application, BackhaulError
try:
    Application("org.example.full", sys.argv[1], timeout=20)
except BackhaulError as error:
    print(error.status.name, error)
"""


def opened_with(store, limit, value):
    def limited():
        resource.setrlimit(limit, (value, value))

    return subprocess.run([sys.executable, "-c", OPENING, store], preexec_fn=limited, capture_output=True, text=True,
                          timeout=60).stdout


def test_a_host_gets_an_error_if_its_daemon_cannot_write_the_log(store, place):
    assert opened_with(store, resource.RLIMIT_FSIZE, 0).startswith("STORE_FULL ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file system")
def test_a_new_store_on_a_full_disk_fails_with_the_status_store_full(store, place):
    full = place / "full"
    full.mkdir()
    script = ('mount -t tmpfs -o size=1m none "$1" && { cat /dev/zero > "$1/fill"; '
              'exec "$2" -c "$3" "$1/store"; } 2> /dev/null')
    result = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", full, sys.executable, OPENING],
                            capture_output=True, text=True, timeout=60)
    if not result.stdout and result.returncode:
        pytest.skip("no file system can be mounted here")
    assert result.stdout.startswith("STORE_FULL ") and "free some space" in result.stdout


@pytest.mark.parametrize("descriptors", range(6, 32))
def test_a_host_with_few_descriptors_succeeds_or_reports_the_status_out_of_resources(store, place, descriptors):
    output = opened_with(store, resource.RLIMIT_NOFILE, descriptors)
    assert "SystemError" not in output
    assert output == "" or output.startswith("OUT_OF_RESOURCES ")


def test_a_daemon_reports_its_lack_of_free_descriptors_to_the_next_client(store, place):
    assert opened_with(store, resource.RLIMIT_NOFILE, 40) == ""
    clients = []
    try:
        with pytest.raises(BackhaulError) as refused:
            for number in range(60):
                clients.append(Application(f"org.example.client{number}", store, timeout=20))
        assert refused.value.status is Status.OUT_OF_RESOURCES
        assert "no descriptor left" in str(refused.value) and "RLIMIT_NOFILE" in str(refused.value)
    finally:
        for client in clients:
            client.close()
