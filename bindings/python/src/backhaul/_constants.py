# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The constants of include/backhaul.h, as enumerations. The package compares them with the loaded library's."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from ._open_enum import FinalStates, OpenEnum, OpenFlag, StatusNames


class Status(StatusNames):
    """The result of a call, or the reason why a task failed."""

    #: Success.
    OK = 0
    #: An argument is missing, malformed or out of range.
    INVALID_ARGUMENT = 1
    #: The handle is closed or was never valid.
    INVALID_HANDLE = 2
    #: The process was forked after its parent had opened an application.
    FORKED = 3
    #: There is no such session, task, challenge or activity.
    NOT_FOUND = 4
    #: An object with this name exists already.
    ALREADY_EXISTS = 5
    #: The idempotency key was used for another request.
    KEY_CONFLICT = 6
    #: Another task has the same destination.
    DESTINATION_IN_USE = 7
    #: Another consumer has the session.
    IN_USE = 8
    #: The operation takes longer than the wait; the ticket returns the outcome later.
    TIMEOUT = 9
    #: The session or task is not in a state that allows this.
    WRONG_STATE = 10
    #: The handle's role does not allow this.
    WRONG_ROLE = 11
    #: The session was invalidated.
    INVALIDATED = 12
    #: Events were polled and not acknowledged.
    EVENTS_OUTSTANDING = 13
    #: A limit of the library is reached.
    TOO_MANY = 14
    #: The session was completed, which ended this handle; attach again.
    COMPLETED = 15
    #: The operation was started; the ticket returns its outcome.
    STARTED = 16
    #: The store cannot be opened or made.
    STORE_UNAVAILABLE = 20
    #: The store cannot be written.
    STORE_READ_ONLY = 21
    #: The store's file system is full.
    STORE_FULL = 22
    #: The store's database is damaged.
    STORE_DAMAGED = 23
    #: The store was written by a newer version of the library.
    STORE_NEWER = 24
    #: The store is on a network file system, where locks are not reliable.
    STORE_ON_NETWORK_FILE_SYSTEM = 25
    #: The engine has the lock of the store, but does not reply.
    ENGINE_UNRESPONSIVE = 30
    #: The engine speaks another version of the protocol.
    ENGINE_INCOMPATIBLE = 31
    #: The engine stopped because of an error.
    ENGINE_FAILED = 32
    #: Memory, threads or descriptors are exhausted.
    OUT_OF_RESOURCES = 33
    #: A defect of the library; please report it.
    INTERNAL = 34
    #: The daemon is not found or cannot be started.
    DAEMON_UNAVAILABLE = 35
    #: The task was cancelled.
    CANCELLED = 40
    #: The server's name cannot be resolved.
    NAME_NOT_RESOLVED = 41
    #: No connection to the server can be made.
    CONNECTION_FAILED = 42
    #: The connection broke before the transfer was complete.
    CONNECTION_LOST = 43
    #: The server sent no bytes within the request time-out.
    REQUEST_TIMEOUT = 44
    #: The task did not end within its resource time-out.
    RESOURCE_TIMEOUT = 45
    #: The TLS connection cannot be made or the certificate does not verify.
    TLS_FAILED = 46
    #: The server responded with a status that is not accepted.
    HTTP_STATUS = 47
    #: A redirect has no valid target, leads in a circle, or to a scheme that is not allowed.
    REDIRECT_REFUSED = 48
    #: The server's response breaks the rules of HTTP.
    BAD_RESPONSE = 49
    #: A file with the destination's name is already there.
    DESTINATION_EXISTS = 50
    #: The destination cannot be written.
    DESTINATION_UNAVAILABLE = 51
    #: The destination's file system is full.
    DISK_FULL = 52
    #: The disk reported an error.
    DISK_FAILED = 53
    #: The server's response is larger than a limit allows.
    TOO_LARGE = 54
    #: The server or proxy demands a credential, and has accepted none.
    AUTHENTICATION_REQUIRED = 55
    #: The digest of the bytes is not the expected one.
    CHECKSUM_MISMATCH = 56
    #: The size of the file is not the expected one.
    SIZE_MISMATCH = 57
    #: A file of the request's body cannot be read.
    BODY_UNAVAILABLE = 58
    #: A file of the request's body was changed after the enqueue.
    BODY_CHANGED = 59
    #: The TLS connection ended without ``close_notify``, so the body may be truncated.
    TLS_TRUNCATED = 60
    #: The directory or the file system of the task's file is away.
    STORAGE_AWAY = 61
    #: The response has a media type that is not accepted, or is a page in place of the file.
    UNEXPECTED_TYPE = 62
    #: The server's address is private, and the request refuses private addresses.
    ADDRESS_REFUSED = 63
    #: A task that this task waited for did not succeed.
    DEPENDENCY_FAILED = 64


class Domain(OpenEnum):
    """What the number in a field ``detail`` or ``error_detail`` is."""

    #: No number of another system: 0, or a number that the status explains, such as the number of events for
    #: Status.EVENTS_OUTSTANDING.
    NONE = 0
    #: Errno.
    SYSTEM = 1
    #: CURLcode.
    CURL = 2
    #: Extended SQLite result code.
    SQLITE = 3
    #: HTTP status code.
    HTTP = 4
    #: Id of a process: of the session's consumer for Status.IN_USE; otherwise of the engine, or of the daemon that was
    #: started. 0 if the process is not known.
    PROCESS = 5


class Choice(OpenEnum):
    """Yes, no, or the default, which the comment of each field states."""

    DEFAULT = 0
    YES = 1
    NO = 2


class Hosting(OpenEnum):
    """Where a new engine runs, if no process holds the store's lock. If an engine runs already, the library uses this
    engine, wherever it runs."""

    #: Hosting.DAEMON.
    DEFAULT = 0
    #: In backhauld, which the library starts.
    DAEMON = 1
    #: In threads of this process: for tests, containers, hosts that must not start processes.
    EMBEDDED = 2


class ApplicationFlags(OpenFlag):
    """Flags of an application."""

    #: This handle belongs to a tool, not to a host. Such a handle does not prevent launches.
    OBSERVES = 1


class LaunchState(OpenEnum):
    """State of an application's launch."""

    #: No command is registered, or no session needs its host.
    NONE = 0
    #: If no host connects before ``next_launch_ms``, the engine launches the host at this time.
    DUE = 1
    #: A launched host runs, and has not completed its sessions.
    RUNNING = 2
    #: Too many launches have failed. The engine launches no host until a host has connected without a launch (for
    #: example, because the user started it).
    GAVE_UP = 3


class RetryErrors(OpenFlag):
    """Which errors are retried."""

    #: Status.NAME_NOT_RESOLVED.
    NAME = 1
    #: Status.CONNECTION_FAILED.
    CONNECTION = 2
    #: Status.CONNECTION_LOST, Status.TLS_TRUNCATED.
    LOST = 4
    #: Status.REQUEST_TIMEOUT.
    TIMEOUT = 8
    #: Status.TLS_FAILED if the handshake broke. If a certificate does not verify, the attempt is never repeated.
    TLS = 16
    #: A response whose status is in ``RetryPolicy.statuses``, or is 403, 413, 429 or 5xx except 511 and has
    #: Retry-After.
    STATUS = 32
    #: Status.BAD_RESPONSE.
    BAD_RESPONSE = 64
    #: No error is retried; not to be combined with other bits.
    NONE = 128


class HTTPVersion(OpenEnum):
    """Version of HTTP."""

    #: HTTP/2 over TLS if the server supports it, else HTTP/1.1.
    DEFAULT = 0
    #: HTTP/1.1 only.
    HTTP_1_1 = 1
    #: Over TLS: HTTP/2 if the server supports it, even after HTTP/2 has failed, and with a limit of bytes per second.
    #: Without TLS: HTTP/1.1.
    HTTP_2 = 2
    #: Over TLS: as HTTPVersion.HTTP_2. Without TLS: HTTP/2 from the first byte (RFC 9113, section 3.3). With libcurl
    #: before 8.0, each request then has its own connection.
    HTTP_2_PRIOR_KNOWLEDGE = 3


class Redirects(OpenEnum):
    """Which redirects are followed (RFC 9110, section 15.4). A redirect from https to http is never followed. If a
    redirect leads to another origin, the engine sends none of the headers and credentials that the host gave for the
    first origin."""

    #: Redirects.FOLLOW.
    DEFAULT = 0
    #: All redirects are followed, up to ``maximum_redirects``.
    FOLLOW = 1
    #: Redirects to another origin fail with Status.REDIRECT_REFUSED.
    SAME_ORIGIN = 2
    #: A redirect is a response like any other: ``accepted_statuses`` decides whether it is accepted.
    NONE = 3


class ResumableUploads(OpenEnum):
    """How an upload continues after an interruption. docs/uploads.md."""

    #: ResumableUploads.AUTOMATIC.
    DEFAULT = 0
    #: Each attempt sends the whole body.
    NEVER = 1
    #: As ResumableUploads.IETF for bodies of at least 1 MiB, but not if the request has a header field Upload-….
    AUTOMATIC = 2
    #: By draft-ietf-httpbis-resumable-upload, if the server knows it. Other servers get an ordinary request.
    IETF = 3
    #: By tus 1.0, which the server must know. The URL is the one that makes uploads; the method of the request is not
    #: used.
    TUS = 4
    #: As ResumableUploads.IETF, by version 01 of the draft, which the URLSession of Apple's systems uses.
    APPLE = 5


class Preset(OpenEnum):
    """A predefined set of constraints (see ``Constraints``). If the host also sets the field of a constraint, the value
    of the field replaces the preset's value. After ``Request.latest_start``, the preset's constraints do not apply any
    more. Constraints that the host has set in their own fields still apply. docs/conditions.md."""

    #: No constraints.
    DEFAULT = 0
    #: ``requires_external_power``, ``requires_unmetered``, ``maximum_thermal_state`` ThermalState.FAIR,
    #: ``minimum_bytes_per_second`` 10,000 (Apple: isDiscretionary).
    DISCRETIONARY = 1
    #: Preset.DISCRETIONARY, and ``quiet_hours`` "07:00-23:00".
    OVERNIGHT = 2


class ThermalState(OpenEnum):
    """Heat of the machine (Apple: ProcessInfo.ThermalState). The engine compares the machine's thermal zones with their
    trip points, which are temperatures that the firmware sets."""

    #: No limit is set.
    DEFAULT = 0
    #: No zone is above a trip point.
    NOMINAL = 1
    #: A zone is above a passive or active trip point, or a cooling device slows a processor down. A running fan does
    #: not count as such a device.
    FAIR = 2
    #: A zone is above a hot trip point, or within 10 degrees of a critical trip point.
    SERIOUS = 3
    #: A zone is within 3 degrees of a critical trip point, or above it: no task runs.
    CRITICAL = 4


class NetworkKind(OpenFlag):
    """Kinds of network. The kind of a machine's network is the kind of the network with the default route."""

    #: A cable.
    ETHERNET = 1
    #: A wireless local network.
    WIFI = 2
    #: A mobile network.
    CELLULAR = 4
    #: A device that shares its network.
    BLUETOOTH = 8
    #: A VPN over an unknown network.
    TUNNEL = 16
    #: Any other kind.
    OTHER = 32


class TLSVersion(OpenEnum):
    """The oldest version of TLS that is accepted."""

    #: TLSVersion.TLS_1_2.
    DEFAULT = 0
    #: TLS 1.2 or later.
    TLS_1_2 = 12
    #: TLS 1.3 or later.
    TLS_1_3 = 13


class Role(OpenEnum):
    """What a handle of a session may do. A handle of any role may list tasks."""

    #: Polls, acknowledges and completes. Only one handle at a time, the consumer, has this role in a session. The
    #: consumer also has the rights of all other roles.
    CONSUME = 1
    #: Enqueues and controls tasks, claims kept files (moves them out of the store), responds to challenges, configures
    #: and invalidates the session, sets activities.
    PRODUCE = 2
    #: Lists tasks and watches progress.
    OBSERVE = 3
    #: As Role.CONSUME, but the call waits until the session has no other consumer. Meanwhile, the present consumer gets
    #: Attention.YIELD. If the host releases the ticket of the call, the wait ends.
    CONSUME_WHEN_FREE = 4


class Tolerances(OpenFlag):
    """Faults of servers that a session tolerates."""

    #: Some bodies end at the end of the TLS connection. With this flag, such a body counts as complete even if the
    #: server sent no ``close_notify`` (RFC 9112, section 9.8). Without this flag, the task fails with
    #: Status.TLS_TRUNCATED if ``close_notify`` is missing, because an attacker may have truncated the body.
    MISSING_CLOSE_NOTIFY = 1
    #: A successful response makes an upload succeed, even if the upload's body was not sent completely. Without this
    #: flag the whole body must be sent.
    EARLY_RESPONSE = 2


class Cookies(OpenEnum):
    """Where a session's cookies are kept (RFC 6265)."""

    #: Cookies.NONE.
    DEFAULT = 0
    #: No cookies are kept or sent.
    NONE = 1
    #: In the engine's memory, until the engine exits.
    MEMORY = 2
    #: As Cookies.MEMORY. Cookies with an expiry time are also kept in the store, for the next engine process.
    PERSISTENT = 3


class SessionDisposition(OpenEnum):
    """What ``session`` did."""

    #: The session is new.
    CREATED = 1
    #: The session existed, and keeps its configuration: ``configuration`` has no effect. To change the configuration,
    #: call ``set_configuration``.
    ATTACHED = 2


class Invalidation(OpenEnum):
    """What happens to the tasks of a session that is invalidated."""

    #: Its tasks run to their end (Apple: finishTasksAndInvalidate).
    FINISH = 1
    #: Its tasks are cancelled (Apple: invalidateAndCancel).
    CANCEL = 2


class Attention(OpenFlag):
    """Why a session needs attention."""

    #: The session has events that are not acknowledged.
    EVENTS = 1
    #: One of these events is EventKind.SESSION_FINISHED.
    FINISHED = 2
    #: A challenge is open.
    CHALLENGE = 4
    #: Another handle waits until it can be the consumer: finish the work, complete the session and close it.
    YIELD = 8
    #: One of the session's events is EventKind.ACTIVITY.
    ACTIVITY = 16


class IfExists(OpenEnum):
    """What the engine does if a file with the destination's name exists. The engine checks this at the enqueue, and
    when the download is finished."""

    #: The request is refused, or the task fails, with Status.DESTINATION_EXISTS.
    FAIL = 0
    #: The file is replaced atomically by rename(2); a directory is never replaced.
    REPLACE = 1
    #: Requires checksum or ``expected_size``. If the file has the given checksum and size, the task succeeds without an
    #: HTTP request (attempts and ``http_status`` are 0). Otherwise the engine downloads the file and replaces the old
    #: one.
    SKIP = 2


class RequestFlags(OpenFlag):
    """Flags of a request."""

    #: The task is suspended until the host resumes it.
    STARTS_SUSPENDED = 1
    #: If an earlier task with this flag downloaded the file from this URL, the request is conditional (RFC 9110,
    #: section 13.1). If the content on the server has not changed, the task succeeds with ``http_status`` 304 and the
    #: file stays. If the file at ``destination`` was changed or removed since the earlier task, the file is downloaded
    #: again. The same is true if the request has a checksum, or an ``expected_size`` that the file does not have: after
    #: a 304, nothing would verify them. Requires IfExists.REPLACE.
    IF_CHANGED = 2
    #: ``destination`` is an existing directory. The engine takes the file's name from Content-Disposition (RFC 6266),
    #: else from the last segment of the URL's path. If a redirect leads to another URL, and only that URL's segment has
    #: an extension, it is the name. The name is never a path, never hidden, and has at most 255 bytes. If another task
    #: has this name in the directory, or if a file has it and ``if_exists`` is IfExists.FAIL, the name gets a number:
    #: "a (1).zip". The name is reserved before the body is fetched. ``Event.path`` ends with the name.
    NAMED_BY_SERVER = 4
    #: The engine does not verify the response's fields Repr-Digest and Content-Digest (RFC 9530).
    IGNORES_DIGESTS = 8


class BodySource(OpenEnum):
    """What the engine does with the files of a request's body. docs/uploads.md."""

    #: Reads the files in place; if a file changes after the enqueue, the task fails with Status.BODY_CHANGED.
    REFERENCE = 0
    #: Copies the files into the store at the enqueue, by reflink if the file system supports reflinks.
    SNAPSHOT = 1
    #: Moves the files into the store at the enqueue and removes them after success. If the task fails or is cancelled,
    #: the host gets the files back. Then ``Event.path`` of the task's EventKind.TASK_ENDED is the file's path in the
    #: store. For a form, ``Event.path`` is the path of the first file, and ends in ".0". The paths of the other files
    #: end in ".1" and so on. When the host acknowledges the event, the engine moves each file back to its old path. If
    #: another file has that path, the moved file gets the name "NAME.~TASK" in the same directory. The call that
    #: acknowledges the event returns after the files are moved. If a file cannot be moved, it stays in the store, and
    #: the engine tries again later. Before the acknowledgement, the host can move a file to another path with
    #: ``claim``. Symbolic links are refused.
    CONSUME = 2


class Refresh(OpenEnum):
    """Which part of the request can expire: the headers or the URL. When this part has expired, the engine opens a
    challenge of the kind ChallengeKind.REFRESH, and the host gives new headers or a new URL."""

    #: Neither can expire.
    NONE = 0
    #: The headers: one challenge for all tasks of the session that have the same origin. A response ``headers`` applies
    #: to all tasks that were enqueued before the response.
    HEADERS = 1
    #: The URL: one challenge for each task. The host responds with ``url`` or ``headers``. A partial download continues
    #: only if the strong entity tag (ETag) and the size are the same as before.
    URL = 2


class DependencyFailure(OpenEnum):
    """What a task does if a task that it waits for fails or is cancelled."""

    #: DependencyFailure.FAIL.
    DEFAULT = 0
    #: It fails with Status.DEPENDENCY_FAILED.
    FAIL = 1
    #: It is cancelled.
    CANCEL = 2
    #: It runs. The request takes nothing from the response.
    IGNORE = 3


class TaskState(FinalStates):
    """State of a task. The last three states are final."""

    #: No state: an event that is not about a task, or a field that is not set.
    NONE = 0
    #: The state of a new task. ``TaskInfo.reason`` is why the task does not run.
    WAITING = 1
    #: An attempt is under way.
    RUNNING = 2
    #: The host has suspended the task, or enqueued it with ``suspended``.
    SUSPENDED = 3
    #: The transfer is complete, and a download's file is in place.
    SUCCEEDED = 4
    #: The status of the task's event is the reason.
    FAILED = 5
    #: The host has cancelled the task.
    CANCELLED = 6


class Disposition(OpenEnum):
    """What an enqueue did with one request."""

    #: It made a task.
    NEW = 1
    #: The idempotency key found an earlier task.
    EXISTING = 2


class EventKind(OpenEnum):
    """What an event reports."""

    #: A task has ended; one event for each task, in the order of commit.
    TASK_ENDED = 1
    #: The round's last task has ended (Apple: urlSessionDidFinishEvents). If a task is added before the host
    #: acknowledges this event, the event is withdrawn; another one follows when that task has ended.
    SESSION_FINISHED = 2
    #: A challenge (see ``Challenge``) was opened. If the host acknowledges this event, the challenge stays open.
    CHALLENGE = 3
    #: The last task of a group has ended.
    GROUP_FINISHED = 4
    #: An activity (see ``Activity``) without a request is due. The engine launches a host for this event. Until the
    #: host acknowledges the event, the activity makes no further event.
    ACTIVITY = 5


class ChallengeKind(OpenEnum):
    """What demands a credential, new headers or a new URL."""

    #: A server, with 401.
    SERVER = 1
    #: A proxy, with 407.
    PROXY = 2
    #: The engine: the headers or the URL of a request (see ``Request.refresh``) have expired, or the server's response
    #: means that they have expired, such as 401 or 403.
    REFRESH = 3


class Scheme(OpenFlag):
    """Authentication schemes that were offered (RFC 9110, section 11)."""

    #: RFC 7617.
    BASIC = 1
    #: RFC 6750.
    BEARER = 2
    #: RFC 7616.
    DIGEST = 4
    #: RFC 4559.
    NEGOTIATE = 8
    #: A scheme that this version does not know.
    OTHER = 16


class TaskKind(OpenEnum):
    """Whether a task downloads or uploads."""

    #: An event that is not about a task.
    NONE = 0
    #: The task makes a file.
    DOWNLOAD = 1
    #: The task sends a body, and makes no file.
    UPLOAD = 2


class ChallengeResponseKind(OpenEnum):
    """How a host responds to a challenge."""

    #: The waiting tasks fail with Status.AUTHENTICATION_REQUIRED.
    REFUSE = 1
    #: User and password, for Basic and Digest. If both are empty, the engine uses the user's Kerberos credentials, for
    #: Negotiate.
    CREDENTIAL = 2
    #: Header fields such as "Authorization: Bearer …". For ChallengeKind.REFRESH, they replace the tasks' headers of
    #: the same name, durably.
    HEADERS = 3
    #: No credential: for the waiting tasks, the status 401 or 407 is treated like any other status (Apple:
    #: performDefaultHandling). For ChallengeKind.REFRESH: requests are sent unchanged.
    DEFAULT = 4
    #: For ChallengeKind.REFRESH of a URL: the new URL, which must be https if the old URL was https. If the new URL has
    #: another origin, the headers of the request and of the session are not sent to the new URL.
    URL = 5


class ChallengeResponseFlags(OpenFlag):
    """Flags of a response to a challenge."""

    #: The credential is stored with mode 0600, so later engine processes can also use it.
    KEEP = 1


class Reason(OpenEnum):
    """Why a task does not progress."""

    #: Nothing holds the task back, or it has ended.
    NONE = 0
    #: The limits of connections or running tasks are reached, and other tasks run first.
    SLOT = 1
    #: The task is suspended until the host resumes it.
    SUSPENDED = 2
    #: An error occurred, and the next attempt is at ``next_attempt_ms``.
    RETRY = 3
    #: The task has not received a response yet.
    CONNECTING = 4
    #: The server sends nothing.
    STALLED = 5
    #: The task waits for the disk, which writes, reads or syncs its bytes.
    DISK = 6
    #: The disk has too little space for the rest of the file and a reserve. The reserve is 32 MiB or 1 % of the file
    #: system, whichever is smaller. The engine checks again at ``next_attempt_ms``. If a file is larger than the file
    #: system, the task fails immediately with Status.TOO_LARGE.
    DISK_FULL = 7
    #: The task waits until the host responds to the task's challenge; ``challenges`` lists the challenge.
    CREDENTIAL = 8
    #: The task waits until there is a route to the server.
    CONNECTIVITY = 9
    #: The task has used up its share of a rate limit.
    RATE = 10
    #: ``requires_external_power`` is set, and the machine runs on battery.
    POWER = 11
    #: The task waits until the battery has 5 percentage points more than ``minimum_battery_percent``, or until there is
    #: external power.
    BATTERY = 12
    #: The machine is hotter than ``maximum_thermal_state``.
    HEAT = 13
    #: Processors, disks or memory are under more pressure than the limits allow.
    PRESSURE = 14
    #: ``requires_unmetered`` is set, and the network is metered (data may cost money).
    METERED = 15
    #: The network's kind is not in ``networks``.
    NETWORK = 16
    #: The throughput is below ``minimum_bytes_per_second``; the next slow probe is at ``next_attempt_ms``.
    THROUGHPUT = 17
    #: The task waits until ``earliest_start_ms``.
    EARLIEST_START = 18
    #: The local time is within the quiet hours, which end at ``next_attempt_ms``.
    QUIET_HOURS = 19
    #: The budget for this network is used up for the day or month, which ends at ``next_attempt_ms``.
    BUDGET = 20
    #: The machine is about to sleep, or sleeps.
    SLEEP = 21
    #: The network demands a login on a web page (a *portal*), or its route to other networks (the *uplink*) does not
    #: work.
    PORTAL = 22
    #: The directory or file system of the task's file is away, or the finished file cannot get its name now. The engine
    #: checks again when a file system is mounted, when the directory is made, and at ``next_attempt_ms``.
    STORAGE = 23
    #: The certificate of the server is not valid yet, and the clock of the machine is not synchronised, or is before
    #: the date of this version. The task is tried again every 10 seconds, until the clock is set or an hour is over.
    CLOCK = 24
    #: The server has asked for a pause with Retry-After, which ends at ``next_attempt_ms``. All tasks for the same
    #: scheme, host and port wait.
    ORIGIN = 25
    #: The task waits for the end of a task in ``Request.after``, which ``reason_text`` names.
    DEPENDENCY = 26


class Next(OpenEnum):
    """What followed an attempt."""

    #: The end of the task.
    END = 1
    #: Another attempt, at ``next_attempt_ms``.
    RETRY = 2
    #: A challenge.
    CHALLENGE = 3
    #: Nothing: the task was suspended, or its engine ended.
    STOPPED = 4
    #: Nothing yet: the attempt is running.
    RUNNING = 5


class ConditionKind(OpenEnum):
    """What a condition is about, and what its value means."""

    #: 1: the machine has external power; 0: it runs on battery.
    EXTERNAL_POWER = 1
    #: Percentage of the charge of all batteries together.
    BATTERY = 2
    #: ThermalState.
    THERMAL_STATE = 3
    #: Percentage, as ``maximum_cpu_pressure_percent``.
    CPU_PRESSURE = 4
    #: Percentage, as ``maximum_io_pressure_percent``.
    IO_PRESSURE = 5
    #: Percentage, as ``maximum_memory_pressure_percent``.
    MEMORY_PRESSURE = 6
    #: One of NetworkKind, or 0 without a default route. ``name`` is the name of the network.
    NETWORK = 7
    #: 1: the network is metered (data may cost money); 0: it is not.
    METERED = 8
    #: Connectivity.
    CONNECTIVITY = 9
    #: 1: the machine is about to sleep.
    SLEEP = 10
    #: Bytes per second of all transfers together, over the last seconds.
    THROUGHPUT = 11


class Connectivity(OpenEnum):
    """Whether other networks, such as the internet, can be reached."""

    #: No default route.
    NONE = 1
    #: The network demands a login on a web page (a *portal*).
    PORTAL = 2
    #: The route from the local network to other networks (the *uplink*) does not work.
    LIMITED = 3
    #: Other networks can be reached.
    FULL = 4


class QualityOfService(OpenEnum):
    """What an activity waits for in its window."""

    #: QualityOfService.BACKGROUND.
    DEFAULT = 0
    #: Preset.DISCRETIONARY.
    BACKGROUND = 1
    #: An unmetered network.
    UTILITY = 2
    #: Nothing: the activity starts when its window opens.
    USER_INITIATED = 3


class ItemKind(OpenEnum):
    """Kind of the items of a batch."""

    EVENT = 1
    TASK = 2
    SESSION = 3
    CONFIGURATION = 4
    CHALLENGE = 5
    PROGRESS = 6
    LAUNCH = 7
    LAUNCH_INFO = 8
    ENGINE = 9
    ATTEMPT = 10
    LIMITS = 11
    WAIT = 12
    CONDITION = 13
    HOLD = 14
    NETWORK = 15
    ACTIVITY = 16
    ENQUEUED = 17
    METRICS = 18
    APPLICATION = 19


#: The prefix of the members of each enumeration in the header, and the enumeration.
PREFIXES: tuple[tuple[str, type[IntEnum] | type[IntFlag]], ...] = (
    ("BH_", Status),
    ("BH_DOMAIN_", Domain),
    ("BH_", Choice),
    ("BH_HOSTING_", Hosting),
    ("BH_APPLICATION_", ApplicationFlags),
    ("BH_LAUNCH_", LaunchState),
    ("BH_RETRY_", RetryErrors),
    ("BH_HTTP_", HTTPVersion),
    ("BH_REDIRECTS_", Redirects),
    ("BH_RESUMABLE_UPLOADS_", ResumableUploads),
    ("BH_PRESET_", Preset),
    ("BH_THERMAL_", ThermalState),
    ("BH_NETWORK_", NetworkKind),
    ("BH_TLS_", TLSVersion),
    ("BH_ROLE_", Role),
    ("BH_TOLERATE_", Tolerances),
    ("BH_COOKIES_", Cookies),
    ("BH_SESSION_", SessionDisposition),
    ("BH_INVALIDATE_", Invalidation),
    ("BH_ATTENTION_", Attention),
    ("BH_IF_EXISTS_", IfExists),
    ("BH_REQUEST_", RequestFlags),
    ("BH_BODY_", BodySource),
    ("BH_REFRESH_", Refresh),
    ("BH_DEPENDENCY_FAILURE_", DependencyFailure),
    ("BH_TASK_", TaskState),
    ("BH_ENQUEUE_", Disposition),
    ("BH_EVENT_", EventKind),
    ("BH_CHALLENGE_", ChallengeKind),
    ("BH_SCHEME_", Scheme),
    ("BH_TASK_KIND_", TaskKind),
    ("BH_RESPOND_", ChallengeResponseKind),
    ("BH_RESPOND_AND_", ChallengeResponseFlags),
    ("BH_REASON_", Reason),
    ("BH_NEXT_", Next),
    ("BH_CONDITION_", ConditionKind),
    ("BH_CONNECTIVITY_", Connectivity),
    ("BH_QUALITY_", QualityOfService),
    ("BH_ITEM_", ItemKind),
)
