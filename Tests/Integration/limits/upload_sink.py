"""A server that reads all uploads as fast as they arrive."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class UploadSink:
    """``with UploadSink() as sink: sink.url``. ``sink.received`` is the number of bytes of all bodies."""

    def __enter__(self):
        sink = self
        self.received = 0

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_PUT(self):
                left = int(self.headers["Content-Length"])
                while left and (part := self.rfile.read1(min(left, 65_536))):
                    left -= len(part)
                    sink.received += len(part)
                self.send_response(201)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
