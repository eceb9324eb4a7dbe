# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The parts of a session's configuration, and a task's policy."""

from __future__ import annotations

from dataclasses import field

from ._constants import (
    HTTPVersion,
    NetworkKind,
    Preset,
    Redirects,
    ResumableUploads,
    RetryErrors,
    ThermalState,
    TLSVersion,
)
from ._keyword_only import dataclass
from ._types import StrPath
from ._words import PresetWord, RedirectsWord, ResumableUploadsWord, ThermalStateWord


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """When a failed attempt is repeated."""

    #: After this many attempts in a row without a new stored byte, the task fails. Default: no limit; the attempts end
    #: with the resource time-out.
    maximum_attempts: int = 0
    #: Default 1,000: delay after the first failed attempt. The delay doubles with each further failed attempt. At most
    #: 86,400,000 (a day).
    first_delay_ms: int = 0
    #: Default 600,000: the longest delay after a failed attempt; at most 86,400,000, and not less than
    #: ``first_delay_ms``.
    longest_delay_ms: int = 0
    #: Default 50: the random part of each delay; 1 to 100.
    jitter_percent: int = 0
    #: Default: all errors except RetryErrors.BAD_RESPONSE.
    errors: RetryErrors | None = None
    #: True: requests whose method is not idempotent (POST, PATCH; RFC 9110, section 9.2.2) are repeated even if a
    #: server may have acted on them. False, the default: such requests are repeated only if no server can have acted on
    #: them.
    unsafe_methods: bool | None = None
    #: Default "408,425,429,500,502-504,520-530": the HTTP statuses, and ranges of statuses, for RetryErrors.STATUS. The
    #: statuses 403, 413, 429 and 5xx except 511 with Retry-After count as well.
    statuses: str | None = None


@dataclass(frozen=True, kw_only=True)
class TransferRules:
    """Which responses are accepted, and how long a task waits for them."""

    #: Default 60,000: the longest time without a byte in either direction (Apple: timeoutIntervalForRequest); at most
    #: 86,400,000 (a day).
    request_timeout_ms: int = 0
    #: Version of HTTP. Default: HTTP/2 over TLS if the server supports it, else HTTP/1.1.
    http_version: HTTPVersion = HTTPVersion.DEFAULT
    #: Default 604,800,000 (7 days): the longest time from the enqueue to the end of the task (Apple:
    #: timeoutIntervalForResource). Time in which the task is suspended does not count. At most 315,360,000,000 (ten
    #: years).
    resource_timeout_ms: int = 0
    #: Which redirects are followed (RFC 9110, section 15.4). Default: Redirects.FOLLOW. "follow", "same_origin" or
    #: "none".
    redirects: Redirects | RedirectsWord | None = None
    #: Default 20; at most 100.
    maximum_redirects: int = 0
    #: Default "200-299": the accepted statuses and ranges of statuses. Any other status is a failure. The body of an
    #: accepted response is the file. The file is empty for 204, 205 and 304, and for a response to HEAD. 206 is
    #: accepted if 200 is accepted.
    accepted_statuses: str | None = None
    #: Limit of a file's size in bytes; a larger file fails with Status.TOO_LARGE. Default: no limit.
    maximum_size: int = 0
    #: The accepted media types of a file, such as "image/png, application/zip". As in the field Accept (RFC 9110,
    #: section 12.5.1), the subtype or both may be an asterisk; parameters are not allowed. The bytes of another type
    #: are not received, and the task fails with Status.UNEXPECTED_TYPE. A response without Content-Type has the type
    #: application/octet-stream. Default: all types, except for pages that come in place of the file (docs/http.md) or
    #: of the response to an upload (docs/uploads.md).
    accepted_types: str | None = None
    #: True: no connection is made to a private address (this machine, its local networks, addresses of a cloud's
    #: metadata), also after a redirect. The task fails with Status.ADDRESS_REFUSED. The engine checks the address of
    #: each connection, so a name that later resolves to another address is no way around the check. A proxy makes its
    #: connections itself (docs/transport.md). Default: False.
    refuses_private_addresses: bool | None = None
    #: How an upload continues after an interruption. Default: ResumableUploads.AUTOMATIC. "never", "automatic", "ietf",
    #: "tus" or "apple".
    resumable_uploads: ResumableUploads | ResumableUploadsWord | None = None
    #: For s3://bucket/key: the URL of a server of S3, such as "https://minio.example:9000". Default: AWS, or the
    #: endpoint of the environment or of the profile (docs/s3.md).
    s3_endpoint: str | None = None
    #: For s3://bucket/key, such as "eu-central-1". Default: the region of the environment or of the profile, or
    #: us-east-1.
    s3_region: str | None = None
    #: For s3://bucket/key: the profile in the files of AWS. Default: AWS_PROFILE, or "default".
    s3_profile: str | None = None
    #: For s3://bucket/key: a command for /bin/sh that prints credentials as JSON, as ``credential_process`` of AWS
    #: does. Default: the places in docs/s3.md.
    s3_credential_command: str | None = None
    #: For s3://bucket/key: True: the bucket is in the path of the URL, and not in the name of the server. Default: True
    #: with an endpoint and for names of buckets with a dot.
    s3_path_style: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """What a task demands of the system. While the system does not meet a constraint, the task is *held*: it does not
    run. In structs that the library returns, the constraints have the values that the host has set; their defaults are
    not filled in. If the session and the request have different values for a constraint, the stricter value applies."""

    #: A predefined set of constraints (see ``Constraints``). Default: no constraints. "discretionary" or "overnight".
    preset: Preset | PresetWord | None = None
    #: True: held while the machine runs on battery.
    requires_external_power: bool | None = None
    #: True: held while the network is metered: data may cost money (Apple: allowsExpensiveNetworkAccess and
    #: allowsConstrainedNetworkAccess).
    requires_unmetered: bool | None = None
    #: The permitted kinds of network; default: all (Apple's allowsCellularAccess = false: all but
    #: NetworkKind.CELLULAR).
    networks: NetworkKind | None = None
    #: 1 to 100: tasks are held while the machine runs on battery and the battery's charge is below this value. A held
    #: task waits until the charge is 5 percentage points above this value, or the machine has external power.
    minimum_battery_percent: int = 0
    #: Tasks are held while the machine is hotter than this state; default ThermalState.SERIOUS. "nominal", "fair",
    #: "serious" or "critical".
    maximum_thermal_state: ThermalState | ThermalStateWord | None = None
    #: 1 to 100: limit of the pressure, which is the percentage of the last ten seconds in which a process waited for a
    #: processor (/proc/pressure); default: no limit.
    maximum_cpu_pressure_percent: int = 0
    #: As ``maximum_cpu_pressure_percent``, but for processes that waited for a disk.
    maximum_io_pressure_percent: int = 0
    #: As ``maximum_cpu_pressure_percent``, but for processes that waited for memory.
    maximum_memory_pressure_percent: int = 0
    #: If an origin or the network is slower than this value for ``slow_after_ms``, tasks are held. After
    #: ``slow_pause_ms``, the engine starts one task to measure the throughput again: a slow probe. Both times are set
    #: in ``SessionConfiguration``. Default: no minimum.
    minimum_bytes_per_second: int = 0
    #: Hours of local time in which tasks are held: "22:00-06:30", or several with days: "mon-fri 08:00-18:00, sat
    #: 10:00-14:00". Hours such as 22:00-06:30 end on the next day. Default: none.
    quiet_hours: str | None = None


@dataclass(frozen=True, kw_only=True)
class TLS:
    """The certificates that a session trusts, and the session's own certificate."""

    #: Absolute path of a PEM file with the trusted certificates, in place of the system's certificates.
    ca_file: StrPath | None = None
    #: Absolute path of a PEM file with a certificate and its chain.
    client_certificate: StrPath | None = None
    #: Absolute path of a PEM file; default: the key is in the file ``client_certificate``.
    client_key: StrPath | None = None
    #: "sha256//BASE64;sha256//…": keys of the server (RFC 7469).
    pinned_public_keys: str | None = None
    #: The oldest version of TLS that is accepted. Default: TLSVersion.TLS_1_2.
    minimum_version: TLSVersion | None = None


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """The proxy through which servers are reached."""

    #: "http://…", "https://…", "socks5://…" or "socks5h://…" (the proxy resolves names), without user and password;
    #: "none": no proxy; None: the variables ``http_proxy``, ``https_proxy``, ``all_proxy`` and ``no_proxy`` of the
    #: engine's environment determine the proxy.
    url: str | None = None
    #: User name for the proxy (Basic, Digest or SOCKS), together with ``password``.
    user: str | None = None
    #: Password for the proxy. Not shown by ``repr``.
    password: str | None = field(default=None, repr=False)
    #: Names and addresses that are reached without the proxy, in the form of CURLOPT_NOPROXY.
    bypass: str | None = None


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Bytes that may move on one network, in both directions together."""

    #: Bytes in a day of local time; 0: no limit; BUDGET_NOTHING: no bytes.
    daily: int = 0
    #: Bytes in a calendar month. For the budget of a network, ``Network.month_starts_on`` sets the day on which the
    #: month begins. 0: no limit; BUDGET_NOTHING: no bytes.
    monthly: int = 0


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Settings of one task. Fields of ``retry`` and ``rules`` replace the fields of the session; if a field is 0 or
    None, the session's field applies. Constraints and the rate limit of the session always apply as well (see
    ``Constraints``)."""

    #: When a failed attempt is repeated.
    retry: RetryPolicy = RetryPolicy()
    #: Which responses are accepted.
    rules: TransferRules = TransferRules()
    #: What the task demands of the system.
    constraints: Constraints = Constraints()
    #: Limit of this task's rate; ``set_rate`` changes the limit. The session's limit also applies.
    bytes_per_second: int = 0
