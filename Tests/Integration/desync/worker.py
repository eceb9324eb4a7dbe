"""Performs runs one after the other. A run is a list of tasks, with the responses and the junk that the server sends.
Junk is bytes that belong to no request. The worker enqueues the tasks of a run, and serves their requests until all
tasks have ended."""

import shutil
import ssl
import time
from contextlib import suppress
from pathlib import Path

from backhaul import EventKind, HTTPVersion, Proxy, Request, RetryErrors, SessionConfiguration, TaskState

from desync.checker import check
from desync.record import Outcome
from desync.runs import CHANGED, FORWARD, IDLE, RESUME, TLS12, TLS13, TUNNEL, UPLOADS
from desync.server import Server
from testbed.settings import nested

#: Seconds within which the tasks of one group must end. The tasks of a group are enqueued together.
LIMIT = 40
_OPTIONS = {"first_delay_ms": 1, "longest_delay_ms": 2, "request_timeout_ms": 10_000, "maximum_attempts": 8,
            "sends_launch_events": False}


def contexts(certificates):
    """Returns the server's TLS context for each transport."""
    made = {}
    for transport, version in ((TLS12, ssl.TLSVersion.TLSv1_2), (TLS13, ssl.TLSVersion.TLSv1_3),
                               (TUNNEL, ssl.TLSVersion.TLSv1_2)):
        context = certificates.server_context()
        context.minimum_version = version
        if transport == TLS12:
            context.maximum_version = version
        else:
            # The server can request a client certificate later, but requires none.
            context.post_handshake_auth = True
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(certificates.authority)
        context.set_alpn_protocols(["http/1.1"])
        made[transport] = context
    return made


class Worker:
    """Performs one run at a time. Each run has its own port, so no run reuses the connections of an earlier run."""

    def __init__(self, application, name, folder, certificates):
        self._application, self._name, self._folder = application, name, Path(folder)
        self._certificates, self._contexts = certificates, contexts(certificates)
        self._sessions, self._cursors = {}, {}

    def execute(self, run):
        """Performs the run. Returns its record and its violations."""
        folder = self._folder / f"{self._name}-{run.number}"
        folder.mkdir()
        with Server(run, self._contexts) as server:
            session = self._session(run, server)
            server.watch(session.fileno())
            for group in run.groups():
                self._execute_group(run, group, server, session, folder)
            record = server.record
        cursor = self._cursors.get(session.identifier, 0)
        if cursor:
            session.acknowledge_through(cursor)
        shutil.rmtree(folder, ignore_errors=True)
        return record, check(run, record)

    def _session(self, run, server):
        """Returns a session whose configuration fits the run. Runs with the same configuration share a session. If the
        run has a proxy, the session gets the port of this proxy."""
        name = f"{self._name}.{run.transport}.{run.connections}.{int(run.alpn)}.{int(run.early is not None)}"
        options = dict(_OPTIONS, connections_per_origin=run.connections, ca_file=self._certificates.authority,
                       proxy=Proxy(url="none"))
        if not run.alpn:
            options["http_version"] = HTTPVersion.HTTP_1_1
        if run.transport in (FORWARD, TUNNEL):
            options["proxy"] = Proxy(url=f"http://127.0.0.1:{server.port}")
        if run.early is not None:
            # Junk at the start of a connection can cause any error, so the session retries after all errors.
            every = RetryErrors(0)
            for one in RetryErrors:
                every |= one
            options.update(errors=every & ~RetryErrors.NONE, unsafe_methods=True)
        options = nested(**options)
        if name not in self._sessions:
            self._sessions[name] = self._application.session(name, **options)
        elif run.transport in (FORWARD, TUNNEL):
            self._sessions[name].set_configuration(SessionConfiguration(name, **options))
        return self._sessions[name]

    def _execute_group(self, run, group, server, session, folder):
        tasks = [run.task(number) for number in group]
        server.live = set(tasks)
        server.together = set(tasks) if len(tasks) > 1 else set()
        requests = [_request(run, number, server.url, folder) for number in group]
        entries = session.enqueue(requests)
        unfinished = {entry.task_id: task for entry, task in zip(entries, tasks)}
        deadline = time.monotonic() + LIMIT
        while unfinished and time.monotonic() < deadline:
            server.process_events(0.2)
            self._collect(session, run, server, unfinished, folder)
        if unfinished:
            session.cancel(list(unfinished))
        server.settle()
        for task in tasks:
            injection = run.steps[int(task.rpartition("t")[2])].injection
            if injection is not None and injection.point == IDLE:
                pause = time.monotonic() + injection.pause_ms / 1_000
                while time.monotonic() < pause:
                    server.process_events(pause - time.monotonic())
                server.inject_idle(task)
        server.settle()

    def _collect(self, session, run, server, unfinished, folder):
        cursor = self._cursors.get(session.identifier, 0)
        for event in session.poll(cursor, timeout=0).items:
            self._cursors[session.identifier] = event.id
            if event.kind is EventKind.TASK_ENDED and event.task_id in unfinished:
                task = unfinished.pop(event.task_id)
                server.live.discard(task)
                server.together.discard(task)
                server.record.outcomes[task] = _outcome(run, task, event, folder)


def _request(run, number, url, folder):
    step, task = run.steps[number], run.task(number)
    headers = {"X-Task": task}
    if step.method in UPLOADS:
        return Request(f"{url}/{task}", body=b"upload of " + task.encode() + bytes(step.size), method=step.method,
                       headers=headers)
    if step.method == CHANGED:
        earlier = run.task(step.of)
        return Request(f"{url}/{earlier}", folder / earlier, headers=headers, if_exists="replace", if_changed=True)
    method = None if step.method == RESUME else step.method
    # A later task sends a conditional request only if the earlier task for this file also had `if_changed`.
    is_asked_again = any(other.of == number for other in run.steps)
    return Request(f"{url}/{task}", folder / task, method=method, headers=headers, if_exists="replace",
                   if_changed=is_asked_again)


def _outcome(run, task, event, folder):
    step = run.steps[int(task.rpartition("t")[2])]
    succeeded = event.state is TaskState.SUCCEEDED
    if not succeeded:
        data = event.error_body
    elif step.method in UPLOADS:
        data = event.response_body
    else:
        data = b""
        with suppress(OSError):
            data = Path(event.path or folder / run.task(step.of)).read_bytes()
    return Outcome(task, succeeded, event.status.name, event.http_status, data, event.error_message or "",
                   event.attempts)
