"""Files through a queue in PostgreSQL, with workers that are killed and stopped."""

import contextlib
import os
import signal
import tempfile
import threading
from pathlib import Path

import pytest

import backhaul
from backhaul import TaskState
from servers.behaviour import Behaviour, retry_after
from servers.content import Content, sha256_of
from servers.counting import CountingServer
from servers.misbehaving import MisbehavingServer
from servers.relay import Relay
from testbed.fleet import Database, Fleet, connection_pool
from testbed.fleet_run import soak
from testbed.host import until

LIMIT = 240
#: The rules of a session whose server does not respond for a long time.
SLOW = backhaul.TransferRules(request_timeout_ms=600_000)


def started(fleet, session, url, downloads):
    """Enqueues the download of `file`, and waits until a worker runs it. Returns the task."""
    task = session.download(url, downloads / "file", key="file")
    until(lambda: fleet.sql("SELECT 1 FROM backhaul.live WHERE state = 3"), bool, LIMIT)
    return task


def ends(session, count):
    """Reads events until `count` tasks have ended. Returns the ends by the key of the task."""
    found = {}
    for event in session.events(timeout=LIMIT):
        if event.key is not None:
            found.setdefault(event.key, []).append(event)
        if len(found) == count:
            break
    return found


@pytest.fixture
def host(fleet):
    with backhaul.Application("org.example.fleet", fleet.address) as application:
        yield application


def test_two_workers_download_all_files_although_one_is_killed(fleet, host, nginx, misbehaving, served, downloads):
    names, stalled = sorted(served.digests)[:20], Content(100_000)
    # A worker that a busy machine does not run for the time of its lease would lose its tasks, too.
    fleet.start("first", lease=15), fleet.start("second", lease=15)
    until(lambda: fleet.json("fleet", "workers"), lambda workers: len(workers) == 2, LIMIT)
    with host.session("files") as session:
        # The worker that begins this download cannot end it.
        url = misbehaving.serve("/stalled", stalled, [Behaviour(stall_after=50_000)])
        session.download(url, downloads / "stalled", key="stalled")
        for name in names:
            session.download(f"{nginx.url}/slow/{name}", downloads / name, key=name)
        [worker] = until(lambda: fleet.sql("SELECT w.name FROM backhaul.live l JOIN backhaul.workers w "
                                           "ON w.id = l.worker JOIN backhaul.tasks t ON t.id = l.task "
                                           "WHERE t.key = 'stalled'"), bool, LIMIT)
        fleet.workers[worker].kill()
        ended = ends(session, len(names) + 1)
    assert sorted(ended) == sorted([*names, "stalled"])
    assert all(len(events) == 1 and events[0].state == TaskState.SUCCEEDED for events in ended.values())
    assert {name: sha256_of(downloads / name) for name in names} == {name: served.digests[name] for name in names}
    assert (downloads / "stalled").read_bytes() == stalled.data
    assert fleet.sql("SELECT count(*), sum(e.run) FILTER (WHERE t.key = 'stalled') FROM backhaul.ends e "
                     "JOIN backhaul.tasks t ON t.id = e.task") == ["21|2"]
    # No temporary file is left beside the files.
    assert sorted(path.name for path in downloads.iterdir()) == sorted(ended)


def test_a_zombie_publishes_nothing(fleet, host, large, downloads):
    url, expected = large
    zombie = fleet.start("zombie", lease=3)
    with host.session("files") as session:
        started(fleet, session, url, downloads)
        zombie.send_signal(signal.SIGSTOP)
        until(lambda: fleet.sql("SELECT 1 FROM backhaul.workers WHERE name = 'zombie' AND lease_until < now()"),
              bool, LIMIT)
        fleet.start("other", lease=60)
        [event] = ends(session, 1)["file"]
        assert event.state == TaskState.SUCCEEDED
        placed = (downloads / "file").stat()
        zombie.send_signal(signal.SIGCONT)
        until(lambda: fleet.sql("SELECT 1 FROM backhaul.workers WHERE name = 'zombie' AND lease_until > now()"),
              bool, LIMIT)
        # By then, a zombie that published its file would have done so.
        fleet.command("fleet", "drain", "zombie")
        assert zombie.wait(LIMIT) == 0
    assert sha256_of(downloads / "file") == expected
    assert (downloads / "file").stat().st_ino == placed.st_ino
    assert [path.name for path in downloads.iterdir()] == ["file"]
    assert fleet.sql("SELECT run FROM backhaul.ends") == ["2"]


def test_a_worker_whose_network_cable_is_unplugged_publishes_nothing(fleet, host, database, network, downloads):
    content = Content(3_000_000)
    database_there = Relay(f"{database.folder}/.s.PGSQL.5432", address=network.address)
    server = MisbehavingServer(address=network.address)
    with contextlib.ExitStack() as stack, host.session("files") as session:
        network.there(lambda: (stack.enter_context(database_there), stack.enter_context(server)))
        network.plug()
        address = fleet.address_through(network.address, database_there.port)
        far = fleet.start("far", lease=3, address=address, prefix=network.prefix)
        url = server.serve("/file", content, [Behaviour(pace=100_000)], otherwise=Behaviour(pace=1_000_000))
        started(fleet, session, url, downloads)
        network.unplug()
        until(lambda: fleet.sql("SELECT 1 FROM backhaul.workers WHERE name = 'far' AND lease_until < now()"),
              bool, LIMIT)
        fleet.start("near", lease=60, address=address, prefix=network.prefix_there)
        assert ends(session, 1)["file"][0].state == TaskState.SUCCEEDED
        placed = (downloads / "file").stat()
        network.plug()
        until(lambda: fleet.sql("SELECT 1 FROM backhaul.workers WHERE name = 'far' AND lease_until > now()"),
              bool, LIMIT)
        fleet.command("fleet", "drain", "far")
        assert far.wait(LIMIT) == 0
    assert (downloads / "file").read_bytes() == content.data
    assert (downloads / "file").stat().st_ino == placed.st_ino
    assert fleet.sql("SELECT run FROM backhaul.ends") == ["2"]


def test_a_restarted_worker_continues_its_own_tasks(fleet, host, large, downloads):
    url, expected = large
    worker = fleet.start("worker", lease=60)
    with host.session("files") as session:
        started(fleet, session, url, downloads)
        worker.kill()
        worker.wait()
        fleet.start("worker", lease=60)
        assert ends(session, 1)["file"][0].state == TaskState.SUCCEEDED
    assert sha256_of(downloads / "file") == expected
    assert fleet.sql("SELECT run FROM backhaul.ends") == ["1"]


def test_a_worker_and_a_host_that_start_before_the_database_wait_for_it(database, fleet, nginx, served, downloads):
    name = sorted(served.digests)[0]
    database.kill()
    fleet.start("worker")
    starting = threading.Timer(1, database.start)
    starting.start()
    with backhaul.Application("org.example.fleet", fleet.address) as host, host.session("files") as session:
        session.download(f"{nginx.url}/{name}", downloads / name, key=name)
        assert ends(session, 1)[name][0].state == TaskState.SUCCEEDED
    starting.join()
    assert sha256_of(downloads / name) == served.digests[name]


def test_a_worker_moves_files_to_another_file_system(fleet, host, nginx, served, downloads):
    names = sorted(served.digests)[:10]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, host.session("files") as session:
        worker = fleet.start("worker", folder=Path(folder))
        for name in names:
            session.download(f"{nginx.url}/{name}", downloads / name, key=name)
        ended = ends(session, len(names))
        fleet.command("fleet", "drain", "worker")
        assert worker.wait(LIMIT) == 0
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    assert {path.name: sha256_of(path) for path in downloads.iterdir()} == {
        name: served.digests[name] for name in names}


def test_a_running_task_is_cancelled(fleet, host, large, downloads):
    fleet.start("worker")
    with host.session("files") as session:
        task = started(fleet, session, large[0], downloads)
        session.cancel([task])
        [event] = ends(session, 1)["file"]
    assert event.state == TaskState.CANCELLED
    assert list(downloads.iterdir()) == []


def test_a_pause_that_a_server_asks_for_holds_for_all_workers(fleet, host, misbehaving, downloads):
    content = Content(100)
    fleet.start("first")
    with host.session("files") as session:
        url = misbehaving.serve("/first", content, [retry_after("15", 429)])
        session.download(url, downloads / "first", key="first")
        until(lambda: fleet.json("fleet", "origins"),
              lambda origins: any(origin["pause_ms"] > 0 for origin in origins), LIMIT)
        fleet.start("second")
        for number in range(4):
            url = misbehaving.serve(f"/{number}", content)
            session.download(url, downloads / str(number), key=str(number))
        ended = ends(session, 5)
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    # All tasks have one origin.
    early = ("SELECT count(*) FROM backhaul.ends e JOIN backhaul.tasks t ON t.id = e.task, backhaul.origins o "
             "WHERE t.key <> 'first' AND e.claimed_at < o.paused_until")
    assert fleet.sql(early) == ["0"]
    assert [len(misbehaving.log(f"/{number}")) for number in range(4)] == [1, 1, 1, 1]


def test_ten_workers_use_the_connections_of_a_server_and_no_more(fleet, host, downloads):
    count = 90
    for number in range(10):
        fleet.start(f"worker{number}", lease=30)
    until(lambda: fleet.json("fleet", "workers"), lambda workers: len(workers) == 10, LIMIT)
    with CountingServer(Content(1_000), seconds=1.5) as server, host.session("files") as session:
        session.enqueue(backhaul.Request(f"{server.url}/{number}", destination=downloads / str(number), key=str(number))
                        for number in range(count))
        ended = ends(session, count)
        # As long as six tasks are queued, six downloads run.
        average = server.average(count - 6)
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    assert (server.most_requests, server.most_connections) == (6, 6)
    assert average >= 4


def test_more_workers_have_more_downloads_up_to_the_limit_of_a_slow_server(fleet, host, downloads):
    count, limit, limit_of_worker = 1_000, 600, 256
    with CountingServer(Content(1_000)) as server, host.session("files", rules=SLOW) as session:
        fleet.command("fleet", "limit", server.url, "--connections", limit)
        session.enqueue(backhaul.Request(f"{server.url}/{number}", destination=downloads / str(number), key=str(number))
                        for number in range(count))
        fleet.start("first", lease=30)
        until(lambda: server.open_requests, lambda open_requests: open_requests == limit_of_worker, LIMIT)
        fleet.start("second", lease=30), fleet.start("third", lease=30)
        until(lambda: server.open_requests, lambda open_requests: open_requests == limit, LIMIT)
        server.release()
        ended = ends(session, count)
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    assert server.most_requests == limit


def test_no_file_and_no_event_is_lost_if_hosts_workers_databases_and_links_are_lost(database, place):
    # `make soak` has a longer run, with other seeds.
    run = soak(place, database, 12, seed=2)
    assert run.result.violations == []
    assert len(run.losses) > 3


def test_a_failover_to_a_synchronous_replica_loses_and_repeats_nothing(nginx, served, place, downloads):
    names = sorted(served.digests)[:20]
    primary = Database("primary")
    replica = Database("replica", primary)
    primary.wait_for_replica()
    address = f"{primary.create()},{replica.folder}&target_session_attrs=read-write"
    with contextlib.closing(Fleet(address, place)) as fleet:
        fleet.start("first"), fleet.start("second")
        with backhaul.Application("org.example.fleet", address) as host, host.session("files") as session:
            session.enqueue(backhaul.Request(f"{nginx.url}/slow/{name}", downloads / name, key=name) for name in names)
            seen = []
            for event in session.events(timeout=LIMIT):
                seen.append((event.key, event.state))
                session.acknowledge([event])
                if len(seen) == 5:
                    primary.kill()
                    replica.promote()
                if event.is_session_finished:
                    break
        assert sorted(seen[:-1]) == [(name, TaskState.SUCCEEDED) for name in names]
        assert fleet.sql("SELECT count(*), (SELECT count(*) FROM backhaul.live) FROM backhaul.ends") == ["20|0"]
    assert {name: sha256_of(downloads / name) for name in names} == {name: served.digests[name] for name in names}


def test_on_a_full_disk_of_the_database_commands_fail_and_all_continues_when_it_has_room(
        database, small_disk, nginx, served, place, downloads):
    names = sorted(served.digests)[:10]
    with contextlib.closing(Fleet(database.create("small"), place)) as fleet:
        fleet.start("worker")
        with backhaul.Application("org.example.fleet", fleet.address) as host, host.session("files") as session:
            for name in names:
                session.download(f"{nginx.url}/slow/{name}", downloads / name, key=name)
            filling = small_disk / "filling"
            with contextlib.suppress(OSError):
                filling.write_bytes(bytes(24_000_000))
            with pytest.raises(backhaul.StoreError) as refused:
                session.enqueue(backhaul.Request("http://127.0.0.1:9/", downloads / str(number), user_data=bytes(5_000),
                                                 suspended=True) for number in range(1_000))
            assert refused.value.status is backhaul.Status.STORE_FULL
            filling.unlink()
            ended = ends(session, len(names))
            assert fleet.workers["worker"].poll() is None
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    assert {name: sha256_of(downloads / name) for name in names} == {name: served.digests[name] for name in names}


def test_hosts_and_workers_can_share_two_connections_of_a_pool_in_transaction_mode(
        fleet, nginx, served, downloads):
    names = sorted(served.digests)[:20]
    with connection_pool(fleet.address) as address:
        for number in range(3):
            fleet.start(str(number), address=address)
        with backhaul.Application("org.example.fleet", address) as host, host.session("files") as session:
            for name in names:
                session.download(f"{nginx.url}/{name}", downloads / name, key=name)
            ended = ends(session, len(names))
            session.acknowledge([event for events in ended.values() for event in events])
        for number in range(3):
            fleet.command("fleet", "drain", str(number))
            assert fleet.workers[str(number)].wait(LIMIT) == 0
    assert {event.state for events in ended.values() for event in events} == {TaskState.SUCCEEDED}
    assert {name: sha256_of(downloads / name) for name in names} == {name: served.digests[name] for name in names}


def test_a_worker_and_a_host_with_the_least_rights_do_their_work(fleet, nginx, served, downloads):
    name, suffix = sorted(served.digests)[0], os.urandom(6).hex()
    kinds = {"worker": [], "host": ["org.example.fleet"]}
    addresses = {kind: fleet.address.replace("postgres@", f"{kind}_{suffix}@") for kind in kinds}
    for kind, application in kinds.items():
        fleet.sql(f"CREATE ROLE {kind}_{suffix} LOGIN")
        fleet.command("fleet", "grant", kind, f"{kind}_{suffix}", *application)
    fleet.start("worker", address=addresses["worker"])
    with backhaul.Application("org.example.fleet", addresses["host"]) as host, host.session("files") as session:
        session.download(f"{nginx.url}/{name}", downloads / name, key=name)
        assert ends(session, 1)[name][0].state == TaskState.SUCCEEDED
    assert sha256_of(downloads / name) == served.digests[name]
    with pytest.raises(backhaul.StoreError) as refused:
        backhaul.Application("org.example.other", addresses["host"])
    assert "`backhaul fleet grant`" in str(refused.value)


def test_a_worker_places_no_file_below_its_own_directory(fleet, host, nginx, served, place):
    name, directory = sorted(served.digests)[0], fleet.folder / "worker"
    (place / "link").symlink_to(directory)
    fleet.start("worker")
    until(lambda: fleet.json("fleet", "workers"), bool, LIMIT)
    folders = [directory, directory / "store", place / "link"]
    with host.session("files") as session:
        for folder in folders:
            session.download(f"{nginx.url}/{name}", folder / "file", key=str(folder))
        ended = ends(session, len(folders))
    assert {(event.state, event.status) for events in ended.values() for event in events} == {
        (TaskState.FAILED, backhaul.Status.INVALID_ARGUMENT)}
    assert [folder for folder in folders if (folder / "file").exists()] == []


def test_the_command_line_uses_the_fleet_as_its_store(fleet, nginx, served, downloads):
    name = sorted(served.digests)[0]
    fleet.command("add", "-o", downloads / name, f"{nginx.url}/{name}")
    [task] = fleet.json("tasks")
    assert (task["state"], task["reason"]) == ("waiting", "slot")
    [status] = fleet.json("fleet", "status")
    assert (status["queued"], status["workers"]) == (1, 0)
    worker = fleet.start("worker")
    fleet.command("wait")
    assert sha256_of(downloads / name) == served.digests[name]
    [listed] = fleet.json("fleet", "workers")
    assert (listed["name"], listed["draining"], listed["running_tasks"]) == ("worker", False, 0)
    fleet.command("fleet", "drain", "worker")
    assert worker.wait(LIMIT) == 0
    assert fleet.json("fleet", "workers") == []
    fleet.command("fleet", "drain", "worker", code=3)


def test_a_password_in_the_address_is_refused():
    with pytest.raises(backhaul.InvalidArgument) as refused:
        backhaul.Application("org.example.fleet", "postgresql://ann:secret@127.0.0.1:9/fleet")
    assert "secret" not in str(refused.value)
