"""Applications. An application is the identity of a *host*, which is a program that uses this package."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any

from . import _writing
from ._application_verbs import ApplicationVerbs
from ._attention import AttentionStream, poll_attention
from ._conditions import Condition, Hold, Network
from ._configuration import ConfigurationOptions, Limits, SessionConfiguration
from ._constants import Hosting, Role
from ._ctypes import bh_application
from ._errors import BackhaulError
from ._handles import ApplicationHandle, take
from ._launch import ApplicationInfo, EngineInfo, Launch, LaunchCommand, LaunchInfo
from ._library import library
from ._logging import log
from ._session import Session
from ._tickets import Ticket
from ._types import StrPath
from ._values import SessionInfo

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack


class Application:
    """An application that has opened a store. A store is one directory with all durable data. Its engine is the process
    that runs the transfers.

    Without ``store``, the application opens the user's default store, which all programs of the user share. The
    constructor waits until the engine of the store replies. If no engine runs, the library starts the daemon, a
    separate process, as engine. With ``hosting=Hosting.EMBEDDED``, the engine runs in this process. The constructor
    registers the launch command ``launch`` in the same way as ``set_launch``. ``observes=True`` is for programs that
    only read: the engine launches the application's host even while such a program is connected. ``daemon`` is the path
    of backhauld. It is needed only if the library does not find backhauld.

    ``application.start`` has the same methods in a form that returns immediately. Each one returns a Ticket, which
    gives the result later. In asyncio, use ``async with await Application.open_async(…)``.
    """

    def __init__(
        self,
        identifier: str,
        store: StrPath | None = None,
        *,
        hosting: Hosting = Hosting.DEFAULT,
        daemon: StrPath | None = None,
        launch: LaunchCommand | None = None,
        observes: bool = False,
        timeout: float | None = None,
    ) -> None:
        self._begin(identifier, store, hosting, daemon, observes)
        try:
            self._first_command(launch).result(timeout)
        except BaseException as error:
            self._give_up(error)
            raise

    @classmethod
    async def open_async(
        cls,
        identifier: str,
        store: StrPath | None = None,
        *,
        hosting: Hosting = Hosting.DEFAULT,
        daemon: StrPath | None = None,
        launch: LaunchCommand | None = None,
        observes: bool = False,
    ) -> Application:
        """Opens an application without blocking the event loop. ``asyncio.wait_for`` can limit the time."""
        application = cls.__new__(cls)
        application._begin(identifier, store, hosting, daemon, observes)
        try:
            await application._first_command(launch)
        except BaseException as error:
            application._give_up(error)
            raise
        return application

    def _begin(
        self,
        identifier: str,
        store: StrPath | None,
        hosting: Hosting,
        daemon: StrPath | None,
        observes: bool,
    ) -> None:
        # With the time-out 0, bh_application_open does not wait for the engine. Instead, the first command waits for
        # the engine, because a program can await a command, or interrupt the command with Ctrl-C.
        options = _writing.application_options(identifier, store, hosting, daemon, observes)
        self._handle = ApplicationHandle(take(bh_application, library.bh_application_open, byref(options), 0))
        #: The name of the application.
        self.identifier = identifier
        #: The argument ``store``. If it is None, ``engine().store`` has the path of the default store.
        self.store = store
        #: The methods in a form that returns a Ticket.
        self.start = ApplicationVerbs(self._handle)
        log.debug("opened the application %s", identifier)

    def _first_command(self, launch: LaunchCommand | None) -> Ticket[Any]:
        """Starts the command whose reply ends the opening."""
        # With the time-out 0, bh_application_open does not report a failed registration. So its options have no launch
        # command.
        return self.start.sessions() if launch is None else self.start.set_launch(launch)

    def _give_up(self, error: BaseException) -> None:
        self._handle.close()
        if isinstance(error, BackhaulError):
            error.ticket = None

    def __repr__(self) -> str:
        return f"<Application {self.identifier!r}{' closed' if self._handle.closed else ''}>"

    def session(
        self,
        identifier: str,
        *,
        role: Role = Role.CONSUME,
        timeout: float | None = None,
        **configuration: Unpack[ConfigurationOptions],
    ) -> Session:
        """Creates a session. If the session exists, attaches to it instead. The keyword arguments are fields of
        ``SessionConfiguration``. An existing session keeps its stored configuration, and its ``created`` is False."""
        return self.start.session(identifier, role=role, **configuration).result(timeout)

    def create(
        self, configuration: SessionConfiguration, *, role: Role = Role.CONSUME, timeout: float | None = None
    ) -> Session:
        """Does the same as ``session``, but takes the configuration as one object."""
        return self.start.create(configuration, role).result(timeout)

    def attach(self, identifier: str, *, role: Role = Role.CONSUME, timeout: float | None = None) -> Session:
        """Attaches to an existing session. Raises NotFound if the session does not exist. Raises InUse if another
        process is the session's consumer (the reader of its events)."""
        return self.start.attach(identifier, role).result(timeout)

    def sessions(self, *, timeout: float | None = None) -> list[SessionInfo]:
        """Returns all sessions of this application."""
        return self.start.sessions().result(timeout)

    def engine(self, *, timeout: float | None = None) -> EngineInfo:
        """Returns a description of the process that runs the store's engine."""
        return self.start.engine().result(timeout)

    def applications(self, *, timeout: float | None = None) -> list[ApplicationInfo]:
        """Returns all applications of the store that have a session, a launch command or a connected host."""
        return self.start.applications().result(timeout)

    def metrics(self, *, timeout: float | None = None) -> str:
        """Returns the present metrics of the store's engine as OpenMetrics text. The counters begin at 0 when the
        engine starts. docs/metrics.md lists the metrics."""
        return self.start.metrics().result(timeout)

    def limits(self, *, timeout: float | None = None) -> Limits:
        """Returns the limits for all sessions of the store together. A limit that is not set has its default value."""
        return self.start.limits().result(timeout)

    def set_limits(self, limits: Limits, *, timeout: float | None = None) -> None:
        """Sets the limits of the store. The limits are stored, and apply immediately. To change only some limits, pass
        ``dataclasses.replace(application.limits(), …)``."""
        self.start.set_limits(limits).result(timeout)

    def conditions(self, *, timeout: float | None = None) -> list[Condition]:
        """Returns the present conditions, one of each kind. If no task depends on a condition, the engine reads this
        condition for this call."""
        return self.start.conditions().result(timeout)

    def holds(self, *, timeout: float | None = None) -> list[Hold]:
        """Returns the present holds of all sessions of the store. A hold reports tasks that wait for a condition."""
        return self.start.holds().result(timeout)

    def networks(self, *, timeout: float | None = None) -> list[Network]:
        """Returns the current network, all networks that have settings, and all networks that were used this month."""
        return self.start.networks().result(timeout)

    def set_network(self, network: Network, *, timeout: float | None = None) -> None:
        """Sets the budget of a network in bytes, and whether the network is metered (its data may cost money). The
        settings are stored, and apply immediately. If ``network`` has only a name, the engine removes the stored
        settings of this network."""
        self.start.set_network(network).result(timeout)

    def set_launch(self, command: LaunchCommand | None, *, timeout: float | None = None) -> None:
        """Registers the program that the engine launches when a session needs its host and no host is connected. The
        registration is stored, and replaces an earlier registration. None removes the registration."""
        self.start.set_launch(command).result(timeout)

    def launches(self, *, timeout: float | None = None) -> list[LaunchInfo]:
        """Returns the launch commands of all applications of the store, and the state of their launches."""
        return self.start.launches().result(timeout)

    def current_launch(self, *, timeout: float | None = None) -> Launch | None:
        """Returns the launch that started this program. Returns None if the engine did not start this program, or if
        the launch is over."""
        return self.start.current_launch().result(timeout)

    def poll(self, *, timeout: float | None = 0) -> list[SessionInfo]:
        """Returns the sessions that need attention, for example because of new events. It also returns sessions to
        which this program is not attached. A session is returned again only if it needs attention for a new reason.
        Waits up to ``timeout`` seconds for the first session. If ``timeout`` is None, the wait has no limit."""
        return poll_attention(self._handle, timeout)

    def attention(self, *, timeout: float | None = None) -> AttentionStream:
        """Returns a stream for ``for`` and ``async for``. It yields a session when this session begins to need
        attention.

        While this program is connected, the engine notifies it through the stream, and launches no second program. If
        no session begins to need attention for ``timeout`` seconds, the stream ends.
        """
        return AttentionStream(self._handle, timeout)

    def fileno(self) -> int:
        """Returns a descriptor. It is readable while at least one of these is true: a Ticket has a result, or ``poll``
        has a session to return and no poll of this session is under way. For the events of an attached session, also
        wait for the descriptor of the session. Use the descriptors only to wait: do not read from them."""
        return self._handle.descriptor

    def close(self) -> None:
        """Closes the application and its sessions. The transfers continue. Calls and streams that wait, in asyncio or
        in other threads, raise InvalidHandle. If the engine is embedded, the close of the last application in the
        process ends the engine, and takes about a second at most. A second ``close`` has no effect."""
        if not self._handle.closed:
            log.debug("closed the application %s", self.identifier)
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

        # `close` blocks, and no form of `close` returns a Ticket. So `close` runs in a thread.
        await asyncio.get_running_loop().run_in_executor(None, self.close)
