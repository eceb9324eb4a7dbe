import BackhaulModel
import CCurl
import Glibc
import Testing

@testable import BackhaulTransport

/// The transport and libcurl read each head on their own. If they read a head in different ways, an error page could
/// become a file, or the body could end at the wrong place.
@Suite("Two readers of one reply")
struct ReplyFuzzTests {
    /// `make soak` generates more replies than `make test`.
    private static let count = getenv("BACKHAUL_REPLIES").flatMap { Int(String(cString: $0)) } ?? 10_000
    private static let batch = 5_000

    @Test("for thousands of replies, libcurl alone reads each accepted reply as the transport does")
    func readers() async throws {
        let server = try ReplyServer()
        let transferClient = try TransferClient()
        defer {
            transferClient.close()
            server.close()
        }
        var accepted = 0
        var differences: [String] = []
        for start in stride(from: 0, to: Self.count, by: Self.batch) {
            let replies = (start..<start + Self.batch).map { ReplyGenerator.reply(UInt64($0)) }
            server.serve(Dictionary(uniqueKeysWithValues: replies.enumerated().map { ($0, $1.bytes) }))
            let records = await transferClient.fetchAll(replies.indices.map { asking(server, $0) }, atOnce: 8)
            var complete: [Int: TransferRecord] = [:]
            for record in records where record.end == .complete {
                guard let number = record.head.flatMap({ ReplyServer.number(in: $0.finalURL) }) else { continue }
                complete[number] = record
            }
            accepted += complete.count
            for (number, reply) in replies.enumerated() {
                guard let found = difference(reply, complete[number], server.url(number)) else { continue }
                differences.append("\(start + number): \(Self.text(reply.bytes)) \(found)")
            }
        }
        #expect(differences.isEmpty, "\(differences.count) of \(accepted) accepted replies")
        #expect(accepted > Self.count / 3)
    }

    private func asking(_ server: ReplyServer, _ number: Int) -> TransferRequest {
        var made = TransportTests.request(server.url(number))
        made.redirects = .none
        return made
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }

    /// Returns how libcurl reads an accepted reply in another way, or how a reply without a fault differs from what is
    /// expected; nil if nothing differs. `record` is nil if the reply was refused.
    private func difference(_ reply: Reply, _ record: TransferRecord?, _ url: String) -> String? {
        guard let record, let head = record.head else { return reply.expected == nil ? nil : "is refused" }
        if let expected = reply.expected, head.status != expected.status || record.body != expected.body {
            return "is read as \(head.status) \(Self.text(record.body))"
        }
        let reading = CurlReading(url: url)
        guard reading.result == CURLE_OK else { return "is error \(reading.result.rawValue) of libcurl" }
        guard reading.status == head.status else { return "has the status \(reading.status), but not \(head.status)" }
        let fields = head.fields.map { CurlReading.Field($0.name, $0.value) }
        guard reading.fields == fields else { return "has the fields \(reading.fields), but not \(fields)" }
        // libcurl 7.88.1 ignores Content-Length if the transfer coding is `identity`.
        let isIdentity = TransferCodings(head.fields) == .identity
        guard isIdentity ? reading.body.starts(with: record.body) : reading.body == record.body else {
            return "has the body \(Self.text(reading.body)), but not \(Self.text(record.body))"
        }
        return nil
    }
}
