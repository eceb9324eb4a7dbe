import BackhaulModel
import TestSupport
import Testing

@testable import BackhaulStore

@Suite("Headers as bytes")
struct HeaderBlobTests {
    /// A usual response of nginx.
    private static let response = [
        HeaderField("Server", "nginx/1.24.0 (Ubuntu)"), HeaderField("Date", "Tue, 24 Nov 2026 08:12:31 GMT"),
        HeaderField("Content-Type", "application/octet-stream"), HeaderField("Content-Length", "16384"),
        HeaderField("Last-Modified", "Mon, 23 Nov 2026 17:02:11 GMT"), HeaderField("Connection", "keep-alive"),
        HeaderField("ETag", "\"65f1a2b3-4000\""), HeaderField("Accept-Ranges", "bytes"),
    ]

    /// Packs and unpacks the fields, and compares them byte by byte. Swift's strings are equal if they look the same.
    private func isUnchanged(_ fields: [HeaderField]) throws(Failure) -> Bool {
        let unpacked = try HeaderBlob.unpack(HeaderBlob.pack(fields))
        return unpacked.count == fields.count
            && zip(unpacked, fields).allSatisfy {
                $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
            }
    }

    private func isDamaged(_ bytes: [UInt8]) -> Bool {
        do throws(Failure) {
            _ = try HeaderBlob.unpack(bytes)
            return false
        } catch {
            return error.status == .storeDamaged
        }
    }

    @Test(
        "header fields are packed and unpacked without a change",
        arguments: [
            [], [HeaderField("A", "")], [HeaderField("", "")], [HeaderField("", "x"), HeaderField("B", "y")], response,
            [HeaderField("ETag", "\"x\""), HeaderField("Däta", String(repeating: "y", count: 70_000))],
            [HeaderField(String(repeating: "n", count: 65_535), ""), HeaderField("Date", "")],
            [HeaderField("é", "e\u{301}"), HeaderField("e\u{301}", "é"), HeaderField("\u{0}", "日本\u{1F600}\r\n")],
        ] as [[HeaderField]])
    func roundTrip(fields: [HeaderField]) throws {
        #expect(try isUnchanged(fields))
        #expect((HeaderBlob.pack(fields) == nil) == fields.isEmpty)
    }

    @Test(
        "texts of all lengths around the limits are packed and unpacked without a change",
        arguments: [
            1, 126, 127, 128, 129, 255, 256, 16_383, 16_384, 65_536, 70_000,
        ])
    func lengths(_ count: Int) throws {
        let text = String(repeating: "a", count: count)
        #expect(try isUnchanged([HeaderField(text, text), HeaderField("Date", "ü" + text)]))
    }

    @Test("a truncated blob is damaged, except at the end of a field")
    func truncated() throws {
        let fields = Self.response + [HeaderField("X-Text", String(repeating: "x", count: 300))]
        let bytes = try #require(HeaderBlob.pack(fields))
        let borders = try (1...fields.count).map { try #require(HeaderBlob.pack(Array(fields[..<$0]))).count }
        for count in 1...bytes.count {
            let prefix = Array(bytes[..<count])
            if let complete = borders.firstIndex(of: count) {
                #expect(try HeaderBlob.unpack(prefix) == Array(fields[...complete]))
            } else {
                #expect(isDamaged(prefix))
            }
        }
    }

    @Test(
        "damaged bytes are reported",
        arguments: [
            // A name without a value, a text without its bytes, and lengths that are incomplete or larger than the
            // blob.
            [0], [1, 65], [1, 65, 3, 1, 2], [1, 65, 0x80], [0x80], [255, 255, 255, 255, 15, 65],
            [255, 255, 255, 255, 255, 255, 255, 255, 127, 65], [1, 65, 1, 66, 1, 67],
        ] as [[UInt8]])
    func damaged(_ bytes: [UInt8]) {
        #expect(isDamaged(bytes))
    }

    @Test("random bytes are read or reported as damaged")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 37)
        let response = try #require(HeaderBlob.pack(Self.response))
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var changed = response
            for _ in 0..<3 {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            for blob in [bytes, changed] {
                do throws(Failure) {
                    // Fields of random bytes can be packed again.
                    let fields = try HeaderBlob.unpack(blob)
                    if try !isUnchanged(fields) { Issue.record("\(blob) changes") }
                } catch {
                    if error.status != .storeDamaged { Issue.record("\(blob): \(error.status)") }
                }
            }
        }
    }
}
