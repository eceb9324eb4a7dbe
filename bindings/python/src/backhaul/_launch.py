"""Launches and engines: the program that is launched when sessions need their host, and the process that runs
transfers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ._constants import Attention, Hosting, LaunchState
from ._types import Path, moment, moment_or_none
from ._values import SessionInfo


@dataclass(frozen=True)
class LaunchCommand:
    """A program to launch when sessions need their host and none is connected. It runs without a shell. 0 means the
    library's default."""

    #: The absolute path of an executable file; for a script that of its interpreter, such as ``sys.executable``.
    program: Path
    #: The arguments after the program's name, such as the absolute path of the script.
    arguments: Sequence[str | Path] = ()
    #: Additions to the environment of a launched program, which is otherwise a clean one.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: The absolute path; None: the user's home directory.
    working_directory: Path | None = None
    #: A launched host that has attached no session by then gets SIGTERM, and is launched again.
    attach_timeout_ms: int = 0
    #: The delay after a launch that ended without completing. It doubles up to ``longest_delay_ms``.
    first_delay_ms: int = 0
    longest_delay_ms: int = 0
    #: After so many launches in a row without completing, launches stop until a host connects by itself.
    maximum_launches: int = 0


@dataclass(frozen=True)
class LaunchInfo:
    """A registered launch command, and the state of its launches."""

    application: str
    program: str
    arguments: tuple[str, ...]
    #: The additions to the environment.
    environment: Mapping[str, str]
    working_directory: str | None
    state: LaunchState
    #: The number of launches in a row without completing.
    launches: int
    #: The time of the next launch in Unix milliseconds, or 0.
    next_launch_ms: int
    #: The process id of the launched host, or None.
    process_id: int | None
    #: The time of its launch in Unix milliseconds, or 0.
    started_ms: int
    #: The reason why the last launch failed.
    error_message: str | None

    @property
    def next_launch(self) -> datetime | None:
        return moment_or_none(self.next_launch_ms)

    @property
    def started(self) -> datetime | None:
        return moment_or_none(self.started_ms)


@dataclass(frozen=True)
class Launch:
    """The launch that started this program."""

    #: Ids increase with each launch of the store.
    id: int
    #: The number of launches in a row, including this one: 1 unless earlier ones did not complete.
    launches: int
    #: The flags Attention.FINISHED, CHALLENGE and ACTIVITY of its sessions.
    attention: Attention
    #: The sessions that need their host and are not completed.
    sessions: tuple[SessionInfo, ...]


@dataclass(frozen=True)
class EngineInfo:
    """The process that runs the transfers of a store."""

    process_id: int
    #: The version of its library, such as "1.0.0".
    version: str
    #: Hosting.DAEMON or Hosting.EMBEDDED.
    hosting: Hosting
    #: The start in Unix milliseconds.
    started_ms: int
    #: The store's path, as this program opened it.
    store: str
    #: Whether it is a daemon in the control group of this process: a service manager that stops this program's service
    #: then ends the daemon, too.
    shares_control_group: bool
    #: The number of open handles on the store, including this one.
    connections: int

    @property
    def started(self) -> datetime:
        return moment(self.started_ms)
