"""Programs of version 0.4 with a current engine, and current programs with an engine of 0.4. An engine runs the
transfers, in a daemon or in a host. A host is a process that embeds the library. A current host makes a daemon of 0.4
exit, and a current daemon takes over the store. If the store has an embedded engine (an engine in a host) of 0.4, a
current host gets a clear error.

The frames, which are the messages on the socket, were recorded from programs of 0.4. docs/wire.md describes their form.
A hello is the client's first message. A welcome is the engine's reply to the hello. A goodbye is the engine's last
message.
"""

import os
import socket
import struct

import pytest

from backhaul import BackhaulError, Status, TaskState
from fake_engine import FakeEngine, read_frame
from servers.content import Content

#: The two protocol versions of 0.4. Protocol 4 has no checksums of unfinished downloads. Protocol 5 has them, and is
#: also the current protocol.
PROTOCOLS = (4, 5)
#: The bytes that engines of 0.4 send in reply to the hello of a program of version 1.0. The bytes are a welcome. With
#: protocol version 4, a goodbye follows.
WELCOME = {
    4: "10000000416268756c040000040000{hosting}e1170000"
       "b600000044011f000500000000000000a500000054686520636c69656e742069732076657273696f6e20312e302e302077697468207072"
       "6f746f636f6c20352c20616e6420746869732070726f6772616d206861732076657273696f6e20302e342e3020776974682070726f746f"
       "636f6c20343b20757365207468652073616d652076657273696f6e206f66204261636b6861756c20696e20616c6c2070726f6772616d73"
       "207468617420736861726520612073746f72652e00",
    5: "10000000416268756c050000040000{hosting}525e0000",
}
EMBEDDED, DAEMON = "00", "01"
#: The first bytes of the frame that makes daemons of 0.4 exit. The versions of the client follow in the same frame.
REQUEST_EXIT = bytes.fromhex("0b000000036268756c")
#: The hello of a client of 0.4: the bytes before its process id, and the bytes after it.
HELLO = {
    4: ("2d000000016268756c04000004000092fc1686373292f369a108114e86d363080000006261636b6861756c", "0100"),
    5: ("31000000016268756c0500000400009790af89576ab60f14355490197a3b9a080000006261636b6861756c", "010000000000"),
}
#: The first command of the client. This command opens the session `default`.
ATTACH = "270000000201000000000000000000000000000000020700000064656661756c7403010000000000000000"
WELCOME_TAG, REPLY_TAG, GOODBYE_TAG = 65, 66, 68


def welcome(protocol, hosting):
    return bytes.fromhex(WELCOME[protocol].format(hosting=hosting))


def hello(protocol):
    before, behind = HELLO[protocol]
    # The engine compares this process id with the process id of the connected process.
    return bytes.fromhex(before) + struct.pack("<i", os.getpid()) + bytes.fromhex(behind)


@pytest.fixture
def client(store):
    """Connects to the store's engine as a client of 0.4."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)

        def connect(protocol):
            connection.connect(str(store / "engine.socket"))
            connection.sendall(hello(protocol))
            return connection

        yield connect


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_daemon_of_0_4_exits_on_request_and_a_current_daemon_takes_over_its_store(
        host, store, daemon, misbehaving, downloads, protocol):
    with FakeEngine(store, welcome(protocol, DAEMON), exits_on_request=True) as earlier:
        one = host()
        one.session()
        one.download(misbehaving.serve("/a", Content(1_000)), downloads / "a", key="a")
        assert one.wait_for()[0].state is TaskState.SUCCEEDED
        assert any(frame.startswith(REQUEST_EXIT) for frame in earlier.openings)
    assert daemon() != os.getpid()


def test_an_embedded_engine_of_0_4_causes_a_clear_error_and_gets_no_request_to_exit(host, store):
    with FakeEngine(store, welcome(4, EMBEDDED), exits_on_request=False) as earlier:
        with pytest.raises(BackhaulError, match="version 0.4.0 with protocol 4") as raised:
            host(opened=False).open(timeout=8)
        assert raised.value.status is Status.ENGINE_INCOMPATIBLE
        assert not any(frame.startswith(REQUEST_EXIT) for frame in earlier.openings)


def test_a_program_of_0_4_with_the_current_protocol_is_served(host, client):
    host()
    connection = client(5)
    connection.sendall(bytes.fromhex(ATTACH))
    assert read_frame(connection)[4] == WELCOME_TAG
    reply = read_frame(connection)
    assert (reply[4], struct.unpack("<Q", reply[5:13])[0]) == (REPLY_TAG, 1)


def test_a_program_of_0_4_with_an_earlier_protocol_gets_the_reason_for_its_refusal(host, daemon, client):
    host()
    process = daemon()
    connection = client(4)
    assert read_frame(connection)[4] == WELCOME_TAG
    goodbye = read_frame(connection)
    assert goodbye[4] == GOODBYE_TAG and goodbye[6] == Status.ENGINE_INCOMPATIBLE
    assert b"version 0.4.0 with protocol 4" in goodbye
    assert daemon() == process
