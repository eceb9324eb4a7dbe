"""The base of servers that handle whole requests with http.server."""

import http.server
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Handles the requests of a connection. `owner` is the server."""

    protocol_version = "HTTP/1.1"
    owner = None

    def log_message(self, *_):
        pass

    def reply(self, status, fields=None, body=b""):
        self.send_response(status)
        for name, value in (fields or {}).items():
            self.send_header(name, str(value))
        if status != 204 and "Content-Length" not in (fields or {}):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class HandlingServer:
    """``with AServer() as server: server.url``. The attribute `handler` of a subclass is its `Handler`. Each connection
    has a thread."""

    handler = Handler

    def __enter__(self):
        handler = type("OwnedHandler", (self.handler,), {"owner": self})
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.http.daemon_threads = True
        # A client that was killed is no error.
        self.http.handle_error = lambda *_: None
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
