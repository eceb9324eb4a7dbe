"""Applications: the identity under which a host opens a store."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

from . import _writing
from ._application_verbs import ApplicationVerbs
from ._attention import AttentionStream, poll_attention
from ._conditions import Condition, Hold, Network
from ._configuration import Limits, SessionConfiguration
from ._constants import Hosting, Role
from ._ctypes import bh_application
from ._errors import BackhaulError
from ._handles import ApplicationHandle, take
from ._launch import EngineInfo, Launch, LaunchCommand, LaunchInfo
from ._library import library
from ._session import Session
from ._types import Path
from ._values import SessionInfo

if TYPE_CHECKING:
    from types import TracebackType


class Application:
    """An application on its store: one directory with everything durable.

    Without a ``store`` it is the user's default one, which all programs of the user share. Opening waits until an
    engine answers: one that runs, the daemon, or with ``hosting=Hosting.EMBEDDED`` one in this process. ``launch`` is
    registered as by ``set_launch``; ``observes`` is for tools that look on and are no host, so that the application is
    launched as if they were not there; ``daemon`` is the path of backhauld where it is not found by itself.

    ``application.start`` has the verbs in a form that returns a Ticket at once. In asyncio use
    ``async with await Application.open_async(…)``.
    """

    def __init__(
        self,
        identifier: str,
        store: Path | None = None,
        *,
        hosting: Hosting = Hosting.DEFAULT,
        daemon: Path | None = None,
        launch: LaunchCommand | None = None,
        observes: bool = False,
        timeout: float | None = None,
    ) -> None:
        self._begin(identifier, store, hosting, daemon, launch, observes)
        try:
            self.start.sessions().result(timeout)
        except BaseException as error:
            self._give_up(error)
            raise

    @classmethod
    async def open_async(
        cls,
        identifier: str,
        store: Path | None = None,
        *,
        hosting: Hosting = Hosting.DEFAULT,
        daemon: Path | None = None,
        launch: LaunchCommand | None = None,
        observes: bool = False,
    ) -> Application:
        """Opens an application without blocking the event loop. ``asyncio.wait_for`` gives it a limit."""
        application = cls.__new__(cls)
        application._begin(identifier, store, hosting, daemon, launch, observes)
        try:
            await application.start.sessions()
        except BaseException as error:
            application._give_up(error)
            raise
        return application

    def _begin(
        self,
        identifier: str,
        store: Path | None,
        hosting: Hosting,
        daemon: Path | None,
        launch: LaunchCommand | None,
        observes: bool,
    ) -> None:
        # With a wait of 0 the first verb tells whether an engine answers, and verbs can be interrupted and awaited.
        options = _writing.application_options(identifier, store, hosting, daemon, launch, observes)
        self._handle = ApplicationHandle(take(bh_application, library.bh_application_open, byref(options), 0))
        self.identifier = identifier
        #: As it was given; ``engine().store`` is its path.
        self.store = store
        #: The verbs in their started form.
        self.start = ApplicationVerbs(self._handle)

    def _give_up(self, error: BaseException) -> None:
        self._handle.close()
        if isinstance(error, BackhaulError):
            error.ticket = None

    def __repr__(self) -> str:
        return f"<Application {self.identifier!r}{' closed' if self._handle.closed else ''}>"

    def session(
        self, identifier: str, *, role: Role = Role.CONSUME, timeout: float | None = None, **configuration: Any
    ) -> Session:
        """Creates the session with this configuration (the fields of ``SessionConfiguration``), or attaches to it when
        it exists: then its remembered configuration stays, and ``created`` is False."""
        return self.start.session(identifier, role=role, **configuration).result(timeout)

    def create(
        self, configuration: SessionConfiguration, *, role: Role = Role.CONSUME, timeout: float | None = None
    ) -> Session:
        """As ``session``, with the configuration as a value."""
        return self.start.create(configuration, role).result(timeout)

    def attach(self, identifier: str, *, role: Role = Role.CONSUME, timeout: float | None = None) -> Session:
        """Attaches to a session that exists. Raises NotFound, or InUse when another living process consumes it."""
        return self.start.attach(identifier, role).result(timeout)

    def sessions(self, *, timeout: float | None = None) -> list[SessionInfo]:
        """All sessions of this application."""
        return self.start.sessions().result(timeout)

    def engine(self, *, timeout: float | None = None) -> EngineInfo:
        """Who the store's engine is."""
        return self.start.engine().result(timeout)

    def limits(self, *, timeout: float | None = None) -> Limits:
        """What all sessions of the store may use together, with the defaults filled in."""
        return self.start.limits().result(timeout)

    def set_limits(self, limits: Limits, *, timeout: float | None = None) -> None:
        """Sets the store's limits, durably and at once; ``dataclasses.replace(application.limits(), …)`` makes changed
        ones."""
        self.start.set_limits(limits).result(timeout)

    def conditions(self, *, timeout: float | None = None) -> list[Condition]:
        """What the engine sees now, one of each kind, read for this call if nothing depends on it."""
        return self.start.conditions().result(timeout)

    def holds(self, *, timeout: float | None = None) -> list[Hold]:
        """What is held back now, in all sessions of the store."""
        return self.start.holds().result(timeout)

    def networks(self, *, timeout: float | None = None) -> list[Network]:
        """Networks of which something was said or on which something was moved this month, and the current one."""
        return self.start.networks().result(timeout)

    def set_network(self, network: Network, *, timeout: float | None = None) -> None:
        """Says whether a network is metered and how many bytes may be moved on it, durably and at once; a
        ``Network`` with nothing but its name forgets what was said."""
        self.start.set_network(network).result(timeout)

    def set_launch(self, command: LaunchCommand | None, *, timeout: float | None = None) -> None:
        """Registers the program that is run when sessions need their host and none is connected, durably and in place
        of any other; None removes it."""
        self.start.set_launch(command).result(timeout)

    def launches(self, *, timeout: float | None = None) -> list[LaunchInfo]:
        """The launch commands of all applications of the store, and how they fare."""
        return self.start.launches().result(timeout)

    def current_launch(self, *, timeout: float | None = None) -> Launch | None:
        """The launch that this program was started by, unless it is over; None when it was started otherwise."""
        return self.start.current_launch().result(timeout)

    def poll(self, *, timeout: float | None = 0) -> list[SessionInfo]:
        """Waits up to ``timeout`` seconds (None: without an end) for a session, attached or not, that needs attention
        and was not told since it began to need it."""
        return poll_attention(self._handle, timeout)

    def attention(self, *, timeout: float | None = None) -> AttentionStream:
        """The same for ``for`` and ``async for``: each session as it begins to need attention. A program that is
        connected is told so instead of being launched. With a ``timeout`` it ends when none did for so many seconds."""
        return AttentionStream(self._handle, timeout)

    def fileno(self) -> int:
        """A descriptor that is readable while an attached session has events that were not handed out, while ``poll``
        has something new, or while a started verb is answered. Only to be waited on."""
        return self._handle.descriptor

    def close(self) -> None:
        """Frees the handle; transfers go on. With embedded hosting the last close of a process hands the engine over,
        which takes up to about a second. Harmless when repeated."""
        self._handle.close()

    def __enter__(self) -> Application:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Application:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import asyncio

        # The one call that blocks and has no started form.
        await asyncio.get_running_loop().run_in_executor(None, self.close)
