"""Clients that are slow, silent or send other bytes than a request do not disturb the daemon."""

import os
import socket
import threading

import pytest

from backhaul import Request, TaskState
from servers.content import Content

CONNECTIONS = 200


def connected(daemon):
    host, _, port = daemon.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=60)


def response(daemon, sent):
    """Sends bytes, and returns all bytes until the daemon closes the connection."""
    with connected(daemon) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        found = b""
        while part := client.recv(65_536):
            found += part
        return found


@pytest.mark.parametrize("sent", [
    b"\0" * 100 + b"\n\n", b"\xff\xfe\r\n\r\n", b"GET /metrics\r\n\r\n",
    b"GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n", b"GET /metrics HTTP/1.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"A" * 100_000, b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 10_000,
], ids=range(9))
def test_bytes_that_are_no_request_get_a_400(served_metrics, sent):
    assert response(served_metrics, sent).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert served_metrics.get().status == 200


def test_a_client_that_sends_its_request_byte_by_byte_gets_the_metrics(served_metrics):
    with connected(served_metrics) as client:
        for byte in b"GET /metrics HTTP/1.0\r\nAccept: */*\r\n\r\n":
            client.sendall(bytes([byte]))
        assert client.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_many_silent_connections_disturb_neither_scrapes_nor_transfers(served_metrics, host, misbehaving, downloads):
    clients = []
    try:
        for number in range(CONNECTIONS):
            clients.append(connected(served_metrics))
            clients[-1].sendall(b"GET /metrics HTTP/1.1\r\n"[:number % 20])
            if number % 20 == 0:
                assert served_metrics.get().status == 200
        host.enqueue([Request(misbehaving.serve(f"/{number}", Content(100_000)), downloads / str(number))
                      for number in range(20)])
        assert [event.state for event in host.wait_for()[:-1]] == [TaskState.SUCCEEDED] * 20
        assert served_metrics.get().status == 200
    finally:
        for client in clients:
            client.close()


def test_at_most_16_silent_connections_stay_open(served_metrics):
    def count_descriptors():
        assert served_metrics.get().status == 200
        return len(os.listdir(f"/proc/{served_metrics.process.pid}/fd"))

    before = count_descriptors()
    clients = []
    try:
        for _ in range(CONNECTIONS):
            clients.append(connected(served_metrics))
            clients[-1].sendall(b"GET")
        # Other threads of the daemon may open a few files.
        assert 0 < count_descriptors() - before <= 20
    finally:
        for client in clients:
            client.close()


def test_a_silent_connection_is_closed_after_its_time(served_metrics):
    with connected(served_metrics) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\n")
        assert client.recv(1) == b""


def test_scrapes_at_the_same_time_all_get_the_metrics(served_metrics):
    results = []

    def scrape():
        results.append(served_metrics.get().status)

    threads = [threading.Thread(target=scrape) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [200] * 10


def test_a_client_that_leaves_before_its_response_disturbs_nothing(served_metrics):
    for _ in range(50):
        with connected(served_metrics) as client:
            client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
    assert served_metrics.get().status == 200
