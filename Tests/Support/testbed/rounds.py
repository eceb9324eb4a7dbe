"""Steps that many tests with hosts share."""

from backhaul import Role


def finish_round(host, identifier="gallery", **configuration):
    """Makes a round that has finished: its only task is cancelled."""
    host.session(identifier, role=Role.PRODUCE, **configuration)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    host.cancel([task])


def hand_over(hosts, command, identifier="gallery", **configuration):
    """Starts a host that registers the command and finishes a round, and kills it."""
    host = hosts.start(launch=command)
    finish_round(host, identifier, **configuration)
    host.kill()


def the_launch(looker):
    """Returns the store's only launch command."""
    info, = looker.launches()
    return info
