"""The current version opens stores of version 0.4. A store is the directory with all data of the engine, which runs the
transfers. All data of these stores is unchanged, and the transfers in them finish.

Tests/Support/stores/0.4 has the stores, and the listings that version 0.4 printed for them. A kept file is a downloaded
file that is still in the store. The history is the list of ended tasks.
"""

import base64
import http.server
import json
import os
import re
import sqlite3
import threading
from pathlib import Path

import pytest

from command_line import until

pytestmark = pytest.mark.hosting("daemon")

FIXTURE = Path(__file__).resolve().parents[1] / "Support" / "stores" / "0.4"
APPLICATION = "org.example.photos"
CONTENT = bytes(range(256)) * 40
RECEIVED = 3_000
CREDENTIAL = {realm: "Basic " + base64.b64encode(f"ann:{realm} secret".encode()).decode()
              for realm in ("kept", "secret")}

#: Maps the names that version 0.4 printed to the current names (see CHANGELOG.md).
RENAMED = {
    "configure": {
        "maximum_attempts": "retry.maximum_attempts", "first_retry_delay_ms": "retry.first_delay_ms",
        "longest_retry_delay_ms": "retry.longest_delay_ms", "retry_jitter_percent": "retry.jitter_percent",
        "retry_errors": "retry.errors", "retry_statuses": "retry.statuses",
        "retries_unsafe_methods": "retry.unsafe_methods",
        **{name: f"rules.{name}" for name in (
            "request_timeout_ms", "resource_timeout_ms", "http_version", "redirects", "maximum_redirects",
            "accepted_statuses", "maximum_size")},
        **{name: f"constraints.{name}" for name in (
            "preset", "requires_external_power", "requires_unmetered", "networks", "minimum_battery_percent",
            "maximum_thermal_state", "maximum_cpu_pressure_percent", "maximum_io_pressure_percent",
            "maximum_memory_pressure_percent", "minimum_bytes_per_second", "quiet_hours")},
        **{name: f"tls.{name}" for name in ("ca_file", "client_certificate", "client_key", "pinned_public_keys")},
        "minimum_tls": "tls.minimum_version", "proxy": "proxy.url", "proxy_user": "proxy.user",
        "no_proxy": "proxy.bypass", "daily_budget": "budget.daily", "monthly_budget": "budget.monthly",
    },
    "networks": {"daily_budget": "budget.daily", "monthly_budget": "budget.monthly"},
    "sessions": {"invalidating": "is_invalidated"},
    "events": {
        "state": "task_state", "error": "error_message", "succeeded": "group_succeeded", "failed": "group_failed",
        "cancelled": "group_cancelled",
    },
    "attempts": {"error": "error_message"},
}
#: Members of the JSON objects that the tests do not compare, because they change with time.
PASSING = {
    "launches": {"state", "launches", "next_launch_ms", "process_id", "started_ms", "error_message"},
    "sessions": {"launch_state", "next_launch_ms"},
    "networks": {"day_ends_ms", "month_ends_ms"},
}


class Handler(http.server.BaseHTTPRequestHandler):
    """The server to which the transfers in the stores send their requests."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path[1:]
        self.server.requests.setdefault(name, []).append((self.headers, b""))
        realm = name.partition("-")[0]
        if realm in CREDENTIAL and self.headers.get("Authorization") != CREDENTIAL[realm]:
            return self.reply(401, b"", ("WWW-Authenticate", f'Basic realm="{realm}"'))
        if name == "busy" and self.server.is_busy:
            return self.reply(503, b"later\n", ("Retry-After", "86400"))
        if name == "slow" and self.headers.get("If-Range") == '"slow-1"':
            first = int(re.fullmatch(r"bytes=(\d+)-", self.headers["Range"])[1])
            return self.reply(206, CONTENT[first:], ("ETag", '"slow-1"'),
                              ("Content-Range", f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}"))
        return self.reply(200, CONTENT)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.setdefault(self.path[1:], []).append((self.headers, body))
        self.reply(201, b"thanks\n")

    do_POST = do_PUT

    def reply(self, status, body, *fields):
        self.send_response(status)
        for field in (*fields, ("Content-Length", str(len(body)))):
            self.send_header(*field)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def origin():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests = {}
        server.is_busy = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(params=["schema-4", "schema-5"])
def earlier(request, backhaul, origin):
    """The command line with a store of version 0.4. Its attribute `listed` has the listings that version 0.4 printed
    for the store."""
    files = backhaul.folder / "files"
    for folder in (files, backhaul.store, backhaul.store / "kept", backhaul.store / "bodies"):
        folder.mkdir(mode=0o700)

    def here(name):
        text = (FIXTURE / request.param / name).read_text(encoding="utf-8")
        for mark, value in (("@PLACE@", str(backhaul.folder)),
                            ("@ORIGIN@", f"http://127.0.0.1:{origin.server_port}")):
            text = text.replace(mark, value)
        return re.sub(r"\b47013\b", str(origin.server_port), text)

    for name in ("first", "done", "single"):
        (files / name).write_bytes(CONTENT)
    (backhaul.store / "kept" / "6").write_bytes(CONTENT)
    path = backhaul.store / "backhaul.sqlite3"
    database = sqlite3.connect(path)
    database.executescript(here("store.sql"))
    put_files(database, files, backhaul.store / "bodies")
    database.commit()
    database.close()
    path.chmod(0o600)
    backhaul.listed = json.loads(here("listed.json"))
    return backhaul


def put_files(database, files, bodies):
    """Writes the files that the store identifies by device, inode and time. Each file gets the time that the database
    has. The database gets the device and the inode of each new file."""
    def identity(file):
        return os.stat(file).st_dev, os.stat(file).st_ino

    for table in ("requests", "activities"):
        database.execute(f"UPDATE {table} SET directory_device = ?, directory_inode = ?"
                         " WHERE directory_device IS NOT NULL", identity(files))
    tag, task = database.execute("SELECT value, task_id FROM meta, checkpoints WHERE key = 'tag'").fetchone()
    [version] = database.execute("PRAGMA user_version").fetchone()
    name = f".backhaul-{tag}-{task}"
    if version > 4:
        [part] = database.execute("SELECT part FROM tasks WHERE id = ?", [task]).fetchone()
        name += f"-{part & (1 << 64) - 1:016x}"
    file = files / f"{name}.part"
    file.write_bytes(CONTENT[:RECEIVED])
    file.chmod(0o600)
    if version > 4:
        database.execute("UPDATE checkpoints SET part_device = ?, part_inode = ?", identity(file))
    for name, source, time in database.execute(
            "SELECT stored, file, modified_ns FROM body_parts WHERE stored IS NOT NULL").fetchall():
        body = bodies / name
        body.write_bytes(f"{Path(source).name} body\n".encode())
        os.utime(body, ns=(time, time))
        database.execute("UPDATE body_parts SET device = ?, inode = ? WHERE stored = ? AND device <> 0",
                         (*identity(body), name))


def listing(backhaul, key):
    """Returns what the current command line prints for a key of listed.json. A key is a command. If the command has a
    session, the name of the session follows."""
    command, _, session = key.partition(" ")
    if command in ("limits", "launches"):
        return backhaul.json(command)
    if command == "networks":
        return backhaul.json(command, "Café")
    names = ["--application", APPLICATION, *(["--session", session] if session else [])]
    if command != "attempts":
        return backhaul.json(command, *names)
    tasks = [task["id"] for part in ("tasks", "history") for task in backhaul.json(part, *names)]
    return [attempt for task in tasks for attempt in backhaul.json("attempts", *names, task)]


def value(item, path):
    for name in path.split("."):
        item = item[name]
    return item


def differences(command, before, now):
    """Compares an object that version 0.4 printed with the current object. Yields a text for each member whose value
    differs."""
    for name, old in before.items():
        if name in PASSING.get(command, ()):
            continue
        path = RENAMED.get(command, {}).get(name, name)
        if name == "error" and old:
            found = {part: now[f"error_{part}"] for part in old}
        else:
            found = value(now, path)
        if found != old:
            yield f"{path} is {found!r} instead of {old!r}"


def ends(backhaul):
    """Maps the last part of each ended task's URL to the event about the task's end. These events are not acknowledged
    (confirmed) yet."""
    return {event["url"].rpartition("/")[2]: event
            for event in listing(backhaul, "events transfers") if event["kind"] == "task_ended"}


def test_all_sessions_and_tasks_and_events_in_a_store_of_version_0_4_are_unchanged(earlier):
    wrong = []
    for key, before in earlier.listed.items():
        command = key.partition(" ")[0]
        now = listing(earlier, key)
        if command != "attempts":
            assert len(now) == len(before), key
        for old in before:
            same = [name for name in ("task_id", "number", "id", "identifier", "application") if name in old]
            new = [one for one in now if all(one[name] == old[name] for name in same)]
            # The stored time of this task's next attempt has passed. So the engine retried the task when the engine
            # opened the store.
            if command == "tasks" and old["url"].endswith("/busy"):
                old = {name: old[name] for name in ("round", "kind", "url", "destination", "priority", "enqueued_ms")}
            wrong += [f"{key}: {found}" for found in differences(command, old, new[0])]
    assert not wrong


def test_all_transfers_in_a_store_of_version_0_4_finish(earlier, origin):
    names = ("--application", APPLICATION, "--session", "transfers")
    origin.is_busy = False
    (earlier.here / "password").write_text("secret secret\n")
    [challenge] = listing(earlier, "challenges transfers")
    earlier("respond", *names, challenge["id"], "--user", "ann", "--password-file", "password")
    earlier("reschedule", *names, "--all", "--earliest-start", "now")
    earlier("resume", *names, "--all")
    unfinished = {task["url"].rpartition("/")[2] for task in earlier.listed["tasks transfers"]
                  if task["state"] in ("waiting", "suspended")}
    assert len(unfinished) == 8
    until(lambda: unfinished <= set(ends(earlier)), "the end of each transfer")
    assert {name: ends(earlier)[name]["status"] for name in unfinished} == dict.fromkeys(unfinished, "BH_OK")
    files = earlier.folder / "files"
    for name in ("slow", "secret", "busy", "later", "again"):
        assert (files / name).read_bytes() == CONTENT


def test_a_partial_download_in_a_store_of_version_0_4_resumes_after_the_received_bytes(earlier, origin):
    earlier("resume", "--application", APPLICATION, "--session", "transfers", "--all")
    until(lambda: "slow" in ends(earlier), "the end of the download")
    assert [headers["Range"] for headers, _ in origin.requests["slow"]] == [f"bytes={RECEIVED}-"]
    assert (earlier.folder / "files" / "slow").read_bytes() == CONTENT


def test_a_request_has_the_cookie_and_the_credential_that_version_0_4_stored(earlier, origin):
    earlier("resume", "--application", APPLICATION, "--session", "transfers", "--all")
    until(lambda: "kept-again" in ends(earlier), "the end of the download")
    headers = origin.requests["kept-again"][-1][0]
    assert (headers["Cookie"], headers["Authorization"]) == ("visit=first", CREDENTIAL["kept"])


def test_uploads_send_the_request_bodies_that_version_0_4_stored(earlier, origin):
    earlier("resume", "--application", APPLICATION, "--session", "transfers", "--all")
    until(lambda: {"bytes", "form", "consumed"} <= set(ends(earlier)), "the end of the uploads")
    bodies = {name: origin.requests[name][0][1] for name in ("bytes", "form", "consumed")}
    assert (bodies["bytes"], bodies["consumed"]) == (b"bytes in the store\n", b"consumed body\n")
    assert b"snapshot body\n" in bodies["form"] and b"Holidays" in bodies["form"]


def test_the_claim_command_moves_a_kept_file_out_of_a_store_of_version_0_4(earlier):
    earlier("claim", "--application", APPLICATION, "--session", "transfers", "6", "claimed")
    assert (earlier.here / "claimed").read_bytes() == CONTENT


def test_the_history_has_the_tasks_of_version_0_4_after_their_events_are_acknowledged(earlier):
    acknowledged = [task["id"] for task in earlier.listed["tasks transfers"] if task["ended_ms"]]
    before = [task["id"] for task in earlier.listed["history transfers"]]
    earlier("events", "--application", APPLICATION, "--session", "transfers", "--acknowledge")
    assert [task["id"] for task in listing(earlier, "history transfers")] == before + acknowledged
