"""A host that does each kind of work: downloads, replacing downloads, uploads, claims and acknowledgements.

It may be killed or lose its power at any time, and is started again with the same plan (testbed/durability.py).
"""

import os
import random
from pathlib import Path

import backhaul
from testbed.journal import Journal
from testbed.settings import nested

OPTIONS = {"first_delay_ms": 10, "longest_delay_ms": 20, "request_timeout_ms": 20_000}
#: The longest wait for an event, in seconds.
PATIENCE = 120


def run(plan):
    journal = Journal(plan.journal)
    seen = journal.keys_seen()
    journal.write("started")
    hosting = backhaul.Hosting[plan.hosting]
    with backhaul.Application("org.example.durable", plan.store, hosting=hosting) as application:
        with application.session("gallery", **nested(**OPTIONS)) as session:
            new = [work for work in plan.works if work.key not in seen]
            enqueue(session, new, plan, journal)
            collect(session, plan, journal, {work.key for work in new})
            session.complete()
    journal.write("completed")
    journal.close()


def request(work):
    options = {"key": work.key, "user_data": work.kind.encode()}
    if work.is_upload:
        source = "consume" if work.kind == "move" else "reference"
        return backhaul.Request(work.url, body_file=work.path, body_source=source, **options)
    if work.kind == "claim":
        return backhaul.Request(work.url, **options)
    return backhaul.Request(work.url, work.path, if_exists="replace" if work.old else "fail", **options)


def enqueue(session, works, plan, journal):
    for start in range(0, len(works), plan.chunk):
        part = works[start:start + plan.chunk]
        for result, work in zip(session.enqueue([request(work) for work in part]), part):
            journal.write("enqueued", key=work.key, task=result.task_id, new=result.is_new)


def collect(session, plan, journal, missing):
    """Acknowledges all events. Each missing event comes, and then one about the end of the round."""
    chance, batch = random.Random(plan.seed), []
    works = {work.key: work for work in plan.works}
    for event in session.events(timeout=PATIENCE if missing else 0):
        work = works.get(event.key)
        missing.discard(event.key)
        journal.write("seen", event=event.id, key=event.key, task=event.task_id, status=event.status,
                      finished=event.is_session_finished, whole=is_whole(event, work))
        if work and work.kind == "claim" and event.succeeded:
            claim(session, event, work)
            journal.write("claimed", key=event.key)
        batch.append(event)
        is_last = event.is_session_finished and not missing
        if is_last or len(batch) >= chance.choice([1, 1, 3, 20]):
            journal.acknowledge(session, batch)
            batch = []
        if is_last:
            return
    journal.acknowledge(session, batch)


def is_whole(event, work):
    if event.path is None or not event.succeeded:
        return True
    # A repeated event names the kept file, which may have been claimed before.
    path = event.path if os.path.exists(event.path) else work.path
    return Path(path).read_bytes() == work.content.data


def claim(session, event, work):
    try:
        session.claim(event.task_id, work.path, if_exists="replace")
    except backhaul.NotFound:
        # An earlier claim has moved the file.
        if Path(work.path).read_bytes() != work.content.data:
            raise
