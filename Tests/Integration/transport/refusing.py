"""An HTTP/2 server that refuses streams. RST_STREAM with REFUSED_STREAM means that the request was not processed."""

import h2.config
import h2.connection
import h2.errors
import h2.events

from servers.accepting import AcceptingServer


class RefusingServer(AcceptingServer):
    """Refuses `refusals` streams, and then responds to each request with the request's method and body.

    Without a TLS context, the server uses HTTP/2 without TLS from the start (prior knowledge).
    """

    def __init__(self, context=None, refusals=0):
        if context:
            context.set_alpn_protocols(["h2"])
        super().__init__(context)
        self._refusals = refusals
        self.requests = []

    def _serve(self, connection):
        state = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        state.initiate_connection()
        connection.sendall(state.data_to_send())
        heads, bodies = {}, {}
        while (data := connection.recv(65_536)):
            for event in state.receive_data(data):
                self._take(state, event, heads, bodies)
            connection.sendall(state.data_to_send())

    def _take(self, state, event, heads, bodies):
        if isinstance(event, h2.events.RequestReceived):
            if self._refusals > 0:
                self._refusals -= 1
                state.reset_stream(event.stream_id, h2.errors.ErrorCodes.REFUSED_STREAM)
                return
            heads[event.stream_id], bodies[event.stream_id] = dict(event.headers), b""
        if isinstance(event, h2.events.DataReceived) and event.stream_id in bodies:
            bodies[event.stream_id] += event.data
            state.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        if isinstance(event, h2.events.StreamEnded) and event.stream_id in bodies:
            method, body = heads[event.stream_id][b":method"].decode(), bodies.pop(event.stream_id)
            self.requests.append((method, body))
            state.send_headers(event.stream_id, [(":status", "200")])
            state.send_data(event.stream_id, method.encode() + b" " + body, end_stream=True)
