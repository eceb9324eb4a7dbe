"""The parts of a session's configuration and of a task's policy. 0 or None in a field stands for its default."""

from __future__ import annotations

from dataclasses import field

from ._constants import HTTPVersion, NetworkKind, Preset, Redirects, RetryErrors, ThermalState, TLSVersion
from ._keyword_only import dataclass
from ._types import Path


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """When a failed attempt is repeated."""

    #: Attempts in a row without new durable bytes; default: no limit but the resource time-out.
    maximum_attempts: int = 0
    #: Default 1,000; it doubles with each attempt.
    first_delay_ms: int = 0
    #: Default 600,000.
    longest_delay_ms: int = 0
    #: The random part of each delay, 1 to 100; default 50.
    jitter_percent: int = 0
    #: Default: all but BAD_RESPONSE.
    errors: RetryErrors | None = None
    #: Whether a POST or PATCH is repeated although a server may have acted on it; default: only when no server has.
    unsafe_methods: bool | None = None
    #: Default "408,425,429,500,502-504".
    statuses: str | None = None


@dataclass(frozen=True, kw_only=True)
class TransferRules:
    """What is accepted from a server, and for how long it is waited for."""

    #: Time without a byte from the server; default 60,000.
    request_timeout_ms: int = 0
    #: Time from the enqueue on, but not while the task is suspended; default 7 days.
    resource_timeout_ms: int = 0
    http_version: HTTPVersion = HTTPVersion.DEFAULT
    #: "follow" (the default), "same_origin" or "none".
    redirects: str | Redirects | None = None
    #: Default 20; at most 100.
    maximum_redirects: int = 0
    #: Statuses and ranges; others are failures. Default "200-299".
    accepted_statuses: str | None = None
    #: Bytes of a file, else Status.TOO_LARGE; default: no limit.
    maximum_size: int = 0


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Conditions under which tasks run; otherwise they are held. Where session and request both have constraints, the
    stricter one holds."""

    #: "discretionary" or "overnight"; fields that are set beside it take the place of its own. A preset's constraints
    #: end at the request's ``latest_start``; those of fields hold always.
    preset: str | Preset | None = None
    #: True: held while the machine runs on battery.
    requires_external_power: bool | None = None
    #: True: held while the network is metered.
    requires_unmetered: bool | None = None
    #: Kinds of network on which tasks run; None: all.
    networks: NetworkKind | None = None
    #: Held on battery with less, then until it has 5 more; 1 to 100.
    minimum_battery_percent: int = 0
    #: "nominal", "fair" or "serious" (the default): held while the machine is hotter.
    maximum_thermal_state: str | ThermalState | None = None
    #: Percentage of the last ten seconds in which a process waited for a processor, 1 to 100; default: no limit.
    maximum_cpu_pressure_percent: int = 0
    #: The same for disks.
    maximum_io_pressure_percent: int = 0
    #: The same for memory.
    maximum_memory_pressure_percent: int = 0
    #: Tasks pause when an origin, or the network, is slower than this for the session's ``slow_after_ms``; one task
    #: then probes.
    minimum_bytes_per_second: int = 0
    #: Hours of local time in which tasks are held: "22:00-06:30", or "mon-fri 08:00-18:00, sat 10:00-14:00".
    quiet_hours: str | None = None


@dataclass(frozen=True, kw_only=True)
class TLS:
    """Certificates that a session trusts, and its own."""

    #: Absolute path of PEM certificates in place of the system's.
    ca_file: Path | None = None
    #: Absolute path of PEM: a certificate and its chain.
    client_certificate: Path | None = None
    #: Absolute path of PEM; None: in ``client_certificate``.
    client_key: Path | None = None
    #: "sha256//BASE64;sha256//…": keys of the server.
    pinned_public_keys: str | None = None
    #: Default TLS 1.2.
    minimum_version: TLSVersion | None = None


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """The way to servers."""

    #: "http://…", "https://…", "socks5://…" or "socks5h://…" (the proxy resolves names), without user and password;
    #: "none": no proxy; None: as the engine's environment says.
    url: str | None = None
    #: With ``password``: for Basic, Digest or SOCKS.
    user: str | None = None
    #: Not shown by ``repr``.
    password: str | None = field(default=None, repr=False)
    #: Names and addresses that are reached without the proxy, with commas between.
    bypass: str | None = None


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Bytes that may move on one network, both directions."""

    #: In a day of local time; 0: no limit; BUDGET_NOTHING: none.
    daily: int = 0
    #: In a calendar month.
    monthly: int = 0


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How one task differs from its session. 0 or None in a field: as the session's configuration says."""

    retry: RetryPolicy = RetryPolicy()
    rules: TransferRules = TransferRules()
    constraints: Constraints = Constraints()
    #: Of this task, beside the session's limit; ``set_rate`` changes it.
    bytes_per_second: int = 0
