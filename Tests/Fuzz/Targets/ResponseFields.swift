import BackhaulPlatform
import CCurl

@testable import BackhaulModel
@testable import BackhaulTransport

/// The values of the header fields that the library interprets.
enum ResponseFields {
    private static func head(_ fields: [(String, [UInt8])], status: Int32 = 200) -> ResponseHead {
        ResponseHead(
            status: status, finalURL: "https://example.org/a/b.iso?c", isMultiplexed: false,
            fields: fields.map { ResponseField($0, $1) }, origin: "https://example.org:443",
            proxy: "http://proxy.example.org:3128")
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func contentLength(_ bytes: [UInt8]) throws {
        let values = FuzzInput(bytes).parts()
        let length = ContentLength(values.map { ResponseField("Content-Length", $0) })
        guard case .bytes(let number) = length, number < .max else { return }
        let numbers = values.flatMap { $0.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) }
        for text in numbers {
            let digits = String(decoding: text, as: UTF8.self).filter { $0 != " " && $0 != "\t" }
            try requireEqual(UInt64(digits), number, "one of the numbers")
        }
    }

    @Sendable static func contentRange(_ bytes: [UInt8]) throws {
        guard let text = ResponseField("", bytes).text, let range = ContentRange(text) else { return }
        let ends = range.range.map { "\($0.lowerBound)-\($0.upperBound)" } ?? "*"
        try requireEqual(
            ContentRange("bytes \(ends)/\(range.size.map { "\($0)" } ?? "*")"), range, "the range, written and read")
        guard let size = range.size, let last = range.range?.upperBound else { return }
        try require(last < size, "a range beyond the end")
    }

    @Sendable static func fileName(_ bytes: [UInt8]) throws {
        let head = head([("Content-Disposition", bytes)])
        try checkName(ServerFileName.choose(head, requested: "https://example.org/"))
        let url = "https://example.org/" + String(decoding: bytes, as: UTF8.self)
        for name in ServerFileName.directories(of: url) { try checkName(name) }
        if let name = ServerFileName.from(url: url) { try checkName(name) }
    }

    private static func checkName(_ name: String) throws {
        for name in [name, ServerFileName.numbered(name, 1), ServerFileName.numbered(name, .max)] {
            try require((1...255).contains(name.utf8.count), "\(name.utf8.count) bytes")
            try require(!name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7F }, "a path: \(name)")
            try require(!name.hasPrefix("."), "a hidden file: \(name)")
        }
        try requireEqual(ServerFileName.component(name), name, "the name, made a name again")
    }

    /// The values of Retry-After and Date are separated by NUL.
    @Sendable static func retryAfter(_ bytes: [UInt8]) throws {
        let parts = FuzzInput(bytes).parts()
        guard parts.count <= 2, !bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return }
        var head = HeadCollector()
        let names = ["Retry-After", "Date"]
        let fields = zip(names, parts).map { Array("\($0): ".utf8) + $1 }
        let lines = [Array("HTTP/1.1 503 x".utf8)] + fields + [[]]
        for line in lines {
            if case .broken = head.add(line + [0x0D, 0x0A]) { return }
        }
        let delay = head.retryAfterSeconds
        if let delay { try require(delay >= 0, "a delay of \(delay)") }
        let dates = try parts.map(checkDate)
        guard dates.count == 2, let until = dates[0], let now = dates[1] else { return }
        try requireEqual(delay, max(0, until - now), "the time between two dates")
    }

    /// Reads a date with the two readers of the library. A date since 1970 that both accept is the same time. libcurl
    /// reads a year below 100, such as 0000, as a year of this century or the last one.
    private static func checkDate(_ bytes: [UInt8]) throws -> Int64? {
        guard let text = ResponseField("", bytes).text, let own = IMFFixdate.seconds(text) else { return nil }
        let seconds = Int64(curl_getdate(text, nil))
        guard seconds >= 0, own >= 0 else { return nil }
        try requireEqual(own, seconds, "the date \(text)")
        return own
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func digest(_ bytes: [UInt8]) throws {
        let field = DigestField(head(FuzzInput(bytes).parts().map { ("Repr-Digest", $0) }), "Repr-Digest")
        var written: [String] = []
        for (algorithm, checksum) in field.digests {
            try requireEqual(checksum.digest.count, algorithm.size, "the size of a digest")
            let text = String(decoding: Base64.encoded(checksum.digest), as: UTF8.self)
            written.append("\(algorithm.rawValue)=:\(text):")
        }
        // Parameters, and members of other types, do not change the result.
        let parameters = ";a=@-1;b=%\"%c3%a9\";c=1.5;d=\"\\\"\";e=?0;f=*/"
        let others = ["a=@1", "b=%\"\"", "c=(1 @2)"]
        for members in [written, others + written.map { $0 + parameters }] {
            let value = Array(members.joined(separator: ", ").utf8)
            let again = DigestField(head([("Repr-Digest", value)]), "Repr-Digest")
            try requireEqual(again.digests, field.digests, "the digests, written and read")
        }
    }

    /// The values of several fields are separated by NUL.
    @Sendable static func challenge(_ bytes: [UInt8]) throws {
        let values = FuzzInput(bytes).parts()
        for (status, name) in [(Int32(401), "WWW-Authenticate"), (407, "Proxy-Authenticate")] {
            let head = head(values.map { (name, $0) }, status: status)
            guard let challenge = AuthenticationChallenge(head) else {
                throw Violation(description: "the status \(status) demands no credential")
            }
            try require(!challenge.schemes.isEmpty, "a challenge without a scheme")
            let realm = challenge.space.realm ?? ""
            try require(realm.utf8.count <= AuthenticationField.realmSize, "a realm of \(realm.utf8.count) bytes")
            try requireEqual(PlainText.of(realm, atMost: .max), realm, "the realm as plain text")
            // A combining mark after a quotation mark makes one Character with it, so scalars are compared.
            let escaped = realm.unicodeScalars.map { "\\\"".unicodeScalars.contains($0) ? "\\\($0)" : "\($0)" }.joined()
            let read = AuthenticationField.schemes(["Basic realm=\"\(escaped)\", Digest nonce=a"])
            try requireEqual(read.map(\.name), ["basic", "digest"], "the schemes, written and read")
            try requireEqual(read.first?.realm, realm, "the realm, written and read")
        }
        let offered = AuthenticationField.schemes(values.map { ResponseField("", $0).plainText })
        try require(offered.count <= AuthenticationField.schemeLimit, "\(offered.count) schemes")
    }

    @Sendable static func location(_ bytes: [UInt8]) throws {
        let base = "https://example.org/a/b?c#d"
        let origin = try URLParser.origin(of: base)
        let redirect: Redirect
        do throws(Failure) {
            redirect = try Redirect.decide(bytes, from: base, origin, keepsHeaders: true, count: 0, limit: 1)
        } catch {
            try requireEqual(error.status, .redirectRefused, "the status of the failure")
            return
        }
        try requireEqual(redirect.origin.scheme, "https", "the scheme")
        try requireEqual(redirect.keepsHeaders, redirect.origin == origin, "whether the headers are sent")
        try require(redirect.url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URL that is not ASCII")
        try requireEqual(try URLParser.origin(of: redirect.url), redirect.origin, "the origin of the URL")
    }

    /// The bytes are lines of Netscape's cookie file, or Set-Cookie fields.
    @Sendable static func cookies(_ bytes: [UInt8]) throws {
        let now = Clock.wallMilliseconds / 1_000
        let lines = bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let jar = try CookieJar()
        jar.add(lines)
        let kept = jar.lines()
        for line in kept {
            try require(!CookieLine.hasExpired(line, now: now), "an expired cookie: \(line)")
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            try requireEqual(fields.count, 7, "the fields of the cookie \(line)")
        }
        let second = try CookieJar()
        second.add(kept)
        try requireEqual(second.lines(), kept, "the cookies, stored and loaded")
    }
}
