"""Steps that many tests use. A round begins when a task is added to a session without unfinished tasks, and ends
when all tasks of the session have ended."""

from backhaul import Role


def finish_round(host, identifier="gallery", **configuration):
    """Makes a finished round. The round has one task, which is cancelled."""
    host.session(identifier, role=Role.PRODUCE, **configuration)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    host.cancel([task])


def finish_round_and_kill(hosts, command, identifier="gallery", **configuration):
    """Starts a host and registers the launch command. Then finishes a round of a session, and kills the host. Now the
    session needs a host, because its round has ended. So the engine, which runs the tasks, runs the launch command."""
    host = hosts.start(launch=command)
    finish_round(host, identifier, **configuration)
    host.kill()


def only_launch(observer):
    """Returns the store's only launch command."""
    info, = observer.launches()
    return info
