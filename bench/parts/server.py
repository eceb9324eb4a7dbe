"""The servers of the bench: nginx on loopback, and the same nginx behind a proxy that simulates delay and loss."""

import os
import time

from servers import child, listening

_NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    keepalive_requests 1000000;
    sendfile on;
    server {{
        # Several addresses, because a session has at most 256 connections to one origin.
        listen 127.0.0.1:{plain};
        listen 127.0.0.2:{plain};
        listen 127.0.0.3:{plain};
        listen 127.0.0.4:{plain};
        listen 127.0.0.1:{tls} ssl http2;
        server_name localhost;
        ssl_certificate {certificates.chain};
        ssl_certificate_key {certificates.key};
        root {files};
        location / {{ }}
        location /put/ {{ dav_methods PUT; create_full_put_path on; }}
        # Transfers that last as long as the measurement.
        location /slow/ {{ limit_rate 4k; }}
    }}
}}
"""


def cpu_seconds(process):
    """Returns the user time and the system time of a process, in seconds. /proc/PID/stat has these times in steps of
    10 ms (proc_pid_stat(5), fields 14 and 15). So only the ratio of the two times comes from this file. Their sum comes
    from the process's clock."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    # The number of the clock is what clock_getcpuclockid(3) returns.
    both = time.clock_gettime(~process << 3 | 2)
    share = user / max(user + system, 1)
    return both * share, both * (1 - share)


class Server:
    """A running nginx that serves `files`, and stores uploads in `files`/put."""

    def __init__(self, folder, files, certificates):
        self.folder, self.files, self.certificates = folder, files, certificates
        self._process = None

    def __enter__(self):
        self.folder.mkdir(parents=True)
        self._process, (self.port, self.tls_port) = listening.start(
            self._command, 2, log=self.folder / "error.log")
        return self

    def __exit__(self, *_):
        child.end(self._process)

    def _command(self, plain, tls):
        configuration = self.folder / "nginx.conf"
        configuration.write_text(("user root;\n" if os.geteuid() == 0 else "") + _NGINX.format(
            folder=self.folder, files=self.files, certificates=self.certificates, plain=plain, tls=tls))
        return [listening.find("nginx", "nginx-light"), "-p", self.folder, "-e", self.folder / "error.log",
                "-c", configuration]

    def url(self, tls):
        return f"https://127.0.0.1:{self.tls_port}" if tls else f"http://127.0.0.1:{self.port}"

    def cpu_seconds(self):
        return sum(cpu_seconds(self._process.pid))


class DelayedServer:
    """The same server behind bench/delay_proxy.c. The processor time includes the time of the proxy."""

    def __init__(self, program, server, milliseconds, loss):
        self.server, self.certificates, self.files = server, server.certificates, server.files
        self._words = [program, milliseconds, loss]
        self._process = None

    def __enter__(self):
        self._process, (self.port, self.tls_port) = listening.start(
            lambda plain, tls: [*self._words, f"{plain}:{self.server.port}", f"{tls}:{self.server.tls_port}"], 2)
        return self

    def __exit__(self, *_):
        child.end(self._process)

    url = Server.url

    def cpu_seconds(self):
        return self.server.cpu_seconds() + sum(cpu_seconds(self._process.pid))
