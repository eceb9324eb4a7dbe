"""A poll asks the engine, which is the process that runs the tasks, for events. These tests check how long a poll waits
if the engine does not reply. They use a fake clock. A ticket stands for a command that was sent to the engine."""

import pytest

from backhaul import Status, _tickets, _waiting
from backhaul._errors import BackhaulError
from backhaul._tickets import Ticket
from backhaul._waiting import Deadline


class Engine:
    """A fake library with a fake clock. Its tickets get their replies at a given time. Only ``bh_ticket_wait`` moves
    the clock."""

    def __init__(self, status, replies_at=None):
        self.now, self._status, self._replies_at = 0.0, status, replies_at

    def monotonic(self):
        return self.now

    def bh_ticket_wait(self, _ticket, wait_ms, _error):
        if self._replies_at is not None and self.now + wait_ms / 1000 >= self._replies_at:
            self.now = max(self.now, self._replies_at)
            return Status.OK
        self.now += wait_ms / 1000
        return self._status


class Handle:
    pointer = None

    def close(self):
        pass


@pytest.fixture
def ask(monkeypatch):
    def start(timeout, *engine):
        library = Engine(*engine)
        monkeypatch.setattr(_tickets, "library", library)
        for module in (_tickets, _waiting):
            monkeypatch.setattr(module, "time", library)
        ticket = Ticket(None, Handle(), lambda _: "reply")
        try:
            return ticket._result_soon(Deadline(timeout)), round(library.now)
        except BackhaulError as error:
            assert error.ticket is ticket
            return error.status, round(library.now)

    return start


@pytest.mark.parametrize("seconds", [0, 1, 20])
def test_a_poll_reports_a_stopped_engine_at_the_deadline(ask, seconds):
    assert ask(seconds, Status.ENGINE_UNRESPONSIVE) == (Status.ENGINE_UNRESPONSIVE, seconds)


@pytest.mark.parametrize(("seconds", "taken"), [(0, 5), (1, 5), (20, 20), (None, 30)])
def test_a_poll_waits_at_least_five_seconds_for_a_slow_engine(ask, seconds, taken):
    assert ask(seconds, Status.TIMEOUT) == (Status.TIMEOUT, taken)


def test_a_poll_with_a_timeout_of_0_still_returns_a_reply_that_comes_after_four_seconds(ask):
    assert ask(0, Status.TIMEOUT, 4) == ("reply", 4)
