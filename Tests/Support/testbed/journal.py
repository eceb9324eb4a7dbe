"""A record of what a host saw and did: one JSON object in each line.

The host writes each line before it continues. So SIGKILL damages at most the last line. No sync is necessary,
because the kernel keeps the written lines when the host is killed, and the test runs on the same machine.
"""

import json
import os


class Journal:
    """An append-only file of facts."""

    def __init__(self, path):
        self.path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, fact, **details):
        os.write(self._descriptor, (json.dumps({"fact": fact, **details}) + "\n").encode())

    def acknowledge(self, session, events):
        """Acknowledges the events. A host that is killed meanwhile does not know the result."""
        ids = [event.id for event in events]
        self.write("acknowledging", events=ids)
        session.acknowledge(events)
        self.write("acknowledged", events=ids)

    def close(self):
        os.close(self._descriptor)

    def facts(self):
        with open(self.path, "rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield json.loads(line)

    def keys_seen(self):
        return {fact["key"] for fact in self.facts() if fact["fact"] == "seen"}


def violations(facts):
    """Yields violations of the rules for events. A task has one event for its end. Events come in order. After an event
    is acknowledged, the host does not get it again. An event that is not acknowledged comes again to the next process
    of the host, until the host completes. The event about the end of a round may be withdrawn.

    >>> list(violations([{"fact": "acknowledged", "events": [1]},
    ...                  {"fact": "seen", "event": 1, "key": "a", "task": 1, "whole": True, "finished": False}]))
    ['event 1 came back after its acknowledgement']
    """
    acknowledged, pending, event_of_task, key_of_task, last = set(), set(), {}, {}, 0
    for fact in facts:
        if fact["fact"] == "started":
            last = 0
        elif fact["fact"] == "acknowledging":
            # If the host is killed now, it does not know whether the events are acknowledged.
            pending -= set(fact["events"])
        elif fact["fact"] == "acknowledged":
            acknowledged |= set(fact["events"])
        elif fact["fact"] == "completed":
            yield from (f"event {number} was received, not acknowledged, and did not come again"
                        for number in sorted(pending))
            pending = set()
        elif fact["fact"] == "enqueued":
            known = key_of_task.setdefault(fact["key"], fact["task"])
            if known != fact["task"]:
                yield f"key {fact['key']} became the tasks {known} and {fact['task']}"
        elif fact["fact"] == "seen":
            number = fact["event"]
            if number in acknowledged:
                yield f"event {number} came back after its acknowledgement"
            if number <= last:
                yield f"event {number} came after event {last}"
            last = number
            if not fact["finished"]:
                pending.add(number)
            if not fact["whole"]:
                yield f"event {number} was there before its file was whole"
            if not fact["finished"] and event_of_task.setdefault(fact["key"], number) != number:
                yield f"task {fact['key']} ended twice: events {event_of_task[fact['key']]} and {number}"
