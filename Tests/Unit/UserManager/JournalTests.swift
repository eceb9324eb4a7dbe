import Glibc
import Testing

@testable import BackhaulUserManager

/// The *journal* is the log of systemd. A program writes to it with datagrams to a socket.
@Suite struct JournalTests {
    @Test("a message reaches the journal with all fields that have valid names")
    func message() {
        let scratch = Scratch()
        let listener = SilentSocket(path: scratch.path + "/socket", type: SOCK_DGRAM)
        let journal = Journal(socketPath: scratch.path + "/socket")
        #expect(journal.isAvailable)
        let fields = ["BACKHAUL_STORE": "/a=b", "_PID": "1", "lower": "x", "A B": "x", "1A": "x", "": "x"]
        #expect(journal.send("Hello", priority: .warning, fields: fields))
        #expect(
            listener.receive()
                == "MESSAGE=Hello\nPRIORITY=4\nSYSLOG_IDENTIFIER=backhauld\nBACKHAUL_STORE=/a=b\n")
    }

    @Test("a text of several lines is sent to the journal with its length")
    func lines() {
        let bytes = Journal.datagram("a\nb", priority: .error, identifier: "i", fields: [:])
        #expect(Array(bytes.prefix(20)) == Array("MESSAGE\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\n".utf8))
    }

    @Test("a long text is truncated to fit into a datagram to the journal")
    func long() {
        let scratch = Scratch()
        let listener = SilentSocket(path: scratch.path + "/socket", type: SOCK_DGRAM)
        let journal = Journal(socketPath: scratch.path + "/socket")
        #expect(journal.send(String(repeating: "x", count: 10_000_000), priority: .information))
        #expect((listener.receive()?.count ?? 0) > Journal.maximumTextSize)
    }

    @Test("if the journal is missing or its queue is full, `send` returns false without blocking")
    func absent() {
        let scratch = Scratch()
        let path = scratch.path + "/socket"
        #expect(!Journal(socketPath: path).isAvailable)
        #expect(!Journal(socketPath: path).send("Hello", priority: .error))
        #expect(!Journal(socketPath: String(repeating: "x", count: 200)).isAvailable)
        let listener = SilentSocket(path: path, type: SOCK_DGRAM)
        var sent = 0
        while sent < 100_000, Journal(socketPath: path).send("Hello", priority: .error) { sent += 1 }
        #expect(sent > 0 && sent < 100_000)
        withExtendedLifetime(listener) {}
    }
}
