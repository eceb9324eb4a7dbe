"""Conditions, and what waits for them: what the system offers now, holds, waits, networks. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import ConditionKind, NetworkKind, Reason
from ._rules import Budget
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class Wait:
    """A time in which a task did not move, and why."""

    reason: Reason
    #: One sentence.
    reason_text: str
    #: Unix time in milliseconds.
    began_ms: int
    #: Unix time in milliseconds, or 0: it lasts.
    ended_ms: int

    @property
    def began(self) -> datetime:
        return moment(self.began_ms)

    @property
    def ended(self) -> datetime | None:
        """None: it lasts."""
        return moment_or_none(self.ended_ms)


@dataclass(frozen=True)
class Condition:
    """What the system offers now in one respect."""

    kind: ConditionKind
    #: As its kind says; None: it cannot be read, and so holds nothing back.
    value: int | None
    #: Of the network.
    name: str | None
    #: What it means, in a few words: "on battery".
    text: str
    #: Where it was read: a path, "NetworkManager", "configured"; or why it could not be.
    source: str
    #: Unix time in milliseconds since when it is so, as far as the engine has seen.
    since_ms: int

    @property
    def is_known(self) -> bool:
        """Whether it can be read."""
        return self.value is not None

    @property
    def since(self) -> datetime | None:
        return moment_or_none(self.since_ms)


@dataclass(frozen=True)
class Hold:
    """Tasks of a session that are held back for one reason."""

    application: str
    #: Its identifier.
    session: str
    #: When those of one origin alone are.
    origin: str | None
    reason: Reason
    #: One sentence.
    reason_text: str
    #: Unix time in milliseconds.
    began_ms: int
    #: Unix time in milliseconds when it will be looked at again, or 0: when it changes.
    next_look_ms: int
    #: How many are held back.
    tasks: int

    @property
    def began(self) -> datetime:
        return moment(self.began_ms)

    @property
    def next_look(self) -> datetime | None:
        """None: when it changes."""
        return moment_or_none(self.next_look_ms)


@dataclass(frozen=True)
class Network:
    """A network, and what its administrator says of it. The fields from ``kind`` on are only read."""

    #: NetworkManager's connection, else the interface of the default route; as conditions and listings show it.
    name: str
    #: In place of what the system says; None: as the system says.
    metered: bool | None = None
    #: Day on which a month of the budget begins, 1 to 28; 0: 1.
    month_starts_on: int = 0
    #: Of all sessions together.
    budget: Budget = Budget()
    #: None when it was not seen by this engine.
    kind: NetworkKind | None = None
    #: Whether the default route leads there.
    is_current: bool = False
    #: Bytes; an engine that is killed forgets those of its last seconds.
    used_today: int = 0
    used_this_month: int = 0
    #: Unix time in milliseconds.
    day_ends_ms: int = 0
    month_ends_ms: int = 0

    @property
    def day_ends(self) -> datetime | None:
        return moment_or_none(self.day_ends_ms)

    @property
    def month_ends(self) -> datetime | None:
        return moment_or_none(self.month_ends_ms)
