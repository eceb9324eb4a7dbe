"""The demo of ``python -m backhaul demo``: a download from a local server survives the end of its program and of the
daemon."""

from __future__ import annotations

import functools
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from . import Application

_PIECE = 256 << 10
_LIMIT_SECONDS = 60


@functools.cache
def _content() -> bytes:
    return random.Random(1).getrandbits(8 * (16 << 20)).to_bytes(16 << 20, "little")


# The program that enqueues the download, and then only waits.
_PROGRAM = """
import sys, time
from backhaul import Application
store, url, file = sys.argv[1:]
with Application("org.example.demo", store) as application:
    with application.session("demo") as session:
        session.download(url, file, key="file")
        time.sleep(600)
"""


class _Server(ThreadingHTTPServer):
    """Serves one file. The first response stops after half of the file, until `resumes` is set."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[int] = []
        self.is_half_sent = threading.Event()
        self.resumes = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.server.requests.append(start)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(_content()) - 1}/{len(_content())}")
        self.send_header("Content-Length", str(len(_content()) - start))
        self.send_header("ETag", '"demo"')
        self.end_headers()
        for offset in range(start, len(_content()), _PIECE):
            if offset >= len(_content()) // 2:
                self.server.is_half_sent.set()
                self.server.resumes.wait()
            try:
                self.wfile.write(_content()[offset : offset + _PIECE])
            except OSError:  # the daemon was killed
                return

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def _received(folder: Path) -> int:
    """Returns the size of the incomplete file, which has a hidden name."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.name.startswith("."))


def _start_and_kill(store: Path, file: Path, server: _Server) -> None:
    url = f"http://127.0.0.1:{server.server_port}/file"
    host = subprocess.Popen([sys.executable, "-c", _PROGRAM, store, url, file])
    try:
        print(f"A program enqueues {url}, {len(_content()) >> 20} MiB, and the daemon downloads it.")
        deadline = time.monotonic() + _LIMIT_SECONDS
        while not (server.is_half_sent.is_set() and _received(file.parent) >= len(_content()) // 4):
            if host.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the download did not begin")
            time.sleep(0.05)
        with Application("org.example.demo", store) as application:
            daemon = application.engine().process_id
    finally:
        host.kill()
        host.wait()
    os.kill(daemon, signal.SIGKILL)
    print(f"In the middle, the program (process {host.pid}) and the daemon (process {daemon}) are killed:")
    print(f"    {_received(file.parent)} bytes are on the disk.")


def _resume(store: Path) -> bool:
    """Opens the session again, and waits for the end of the download. Returns whether the download succeeded."""
    with Application("org.example.demo", store) as application:
        with application.session("demo") as session:
            print("A new program opens the session again. A new daemon continues the download.")
            is_complete = False
            for event in session.events(timeout=_LIMIT_SECONDS):
                event.acknowledge()
                is_complete |= event.path is not None
                if event.is_session_finished:
                    break
            session.complete()
        os.kill(application.engine().process_id, signal.SIGTERM)
    return is_complete


def run() -> int:
    """Runs the demo, and returns the exit code of the program."""
    with tempfile.TemporaryDirectory(prefix="backhaul-demo-") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        file = folder / "files" / "file"
        server = _Server()
        _start_and_kill(folder / "store", file, server)
        server.resumes.set()
        is_complete = _resume(folder / "store")
        resumed = [start for start in server.requests if start]
        server.shutdown()
        is_equal = is_complete and hashlib.sha256(file.read_bytes()).digest() == hashlib.sha256(_content()).digest()
        if is_equal and resumed:
            print(f"    The server was asked for the rest, from byte {resumed[0]} on.")
            print("The file is complete, and has the digest of the original.")
            return 0
        print("The download failed." if not is_equal else "The download was not continued.", file=sys.stderr)
        return 1
