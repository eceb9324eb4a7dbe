"""Steps that many tests with hosts share."""

from backhaul import Role


def finish_round(host, identifier="gallery", **configuration):
    """Makes a round that has finished: its only task is cancelled."""
    host.session(identifier, role=Role.PRODUCE, **configuration)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    host.cancel([task])


def finish_round_and_kill(hosts, command, identifier="gallery", **configuration):
    """Starts a host that registers the command and finishes a round, and kills it."""
    host = hosts.start(launch=command)
    finish_round(host, identifier, **configuration)
    host.kill()


def only_launch(observer):
    """Returns the store's only launch command."""
    info, = observer.launches()
    return info
