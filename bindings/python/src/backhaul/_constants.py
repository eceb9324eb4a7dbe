# Generated from include/backhaul.h by scripts/generate-bindings; change the header, then run it.
"""The constants of include/backhaul.h, as enumerations. The import compares them with the loaded library's."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from ._open_enum import FinalStates, OpenEnum


class Status(OpenEnum):
    """What a call returns; from 40 on also why a task failed."""

    #: Success.
    OK = 0
    #: An argument is missing, malformed or out of range.
    INVALID_ARGUMENT = 1
    #: The handle is closed or was never one.
    INVALID_HANDLE = 2
    #: The handle belongs to the parent process; open the application again in this one.
    FORKED = 3
    #: There is no such session, task or event.
    NOT_FOUND = 4
    #: Something else is already there.
    ALREADY_EXISTS = 5
    #: The idempotency key was used for another request.
    KEY_CONFLICT = 6
    #: Another task has the same destination.
    DESTINATION_IN_USE = 7
    #: Another consumer has the session.
    IN_USE = 8
    #: The wait ended before the operation did; ask for its outcome with the ticket.
    TIMEOUT = 9
    #: The session or task is not in a state that allows this.
    WRONG_STATE = 10
    #: The handle's role does not allow this.
    WRONG_ROLE = 11
    #: The session was invalidated.
    INVALIDATED = 12
    #: Events were handed out and not acknowledged.
    EVENTS_OUTSTANDING = 13
    #: A limit of the library is reached.
    TOO_MANY = 14
    #: The session was completed, which ended this handle; attach again.
    COMPLETED = 15
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
    #: The store is on a network file system, where locks do not hold.
    STORE_ON_NETWORK_FILE_SYSTEM = 25
    #: The engine holds the store but does not answer.
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
    #: The connection broke before the transfer was whole.
    CONNECTION_LOST = 43
    #: The server sent nothing for as long as the request time-out.
    REQUEST_TIMEOUT = 44
    #: The task did not end within its resource time-out.
    RESOURCE_TIMEOUT = 45
    #: The TLS connection cannot be made or the certificate does not verify.
    TLS_FAILED = 46
    #: The server answered with a status that is not accepted.
    HTTP_STATUS = 47
    #: A redirect leads nowhere, in circles or to a scheme that is not allowed.
    REDIRECT_REFUSED = 48
    #: The server's answer breaks the rules of HTTP.
    BAD_RESPONSE = 49
    #: A file with the destination's name is already there.
    DESTINATION_EXISTS = 50
    #: The destination cannot be written.
    DESTINATION_UNAVAILABLE = 51
    #: The destination's file system is full.
    DISK_FULL = 52
    #: The disk reported an error.
    DISK_FAILED = 53
    #: The server's answer is larger than a limit allows.
    TOO_LARGE = 54
    #: The server or proxy asks for a credential that was refused or does not serve.
    AUTHENTICATION_REQUIRED = 55
    #: The bytes have another digest than they should have.
    CHECKSUM_MISMATCH = 56
    #: The file has another size than it should have.
    SIZE_MISMATCH = 57
    #: A file of the request's body cannot be read.
    BODY_UNAVAILABLE = 58
    #: A file of the request's body was changed after it was handed over.
    BODY_CHANGED = 59
    #: The TLS connection ended without ``close_notify``, so the body may have been cut.
    TLS_TRUNCATED = 60


class Domain(OpenEnum):
    """What ``detail`` of a ``BackhaulError`` or ``Event`` counts in."""

    #: Detail is 0.
    NONE = 0
    #: Errno.
    SYSTEM = 1
    #: CURLcode.
    CURL = 2
    #: Extended SQLite result code.
    SQLITE = 3
    #: HTTP status code.
    HTTP = 4
    #: Process id, for Status.IN_USE and Status.ENGINE_UNRESPONSIVE.
    PROCESS = 5


class Choice(OpenEnum):
    """A choice whose default is documented where it is made."""

    DEFAULT = 0
    YES = 1
    NO = 2


class Hosting(OpenEnum):
    """Where the engine runs when nobody holds the store's lock yet. Whoever holds it is used, wherever he runs."""

    #: Hosting.DAEMON.
    DEFAULT = 0
    #: In backhauld, which the library starts.
    DAEMON = 1
    #: In threads of this process: for tests, containers, hosts that must not start processes.
    EMBEDDED = 2


class LaunchState(OpenEnum):
    """How the launch of an application stands."""

    #: No command is registered, or no session needs its host.
    NONE = 0
    #: At ``next_launch_ms``, unless a host connects before.
    DUE = 1
    #: A launched host lives and has not completed yet.
    RUNNING = 2
    #: Launched too often without completing: until a host connects of itself.
    LEFT_ALONE = 3


class Role(OpenEnum):
    """What a handle may do. Reading tasks is open to all."""

    #: Receives the events: one at a time; may also do all the others may.
    CONSUME = 1
    #: Enqueues, controls and cancels tasks, answers challenges.
    PRODUCE = 2
    #: Lists and watches only.
    OBSERVE = 3
    #: As Role.CONSUME, and waits while another handle consumes: that one is asked to yield (Attention.YIELD). A ticket
    #: that is released waits no longer.
    CONSUME_WHEN_FREE = 4


class HTTPVersion(OpenEnum):
    """Which version of HTTP is spoken."""

    #: 2 over TLS where the server can, else 1.1.
    DEFAULT = 0
    HTTP_1_1 = 1
    #: Over TLS as the default; without TLS by an upgrade from 1.1 (RFC 7540, 3.2).
    HTTP_2 = 2
    #: Also without TLS and without asking (RFC 9113, section 3.3).
    HTTP_2_PRIOR_KNOWLEDGE = 3


class Redirects(OpenEnum):
    """What becomes of a redirect (RFC 9110, section 15.4). None ever leads from https to http, and the host's own
    headers and credentials never reach another origin."""

    FOLLOW = 1
    #: Others fail with Status.REDIRECT_REFUSED.
    SAME_ORIGIN = 2
    #: Each is an answer like any other, accepted or not by its status.
    NONE = 3


class RetryErrors(IntFlag):
    """Which errors are tried again, as bits."""

    #: Status.NAME_NOT_RESOLVED.
    NAME = 1
    #: Status.CONNECTION_FAILED.
    CONNECTION = 2
    #: Status.CONNECTION_LOST, Status.TLS_TRUNCATED.
    LOST = 4
    #: Status.REQUEST_TIMEOUT.
    TIMEOUT = 8
    #: A handshake that broke off; a certificate that does not verify never is.
    TLS = 16
    #: An answer whose status is one of ``retry_statuses``.
    STATUS = 32
    #: Status.BAD_RESPONSE.
    BAD_RESPONSE = 64
    #: None of them: alone.
    NOTHING = 128


class Tolerances(IntFlag):
    """Faults of servers that a session accepts, as bits."""

    #: Over TLS, a response body that ends with the connection is whole, although the server sent no ``close_notify``
    #: (RFC 9112, section 9.8); without the bit the task fails with Status.TLS_TRUNCATED, because an attacker can cut
    #: such a body.
    MISSING_CLOSE_NOTIFY = 1
    #: A response of success to an upload counts, although it came before the request's body was sent; without the bit
    #: the body must be sent whole.
    EARLY_RESPONSE = 2


class Cookies(OpenEnum):
    """Where a session's cookies live (RFC 6265)."""

    NONE = 1
    #: In the engine, until it leaves.
    MEMORY = 2
    #: In the store, but those without an expiry, which live in the engine.
    PERSISTENT = 3


class TLSVersion(OpenEnum):
    """The lowest version of TLS that a session speaks."""

    TLS_1_2 = 12
    TLS_1_3 = 13


class Preset(OpenEnum):
    """What a task waits for when it can, in the words that people have for it. A preset stands for the fields named
    here; a field that is set beside it takes the place of the preset's. What a preset asks for are wishes: they are
    given up at ``Request.latest_start``. What a field asks for holds always. See docs/conditions.md."""

    #: Nothing.
    DEFAULT = 0
    #: ``requires_external_power``, ``requires_unmetered``, ``maximum_thermal_state`` ThermalState.FAIR,
    #: ``minimum_bytes_per_second`` 10,000 (Apple: isDiscretionary).
    DISCRETIONARY = 1
    #: Preset.DISCRETIONARY, and ``quiet_hours`` "07:00-23:00".
    OVERNIGHT = 2


class ThermalState(OpenEnum):
    """How hot the machine is, by the trip points of its thermal zones (Apple: ProcessInfo.ThermalState)."""

    NOMINAL = 1
    #: Above a passive or active trip point, or the processor is slowed down to cool it; a fan at work alone is nothing.
    FAIR = 2
    #: Above a hot trip point, or within 10 degrees of a critical one.
    SERIOUS = 3
    #: Within 3 degrees of a critical trip point, or above it: nothing is transferred.
    CRITICAL = 4


class NetworkKind(IntFlag):
    """Kinds of network, as bits: that of the default route."""

    ETHERNET = 1
    WIFI = 2
    CELLULAR = 4
    BLUETOOTH = 8
    #: A VPN whose own way is not known.
    TUNNEL = 16
    OTHER = 32


class SessionDisposition(OpenEnum):
    """What ``session`` did."""

    CREATED = 1
    #: It was there: its remembered configuration stays; change it with ``update``.
    ATTACHED = 2


class Attention(IntFlag):
    """Why a session needs attention: bits of ``SessionInfo.attention``."""

    #: Events wait to be acknowledged.
    EVENTS = 1
    #: Among them a ``session finished``.
    FINISHED = 2
    #: A challenge is open.
    CHALLENGE = 4
    #: Another handle waits to consume the session: finish, complete and close.
    YIELD = 8
    #: Among its events is an EventKind.ACTIVITY.
    ACTIVITY = 16


class IfExists(OpenEnum):
    """What to do when a file with the destination's name exists, at enqueue and when the download finishes."""

    FAIL = 0
    #: Replaced in one step by rename(2); a directory is never replaced.
    REPLACE = 1
    #: When the file there has the request's checksum and ``expected_size``, of which at least one must be given, the
    #: task succeeds without a request (attempts and ``http_status`` are 0); else it is replaced.
    SKIP = 2


class BodySource(OpenEnum):
    """What a request's ``body_file`` is to the engine."""

    #: Read where it is; a change after the enqueue is Status.BODY_CHANGED.
    REFERENCE = 0
    #: Copied into the store at the enqueue, by reflink where the file system can.
    SNAPSHOT = 1
    #: Moved into the store at the enqueue, removed after success. Of a task that ends otherwise it lies at the path
    #: that its event tells until that is acknowledged; then it is given back: to where it was, or beside what lies
    #: there by then, with ".~" and the task's id behind its name. Where that cannot be it stays in the store, and is
    #: tried again. When the acknowledgement returns it is done. ``claim`` moves it elsewhere before. Of a form the
    #: event has the path of its first file: "….0"; the others lie beside it, ending in ".1" and so on, and each goes
    #: back to its own place. Symbolic links are not consumed.
    CONSUME = 2


class Refresh(OpenEnum):
    """What expires, and what the host is asked for when it has: with ChallengeKind.REFRESH."""

    NONE = 0
    #: Headers: one challenge for all tasks of the session and origin, answered with ResponseKind.HEADERS for all of
    #: them that were enqueued by then.
    HEADERS = 1
    #: The URL: one challenge for each task, answered with ResponseKind.URL or …_HEADERS. What is here is continued only
    #: from the same strong entity tag and size.
    URL = 2


class Disposition(OpenEnum):
    """What an enqueue did with one request."""

    NOT_APPLIED = 0
    NEW = 1
    #: The idempotency key found its task, which may have ended: see ``Enqueued``.
    EXISTING = 2


class EventKind(OpenEnum):
    """What an event reports."""

    #: One for each task, in the order of commit.
    TASK_ENDED = 1
    #: The round's last task has ended (Apple: urlSessionDidFinishEvents).
    SESSION_FINISHED = 2
    #: A server or proxy asks for a credential: one for each protection space, however many tasks wait. To acknowledge
    #: it is not to answer it.
    CHALLENGE = 3
    #: The last live task of a group has ended.
    GROUP_FINISHED = 4
    #: An activity without a request is due: do its work. It launches. While it is not acknowledged, further windows of
    #: an activity that repeats make no other.
    ACTIVITY = 5


class ChallengeKind(OpenEnum):
    """Who asks."""

    #: The origin server: 401.
    SERVER = 1
    #: The proxy: 407.
    PROXY = 2
    #: Ourselves: what ``Request.refresh`` names has expired, or got a 401 or 403.
    REFRESH = 3


class Scheme(IntFlag):
    """How the credential may be given, as bits: the schemes of WWW-Authenticate or Proxy-Authenticate (RFC 9110,
    section 11)."""

    BASIC = 1
    BEARER = 2
    DIGEST = 4
    NEGOTIATE = 8
    OTHER = 16


class TaskKind(OpenEnum):
    """Whether a task downloads or uploads."""

    DOWNLOAD = 1
    UPLOAD = 2


class TaskState(FinalStates):
    """The states of a task; the last three are final."""

    WAITING = 1
    RUNNING = 2
    SUSPENDED = 3
    SUCCEEDED = 4
    FAILED = 5
    CANCELLED = 6


class ResponseKind(OpenEnum):
    """How a challenge is answered."""

    #: The tasks that wait fail with Status.AUTHENTICATION_REQUIRED.
    REFUSE = 1
    #: User and password, for the schemes Basic and Digest; both empty for Negotiate: the user's own Kerberos ticket.
    CREDENTIAL = 2
    #: Header fields to send instead, such as "Authorization: Bearer …"; of a refresh they take the place of the tasks'
    #: own with the same names, durably.
    HEADERS = 3
    #: Go on without: the tasks that wait end as their status says (Apple: performDefaultHandling); of a refresh: they
    #: are sent as they are.
    DEFAULT = 4
    #: Of a refresh for a URL: the new one, https if the old one was. At another origin the headers of the request and
    #: of the session are not sent.
    URL = 5


class Reason(OpenEnum):
    """Why a task is not moving."""

    #: It is moving, or has ended.
    NONE = 0
    #: Other tasks run before it: limits on connections or running tasks.
    TURN = 1
    #: Until resumed.
    SUSPENDED = 2
    #: After an error, until ``next_attempt_ms``.
    RETRY = 3
    #: The server has not answered yet.
    CONNECTING = 4
    #: The server sends nothing.
    STALLED = 5
    #: All bytes are here and being made durable.
    FINISHING = 6
    #: Until there is space for the rest of the file and for a reserve, 32 MiB or a hundredth of the file system,
    #: whichever is less; looked at again at ``next_attempt_ms``. A file larger than the whole file system is
    #: Status.TOO_LARGE at once.
    DISK_FULL = 7
    #: Until its challenge is answered: ``challenges``.
    CREDENTIAL = 8
    #: Until there is a route to the server: woken by changes of the network.
    CONNECTIVITY = 9
    #: Its bytes per second are used up for the moment.
    RATE = 10
    #: ``requires_external_power``, and the machine runs on battery.
    POWER = 11
    #: Until the battery has ``minimum_battery_percent``, or there is external power.
    BATTERY = 12
    #: The machine is hotter than ``maximum_thermal_state``.
    HEAT = 13
    #: Processor, disk or memory are under more pressure than the limits allow.
    PRESSURE = 14
    #: ``requires_unmetered``, and the network is metered.
    METERED = 15
    #: The network is of a kind that is not among ``networks``.
    NETWORK = 16
    #: Less than ``minimum_bytes_per_second`` came; a probe is made at ``next_attempt_ms``.
    THROUGHPUT = 17
    #: Until ``earliest_start_ms``.
    EARLIEST_START = 18
    #: Until ``quiet_hours`` are over, at ``next_attempt_ms``.
    QUIET_HOURS = 19
    #: The bytes of the day or month are used up on this network, until ``next_attempt_ms``.
    BUDGET = 20
    #: The machine is about to sleep, or sleeps.
    SLEEP = 21
    #: All servers fail in the same way: a portal asks for a login, or the uplink is dead.
    PORTAL = 22


class Next(OpenEnum):
    """What came after an attempt."""

    #: The task ended.
    END = 1
    #: Another attempt, at ``next_attempt_ms``.
    RETRY = 2
    #: A challenge.
    CHALLENGE = 3
    #: None by itself: it was suspended, or its engine ended.
    STOPPED = 4


class ConditionKind(OpenEnum):
    """What a condition is about, and what its value means."""

    #: Value: 1 or 0.
    EXTERNAL_POWER = 1
    #: Percent of the charge of all batteries together.
    BATTERY = 2
    #: ThermalState.
    THERMAL_STATE = 3
    #: Percent, as ``maximum_cpu_pressure_percent``.
    CPU_PRESSURE = 4
    IO_PRESSURE = 5
    MEMORY_PRESSURE = 6
    #: One of NetworkKind; 0: there is no default route. ``name`` is the network's.
    NETWORK = 7
    #: 1 or 0.
    METERED = 8
    #: Connectivity.
    CONNECTIVITY = 9
    #: 1: the machine is about to sleep.
    SLEEP = 10
    #: Bytes per second of all transfers together, over the last seconds.
    THROUGHPUT = 11


class Connectivity(OpenEnum):
    """How far the network leads."""

    #: No default route.
    NONE = 1
    #: A portal asks for a login.
    PORTAL = 2
    #: The uplink is dead.
    LIMITED = 3
    FULL = 4


class QualityOfService(OpenEnum):
    """What an activity waits for within its window."""

    #: Preset.DISCRETIONARY. The default.
    BACKGROUND = 1
    #: An unmetered network.
    UTILITY = 2
    #: Nothing: it starts when its window opens.
    USER_INITIATED = 3


#: Each enumeration with what the names of its members begin with in the header.
PREFIXES: tuple[tuple[str, type[IntEnum] | type[IntFlag]], ...] = (
    ("BH_", Status),
    ("BH_DOMAIN_", Domain),
    ("BH_", Choice),
    ("BH_HOSTING_", Hosting),
    ("BH_LAUNCH_", LaunchState),
    ("BH_ROLE_", Role),
    ("BH_HTTP_", HTTPVersion),
    ("BH_REDIRECTS_", Redirects),
    ("BH_RETRY_", RetryErrors),
    ("BH_TOLERATE_", Tolerances),
    ("BH_COOKIES_", Cookies),
    ("BH_TLS_", TLSVersion),
    ("BH_PRESET_", Preset),
    ("BH_THERMAL_", ThermalState),
    ("BH_NETWORK_", NetworkKind),
    ("BH_SESSION_", SessionDisposition),
    ("BH_ATTENTION_", Attention),
    ("BH_IF_EXISTS_", IfExists),
    ("BH_BODY_", BodySource),
    ("BH_REFRESH_", Refresh),
    ("BH_ENQUEUE_", Disposition),
    ("BH_EVENT_", EventKind),
    ("BH_CHALLENGE_", ChallengeKind),
    ("BH_SCHEME_", Scheme),
    ("BH_TASK_KIND_", TaskKind),
    ("BH_TASK_", TaskState),
    ("BH_RESPOND_", ResponseKind),
    ("BH_REASON_", Reason),
    ("BH_NEXT_", Next),
    ("BH_CONDITION_", ConditionKind),
    ("BH_CONNECTIVITY_", Connectivity),
    ("BH_QUALITY_", QualityOfService),
)
