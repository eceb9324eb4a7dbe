"""A threaded HTTP/1.1 server on loopback with ranges, entity tags, conditional requests, a speed limit and a log.

Python's http.server supports no ranges. nginx supports ranges, but it logs a request only at the end of the request.
The demo needs the state of running requests, in order to choose the time at which it kills the downloading program.
"""

import hashlib
import re
import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BLOCK = 16 << 10


@dataclass
class Request:
    path: str
    offset: int
    status: int
    size: int
    sent: int = 0
    open: bool = True


class SpeedLimit:
    """One limit for all connections. Before a sender sends, it waits for the time that all earlier bytes need at the
    limited speed."""

    def __init__(self, bytes_per_second):
        self.bytes_per_second = bytes_per_second
        self.lock = threading.Lock()
        self.next = time.monotonic()

    def wait(self, count):
        with self.lock:
            moment = max(self.next, time.monotonic())
            self.next = moment + count / self.bytes_per_second
        time.sleep(max(moment - time.monotonic(), 0))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # If the head and the body fit into this buffer, they are sent together.
    wbufsize = BLOCK

    def do_GET(self):
        path = self.server.files.get(self.path)
        if path is None:
            self.send_error(404)
            return
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            tag = '"' + hashlib.sha256(f"{path}:{path.stat().st_mtime_ns}:{size}".encode()).hexdigest()[:16] + '"'
            if self.headers.get("If-None-Match") == tag:
                self.not_modified(tag, size)
                return
            offset = self.offset(tag)
            if offset > size or (offset == size and size):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{size}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if offset else 200)
            if offset:
                self.send_header("Content-Range", f"bytes {offset}-{size - 1}/{size}")
            self.send_header("Content-Length", str(size - offset))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("ETag", tag)
            self.end_headers()
            file.seek(offset)
            request = Request(self.path, offset, 206 if offset else 200, size)
            with self.server.lock:
                self.server.log.append(request)
            try:
                while block := file.read(BLOCK):
                    self.server.wait(request, len(block))
                    self.wfile.write(block)
                    request.sent += len(block)
                self.wfile.flush()
            except OSError:
                self.close_connection = True
            finally:
                request.open = False

    def not_modified(self, tag, size):
        """Responds with 304: the client has this representation (RFC 9110, 13.1.2)."""
        with self.server.lock:
            self.server.log.append(Request(self.path, size, 304, size, open=False))
        self.send_response(304)
        self.send_header("ETag", tag)
        self.end_headers()

    def offset(self, tag):
        """Returns the offset at which the response begins. The offset is 0 if the range must be ignored (RFC 9110,
        13.1.5 and 14.2)."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match and self.headers.get("If-Range", tag) == tag else 0

    def setup(self):
        super().setup()
        # The buffer is small, so that the client has received nearly all bytes that are counted as sent.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 << 10)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    # close() does not wait for the server's threads, because the connection of a killed client must not delay close().
    # The threads end with the process.
    block_on_close = False
    request_queue_size = 128

    def __init__(self, files, bytes_per_second):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.total = sum(path.stat().st_size for path in files.values())
        self.bytes_per_second = bytes_per_second
        self.limit = SpeedLimit(bytes_per_second)
        self.lock = threading.Lock()
        self.log = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, request, count):
        """Waits until `count` more bytes of this response may be sent."""
        self.limit.wait(count)

    def handle_error(self, request, client_address):
        """Ignores the error, because a killed client is a normal case here."""

    def requests(self):
        with self.lock:
            return list(self.log)

    def bytes_sent(self):
        return sum(request.sent for request in self.requests())

    def is_in_the_middle(self):
        """Whether a third of all bytes was sent, and a large file was sent in part. For such a file, the daemon has
        recorded the number of stored bytes."""
        if self.bytes_sent() < self.total / 3:
            return False
        return any(request.open and 2 << 20 <= request.sent <= request.size - (1 << 20) for request in self.requests())

    def close(self):
        self.shutdown()
        self.server_close()
