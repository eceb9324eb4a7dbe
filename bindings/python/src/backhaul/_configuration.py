"""What is stored with sessions, and what all sessions of a store share."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._constants import Cookies, Tolerances
from ._rules import TLS, Budget, Constraints, Proxy, RetryPolicy, TransferRules
from ._types import Headers


@dataclass(frozen=True)
class SessionConfiguration:
    """Settings of a session, stored with it. 0 or None in a field stands for its default."""

    #: 1 to 255 bytes of UTF-8 without control characters.
    identifier: str
    retry: RetryPolicy = RetryPolicy()
    rules: TransferRules = TransferRules()
    constraints: Constraints = Constraints()
    tls: TLS = TLS()
    proxy: Proxy = Proxy()
    #: Of this session on any one network.
    budget: Budget = Budget()
    #: Of all its tasks together, both directions; default: no limit.
    bytes_per_second: int = 0
    #: Sent with each request to the origin of its URL. A request's own header of the same name replaces it. Not shown
    #: by ``repr``, because they may hold secrets.
    headers: Headers = field(default=(), repr=False)
    #: Default 6; at most 256. Tasks over HTTP/2 share one connection.
    connections_per_origin: int = 0
    #: Default 64; at most 1,024.
    maximum_running_tasks: int = 0
    #: Ended tasks that ``history`` keeps; default 1,000; HISTORY_NONE: none.
    history_limit: int = 0
    #: "none" (the default), "memory" or "persistent".
    cookies: str | Cookies | None = None
    #: Faults of servers that its tasks accept; by default none.
    tolerances: Tolerances = Tolerances(0)
    #: Whether its rounds and challenges launch the application; None: they do.
    sends_launch_events: bool | None = None
    #: Whether a 401 or 407 opens a challenge, for which its tasks wait; None: it is a failure.
    asks_for_credentials: bool | None = None
    #: Whether tasks of a launched host get Preset.DISCRETIONARY, as Apple does with tasks of an app in the background;
    #: None: they do not.
    discretionary_if_launched: bool | None = None
    #: Launches a host although one consumes the session, when the session needs it and the consumer's process was
    #: stopped for this long; 0: never.
    launch_if_stopped_ms: int = 0
    #: Time for ``constraints.minimum_bytes_per_second``; default 60,000.
    slow_after_ms: int = 0
    #: Pause before the first probe of a slow origin; it doubles up to twelve times this. Default 300,000.
    slow_pause_ms: int = 0


@dataclass(frozen=True)
class Limits:
    """What all sessions of the store may use together. 0 stands for the default."""

    #: Both directions; default: no limit.
    bytes_per_second: int = 0
    #: Default 256; at most 1,024.
    maximum_running_tasks: int = 0
    #: Default 256; at most 1,024.
    maximum_connections: int = 0
    #: Of all sessions to one origin; default: each session's own limit.
    connections_per_origin: int = 0
