"""What the kernel knows about a TCP connection on this machine: how many of the sent bytes the other end has read."""

import fcntl
import os
import socket
import struct
import termios
import time
from contextlib import suppress
from pathlib import Path

#: Offset of tcpi_bytes_acked in struct tcp_info (linux/tcp.h).
_BYTES_ACKED = 120


def bytes_read(connection):
    """Returns the number of sent bytes that the process at the other end has read. The number is exact only while that
    process is stopped.

    An acknowledged byte is in the other end's receive queue (proc_net_tcp(5)) until the process reads it.
    """
    return _acknowledged(connection) - _unread(connection.getpeername(), connection.getsockname())


def wait_until_read(connection, count, timeout=30):
    """Waits until the process at the other end has read `count` bytes."""
    _wait(lambda: bytes_read(connection) >= count, timeout)


def wait_until_all_read(connection, timeout=30):
    """Waits until the process at the other end has read all sent bytes."""
    local, remote = connection.getpeername(), connection.getsockname()

    def is_read():
        # Unacknowledged bytes (tcp(7), SIOCOUTQ) are checked first. If all bytes are acknowledged, unread bytes can
        # only be in the other end's queue.
        waiting = struct.unpack("=i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
        return waiting == 0 and _unread(local, remote) == 0

    _wait(is_read, timeout)


def settled(connection, timeout=30):
    """Returns the number of bytes that a stopped process has read. First waits until this number does not change any
    more."""
    before = []

    def is_settled():
        before.append(bytes_read(connection))
        return before[-20:].count(before[-1]) == 20

    _wait(is_settled, timeout)
    return before[-1]


def _wait(condition, timeout):
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout} s")
        time.sleep(0.001)


def _acknowledged(connection):
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_ACKED + 8)
    return struct.unpack_from("=Q", info, _BYTES_ACKED)[0]


def _unread(local, remote):
    ends = [_hexadecimal(local), _hexadecimal(remote)]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1:3] == ends:
            return int(words[4].partition(":")[2], 16)
    return 0


def _hexadecimal(address):
    name, port = address
    return f"{struct.unpack('=I', socket.inet_aton(name))[0]:08X}:{port:04X}"


#: States of TCP in proc_net_tcp(5).
ESTABLISHED, SYN_SENT, CLOSE_WAIT = "01", "02", "08"


def count(process, state):
    """Returns the number of a process's connections in this state; 0 if the process has ended."""
    ours, found = set(), 0
    with suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                ours.add(os.readlink(descriptor))
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                found += words[3] == state and f"socket:[{words[9]}]" in ours
    return found
