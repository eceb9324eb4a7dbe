"""Background transfer sessions: downloads that go on when this program ends, crashes or the machine restarts.

    from backhaul import Application

    with Application("org.example.photos", "/home/me/.local/state/photos") as application:
        with application.session("gallery") as session:
            session.download("https://example.org/1.jpg", "/home/me/1.jpg", key="1")
            for event in session.events():
                print(event.url, event.state, event.path)
                event.acknowledge()
                if event.is_session_finished:
                    break
            session.complete()

A program that was killed opens the same session again and goes on reading: what was acknowledged never comes back,
and what was not is never lost. In asyncio: ``async for event in session.events()``,
``await session.start.download(…)``.
"""

from ._application import Application
from ._constants import Attention, Disposition, Domain, EventKind, IfExists, Reason, Role, Status, TaskState
from ._errors import (
    AlreadyExists,
    BackhaulError,
    Conflict,
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
from ._events import EventStream
from ._library import version
from ._reading import Events
from ._session import Session
from ._task import Task
from ._tickets import Ticket
from ._values import Enqueued, Event, Request, SessionConfiguration, SessionInfo, TaskInfo

__all__ = [
    "AlreadyExists",
    "Application",
    "Attention",
    "BackhaulError",
    "Conflict",
    "Disposition",
    "Domain",
    "EngineError",
    "Enqueued",
    "Event",
    "EventKind",
    "EventStream",
    "Events",
    "EventsOutstanding",
    "Forked",
    "IfExists",
    "InUse",
    "InvalidArgument",
    "InvalidHandle",
    "Invalidated",
    "NotFound",
    "Reason",
    "Request",
    "ResourceError",
    "Role",
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
