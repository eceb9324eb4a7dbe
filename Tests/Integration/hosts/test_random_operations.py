"""Random operations of a host in random order, with kills. The results of the library must equal the results of a
small reference model."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from backhaul import Conflict, EventsOutstanding, Hosting, NotFound, Request, TaskState
from daemons import end_daemons
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import Host

LIVE, SUSPENDED = "live", TaskState.SUSPENDED
keys = st.integers(0, 9).map(str)
some_keys = st.lists(keys, min_size=1, max_size=4, unique=True)


class AnyOrder(RuleBasedStateMachine):
    """The operations, with their expected results. Only these operations change tasks, because each task is suspended
    or waits for a server that never responds."""

    def __init__(self, server, folder, hosting):
        super().__init__()
        self.server = server
        self.hosting = hosting
        self.place = Path(tempfile.mkdtemp(prefix="any-order-", dir=folder))
        self.host = None
        self.states = {}  # key -> live, suspended, or the end state of the task
        self.began_suspended = {}  # key -> whether the request starts suspended
        self.task = {}  # key -> id
        self.round_open = False  # whether an event will report that all tasks have ended
        self.events = []  # the unacknowledged events: an ended task's key, or None for "all tasks have ended"
        self.handed_out = 0  # the number of events that the host has read and not acknowledged

    @initialize()
    def begin(self):
        self._start()

    def _start(self):
        self.host = Host(self.place / "store", hosting=self.hosting).open()
        self.host.session(request_timeout_ms=60_000, maximum_running_tasks=3)

    def teardown(self):
        if self.host:
            self.host.end()
        end_daemons(self.place)
        shutil.rmtree(self.place, ignore_errors=True)

    @rule(names=some_keys, suspended=st.booleans())
    def enqueue(self, names, suspended):
        requests = [Request(self._url(name), self.place / name, key=name,
                            suspended=self.began_suspended.setdefault(name, suspended)) for name in names]
        results = self.host.enqueue(requests)
        for name, result in zip(names, results):
            assert result.is_new == (name not in self.states)
            assert self.task.setdefault(name, result.task_id) == result.task_id
            if result.is_new:
                self.states[name] = SUSPENDED if self.began_suspended[name] else LIVE
                self.round_open = True

    @rule(name=keys)
    def enqueue_another_request_under_the_same_key(self, name):
        if name not in self.states:
            return
        with pytest.raises(Conflict):
            self.host.download(self._url(name), self.place / "another", key=name)

    @rule(names=some_keys)
    def cancel(self, names):
        chosen = [name for name in names if name in self.states]
        live = [name for name in chosen if self.states[name] in (LIVE, SUSPENDED)]
        if not chosen:
            return
        assert self.host.cancel([self.task[name] for name in chosen]) == len(live)
        self._ended(live, TaskState.CANCELLED)

    @rule(names=some_keys)
    def suspend(self, names):
        chosen = [name for name in names if self.states.get(name) in (LIVE, SUSPENDED)]
        if not chosen:
            return
        changed = sum(self.states[name] is LIVE for name in chosen)
        assert self.host.suspend([self.task[name] for name in chosen]) == changed
        self.states.update(dict.fromkeys(chosen, SUSPENDED))

    @rule(names=some_keys)
    def resume(self, names):
        chosen = [name for name in names if self.states.get(name) is SUSPENDED]
        if not chosen:
            return
        assert self.host.resume([self.task[name] for name in chosen]) == len(chosen)
        self.states.update(dict.fromkeys(chosen, LIVE))

    @rule()
    def cancel_all(self):
        live = [name for name, state in self.states.items() if state in (LIVE, SUSPENDED)]
        assert self.host.cancel() == len(live)
        self._ended(sorted(live, key=self.task.get), TaskState.CANCELLED)

    @rule()
    def read_events(self):
        events = self.host.poll(timeout=0)
        assert sorted(map(str, (event.key for event in events))) == sorted(map(str, self.events))
        assert [event.id for event in events] == sorted({event.id for event in events})
        self.read = events
        self.handed_out = len(events)

    @precondition(lambda self: self.handed_out)
    @rule(share=st.floats(0, 1))
    def acknowledge(self, share):
        part = self.read[:max(1, round(len(self.read) * share))]
        assert self.host.acknowledge(part) == len(part)
        assert self.host.acknowledge(part) == 0
        for event in part:
            self.events.remove(event.key)
            if event.key is not None:
                del self.states[event.key], self.task[event.key], self.began_suspended[event.key]
        self.read = self.read[len(part):]
        self.handed_out -= len(part)

    @rule()
    def complete(self):
        if self.handed_out:
            with pytest.raises(EventsOutstanding):
                self.host.complete()
        else:
            self.host.complete()

    @precondition(lambda self: self.hosting is Hosting.DAEMON)
    @rule()
    def lose_the_engine(self):
        self.host.kill_engine()

    @rule(with_engine=st.booleans())
    def be_killed_and_start_again(self, with_engine):
        if with_engine:
            self.host.kill_with_engine()
        else:
            self.host.kill()
        self.host.end()
        self._start()
        self.handed_out = 0

    @rule()
    def observe_tasks(self):
        listed = {info.key: info for info in self.host.tasks()}
        assert sorted(listed) == sorted(self.states)
        for name, state in self.states.items():
            seen = listed[name]
            assert seen.id == self.task[name]
            expected = {LIVE: (TaskState.WAITING, TaskState.RUNNING), SUSPENDED: (SUSPENDED,)}.get(state, (state,))
            assert seen.state in expected, (name, seen)
        infos = self.host.all_sessions()
        assert infos[0].live_tasks == sum(state in (LIVE, SUSPENDED) for state in self.states.values())
        assert infos[0].events == len(self.events)

    @rule()
    def ask_for_nothing(self):
        with pytest.raises(NotFound):
            self.host.task(2**40)

    def _url(self, name):
        return f"{self.server.url}/{name}"

    def _ended(self, names, state):
        self.states.update(dict.fromkeys(names, state))
        self.events += names
        if names and self.round_open and not any(state in (LIVE, SUSPENDED) for state in self.states.values()):
            self.round_open = False
            self.events.append(None)


@pytest.mark.both_hostings
@pytest.mark.timeout(300)
def test_random_operations_have_the_same_results_as_a_model(misbehaving, place, library, hosting):
    for name in range(10):
        misbehaving.serve(f"/{name}", Content(1_000), otherwise=Behaviour(silent=True))
    run_state_machine_as_test(
        lambda: AnyOrder(misbehaving, place, hosting),
        settings=settings(max_examples=10, stateful_step_count=25, deadline=None, derandomize=True, database=None,
                          suppress_health_check=list(HealthCheck)))
