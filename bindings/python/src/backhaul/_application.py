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
    """An application on its store, which is one directory with everything durable.

    Without ``store`` it is the user's default store, which all programs of the user share. Opening waits until an
    engine replies: a running one, the daemon, or with ``hosting=Hosting.EMBEDDED`` one in this process. ``launch``
    is registered as by ``set_launch``. ``observes`` is for tools that only read: the application is launched as if
    they were not connected. ``daemon`` is the path of backhauld, if it is not at a place that is searched.

    ``application.start`` has the verbs in a form that returns a Ticket at once. In asyncio use ``async with await
    Application.open_async(…)``.
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
        """Opens an application without blocking the event loop. ``asyncio.wait_for`` can limit the time."""
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
        # With a wait of 0 the first verb shows whether an engine replies, and verbs can be interrupted and awaited.
        options = _writing.application_options(identifier, store, hosting, daemon, launch, observes)
        self._handle = ApplicationHandle(take(bh_application, library.bh_application_open, byref(options), 0))
        self.identifier = identifier
        #: The store as it was given; ``engine().store`` is its path.
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
        """Creates the session with this configuration (fields of ``SessionConfiguration``), or attaches to it if it
        exists. An existing session keeps its stored configuration, and ``created`` is False."""
        return self.start.session(identifier, role=role, **configuration).result(timeout)

    def create(
        self, configuration: SessionConfiguration, *, role: Role = Role.CONSUME, timeout: float | None = None
    ) -> Session:
        """The same as ``session``, with the configuration as a value."""
        return self.start.create(configuration, role).result(timeout)

    def attach(self, identifier: str, *, role: Role = Role.CONSUME, timeout: float | None = None) -> Session:
        """Attaches to an existing session. Raises NotFound, or InUse when another living process consumes it."""
        return self.start.attach(identifier, role).result(timeout)

    def sessions(self, *, timeout: float | None = None) -> list[SessionInfo]:
        """All sessions of this application."""
        return self.start.sessions().result(timeout)

    def engine(self, *, timeout: float | None = None) -> EngineInfo:
        """The process that runs the store's engine."""
        return self.start.engine().result(timeout)

    def limits(self, *, timeout: float | None = None) -> Limits:
        """The limits of all sessions of the store together, with the defaults filled in."""
        return self.start.limits().result(timeout)

    def set_limits(self, limits: Limits, *, timeout: float | None = None) -> None:
        """Sets the store's limits, durably and at once. ``dataclasses.replace(application.limits(), …)`` changes single
        fields."""
        self.start.set_limits(limits).result(timeout)

    def conditions(self, *, timeout: float | None = None) -> list[Condition]:
        """The conditions that the engine sees now, one of each kind. A condition on which no task depends is read for
        this call."""
        return self.start.conditions().result(timeout)

    def holds(self, *, timeout: float | None = None) -> list[Hold]:
        """The tasks that conditions hold now, in all sessions of the store."""
        return self.start.holds().result(timeout)

    def networks(self, *, timeout: float | None = None) -> list[Network]:
        """The current network, and those with settings or with usage in this month."""
        return self.start.networks().result(timeout)

    def set_network(self, network: Network, *, timeout: float | None = None) -> None:
        """Sets whether a network is metered, and its budget in bytes, durably and at once. A ``Network`` that has only
        its name removes the settings."""
        self.start.set_network(network).result(timeout)

    def set_launch(self, command: LaunchCommand | None, *, timeout: float | None = None) -> None:
        """Registers the program to launch when sessions need their host and none is connected. It is durable and
        replaces another registration; None removes it."""
        self.start.set_launch(command).result(timeout)

    def launches(self, *, timeout: float | None = None) -> list[LaunchInfo]:
        """The launch commands of all applications of the store, and the state of their launches."""
        return self.start.launches().result(timeout)

    def current_launch(self, *, timeout: float | None = None) -> Launch | None:
        """The launch that started this program, until it is over; None if the program was started otherwise."""
        return self.start.current_launch().result(timeout)

    def poll(self, *, timeout: float | None = 0) -> list[SessionInfo]:
        """Waits up to ``timeout`` seconds (None: without a limit) for sessions that need attention, attached or not. A
        session is returned once each time that it begins to need attention."""
        return poll_attention(self._handle, timeout)

    def attention(self, *, timeout: float | None = None) -> AttentionStream:
        """Yields each session when it begins to need attention, for ``for`` and ``async for``.

        A connected program gets this instead of a launch. With a ``timeout`` the stream ends when no session needed
        attention for so many seconds.
        """
        return AttentionStream(self._handle, timeout)

    def fileno(self) -> int:
        """A descriptor that is readable while an attached session has undelivered events, ``poll`` has a new session,
        or a started verb has its reply. Use it only for waiting."""
        return self._handle.descriptor

    def close(self) -> None:
        """Frees the handle; transfers continue. With embedded hosting the last close of a process hands over the
        engine, which takes up to about a second. Closing again is harmless."""
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

        # This is the only call that blocks and has no started form.
        await asyncio.get_running_loop().run_in_executor(None, self.close)
