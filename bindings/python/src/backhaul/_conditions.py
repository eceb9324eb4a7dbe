"""The classes of conditions (facts about the system), holds (tasks that wait for a condition), wait records and
networks."""

from __future__ import annotations

from dataclasses import dataclass

from ._constants import ConditionKind, NetworkKind, Reason
from ._rules import Budget
from ._types import OptionalTime, Time


@dataclass(frozen=True)
class Wait:
    """A wait record: a period in which a task did not run, with the reason."""

    #: The task's id.
    task_id: int
    #: The reason why the task did not run.
    reason: Reason
    #: The reason in one sentence.
    reason_text: str
    #: When the wait began, in Unix milliseconds.
    began_ms: int
    #: When the wait ended, in Unix milliseconds, or 0 if the task still waits.
    ended_ms: int

    #: When the wait began.
    began = Time()
    #: When the wait ended, or None if the task still waits.
    ended = OptionalTime()


@dataclass(frozen=True)
class Condition:
    """The current value of one condition. A condition is a fact about the system, such as power or network. The engine,
    which is the process that runs the tasks, reads the conditions."""

    #: What the condition is about.
    kind: ConditionKind
    #: The value. Its meaning depends on the kind. None: the condition cannot be read, and therefore no task waits for
    #: it.
    value: int | None
    #: The name of the network if the condition is about a network, otherwise None.
    name: str | None
    #: The value in a few words, such as "on battery".
    text: str
    #: The source of the value: a path, "NetworkManager" or "configured". If the condition cannot be read, this field
    #: has the reason.
    source: str
    #: When the engine first read the present value, in Unix milliseconds.
    since_ms: int

    @property
    def is_known(self) -> bool:
        """Whether the condition can be read."""
        return self.value is not None

    #: When the engine first read the present value. None if the condition cannot be read.
    since = OptionalTime()


@dataclass(frozen=True)
class Hold:
    """Tasks that wait because of one condition. All of them belong to one session."""

    #: The identifier of the application.
    application: str
    #: The identifier of the session.
    session: str
    #: The origin (scheme, host name and port) if only tasks for one origin wait, otherwise None.
    origin: str | None
    #: The reason why the tasks wait.
    reason: Reason
    #: The reason in one sentence.
    reason_text: str
    #: When the hold began, in Unix milliseconds.
    began_ms: int
    #: When the engine checks the condition again, in Unix milliseconds. 0: only when the condition changes.
    next_check_ms: int
    #: The number of tasks that wait.
    tasks: int

    #: When the hold began.
    began = Time()
    #: When the engine checks the condition again. None: only when the condition changes.
    next_check = OptionalTime()


@dataclass(frozen=True)
class Network:
    """A network with its settings. ``set_network`` stores ``name``, ``metered``, ``month_starts_on`` and ``budget``,
    and ignores all other fields."""

    #: The name of the connection in NetworkManager. Without NetworkManager, the name of the interface that the default
    #: route uses. Conditions and listings show the same name.
    name: str
    #: Whether the network is metered. None: the value of the system applies.
    metered: bool | None = None
    #: The day of the calendar month on which the budget's month begins, from 1 to 28. 0 means 1.
    month_starts_on: int = 0
    #: The budget of all sessions together on this network.
    budget: Budget = Budget()
    #: The kind of the network. None if this engine has not used the network.
    kind: NetworkKind | None = None
    #: Whether the default route uses this network.
    is_current: bool = False
    #: The bytes that were moved on this network on the present day. If an engine is killed, the bytes of its last
    #: seconds are not counted.
    used_today: int = 0
    #: The bytes that were moved on this network in the present month of the budget.
    used_this_month: int = 0
    #: When the present day ends, in Unix milliseconds.
    day_ends_ms: int = 0
    #: When the present month of the budget ends, in Unix milliseconds.
    month_ends_ms: int = 0

    #: When the present day ends. None if this network has no record.
    day_ends = OptionalTime()
    #: When the present month of the budget ends. None if this network has no record.
    month_ends = OptionalTime()
