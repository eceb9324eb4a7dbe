import BackhaulPlatform
import CLinux
import Glibc

/// A server on loopback that calls the test's closure for each connection. The closure may send any bytes.
final class RawServer: Sendable {
    let port: UInt16
    private let listener: Int32
    fileprivate let state: Lock<State>

    fileprivate struct State {
        var isClosed = false
        var connections: [Int32] = []
        var threads: [Thread] = []
        var requests: [String] = []
        var arrivals = 0
    }

    /// One accepted connection. Its calls block.
    struct Connection: Sendable {
        let descriptor: Int32
        let port: UInt16
        fileprivate let state: Lock<State>

        /// Returns the head of the next request, or nil when the client has closed the connection.
        func readRequest() -> String? {
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while bytes.suffix(4) != [13, 10, 13, 10] {
                guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
                bytes.append(byte)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            state.change { $0.requests.append(text) }
            return text
        }

        @discardableResult
        func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Returns false when the client has closed the connection.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                if count <= 0 { return false }
                sent += count
            }
            return true
        }

        /// Counts one message of the server that has arrived at the client. `waitForArrivals` waits for this count.
        func noteArrival() { state.change { $0.arrivals += 1 } }

        /// Waits until the client closes the connection.
        func waitForEnd() {
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) > 0 {}
        }

        /// Prepares the connection: when it is closed later, the kernel sends an RST.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
    }

    init(_ serve: @escaping @Sendable (Connection) -> Void) throws {
        let socket = LoopbackListener()
        let (listener, port) = (socket.descriptor, socket.port)
        (self.listener, self.port) = (listener, port)
        let state = Lock(State())
        self.state = state
        let acceptor = try Thread(name: "raw server") {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { return }
                let isWelcome: Bool = state.withLock { box in
                    if box.isClosed { return false }
                    box.connections.append(descriptor)
                    let thread = try? Thread(name: "raw connection") {
                        serve(Connection(descriptor: descriptor, port: port, state: state))
                        // The lock prevents `close` from shutting down a later descriptor with this number.
                        state.withLock { box in
                            box.connections.removeAll { $0 == descriptor }
                            Glibc.close(descriptor)
                        }
                    }
                    if let thread { box.threads.append(thread) }
                    return true
                }
                if !isWelcome { Glibc.close(descriptor) }
            }
        }
        state.withLock { $0.threads.append(acceptor) }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// The heads of all requests that the server has received so far.
    var requests: [String] { state.withLock { $0.requests } }

    func waitForRequests(_ count: Int) {
        _ = state.wait(until: nil) { $0.requests.count >= count ? true : nil }
    }

    func waitForArrivals(_ count: Int) {
        _ = state.wait(until: nil) { $0.arrivals >= count ? true : nil }
    }

    func close() {
        let threads: [Thread] = state.withLock { box in
            box.isClosed = true
            for descriptor in box.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { box.threads = [] }
            return box.threads
        }
        shutdown(listener, Int32(SHUT_RDWR))
        for thread in threads { thread.join() }
        Glibc.close(listener)
    }
}
