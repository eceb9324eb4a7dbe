internal import BackhaulLoop
internal import BackhaulPlatform

/// Needed by: all versions of libcurl. Fixed in: none.
///
/// If a server has violated HTTP/2, nghttp2 sends GOAWAY and reads no more. libcurl notices this only in a further read
/// (lib/http2.c, should_close_session), and it reads only when input arrives. So once a second, the transport makes
/// libcurl read from the HTTP/2 connections whose transfers were silent. Without this read, the transfers would wait
/// for their request time-outs.
extension Transport {
    func readSilentConnections() {
        let silent = active.values.filter {
            $0.exchange.isOverHTTP2 && !$0.isWaiting && $0.lastActivityAt + Transport.watchMilliseconds <= loop.now
        }
        var sockets: Set<ObjectIdentifier> = []
        for transfer in silent {
            guard let stack = transfer.curl?.stack, let socket = transfer.curl?.socket, !socket.isClosed,
                sockets.insert(ObjectIdentifier(socket)).inserted
            else { continue }
            stack.multi.read(socket.number)
        }
    }
}
