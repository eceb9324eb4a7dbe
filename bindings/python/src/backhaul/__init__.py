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
from ._attention import AttentionStream
from ._constants import (
    Attention,
    ChallengeKind,
    Disposition,
    Domain,
    EventKind,
    Hosting,
    IfExists,
    LaunchState,
    Reason,
    Role,
    Scheme,
    Status,
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
from ._progress import ProgressStream
from ._reading import Events
from ._session import Session
from ._task import Task
from ._tickets import Ticket
from ._values import (
    Challenge,
    Enqueued,
    Progress,
    Request,
    SessionConfiguration,
    SessionInfo,
    TaskInfo,
)

__all__ = [
    "AlreadyExists",
    "Application",
    "Attention",
    "AttentionStream",
    "AuthenticationRequired",
    "BackhaulError",
    "Challenge",
    "ChallengeKind",
    "Completed",
    "Conflict",
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
    "NotFound",
    "Progress",
    "ProgressStream",
    "Reason",
    "Request",
    "ResourceError",
    "Role",
    "Scheme",
    "Session",
    "SessionConfiguration",
    "SessionInfo",
    "Status",
    "StoreError",
    "Task",
    "TaskInfo",
    "TaskState",
    "Ticket",
    "Timeout",
    "TransferError",
    "WrongState",
    "version",
]
