"""Whatever a server sends, the engine, which runs the transfers, needs only the memory of its buffers. The servers of
these tests send decompression bombs, and responses without an end."""

import itertools
import os
import threading
import zlib

import pytest

from backhaul import Hosting, Request, Status, TaskState

from transport.conftest import QUICK
from transport.scripted import ScriptedServer, drain
from transport.usage import peak, watch_peak

MEGABYTE = 1_000_000
AT_ONCE = 16
#: The limit of the daemon's memory while it receives all responses at the same time. Without responses the daemon needs
#: about 20 MB. With all responses, 32 MB were measured.
LARGEST_RESIDENT = 100 * MEGABYTE


@pytest.fixture(scope="module")
def bombs():
    """Compressed bodies. Each body has a quarter of a megabyte, and 256 MB after decoding."""
    made = {}
    for coding, window in (("gzip", 31), ("deflate", 15)):
        coder = zlib.compressobj(9, zlib.DEFLATED, window)
        made[coding] = b"".join(coder.compress(bytes(MEGABYTE)) for _ in range(256)) + coder.flush()
    return made


@pytest.fixture
def download(shared_hosts, downloads):
    """Returns a function that downloads several files at the same time through a daemon. The server sends the same
    response for each file.

    The function returns the events, and the peak of the daemon's resident memory.
    """
    def run(respond, **options):
        together = threading.Barrier(AT_ONCE, timeout=20)

        def respond_together(connection, head):
            together.wait()
            respond(connection)
            drain(connection)

        one = shared_hosts.host(Hosting.DAEMON)
        engine = one.engine().process_id
        watch_peak(engine)
        with ScriptedServer(respond_together) as server:
            one.session(shared_hosts.new_session(), connections_per_origin=AT_ONCE, maximum_running_tasks=AT_ONCE,
                        maximum_size=MEGABYTE, maximum_attempts=1, **QUICK, **options)
            one.enqueue([Request(f"{server.url}/{i}", downloads / str(i)) for i in range(AT_ONCE)])
            events = [event for event in one.wait_for() if event.task_id]
            # libcurl has the same error code for a line without an end and for a transient lack of memory. So the
            # engine may send each request a second time.
            assert len(server.requests) in (AT_ONCE, 2 * AT_ONCE)
        one.close_session()
        return events, peak(engine)

    return run


def head(*fields):
    return "\r\n".join(["HTTP/1.1 200 OK", *fields, "", ""]).encode()


def chunked(data):
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data)


@pytest.mark.parametrize("coding, bomb, is_chunked", [
    ("gzip", "gzip", False), ("x-gzip", "gzip", False), ("deflate", "deflate", False), ("br", "gzip", False),
    ("zstd", "gzip", False), ("gzip, chunked", "gzip", True), ("deflate, chunked", "deflate", True),
    ("GZIP , Chunked", "gzip", True), ("gzip, gzip, chunked", "gzip", True), ("chunked, gzip", "gzip", True),
])
def test_a_transfer_coding_that_was_not_requested_is_refused(download, downloads, bombs, coding, bomb, is_chunked):
    body = chunked(bombs[bomb]) if is_chunked else bombs[bomb]
    events, resident = download(lambda connection: connection.sendall(head(f"Transfer-Encoding: {coding}") + body))
    assert {(event.status, event.attempts) for event in events} == {(Status.BAD_RESPONSE, 1)}
    assert os.listdir(downloads) == []
    assert resident < LARGEST_RESIDENT


def test_a_field_line_that_looks_like_a_status_line_hides_no_transfer_coding(download, downloads, bombs):
    events, resident = download(lambda connection: connection.sendall(
        head("Transfer-Encoding: gzip", "HTTP/1.1 200 OK: x") + bombs["gzip"]))
    assert {(event.status, event.attempts) for event in events} == {(Status.BAD_RESPONSE, 1)}
    assert os.listdir(downloads) == []
    assert resident < LARGEST_RESIDENT


@pytest.mark.parametrize("coding, bomb", [
    ("gzip", "gzip"), ("x-gzip", "gzip"), ("deflate", "deflate"), ("br", "gzip"), ("zstd", "gzip"),
    ("gzip, gzip", "gzip"),
])
@pytest.mark.parametrize("is_chunked", [False, True], ids=["length", "chunks"])
def test_a_body_with_a_content_coding_is_stored_without_decoding(download, downloads, bombs, coding, bomb, is_chunked):
    framing = "Transfer-Encoding: chunked" if is_chunked else f"Content-Length: {len(bombs[bomb])}"
    body = chunked(bombs[bomb]) if is_chunked else bombs[bomb]
    events, resident = download(
        lambda connection: connection.sendall(head(f"Content-Encoding: {coding}", framing) + body))
    assert {event.state for event in events} == {TaskState.SUCCEEDED}
    assert {(downloads / name).read_bytes() for name in os.listdir(downloads)} == {bombs[bomb]}
    assert resident < LARGEST_RESIDENT


def endless(start, *parts):
    """Returns a function that sends `start`, and then the parts repeatedly, up to 64 MB."""
    def respond(connection):
        connection.sendall(start)
        block = b"".join(parts) * (1 + 65_536 // len(b"".join(parts)))
        for _ in itertools.repeat(None, 64 * MEGABYTE // len(block)):
            connection.sendall(block)

    return respond


CHUNKS = head("Transfer-Encoding: chunked")
ENDLESS = {
    "header lines": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n"),
    "a header line": endless(b"HTTP/1.1 200 OK\r\nX-A: ", b"a"),
    "a folded header line": endless(b"HTTP/1.1 200 OK\r\nX-A: b\r\n", b" a\r\n"),
    "a status line": endless(b"HTTP/1.1 200 ", b"OK"),
    "interim responses": endless(b"", b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n"),
    "a chunk's extension": endless(CHUNKS + b"3;a=", b"a"),
    "a chunk's size": endless(CHUNKS, b"0"),
    "extensions of chunks": endless(CHUNKS, b"1;" + b"a" * 4_000 + b"\r\nb\r\n"),
    "trailer lines": endless(CHUNKS + b"3\r\nabc\r\n0\r\n", b"X-A: b\r\n"),
    "a trailer line": endless(CHUNKS + b"3\r\nabc\r\n0\r\nX-A: ", b"a"),
    "a body": endless(head(), b"a"),
    "chunks": endless(CHUNKS, b"20\r\n" + b"a" * 32 + b"\r\n"),
}


@pytest.mark.parametrize("respond", ENDLESS.values(), ids=ENDLESS)
def test_a_response_without_an_end_is_not_buffered_in_memory(download, downloads, respond):
    events, resident = download(respond, request_timeout_ms=10_000)
    assert {event.state for event in events} == {TaskState.FAILED}
    assert os.listdir(downloads) == []
    assert resident < LARGEST_RESIDENT
