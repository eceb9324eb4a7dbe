"""A server with an API of three steps: POST /uploads makes an upload and names its URL, PUT stores it, and POST commits
it. A second server, of another origin, can take the PUT, as a storage service with signed URLs does."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ChainedServer:
    """``with ChainedServer() as server: server.url``. ``server.requests`` has the method, the path, the header fields
    and the body of each request."""

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

    def log(self):
        return [(method, path) for method, path, _, _ in self.requests]

    def __enter__(self):
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def respond(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                owner.requests.append((self.command, self.path, self.headers, body))
                if self.path in owner.held:
                    owner._released.wait()
                status, fields, answer = owner.responses.get(self.path, (404, {}, b"nothing"))
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_PUT = do_POST = respond

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        # A client that was killed is no error.
        self._server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.release()
        self._server.shutdown()
        self._server.server_close()
