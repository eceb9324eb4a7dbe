"""A server with an API of three steps: POST /uploads makes an upload and names its URL, PUT stores it, and POST commits
it. A second server, of another origin, can take the PUT, as a storage service with signed URLs does."""

import json
import threading

from .handling import Handler, HandlingServer


class _Chained(Handler):
    def respond(self):
        owner = self.owner
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        owner.requests.append((self.command, self.path, self.headers, body))
        if self.path in owner.held:
            owner.wait_for_release()
        self.reply(*owner.responses.get(self.path, (404, {}, b"nothing")))

    do_GET = do_PUT = do_POST = respond


class ChainedServer(HandlingServer):
    """``with ChainedServer() as server: server.url``. ``server.requests`` has the method, the path, the header fields
    and the body of each request."""

    handler = _Chained

    def __init__(self):
        self.requests = []
        #: The status, the header fields and the body of the response to each path.
        self.responses = {}
        #: The paths whose requests get no response until ``release`` is called.
        self.held = set()
        self._released = threading.Event()

    def answer(self, path, status=200, fields=None, body=b""):
        """Sets the response to requests for the path. A body that is no bytes is sent as JSON."""
        self.responses[path] = (status, fields or {}, body if isinstance(body, bytes) else json.dumps(body).encode())
        return self.url + path

    def release(self):
        self.held.clear()
        self._released.set()

    def wait_for_release(self):
        self._released.wait()

    def log(self):
        return [(method, path) for method, path, _, _ in self.requests]

    def __exit__(self, *_):
        self.release()
        super().__exit__()
