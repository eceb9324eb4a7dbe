import BackhaulLoop
import Glibc
import Testing

@Suite("Urgent data on descriptors")
struct UrgentDataTests {
    /// Returns both ends of a TCP connection. The loop watches triggers in /proc/pressure by the event EPOLLPRI of
    /// epoll. Urgent data of TCP (RFC 9293, section 3.8.5) causes the same event, and a test can send such data.
    private static func connection() -> (near: Int32, far: Int32)? {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                guard bind(listener, address, size) == 0, listen(listener, 1) == 0,
                    getsockname(listener, address, &size) == 0, connect(far, address, size) == 0
                else { return nil }
                return (accept(listener, nil, nil), far)
            }
        }
    }

    @Test("a watch for urgent data reports the arrival of urgent data, and does not report plain bytes")
    func urgent() async throws {
        let ends = try #require(UrgentDataTests.connection())
        defer { for end in [ends.near, ends.far] { close(end) } }
        let thread = try startLoop()
        var byte: UInt8 = 1
        send(ends.far, &byte, 1, 0)
        let found: Interest = await thread.event { context, found in
            let watch = try? context.loop.watch(ends.near, .urgent) { interest in
                context.kept = []
                found(interest)
            }
            if let watch { context.kept = [watch] }
            var urgent: UInt8 = 2
            send(ends.far, &urgent, 1, Int32(MSG_OOB))
        }
        #expect(found == .urgent)
        // The plain byte arrived before the urgent byte, and is still unread.
        var waiting: UInt8 = 0
        #expect(recv(ends.near, &waiting, 1, 0) == 1 && waiting == 1)
        thread.stop()
    }
}
