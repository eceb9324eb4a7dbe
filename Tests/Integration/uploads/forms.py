"""A server that reads forms with the parser of Python's email package, and keeps every body that it receives."""

import email
import email.policy
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Part:
    name: str
    file_name: str | None
    media_type: str | None
    content: bytes


@dataclass
class Sent:
    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def parts(self):
        """Returns the parts of a form."""
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + self.body, policy=email.policy.HTTP)
        assert message.is_multipart() and not message.defects
        return [Part(part.get_param("name", header="content-disposition"), part.get_filename(),
                     part.get_content_type() if "content-type" in part else None, part.get_payload(decode=True))
                for part in message.iter_parts()]


@dataclass
class FormReceiver:
    """``with FormReceiver() as forms: … forms.url("/a") … forms.sent``"""

    sent: list = field(default_factory=list)
    #: The statuses of the first responses, in order. All later responses have 200.
    statuses: list = field(default_factory=list)
    response_body: bytes = b'{"id": 7}'
    #: Numbers of bytes, in order. For each number, the server cuts off one response after so many bytes of its body.
    drops: list = field(default_factory=list)
    #: The server reads no body until this event is set.
    reads: threading.Event = field(default_factory=threading.Event)

    def __enter__(self):
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def take(self):
                owner.reads.wait()
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:
                    return
                owner.sent.append(Sent(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(owner.statuses.pop(0) if owner.statuses else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(owner.response_body)))
                self.end_headers()
                if owner.drops:
                    self.close_connection = True
                    self.wfile.write(owner.response_body[:owner.drops.pop(0)])
                else:
                    self.wfile.write(owner.response_body)

            do_POST = do_PUT = do_PATCH = take

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                """Ignores the error, because a client that is killed breaks its connections."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.reads.set()
        return self

    def url(self, path):
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def __exit__(self, *_):
        self.reads.set()
        self._server.shutdown()
        self._server.server_close()
