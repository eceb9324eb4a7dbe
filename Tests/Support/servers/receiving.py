"""A server that keeps the bodies of all uploads."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ReceivingServer:
    """``with ReceivingServer() as sink: sink.url``. ``sink.received`` maps the name of each resource to its body."""

    def __enter__(self):
        received = self.received = {}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if len(body) == int(self.headers["Content-Length"]):
                    received[self.path[1:]] = body
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # A client that was killed is no error.
        self._server.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
