"""A scripted HTTP/2 server over TLS. The table of HTTP behaviours has one row for each test case. The script of a row
says how the server responds. The library h2 does the framing."""

import select

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

from servers.accepting import AcceptingServer

from behaviours import origin_h1
from behaviours.row import ReceivedRequest

#: The flow-control window of a connection, in bytes. The window of a stream begins with the 65,535 bytes of RFC 9113,
#: section 6.9.2, and grows while the server reads.
_WINDOW = 1 << 24
#: HTTP/2 does not allow connection-specific fields (RFC 9113, section 8.2.2).
_CONNECTION_FIELDS = {"connection", "transfer-encoding", "keep-alive", "upgrade", "proxy-connection"}


class Origin(AcceptingServer):
    """``with Origin(scripts, certificates) as origin: origin.url``"""

    def __init__(self, scripts, certificates, address="127.0.0.1"):
        context = certificates.server_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        super().__init__(context, address)
        self._scripts = scripts

    def _serve(self, connection):
        if connection.selected_alpn_protocol() != "h2":
            origin_h1.serve(connection, self._scripts)
            return
        made = _Connection(connection, self._scripts)
        try:
            made.run()
        except h2.exceptions.ProtocolError:
            # Sends GOAWAY with the reason.
            made.flush()
        finally:
            made.ended()


class _Connection:
    """One connection. It reads events, and sends what fits into the flow-control windows."""

    def __init__(self, wrapped, scripts):
        self._wrapped, self._scripts = wrapped, scripts
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="utf-8", validate_outbound_headers=False))
        self._seen, self._waiting, self._early, self._dripping = {}, {}, {}, {}

    def run(self):
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_WINDOW)
        self.flush()
        while (data := self._receive()) != b"":
            for event in self._h2.receive_data(data) if data else ():
                self._handle(event)
            self._pump()
            self._drip()
            self.flush()

    def ended(self):
        for seen in self._seen.values():
            seen.is_arriving = False

    def _receive(self):
        """Returns the received bytes, or None when the next byte of a drip (a body that arrives slowly and never ends)
        is due."""
        pause = min(self._dripping.values(), default=None)
        if not self._wrapped.pending() and not select.select([self._wrapped], [], [], pause)[0]:
            return None
        return self._wrapped.recv(65_536)

    def flush(self):
        if (data := self._h2.data_to_send()):
            self._wrapped.sendall(data)

    def _handle(self, event):
        match event:
            case h2.events.RequestReceived():
                headers = {}
                for name, value in event.headers:
                    headers[name] = f"{headers[name]}, {value}" if name in headers else value
                seen = ReceivedRequest(headers.pop(":method"), headers.pop(":path"), headers)
                self._seen[event.stream_id] = seen
                early = self._scripts.early(seen)
                if early is not None:
                    self._early[event.stream_id] = early
                if headers.get("expect") and (early is None or early.after):
                    self._h2.send_headers(event.stream_id, [(":status", "100")])
                self._begin_early(event.stream_id)
            case h2.events.DataReceived():
                self._seen[event.stream_id].body += event.data
                self._begin_early(event.stream_id)
                early = self._early.get(event.stream_id)
                # The window of a stream is not enlarged if the server is going to reset the stream.
                if event.stream_id in self._seen and (early is None or early.then != "reset"):
                    self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            case h2.events.StreamEnded():
                seen = self._seen.pop(event.stream_id)
                if seen.is_arriving:
                    seen.is_arriving = False
                else:
                    self._begin(event.stream_id, seen, self._scripts.response(seen))
            case h2.events.StreamReset():
                self._waiting.pop(event.stream_id, None)
                self._dripping.pop(event.stream_id, None)
                if event.stream_id in self._seen:
                    self._seen.pop(event.stream_id).is_arriving = False

    def _begin_early(self, stream):
        early = self._early.get(stream)
        if early is None or len(self._seen[stream].body) < early.after:
            return
        del self._early[stream]
        seen = self._seen[stream]
        seen.is_arriving = early.then == "read"
        self._begin(stream, seen, self._scripts.response(seen))
        if early.then == "reset":
            self._pump()
            if early.is_apart:
                self.flush()
            self._h2.reset_stream(stream, h2.errors.ErrorCodes.NO_ERROR)
            del self._seen[stream]

    def _begin(self, stream, seen, response):
        if response.silent:
            return
        for status, fields in response.interim:
            self._h2.send_headers(stream, [(":status", str(status)), *fields.items()])
        headers = [(":status", str(response.status))]
        headers += [(name.lower(), value) for name, values in response.headers.items() for value in values
                    if name.lower() not in _CONNECTION_FIELDS]
        if (response.framing == "length" and response.status not in (204, 304)
                and "Content-Length" not in response.headers):
            headers.append(("content-length", str(len(response.body) if response.length is None else response.length)))
        ends = [end for end in (response.drop_after, response.stall_after) if end is not None]
        body = b"" if seen.method == "HEAD" else response.body[:min(ends)] if ends else response.body
        bodiless = not body and not ends and response.drip is None
        self._h2.send_headers(stream, headers, end_stream=bodiless)
        if not bodiless:
            self._waiting[stream] = (memoryview(body), response)

    def _pump(self):
        for stream, (body, response) in list(self._waiting.items()):
            while body and (room := self._room(stream)):
                self._h2.send_data(stream, bytes(body[:room]))
                body = body[room:]
            self._waiting[stream] = (body, response)
            if not body:
                del self._waiting[stream]
                self._end(stream, response)

    def _room(self, stream):
        return min(self._h2.local_flow_control_window(stream), self._h2.max_outbound_frame_size)

    def _drip(self):
        for stream, pause in self._dripping.items():
            if (room := self._room(stream)):
                self._h2.send_data(stream, b"." if pause else b"." * room)

    def _end(self, stream, response):
        if response.drip is not None:
            self._dripping[stream] = response.drip
            return
        if response.stall_after is not None:
            return
        if response.drop_after is not None or response.length is not None and response.length > len(response.body):
            self.flush()
            self._h2.reset_stream(stream, response.stream_error)
        else:
            self._h2.end_stream(stream)
