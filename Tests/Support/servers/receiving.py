"""A server that keeps the bodies of all uploads."""

from .handling import Handler, HandlingServer


class _Receiver(Handler):
    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if len(body) == int(self.headers["Content-Length"]):
            self.owner.received[self.path[1:]] = body
        self.reply(201)


class ReceivingServer(HandlingServer):
    """``with ReceivingServer() as sink: sink.url``. ``sink.received`` maps the name of each resource to its body."""

    handler = _Receiver

    def __init__(self):
        self.received = {}
