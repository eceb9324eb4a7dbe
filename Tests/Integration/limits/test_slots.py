"""How many tasks run at a time, and which tasks run first. A slot is the right of a task to run. A task with the
priority PRIORITY_NOW starts immediately, even if its session's limits are reached."""

import dataclasses

import pytest

from backhaul import PRIORITY_NOW, Limits, Reason, Request, TaskState
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until

pytestmark = pytest.mark.both_hostings

#: A response that begins and never ends.
STUCK = Behaviour(stall_after=1_000)


def stuck(misbehaving, path="/stuck"):
    return misbehaving.serve(path, Content(100_000), otherwise=STUCK)


def running(one):
    return [task.id for task in one.tasks(states=[TaskState.RUNNING])]


def wait_until_running(hosts, count):
    """Waits until `count` tasks run, and checks that no further task runs."""
    until(lambda: sum(len(running(one)) for one in hosts), lambda found: found >= count)
    # Each call sends a command to the engine. When the reply has arrived, each task that could start has started.
    for one in hosts:
        one.tasks()
    assert sum(len(running(one)) for one in hosts) == count


def two(host):
    first, second = host(), host()
    first.session("first")
    second.session("second")
    return first, second


def test_all_sessions_together_obey_the_engines_task_limit(host, misbehaving):
    hosts = two(host)
    hosts[0].set_limits(Limits(maximum_running_tasks=2))
    for one in hosts:
        one.enqueue([Request(stuck(misbehaving))] * 3)
    wait_until_running(hosts, 2)
    hosts[1].set_limits(Limits(maximum_running_tasks=5))
    wait_until_running(hosts, 5)


def test_the_next_engine_obeys_the_stored_limits_from_its_start(host, misbehaving, one):
    one.set_limits(Limits(maximum_running_tasks=2))
    one.enqueue([Request(stuck(misbehaving))] * 6)
    wait_until_running([one], 2)
    one.kill_with_engine()
    again = host()
    again.attach()
    wait_until_running([again], 2)


def test_a_lowered_limit_does_not_stop_running_tasks(misbehaving, one):
    one.enqueue([Request(stuck(misbehaving))] * 6)
    wait_until_running([one], 6)
    one.set_limits(Limits(maximum_running_tasks=2))
    one.enqueue([Request(misbehaving.serve("/good", Content(10)))])
    one.cancel(running(one)[:4])
    wait_until_running([one], 2)
    one.cancel(running(one)[:1])
    one.wait_for(6)


def test_the_connection_limit_of_an_origin_applies_to_all_sessions_together(host, misbehaving):
    hosts = two(host)
    hosts[0].set_limits(Limits(connections_per_origin=3))
    for one in hosts:
        one.enqueue([Request(stuck(misbehaving))] * 6)
    wait_until_running(hosts, 3)
    # The limit applies to both sessions together. So tasks of the second session get the slots that become free.
    hosts[0].cancel(running(hosts[0])[:2])
    until(lambda: running(hosts[1]), len)
    wait_until_running(hosts, 3)
    hosts[0].set_limits(Limits())
    wait_until_running(hosts, 10)


def test_the_engine_obeys_its_connection_limit(misbehaving, one):
    one.set_limits(Limits(maximum_connections=2))
    one.enqueue([Request(stuck(misbehaving))] * 4)
    wait_until_running([one], 2)


def test_new_limits_of_a_session_take_effect_at_once(host, misbehaving):
    one = host()
    one.session(maximum_running_tasks=2)
    one.enqueue([Request(stuck(misbehaving))] * 6)
    wait_until_running([one], 2)
    configuration = one.configuration()
    one.set_configuration(dataclasses.replace(configuration, maximum_running_tasks=64, connections_per_origin=4))
    wait_until_running([one], 4)
    one.set_configuration(dataclasses.replace(configuration, connections_per_origin=1))
    one.cancel(running(one)[:2])
    wait_until_running([one], 2)


def test_tasks_with_a_higher_priority_run_before_other_tasks(host, misbehaving):
    one = host()
    one.session(maximum_running_tasks=1)
    one.enqueue([Request(misbehaving.serve(f"/{priority}", Content(100)), priority=priority, suspended=True)
                 for priority in (0, -5, 100, 7)])
    one.resume()
    one.wait_for(4)
    assert [asked.path for asked in misbehaving.log()] == ["/100", "/7", "/0", "/-5"]


def test_the_limits_of_a_session_do_not_apply_to_a_task_with_priority_now(host, misbehaving):
    one = host()
    one.session(maximum_running_tasks=1, connections_per_origin=1)
    [first, *_] = one.enqueue([Request(stuck(misbehaving))] * 3)
    wait_until_running([one], 1)
    good = misbehaving.serve("/good", Content(100))
    [urgent] = one.enqueue([Request(good, priority=PRIORITY_NOW)])
    assert [event.task_id for event in one.wait_for(1)] == [urgent.task_id]
    assert running(one) == [first.task_id]


def test_a_waiting_task_starts_when_its_priority_is_set_to_priority_now(host, misbehaving):
    one = host()
    one.session(maximum_running_tasks=1)
    good = misbehaving.serve("/good", Content(100))
    _, _, last = (item.task_id for item in one.enqueue([Request(stuck(misbehaving)), Request(good), Request(good)]))
    wait_until_running([one], 1)
    assert one.set_priority(PRIORITY_NOW, [last]) == 1
    assert [event.task_id for event in one.wait_for(1)] == [last]


def test_a_task_that_waits_for_its_retry_starts_when_its_priority_is_set_to_priority_now(host, misbehaving):
    one = host()
    one.session(first_delay_ms=600_000)
    url = misbehaving.serve("/later", Content(100), [Behaviour(status=503)])
    [later] = one.enqueue([Request(url)])
    until(lambda: one.task(later.task_id), lambda task: task.reason is Reason.RETRY)
    one.set_priority(PRIORITY_NOW, [later.task_id])
    assert one.wait_for(1)[0].succeeded


def test_a_task_with_priority_now_preempts_the_least_important_task_which_resumes_later(misbehaving, downloads, one):
    one.set_limits(Limits(maximum_running_tasks=2))
    content = Content(4_000_000)
    slow = misbehaving.serve("/slow", content, [Behaviour(stall_after=2_500_000)])
    [important] = one.enqueue([Request(stuck(misbehaving), priority=5)])
    least = one.download(slow, downloads / "slow")
    # After the first sync, the download can continue from the synced bytes.
    until(lambda: one.task(least).offset, lambda offset: offset >= 2_400_000)
    urgent = one.download(stuck(misbehaving, "/urgent"), priority=PRIORITY_NOW)
    task = until(lambda: one.task(least), lambda task: task.state is TaskState.WAITING)
    assert task.reason is Reason.SLOT
    until(lambda: sorted(running(one)), lambda found: found == sorted([important.task_id, urgent]))
    one.cancel([urgent])
    ended = [event for event in one.wait_for(2) if event.task_id == least]
    assert ended[0].succeeded and (downloads / "slow").read_bytes() == content.data
    assert misbehaving.log("/slow")[-1].offset > 1_000_000


def test_a_post_that_the_server_may_have_processed_is_not_preempted(misbehaving, downloads, one):
    one.set_limits(Limits(maximum_running_tasks=1))
    posted = one.download(stuck(misbehaving, "/posted"), downloads / "posted", method="POST", priority=-5)
    until(lambda: misbehaving.log("/posted"), bool)
    urgent = one.download(misbehaving.serve("/urgent", Content(10)), downloads / "urgent", priority=PRIORITY_NOW)
    assert until(lambda: one.task(urgent), lambda task: task.reason is not Reason.NONE).reason is Reason.SLOT
    assert running(one) == [posted]
    one.cancel([posted])
    assert [event.task_id for event in one.wait_for(2)] == [posted, urgent]
    assert len(misbehaving.log("/posted")) == 1


def test_a_session_with_many_tasks_does_not_delay_other_sessions(host, misbehaving):
    many, few = two(host)
    many.set_limits(Limits(maximum_running_tasks=4))
    many.enqueue([Request(misbehaving.serve("/many", Content(10)))] * 10_000)
    few.enqueue([Request(misbehaving.serve("/few", Content(10)))] * 20)
    before = len(misbehaving.log())
    few.wait_for()
    # The requests before the last request of `few`. How many tasks of `many` run after it, until the store has reported
    # the ends of all tasks of `few`, depends on the speed of the disk.
    paths = [asked.path for asked in misbehaving.log()][before:]
    while paths and paths[-1] == "/many":
        paths.pop()
    assert paths.count("/many") < 2_500
    many.cancel()
