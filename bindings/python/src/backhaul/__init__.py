"""Background transfer sessions. The transfers survive an exit or a crash of this program, and a restart of the machine.

    from backhaul import Application

    with Application("org.example.photos") as application:
        with application.session("gallery") as session:
            session.download("https://example.org/1.jpg", "/home/me/1.jpg", key="1", if_exists="replace")
            for event in session.events():
                print(event.url, event.state, event.path)
                event.acknowledge()
                if event.is_session_finished:
                    break
            session.complete()

The transfers run in Backhaul's daemon, which is a separate process. A program that was killed opens the same session
again, and reads the remaining events. An event is delivered again until the program acknowledges it, so no event is
lost. If the program has registered a ``LaunchCommand``, the daemon launches the program when a session needs it, for
example because all transfers have ended. In asyncio, use ``async for event in session.events()`` and ``await
session.start.download(…)``.
"""

from ._activity import Activity, ActivityInfo
from ._application import Application
from ._application_verbs import ApplicationVerbs
from ._attempt import Attempt
from ._attention import AttentionStream
from ._conditions import Condition, Hold, Network, Wait
from ._configuration import ConfigurationOptions, Limits, SessionConfiguration
from ._constants import (
    Attention,
    BodySource,
    ChallengeKind,
    ConditionKind,
    Connectivity,
    Cookies,
    DependencyFailure,
    Disposition,
    Domain,
    EventKind,
    Hosting,
    HTTPVersion,
    IfExists,
    LaunchState,
    NetworkKind,
    Next,
    Preset,
    QualityOfService,
    Reason,
    Redirects,
    Refresh,
    ResumableUploads,
    RetryErrors,
    Role,
    Scheme,
    Status,
    TaskKind,
    TaskState,
    ThermalState,
    TLSVersion,
    Tolerances,
)
from ._documentation import add_attributes
from ._errors import (
    AlreadyExists,
    AuthenticationRequired,
    BackhaulError,
    Completed,
    Conflict,
    DaemonUnavailable,
    EngineError,
    EventsOutstanding,
    Forked,
    InUse,
    InvalidArgument,
    Invalidated,
    InvalidHandle,
    NotFound,
    Outcome,
    ResourceError,
    StoreError,
    Timeout,
    TransferError,
    WrongState,
)
from ._event import Event
from ._events import EventStream
from ._identity import Among, Identified, Identity
from ._launch import ApplicationInfo, EngineInfo, Launch, LaunchCommand, LaunchInfo
from ._library import version
from ._numbers import BUDGET_NOTHING, HISTORY_NONE, PRIORITY_NOW, TIME_UNCHANGED
from ._progress import ProgressStream
from ._reading import Events, Records
from ._requests import Dependency, DownloadOptions, Enqueued, Part, Request, TransferOptions
from ._rules import TLS, Budget, Constraints, Policy, Proxy, RetryPolicy, TransferRules
from ._session import Session
from ._session_verbs import SessionVerbs
from ._task import Task
from ._tickets import Ticket
from ._types import Headers, Moment, ResponseOptions, StrPath
from ._values import Challenge, Progress, SessionInfo, TaskInfo
from ._version import __version__
from ._words import (
    BodySourceWord,
    CookiesWord,
    DependencyFailureWord,
    IfExistsWord,
    PresetWord,
    QualityOfServiceWord,
    RedirectsWord,
    RefreshWord,
    ResumableUploadsWord,
    ThermalStateWord,
)

__all__ = [
    "__version__",
    "Activity",
    "ActivityInfo",
    "AlreadyExists",
    "Among",
    "Application",
    "ApplicationInfo",
    "ApplicationVerbs",
    "Attempt",
    "Attention",
    "AttentionStream",
    "AuthenticationRequired",
    "BUDGET_NOTHING",
    "BackhaulError",
    "BodySource",
    "BodySourceWord",
    "Budget",
    "Challenge",
    "ChallengeKind",
    "Completed",
    "Condition",
    "ConditionKind",
    "ConfigurationOptions",
    "Conflict",
    "Connectivity",
    "Constraints",
    "Cookies",
    "CookiesWord",
    "DaemonUnavailable",
    "Dependency",
    "DependencyFailure",
    "DependencyFailureWord",
    "Disposition",
    "Domain",
    "DownloadOptions",
    "EngineError",
    "EngineInfo",
    "Enqueued",
    "Event",
    "EventKind",
    "EventStream",
    "Events",
    "EventsOutstanding",
    "Forked",
    "HISTORY_NONE",
    "HTTPVersion",
    "Headers",
    "Hold",
    "Hosting",
    "Identified",
    "Identity",
    "IfExists",
    "IfExistsWord",
    "InUse",
    "InvalidArgument",
    "InvalidHandle",
    "Invalidated",
    "Launch",
    "LaunchCommand",
    "LaunchInfo",
    "LaunchState",
    "Limits",
    "Moment",
    "Network",
    "NetworkKind",
    "Next",
    "NotFound",
    "Outcome",
    "PRIORITY_NOW",
    "Part",
    "Policy",
    "Preset",
    "PresetWord",
    "Progress",
    "ProgressStream",
    "Proxy",
    "QualityOfService",
    "QualityOfServiceWord",
    "Reason",
    "Records",
    "Redirects",
    "RedirectsWord",
    "ResumableUploads",
    "ResumableUploadsWord",
    "Refresh",
    "RefreshWord",
    "Request",
    "ResourceError",
    "ResponseOptions",
    "RetryErrors",
    "RetryPolicy",
    "Role",
    "Scheme",
    "Session",
    "SessionConfiguration",
    "SessionInfo",
    "SessionVerbs",
    "Status",
    "StoreError",
    "StrPath",
    "TIME_UNCHANGED",
    "TLS",
    "TLSVersion",
    "Task",
    "TaskInfo",
    "TaskKind",
    "TaskState",
    "ThermalState",
    "ThermalStateWord",
    "Ticket",
    "Timeout",
    "Tolerances",
    "TransferError",
    "TransferOptions",
    "TransferRules",
    "Wait",
    "WrongState",
    "version",
]

add_attributes([globals()[name] for name in __all__])
