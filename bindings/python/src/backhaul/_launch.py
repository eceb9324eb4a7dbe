"""Launches and engines: which program is started when sessions need their host, and who runs the transfers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ._constants import Attention, Hosting, LaunchState
from ._types import Path, moment, moment_or_none
from ._values import SessionInfo


@dataclass(frozen=True)
class LaunchCommand:
    """A program to run when sessions need their host and none is connected. No shell is involved. 0 stands for the
    library's default."""

    #: Absolute path of an executable file: for a script its interpreter, ``sys.executable``.
    program: Path
    #: Those after the program's name, such as the absolute path of the script.
    arguments: Sequence[str | Path] = ()
    #: Additions to the environment of a launched program, which is otherwise a clean one.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Absolute; None: the user's home directory.
    working_directory: Path | None = None
    #: A launched host that has attached no session by then is asked to end and launched again.
    attach_timeout_ms: int = 0
    #: Before the next launch when one has ended without completing; doubles.
    first_delay_ms: int = 0
    longest_delay_ms: int = 0
    #: In a row without completing, then the application is left alone until a host of it connects of itself.
    maximum_launches: int = 0


@dataclass(frozen=True)
class LaunchInfo:
    """A launch command as it is registered, and how it fares."""

    application: str
    program: str
    arguments: tuple[str, ...]
    #: The additions to the environment.
    environment: Mapping[str, str]
    working_directory: str | None
    state: LaunchState
    #: In a row without completing.
    launches: int
    #: Unix time in milliseconds, or 0.
    next_launch_ms: int
    #: Of the launched host, or None.
    process_id: int | None
    #: When it was launched, in milliseconds of Unix time, or 0.
    started_ms: int
    #: Why the last launch failed.
    error_message: str | None

    @property
    def next_launch(self) -> datetime | None:
        return moment_or_none(self.next_launch_ms)

    @property
    def started(self) -> datetime | None:
        return moment_or_none(self.started_ms)


@dataclass(frozen=True)
class Launch:
    """The launch that this program was started by."""

    #: Grows with each launch of the store.
    id: int
    #: How many in a row, this one included: 1 unless earlier ones did not complete.
    launches: int
    #: Attention.FINISHED, CHALLENGE and ACTIVITY of its sessions.
    attention: Attention
    #: Those that need their host and are not completed.
    sessions: tuple[SessionInfo, ...]


@dataclass(frozen=True)
class EngineInfo:
    """Who runs the transfers of a store."""

    process_id: int
    #: Of its library, such as "1.0.0".
    version: str
    #: Hosting.DAEMON or Hosting.EMBEDDED.
    hosting: Hosting
    #: Unix time in milliseconds.
    started_ms: int
    #: The store's path, as this program opened it.
    store: str
    #: Whether it is a daemon in the control group of this process, so that a service manager that stops this program's
    #: service ends the daemon with it.
    shares_control_group: bool
    #: Handles that are open on the store, this one included.
    connections: int

    @property
    def started(self) -> datetime:
        return moment(self.started_ms)
