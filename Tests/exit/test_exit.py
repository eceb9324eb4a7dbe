"""A host may return from main whenever it likes: OpenSSL's clean-up at exit must not meet a running transfer."""

import shutil
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

PROJECT = Path(__file__).resolve().parents[2]
LIBRARIES = PROJECT / "build" / "lib"


class Endless(BaseHTTPRequestHandler):
    """Sends a little all the time, for ever: every moment is the middle of a transfer."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        block = bytes(1 << 14)
        try:
            while True:
                self.wfile.write(block)
                time.sleep(0.01)
        except OSError:
            self.close_connection = True

    def log_message(self, *arguments):
        pass


class EndlessServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """Clients that leave in the middle are what this is about."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    endless = EndlessServer(("127.0.0.1", 0), Endless)
    # The handshake belongs to the connection's own thread, not to the one that accepts.
    endless.socket = context.wrap_socket(endless.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=endless.serve_forever, daemon=True).start()
    yield f"https://localhost:{endless.server_address[1]}/", folder / "ca.pem"
    endless.shutdown()
    endless.server_close()


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "leaves"
    subprocess.run(["clang", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic",
                    "-I", PROJECT / "include", "-o", path, Path(__file__).with_name("leaves.c"),
                    "-L", LIBRARIES, "-lbackhaul", f"-Wl,-rpath,{LIBRARIES}"], check=True)
    return path


def test_hosts_that_return_from_main_in_the_middle_end_with_their_own_status(
        program, server, tmp_path_factory, request):
    url, certificate = server
    wrong = []
    for number in range(request.config.getoption("--hosts")):
        folder = tmp_path_factory.mktemp("host")
        expected = number % 100
        host = subprocess.run([program, folder / "store", folder, url, certificate, str(expected)],
                              capture_output=True, text=True, timeout=60, check=False)
        if host.returncode != expected or host.stderr:
            wrong.append(f"host {number}: status {host.returncode} instead of {expected} {host.stderr.strip()}")
        shutil.rmtree(folder)
    assert not wrong, "\n".join(wrong)
