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
from ._attempt import Attempt
from ._attention import AttentionStream
from ._conditions import Condition, Hold, Network, Wait
from ._configuration import Limits, SessionConfiguration
from ._constants import (
    Attention,
    BodySource,
    ChallengeKind,
    ConditionKind,
    Connectivity,
    Cookies,
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
    ResourceError,
    StoreError,
    Timeout,
    TransferError,
    WrongState,
)
from ._event import Event
from ._events import EventStream
from ._launch import EngineInfo, Launch, LaunchCommand, LaunchInfo
from ._library import version
from ._numbers import BUDGET_NOTHING, HISTORY_NONE, PRIORITY_NOW, TIME_UNCHANGED
from ._progress import ProgressStream
from ._reading import Events
from ._requests import Enqueued, Part, Request
from ._rules import TLS, Budget, Constraints, Policy, Proxy, RetryPolicy, TransferRules
from ._session import Session
from ._task import Task
from ._tickets import Ticket
from ._values import Challenge, Progress, SessionInfo, TaskInfo
from ._version import __version__

__all__ = [
    "__version__",
    "Activity",
    "ActivityInfo",
    "AlreadyExists",
    "Application",
    "Attempt",
    "Attention",
    "AttentionStream",
    "AuthenticationRequired",
    "BUDGET_NOTHING",
    "BackhaulError",
    "Budget",
    "BodySource",
    "Challenge",
    "ChallengeKind",
    "Completed",
    "Condition",
    "ConditionKind",
    "Conflict",
    "Connectivity",
    "Constraints",
    "Cookies",
    "DaemonUnavailable",
    "Disposition",
    "Domain",
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
    "Hold",
    "Hosting",
    "IfExists",
    "InUse",
    "InvalidArgument",
    "InvalidHandle",
    "Invalidated",
    "Launch",
    "LaunchCommand",
    "LaunchInfo",
    "LaunchState",
    "Limits",
    "Network",
    "NetworkKind",
    "Next",
    "NotFound",
    "PRIORITY_NOW",
    "Part",
    "Policy",
    "Preset",
    "Progress",
    "ProgressStream",
    "Proxy",
    "QualityOfService",
    "Reason",
    "Redirects",
    "Refresh",
    "Request",
    "ResourceError",
    "RetryErrors",
    "RetryPolicy",
    "Role",
    "Scheme",
    "Session",
    "SessionConfiguration",
    "SessionInfo",
    "Status",
    "StoreError",
    "TIME_UNCHANGED",
    "TLS",
    "TLSVersion",
    "Task",
    "TaskInfo",
    "TaskKind",
    "TaskState",
    "ThermalState",
    "Ticket",
    "Timeout",
    "Tolerances",
    "TransferError",
    "TransferRules",
    "Wait",
    "WrongState",
    "version",
]
