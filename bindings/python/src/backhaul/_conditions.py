"""Conditions, holds, wait records and networks, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import ConditionKind, NetworkKind, Reason
from ._rules import Budget
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class Wait:
    """A wait record: a time in which a task did not run, with the reason."""

    reason: Reason
    #: The reason in one sentence.
    reason_text: str
    #: The begin in Unix milliseconds.
    began_ms: int
    #: The end in Unix milliseconds, or 0 if the task still waits.
    ended_ms: int

    @property
    def began(self) -> datetime:
        return moment(self.began_ms)

    @property
    def ended(self) -> datetime | None:
        """The end, or None if the task still waits."""
        return moment_or_none(self.ended_ms)


@dataclass(frozen=True)
class Condition:
    """The current value of one condition of the system."""

    kind: ConditionKind
    #: The value, whose meaning depends on the kind; None: it cannot be read, so it holds no task.
    value: int | None
    #: The name of the network.
    name: str | None
    #: The meaning in a few words: "on battery".
    text: str
    #: Its source: a path, "NetworkManager", "configured"; or the reason why it cannot be read.
    source: str
    #: When the engine saw it become so, in Unix milliseconds.
    since_ms: int

    @property
    def is_known(self) -> bool:
        """Whether the condition can be read."""
        return self.value is not None

    @property
    def since(self) -> datetime | None:
        return moment_or_none(self.since_ms)


@dataclass(frozen=True)
class Hold:
    """Tasks of a session that one condition holds."""

    application: str
    #: The identifier of the session.
    session: str
    #: The origin, if only tasks of one origin are held.
    origin: str | None
    reason: Reason
    #: The reason in one sentence.
    reason_text: str
    #: The begin in Unix milliseconds.
    began_ms: int
    #: When the engine checks again, in Unix milliseconds, or 0: when the condition changes.
    next_look_ms: int
    #: The number of held tasks.
    tasks: int

    @property
    def began(self) -> datetime:
        return moment(self.began_ms)

    @property
    def next_look(self) -> datetime | None:
        """When the engine checks again, or None: when the condition changes."""
        return moment_or_none(self.next_look_ms)


@dataclass(frozen=True)
class Network:
    """A network with its settings. The fields from ``kind`` on are only read."""

    #: The name of NetworkManager's connection, else of the default route's interface, as conditions and listings show
    #: it.
    name: str
    #: Overrides the system's value; None: the system's value.
    metered: bool | None = None
    #: The day on which a month of the budget begins, 1 to 28; 0: 1.
    month_starts_on: int = 0
    #: The budget of all sessions together.
    budget: Budget = Budget()
    #: None if this engine has not seen the network.
    kind: NetworkKind | None = None
    #: Whether the default route uses it.
    is_current: bool = False
    #: The usage in bytes. A killed engine loses that of its last seconds.
    used_today: int = 0
    used_this_month: int = 0
    #: The ends of the budget's day and month, in Unix milliseconds.
    day_ends_ms: int = 0
    month_ends_ms: int = 0

    @property
    def day_ends(self) -> datetime | None:
        return moment_or_none(self.day_ends_ms)

    @property
    def month_ends(self) -> datetime | None:
        return moment_or_none(self.month_ends_ms)
