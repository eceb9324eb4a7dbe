import BackhaulPlatform
import BackhaulTransport
import Glibc
import Testing

@Suite("The cipher suites that a server is offered")
struct CipherTests {
    /// The suites of TLS 1.2 with DHE and RSA that OpenSSL offers by default.
    private static let finiteField: [UInt16] = [0x33, 0x39, 0x67, 0x6B, 0x9E, 0x9F, 0xCCAA]
    /// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, which servers with TLS 1.2 should have (RFC 9325, section 4.2).
    private static let recommended: UInt16 = 0xC02F

    /// Reads the ClientHello with which a connection begins (RFC 5246, section 7.4.1.2). Returns its cipher suites.
    private static func suites(offeredOn descriptor: Int32) -> [UInt16] {
        var record = [UInt8](repeating: 0, count: 5)
        guard recv(descriptor, &record, 5, Int32(MSG_WAITALL)) == 5 else { return [] }
        let size = number(record, at: 3)
        var hello = [UInt8](repeating: 0, count: size)
        guard recv(descriptor, &hello, size, Int32(MSG_WAITALL)) == size, size > 38 else { return [] }
        // The suites are after the type, length, version and random number, and after the session id.
        let start = 39 + Int(hello[38])
        let count = number(hello, at: start) / 2
        return (0..<count).map { UInt16(number(hello, at: start + 2 + 2 * $0)) }
    }

    private static func number(_ bytes: [UInt8], at index: Int) -> Int {
        Int(bytes[index]) << 8 | Int(bytes[index + 1])
    }

    @Test("no suite with Diffie-Hellman over a finite field is offered, because the server would choose the prime")
    func withoutFiniteField() async throws {
        let offered = Lock<Set<UInt16>>([])
        try await withServer({ connection in
            let suites = Self.suites(offeredOn: connection.descriptor)
            offered.change { $0.formUnion(suites) }
        }) { server, transferClient in
            _ = await transferClient.fetch("https://127.0.0.1:\(server.port)/")
        }
        let suites = offered.withLock { $0 }
        #expect(suites.contains(Self.recommended) && suites.isDisjoint(with: Self.finiteField))
    }
}
