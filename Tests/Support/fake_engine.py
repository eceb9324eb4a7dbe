"""A fake engine of another library version. The engine owns the lock of a store (the directory with an engine's data),
and replies on the store's socket. A client is the library in another program, and a hello is a client's first
message."""

import fcntl
import os
import socket
import struct
import threading
from contextlib import suppress

#: A lock that belongs to the open file and not to the process (fcntl(2)). The engine's lock is of the same kind.
F_OFD_SETLK = 37
HELLO, REQUEST_EXIT = 1, 3


class FakeEngine:
    """Replies to each hello with the same bytes. If `exits_on_request` is true, releases the store on request, as a
    daemon does."""

    def __init__(self, store, reply, *, exits_on_request):
        self.reply = reply
        self.exits_on_request = exits_on_request
        #: The first frame of each connection of a client.
        self.openings = []
        store.mkdir(mode=0o700, exist_ok=True)
        self.lock = os.open(store / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(self.lock, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        self.path = store / "engine.socket"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.thread.join()

    def end(self):
        """Releases the store."""
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)

    def _serve(self):
        with suppress(OSError):
            while True:
                # Each connection gets its own thread, because a client with one open connection sends the request to
                # exit on a second connection.
                connection = self.listener.accept()[0]
                threading.Thread(target=self._speak, args=[connection], daemon=True).start()
        self.path.unlink(missing_ok=True)
        self.listener.close()
        os.close(self.lock)

    def _speak(self, connection):
        with connection:
            frame = read_frame(connection)
            self.openings.append(frame)
            if frame[4] == HELLO:
                connection.sendall(self.reply)
                # Waits until the client has read the reply and closes the connection.
                with suppress(OSError):
                    connection.recv(1)
            elif frame[4] == REQUEST_EXIT and self.exits_on_request:
                self.end()


def read_frame(connection):
    """Returns one frame, including the bytes of its length. If the connection ends, returns fewer bytes."""
    frame = b""
    while len(frame) < 4 or len(frame) < 4 + struct.unpack("<I", frame[:4])[0]:
        wanted = 4 if len(frame) < 4 else 4 + struct.unpack("<I", frame[:4])[0]
        part = connection.recv(wanted - len(frame))
        if not part:
            break
        frame += part
    return frame
