"""A server whose responses last until the test ends them."""

import threading

from servers.accepting import AcceptingServer

_INTERVAL = 0.05


class DrippingServer(AcceptingServer):
    """``with DrippingServer() as server``: responds to GET with one byte every 50 ms until ``finish`` is called.

    For any other method, the server reads the body of the request, and responds after ``finish``.
    """

    def __init__(self, address="127.0.0.1", *, status=200):
        super().__init__(address=address)
        self._status = status
        self._is_finished = threading.Event()
        #: The methods of the requests, in the order of arrival.
        self.requests = []
        #: Bytes sent in all responses.
        self.dripped = 0

    def __exit__(self, *details):
        self.finish()
        super().__exit__(*details)

    def finish(self):
        self._is_finished.set()

    def _serve(self, connection):
        reader = connection.makefile("rb")
        while (line := reader.readline()):
            method, length = line.split()[0].decode(), 0
            while (field := reader.readline().strip().lower()):
                if field.startswith(b"content-length:"):
                    length = int(field.partition(b":")[2])
            reader.read(length)
            self.requests.append(method)
            self._respond(connection, method)

    def _respond(self, connection, method):
        if method == "GET":
            connection.sendall(b"HTTP/1.1 %d Because\r\nTransfer-Encoding: chunked\r\n\r\n" % self._status)
            while not self._is_finished.wait(_INTERVAL):
                connection.sendall(b"1\r\n.\r\n")
                self.dripped += 1
            connection.sendall(b"0\r\n\r\n")
        else:
            self._is_finished.wait()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
