"""Several processes on one socket: consumers that wait for a session, stopped hosts, progress, and large enqueues
that need little memory. The consumer of a session is the process that reads the session's events. Only one process
at a time can be the consumer. An observer only lists tasks and progress. The engine, which runs the transfers, is in
one of the hosts or in a daemon."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backhaul import Attention, InUse, Request, Role, TaskState
from servers import child
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until


def resident(pid, field="VmRSS"):
    """Returns the resident memory of a process in KiB. `field` selects another size in /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise AssertionError(field)


@pytest.mark.both_hostings
def test_a_waiting_consumer_gets_the_session_when_the_current_consumer_is_killed(host):
    engine, holder, waiter = host(), host(), host()
    engine.all_sessions()
    holder.session()
    waiter.start_attach("gallery", Role.CONSUME_WHEN_FREE)
    seen = until(lambda: holder.attention(timeout=1), len)
    assert (seen[0].attention, seen[0].waiting_consumers) == (Attention.YIELD, 1)
    assert not waiter.is_done()
    holder.kill()
    waiter.finish_attach()
    with pytest.raises(InUse):
        engine.attach()


def test_a_consumer_continues_to_wait_for_a_session_when_the_engine_changes(host):
    engine = host()
    engine.all_sessions()
    holder, waiter = host(), host()
    holder.session()
    waiter.start_attach("gallery", Role.CONSUME_WHEN_FREE)
    until(lambda: holder.attention(timeout=1), len)
    engine.kill()
    again = until(lambda: holder.attention(timeout=1), len)
    assert again[0].waiting_consumers == 1, "the wait did not continue with the next engine"
    assert not waiter.is_done()
    holder.close_session()
    waiter.finish_attach()


def test_when_a_consumer_and_its_engine_are_killed_a_waiting_process_gets_the_session(host):
    holder, waiter = host(), host()
    holder.session()
    waiter.start_attach("gallery", Role.CONSUME_WHEN_FREE)
    until(lambda: holder.attention(timeout=1), len)
    holder.kill()
    waiter.finish_attach()


def test_a_wait_for_a_session_ends_when_the_object_for_its_result_is_released(host):
    engine, waiter = host(), host()
    engine.session()
    waiter.start_attach("gallery", Role.CONSUME_WHEN_FREE)
    until(lambda: engine.all_sessions()[0].waiting_consumers, lambda count: count == 1)
    waiter.release_ticket()
    until(lambda: engine.all_sessions()[0].waiting_consumers, lambda count: count == 0)
    engine.close_session()
    engine.attach()


@pytest.mark.both_hostings
def test_a_stopped_consumer_needs_little_memory_in_the_engine_and_later_reads_all_events(host):
    engine, consumer = host(), host()
    engine.session("other")
    consumer.session("gallery")
    engine.attach("gallery", role=Role.PRODUCE)
    consumer.stop()
    before = resident(engine.engine_pid())
    for _ in range(20):
        engine.enqueue([Request("http://127.0.0.1:9/a", suspended=True, user_data=bytes(4_000)) for _ in range(200)])
        engine.cancel()
    assert resident(engine.engine_pid()) - before < 40_000
    consumer.continue_process()
    events = consumer.wait_for(4_000)
    ids = [event.id for event in events]
    assert ids == sorted(set(ids))
    assert consumer.acknowledge(ids) == 4_000


@pytest.mark.both_hostings
def test_each_event_arrives_one_time_and_in_order_while_hosts_are_killed(host, misbehaving, downloads):
    """The consumer acknowledges a few events at a time. Meanwhile the test kills the other hosts. If a killed host ran
    the engine, another host starts the next engine."""
    hosts = [host() for _ in range(3)]
    consumer = host()
    hosts[0].all_sessions()
    consumer.session(first_delay_ms=1)
    consumer.enqueue([Request(misbehaving.serve(f"/{i}", Content(2_000, i)), downloads / str(i)) for i in range(300)])
    ended, last = [], 0
    while len(ended) < 300:
        events = consumer.poll(maximum=20, timeout=20)
        assert all(last < event.id for event in events), "an acknowledged event came again"
        assert len(events) > 0
        ended += [event.task_id for event in events if event.task_id]
        last = events[-1].id
        consumer.acknowledge([event.id for event in events])
        if hosts and len(ended) > 60 * (4 - len(hosts)):
            hosts.pop(0).kill()
    assert len(set(ended)) == 300


@pytest.mark.both_hostings
def test_an_observer_gets_progress_from_the_first_engine_and_from_the_next_engine(host, misbehaving, downloads):
    engine, watcher = host(), host()
    engine.session(first_delay_ms=1)
    watcher.attach(role=Role.OBSERVE)
    watcher.watch_progress(0.1)
    url = misbehaving.serve("/a", Content(3_000_000), otherwise=Behaviour(stall_after=1_000_000))
    task = engine.download(url, downloads / "a")
    until(lambda: watcher.poll_progress(timeout=1), lambda seen: any(one.offset == 1_000_000 for one in seen))
    engine.kill()
    # The next engine continues the download, and the watcher gets its progress.
    seen = until(lambda: watcher.poll_progress(timeout=1), lambda seen: any(one.offset >= 1_000_000 for one in seen))
    assert {one.task_id for one in seen} == {task}
    producer = host()
    producer.attach(role=Role.PRODUCE)
    producer.cancel()
    until(lambda: watcher.poll_progress(timeout=1), lambda seen: any(one.state is TaskState.CANCELLED for one in seen))


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.skipif(
    "BACKHAUL_MILLION" not in os.environ, reason="takes minutes: set BACKHAUL_MILLION"))])
def test_a_large_enqueue_uses_little_memory_in_the_host_and_in_the_engine(host, store, count):
    engine = host(identifier="org.example.engine")
    engine.all_sessions()
    before = resident(engine.pid)
    with child.start([sys.executable, "-m", "testbed.programs.enqueue_many", str(store), str(count)],
                     stdout=subprocess.PIPE, env=os.environ, text=True) as process:
        output = process.communicate(timeout=550)[0]
    assert process.returncode == 0
    own, most, seconds = output.split()
    growth = int(most) - int(own), resident(engine.pid, "VmHWM") - before
    print(f"{count} requests in {seconds} s: the host grew by {growth[0]} KiB, the engine by {growth[1]} KiB")
    assert max(growth) < 64 * 1024
