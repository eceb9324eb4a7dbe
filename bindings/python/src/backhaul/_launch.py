"""The values that describe applications, launch commands, launches, and the process that runs the engine. The engine
runs the tasks of a store, a directory with all durable data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ._constants import Attention, Hosting, LaunchState
from ._types import OptionalTime, StrPath, Time
from ._values import SessionInfo


@dataclass(frozen=True)
class LaunchCommand:
    """A program that the engine launches when a session needs its host, and no host is connected. A host is a program
    that uses this package. The engine starts the program without a shell. In each field that is a number, 0 means the
    default."""

    #: The absolute path of an executable file. For a script, the path of its interpreter, such as ``sys.executable``.
    program: StrPath
    #: The arguments after the program's name, such as the absolute path of the script.
    arguments: Sequence[StrPath] = ()
    #: Variables that are added to the environment of the launched program. docs/launch.md lists the other variables.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: The absolute path of the working directory. None: the user's home directory.
    working_directory: StrPath | None = None
    #: If a launched program has attached to no session after this time, the engine sends SIGTERM to it, and launches
    #: the program again.
    attach_timeout_ms: int = 0
    #: The delay after the first failed launch. It doubles after each further failed launch, up to ``longest_delay_ms``.
    first_delay_ms: int = 0
    #: The longest delay after a failed launch.
    longest_delay_ms: int = 0
    #: After this number of failed launches in a row, the engine stops launching the program. If a host then connects
    #: without a launch (for example, the user starts it), launches are possible again.
    maximum_launches: int = 0


@dataclass(frozen=True)
class LaunchInfo:
    """A registered launch command, and the state of its launches."""

    #: The identifier of the application.
    application: str
    #: The absolute path of the program.
    program: str
    #: The arguments after the program's name.
    arguments: tuple[str, ...]
    #: The variables that are added to the environment.
    environment: Mapping[str, str]
    #: The working directory. None: the user's home directory.
    working_directory: str | None
    #: The state of the launches.
    state: LaunchState
    #: The number of launches in a row in which no session was completed (``Session.complete``).
    launches: int
    #: The time of the next launch in Unix milliseconds. 0 if no launch is due.
    next_launch_ms: int
    #: The process id of the launched host. None if no launched host runs.
    process_id: int | None
    #: When the launched host was started, in Unix milliseconds. 0 if no launch is in progress.
    started_ms: int
    #: The reason why the last launch failed.
    error_message: str | None

    #: The time of the next launch. None if no launch is due.
    next_launch = OptionalTime()
    #: When the launched host was started. None if no launch is in progress.
    started = OptionalTime()


@dataclass(frozen=True)
class Launch:
    """The launch that started this program."""

    #: The id. It increases with each launch of the store.
    id: int
    #: How many launches in a row have completed no session (``Session.complete``). This launch is included, so the
    #: number is at least 1.
    launches: int
    #: The reasons why the sessions of the launch need their host: FINISHED, CHALLENGE and ACTIVITY of ``Attention``.
    attention: Attention
    #: The sessions that need their host, and for which ``Session.complete`` was not called yet.
    sessions: tuple[SessionInfo, ...]


@dataclass(frozen=True)
class ApplicationInfo:
    """An application of a store, with counts of all its sessions together."""

    #: The identifier.
    identifier: str
    #: The number of sessions.
    sessions: int
    #: The number of tasks that have not ended.
    live_tasks: int
    #: The number of tasks that run. They are a part of ``live_tasks``.
    running_tasks: int
    #: The number of events that are not acknowledged.
    events: int
    #: The number of connected hosts: processes with an open handle. A handle with ``observes=True`` does not count.
    hosts: int
    #: Whether a launch command is registered.
    has_launch_command: bool


@dataclass(frozen=True)
class EngineInfo:
    """The process that runs the engine of a store."""

    #: The process id.
    process_id: int
    #: The version of the library in that process, such as "1.0.0".
    version: str
    #: Hosting.DAEMON or Hosting.EMBEDDED.
    hosting: Hosting
    #: When the engine started, in Unix milliseconds.
    started_ms: int
    #: The path by which this program opened the store.
    store: str
    #: Whether the engine is a daemon in the control group of this process. If so, a service manager that stops the
    #: service of this program also ends the daemon.
    shares_control_group: bool
    #: The number of open application handles of the store in all processes, including the handle of this program.
    connections: int

    #: When the engine started.
    started = Time()
