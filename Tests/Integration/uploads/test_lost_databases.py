"""If the database of a store was lost or is an old copy, the store keeps the request bodies that hosts have
enqueued. The host of these tests lets the engine *consume* the files: move them into the store."""

import os
import shutil
import subprocess
from contextlib import suppress

import pytest

import backhaul
from backhaul import BodySource, Hosting, Request, Status

from testbed.host import until

DATABASE = "backhaul.sqlite3"


def database_files(store):
    return [store / name for name in os.listdir(store) if name.startswith(DATABASE)]


def consume(one, forms, path, content):
    path.write_bytes(content)
    one.enqueue([Request(forms.url("/a"), body_file=path, body_source=BodySource.CONSUME, suspended=True)])
    assert not path.exists()


def contents(folder):
    found = []
    for path in folder.iterdir():
        # The engine may move or remove the file at any time.
        with suppress(FileNotFoundError, IsADirectoryError):
            found.append(path.read_bytes())
    return sorted(found)


@pytest.mark.parametrize("loss", ["removed", "emptied"])
def test_a_store_that_lost_its_database_counts_as_damaged_while_it_has_request_bodies(host, forms, sources, store, loss,
                                                                                      one):
    consume(one, forms, sources / "a", b"the only copy")
    one.kill_with_engine()
    for path in database_files(store):
        if loss == "removed" or path.name != DATABASE:
            path.unlink()
        else:
            os.truncate(path, 0)
    with pytest.raises(backhaul.StoreError) as refused:
        host()
    assert refused.value.status is Status.STORE_DAMAGED
    assert str(store / "bodies") in str(refused.value)
    assert contents(store / "bodies") == [b"the only copy"]
    # The error message advises this move.
    shutil.move(store / "bodies", sources / "bodies")
    host().session()
    assert contents(sources / "bodies") == [b"the only copy"]


def test_request_bodies_that_an_old_database_does_not_know_are_moved_to_the_folder_named_lost(
        host, forms, sources, store, tmp_path):
    one = host()
    one.session()
    consume(one, forms, sources / "known", b"known")
    one.kill_with_engine()
    for path in database_files(store):
        shutil.copy(path, tmp_path / path.name)
    one = host()
    one.attach()
    consume(one, forms, sources / "later", b"later")
    one.kill_with_engine()
    for path in database_files(store):
        path.unlink()
    for name in os.listdir(tmp_path):
        if name.startswith(DATABASE):
            shutil.copy(tmp_path / name, store / name)
    one = host()
    one.attach()
    until(lambda: (store / "bodies" / "lost").exists() and contents(store / "bodies" / "lost"),
          lambda found: found == [b"later"])
    one.resume()
    one.wait_for()
    assert [sent.body for sent in forms.sent] == [b"known"]
    done = subprocess.run([os.environ["BACKHAUL_COMMAND"], "doctor", "--store", store], capture_output=True, text=True)
    assert f"{store}/bodies/lost has 1 file that the database does not know" in done.stdout
    # After further starts of the engine, the file still exists.
    one.kill_with_engine()
    host().attach()
    assert contents(store / "bodies" / "lost") == [b"later"]


def test_unknown_request_bodies_are_removed_if_their_hosts_still_have_the_originals(host, forms, sources, store):
    """If the engine crashes before it has recorded an upload in the database, an unknown request body stays in the
    store."""
    one = host()
    one.session()
    consume(one, forms, sources / "known", b"known")
    one.kill_with_engine()
    (sources / "second").write_bytes(b"second")
    os.link(sources / "second", store / "bodies" / "abc-1")
    (store / "bodies" / "abc-2s").write_bytes(b"a snapshot")
    (store / "bodies" / "abc-3s.0").write_bytes(b"a part of one")
    host().attach()
    until(lambda: contents(store / "bodies"), lambda found: found == [b"known"])
    assert not (store / "bodies" / "lost").exists()
    assert (sources / "second").read_bytes() == b"second"


def test_the_daemon_logs_each_lost_request_body_one_time(host, forms, sources, store):
    one = host(hosting=Hosting.DAEMON)
    one.session()
    consume(one, forms, sources / "known", b"known")
    for number, name in enumerate(["abc-1", "abc-2"], 1):
        one.kill_with_engine()
        (store / "bodies" / name).write_bytes(b"the only copy")
        one = host(hosting=Hosting.DAEMON)
        one.attach()
        line = f"1 file that the database does not know was moved to {store}/bodies/lost"
        until(lambda: (store / "daemon.log").read_text(), lambda text: text.count("bodies/lost") == number)
        assert (store / "daemon.log").read_text().count(line) == number
