"""nginx on loopback with the files to fetch, over HTTP/1.1 and over TLS with HTTP/2."""

import ctypes
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time

CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    sendfile on;
    tcp_nopush on;
    # Nobody shall pay for connections that the server closes after its default of 1,000 requests.
    keepalive_requests 10000000;
    root {root};
    server {{ listen 127.0.0.1:{plain}; }}
    server {{
        listen 127.0.0.1:{tls} ssl http2;
        ssl_certificate {folder}/certificate.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_protocols TLSv1.3;
    }}
}}
"""


LARGEST_BLOCK = 64 << 20


class Files:
    """`count` files of `size` bytes of noise below the server's root, the same in each run, and their digests."""

    def __init__(self, root, name, count, size):
        self.name, self.count, self.size = name, count, size
        self.folder = root / name
        self.digests = {}
        noise = random.Random(name)
        self.folder.mkdir(parents=True)
        for number in range(count):
            digest = hashlib.sha256()
            # A large file repeats its block: nothing here compresses or compares.
            block = noise.randbytes(min(size, LARGEST_BLOCK))
            with open(self.folder / self.file(number), "wb") as file:
                for start in range(0, size, LARGEST_BLOCK):
                    piece = block[:size - start]
                    file.write(piece)
                    digest.update(piece)
            self.digests[self.file(number)] = digest.digest()

    def file(self, number):
        return f"{number:05}.bin"

    def bytes(self):
        return self.count * self.size


def end_with_this_process():
    """The server must not outlive the bench, however that ends (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Server:
    def __init__(self, folder, root):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if program is None:
            raise SystemExit("nginx is missing; run scripts/setup bench.")
        folder.mkdir(parents=True)
        self.certificate = folder / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", folder / "key.pem", "-out", self.certificate], check=True, capture_output=True)
        plain, tls = free_ports(2)
        self.urls = {"HTTP/1.1": f"http://127.0.0.1:{plain}", "HTTP/2": f"https://localhost:{tls}"}
        configuration = folder / "nginx.conf"
        user = "user root;\n" if os.getuid() == 0 else ""
        configuration.write_text(user + CONFIGURATION.format(folder=folder, root=root, plain=plain, tls=tls))
        self.process = subprocess.Popen([program, "-p", folder, "-c", configuration, "-e", folder / "error.log"],
                                        preexec_fn=end_with_this_process)
        for port in (plain, tls):
            await_listener(port, self.process)

    def cpu_seconds(self):
        """Of the master and its workers so far."""
        ticks = 0
        for process in [self.process.pid, *self.workers()]:
            with open(f"/proc/{process}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def workers(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            return [int(number) for number in file.read().split()]

    def close(self):
        self.process.terminate()
        self.process.wait()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in sockets]
    for listener in sockets:
        listener.close()
    return ports


def await_listener(port, process):
    limit = time.monotonic() + 10
    while time.monotonic() < limit and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit("nginx did not start; see build/bench/server/error.log.")
