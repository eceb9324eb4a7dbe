"""Steps that many tests use. A host is a process that embeds the library. A round begins when a task is added to a
session without unfinished tasks, and ends when all tasks of the session have ended."""

from backhaul import Role


def finish_round(host, identifier="gallery", **configuration):
    """Makes a finished round. The round has one task, which is cancelled."""
    host.session(identifier, role=Role.PRODUCE, **configuration)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    host.cancel([task])


def finish_round_and_kill(hosts, command, identifier="gallery", **configuration):
    """Starts a host that registers the launch command, finishes a round, and kills the host. If a session needs
    a host (here, because its round has ended), and no host is connected, the engine runs the launch command."""
    host = hosts.start(launch=command)
    finish_round(host, identifier, **configuration)
    host.kill()


def only_launch(observer):
    """Returns the store's only launch command."""
    info, = observer.launches()
    return info
