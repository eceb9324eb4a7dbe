"""Makes one of the stores in this folder, with the library and the command line of 0.4. README.md describes the stores.

Usage: BACKHAUL_LIBRARY=…/libbackhaul.so.0 PYTHONPATH=…/bindings/python/src make_store.py BACKHAUL BACKHAULD
"""

import http.server
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import backhaul as bh

COMMAND, DAEMON = sys.argv[1:]
PLACE = Path("/var/tmp/backhaul-0.4")
PORT = 47013
ORIGIN = f"http://127.0.0.1:{PORT}"
STORE, FILES = PLACE / "store", PLACE / "files"
#: The boot id of this machine. In the text dump of the database, NO_BOOT replaces this id. No machine has the boot id
#: NO_BOOT. So on every machine, an engine that opens the store assumes that the machine was restarted.
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
NO_BOOT = "00000000-0000-4000-8000-000000000000"
HERE = Path(__file__).resolve().parent
CONTENT = bytes(range(256)) * 40
#: 2100-01-01. A task with this earliest start waits during all years in which these stores are used.
LATER = 4_102_444_800
#: The longest time-out: ten years, in milliseconds. The transfers of this store can finish within these years.
AGES = 315_360_000_000
FAR = "Fri, 01 Jan 2100 00:00:00 GMT"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        name = self.path.lstrip("/")
        if name.startswith("secret") or name.startswith("kept") and "Authorization" not in self.headers:
            return self.reply(401, b"", ("WWW-Authenticate", f'Basic realm="{name.split("-")[0]}"'))
        if name.startswith("absent"):
            return self.reply(404, b"there is no such file\n", ("Content-Type", "text/plain"))
        if name.startswith("busy"):
            return self.reply(503, b"later\n", ("Retry-After", "86400"))
        if name.startswith("slow"):
            self.send_response(200)
            for field in (("Content-Length", str(len(CONTENT))), ("ETag", '"slow-1"')):
                self.send_header(*field)
            self.end_headers()
            self.wfile.write(CONTENT[:3_000])
            self.wfile.flush()
            return held.wait()
        self.reply(200, CONTENT, ("ETag", '"done-1"'), ("Set-Cookie", f"visit=first; Path=/; Expires={FAR}"),
                   ("Content-Type", "application/octet-stream"))

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
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


held = threading.Event()


def until(condition):
    limit = time.monotonic() + 60
    while not (result := condition()):
        assert time.monotonic() < limit, condition
        time.sleep(0.05)
    return result


def listed(*words):
    shown = subprocess.run(
        [COMMAND, "--store", str(STORE), *words, "--json"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in shown.stdout.splitlines()]


POLICY = bh.Policy(
    maximum_attempts=9, first_retry_delay_ms=1_500, longest_retry_delay_ms=70_000, retry_jitter_percent=20,
    retry_errors=bh.RetryErrors.NAME | bh.RetryErrors.LOST, retries_unsafe_methods=True, retry_statuses="500",
    accepted_statuses="200,404", request_timeout_ms=11_000, resource_timeout_ms=9_000_000_000,
    http_version=bh.HTTPVersion.HTTP_1_1, redirects="follow", maximum_redirects=3, maximum_size=999_999,
    bytes_per_second=5_000_000, preset="discretionary", requires_external_power=False, requires_unmetered=True,
    networks=bh.NetworkKind.ETHERNET | bh.NetworkKind.WIFI, minimum_battery_percent=15,
    maximum_thermal_state="fair", maximum_cpu_pressure_percent=91, maximum_io_pressure_percent=92,
    maximum_memory_pressure_percent=93, minimum_bytes_per_second=1_000, quiet_hours="sun 03:00-03:30")


def session_with_everything(application):
    """A session with all fields of a configuration, and a request with all fields that one request can have."""
    session = application.session(
        "everything", connections_per_origin=3, maximum_running_tasks=5, maximum_attempts=7,
        first_retry_delay_ms=2_000, longest_retry_delay_ms=90_000, request_timeout_ms=20_000,
        resource_timeout_ms=8_000_000_000, ca_file=FILES / "ca.pem", sends_launch_events=False,
        asks_for_credentials=True, launch_if_stopped_ms=120_000, retry_jitter_percent=30,
        retry_errors=bh.RetryErrors.CONNECTION | bh.RetryErrors.STATUS, retries_unsafe_methods=True,
        retry_statuses="503", accepted_statuses="200-204", http_version=bh.HTTPVersion.HTTP_2,
        redirects="same_origin", maximum_redirects=4, maximum_size=1_000_000_000, headers={"X-Tag": "one"},
        bytes_per_second=3_000_000, proxy="http://127.0.0.1:9", proxy_user="ann", proxy_password="a secret",
        no_proxy="localhost", cookies="memory", minimum_tls=bh.TLSVersion.TLS_1_3,
        client_certificate=FILES / "client.pem", client_key=FILES / "key.pem",
        pinned_public_keys="sha256//" + "A" * 43 + "=", history_limit=17, preset="overnight",
        requires_external_power=True, requires_unmetered=False,
        networks=bh.NetworkKind.ETHERNET | bh.NetworkKind.OTHER, minimum_battery_percent=40,
        maximum_thermal_state="nominal", maximum_cpu_pressure_percent=81, maximum_io_pressure_percent=82,
        maximum_memory_pressure_percent=83, minimum_bytes_per_second=2_000, quiet_hours="mon-fri 01:00-02:00",
        slow_after_ms=70_000, slow_pause_ms=310_000, discretionary_if_launched=True, daily_budget=600_000_000,
        monthly_budget=bh.BUDGET_NOTHING,
        tolerances=bh.Tolerances.MISSING_CLOSE_NOTIFY | bh.Tolerances.EARLY_RESPONSE)
    session.enqueue([bh.Request(
        f"{ORIGIN}/everything", FILES / "everything", key="a key", headers={"Authorization": "Bearer 1"},
        user_data=b"\x00\xffany bytes", if_exists="replace", priority=50, suspended=True, mode=0o640, group="album",
        checksum="sha-256:" + "ab" * 32, expected_size=4_321, refresh="url", expires=LATER, policy=POLICY,
        ignores_digests=True, earliest_start=LATER, latest_start=LATER + 5, expected_bytes_received=5_000,
        expected_bytes_sent=1_000)])
    session.set_activity(bh.Activity(
        "catalogue", 86_400_000, 3_600_000, quality_of_service="utility", first=LATER,
        request=bh.Request(f"{ORIGIN}/catalogue", FILES / "catalogue", if_exists="replace", user_data=b"weekly")))
    session.close()


def ended(session, count):
    tasks = (bh.TaskState.SUCCEEDED, bh.TaskState.FAILED, bh.TaskState.CANCELLED)
    until(lambda: sum(task.state in tasks for task in session.tasks()) >= count)


def session_with_transfers(application):
    """A session with tasks in every state. In the tests, the engine of the current version finishes the transfers of
    this session."""
    session = application.session("transfers", cookies="persistent", asks_for_credentials=True,
                                  resource_timeout_ms=AGES)
    (FILES / "consumed").write_bytes(b"consumed body\n")
    (FILES / "snapshot").write_bytes(b"snapshot body\n")
    # This task goes to the history (the list of ended tasks), because its event is acknowledged below.
    first = session.enqueue([bh.Request(f"{ORIGIN}/first", FILES / "first", key="first", if_changed=True,
                                        if_exists="replace")])[0]
    ended(session, 1)
    session.acknowledge([event for event in session.poll()[0] if event.task_id == first.task_id])
    session.enqueue([
        bh.Request(f"{ORIGIN}/done", FILES / "done", key="done", user_data=b"done", group="album"),
        bh.Request(f"{ORIGIN}/kept-file"),
        bh.Request(f"{ORIGIN}/absent", FILES / "absent", group="pair"),
        bh.Request(f"{ORIGIN}/upload", method="PUT", body=b"a body of bytes\n"),
    ])
    challenge = until(lambda: session.challenges())[0]
    session.respond(challenge, user="ann", password="kept secret", keep=True)
    ended(session, 4)
    session.enqueue([
        bh.Request(f"{ORIGIN}/cancelled", FILES / "cancelled", suspended=True, group="pair"),
        bh.Request(f"{ORIGIN}/slow", FILES / "slow", priority=3),
        bh.Request(f"{ORIGIN}/secret", FILES / "secret"),
        bh.Request(f"{ORIGIN}/busy", FILES / "busy"),
        bh.Request(f"{ORIGIN}/later", FILES / "later", earliest_start=LATER, group="album"),
        bh.Request(f"{ORIGIN}/kept-again", FILES / "again", suspended=True),
        bh.Request(f"{ORIGIN}/bytes", method="PUT", body=b"bytes in the store\n", suspended=True),
        bh.Request(f"{ORIGIN}/form", parts=[bh.Part("title", "Holidays"), bh.Part("photo", file=FILES / "snapshot")],
                   body_source="snapshot", suspended=True),
        bh.Request(f"{ORIGIN}/consumed", body_file=FILES / "consumed", body_source="consume", suspended=True),
    ])
    tasks = {task.url.rpartition("/")[2]: task for task in session.tasks()}
    session.cancel([tasks["cancelled"]])
    session.set_priority(-7, [tasks["later"]])
    session.set_rate(2_000_000, [tasks["form"]])
    session.set_constraints(bh.Policy(requires_unmetered=False, minimum_battery_percent=5), [tasks["bytes"]])
    until(lambda: session.challenges())
    until(lambda: session.task(tasks["busy"]).reason is bh.Reason.RETRY)
    until(lambda: session.task(tasks["slow"]).offset == 3_000)
    session.set_activity(bh.Activity("upkeep", 315_360_000_000, 1_000, quality_of_service="user_initiated",
                                     first=time.time() + 1))
    until(lambda: [event for event in session.poll()[0] if event.kind is bh.EventKind.ACTIVITY])
    # When the task is suspended, the engine syncs the task's bytes and stores its offset.
    session.suspend([tasks["slow"]])
    until(lambda: session.task(tasks["slow"]).state is bh.TaskState.SUSPENDED)
    session.close()


def small_sessions(application):
    invalidated = application.session("leaving")
    invalidated.enqueue([bh.Request(f"{ORIGIN}/parting", FILES / "parting", suspended=True)])
    invalidated.invalidate()
    finished = application.session("finished", history_limit=bh.HISTORY_NONE)
    finished.enqueue([bh.Request(f"{ORIGIN}/single", FILES / "single")])
    ended(finished, 1)


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    FILES.mkdir(parents=True)
    for name in ("ca.pem", "client.pem", "key.pem"):
        (FILES / name).write_text("")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    launch = bh.LaunchCommand("/bin/false", ["--background", "two words"], {"PHOTOS": "1"}, "/tmp", 50_000, 90_000,
                              7_200_000, 5)
    application = bh.Application("org.example.photos", store=STORE, daemon=DAEMON, launch=launch)
    daemon = application.engine().process_id
    application.set_limits(bh.Limits(50_000_000, 100, 120, 8))
    application.set_network(bh.Network("Café", metered=True, month_starts_on=20, daily_budget=500_000_000,
                                       monthly_budget=5_000_000_000))
    small_sessions(application)
    session_with_everything(application)
    session_with_transfers(application)
    application.close()
    until(lambda: listed("launches")[0]["launches"] == 1)
    names = ("--application", "org.example.photos")
    sessions = listed("sessions", *names)
    recorded = {
        "sessions": sessions, "limits": listed("limits"), "networks": listed("networks", "Café"),
        "launches": listed("launches"),
        **{f"{command} {session['identifier']}": listed(command, *names, "--session", session["identifier"])
           for command in ("configure", "tasks", "events", "history", "activities", "challenges")
           for session in sessions}}
    recorded["attempts transfers"] = [
        attempt for task in [*recorded["tasks transfers"], *recorded["history transfers"]]
        for attempt in listed("attempts", *names, "--session", "transfers", str(task["id"]))]
    os.kill(daemon, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{daemon}").exists())
    database = sqlite3.connect(STORE / "backhaul.sqlite3")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    folder = HERE / f"schema-{version}"
    folder.mkdir(exist_ok=True)
    (folder / "listed.json").write_text(
        json.dumps(recorded, ensure_ascii=False, indent=1).replace(f"{PLACE}", "@PLACE@").replace(ORIGIN, "@ORIGIN@"))
    with (folder / "store.sql").open("w") as dump:
        dump.write(f"PRAGMA application_id = {0x42485331};\nPRAGMA user_version = {version};\n")
        for line in database.iterdump():
            line = line.replace(f"{PLACE}", "@PLACE@").replace(ORIGIN, "@ORIGIN@").replace(BOOT, NO_BOOT)
            dump.write(line + "\n")


main()
