"""An HTTP/2 server that refuses streams before it processes them (RFC 9113, section 8.7).

The server writes frames as bytes. It uses only the parts of HPACK (RFC 7541) that a response needs: fields without
compression.
"""

import ssl
import struct

from servers.accepting import AcceptingServer

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
REFUSED_STREAM = 7


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class RefusingServer(AcceptingServer):
    """``with RefusingServer(certificates, refusals=2) as server``: the server refuses the first `refusals` streams, and
    then responds to each request."""

    def __init__(self, certificates, refusals, *, goes_away=False, body=b"here\n"):
        self.refusals, self._goes_away, self._body = refusals, goes_away, body
        self.refused = self.accepted_streams = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates.chain, certificates.key)
        context.set_alpn_protocols(["h2"])
        super().__init__(context)

    def _serve(self, connection):
        connection.settimeout(30)
        stream = connection.makefile("rb")
        assert stream.read(len(PREFACE)) == PREFACE
        connection.sendall(frame(SETTINGS, 0, 0))
        while head := stream.read(9):
            size, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
            number = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
            stream.read(size)
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            if kind == HEADERS:
                self._respond(connection, number)

    def _respond(self, secured, number):
        if self.refused < self.refusals:
            self.refused += 1
            if self._goes_away:
                # GOAWAY names the last stream that the server has processed: the stream before this one.
                secured.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", max(0, number - 2), 0)))
            else:
                secured.sendall(frame(RST_STREAM, 0, number, struct.pack(">I", REFUSED_STREAM)))
            return
        self.accepted_streams += 1
        length = str(len(self._body)).encode()
        # In the static table, entry 8 is ":status: 200", and entry 28 is "content-length". The length is plain text.
        fields = b"\x88\x0f\x0d" + bytes([len(length)]) + length
        secured.sendall(frame(HEADERS, END_HEADERS, number, fields) + frame(DATA, END_STREAM, number, self._body))
