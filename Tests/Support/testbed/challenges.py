"""Helpers for tests of challenges. A challenge is a demand for a credential, such as a password."""

from testbed.host import until

#: Options of the sessions in these tests: if a server demands a credential, the host gets a challenge. The delays
#: between attempts are short.
ASK_FOR_CREDENTIALS = {"asks_for_credentials": True, "first_delay_ms": 20, "longest_delay_ms": 100}


def challenge(one, waiting=1, *, failures=0):
    """Waits until exactly one challenge is open and `waiting` tasks wait for it. Returns the challenge. `failures` is
    the number of credentials that the server must have refused in a row."""
    return until(one.challenges, lambda found: [(item.waiting_tasks, item.failures) for item in found]
                 == [(waiting, failures)])[0]


def task_events(events):
    """Returns the events that belong to a task."""
    return [event for event in events if event.task_id]
