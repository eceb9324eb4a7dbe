"""The methods of an application, in a form that returns a Ticket immediately."""

from __future__ import annotations

from ctypes import byref, c_int32
from typing import TYPE_CHECKING, Callable, TypeVar

from . import (
    _keywords,
    _reading,
    _reading_conditions,
    _reading_transfers,
    _writing,
    _writing_conditions,
    _writing_transfers,
)
from ._conditions import Condition, Hold, Network
from ._configuration import ConfigurationOptions, Limits, SessionConfiguration
from ._constants import Role, SessionDisposition
from ._ctypes import bh_session
from ._handles import ApplicationHandle, BatchHandle, SessionHandle, TicketHandle, call
from ._launch import ApplicationInfo, EngineInfo, Launch, LaunchCommand, LaunchInfo
from ._library import library
from ._session import Session
from ._tickets import Ticket, from_batch, wait_only
from ._values import SessionInfo

if TYPE_CHECKING:
    from typing_extensions import Unpack

Result = TypeVar("Result")


class ApplicationVerbs:
    """The methods of an application. Each one returns a Ticket immediately, and the Ticket gives the result later."""

    def __init__(self, application: ApplicationHandle) -> None:
        self._application = application

    def sessions(self) -> Ticket[list[SessionInfo]]:
        """Returns all sessions of this application."""
        return self._listing(_reading.sessions, library.bh_application_sessions)

    def engine(self) -> Ticket[EngineInfo]:
        """Returns a description of the process that runs the store's engine."""
        return self._listing(_reading.engine, library.bh_store_engine)

    def applications(self) -> Ticket[list[ApplicationInfo]]:
        """Returns all applications of the store that have a session, a launch command or a connected host."""
        return self._listing(_reading.applications, library.bh_store_applications)

    def metrics(self) -> Ticket[str]:
        """Returns the present metrics of the store's engine as OpenMetrics text."""
        return self._listing(_reading_transfers.metrics, library.bh_store_metrics)

    def limits(self) -> Ticket[Limits]:
        """Returns the limits of the store, with their defaults filled in."""
        return self._listing(_reading_transfers.limits, library.bh_store_limits)

    def set_limits(self, limits: Limits) -> Ticket[None]:
        """Sets the limits of the store. They are stored, and apply immediately."""
        return Ticket._start(
            self._application,
            wait_only,
            library.bh_store_set_limits,
            self._application.pointer,
            byref(_writing_transfers.limits(limits)),
        )

    def conditions(self) -> Ticket[list[Condition]]:
        """Returns the present conditions, one of each kind."""
        return self._listing(_reading_conditions.conditions, library.bh_store_conditions)

    def holds(self) -> Ticket[list[Hold]]:
        """Returns the present holds of all sessions of the store."""
        return self._listing(_reading_conditions.holds, library.bh_store_holds)

    def networks(self) -> Ticket[list[Network]]:
        """Returns the current network, all networks that have settings, and all networks that were used this month."""
        return self._listing(_reading_conditions.networks, library.bh_store_networks)

    def set_network(self, network: Network) -> Ticket[None]:
        """Stores the settings of a network, as ``Application.set_network`` does."""
        return Ticket._start(
            self._application,
            wait_only,
            library.bh_store_set_network,
            self._application.pointer,
            byref(_writing_conditions.network(network)),
        )

    def set_launch(self, command: LaunchCommand | None) -> Ticket[None]:
        """Registers the program that the engine launches. None removes the registration."""
        return Ticket._start(
            self._application,
            wait_only,
            library.bh_application_set_launch,
            self._application.pointer,
            _writing.launch(command),
        )

    def launches(self) -> Ticket[list[LaunchInfo]]:
        """Returns the launch commands of all applications of the store, and the state of their launches."""
        return self._listing(_reading.launches, library.bh_store_launches)

    def current_launch(self) -> Ticket[Launch | None]:
        """Returns the launch that started this program, or None."""
        return self._listing(_reading.launch, library.bh_application_current_launch)

    def create(self, configuration: SessionConfiguration, role: Role = Role.CONSUME) -> Ticket[Session]:
        """Does the same as ``session``, but takes the configuration as one object."""
        return Ticket._start(
            self._application,
            self._session_reader(configuration.identifier, role),
            library.bh_session_create,
            self._application.pointer,
            byref(_writing_transfers.configuration(configuration)),
            _writing.member("role", role, Role),
        )

    def attach(self, identifier: str, role: Role = Role.CONSUME) -> Ticket[Session]:
        """Attaches to an existing session."""
        return Ticket._start(
            self._application,
            self._session_reader(identifier, role),
            library.bh_session_attach,
            self._application.pointer,
            _writing.text("identifier", identifier),
            _writing.member("role", role, Role),
        )

    def session(
        self, identifier: str, *, role: Role = Role.CONSUME, **configuration: Unpack[ConfigurationOptions]
    ) -> Ticket[Session]:
        """Creates a session with this configuration. If the session exists, attaches to it instead."""
        _keywords.check("session", configuration, ConfigurationOptions.__optional_keys__)
        return self.create(SessionConfiguration(identifier, **configuration), role)

    def _listing(self, read: Callable[[BatchHandle], Result], function: Callable[..., int]) -> Ticket[Result]:
        return Ticket._start(self._application, from_batch(read), function, self._application.pointer)

    def _session_reader(self, identifier: str, role: Role) -> Callable[[TicketHandle], Session]:
        def read(ticket: TicketHandle) -> Session:
            pointer, disposition = bh_session(), c_int32(SessionDisposition.ATTACHED)
            call(library.bh_ticket_session, ticket.pointer, byref(pointer), byref(disposition))
            created = disposition.value == SessionDisposition.CREATED
            handle = SessionHandle(pointer, self._application)
            return Session(self._application, handle, identifier, Role(role), created)

        return read
