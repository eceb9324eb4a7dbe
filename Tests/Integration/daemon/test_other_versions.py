"""Engines and programs with made-up other versions of the library and of the protocol (docs/wire.md). `FakeEngine` is
an engine of such a version."""

import os
import socket
import struct

import pytest

from backhaul import BackhaulError, Status, TaskState
from fake_engine import FakeEngine, read_frame
from servers.content import Content

#: A library version older than any release.
OLDER = 0x00_09_00
OTHER_PROTOCOL = 0
HELLO_TAG, REQUEST_EXIT_TAG, WELCOME_TAG, GOODBYE_TAG = 1, 3, 65, 68


def frame(tag, *fields):
    payload = bytes([tag]) + b"bhul" + struct.pack("<HI", OTHER_PROTOCOL, OLDER) + b"".join(fields)
    return struct.pack("<I", len(payload)) + payload


def welcome(*, is_daemon):
    return frame(WELCOME_TAG, struct.pack("<?i", is_daemon, os.getpid()))


def is_request_exit(opening):
    return opening[4] == REQUEST_EXIT_TAG


def test_an_older_daemon_exits_on_request_and_a_current_daemon_takes_over_its_store(
        host, store, daemon, misbehaving, downloads):
    with FakeEngine(store, welcome(is_daemon=True), exits_on_request=True) as older:
        one = host()
        one.session()
        one.download(misbehaving.serve("/a", Content(1_000)), downloads / "a", key="a")
        assert one.wait_for()[0].state is TaskState.SUCCEEDED
        assert any(map(is_request_exit, older.openings))
    assert daemon() != os.getpid()


def test_an_embedded_engine_with_another_protocol_causes_a_clear_error_and_gets_no_request_to_exit(host, store):
    with FakeEngine(store, welcome(is_daemon=False), exits_on_request=False) as older:
        with pytest.raises(BackhaulError, match="version 0.9.0 with protocol 0") as raised:
            host(opened=False).open(timeout=60)
        assert raised.value.status is Status.ENGINE_INCOMPATIBLE
        assert not any(map(is_request_exit, older.openings))


def test_a_program_with_another_protocol_gets_the_reason_for_its_refusal(host, store, daemon):
    host()
    process = daemon()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(str(store / "engine.socket"))
        connection.sendall(frame(HELLO_TAG, b"fields that this version does not know"))
        assert read_frame(connection)[4] == WELCOME_TAG
        goodbye = read_frame(connection)
    assert goodbye[4] == GOODBYE_TAG and goodbye[6] == Status.ENGINE_INCOMPATIBLE
    assert b"version 0.9.0 with protocol 0" in goodbye
    assert daemon() == process
