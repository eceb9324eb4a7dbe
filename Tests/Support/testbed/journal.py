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
    is acknowledged, the host does not get it again.

    >>> list(violations([{"fact": "acknowledged", "events": [1]},
    ...                  {"fact": "seen", "event": 1, "key": "a", "task": 1, "whole": True, "finished": False}]))
    ['event 1 came back after its acknowledgement']
    """
    acknowledged, event_of_task, key_of_task, last = set(), {}, {}, 0
    for fact in facts:
        if fact["fact"] == "started":
            last = 0
        elif fact["fact"] == "acknowledged":
            acknowledged |= set(fact["events"])
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
            if not fact["whole"]:
                yield f"event {number} was there before its file was whole"
            if not fact["finished"] and event_of_task.setdefault(fact["key"], number) != number:
                yield f"task {fact['key']} ended twice: events {event_of_task[fact['key']]} and {number}"
