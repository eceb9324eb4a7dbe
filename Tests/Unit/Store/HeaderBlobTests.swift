import BackhaulModel
import TestSupport
import Testing

@testable import BackhaulStore

/// A *blob* is the form in which the database stores header fields.
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

    @Test("header fields are packed and unpacked without a change", arguments: [
        [], [HeaderField("A", "")], [HeaderField("", "")], [HeaderField("", "x"), HeaderField("B", "y")], response,
        [HeaderField("ETag", "\"x\""), HeaderField("Däta", String(repeating: "y", count: 70_000))],
        [HeaderField(String(repeating: "n", count: 65_535), ""), HeaderField("Date", "")],
        [HeaderField("é", "e\u{301}"), HeaderField("e\u{301}", "é"), HeaderField("\u{0}", "日本\u{1F600}\r\n")],
    ] as [[HeaderField]])
    func roundTrip(fields: [HeaderField]) throws {
        #expect(try isUnchanged(fields))
        #expect((HeaderBlob.pack(fields) == nil) == fields.isEmpty)
    }

    @Test("values of all forms are packed and unpacked without a change", arguments: [
        "", "bytes", "Bytes", "bytes ", "0", "00", "007", "7", "-1", "+1", "1 ", "1.5", "127", "128",
        "18446744073709551615", "18446744073709551616", "99999999999999999999", "018446744073709551615",
        "Thu, 01 Jan 1970 00:00:00 GMT", "Wed, 31 Dec 1969 23:59:59 GMT", "Thu, 29 Feb 2024 23:59:59 GMT",
        "Tue, 29 Feb 2000 00:00:00 GMT", "Mon, 28 Feb 2100 00:00:00 GMT", "Mon, 01 Mar 2100 00:00:00 GMT",
        "Sun, 07 Feb 2106 06:28:15 GMT", "Sun, 07 Feb 2106 06:28:16 GMT", "Sat, 01 Jan 0000 00:00:00 GMT",
        "Fri, 31 Dec 9999 23:59:59 GMT",
        // Dates that are stored as text: wrong weekdays, missing days, leap seconds, and other forms of dates.
        "Mon, 24 Nov 2026 08:12:31 GMT", "tue, 24 Nov 2026 08:12:31 GMT", "Tue, 31 Feb 2026 00:00:00 GMT",
        "Mon, 29 Feb 2100 00:00:00 GMT", "Sat, 31 Dec 2016 23:59:60 GMT", "Fri, 31 Dec 9999 23:59:60 GMT",
        "Tue, 24 Nov 2026 24:00:00 GMT", "Tue, 24 Nov 2026 08:12:31 UTC", "Tue, 24 nov 2026 08:12:31 GMT",
        "Tuesday, 24-Nov-26 08:12:31 GMT", "Tue Nov 24 08:12:31 2026", "Tue, 24 Nov 2026 08:12:31 GMT ",
        "Tue, 24 Nov 2026 08:12:31 GMé",
    ])
    func values(_ value: String) throws {
        #expect(try isUnchanged([HeaderField("Date", value), HeaderField("x-other", value)]))
    }

    @Test("texts of all lengths around the limits are packed and unpacked without a change", arguments: [
        1, 126, 127, 128, 129, 255, 256, 16_383, 16_384, 65_536, 70_000,
    ])
    func lengths(_ count: Int) throws {
        let text = String(repeating: "a", count: count)
        #expect(try isUnchanged([HeaderField(text, text), HeaderField("Date", "ü" + text)]))
    }

    @Test("each known name takes one byte in both spellings, and other spellings are unchanged",
        arguments: HeaderName.known)
    func names(_ name: String) throws {
        let lowercase = name.lowercased()
        #expect(name != lowercase)
        for spelling in [name, lowercase] {
            #expect(HeaderBlob.pack([HeaderField(spelling, "")])?.count == 4)
        }
        let mixed = String(lowercase.dropLast()) + name.suffix(1).uppercased()
        #expect(try isUnchanged([name, lowercase, mixed, name.uppercased(), name + "s"].map { HeaderField($0, $0) }))
    }

    @Test("each usual value takes one byte", arguments: HeaderValue.usual)
    func usualValues(_ value: String) throws {
        #expect(HeaderBlob.pack([HeaderField("Date", value)])?.count == 4)
        #expect(try isUnchanged([HeaderField("Date", value), HeaderField("Date", value.uppercased())]))
    }

    @Test("names and usual values have unique codes that fit in their bytes")
    func codes() {
        #expect(Set(HeaderName.known).count == HeaderName.known.count)
        #expect(HeaderName.known.count <= 126)
        #expect(Set(HeaderValue.usual).count == HeaderValue.usual.count)
        #expect(HeaderValue.usual.count <= 112)
    }

    @Test("codes that are stored in databases keep their meaning")
    func storedCodes() throws {
        let bytes: [UInt8] = [
            255, 255, 2, 5, 110, 103, 105, 110, 120, 0x83, 129, 0x6F, 0xD2, 0x13, 0x6A, 4, 167, 5, 130, 0x80, 0x80, 1,
            7, 146, 1, 1, 65, 128, 2, 104, 105, 118, 237,
        ]
        let fields = try HeaderBlob.unpack(bytes)
        #expect(fields == [
            HeaderField("Server", "nginx"), HeaderField("date", "Mon, 25 May 2026 04:39:11 GMT"),
            HeaderField("Content-Type", "application/octet-stream"), HeaderField("Content-Length", "16384"),
            HeaderField("Connection", "keep-alive"), HeaderField("A", "hi"), HeaderField("Www-Authenticate", "en-US"),
        ])
    }

    @Test("a blob of an earlier version is still read")
    func earlierVersion() throws {
        let bytes: [UInt8] = [4, 0, 0, 0, 69, 84, 97, 103, 3, 0, 0, 0, 34, 120, 34, 1, 0, 0, 0, 65, 0, 0, 0, 0]
        #expect(try HeaderBlob.unpack(bytes) == [HeaderField("ETag", "\"x\""), HeaderField("A", "")])
        for count in 1..<bytes.count where count != 15 { #expect(isDamaged(Array(bytes[..<count]))) }
    }

    @Test("names of all lengths in a blob of an earlier version are still read", arguments: [
        0, 1, 255, 256, 511, 65_279, 65_280, 65_535, 65_536,
    ])
    func earlierLengths(_ count: Int) throws {
        let name = String(repeating: "n", count: count)
        #expect(try HeaderBlob.unpack(TextBlob.pack([name, "v"])) == [HeaderField(name, "v")])
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

    @Test("damaged bytes are reported", arguments: [
        [255, 255], [255, 255, 255, 255, 0], [255, 255, 0, 0], [255, 255, 127, 0], [255, 255, 0x81, 0],
        [255, 255, 0x80, 0],
        // The codes of values: 131 and 143 are not used, 255 is not a usual value yet.
        [255, 255, 3, 131], [255, 255, 3, 143], [255, 255, 3, 255],
        // A date without its seconds, a text without its bytes.
        [255, 255, 3, 129, 1, 2, 3], [255, 255, 3, 3, 1, 2], [255, 255, 3, 128, 3, 1, 2],
        // Varints: truncated, longer than necessary, more than 64 bits.
        [255, 255, 3, 130], [255, 255, 3, 130, 0x80], [255, 255, 3, 130, 0x80, 0], [255, 255, 3, 130, 0x85, 0x80, 0],
        [255, 255, 3, 130, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2],
        [255, 255, 3, 130, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0x81, 1],
        // Lengths of texts that are larger than the blob.
        [255, 255, 3, 128, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 65],
        [255, 255, 3, 128, 255, 255, 255, 255, 255, 255, 255, 255, 127, 65],
        [255, 255, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 65],
    ] as [[UInt8]])
    func damaged(_ bytes: [UInt8]) {
        #expect(isDamaged(bytes))
    }

    @Test("random bytes are read or reported as damaged")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 37)
        let response = try #require(HeaderBlob.pack(Self.response))
        for _ in 0..<50_000 {
            let count = Int.random(in: 0...24, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var changed = response
            for _ in 0..<3 {
                changed[Int.random(in: 2..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            for blob in [bytes, [255, 255] + bytes, changed] {
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

    @Test("the header fields of a usual response of nginx take 65 bytes, in HTTP/1.1 and in HTTP/2")
    func size() throws {
        let lowercase = Self.response.map { HeaderField($0.name.lowercased(), $0.value) }
        for fields in [Self.response, lowercase] {
            #expect(try #require(HeaderBlob.pack(fields)).count == 65)
        }
    }
}
