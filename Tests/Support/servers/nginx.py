"""Runs nginx on two free ports of loopback: one for HTTP/1.1 without TLS, one for HTTP/1.1 and HTTP/2 with TLS."""

import json
import os
import time
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection

from servers import child, listening

#: `Nginx.log` requests paths with this prefix. No test requests such a path.
_MARKER = "/logged/"

_CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
    log_format tests escape=json
        '["$request_uri", $status, $body_bytes_sent, "$http_range", "$http_if_range", "$server_protocol"]';
    access_log {access_log};
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    types {{ image/jpeg jpg; application/octet-stream bin; }}
    keepalive_requests 1000000;
    sendfile on;
    split_clients "$request_id" $fault {{ 3% refused; 2% closed; * none; }}
    server {{
        listen 127.0.0.1:{plain};
        listen 127.0.0.1:{tls} ssl http2;
        server_name localhost;
        ssl_certificate {certificates.chain};
        ssl_certificate_key {certificates.key};
        location / {{ alias {files}/; }}
        # The same files, at most 200 KiB/s for each connection.
        location /slow/ {{ alias {files}/; limit_rate 200k; }}
        # The same files for "user" with "password".
        location /private/ {{
            alias {files}/;
            auth_basic "staff only";
            auth_basic_user_file {folder}/passwords;
        }}
        # The same files, with a fault in 5 % of the responses. 444 closes the connection without a response.
        location /faulty/ {{
            if ($fault = refused) {{ return 503; }}
            if ($fault = closed) {{ return 444; }}
            alias {files}/;
        }}
        location /empty {{ return 204; }}
    }}
}}
"""


@dataclass(frozen=True)
class LoggedRequest:
    path: str
    status: int
    body_size: int
    range: str
    if_range: str
    protocol: str


class Nginx:
    """A running nginx. ``with Nginx(folder, files, certificates) as nginx: …``"""

    def __init__(self, folder, files, certificates, *, logging=True):
        self.folder, self.files, self.certificates = folder, files, certificates
        self._access_log = f"{folder}/access.log tests" if logging else "off"
        self._process = None
        self._markers = 0

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._process, (self.port, self.tls_port) = listening.start(
            self._command, 2, log=self.folder / "error.log")
        return self

    def _command(self, plain, tls):
        configuration = self.folder / "nginx.conf"
        configuration.write_text(("user root;\n" if os.geteuid() == 0 else "") + _CONFIGURATION.format(
            folder=self.folder, files=self.files, certificates=self.certificates, plain=plain, tls=tls,
            access_log=self._access_log))
        (self.folder / "passwords").write_text("user:{PLAIN}password\n")
        return [listening.find("nginx", "nginx-light"), "-p", self.folder, "-e", self.folder / "error.log",
                "-c", configuration]

    def __exit__(self, *_):
        child.end(self._process)

    def cpu_seconds(self):
        """The processor time that the server has used, in seconds."""
        with open(f"/proc/{self._process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def url(self):
        """The URL for HTTP/1.1 without TLS."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def tls_url(self):
        """The URL for TLS, with HTTP/2 for clients that request it."""
        return f"https://127.0.0.1:{self.tls_port}"

    def log(self):
        """Returns the requests that got a response or whose client disconnected, in order.

        nginx writes the line of a request after the response. So this method sends a request, and waits for the line of
        this request. The lines of all earlier responses are above this line, because nginx has only one process.
        """
        self._markers += 1
        marker = f"{_MARKER}{self._markers}"
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request("GET", marker)
            connection.getresponse().read()
        deadline = time.monotonic() + 20
        while f'["{marker}"' not in (text := (self.folder / "access.log").read_text()):
            assert time.monotonic() < deadline, "nginx has written no line for 20 s"
            time.sleep(0.001)
        requests = [LoggedRequest(*json.loads(line)) for line in text.splitlines()]
        return [request for request in requests if not request.path.startswith(_MARKER)]
