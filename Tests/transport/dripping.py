"""A server whose responses last until the test ends them."""

import socket
import threading
from contextlib import suppress

_INTERVAL = 0.05


class DrippingServer:
    """``with DrippingServer() as server``: answers GET with a byte every 50 ms, and reads the body of any other request
    without an answer. After ``finish`` all responses end."""

    def __init__(self, address="127.0.0.1", *, status=200):
        self._address, self._status = address, status
        self._is_finished = threading.Event()
        self._open = set()
        #: Methods, in the order of arrival.
        self.requests = []
        #: Bytes sent in all responses.
        self.dripped = 0

    def __enter__(self):
        self._listener = socket.create_server((self._address, 0), backlog=64)
        self.url = f"http://{self._address}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.finish()
        for one in [self._listener, *self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def finish(self):
        self._is_finished.set()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with suppress(OSError), connection:
            reader = connection.makefile("rb")
            while (line := reader.readline()):
                method, length = line.split()[0].decode(), 0
                while (field := reader.readline().strip().lower()):
                    if field.startswith(b"content-length:"):
                        length = int(field.partition(b":")[2])
                reader.read(length)
                self.requests.append(method)
                self._answer(connection, method)
        self._open.discard(connection)

    def _answer(self, connection, method):
        if method == "GET":
            connection.sendall(b"HTTP/1.1 %d Because\r\nTransfer-Encoding: chunked\r\n\r\n" % self._status)
            while not self._is_finished.wait(_INTERVAL):
                connection.sendall(b"1\r\n.\r\n")
                self.dripped += 1
            connection.sendall(b"0\r\n\r\n")
        else:
            self._is_finished.wait()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
