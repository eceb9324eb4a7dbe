"""A typical host. It enqueues a list of requests, reads and acknowledges the events, and ends when all tasks have
ended.

A test may kill this host at any time and start it again. The host writes each event that it saw or acknowledged into a
journal before its next step. At the end, the test checks the journal.

Usage: python -m testbed.programs.collector PLAN. The JSON file PLAN has the members store, hosting, session,
journal, configuration, seed, chunk and requests.
"""

import json
import os
import random
import sys

import backhaul
from testbed.journal import Journal
from testbed.settings import nested


def main(plan):
    journal = Journal(plan["journal"])
    journal.write("started", process=os.getpid())
    generator = random.Random(f"{plan['seed']}:{os.getpid()}")
    hosting = backhaul.Hosting[plan["hosting"]]
    with backhaul.Application("org.example.collector", plan["store"], hosting=hosting) as application:
        with open_session(application, plan) as session:
            journal.write("attached", created=session.created)
            enqueue_unseen(session, plan, journal)
            collect(session, plan, journal, generator)
            session.complete()
    journal.write("completed")


def open_session(application, plan):
    """Attaches to the session by its identifier, or creates the session if it does not exist."""
    try:
        return application.attach(plan["session"])
    except backhaul.NotFound:
        return application.session(plan["session"], **nested(**plan["configuration"]))


def enqueue_unseen(session, plan, journal):
    """Enqueues each request for which the journal has no event. Each start of this host may enqueue a request again,
    because the idempotency keys (texts that identify the requests) prevent duplicates."""
    seen = journal.keys_seen()
    requests = [backhaul.Request(url, destination, key=key, user_data=key.encode())
                for key, url, destination in plan["requests"] if key not in seen]
    for result, request in zip(session.enqueue(requests, chunk=plan["chunk"]), requests):
        journal.write("enqueued", key=request.key, task=result.task_id, new=result.is_new)


def collect(session, plan, journal, generator):
    keys = {key for key, _, _ in plan["requests"]}
    seen = journal.keys_seen()
    batch = []
    # If an earlier process was killed between its last acknowledgement and its end, all events are acknowledged. Then
    # no event comes.
    for event in session.events(timeout=1 if keys <= seen else None):
        journal.write("seen", event=event.id, key=event.key, task=event.task_id, round=event.round,
                      state=event.state, status=event.status, finished=event.is_session_finished,
                      whole=event.path is None or os.path.getsize(event.path) == event.size,
                      file=event.path and os.stat(event.path).st_ino)
        seen.add(event.key)
        batch.append(event)
        if event.is_session_finished or len(batch) >= generator.choice([1, 1, 3, 20]):
            journal.acknowledge(session, batch)
            batch = []
        if event.is_session_finished and keys <= seen:
            return


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        main(json.load(file))
