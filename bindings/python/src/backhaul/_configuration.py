# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""What is stored with sessions, and what all sessions of a store share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from ._constants import Cookies, Tolerances
from ._rules import TLS, Budget, Constraints, Proxy, RetryPolicy, TransferRules
from ._types import Headers
from ._words import CookiesWord


@dataclass(frozen=True)
class SessionConfiguration:
    """Settings of a session, stored with it. 0 and None are the defaults."""

    #: 1 to 255 bytes of UTF-8 without control characters.
    identifier: str
    #: When failed attempts are repeated.
    retry: RetryPolicy = RetryPolicy()
    #: Which responses are accepted.
    rules: TransferRules = TransferRules()
    #: What all tasks of the session demand of the system.
    constraints: Constraints = Constraints()
    #: Trusted certificates and own certificates.
    tls: TLS = TLS()
    #: The proxy of the session.
    proxy: Proxy = Proxy()
    #: Bytes that this session may move on each network.
    budget: Budget = Budget()
    #: Limit of the rate of all tasks of the session together, in both directions; default: no limit.
    bytes_per_second: int = 0
    #: Headers that are sent with each request, but only to the origin of the request's URL. If the request has a header
    #: of the same name, the request's header is sent instead (Apple: httpAdditionalHeaders). Not shown by ``repr``.
    headers: Headers = field(default=(), repr=False)
    #: Default 6; at most 256. Tasks over HTTP/2 share one connection.
    connections_per_origin: int = 0
    #: Default 64; at most 1,024.
    maximum_running_tasks: int = 0
    #: Default 1,000: how many ended tasks ``history`` can list; at most 100,000. With HISTORY_NONE, the history is
    #: empty, and the records of a task's attempts are kept only until the host acknowledges the task's event.
    history_limit: int = 0
    #: Where a session's cookies are kept (RFC 6265). Default: Cookies.NONE. "none", "memory" or "persistent".
    cookies: Cookies | CookiesWord | None = None
    #: Faults of servers that a session tolerates.
    tolerances: Tolerances = Tolerances(0)
    #: True, the default: when this session needs a host, the engine launches the host (Apple:
    #: sessionSendsLaunchEvents).
    sends_launch_events: bool | None = None
    #: True: the statuses 401 and 407 open a challenge, even if they are accepted, and the tasks wait until the host
    #: responds to the challenge. False, the default: these statuses are failures, like all statuses that are not
    #: accepted.
    asks_for_credentials: bool | None = None
    #: True: tasks that a launched host enqueues get Preset.DISCRETIONARY. Apple does the same with tasks of an app in
    #: the background. Default False.
    discretionary_if_launched: bool | None = None
    #: If the consumer's process has been stopped for this long (by SIGSTOP, a debugger or the cgroup freezer), and the
    #: session needs its host, the engine launches another host. 0: never. The library does not make a stopped process
    #: run again. At most 86,400,000 (a day).
    launch_if_stopped_ms: int = 0
    #: Default 60,000: how long the throughput must be below ``constraints.minimum_bytes_per_second`` before tasks are
    #: held; 1,000 to 86,400,000 (a day).
    slow_after_ms: int = 0
    #: Default 300,000: pause before the first slow probe of an origin. The pause doubles after each failed slow probe,
    #: until it is twelve times this value. 1,000 to 86,400,000 (a day).
    slow_pause_ms: int = 0


@dataclass(frozen=True)
class Limits:
    """Limits for all sessions of the store together. 0 is the default."""

    #: Limit of sent and received bytes together; default: no limit.
    bytes_per_second: int = 0
    #: Default 256; at most 1,024.
    maximum_running_tasks: int = 0
    #: Default 256; at most 1,024.
    maximum_connections: int = 0
    #: Limit of the connections of all sessions together to one origin; at most 256. Default: only each session's own
    #: limit.
    connections_per_origin: int = 0


class ConfigurationOptions(TypedDict, total=False):
    """The fields of ``SessionConfiguration`` that ``Application.session`` accepts as keywords."""

    retry: RetryPolicy
    rules: TransferRules
    constraints: Constraints
    tls: TLS
    proxy: Proxy
    budget: Budget
    bytes_per_second: int
    headers: Headers
    connections_per_origin: int
    maximum_running_tasks: int
    history_limit: int
    cookies: Cookies | CookiesWord | None
    tolerances: Tolerances
    sends_launch_events: bool | None
    asks_for_credentials: bool | None
    discretionary_if_launched: bool | None
    launch_if_stopped_ms: int
    slow_after_ms: int
    slow_pause_ms: int
