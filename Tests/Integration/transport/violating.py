"""An HTTP/2 server whose frames the test makes by hand. So the responses can break any rule of RFC 9113."""

import struct

import hpack

from transport.scripted import ScriptedServer

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags, stream, payload=b""):
    """Returns a frame (RFC 9113, section 4.1)."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def fields(*pairs):
    """Returns a field block (RFC 7541) that has the given names and values, without Huffman coding."""
    return hpack.Encoder().encode([hpack.NeverIndexedHeaderTuple(*pair) for pair in pairs], huffman=False)


def headers(stream, *pairs, flags=END_HEADERS):
    return frame(HEADERS, flags, stream, fields(*pairs))


class ViolatingServer(ScriptedServer):
    """``with ViolatingServer(context, *responses) as server`` sends the responses in order.

    The server repeats the last response. After a response, the server keeps the connection open. A response is a
    function that returns the frames for a stream. If there is no context, the server uses HTTP/2 without TLS from the
    start. If a connection does not begin with HTTP/2, the server calls `refuse` with the connection, and then closes
    the connection.
    """

    def __init__(self, context, *responses, refuse=None):
        if context:
            context.set_alpn_protocols(["h2"])
        super().__init__(None, context)
        self._responses, self._refuse = list(responses), refuse

    def _converse(self, connection):
        reader = connection.makefile("rb")
        if reader.read(len(PREFACE)) != PREFACE:
            if self._refuse:
                self._refuse(connection)
            return
        connection.sendall(frame(SETTINGS, 0, 0))
        while head := reader.read(9):
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFF_FFFF
            payload = reader.read(int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            elif kind == HEADERS:
                self.requests.append(payload)
                respond = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
                self._send(connection, respond(stream))

    def _send(self, connection, response):
        connection.sendall(response)
