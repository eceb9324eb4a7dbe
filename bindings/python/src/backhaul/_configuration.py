"""What is remembered with sessions, and what all sessions of a store share."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._constants import (
    Cookies,
    HTTPVersion,
    NetworkKind,
    Preset,
    Redirects,
    RetryErrors,
    ThermalState,
    TLSVersion,
    Tolerances,
)
from ._types import Headers, Path


@dataclass(frozen=True)
class SessionConfiguration:
    """What is remembered with a session from its creation. 0 or None stands for the library's default."""

    identifier: str
    connections_per_origin: int = 0
    maximum_running_tasks: int = 0
    #: Tries in a row without new durable bytes.
    maximum_attempts: int = 0
    #: Doubles with each try, with jitter.
    first_retry_delay_ms: int = 0
    longest_retry_delay_ms: int = 0
    #: Without a byte from the server.
    request_timeout_ms: int = 0
    #: From enqueue.
    resource_timeout_ms: int = 0
    #: Absolute path of PEM certificates to trust instead of the system's.
    ca_file: Path | None = None
    #: Whether its rounds and challenges launch the application; None: they do.
    sends_launch_events: bool | None = None
    #: Whether a 401 or 407 becomes a challenge, for which its tasks wait; None: it does not, and is a failure.
    asks_for_credentials: bool | None = None
    #: When the consumer's process has been stopped for so long while the session needs it, launch all the same.
    launch_if_stopped_ms: int = 0
    #: How much of each delay is random; 1 to 100.
    retry_jitter_percent: int = 0
    #: None: all but BAD_RESPONSE.
    retry_errors: RetryErrors | None = None
    #: Whether a POST or PATCH is repeated although the server may have done what it asks; None: it is not.
    retries_unsafe_methods: bool | None = None
    #: None: "408,425,429,500,502-504".
    retry_statuses: str | None = None
    #: None: "200-299". Others are failures.
    accepted_statuses: str | None = None
    http_version: HTTPVersion = HTTPVersion.DEFAULT
    #: "follow" (the default), "same_origin" or "none".
    redirects: str | Redirects | None = None
    maximum_redirects: int = 0
    #: Bytes that a file may have, else Status.TOO_LARGE.
    maximum_size: int = 0
    #: Sent with each request to its URL's origin; one of the request's own with the same name takes its place. Not
    #: shown by ``repr``, for they may hold secrets.
    headers: Headers = field(default=(), repr=False)
    #: Of all its tasks together, both ways. Holds at once.
    bytes_per_second: int = 0
    #: "http://…", "https://…", "socks5://…", "socks5h://…" or "none"; None: as the engine's environment says.
    proxy: str | None = None
    proxy_user: str | None = None
    proxy_password: str | None = field(default=None, repr=False)
    #: Names and addresses that need no proxy, with commas between.
    no_proxy: str | None = None
    #: "none" (the default), "memory" or "persistent".
    cookies: str | Cookies | None = None
    #: None: TLS 1.2.
    minimum_tls: TLSVersion | None = None
    #: Absolute path of PEM: the certificate and those that vouch for it.
    client_certificate: Path | None = None
    #: Absolute path of its key in PEM; None: in ``client_certificate``.
    client_key: Path | None = None
    #: "sha256//BASE64;sha256//…", of the server's key.
    pinned_public_keys: str | None = None
    #: How many ended tasks ``history`` keeps; HISTORY_NONE: none.
    history_limit: int = 0
    #: "discretionary" or "overnight": what it waits for when it can. A field that is set beside it takes its place.
    preset: str | Preset | None = None
    #: Whether it waits while the machine runs on battery.
    requires_external_power: bool | None = None
    #: Whether it waits while the network is metered.
    requires_unmetered: bool | None = None
    #: Kinds of network on which it runs; None: all.
    networks: NetworkKind | None = None
    #: Waits on battery with less, and then until it has 5 more; 1 to 100.
    minimum_battery_percent: int = 0
    #: "nominal", "fair" or "serious": waits while the machine is hotter.
    maximum_thermal_state: str | ThermalState | None = None
    #: Of the last ten seconds in which some process waited for a processor, a disk, memory; 1 to 100.
    maximum_cpu_pressure_percent: int = 0
    maximum_io_pressure_percent: int = 0
    maximum_memory_pressure_percent: int = 0
    #: When less has come for ``slow_after_ms``, from an origin or from all, it pauses and probes.
    minimum_bytes_per_second: int = 0
    #: Hours of local time in which it waits: "22:00-06:30", or "mon-fri 08:00-18:00, sat 10:00-14:00".
    quiet_hours: str | None = None
    slow_after_ms: int = 0
    #: Before the first probe; doubles up to twelve times of it.
    slow_pause_ms: int = 0
    #: Whether tasks that a launched host enqueues are discretionary, as Apple treats those of an app in the background;
    #: None: they are not.
    discretionary_if_launched: bool | None = None
    #: Bytes that it may move, both ways, on any one network in a day of local time; 0: no limit; BUDGET_NOTHING: none.
    daily_budget: int = 0
    #: The same, in a calendar month.
    monthly_budget: int = 0
    #: Faults of servers that its tasks accept; by default none.
    tolerances: Tolerances = Tolerances(0)


@dataclass(frozen=True)
class Limits:
    """What all sessions of the store may use together. 0 stands for the library's default."""

    #: Both ways; 0: no limit.
    bytes_per_second: int = 0
    maximum_running_tasks: int = 0
    maximum_connections: int = 0
    #: Of all sessions to one origin; 0: each session's own.
    connections_per_origin: int = 0
