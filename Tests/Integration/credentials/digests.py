"""A server that requires Digest authentication (RFC 7616), checks each credential, and counts the uses of each
nonce."""

import base64
import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HASHES = {"MD5": hashlib.md5, "SHA-256": hashlib.sha256}


def read(field):
    """Returns the parameters of an Authorization field, with the names as sent."""
    return {name: quoted or plain for name, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', field)}


class DigestServer:
    """``with DigestServer("user", "password") as server: server.url``. The body of a response depends on the path."""

    def __init__(self, user, password, *, algorithm="SHA-256", uses=1_000_000, offers_basic=False):
        self._user, self._password, self._algorithm = user, password, algorithm
        #: The number of requests that can use one nonce. With 0, each nonce is stale at once.
        self.uses = uses
        self.offers_basic, self.offers_digest = offers_basic, True
        self._nonces, self._lock = {}, threading.Lock()
        self._basic = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        #: For each request: the scheme, the status, the nonce count, the Authorization field and the body.
        self.log = []

    def __enter__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                outer._respond(self, b"")

            def do_PUT(self):
                outer._respond(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @staticmethod
    def body(path):
        return b"the file " + path.encode()

    @property
    def statuses(self):
        return [status for _, status, *_ in self.log]

    def _respond(self, handler, received):
        field = handler.headers["Authorization"] or ""
        scheme = field.partition(" ")[0]
        with self._lock:
            count, stale = 0, False
            good = scheme == "Basic" and self.offers_basic and field == self._basic
            if scheme == "Digest":
                given = read(field)
                count = int(given.get("nc", "0"), 16)
                good = self._is_right(handler.command, handler.path, given)
                if good:
                    uses = self._nonces.get(given["nonce"], self.uses)
                    stale = good and uses <= 0
                    self._nonces[given["nonce"]] = uses - 1
            good = good and not stale
        status = 200 if good else 401
        self.log.append((scheme, status, count, field, received))
        body = self.body(handler.path) if good else b"who are you?"
        handler.send_response(status)
        if not good:
            for value in self._challenges(stale):
                handler.send_header("WWW-Authenticate", value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def _challenges(self, stale):
        if self.offers_digest:
            with self._lock:
                nonce = f"nonce-{len(self._nonces)}"
                self._nonces[nonce] = self.uses
            yield (f'Digest realm="vault", qop="auth", algorithm={self._algorithm}, nonce="{nonce}"'
                   + (", stale=true" if stale else ""))
        if self.offers_basic:
            yield 'Basic realm="vault"'

    def _is_right(self, method, path, given):
        if given.get("nonce") not in self._nonces or given.get("username") != self._user:
            return False

        def digest(text):
            return _HASHES[given.get("algorithm", "MD5")](text.encode()).hexdigest()

        if given.get("algorithm", "MD5") != self._algorithm:
            return False
        secret = digest(f"{self._user}:vault:{self._password}")
        wanted = digest(f"{secret}:{given['nonce']}:{given['nc']}:{given['cnonce']}:auth:{digest(f'{method}:{path}')}")
        return given["response"] == wanted and given["uri"] == path
