"""The daemon serves metrics, and the metrics follow real transfers."""

import os
import re
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from backhaul import Request, TaskState
from servers import child
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until

from .conftest import PROMETHEUS, samples

PAGE = Path(__file__).resolve().parents[3] / "docs" / "metrics.md"


def refusal(program, store, address):
    """Returns the exit status and the message of a daemon that does not start."""
    done = subprocess.run([program, "--store", store, "--metrics", address], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_the_metrics_can_be_read_at_a_port_and_at_a_unix_socket(daemon, place):
    at_port = daemon()
    assert at_port.get().content_type == PROMETHEUS
    assert at_port.openmetrics().endswith("\n# EOF\n")
    child.end(at_port.process)
    at_path = daemon(place / "metrics.sock")
    assert stat.S_IMODE(os.stat(place / "metrics.sock").st_mode) == 0o600
    assert at_path.openmetrics().endswith("\n# EOF\n")
    child.end(at_path.process)
    assert not (place / "metrics.sock").exists()


@pytest.mark.parametrize("options", [["--http1.0"], ["--http1.1"], ["--compressed"]])
def test_each_version_of_http_gets_the_metrics(served_metrics, options):
    response = served_metrics.get("/metrics", *options)
    assert response.status == 200 and 'backhaul_engine_info{version="' in response.text


def test_the_method_head_gets_the_header_only(served_metrics):
    response = served_metrics.get("/metrics", "--head")
    assert response.status == 200 and "Connection: close" in response.text and "backhaul_" not in response.text


@pytest.mark.parametrize("path, options, status", [
    ("/", [], 404), ("/metrics2", [], 404), ("/metrics", ["-X", "POST", "-d", "x" * 100_000], 405),
    ("/metrics", ["-H", "Host: rebound.example"], 421), ("/metrics", ["-H", "A: " + "a" * 20_000], 400)])
def test_other_requests_are_refused(served_metrics, path, options, status):
    assert served_metrics.get(path, *options).status == status
    assert served_metrics.get().status == 200


def test_the_counters_follow_transfers_and_failures(served_metrics, host, misbehaving, downloads):
    before = served_metrics.samples()
    content = Content(300_000, 1)
    host.enqueue([
        Request(misbehaving.serve("/good", content), downloads / "good"),
        Request(misbehaving.serve("/lost", content, [Behaviour(drop_after=100_000)]), downloads / "lost"),
        Request(misbehaving.serve("/gone", content, otherwise=Behaviour(status=404, body=b"gone")),
                downloads / "gone"),
    ])
    events = host.wait_for()
    assert sorted(event.state for event in events[:-1]) == [TaskState.SUCCEEDED] * 2 + [TaskState.FAILED]
    after = served_metrics.samples()
    moved = {name: value - before[name] for name, value in after.items() if value != before.get(name)}
    assert after["backhaul_sessions"] == 1
    assert moved['backhaul_tasks{state="succeeded"}'] == 2 and moved['backhaul_tasks{state="failed"}'] == 1
    assert moved['backhaul_ended_tasks_total{outcome="succeeded"}'] == 2
    assert moved['backhaul_ended_tasks_total{outcome="failed"}'] == 1
    assert moved['backhaul_attempts_total{outcome="succeeded"}'] == 2
    assert moved['backhaul_attempts_total{outcome="failed"}'] == 1
    assert moved['backhaul_attempts_total{outcome="retried"}'] == 1
    assert moved['backhaul_retries_total{reason="connection_lost"}'] == 1
    assert moved["backhaul_unacknowledged_events"] == 4
    assert moved["backhaul_store_commit_duration_seconds_count"] > 0
    assert moved["backhaul_disk_sync_duration_seconds_count"] > 0
    resumed = moved["backhaul_resumed_bytes_total"]
    assert 0 < resumed <= 100_000
    # The body of the response with the status 404 counts, too.
    assert moved["backhaul_received_bytes_total"] == 2 * 300_000 - resumed + 100_000 + len(b"gone") or (
        2 * 300_000 <= moved["backhaul_received_bytes_total"] + resumed <= 2 * 300_000 + 100_004)
    host.acknowledge_through(events[-1].id)
    final = served_metrics.samples()
    assert final["backhaul_unacknowledged_events"] == final["backhaul_oldest_event_age_seconds"] == 0
    assert final['backhaul_tasks{state="succeeded"}'] == 0
    assert final['backhaul_ended_tasks_total{outcome="succeeded"}'] == 2


def test_waiting_and_suspended_tasks_count_with_their_reasons(served_metrics, host, misbehaving, downloads):
    stalls = misbehaving.serve("/stalls", Content(300_000), otherwise=Behaviour(stall_after=1_000))
    refuses = misbehaving.serve("/refuses", Content(10), otherwise=Behaviour(status=503, body=b"", headers={
        "Retry-After": "3600"}))
    first, _ = host.enqueue([Request(stalls, downloads / "a"), Request(stalls, downloads / "b", suspended=True)])
    misbehaving.wait_until(lambda log: log)
    found = until(served_metrics.samples, lambda found: found['backhaul_tasks{state="running"}'] == 1)
    assert found['backhaul_tasks{state="suspended"}'] == found['backhaul_waiting_tasks{reason="suspended"}'] == 1
    until(served_metrics.samples, lambda found: found['backhaul_waiting_tasks{reason="stalled"}'] == 1)
    host.cancel()
    found = until(served_metrics.samples, lambda found: found['backhaul_tasks{state="running"}'] == 0)
    assert found['backhaul_ended_tasks_total{outcome="cancelled"}'] == 2
    host.enqueue([Request(refuses, downloads / "c"), Request(refuses, downloads / "d")])
    found = until(served_metrics.samples, lambda found: found['backhaul_waiting_tasks{reason="origin"}'] == 2)
    assert found['backhaul_tasks{state="waiting"}'] == 2


def table():
    """Returns the rows of the table in docs/metrics.md: name, type, labels with their values, and meaning."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `backhaul_"):
            name, kind, labels, meaning = re.split(r"\s*\|\s*", line)[1:-1]
            rows[name.strip("`")] = (kind, set(re.findall(r"`(\w+)`", labels)), meaning)
    return rows


def test_the_manual_has_each_metric_with_its_type_its_labels_and_its_meaning(served_metrics):
    found = {}
    for line in served_metrics.get().text.splitlines():
        if line.startswith("#"):
            _, what, name, rest = line.split(" ", 3)
            entry = found.setdefault(name, ["", set(), ""])
            entry[0 if what == "TYPE" else 2] = rest
        else:
            labels = re.findall(r'(\w+)="([^"]*)"', line)
            sample = re.match(r"\w+", line)[0]
            entry = found.get(sample) or found[re.sub("_(bucket|count|sum)$", "", sample)]
            for label, value in labels:
                entry[1] |= {label} if label in ("version", "le") else {label, value}
    rows = table()
    rows["backhaul_engine_info"][1].discard("embedded")
    assert rows == {name: tuple(entry) for name, entry in found.items()}


def test_hostile_urls_and_names_add_no_label(served_metrics, host, misbehaving, downloads):
    before = set(served_metrics.samples())
    names = ["/a%22%7D%0Abackhaul_fake%201%0A", "/password=secret", "/" + "x" * 2_000]
    urls = [misbehaving.serve(name, Content(100)) for name in names]
    urls += [f"http://127.0.0.{number + 2}:9/secret?token=hunter2" for number in range(20)]
    host.reconfigure(maximum_attempts=1)
    host.enqueue([Request(url, downloads / str(number)) for number, url in enumerate(urls)])
    host.wait_for()
    text = served_metrics.openmetrics()
    assert set(served_metrics.samples()) == before
    assert not re.search("secret|hunter2|gallery|fake|org\\.example|127\\.0\\.0|/", text.replace("# ", ""))


def test_without_the_option_the_daemon_has_no_other_socket(program, store, host):
    process = host.engine().process_id
    sockets = {os.readlink(f"/proc/{process}/fd/{number}") for number in os.listdir(f"/proc/{process}/fd")}
    listens = set()
    for table_of in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table_of}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                listens.add(fields[1])
    paths = {line.split()[7] for line in Path(f"/proc/{process}/net/unix").read_text().splitlines()[1:]
             if f"socket:[{line.split()[6]}]" in sockets and len(line.split()) > 7 and line.split()[3] == "00010000"}
    assert listens == set()
    assert {Path(path).name for path in paths} == {"engine.socket"}


def test_a_stale_socket_is_replaced(daemon, place):
    path = place / "metrics.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert path.is_socket()
    assert daemon(path).get().status == 200


def test_a_socket_that_is_in_use_is_not_replaced(program, store, place):
    path = place / "metrics.sock"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        status, message = refusal(program, store, f"unix:{path}")
    assert status == 1 and "another program listens there" in message


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_file_of_another_kind_is_not_replaced(program, store, place, make):
    path = place / "file"
    make(path)
    status, message = refusal(program, store, f"unix:{path}")
    assert status == 1 and "a file that is no socket" in message
    assert os.path.lexists(path)


def test_a_port_that_is_taken_is_reported(program, store):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, message = refusal(program, store, f"127.0.0.1:{taken.getsockname()[1]}")
    assert status == 1 and "another program listens there" in message


@pytest.mark.parametrize("address", ["0.0.0.0:9100", "localhost:9100", "[::]:9100", "9100", "unix:relative"])
def test_an_address_that_other_machines_could_reach_is_refused(program, store, address):
    status, message = refusal(program, store, address)
    assert status == 2 and message.startswith("backhauld: --metrics takes unix:PATH, 127.0.0.1:PORT or [::1]:PORT")
    assert not store.exists()


def test_the_command_and_the_python_package_return_the_metrics(served_metrics, host, library):
    command = library.parent.parent / "bin" / "backhaul"
    text = subprocess.run([command, "--store", served_metrics.store, "metrics"], capture_output=True, text=True,
                          check=True).stdout
    assert set(samples(text)) == set(samples(served_metrics.openmetrics())) == set(samples(host.metrics()))
    text = subprocess.run([command, "--store", served_metrics.store, "metrics", "--format", "prometheus"],
                          capture_output=True, text=True, check=True).stdout
    assert set(samples(text)) == set(served_metrics.samples())
