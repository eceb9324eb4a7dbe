"""A server that accepts each token for a limited number of bytes. A request has its token in a header or in the
URL."""

import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class ReceivedRequest:
    path: str
    token: str | None
    offset: int
    status: int
    headers: dict


class TokenServer:
    """``with TokenServer() as server: url = server.serve("/a", Content(5)); server.allow("one", size=1_000)``"""

    def __init__(self):
        self._contents, self._budgets, self._lock = {}, {}, threading.Lock()
        self.log = []
        #: The status and the header fields of responses to expired tokens.
        self.refusal = (401, {})

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                outer._respond(self)

            def do_PUT(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                outer._respond(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def serve(self, path, content, etag="of the content"):
        self._contents[path] = (content, content.etag if etag == "of the content" else etag)
        return self.url + path

    def allow(self, token, size=None):
        """Makes the token valid for `size` further bytes, or without a limit."""
        self._budgets[token] = float("inf") if size is None else size

    def forbid(self, token):
        self._budgets.pop(token, None)

    @property
    def refused(self):
        return [asked for asked in self.log if asked.status == self.refusal[0]]

    def _respond(self, handler):
        parts = urlsplit(handler.path)
        token = parse_qs(parts.query).get("token", [None])[0]
        if token is None:
            token = (handler.headers["Authorization"] or "").removeprefix("Bearer ") or None
        content, etag = self._contents[parts.path]
        offset = 0
        if handler.headers["Range"] and handler.headers["If-Range"] == etag:
            offset = int(handler.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        with self._lock:
            room = self._budgets.get(token, 0)
            if token in self._budgets:
                self._budgets[token] = room - (content.size - offset)
                if self._budgets[token] < 0:
                    del self._budgets[token]
        allowed = room > 0
        status = (206 if offset else 200) if allowed else self.refusal[0]
        self.log.append(ReceivedRequest(handler.path, token, offset, status, {
            name.lower(): value for name, value in handler.headers.items()}))
        body = content.data[offset:] if allowed else b"no\n"
        fields = {"Content-Length": len(body)}
        if allowed:
            fields["ETag"] = etag
            if offset:
                fields["Content-Range"] = f"bytes {offset}-{content.size - 1}/{content.size}"
        else:
            fields.update(self.refusal[1])
        handler.send_response(status)
        for name, value in fields.items():
            if value is not None:
                handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body[:int(min(room, len(body)))] if allowed else body)
        if allowed and room < len(body):
            # The client must receive the sent bytes before the connection ends.
            handler.wfile.flush()
            time.sleep(0.05)
            handler.close_connection = True
