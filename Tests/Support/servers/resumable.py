"""A server of resumable uploads: draft-ietf-httpbis-resumable-upload (interop version 8) and tus 1.0, as far as the
tests need them. It can drop connections, forget uploads, and lie."""

import contextlib
import re
import secrets
import socket
import threading
from urllib.parse import urlsplit

from .handling import Handler, HandlingServer

INTEROP_VERSION = "8"


class Upload:
    """The state of one upload. `ended`: whether the client has sent its last byte."""

    def __init__(self, size):
        self.size, self.body, self.ended = size, bytearray(), False


class _Handler(Handler):
    def note(self):
        self.owner.requests.append((self.command, self.path, dict(self.headers.items())))

    def interim(self, fields):
        self.wfile.write(b"HTTP/1.1 104 Upload Resumption Supported\r\n" + b"".join(
            f"{name}: {value}\r\n".encode() for name, value in fields.items()) + b"\r\n")

    def receive(self, body):
        """Reads the body of the request. Returns False if the connection must be closed instead."""
        server = self.owner
        with server.changed:
            server.receiving += 1
        try:
            return self._receive(body)
        finally:
            with server.changed:
                server.receiving -= 1
                server.changed.notify_all()

    def _receive(self, body):
        rest = int(self.headers.get("Content-Length", "0"))
        plan = self.owner.drop_after
        limit = plan.pop(0) if plan and rest else None
        while rest and limit != 0:
            chunk = self.rfile.read1(min(rest, self.owner.progress_every or 65_536, limit or 65_536))
            if not chunk:
                break
            body += chunk
            self.owner.received += len(chunk)
            self.owner.pause_at(len(body))
            if self.owner.progress_every:
                self.interim({"Upload-Draft-Interop-Version": INTEROP_VERSION, "Upload-Offset": len(body)})
            rest -= len(chunk)
            limit = None if limit is None else limit - len(chunk)
        if rest:
            self.close_connection = True
        return rest == 0

    def finish(self):
        """Closes the connection after the client has closed it. If the server closed first, with unread bytes, the
        client might not read the last response, for example the interim response with the upload's URL."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(65_536):
                pass
        super().finish()

    def finish_upload(self, body, status=200):
        with self.owner.changed:
            self.owner.whole.append(bytes(body))
            self.owner.changed.notify_all()
        self.reply(status, {"Upload-Complete": "?1"} if self.owner.knows_draft else {}, b"stored")

    def do_PUT(self):
        self.note()
        server = self.owner
        upload = Upload(int(self.headers["Content-Length"]))
        if server.knows_draft and self.headers.get("Upload-Draft-Interop-Version") == INTEROP_VERSION:
            path = f"/uploads/{secrets.token_hex(8)}"
            server.uploads[path] = upload
            limits = {"Upload-Limit": server.limits} if server.limits else {}
            self.interim({"Upload-Draft-Interop-Version": INTEROP_VERSION, "Location": path, **limits})
            if self.exceeds_limit():
                # The client is to end the request, because it has more bytes than the server takes at a time.
                return self.receive(bytearray())
        if self.receive(upload.body):
            upload.ended = True
            self.finish_upload(upload.body)

    def do_POST(self):
        if self.owner.redirects_to:
            return self.reply(308, {"Location": self.owner.redirects_to + self.path})
        if urlsplit(self.path).path != "/tus":
            return self.do_PUT()
        self.note()
        if self.headers.get("Tus-Resumable") != "1.0.0":
            return self.reply(412, {"Tus-Version": "1.0.0"})
        path = f"/tus/{secrets.token_hex(8)}"
        self.owner.uploads[path] = Upload(int(self.headers["Upload-Length"]))
        return self.reply(201, {"Location": path, "Tus-Resumable": "1.0.0"})

    def exceeds_limit(self):
        limit = re.search(r"max-append-size=(\d+)", self.owner.limits or "")
        return limit and int(self.headers["Content-Length"]) > int(limit[1])

    def do_HEAD(self):
        self.note()
        if self.owner.token and self.headers["Authorization"] != f"Bearer {self.owner.token}":
            return self.reply(401)
        upload = self.owner.uploads.get(self.path)
        if upload is None:
            return self.reply(404)
        return self.reply(204, {
            "Upload-Offset": len(upload.body), "Upload-Length": upload.size, "Cache-Control": "no-store",
            **({} if self.path.startswith("/tus") else {"Upload-Complete": "?1" if upload.ended else "?0"})})

    def do_DELETE(self):
        self.note()
        if self.owner.refuses_removal:
            return self.reply(503)
        found = self.owner.uploads.pop(self.path, None)
        return self.reply(404 if found is None else 204)

    def do_PATCH(self):
        self.note()
        upload = self.owner.uploads.get(self.path)
        is_tus = self.path.startswith("/tus")
        expected = "application/offset+octet-stream" if is_tus else "application/partial-upload"
        if self.owner.refused:
            self.receive(bytearray())
            # The body of a stalled response never comes.
            return self.reply(self.owner.refused, {"Content-Length": 10} if self.owner.stalls_refusal else {})
        if upload is None or self.headers.get("Content-Type") != expected:
            self.close_connection = True
            return self.reply(404 if upload is None else 415)
        if int(self.headers["Upload-Offset"]) != len(upload.body) or upload.ended:
            self.close_connection = True
            return self.reply(409, {"Upload-Offset": len(upload.body)})
        if self.exceeds_limit():
            self.close_connection = True
            return self.reply(413)
        if not self.receive(upload.body):
            return None
        if is_tus:
            if len(upload.body) == upload.size:
                with self.owner.changed:
                    self.owner.whole.append(bytes(upload.body))
                    self.owner.changed.notify_all()
            return self.reply(204, {"Upload-Offset": len(upload.body), "Tus-Resumable": "1.0.0"})
        if self.headers.get("Upload-Complete") == "?1":
            upload.ended = True
            return self.finish_upload(upload.body)
        return self.reply(204, {"Upload-Complete": "?0", "Upload-Offset": len(upload.body)})


class ResumableServer(HandlingServer):
    """`PUT /files/NAME` and `POST /files` are uploads by the draft, `POST /tus` makes an upload of tus.

    - `drop_after`: a list with one number for each request with a body: after this number of bytes, the server ends the
      connection. None: the request is read whole. If the list is empty, all further requests are read whole.
    - `limits`: the value of Upload-Limit.
    - `knows_draft`: False: the server ignores the fields of the draft.
    - `progress_every`: after each such number of bytes, an interim response has the offset; None: no such responses.
    - `refused`: the status of each response to PATCH; None: the requests are served. `stalls_refusal`: True: the body
      of this response never comes.
    - `pauses`: offsets, in order. When the server has received so much of an upload, it stops reading until
      `finish_paused`.
    - `received`: how many bytes of bodies the server has received.
    - `redirects_to`: a URL: POST gets the status 308 and the same path there.
    - `refuses_removal`: True: DELETE gets the status 503.
    - `token`: the token that HEAD must have; None: any.
    """

    handler = _Handler

    def __init__(self):
        self.drop_after, self.limits, self.knows_draft, self.refuses_removal = [], None, True, False
        self.progress_every = self.refused = self.redirects_to = self.token = None
        self.pauses, self.is_paused, self.is_finishing, self.received = [], False, False, 0
        self.uploads, self.requests, self.whole, self.stalls_refusal = {}, [], [], False
        self.changed, self.receiving = threading.Condition(), 0

    def forget(self):
        """Forgets all uploads, as a server does that was started again with an empty disk."""
        self.uploads.clear()

    def pause_at(self, offset):
        if self.pauses and offset >= self.pauses[0] and not self.is_finishing:
            with self.changed:
                del self.pauses[0]
                self.is_paused = True
                self.changed.notify_all()
                self.changed.wait_for(lambda: not self.is_paused)

    def wait_for_pause(self):
        """Returns False if an upload has arrived whole instead: the buffers of a connection may hold megabytes."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.is_paused or self.whole, 180)
            return self.is_paused

    def finish_paused(self):
        """Reads what the paused connection has left, and returns when it has ended. Its client must have ended."""
        with self.changed:
            self.is_paused, self.is_finishing = False, True
            self.changed.notify_all()
            assert self.changed.wait_for(lambda: self.receiving == 0, 60)
            self.is_finishing = False

    def methods(self):
        return [method for method, *_ in self.requests]
