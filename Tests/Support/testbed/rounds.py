"""What hosts of these tests do again and again."""

from backhaul import Role


def finish_round(host, identifier="gallery", **configuration):
    """A round that is over: its one task was cancelled."""
    host.session(identifier, role=Role.PRODUCE, **configuration)
    task = host.download("http://127.0.0.1:9/file", suspended=True)
    host.cancel([task])


def hand_over(hosts, command, identifier="gallery", **configuration):
    """A host registers the command, finishes a round and is gone."""
    host = hosts.start(launch=command)
    finish_round(host, identifier, **configuration)
    host.kill()


def the_launch(looker):
    """The one launch command of the store."""
    info, = looker.launches()
    return info
