"""A host that enqueues its share of many small downloads, reads the events that wait, and leaves before all have ended.

Usage: python -m testbed.programs.enduring STORE URL FOLDER FIRST COUNT LEFT. Enqueues COUNT downloads, numbered from
FIRST on, and leaves when at most LEFT tasks have not ended. Prints a line of JSON: how many downloads succeeded with
the right size, how often they were attempted, and how long the calls took, in milliseconds.
"""

import json
import os
import sys
import time

import backhaul

SESSION, SIZE = "endurance", 1_000
CHUNK, MOST_WAITING = 1_000, 4_000
CONFIGURATION = {"connections_per_origin": 256, "history_limit": 1_000}
RETRY = backhaul.RetryPolicy(first_delay_ms=10, longest_delay_ms=100)


class Counts:
    def __init__(self):
        self.right = self.attempts = 0
        self.milliseconds = []

    def timed(self, call, *arguments):
        start = time.monotonic()
        result = call(*arguments)
        self.milliseconds.append(round((time.monotonic() - start) * 1_000, 1))
        return result


def open_session(application):
    try:
        return application.attach(SESSION)
    except backhaul.NotFound:
        return application.session(SESSION, retry=RETRY, **CONFIGURATION)


def take_events(session, counts, timeout):
    """Reads and acknowledges the events of a batch. Returns how many downloads have ended."""
    events = session.poll(maximum=CHUNK, timeout=timeout).items
    ended = [event for event in events if event.task_id]
    for event in ended:
        counts.right += event.succeeded and os.path.getsize(event.path) == SIZE
        counts.attempts += event.attempts
        os.unlink(event.path)
    if events:
        counts.timed(session.acknowledge, events)
    return len(ended)


def main(store, url, folder, first, count, left):
    counts = Counts()
    with backhaul.Application("org.example.endurance", store) as application:
        application.set_limits(backhaul.Limits(maximum_running_tasks=256))
        with open_session(application) as session:
            # A task is listed until its event is acknowledged.
            waiting, number = sum(1 for _ in session.tasks()), first
            while number < first + count or waiting > left:
                if number < first + count and waiting <= MOST_WAITING - CHUNK:
                    size = min(CHUNK, first + count - number)
                    counts.timed(session.enqueue, [
                        backhaul.Request(url, f"{folder}/{index}", key=str(index))
                        for index in range(number, number + size)])
                    number, waiting = number + size, waiting + size
                waiting -= take_events(session, counts, timeout=10)
    print(json.dumps({"right": counts.right, "attempts": counts.attempts, "milliseconds": counts.milliseconds}))


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
