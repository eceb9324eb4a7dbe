"""Sessions that a process closed while no engine was running. An engine runs the transfers, here in a daemon. The
*consumer* of a session is the one process that may read the session's events. No engine could record the close, so the
store still names the old consumer when the next engine starts."""

import os
import signal
import time

import pytest

import backhaul

import daemons
from testbed.host import until


@pytest.fixture
def one(host):
    one = host()
    one.session()
    return one


def test_a_process_can_attach_again_to_a_session_that_it_closed_while_no_daemon_ran(one):
    one.kill_engine()
    one.close()
    one.open()
    one.attach()


def test_a_process_can_attach_again_to_a_session_that_it_closed_when_the_daemon_was_killed(one):
    # The daemon is killed immediately after the close, so it may or may not have recorded the close.
    for _ in range(5):
        engine = one.engine().process_id
        one.close()
        daemons.end(engine, signal.SIGKILL, time.monotonic() + 10)
        one.open()
        one.attach()


def test_a_process_can_attach_again_when_it_opens_its_moved_store_at_the_new_path(one, store):
    elsewhere = store.with_name("elsewhere")
    engine = one.engine().process_id
    store.rename(elsewhere)
    # The daemon notices that its store was moved, and exits.
    until(lambda: os.path.exists(f"/proc/{engine}/exe"), lambda runs: not runs)
    one.close()
    one.open(elsewhere)
    one.attach()


def test_another_process_can_read_a_sessions_events_if_the_old_consumer_does_not_reconnect(one, host):
    one.kill_engine()
    one.close()
    other = host()

    def attached():
        try:
            other.attach()
        except backhaul.InUse:
            return False
        return True

    until(attached, lambda is_attached: is_attached)


def test_a_consumer_that_reconnects_keeps_the_right_to_read_its_sessions_events(one, host):
    one.kill_engine()
    assert one.tasks() == []
    with pytest.raises(backhaul.InUse):
        host().attach()
