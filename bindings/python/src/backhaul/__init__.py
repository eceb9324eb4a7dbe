"""Background transfer sessions: downloads that go on when this program ends, crashes or the machine restarts.

    from backhaul import Application

    with Application("org.example.photos") as application:
        with application.session("gallery") as session:
            session.download("https://example.org/1.jpg", "/home/me/1.jpg", key="1")
            for event in session.events():
                print(event.url, event.state, event.path)
                event.acknowledge()
                if event.is_session_finished:
                    break
            session.complete()

A program that was killed opens the same session again and goes on reading: what was acknowledged never comes back,
and what was not is never lost. The transfers go on without it, in Backhaul's daemon, which starts a registered
``LaunchCommand`` when their session needs its host. In asyncio: ``async for event in session.events()``,
``await session.start.download(…)``.
"""

from ._application import Application
from ._attempt import Attempt
from ._attention import AttentionStream
from ._configuration import Limits, SessionConfiguration
from ._constants import (
    Attention,
    BodySource,
    ChallengeKind,
    Cookies,
    Disposition,
    Domain,
    EventKind,
    HTTPVersion,
    Hosting,
    IfExists,
    LaunchState,
    Next,
    Reason,
    Redirects,
    Refresh,
    RetryErrors,
    Role,
    Scheme,
    Status,
    TLSVersion,
    TaskKind,
    TaskState,
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
from ._numbers import HISTORY_NONE, PRIORITY_NOW
from ._progress import ProgressStream
from ._reading import Events
from ._requests import Enqueued, Part, Policy, Request
from ._session import Session
from ._task import Task
from ._tickets import Ticket
from ._values import Challenge, Progress, SessionInfo, TaskInfo

__all__ = [
    "AlreadyExists",
    "Application",
    "Attempt",
    "Attention",
    "AttentionStream",
    "AuthenticationRequired",
    "BackhaulError",
    "BodySource",
    "Challenge",
    "ChallengeKind",
    "Completed",
    "Conflict",
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
    "Next",
    "NotFound",
    "PRIORITY_NOW",
    "Part",
    "Policy",
    "Progress",
    "ProgressStream",
    "Reason",
    "Redirects",
    "Refresh",
    "Request",
    "ResourceError",
    "RetryErrors",
    "Role",
    "Scheme",
    "Session",
    "SessionConfiguration",
    "SessionInfo",
    "Status",
    "StoreError",
    "TLSVersion",
    "Task",
    "TaskInfo",
    "TaskKind",
    "TaskState",
    "Ticket",
    "Timeout",
    "TransferError",
    "WrongState",
    "version",
]
